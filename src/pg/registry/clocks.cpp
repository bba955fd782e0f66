// The errors about clocks, and what the registry bounds by its own clock.
#include "pg/registry/clocks.h"

#include "core/generator.h"
#include "pg/report.h"
#include "pg/settings.h"

namespace snowflake {
int64_t SkewUs() { return settings.max_clock_skew_ms * kUsPerMs; }

bool JudgesClocks(By by) { return by == By::kSql && settings.max_clock_skew_ms > 0; }

KeptTime TimeOf(const Origin &origin, const Here &here) {
  return IsInPlace(origin, here) ? After(origin.time, here.clock) : KeepFrom(here.clock);
}

void CheckClock(By by, const Layout &layout, const KeptTime &time, const Here &here, Tick now, bool leapt) {
  const bool judges = JudgesClocks(by);
  if (judges ? AcceptsClock(layout, time, here.clock, now, leapt, SkewUs()) : !leapt) return;
  const int64_t node_us = layout.UnixUsAt(now), wall_us = here.clock.wall_us;
  const char *shown = psprintf("The node's clock shows %s, the registry's %s", Time(node_us), Time(wall_us));
  const int skew_ms = settings.max_clock_skew_ms;
  if (leapt && (!judges || AcceptsClock(layout, time, here.clock, now, false, SkewUs())))
    ereport(ERROR, (errcode(kClockBehind), errmsg("the registry cannot confirm that the node's clock leapt"),
                    judges ? errdetail("%s, but not for ten minutes yet without a step.", shown)
                           : errdetail("It judges no clocks: snowflake.max_clock_skew is 0 there."),
                    errhint("The node follows its clock ten minutes after the leap.")));
  ereport(ERROR,
          (errcode(kClockBehind), errmsg("the node's clock is off by %.3f s", Seconds(node_us) - Seconds(wall_us)),
           IsOffBy(here.clock, time.offset_us)
               ? errdetail("%s, or %s without its newest step; snowflake.max_clock_skew is %d ms there.", shown,
                           Time(HeldUs(time, here.clock)), skew_ms)
               : errdetail("%s; snowflake.max_clock_skew is %d ms there.", shown, skew_ms),
           errhint("Set the clock right on the server where it is wrong.")));
}

Tick LastUsable(const Layout &layout, int64_t at_us) {
  if (!JudgesClocks(By::kSql)) return layout.max_tick();
  const Tick lead = SkewTicks(layout, SkewUs()) + MaxLead(layout, settings.max_lead_ms * kUsPerMs);
  return Min(layout.TickAt(at_us) + lead, layout.max_tick());
}

Tick LatestEnd(const Layout &layout, const KeptTime &time, const Here &here) {
  if (!JudgesClocks(By::kSql)) return layout.max_tick() + 1;
  return layout.TickAt(LatestUs(time, here.clock)) + SkewTicks(layout, SkewUs()) +
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
