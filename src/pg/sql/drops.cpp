// Refuses to drop a registry while other nodes hold leases or ranges of segments. Those nodes would
// go on issuing, and a new registry would assign the same worker ids and numbers meanwhile.
//
// 1. With DROP EXTENSION, DROP SCHEMA and DROP OWNED, each object passes the hook of dropped
//    objects, locked and readable. Their order is not promised: the first table needed is checked.
// 2. A session that has not loaded this library has no hook. Before such a command, the event
//    trigger _snowflake_guard_drop calls a function of the library, which loads it.
// 3. The lease and ranges of this database's own node do not count: its ids go on above the last.
// 4. What is not as the extension made it can always be dropped, which may be the only repair.
#include "pg/database_layout.h"
#include "pg/registry/clocks.h"
#include "pg/state/data_directory.h"
#include "pg/state/state_block.h"
#include "pg/report.h"
#include "pg/settings.h"
#include "pg/sql/hooks.h"
#include "pg/catalogs.h"
#include "pg/execution.h"

namespace snowflake {
namespace {
object_access_hook_type next_access_hook = nullptr;

// Whether a hash is of a lease that this database's node has acquired, or is about to acquire.
bool IsOwn(const NodeState &node, const bytea *hash) {
  const auto is = [&](const Secret &secret) {
    return VARSIZE_ANY_EXHDR(hash) == sizeof(SecretHash) &&
           memcmp(VARDATA_ANY(hash), secret.hash.bytes, sizeof(SecretHash)) == 0;
  };
  bool own = is(node.generator.lease.secret) || is(node.next_secret);
  for (int i = 0; i < node.retired_count; ++i) own = own || is(node.retired[i].secret);
  return own;
}

struct TypedColumn {
  const char *name;
  Oid type;
};

// Each row in which none of these columns is null; none if one is not as the extension made it.
template <int count, typename Row>
void ForEachCompleteRow(Oid relation, const TypedColumn (&columns)[count], Row row) {
  Relation table = table_open(relation, AccessShareLock);
  AttrNumber numbers[count];
  bool found = true;
  for (int i = 0; i < count; ++i) {
    numbers[i] = get_attnum(relation, columns[i].name);
    found = found && numbers[i] > 0 && get_atttype(relation, numbers[i]) == columns[i].type;
  }
  if (found) {
    Snapshot snapshot = RegisterSnapshot(GetLatestSnapshot());
    TupleTableSlot *slot = table_slot_create(table, nullptr);
    TableScanDesc scan = BeginScan(table, snapshot);
    while (table_scan_getnextslot(scan, ForwardScanDirection, slot)) {
      Datum values[count];
      bool any_null = false, is_null = false;
      for (int i = 0; i < count; ++i) {
        values[i] = slot_getattr(slot, numbers[i], &is_null);
        any_null = any_null || is_null;
      }
      if (!any_null) row(values);
    }
    table_endscan(scan);
    ExecDropSingleTupleTableSlot(slot);
    UnregisterSnapshot(snapshot);
  }
  table_close(table, AccessShareLock);
}

// The earlier one of the wall clock and the time that the registry holds after a step.
int64_t EarliestUsOf(Oid origin) {
  const ClockReading now = {NowUnixUs(), SteadyUs()};
  int64_t earliest_us = now.wall_us;
  const TypedColumn columns[] = {{"started_at", TIMESTAMPTZOID},
                                 {"clock_offset_us", INT8OID},
                                 {"clock_since_us", INT8OID},
                                 {"step_offset_us", INT8OID},
                                 {"step_since_us", INT8OID}};
  ForEachCompleteRow(origin, columns, [&](const Datum *row) {
    if (DatumGetTimestampTz(row[0]) != PgStartTime) return;  // of another monotonic clock
    const KeptTime kept = {DatumGetInt64(row[1]), DatumGetInt64(row[2]), DatumGetInt64(row[3]), DatumGetInt64(row[4])};
    earliest_us = EarliestUs(After(kept, now), now);
  });
  return earliest_us;
}

// Raises an error if leases of other nodes are in use.
void CheckLeases(Oid registry, Oid origin, const Layout &layout) {
  NodeState own = {};
  NodeBlock *node = FindNode(MyDatabaseId);
  if (node != nullptr) WithLock(node, LW_SHARED, [&] { own = node->state; });
  // A node's clock may be behind this one.
  const int64_t skew_us = SkewUs(), from_us = EarliestUsOf(origin) - skew_us;
  int64_t count = 0, last_us = 0;
  const TypedColumn columns[] = {{"secret_hash", BYTEAOID}, {"window_start", INT8OID}, {"window_end", INT8OID}};
  ForEachCompleteRow(registry, columns, [&](const Datum *row) {
    const Tick window_start = DatumGetInt64(row[1]), window_end = DatumGetInt64(row[2]);
    const int64_t until_us = layout.UnixUsAt(window_end);
    if (IsWholeTime(layout, window_start, window_end)) return;  // set aside: no node has it
    if (until_us <= from_us || (node != nullptr && IsOwn(own, DatumGetByteaPP(row[0])))) return;
    ++count;
    last_us = Max(last_us, until_us);
  });
  if (count > 0)
    ereport(ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
             errmsg("cannot drop the registry of snowflake while nodes hold leases"),
             errdetail_plural("%lld lease of another node may be in use until %s, or longer if it is extended.",
                              "%lld leases of other nodes may be in use, the last until %s, or longer if it is"
                              " extended.",
                              static_cast<unsigned long>(count), Long(count),
                              Time(last_us > PG_INT64_MAX - skew_us ? PG_INT64_MAX : last_us + skew_us)),
             errhint("Stop these nodes, or wait until their windows are over. snowflake_evict(worker_id, dead_since)"
                     " ends the lease of a node that is certainly dead.")));
}

const char *NameOfSegment(Oid segments, int64_t segment_id) {
  const char *name = "?";
  const TypedColumn columns[] = {{"segment_id", INT8OID}, {"name", TEXTOID}};
  ForEachCompleteRow(segments, columns, [&](const Datum *row) {
    if (DatumGetInt64(row[0]) == segment_id) name = TextDatumGetCString(row[1]);
  });
  return name;
}

// Raises an error if other nodes hold some.
void CheckRanges(Oid ranges, Oid segments) {
  constexpr int kShown = 5;
  int64_t count = 0;
  StringInfoData shown;
  initStringInfo(&shown);
  const TypedColumn columns[] = {{"here", BOOLOID}, {"node", TEXTOID}, {"segment_id", INT8OID}, {"held_to", INT8OID}};
  ForEachCompleteRow(ranges, columns, [&](const Datum *row) {
    if (DatumGetBool(row[0]) || ++count > kShown) return;
    appendStringInfo(&shown, "%snode \"%s\" of segment \"%s\" up to %lld", count > 1 ? ", " : "",
                     TextDatumGetCString(row[1]), NameOfSegment(segments, DatumGetInt64(row[2])),
                     Long(DatumGetInt64(row[3])));
  });
  if (count > kShown) appendStringInfoString(&shown, ", ...");
  if (count > 0)
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("cannot drop the registry of snowflake while nodes hold ranges of segments"),
                    errdetail_plural("%lld range is held: %s.", "%lld ranges are held: %s.",
                                     static_cast<unsigned long>(count), Long(count), shown.data),
                    errhint("Stop these nodes, which then return their numbers. If a node does not exist any more, "
                            "delete its rows of snowflake_segment_range.")));
}

