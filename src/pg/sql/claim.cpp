// The trigger snowflake_claim(): rows of tables that are read below the horizon.
#include "pg/database_layout.h"
#include "pg/issue/claim.h"
#include "pg/report.h"
#include "pg/state/state_block.h"
#include "pg/execution.h"

namespace snowflake {
namespace {
[[noreturn]] void ReportColumn(const TriggerData *trigger, const char *problem) {
  const char *column = trigger->tg_trigger->tgargs[0];
  ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH), errmsg("snowflake_claim() cannot check column \"%s\"", column),
                  errdetail("Column \"%s\" of relation \"%s\" %s.", column,
                            RelationGetRelationName(trigger->tg_relation), problem),
                  errhint("Name a column of type bigint or snowflake_id, or of a domain of these.")));
}

void CheckEvent(const TriggerData *trigger) {
  const TriggerEvent event = trigger->tg_event;
  const bool writes = TRIGGER_FIRED_BY_INSERT(event) || TRIGGER_FIRED_BY_UPDATE(event);
  if (!TRIGGER_FIRED_BEFORE(event) || !TRIGGER_FIRED_FOR_ROW(event) || !writes)
    ereport(ERROR, (errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
                    errmsg("snowflake_claim() must be fired before a row is inserted or updated"),
                    errdetail("Trigger \"%s\" of relation \"%s\" is fired at another time.",
                              trigger->tg_trigger->tgname, RelationGetRelationName(trigger->tg_relation)),
                    errhint("Create it with BEFORE INSERT ... FOR EACH ROW.")));
}

// Two sessions could hold the horizon back without end, by claiming the same id in turns. The
// privilege TEMPORARY, which everybody has at first, must not be enough for that.
void CheckNotTemporary(const TriggerData *trigger) {
  const Relation table = trigger->tg_relation;
  if (table->rd_rel->relpersistence == RELPERSISTENCE_TEMP)
    ereport(ERROR,
            (errcode(ERRCODE_WRONG_OBJECT_TYPE),
             errmsg("snowflake_claim() cannot be used on temporary table \"%s\"", RelationGetRelationName(table)),
             errdetail("No other session reads the table, so no reader of the horizon would miss its rows."),
             errhint("Drop the trigger \"%s\".", trigger->tg_trigger->tgname), errtable(table)));
}

AttrNumber ClaimedColumn(const TriggerData *trigger) {
  const Trigger *self = trigger->tg_trigger;
  if (self->tgnargs != 1)
    ereport(ERROR,
            (errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED), errmsg("snowflake_claim() must have one argument"),
             errdetail("Trigger \"%s\" of relation \"%s\" passes %d arguments.", self->tgname,
                       RelationGetRelationName(trigger->tg_relation), self->tgnargs),
             errhint("Pass the name of the column with the id: EXECUTE FUNCTION snowflake_claim('id').")));
  const TupleDesc descriptor = RelationGetDescr(trigger->tg_relation);
  const int number = SPI_fnumber(descriptor, self->tgargs[0]);
  if (number <= 0) ReportNoColumn(RelationGetRelid(trigger->tg_relation), self->tgargs[0]);
  const FormData_pg_attribute *column = TupleDescAttr(descriptor, number - 1);
  if (!IsBinaryCoercible(column->atttypid, INT8OID))
    ReportColumn(trigger, psprintf("has type %s", format_type_be(column->atttypid)));
  // It is computed after the trigger.
  if (column->attgenerated != '\0') ReportColumn(trigger, "is a generated column");
  return static_cast<AttrNumber>(number);
}

// Kept for the statement.
AttrNumber ClaimedColumn(FunctionCallInfo fcinfo, const TriggerData *trigger) {
  void **kept = &fcinfo->flinfo->fn_extra;
  if (unlikely(*kept == nullptr)) {
    CheckNotTemporary(trigger);
    AttrNumber *column = static_cast<AttrNumber *>(MemoryContextAlloc(fcinfo->flinfo->fn_mcxt, sizeof(AttrNumber)));
    *column = ClaimedColumn(trigger);
    *kept = column;
  }
  return *static_cast<AttrNumber *>(*kept);
}

[[noreturn]] void ReportBelow(const TriggerData *trigger, Oid fn_oid, AttrNumber column, int64_t id,
                              const Claimed &claimed) {
  const Layout &layout = DatabaseLayout(fn_oid);
  const ServerTime time = LookAtTime();
  const Future future = FutureOf(layout, claimed.horizon, StateAt(FindNode(MyDatabaseId), time), time);
  ereport(
      ERROR,
      (errcode(kBelowHorizon), errmsg("id %lld is below the horizon", Long(id)),
       claimed.horizon > 0 ? errdetail("snowflake_horizon() has returned %lld, of %s. Readers that have read the rows "
                                       "below it would miss this row.",
                                       Long(claimed.horizon), Time(layout.UnixUsOf(claimed.horizon)))
                           : errdetail("No horizon is below 0, so readers would miss this row."),
       future == Future::kWrong
           ? errhint("The clock is wrong, or was. When it is right, a superuser can call snowflake_reset_horizon().")
       : future == Future::kClockIsBehind
           ? errhint("The clock is behind what this server knows of the time: see advice in snowflake_status.")
       : claimed.own
           ? errhint("The clock stepped back, and ids are smaller than before. Insert the row when the clock has "
                     "passed the time of the horizon.")
           : errhint("Let the transaction that inserts the row request its id, for example by the column's "
                     "default."),
       errtablecol(trigger->tg_relation, column)));
}

// False if it is null, or the update leaves it as it is.
bool HasNewId(const TriggerData *trigger, AttrNumber column, int64_t *id) {
  const TupleDesc descriptor = RelationGetDescr(trigger->tg_relation);
  const bool updates = TRIGGER_FIRED_BY_UPDATE(trigger->tg_event);
  bool is_null = false, was_null = false;
  *id =
      DatumGetInt64(heap_getattr(updates ? trigger->tg_newtuple : trigger->tg_trigtuple, column, descriptor, &is_null));
  if (is_null || !updates) return !is_null;
  return DatumGetInt64(heap_getattr(trigger->tg_trigtuple, column, descriptor, &was_null)) != *id || was_null;
}

}  // namespace

SNOWFLAKE_FUNCTION(snowflake_claim) {
  if (!CALLED_AS_TRIGGER(fcinfo)) ReportNotTrigger("snowflake_claim");
  const TriggerData *trigger = reinterpret_cast<TriggerData *>(fcinfo->context);
  CheckEvent(trigger);
  const AttrNumber column = ClaimedColumn(fcinfo, trigger);
  const Oid fn_oid = fcinfo->flinfo->fn_oid;
  int64_t id = 0;
  if (HasNewId(trigger, column, &id)) {
    const Claimed claimed = ClaimId(fn_oid, id);
    if (unlikely(!claimed.covered)) ReportBelow(trigger, fn_oid, column, id, claimed);
  }
  return PointerGetDatum(TRIGGER_FIRED_BY_UPDATE(trigger->tg_event) ? trigger->tg_newtuple : trigger->tg_trigtuple);
}

}  // namespace snowflake
