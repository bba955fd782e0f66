// An online conversion: the statements that are left of it, in order. Nothing is executed here.
//
// 1. What is left follows from the catalogs alone: the new columns, indexes and constraints have
//    names made from the old ones, and are recognised by what they are. So a step that was ended is
//    simply done again.
// 2. A new column equals the old one, by a trigger and by a check constraint. So the switch is a
//    matter of names: it changes the catalogs and reads no table.
// 3. The switch is made from the old objects alone. So it is the same text before the first step
//    and after the last one. A call in it checks this, before its locks and under them.
#pragma once

#include "convert/catalog.h"

namespace snowflake {
// `defaults`: what gives the converted column its new default at the end, `sequences`: what is done
// with its sequence then. If nothing is narrow, that is all.
List *OnlineSteps(const Conversion &conversion, const IdColumns &columns, List *defaults, List *sequences);

// The function of its triggers, for queries.
Value Follow(const Conversion &conversion);

// Whether there is anything to abandon.
bool OnlineHasBegun(const Conversion &conversion, const IdColumns &columns);

// What undoes the steps before the switch.
List *AbandonSteps(const Conversion &conversion, const IdColumns &columns);

// The error of a switch that is not `checksum`, or that comes too early.
void CheckSwitch(const Conversion &conversion, const IdColumns &columns, List *defaults, const char *checksum);

}  // namespace snowflake
