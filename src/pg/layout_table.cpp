#include "pg/layout_table.h"

#include "pg/report.h"

namespace snowflake {

namespace {

struct Column {
  const char *name;
  Oid type;
};

// In the order of the table, the singleton column left out.
constexpr Column kColumns[] = {{"epoch_ms", INT8OID},        {"tick_us", INT8OID},     {"timestamp_bits", INT4OID},
                               {"datacenter_bits", INT4OID}, {"worker_bits", INT4OID}, {"sequence_bits", INT4OID},
                               {"sequence_first", BOOLOID}};
constexpr int kColumnCount = 7;
constexpr int kFirstAttribute = 2;

struct Cache {
  bool valid;
  bool watching;
  Oid relation;
  Layout layout;
  void (*on_change)();
};
Cache cache;

void Forget(Datum, Oid relation) {
  if (OidIsValid(relation) && relation != cache.relation) return;
  cache.valid = false;
  if (cache.on_change) cache.on_change();
}

void Watch() {
  if (cache.watching) return;
  CacheRegisterRelcacheCallback(Forget, Datum{0});
  cache.watching = true;
}

bool HasShape(Relation table) {
  bool fits = table->rd_rel->relkind == RELKIND_RELATION &&
              RelationGetNumberOfAttributes(table) >= kFirstAttribute - 1 + kColumnCount;
  for (int i = 0; fits && i < kColumnCount; ++i) {
    const Form_pg_attribute attribute = TupleDescAttr(RelationGetDescr(table), kFirstAttribute - 1 + i);
    fits = !attribute->attisdropped && attribute->atttypid == kColumns[i].type &&
           strcmp(NameStr(attribute->attname), kColumns[i].name) == 0;
  }
  return fits;
}

bool FromTuple(HeapTuple tuple, TupleDesc descriptor, Layout *layout) {
  Datum values[kColumnCount];
  for (int i = 0; i < kColumnCount; ++i) {
    bool is_null = false;
    values[i] = heap_getattr(tuple, kFirstAttribute + i, descriptor, &is_null);
    if (is_null) return false;
  }
  layout->epoch_ms = DatumGetInt64(values[0]);
  layout->tick_us = DatumGetInt64(values[1]);
  layout->timestamp_bits = DatumGetInt32(values[2]);
  layout->datacenter_bits = DatumGetInt32(values[3]);
  layout->worker_bits = DatumGetInt32(values[4]);
  layout->sequence_bits = DatumGetInt32(values[5]);
  layout->sequence_first = DatumGetBool(values[6]);
  return true;
}

// False when the table is not what the extension made.
bool Read(Oid relation, Layout *layout) {
  *layout = kDefaultLayout;
  Relation table = table_open(relation, AccessShareLock);
  bool as_made = HasShape(table);
  if (as_made) {
    SysScanDesc scan = systable_beginscan(table, InvalidOid, false, nullptr, 0, nullptr);
    HeapTuple tuple = systable_getnext(scan);
    as_made = !HeapTupleIsValid(tuple) || FromTuple(tuple, RelationGetDescr(table), layout);
    systable_endscan(scan);
  }
  table_close(table, AccessShareLock);
  return as_made;
}

Oid LayoutTable(Oid fn_oid) {
  const Oid relation = get_relname_relid("snowflake_layout", get_func_namespace(fn_oid));
  if (!OidIsValid(relation)) ReportForeignTable("snowflake_layout");
  return relation;
}

}  // namespace

Layout ReadLayout(Oid relation) {
  Layout layout;
  if (!Read(relation, &layout)) ReportForeignTable("snowflake_layout");
  cache.relation = relation;
  const LayoutFault fault = layout.Check(false);
  if (fault != LayoutFault::kNone) ReportLayoutFault(layout, fault);
  return layout;
}

bool ReadSoundLayout(Oid relation, Layout *layout) {
  return Read(relation, layout) && layout->Check(false) == LayoutFault::kNone;
}

bool IsSoundLayout(HeapTuple tuple, TupleDesc descriptor) {
  Layout layout = {};
  if (!FromTuple(tuple, descriptor, &layout)) ReportForeignTable("snowflake_layout");
  return layout.Check(true) == LayoutFault::kNone;
}

const Layout &DatabaseLayout(Oid fn_oid) {
  Watch();
  if (!cache.valid) {
    cache.layout = ReadLayout(LayoutTable(fn_oid));
    cache.valid = true;
  }
  return cache.layout;
}

void OnLayoutChange(Oid fn_oid, void (*on_change)()) {
  Watch();
  cache.on_change = on_change;
  cache.relation = LayoutTable(fn_oid);
}

char *DescribeLayout(const Layout &layout) {
  return psprintf("epoch %lld ms, tick %lld us, %d timestamp, %d datacenter, %d worker and %d sequence bits, %s first",
                  static_cast<long long>(layout.epoch_ms), static_cast<long long>(layout.tick_us),
                  layout.timestamp_bits, layout.datacenter_bits, layout.worker_bits, layout.sequence_bits,
                  layout.sequence_first ? "sequence" : "worker");
}

}  // namespace snowflake
