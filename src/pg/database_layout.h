// This database's layout: the row of the extension's table snowflake_layout, or the default if that
// is empty. Also layouts as columns of a row.
#pragma once

#include "core/layout.h"
#include "pg/catalogs.h"

namespace snowflake {
struct TypedColumn {
  const char *name;
  Oid type;
};

// The columns of a layout, in the order of the table and of the rows that SQL functions return.
inline constexpr int kLayoutColumnCount = 7;
inline constexpr TypedColumn kLayoutColumns[kLayoutColumnCount] = {
    {"epoch_ms", INT8OID},    {"tick_us", INT8OID},       {"timestamp_bits", INT4OID}, {"datacenter_bits", INT4OID},
    {"worker_bits", INT4OID}, {"sequence_bits", INT4OID}, {"sequence_first", BOOLOID}};
inline constexpr const char *kLayoutColumnList =
    "epoch_ms, tick_us, timestamp_bits, datacenter_bits, worker_bits, sequence_bits, sequence_first";

void LayoutToDatums(const Layout &layout, Datum *values);
Layout LayoutFromDatums(const Datum *values);

// Reads the table. No user's code runs: privileges, rules and types that its owner planted have no
// effect. Errors: 55000 if the table is not as the extension made it, 22023 for an invalid layout.
Layout ReadLayout(Oid relation);

// The same, but returns false instead of an error.
bool ReadSoundLayout(Oid relation, Layout *layout);

// The same, kept in the process until the table changes. `fn_oid` is any function of the extension.
const Layout &DatabaseLayout(Oid fn_oid);

// From WatchLayout() on, `on_change` runs in this process whenever the layout may have changed, or
// the extension was dropped. Neither opens a table.
void WatchLayout(Oid fn_oid);
void OnLayoutChange(void (*on_change)());

// Whether ids can be issued with the layout in a row of the table.
bool IsSoundLayout(HeapTuple tuple, TupleDesc descriptor);

// For the detail of an error.
const char *WhatIsWrong(LayoutFault fault);

// Error: 22023 if the layout is invalid; with `for_issuing` also if ids can only be read with it.
void CheckLayout(const Layout &layout, bool for_issuing);

// 55000: ids may have been issued under the layout that is to change.
[[noreturn]] void ReportLayoutInUse();

// "epoch 1735689600000, tick 1000 us, ...": for details of messages.
char *DescribeLayout(const Layout &layout);

}  // namespace snowflake
