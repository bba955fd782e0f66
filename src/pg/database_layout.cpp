// Reads snowflake_layout by its access method, and keeps the layout until the relation changes.
#include "pg/database_layout.h"

#include "pg/extension.h"
#include "pg/report.h"

namespace snowflake {
namespace {
// The table begins with the column that keeps it to one row.
constexpr int kFirstAttribute = 2;

struct {
  bool valid;
  bool watching;
  Oid relation;
  Layout layout;
  void (*on_change)();
} cache;

void Forget(Datum, Oid relation) {
  if (OidIsValid(relation) && relation != cache.relation) return;
  cache.valid = false;
  if (cache.on_change) cache.on_change();
}

void RegisterCallback() {
  if (cache.watching) return;
  CacheRegisterRelcacheCallback(Forget, Datum{0});
  cache.watching = true;
}

bool HasShape(Relation table) {
  bool fits = table->rd_rel->relkind == RELKIND_RELATION &&
              RelationGetNumberOfAttributes(table) >= kFirstAttribute - 1 + kLayoutColumnCount;
  for (int i = 0; fits && i < kLayoutColumnCount; ++i) {
    const Form_pg_attribute attribute = TupleDescAttr(RelationGetDescr(table), kFirstAttribute - 1 + i);
    fits = !attribute->attisdropped && attribute->atttypid == kLayoutColumns[i].type &&
           strcmp(NameStr(attribute->attname), kLayoutColumns[i].name) == 0;
  }
  return fits;
}

bool FromTuple(HeapTuple tuple, TupleDesc descriptor, Layout *layout) {
  Datum values[kLayoutColumnCount];
  for (int i = 0; i < kLayoutColumnCount; ++i) {
    bool is_null = false;
    values[i] = heap_getattr(tuple, kFirstAttribute + i, descriptor, &is_null);
    if (is_null) return false;
  }
  *layout = LayoutFromDatums(values);
  return true;
}

// False if the table is not as the extension made it, or was dropped during the wait for its lock.
bool ReadTable(Oid relation, Layout *layout) {
  *layout = kDefaultLayout;
  Relation table = try_table_open(relation, AccessShareLock);
  if (table == nullptr) return false;
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

// The extension was dropped meanwhile, or its table was changed.
[[noreturn]] void ReportNoLayout(Oid fn_oid) {
  ExtensionOfFunction(fn_oid);
  ReportForeignTable("snowflake_layout");
}

Oid LayoutTable(Oid fn_oid) {
  const Oid relation = get_relname_relid("snowflake_layout", get_func_namespace(fn_oid));
  if (!OidIsValid(relation)) ReportNoLayout(fn_oid);
  return relation;
}

Layout Checked(Oid relation, const Layout &layout) {
  cache.relation = relation;
  CheckLayout(layout, false);
  return layout;
}

}  // namespace

const char *WhatIsWrong(LayoutFault fault) {
  switch (fault) {
    case LayoutFault::kNone: break;
    case LayoutFault::kFieldWidth:
      return "A timestamp takes 1 to 63 bits, a datacenter 0 to 10, datacenter and worker together 0 to 31, a sequence "
             "0 to 31.";
    case LayoutFault::kTooWide: return "The fields sum to more than 64 bits.";
    case LayoutFault::kTickLength: return "A tick lasts 1 microsecond to 1 day.";
    case LayoutFault::kEpoch: return "An epoch must be between 1970 and 9999.";
    case LayoutFault::kEndsTooLate: return "Its last tick is beyond what a timestamp can hold.";
    case LayoutFault::kReadOnly: return "Without worker bits or sequence bits, ids can be read but not issued.";
  }
  return "";
}

void LayoutToDatums(const Layout &layout, Datum *values) {
  values[0] = Int64GetDatum(layout.epoch_ms);
  values[1] = Int64GetDatum(layout.tick_us);
  values[2] = Int32GetDatum(layout.timestamp_bits);
  values[3] = Int32GetDatum(layout.datacenter_bits);
  values[4] = Int32GetDatum(layout.worker_bits);
  values[5] = Int32GetDatum(layout.sequence_bits);
  values[6] = BoolGetDatum(layout.sequence_first);
}

Layout LayoutFromDatums(const Datum *values) {
  return {DatumGetInt64(values[0]), DatumGetInt64(values[1]), DatumGetInt32(values[2]), DatumGetInt32(values[3]),
          DatumGetInt32(values[4]), DatumGetInt32(values[5]), DatumGetBool(values[6])};
}

Layout ReadLayout(Oid relation) {
  Layout layout;
  if (!ReadTable(relation, &layout)) ReportForeignTable("snowflake_layout");
  return Checked(relation, layout);
}

bool ReadSoundLayout(Oid relation, Layout *layout) {
  return ReadTable(relation, layout) && layout->Fault(false) == LayoutFault::kNone;
}

bool IsSoundLayout(HeapTuple tuple, TupleDesc descriptor) {
  Layout layout = {};
  if (!FromTuple(tuple, descriptor, &layout)) ReportForeignTable("snowflake_layout");
  return layout.Fault(true) == LayoutFault::kNone;
}

const Layout &DatabaseLayout(Oid fn_oid) {
  RegisterCallback();
  if (!cache.valid) {
    const Oid relation = LayoutTable(fn_oid);
    Layout layout;
    if (!ReadTable(relation, &layout)) ReportNoLayout(fn_oid);
    cache.layout = Checked(relation, layout);
    cache.valid = true;
  }
  return cache.layout;
}

void WatchLayout(Oid fn_oid) {
  RegisterCallback();
  cache.relation = LayoutTable(fn_oid);
}

void OnLayoutChange(void (*on_change)()) { cache.on_change = on_change; }

void CheckLayout(const Layout &layout, bool for_issuing) {
  const LayoutFault fault = layout.Fault(for_issuing);
  if (fault == LayoutFault::kNone) return;
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("invalid layout"),
                  errdetail("%s It has %s.", WhatIsWrong(fault), DescribeLayout(layout)),
                  errhint("Set another with snowflake_set_layout(); the view snowflake_layouts has examples.")));
}

void ReportLayoutInUse() {
  ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("the layout can no longer be changed"),
                  errdetail("A worker id was leased under it, so ids may have been issued."),
                  errhint("Drop the extension and create it again to begin with another layout.")));
}

char *DescribeLayout(const Layout &layout) {
  return psprintf("epoch %lld ms, tick %lld us, %d timestamp, %d datacenter, %d worker and %d sequence bits, %s first",
                  Long(layout.epoch_ms), Long(layout.tick_us), layout.timestamp_bits, layout.datacenter_bits,
                  layout.worker_bits, layout.sequence_bits, layout.sequence_first ? "sequence" : "worker");
}

}  // namespace snowflake
