// A registry that is dropped takes its leases along, while their nodes issue under them, and one that is made in its place would
// hand out the same worker ids before those nodes ask. So the drop is refused as long as other nodes hold leases.
//
// 1. DROP EXTENSION, DROP SCHEMA, DROP OWNED: whatever goes passes the hook of dropped objects, locked, and as long as it can be
//    read. The tables go one by one, in no order that is promised: what looks is the first of the two that are needed.
// 2. A session that has nothing to do with this library has no hook. Before such a command, the event trigger
//    _snowflake_guard_drop calls a function of it, and that loads it.
// 3. The lease of this database's own node does not count: its ids go on above the last one whatever becomes of the registry.
// 4. What is not as the extension made it can always be dropped; there may be no other way to mend it.
#include "pg/sql/drops.h"

#include "pg/database_layout.h"
#include "pg/issue/node_block.h"
#include "pg/registry/protocol.h"
#include "pg/settings.h"
#include "pg/sql/report.h"

namespace snowflake {

namespace {

object_access_hook_type next_access_hook = nullptr;

// What this database's own node has drawn, or is about to.
struct OwnTokens {
  Token tokens[kMaxRetired + 2];
  int count;

  bool Have(const Token &token) const {
    for (int i = 0; i < count; ++i)
      if (tokens[i] == token) return true;
    return false;
  }
};

OwnTokens FindOwnTokens() {
  OwnTokens own = {};
  NodeBlock *node = FindNode(MyDatabaseId);
  if (node == nullptr) return own;
  WithLock(node, LW_SHARED, [&] {
    own.tokens[own.count++] = node->state.generator.lease.token;
    own.tokens[own.count++] = node->state.next_token;
    for (int i = 0; i < node->state.retired_count; ++i) own.tokens[own.count++] = node->state.retired[i].token;
  });
  return own;
}

AttrNumber FindColumn(Relation table, const char *name, Oid type) {
  const AttrNumber column = get_attnum(RelationGetRelid(table), name);
  return column > 0 && get_atttype(RelationGetRelid(table), column) == type ? column : InvalidAttrNumber;
}

struct Leases {
  int64_t count;
  int64_t until_us;  // the end of the last window
};

// Those of other nodes whose windows end after `from_us`.
Leases CountLeases(Oid registry, const Layout &layout, int64_t from_us) {
  Leases leases = {};
  Relation table = table_open(registry, AccessShareLock);
  const AttrNumber token = FindColumn(table, "token", UUIDOID);
  const AttrNumber window_end = FindColumn(table, "window_end", INT8OID);
  if (token != InvalidAttrNumber && window_end != InvalidAttrNumber) {
    const OwnTokens own = FindOwnTokens();
    Snapshot snapshot = RegisterSnapshot(GetLatestSnapshot());
    TupleTableSlot *slot = table_slot_create(table, nullptr);
    TableScanDesc scan = BeginScan(table, snapshot);
    while (table_scan_getnextslot(scan, ForwardScanDirection, slot)) {
      bool no_token = false, no_end = false;
      const Datum held_by = slot_getattr(slot, token, &no_token);
      const Datum end = slot_getattr(slot, window_end, &no_end);
      if (no_token || no_end || own.Have(TokenFromDatum(held_by))) continue;
      const int64_t until_us = layout.UnixUsAt(DatumGetInt64(end));
      if (until_us <= from_us) continue;
      ++leases.count;
      leases.until_us = Max(leases.until_us, until_us);
    }
    table_endscan(scan);
    ExecDropSingleTupleTableSlot(slot);
    UnregisterSnapshot(snapshot);
  }
  table_close(table, AccessShareLock);
  return leases;
}

bool IsOurs(Oid relation) {
  const Oid extension = getExtensionOfObject(RelationRelationId, relation);
  const char *name = OidIsValid(extension) ? get_extension_name(extension) : nullptr;
  return name != nullptr && strcmp(name, "snowflake") == 0;
}

void CheckDrop(Oid relation) {
  const char *name = get_rel_name(relation);
  if (name == nullptr || (strcmp(name, "snowflake_registry") != 0 && strcmp(name, "snowflake_layout") != 0)) return;
  if (!IsOurs(relation)) return;
  const Oid schema = get_rel_namespace(relation);
  const Oid registry = get_relname_relid("snowflake_registry", schema);
  const Oid layout_table = get_relname_relid("snowflake_layout", schema);
  if (!OidIsValid(registry) || !OidIsValid(layout_table)) return;
  if (get_rel_relkind(registry) != RELKIND_RELATION || get_rel_relkind(layout_table) != RELKIND_RELATION) return;
  Layout layout;
  if (!ReadSoundLayout(layout_table, &layout)) return;
  // A node's clock may be behind this one.
  const int64_t skew_us = settings.max_clock_skew_ms * kUsPerMs;
  const Leases leases = CountLeases(registry, layout, NowUnixUs() - skew_us);
  if (leases.count > 0)
    ReportLeasesHeld(leases.count, leases.until_us > PG_INT64_MAX - skew_us ? PG_INT64_MAX : leases.until_us + skew_us);
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

}  // namespace snowflake

using namespace snowflake;

// By now the library is loaded.
SNOWFLAKE_FUNCTION(snowflake_guard_drop) { return Datum{0}; }