bool IsOfSnowflake(Oid relation) {
  const Oid extension = getExtensionOfObject(RelationRelationId, relation);
  const char *name = OidIsValid(extension) ? get_extension_name(extension) : nullptr;
  return name != nullptr && strcmp(name, "snowflake") == 0;
}

// The table of that name in the same schema; InvalidOid: there is none.
Oid TableBeside(Oid relation, const char *name) {
  const Oid table = get_relname_relid(name, get_rel_namespace(relation));
  return OidIsValid(table) && get_rel_relkind(table) == RELKIND_RELATION ? table : InvalidOid;
}

void CheckDrop(Oid relation) {
  const char *name = get_rel_name(relation);
  const auto is = [&](const char *table) { return strcmp(name, table) == 0; };
  if (name == nullptr || strncmp(name, "snowflake_", strlen("snowflake_")) != 0 || !IsOfSnowflake(relation)) return;
  if (is("snowflake_segment_range") || is("snowflake_segment")) {
    const Oid ranges = TableBeside(relation, "snowflake_segment_range"),
              segments = TableBeside(relation, "snowflake_segment");
    if (OidIsValid(ranges) && OidIsValid(segments)) CheckRanges(ranges, segments);
  }
  if (!is("snowflake_registry") && !is("snowflake_layout") && !is("snowflake_origin")) return;
  // An extension that takes this one's place has issued no id yet.
  ForgetIssuer(MyDatabaseId);
  const Oid registry = TableBeside(relation, "snowflake_registry");
  const Oid layout_table = TableBeside(relation, "snowflake_layout");
  const Oid origin = TableBeside(relation, "snowflake_origin");
  if (!OidIsValid(registry) || !OidIsValid(layout_table) || !OidIsValid(origin)) return;
  Layout layout;
  if (ReadLayoutQuietly(layout_table, &layout)) CheckLeases(registry, origin, layout);
}

void OnAccess(ObjectAccessType access, Oid catalog, Oid object, int column, void *argument) {
  if (next_access_hook) next_access_hook(access, catalog, object, column, argument);
  if (access == OAT_DROP && catalog == RelationRelationId && column == 0) CheckDrop(object);
}

}  // namespace

void WatchDrops() {
  next_access_hook = object_access_hook;
  object_access_hook = OnAccess;
}

// The call has loaded the library.
SNOWFLAKE_FUNCTION(snowflake_guard_drop) { return Datum{0}; }

}  // namespace snowflake
