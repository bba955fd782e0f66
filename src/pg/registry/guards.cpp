// The guards: triggers of the registry's tables that keep out what could lead to equal ids if it
// does not come by the protocol. They fire ALWAYS, also for replication, and the protocol refuses
// to work without them (tables.cpp).
//
// 1. What logical replication writes, or a session with session_replication_role = replica, is
//    another registry's: discarded. An error would end the replication of the whole database. A
//    layout is taken if there is none.
// 2. A lease that is deleted by hand leaves its window's end as watermark: its node may issue ids
//    until then.
// 3. A segment that a restored dump brings is taken, or raises the existing one.
// 4. What must not fall is checked after the row is stored, when no other trigger can change it. A
//    lease is updated by the protocol alone, so this finds what a trigger made of its statement.
// 5. ALTER TABLE fires no row trigger. PostgreSQL itself refuses one that writes other values into
//    a column, because snowflake_guard_table depends on all columns. Dropped, it is missing.
#include "pg/database_layout.h"
#include "pg/extension.h"
#include "pg/registry/protocol.h"
#include "pg/registry/segments.h"
#include "pg/registry/tables.h"
#include "pg/report.h"
#include "pg/processes.h"

namespace snowflake {
namespace {
struct Row {
  HeapTuple tuple;
  TupleDesc descriptor;

  int64_t Get(const char *column) const {
    const Value value = ValueOf(column);
    if (value.type != INT8OID && value.type != INT4OID) ReportForeignColumn();
    return value.type == INT8OID ? DatumGetInt64(value.datum) : DatumGetInt32(value.datum);
  }

  const char *Name() const {
    const Value value = ValueOf("name");
    if (value.type != TEXTOID) ReportForeignColumn();
    return TextDatumGetCString(value.datum);
  }

  bool IsNull(const char *column) const { return ValueOf(column).type == InvalidOid; }

 private:
  Value ValueOf(const char *column) const {
    const int number = SPI_fnumber(descriptor, column);
    if (number <= 0) ReportForeignColumn();
    bool is_null = false;
    const Datum value = heap_getattr(tuple, number, descriptor, &is_null);
    return Of(is_null ? InvalidOid : TupleDescAttr(descriptor, number - 1)->atttypid, value);
  }
};

bool Is(Relation table, const char *name) { return strcmp(RelationGetRelationName(table), name) == 0; }

// A subscriber's own layout stays. Without a layout there is no lease, because a lease stores one.
// Streamed changes do not fire snowflake_layout_changed(), which informs other sessions.
bool TakeFirstLayout(const TriggerData *trigger) {
  if (!Is(trigger->tg_relation, "snowflake_layout") || !TRIGGER_FIRED_BY_INSERT(trigger->tg_event)) return false;
  SysScanDesc scan = systable_beginscan(trigger->tg_relation, InvalidOid, false, nullptr, 0, nullptr);
  const bool empty = !HeapTupleIsValid(systable_getnext(scan));
  systable_endscan(scan);
  if (!empty || !IsRowToIssueBy(trigger->tg_trigtuple, RelationGetDescr(trigger->tg_relation))) return false;
  CacheInvalidateRelcacheByRelid(RelationGetRelid(trigger->tg_relation));
  return true;
}

// Whether a segment of a restored dump exists, and goes on, no lower than in the dump.
bool RaiseExisting(const TriggerData *trigger, Oid extension) {
  const Row row = {trigger->tg_trigtuple, RelationGetDescr(trigger->tg_relation)};
  // The table's own constraints will refuse it.
  if (row.IsNull("name") || row.IsNull("last_value")) return false;
  return ProtocolRestoreSegment(extension, row.Name(), row.Get("last_value"));
}

constexpr const char *kInUse = "Its node may issue ids until the end of its window.";
constexpr const char *kEvict =
    "Free the worker id of a node that is certainly dead with snowflake_evict(worker_id, dead_since).";
constexpr const char *kBeginsAbove = "The worker id's next lease begins above it, so that no id is issued twice.";

[[noreturn]] void RefuseChange(const char *message, const char *detail, const char *hint) {
  ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("%s", message), errdetail("%s", detail),
                  errhint("%s", hint)));
}

[[noreturn]] void RefuseNoWatermark() {
  RefuseChange("cannot remove a watermark of snowflake", kBeginsAbove, "Drop the extension to remove the registry.");
}

[[noreturn]] void RefuseCount() {
  RefuseChange("cannot change how many leases of snowflake have ended",
               "A count that is wrong would be taken for lost commits, or would hide them.",
               "Leave leases_ended as it is, or 0 in a new row.");
}

[[noreturn]] void RefuseNoSegment() {
  RefuseChange("cannot remove or rename a segment of snowflake by hand", "Nodes hold ranges of it.",
               "Use snowflake_drop_segment(name).");
}

