// Loads the library snowflake_convert. It has neither hooks nor shared memory, and it links no file
// that has: what it needs of the extension snowflake, it asks that extension's SQL functions.
#include "convert/adopt.h"
#include "pg/catalogs.h"
#include "pg/extension.h"

using namespace snowflake;

extern "C" {

SNOWFLAKE_MODULE_MAGIC("snowflake_convert");

PGDLLEXPORT void _PG_init(void);

void _PG_init(void) {
  DefineAdoption();
  MarkGUCPrefixReserved("snowflake_convert");
}
}

// Called by the script: "requires" is satisfied by another extension of the same name, too.
SNOWFLAKE_FUNCTION(snowflake_convert_require) {
  CheckNotNamesake(get_extension_oid("snowflake", false));
  PG_RETURN_VOID();
}
