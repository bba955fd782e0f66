// The keys of a schema, what is left out because it is none, and why keys cannot be converted.
#pragma once

#include "convert/catalog.h"

namespace snowflake {
struct Key {
  Conversion conversion;
  const char *described, *table;  // the column, and its table, for messages
  bool takes_ids;                 // already
  IdColumns columns;
  const ErrorData *error;  // why it was not converted
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
SchemaKeys FindKeys(FunctionCallInfo fcinfo, Oid schema, Datum excluded, bool dry_run, const char *target);

// All columns of the keys, each once.
IdColumns Together(const Conversion &owners, List *keys);

// Names the excluded keys and what else may hold ids. Whether there is nothing.
bool SayLeftOut(const SchemaKeys &found);

// `whole`: no column is left out.
void SayNothingLeft(const SchemaKeys &found, bool whole);

// What keeps keys from being converted.
struct Refusals {
  List *lines;  // none twice
  int code;
};

// Whether an error says so. Any other one ends the call.
bool IsRefusal(int code);

void Note(Refusals *refusals, const Key &key, const ErrorData &error);

}  // namespace snowflake
