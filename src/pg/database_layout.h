// This database's layout, as the extension's table snowflake_layout has it; the default one while that is empty. And a layout as
// columns, wherever it is a row.
#pragma once

#include "core/layout.h"
#include "pg/pg.h"

namespace snowflake {

// The columns of a layout, in the order of the table and of every row that SQL functions return.
struct LayoutColumn {
  const char *name;
  Oid type;  // int8, int4 or bool
};
inline constexpr int kLayoutColumnCount = 7;
inline constexpr LayoutColumn kLayoutColumns[kLayoutColumnCount] = {
    {"epoch_ms", INT8OID},    {"tick_us", INT8OID},       {"timestamp_bits", INT4OID}, {"datacenter_bits", INT4OID},
    {"worker_bits", INT4OID}, {"sequence_bits", INT4OID}, {"sequence_first", BOOLOID}};
inline constexpr const char *kLayoutColumnList =
    "epoch_ms, tick_us, timestamp_bits, datacenter_bits, worker_bits, sequence_bits, sequence_first";

void LayoutToDatums(const Layout &layout, Datum *values);
Layout LayoutFromDatums(const Datum *values);

// Reads the table. No user's code runs: neither privileges nor rules nor types planted by its owner matter. Errors: 55000
// when the table is not what the extension made, or holds a layout that cannot be.
Layout ReadLayout(Oid relation);

// The same, and false where that is an error.
bool ReadSoundLayout(Oid relation, Layout *layout);

// The same, kept in the process until the table changes. `fn_oid` is any function of the extension.
const Layout &DatabaseLayout(Oid fn_oid);

// From here on `on_change` runs in this process whenever the layout may have changed, also because the
// extension was dropped. Opens no table.
void WatchLayout(Oid fn_oid);
void OnLayoutChange(void (*on_change)());

// Whether a row of the table is a layout that ids can be issued with.
bool IsSoundLayout(HeapTuple tuple, TupleDesc descriptor);

// Errors: 22023 for a layout that is invalid, or that ids can be read with and not issued.
void CheckLayout(const Layout &layout, bool for_issuing);

// 55000: ids may have been issued under the layout that is to change.
[[noreturn]] void ReportLayoutInUse();

// "epoch 1735689600000, tick 1000 us, ...": for details of messages.
char *DescribeLayout(const Layout &layout);

}  // namespace snowflake
