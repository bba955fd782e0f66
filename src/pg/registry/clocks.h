// How the registry judges clocks, by its record and the present. Only calls by SQL are judged: they
// are of nodes of other servers, while this database's own node has the registry's clock.
// core/ring.h decides.
#pragma once

#include "core/ring.h"
#include "pg/pg.h"

namespace snowflake {
// The server that this is, and its clocks.
Here HereNow();

enum class By { kOwnNode, kSql };

// By how much clocks may differ.
int64_t SkewUs();

// If it does not judge clocks, a registry bounds nothing by them.
bool JudgesClocks(By by);

// Whether the registry accepts the clock of a node that acquires, or whose clock leapt.
bool IsAccepted(By by, const Layout &layout, const Origin &origin, Tick now, bool leapt);

// Whether it accepts the clock of a node that extends its lease and has followed its clock.
bool IsAcceptedHolder(const Layout &layout, const Origin &origin, Tick now, Tick window_start, Tick window_end,
                      int64_t duration_us);

// Error: SF002 if a node's clock is too far off, or has leapt and the registry cannot confirm that:
// it judges no clocks, or its own clock stepped in the last ten minutes.
void CheckClock(By by, const Layout &layout, const Origin &origin, Tick now, bool leapt);

// The later and the earlier one of the wall clock and the time that is held after a step.
int64_t LatestNowUs(const Origin &origin);
int64_t EarliestNowUs(const Origin &origin);

// The last tick that a node can have used by that time of the registry. Its clock may be ahead of
// that, and its tick ahead of its clock by max_lead, which is assumed to be the same here.
Tick LastUsable(const Layout &layout, int64_t at_us);

// The latest end of a window that begins now for another server's node.
Tick LatestEnd(const Layout &layout, const Origin &origin);

// Error: SF002 with the time of the tick, and the registry's.
[[noreturn]] void ReportTickAhead(int64_t tick_us, int64_t registry_us);

}  // namespace snowflake
