// snowflake_follow(): the trigger that keeps a new column in step with the one that it is to
// replace. It fires last of the row triggers before an insert or update, so it sees the final
// value. A check constraint of the table states that the two are equal.
#include "pg/report.h"
#include "pg/execution.h"

namespace snowflake {
namespace {
int16 ColumnOf(Relation table, const char *name) {
  const int number = SPI_fnumber(RelationGetDescr(table), name);
  if (number <= 0)
    ereport(ERROR,
            (errcode(ERRCODE_UNDEFINED_COLUMN),
             errmsg("column \"%s\" of relation \"%s\" does not exist", name, RelationGetRelationName(table)),
             errdetail("An online conversion of the table has begun and has not ended."),
             errhint("If the column was renamed, give it its name again until the conversion has ended. If it was "
                     "dropped, drop the triggers and columns of the conversion, too.")));
  return static_cast<int16>(number);
}

Datum AsInt8(Datum value, Oid type, const char *name) {
  switch (type) {
    case INT2OID: return Int64GetDatum(DatumGetInt16(value));
    case INT4OID: return Int64GetDatum(DatumGetInt32(value));
    default:
      ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH), errmsg("column \"%s\" is no longer narrow", name),
                      errdetail("It is of type %s.", format_type_be(type)),
                      errhint("Call snowflake_convert() with abandon => true, and run the statements.")));
  }
}

}  // namespace

SNOWFLAKE_FUNCTION(snowflake_follow) {
  if (!CALLED_AS_TRIGGER(fcinfo)) ReportNotTrigger("snowflake_follow");
  const TriggerData *data = reinterpret_cast<TriggerData *>(fcinfo->context);
  const Trigger *trigger = data->tg_trigger;
  const bool update = TRIGGER_FIRED_BY_UPDATE(data->tg_event);
  if (!TRIGGER_FIRED_BEFORE(data->tg_event) || !TRIGGER_FIRED_FOR_ROW(data->tg_event) ||
      !(update || TRIGGER_FIRED_BY_INSERT(data->tg_event)) || trigger->tgnargs != 2)
    ereport(ERROR, (errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
                    errmsg("trigger \"%s\" calls snowflake_follow() in another way than snowflake_convert() makes it",
                           trigger->tgname),
                    errhint("Drop the trigger.")));
  const Relation table = data->tg_relation;
  const HeapTuple row = update ? data->tg_newtuple : data->tg_trigtuple;
  const char *name = trigger->tgargs[0];
  const int16 old_number = ColumnOf(table, name);
  int new_number = ColumnOf(table, trigger->tgargs[1]);
  if (SPI_gettypeid(RelationGetDescr(table), new_number) != INT8OID)
    ereport(ERROR,
            (errcode(ERRCODE_DATATYPE_MISMATCH), errmsg("column \"%s\" is not of type bigint", trigger->tgargs[1]),
             errhint("Drop the trigger \"%s\".", trigger->tgname)));
  bool is_null = false;
  Datum value = heap_getattr(row, old_number, RelationGetDescr(table), &is_null);
  if (!is_null) value = AsInt8(value, SPI_gettypeid(RelationGetDescr(table), old_number), name);
  return PointerGetDatum(heap_modify_tuple_by_cols(row, RelationGetDescr(table), 1, &new_number, &value, &is_null));
}

}  // namespace snowflake
