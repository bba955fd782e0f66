// The parts of a direct conversion.
#pragma once

#include "convert/catalog.h"

namespace snowflake {
// Refuse what cannot be converted at all, from the catalogs alone; sequences to be dropped that
// others use than the columns that are converted together; and what cannot be converted directly:
// what ALTER TABLE cannot do, and too large ids, for which the table is read.
void CheckColumns(const Conversion &conversion, const IdColumns &columns);
void CheckSequences(const Conversion &conversion, const IdColumns &columns, const ColumnSet &together);
void CheckDirect(const Conversion &conversion, const IdColumns &columns, const NotNulls &not_nulls);

// One statement for each table at a top; ALTER TABLE passes it on. So each is rewritten only once.
// `types`: whether the types change, too.
List *AlterStatements(const Conversion &conversion, const IdColumns &columns, bool types);

// What is left of a conversion; with `types` also of the types. `not_nulls` is empty without.
List *Statements(const Conversion &conversion, const IdColumns &columns, const NotNulls &not_nulls, bool types);

// The argument target of a function. Error: 22023.
const char *TargetOf(const char *target);

// The same for a whole conversion, after all checks of it.
List *CheckedStatements(const Conversion &conversion, const IdColumns &columns);

void ExecuteStatements(const Conversion &conversion, List *statements);

// And fails if something is left to do.
void ExecuteChecked(const Conversion &conversion, const IdColumns &columns, List *statements);

[[noreturn]] void ReportInterference(const IdColumn &column);

// Adds them to a function's result.
void Return(ReturnSetInfo *result, List *statements);

}  // namespace snowflake
