// The keys of a schema, what is left out because it is none, and why keys cannot be converted.
#pragma once

#include "convert/refusals.h"

namespace snowflake {
struct Key {
  Conversion conversion;
  const char *described, *table;  // the column, and its table, for messages
  bool takes_ids;                 // already
  IdColumns columns;
  List *refusals;          // why it was not converted
  const ErrorData *error;  // or PostgreSQL's own reason, or that of an event trigger
};

// All keys of a schema, as they are now, and unlocked.
struct SchemaKeys {
  Oid schema;
  const char *schema_sql;
  Conversion all;  // what the conversions of the keys have in common
  List *keys;      // that are to be converted
  List *excluded;  // by the caller
};

// `excluded`: an array of tables. Errors: 22004, 22023, 3F000.
SchemaKeys FindKeys(FunctionCallInfo fcinfo, Oid schema, Datum excluded, bool dry_run, const char *target,
                    bool keep_sequence);

// All columns of the keys, each once; and whether one of them changes.
IdColumns Together(const Conversion &owners, List *keys);
bool IsToDo(const IdColumns &columns);

// The keys with nothing in the way.
List *OpenKeys(const List *keys);

// The tables of an array. Error: 22004.
List *TablesOf(Datum array);

// Errors, 22023: a table is excluded for nothing, because it neither has a key nor refers to one of
// these columns. The keys' columns must be known.
void CheckExcluded(const SchemaKeys &found);
void CheckExcluded(const Conversion &conversion, const IdColumns &columns);

// Names the excluded keys and what else may hold ids. Whether there is nothing. The keys' columns
// must be known.
bool SayLeftOut(const SchemaKeys &found);

// `whole`: no column is left out.
void SayNothingLeft(const SchemaKeys &found, bool whole);

// Whether something keeps it from being converted.
bool IsLeft(const Key &key);

// All reasons, as refusals; and of how many keys.
struct Reasons {
  List *refusals;
  int keys;
};
Reasons ReasonsOf(const List *keys);

}  // namespace snowflake
