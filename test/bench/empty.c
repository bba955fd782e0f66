/* The cost of a call of any C function, which is the minimum for the others. */
#include "postgres.h"
#include "fmgr.h"

PG_MODULE_MAGIC;
PG_FUNCTION_INFO_V1(empty_call);

Datum
empty_call(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64(1);
}
