// snowflake_raise() makes all later ids larger; snowflake_renew() is for a machine that was copied
// with its memory. COMMENT ON has their arguments and errors.
//
// 1. Raising returns after the time that this node believes has passed the id's tick, and the open
//    run has ended. So later ids are larger, whichever session takes them.
// 2. The registry and the generator store the tick for clocks that are behind, here or elsewhere.
#include "pg/database_layout.h"
#include "pg/extension.h"
#include "pg/issue/launch.h"
#include "pg/state/state_block.h"
#include "pg/registry/protocol.h"
#include "pg/report.h"
#include "pg/settings.h"
#include "pg/sql/layouts.h"
#include "pg/processes.h"

namespace snowflake {
namespace {
void WaitAWhile(int64_t ms) {
  constexpr int64_t look_ms = 100;
  static uint32 event = 0;
  if (event == 0) event = WaitEventNamed("SnowflakeRaise");
  WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, static_cast<long>(Min(ms, look_ms)), event);
  ResetLatch(MyLatch);
  CHECK_FOR_INTERRUPTS();
}

// By a leap that is held, a tick would be ruled out that no clock reaches for long.
void WaitUntilPast(const Layout &layout, Tick tick) {
  const int64_t tick_us = layout.UnixUsAt(tick);
  for (;;) {
    const ServerTime time = LookAtTime();
    const int64_t now_us = BelievedUs(StateAt(FindNode(MyDatabaseId), time));
    if (layout.TickAt(now_us) > tick) return;
    if (tick_us - now_us > SkewUs())
      ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                      errmsg("the id is %.3f s ahead of the clock", Seconds(tick_us) - Seconds(now_us)),
                      errdetail("The id's time is %s, the node's clock shows %s; snowflake.max_clock_skew is %d ms, "
                                "and longer waits are refused.",
                                Time(tick_us), Time(now_us), settings.max_clock_skew_ms),
                      IsInDoubt(time)
                          ? errhint("The server's clock, which is not believed yet, shows %s. If that is right, call "
                                    "snowflake_confirm_clock().",
                                    Time(time.reading.wall_us))
                          : errhint("Set the clock right if it is wrong; otherwise begin to issue ids after that "
                                    "time.")));
    WaitAWhile((layout.UnixUsAt(tick + 1) - now_us) / kUsPerMs + 1);
  }
}

// Whether this node has a lease, which keeps the tick.
bool RaiseThisNode(Oid extension, const Layout &layout, Tick tick) {
  NodeBlock *node = FindNode(MyDatabaseId);
  bool leased = false;
  if (node == nullptr) return leased;
  const ServerTime time = ReadTime();
  ChangeNode(node, [&] {
    const Generator &g = node->state.generator;
    if (node->extension != extension || g.layout != layout) return;
    Read(&node->state, time);
    TakeRaise(&node->state, tick);
    leased = g.open;
  });
  return leased;
}

}  // namespace

SNOWFLAKE_FUNCTION(snowflake_raise) {
  CheckNotNull(fcinfo, "snowflake_raise", {"id"});
  const int64_t id = PG_GETARG_INT64(0);
  const Oid extension = ExtensionOfFunction(fcinfo->flinfo->fn_oid);
  const Layout layout = DatabaseLayout(fcinfo->flinfo->fn_oid);
  if (id < 0 || !layout.HasRoomFor(id)) ReportForeignId(id, layout);
  const Tick tick = layout.Unpack(id).tick;
  WaitUntilPast(layout, tick);
  const bool here = RegistryIsHere();
  if (here) ProtocolRaise(extension, tick);
  if (!RaiseThisNode(extension, layout, tick) && !here)
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("cannot raise the ids of a node without a lease"),
                    errdetail("Its registry is not known to be this database, so only a lease would keep the id."),
                    errhint("Request an id first, with snowflake_nextval(). Or call snowflake_raise() in the "
                            "registry's database, for all nodes.")));
  if (!here)
    ereport(NOTICE, (errmsg("only the ids of this node are larger from now on"),
                     errdetail("Its registry is in another database."),
                     errhint("For all nodes of that registry, call snowflake_raise() there. If the setting leads to "
                             "this database, request an id first.")));
  PG_RETURN_VOID();
}

SNOWFLAKE_FUNCTION(snowflake_renew) {
  NodeBlock *node = FindNode(MyDatabaseId);
  if (node == nullptr) PG_RETURN_VOID();
  ChangeNode(node, [&] { ForgetLease(&node->state); });
  FreeSegments();
  WakeKeeper(node);
  PG_RETURN_VOID();
}

}  // namespace snowflake
