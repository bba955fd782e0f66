// What keeps columns from being converted: one list for both ways, and for all keys of a call.
//
// 1. A refusal is a row: the object and the reason, and what to do. All of a call are one error.
// 2. They come from the catalogs. Rows are read only if no right is lacking.
#pragma once

#include "convert/catalog.h"

namespace snowflake {
struct Refusal {
  const char *line;   // the object and the reason
  const char *to_do;  // one or more sentences; null: nothing is known
  int code;
};

// Of one conversion. `together`: the columns that are converted in the same call.
List *FindRefusals(const Conversion &conversion, const IdColumns &columns, const ColumnSet &together);

// Those of its tables, which are also what keeps warnings from being found.
List *RefusalsOfTables(const Conversion &conversion, const IdColumns &columns);

// Whether the other way, in one step or online, would be open to this session. Not for a switch.
bool OtherWayIsOpen(Conversion conversion, const IdColumns &columns);

// Without a line the object was dropped meanwhile.
List *AddRefusal(List *refusals, const char *line, const char *to_do,
                 int code = ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE);

List *CopyRefusals(const List *refusals);

// The parts of the one error. Its SQLSTATE is 42501 if a right is lacking, that of all refusals if
// it is the same, otherwise 55000. The lines, each once; and what to do, a line each.
int CodeOf(const List *refusals);
const char *LinesOf(const List *refusals);
const char *WhatToDo(const List *refusals);

// The error of one conversion.
[[noreturn]] void Refuse(const Conversion &conversion, const IdColumns &columns, const List *refusals);

}  // namespace snowflake
