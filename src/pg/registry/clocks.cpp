// The errors about clocks, and what the registry bounds by its own clock.
#include "pg/registry/clocks.h"

#include "core/generator.h"
#include "pg/report.h"
#include "pg/settings.h"
#include "pg/catalogs.h"

namespace snowflake {
namespace {
// What the registry goes by, whether this life is recorded yet or not.
struct Clocks {
  ClockReading now;
  KeptTime time;
};

Clocks ClocksOf(const Origin &origin) {
  const Here here = HereNow();
  return {here.clock, IsInPlace(origin, here) ? After(origin.time, here.clock) : KeptSince(here.clock)};
}

}  // namespace

Here HereNow() {
  return {static_cast<int64_t>(GetSystemIdentifier()),
          GetWALInsertionTimeLine(),
          UnixUsFromTimestamp(PgStartTime),
          MyDatabaseId,
          {NowUnixUs(), SteadyUs()}};
}

int64_t SkewUs() { return settings.max_clock_skew_ms * kUsPerMs; }

bool JudgesClocks(By by) { return by == By::kSql && settings.max_clock_skew_ms > 0; }

bool IsAccepted(By by, const Layout &layout, const Origin &origin, Tick now, bool leapt) {
  if (!JudgesClocks(by)) return !leapt;
  const Clocks clocks = ClocksOf(origin);
  return AcceptsClock(layout, clocks.time, clocks.now, now, leapt, SkewUs());
}

bool IsAcceptedHolder(const Layout &layout, const Origin &origin, Tick now, Tick window_start, Tick window_end,
                      int64_t duration_us) {
  const Clocks clocks = ClocksOf(origin);
  return AcceptsHolder(layout, clocks.time, clocks.now, now, window_start, window_end, duration_us);
}

void CheckClock(By by, const Layout &layout, const Origin &origin, Tick now, bool leapt) {
  if (IsAccepted(by, layout, origin, now, leapt)) return;
  const Clocks clocks = ClocksOf(origin);
  const int64_t node_us = layout.UnixUsAt(now), wall_us = clocks.now.wall_us;
  const char *shown = psprintf("The node's clock shows %s, the registry's %s", Time(node_us), Time(wall_us));
  const int skew_ms = settings.max_clock_skew_ms;
  if (leapt && IsAccepted(by, layout, origin, now, false))
    ereport(ERROR, (errcode(kClockBehind), errmsg("the registry cannot confirm that the node's clock leapt"),
                    JudgesClocks(by) ? errdetail("%s, but not for ten minutes yet without a step.", shown)
                                     : errdetail("It judges no clocks: snowflake.max_clock_skew is 0 there."),
                    errhint("The node follows its clock ten minutes after the leap.")));
  ereport(ERROR,
          (errcode(kClockBehind), errmsg("the node's clock is off by %.3f s", Seconds(node_us) - Seconds(wall_us)),
           HoldsAnother(clocks.time, clocks.now)
               ? errdetail("%s, or %s without its newest step; snowflake.max_clock_skew is %d ms there.", shown,
                           Time(HeldUs(clocks.time, clocks.now)), skew_ms)
               : errdetail("%s; snowflake.max_clock_skew is %d ms there.", shown, skew_ms),
           errhint("Set the clock right on the server where it is wrong.")));
}

int64_t LatestNowUs(const Origin &origin) {
  const Clocks clocks = ClocksOf(origin);
  return LatestUs(clocks.time, clocks.now);
}

int64_t EarliestNowUs(const Origin &origin) {
  const Clocks clocks = ClocksOf(origin);
  return EarliestUs(clocks.time, clocks.now);
}

Tick LastUsable(const Layout &layout, int64_t at_us) {
  if (!JudgesClocks(By::kSql)) return layout.max_tick();
  const Tick lead = SkewTicks(layout, SkewUs()) + MaxLead(layout, settings.max_lead_ms * kUsPerMs);
  return Min(layout.TickAt(at_us) + lead, layout.max_tick());
}

Tick LatestEnd(const Layout &layout, const Origin &origin) {
  if (!JudgesClocks(By::kSql)) return layout.max_tick() + 1;
  return layout.TickAt(LatestNowUs(origin)) + SkewTicks(layout, SkewUs()) +
         layout.TicksIn(settings.max_lease_duration_ms * kUsPerMs);
}

void ReportTickAhead(int64_t tick_us, int64_t registry_us) {
  ereport(ERROR,
          (errcode(kClockBehind),
           errmsg("the tick is %.3f s ahead of the registry's clock", Seconds(tick_us) - Seconds(registry_us)),
           errdetail("The tick's time is %s, the registry's clock shows %s; snowflake.max_clock_skew is %d ms there.",
                     Time(tick_us), Time(registry_us), settings.max_clock_skew_ms),
           errhint("Set the clock right on the server where it is wrong.")));
}

}  // namespace snowflake