HeapTuple Before(const TriggerData *trigger, Oid extension) {
  Relation table = trigger->tg_relation;
  const bool insert = TRIGGER_FIRED_BY_INSERT(trigger->tg_event);
  const bool remove = TRIGGER_FIRED_BY_DELETE(trigger->tg_event);
  HeapTuple result = TRIGGER_FIRED_BY_UPDATE(trigger->tg_event) ? trigger->tg_newtuple : trigger->tg_trigtuple;
  const bool replica = SessionReplicationRole == SESSION_REPLICATION_ROLE_REPLICA;
  // What becomes of the row depends on whether there is one.
  if (insert && (Is(table, "snowflake_layout") || (Is(table, "snowflake_segment") && !replica)))
    LockInserts(extension, RelationGetRelid(table));
  if (replica) {
    if (TakeFirstLayout(trigger)) return result;
    if (!IsLogicalWorker())
      ereport(WARNING, (errmsg("what replication writes to table \"%s\" is discarded", RelationGetRelationName(table)),
                        errdetail("A registry of snowflake belongs to its own server alone; "
                                  "session_replication_role is replica here.")));
    return nullptr;
  }
  if (Is(table, "snowflake_layout") && !remove) CheckLayoutRow(result, RelationGetDescr(table));
  if (Is(table, "snowflake_layout") || FiredByProtocol()) return result;
  if (Is(table, "snowflake_origin"))
    RefuseChange("cannot write to snowflake_origin by hand", "It records whether the registry has lost commits.",
                 "Use snowflake_settle(reason) or snowflake_settled().");
  if (Is(table, "snowflake_last_tick"))
    RefuseChange("cannot write to snowflake_last_tick by hand", "It keeps ids in order over restarts and upgrades.",
                 "To make later ids larger, use snowflake_raise(id).");
  if (Is(table, "snowflake_registry") && insert)
    RefuseChange("cannot insert a lease of snowflake by hand",
                 "Only the registry's own functions can determine which worker id is free, and from which tick on.",
                 "Use snowflake_lease_acquire().");
  // Whoever changes its secret or role takes it over, with the window that its node still uses. A
  // later end would be assigned at the next extend.
  if (Is(table, "snowflake_registry") && !remove)
    RefuseChange("cannot change a lease of snowflake by hand",
                 "Its node may issue ids until the end of its window, and may extend it even afterwards.", kEvict);
  if (Is(table, "snowflake_watermark") && remove) RefuseNoWatermark();
  if (Is(table, "snowflake_watermark") && insert &&
      Row{trigger->tg_trigtuple, RelationGetDescr(table)}.Get("leases_ended") != 0)
    RefuseCount();
  if (Is(table, "snowflake_segment") && remove) RefuseNoSegment();
  if (Is(table, "snowflake_segment") && insert && RaiseExisting(trigger, extension)) return nullptr;
  // Deleting a range declares that its node will not come back.
  if (Is(table, "snowflake_segment_range") && !remove)
    RefuseChange("cannot write a range of snowflake by hand",
                 "Only the registry's own functions can determine which numbers are free.",
                 "Use snowflake_segment_nextval(name).");
  if (Is(table, "snowflake_registry") && remove) {
    const Row lease = {trigger->tg_trigtuple, RelationGetDescr(table)};
    ProtocolKeepWatermark(extension, static_cast<int32_t>(lease.Get("worker_id")), lease.Get("window_end") - 1);
  }
  return result;
}

void AfterUpdate(const TriggerData *trigger) {
  const TupleDesc descriptor = RelationGetDescr(trigger->tg_relation);
  const Row before = {trigger->tg_trigtuple, descriptor};
  const Row after = {trigger->tg_newtuple, descriptor};
  const auto changed = [&](const char *column) { return before.Get(column) != after.Get(column); };
  if (Is(trigger->tg_relation, "snowflake_registry")) {
    if (changed("lease_id") || changed("worker_id"))
      RefuseChange("cannot change the number or the worker id of a lease of snowflake", kInUse, kEvict);
    if (after.Get("window_end") < before.Get("window_end"))
      RefuseChange("cannot shorten the window of a lease of snowflake", kInUse, kEvict);
  } else if (Is(trigger->tg_relation, "snowflake_watermark")) {
    if (changed("worker_id")) RefuseNoWatermark();
    if (after.Get("last_tick") < before.Get("last_tick"))
      RefuseChange("cannot lower a watermark of snowflake", kBeginsAbove,
                   "If a clock was ahead, the worker id can be used again when all clocks have passed the watermark.");
    if (changed("leases_ended") && !FiredByProtocol()) RefuseCount();
  } else if (Is(trigger->tg_relation, "snowflake_segment") && !FiredByProtocol()) {
    if (changed("segment_id") || strcmp(before.Name(), after.Name()) != 0) RefuseNoSegment();
    if (after.Get("last_value") < before.Get("last_value"))
      RefuseChange("cannot lower a segment of snowflake", "Its numbers up to its last_value were allocated.",
                   "Create another segment.");
  }
}

}  // namespace

SNOWFLAKE_FUNCTION(snowflake_guard) {
  if (!CALLED_AS_TRIGGER(fcinfo)) ReportNotTrigger("snowflake_guard");
  const TriggerData *trigger = reinterpret_cast<TriggerData *>(fcinfo->context);
  if (TRIGGER_FIRED_BY_TRUNCATE(trigger->tg_event))
    RefuseChange("cannot truncate a table of snowflake's registry",
                 "Leases, watermarks and ranges keep ids and numbers unique.", kEvict);
  if (TRIGGER_FIRED_FOR_STATEMENT(trigger->tg_event)) return Datum{0};
  if (TRIGGER_FIRED_AFTER(trigger->tg_event)) {
    AfterUpdate(trigger);
    return Datum{0};
  }
  return PointerGetDatum(Before(trigger, ExtensionOfFunction(fcinfo->flinfo->fn_oid)));
}

}  // namespace snowflake
