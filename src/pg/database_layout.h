// This database's layout: the row of the extension's table snowflake_layout, or the default if that
// is empty. Also layouts as text.
#pragma once

#include "core/layout_text.h"
#include "pg/catalogs.h"

namespace snowflake {
// Reads the table. No user's code runs: privileges, rules and types that its owner planted have no
// effect. Errors: 55000 if the table is not as the extension made it, 22023 for a text that is not
// understood, such as one of a later version.
Layout ReadLayout(Oid relation);

// False instead of an error.
bool ReadLayoutQuietly(Oid relation, Layout *layout);

// As ReadLayout(), but kept in the process until the table changes. `fn_oid` is any function of the
// extension.
const Layout &DatabaseLayout(Oid fn_oid);

// From WatchLayout() on, `on_change` runs in this process whenever the layout may have changed, or
// the extension was dropped. Neither opens a table.
void WatchLayout(Oid fn_oid);
void OnLayoutChange(void (*on_change)());

// Judges a row that is to be stored. Error: 22023 unless its text is canonical.
void CheckLayoutRow(HeapTuple tuple, TupleDesc descriptor);

// Whether such a row may be stored, and ids can be issued with its layout.
bool IsRowToIssueBy(HeapTuple tuple, TupleDesc descriptor);

// The canonical text.
char *TextOfLayout(const Layout &layout);

// What a text defines, and as the layout of a database. Errors: 22023.
const LayoutDefinition *DefinitionOf(std::string_view text);
Layout LayoutOfText(const char *text);

// Error: 22023 if ids of the layout can only be read.
void CheckIssuable(const Layout &layout);

// 55000: ids may have been issued under the layout that is to change.
[[noreturn]] void ReportLayoutInUse();

}  // namespace snowflake
