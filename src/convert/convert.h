// The parts of a direct conversion.
#pragma once

#include "convert/catalog.h"

namespace snowflake {
// Statements that drop foreign keys, and that add them again.
struct ForeignKeys {
  List *drop, *add;
};

// What is left of a conversion; with `types` also of the types.
List *Statements(const Conversion &conversion, const IdColumns &columns, bool types, const ForeignKeys &keys = {});

// The argument target of a function. Error: 22023.
const char *TargetOf(const char *target);

void ExecuteStatements(const Conversion &conversion, List *statements);

// Executes them, and fails if something is left to do.
void ExecuteChecked(const Conversion &conversion, const IdColumns &columns, List *statements);

[[noreturn]] void ReportInterference(const IdColumn &column);

// Adds them to a function's result.
void Return(ReturnSetInfo *result, List *statements);

}  // namespace snowflake
