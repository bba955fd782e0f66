// The texts of shared errors.
#include "pg/report.h"

#include "pg/catalogs.h"

namespace snowflake {
void ReportNoExtension(Oid fn_oid) {
  if (!SearchSysCacheExists1(PROCOID, ObjectIdGetDatum(fn_oid)))
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("the extension snowflake was dropped during the call"),
                    errhint("If it is being created again, try again.")));
  ereport(ERROR,
          (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
           errmsg("function %s does not belong to the extension snowflake", format_procedure(fn_oid)),
           errdetail("The registry is found through the extension, which was dropped or never had this function."),
           errhint("Run CREATE EXTENSION snowflake.")));
}

void ReportNamesake(const char *where, const char *schema) {
  ereport(
      ERROR,
      (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("%s has a different extension named snowflake", where),
       errdetail("It is in schema \"%s\" and has none of this extension's tables. pgEdge's extension is also named "
                 "snowflake, and its library has the same file name.",
                 schema),
       errhint("A server can have only one of the two. To switch, DROP EXTENSION snowflake and create it again; "
               "snowflake_decode(id, 'pgedge') then decodes the ids that pgEdge's extension has issued.")));
}

void ReportTimeUsedUp(const Layout &layout, int64_t now_us) {
  ereport(ERROR,
          (errcode(kTimeUsedUp), errmsg("the layout's time is used up"),
           errdetail("%d timestamp bits ended at %s; the clock shows %s.", layout.timestamp_bits,
                     Time(layout.UnixUsAt(layout.max_tick() + 1)), Time(now_us)),
           errhint("Set the clock right if it is wrong; otherwise ids need a layout with a later epoch or a wider "
                   "timestamp.")));
}

void ReportForeignTable(const char *table) {
  ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                  errmsg("table \"%s\" is not as the extension snowflake made it", table),
                  errdetail("A column, its type or the kind of the table was changed, the table has a rule, a child or "
                            "forced row security, a trigger kept the registry's row out, or the table is missing."),
                  errhint("Undo the change, or drop the extension and create it again.")));
}

void ReportForeignFunction(const char *function) {
  ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                  errmsg("function %s() is not as the extension snowflake made it", function),
                  errdetail("It has other code or other settings, or is missing."),
                  errhint("Undo the change, or drop the extension and create it again.")));
}

void ReportIsolation(const char *function) {
  ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                  errmsg("%s() must run at isolation level read committed", function),
                  errdetail("An older snapshot would hide what other transactions have done since it was taken."),
                  errhint("Use SET TRANSACTION ISOLATION LEVEL READ COMMITTED.")));
}

void CheckNotNull(FunctionCallInfo fcinfo, const char *function, std::initializer_list<const char *> names) {
  int argument = 0;
  for (const char *name : names)
    if (PG_ARGISNULL(argument++))
      ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("%s(): %s must not be null", function, name)));
}

void CheckSegmentName(size_t bytes) {
  if (bytes < 1 || bytes > kMaxSegmentName)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("invalid segment name"),
                    errdetail("It has %zu bytes; a name has 1 to %d.", bytes, kMaxSegmentName)));
}

void ReportNoSegment(const char *name, const char *known) {
  ereport(ERROR,
          (errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("segment \"%s\" does not exist", name),
           known == nullptr   ? errdetail("Roles that may read the view snowflake_segments see which segments exist.")
           : known[0] != '\0' ? errdetail("The registry has: %s.", known)
                              : errdetail("The registry has no segments."),
           errhint("Create it with snowflake_create_segment() in the registry's database.")));
}

void ReportNotTrigger(const char *function) {
  ereport(ERROR,
          (errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED), errmsg("%s() must be called as a trigger", function)));
}

void ReportNoRelation(Oid relation) {
  ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE), errmsg("relation with OID %u does not exist", relation),
                  errdetail("It may have been dropped meanwhile."), errhint("Name a table that exists.")));
}

void ReportNoColumn(Oid relation, const char *column) {
  ereport(ERROR, (errcode(ERRCODE_UNDEFINED_COLUMN),
                  errmsg("column \"%s\" of relation \"%s\" does not exist", column, get_rel_name(relation)),
                  errdetail("The name is taken literally, without quotes; upper and lower case differ."),
                  errhint("See \\d for the table's columns.")));
}

}  // namespace snowflake
