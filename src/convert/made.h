// What the steps of an online conversion have made already. It is recognised by what it is, never
// by its name alone: expressions are compared with what the steps would make now.
#pragma once

#include "convert/catalog.h"

namespace snowflake {
// The check constraints that tie new columns to the old ones, as an array of OIDs. They show which
// columns are new ones. Parses nothing that a user has written.
Value FindTies(const IdColumns &columns);

// The check constraints and the indexes on new columns that are as the steps make them. Only once
// CheckOnline() has passed: this parses the expressions of users.
struct Made {
  Value checks, indexes;
};
Made FindMade(const IdColumns &columns);

// Lines for what ALTER TABLE makes again from its text, if the session's settings change a constant
// in it on the way. As the tables' owner: this parses the expressions of users.
List *ChangedBySettings(const IdColumns &columns);

}  // namespace snowflake
