// Takes samples of the horizon and finds the one for a snapshot, by the rules in horizon.h.
#include "pg/issue/horizon.h"

#include "pg/database_layout.h"
#include "pg/issue/caller.h"
#include "pg/issue/launch.h"
#include "pg/settings.h"
#include "pg/state/data_directory.h"
#include "pg/state/node_box.h"
#include "pg/state/server_clock.h"
#include "pg/processes.h"

namespace snowflake {
namespace {
// How far apart calls and the keeper take samples, and for how long after a call the keeper does.
constexpr int64_t kAskersSampleUs = 10 * 1000;
constexpr int64_t kKeeperSampleUs = 100 * 1000;
constexpr int64_t kAskedForUs = int64_t{60} * 1000 * 1000;

// The data directory has a limit this far ahead of the node's clock, and a new one when half of it
// has passed.
constexpr int64_t kStoredAheadUs = 4 * 1000 * 1000;

// How often a call notes that sessions ask.
constexpr int64_t kNoteAskedUs = 1000 * 1000;

// P, and the room that TakeSample() needs.
struct {
  Xid *running;
  FirstId *left;
} scratch;

// The sample that this process returned last. For the same snapshot the next result is not lower,
// even if that sample has made room for others.
struct {
  Oid extension;
  Layout layout;
  int64_t resets;
  Sample sample;
  Xid *running;
} last;

void MakeScratch() {
  if (scratch.left != nullptr) return;
  const Size slots = static_cast<Size>(HorizonSlots());
  scratch.left =
      static_cast<FirstId *>(MemoryContextAllocZero(TopMemoryContext, 2 * slots * (sizeof(FirstId) + sizeof(Xid))));
  scratch.running = reinterpret_cast<Xid *>(scratch.left + 2 * slots);
  last.running = scratch.running + slots;
}

int CompareXids(const void *a, const void *b) {
  const Xid x = *static_cast<const Xid *>(a), y = *static_cast<const Xid *>(b);
  return x < y ? -1 : x > y;
}

// What TakeSample() asks.
struct Server {
  NodeBlock *node;
  HorizonBlock *horizon;

  int64_t LowestToCome() {
    const ServerTime time = ReadTime();
    int64_t lowest = 0;
    WithBox(node, [&](BoxSlot *box) {
      Read(&node->state, time);
      Generator *g = &node->state.generator, others = *g;
      others.open = false;
      if (node->extension != horizon->extension) g = &others;
      const Layout &layout = horizon->layout;
      lowest = SealIds(g, layout, layout.TickAt(node->state.clock.shown_us), MaxLead(node->state, layout));
      if (box != nullptr && g->open) StoreLastTick(box, Max(g->last_tick, g->sealed_tick - 1));
    });
    return lowest;
  }

  int32_t Slots() const { return HorizonSlots(); }

  const HorizonSlot *Slot(int32_t i) const {
    const HorizonSlot *slot = HorizonSlotAt(i);
    // Order: before all later slots. Another database's process writes into this slot only after a
    // transaction that was prepared here has moved to its later slot.
    return slot->database.load(std::memory_order_acquire) == MyDatabaseId ? slot : nullptr;
  }

  bool Runs(int32_t i, const Local &by) const {
    const volatile PGPROC *proc = &ProcGlobal->allProcs[i];
    const bool runs = proc->pid == by.pid && LocalXid(proc) == by.lxid;
    // Order: before the slot's xid is read, which is written before the lxid ends. A process that
    // prepares takes ProcArrayLock in between; this one takes no lock.
    pg_read_barrier();
    return runs;
  }

  // Order: after Runs(), whose barrier is before this.
  Xid PreparedBy(int32_t i, uint32_t lxid) const {
    for (int p = 0; p < max_prepared_xacts; ++p)
      if (WasOf(&PreparedXactProcs[p], i, lxid)) return PreparedXactProcs[p].xid;
    return 0;
  }

  // It took ids before the restart. Order: none, because this process connected after that.
  Xid Unknown(int32_t i) const {
    if (i < MaxBackends) return 0;
    const volatile PGPROC *proc = &PreparedXactProcs[i - MaxBackends];
    const TransactionId xid = proc->xid;
    return proc->databaseId == MyDatabaseId && TransactionIdIsNormal(xid) && WasRecovered(proc) ? xid : 0;
  }

  Moment TakeMoment() const {
    RunningTransactions running = GetRunningTransactionData();
    TransactionId xmax = running->latestCompletedXid;
    TransactionIdAdvance(xmax);
    const int32_t count = running->xcnt;
    const bool fits = count <= HorizonSlots();
    if (fits) memcpy(scratch.running, running->xids, sizeof(Xid) * static_cast<Size>(count));
    LWLockRelease(ProcArrayLock);
    LWLockRelease(XidGenLock);
    // One that is left out would count as ended.
    if (!fits) elog(ERROR, "%d transactions are in progress in %d processes", count, HorizonSlots());
    qsort(scratch.running, static_cast<Size>(count), sizeof(Xid), CompareXids);
    return {xmax, scratch.running, count};
  }
};

int64_t LookForSample(NodeBlock *node, HorizonBlock *horizon, Moment *moment) {
  Assert(IsHeldExclusively(horizon->lock));  // Requires: the horizon's lock.
  Server server = {node, horizon};
  horizon->taken_us = SteadyUs();
  return TakeSample(&server, scratch.left, moment, &horizon->holder);
}

void KeepSample(NodeBlock *node, HorizonBlock *horizon, int64_t id, const Moment &moment) {
  const int32_t place = MakeRoomForSample(&horizon->samples, horizon->answered, horizon->taken_us);
  memcpy(SampleXids(node, place), moment.running, sizeof(Xid) * static_cast<Size>(moment.count));
  AddSample(&horizon->samples, {id, horizon->taken_us, moment.xmax, moment.count, place});
  NoteHighest(horizon);
}

// Keeps only a horizon above what was or may be reported: an older sample of the same one holds for
// more snapshots, and what is in the black box must not be below what was reported before it.
// Returns whether only the limit holds the horizon back, which the keeper raises.
bool SampleNode(NodeBlock *node, HorizonBlock *horizon) {
  Moment moment = {};
  const int64_t found = LookForSample(node, horizon, &moment), id = Min(found, horizon->stored);
  const bool at_limit = found > id;
  if (!at_limit) horizon->waits_us = 0;
  if (id <= horizon->highest) return at_limit;
  if (BoxSlot *box = SlotOf(node)) KeepHorizonInBox(node, *horizon, id, box);
  KeepSample(node, horizon, id, moment);
  return at_limit;
}

// Whether sessions have asked for the horizon lately, or wait for a higher limit.
bool IsAskedFor(const HorizonBlock &horizon) {
  return horizon.waits_us != 0 || (horizon.asked_us != 0 && SteadyUs() - horizon.asked_us < kAskedForUs);
}

// Samples of another extension's ids, or of another layout's, are dropped.
void DropForeignSamples(NodeBlock *node, HorizonBlock *horizon, Oid extension, const Layout &layout) {
  Assert(IsHeldExclusively(horizon->lock));  // Requires: the horizon's lock.
  if (horizon->extension == extension && horizon->layout == layout) return;
  horizon->extension = extension;
  horizon->layout = layout;
  horizon->shown = 0;
  horizon->samples.count = 0;
  horizon->answered = horizon->highest = 0;
  horizon->holder = {};
  horizon->stored = horizon->waits_us = 0;
  if (BoxSlot *box = SlotOf(node)) EmptyHorizon(box);
}

// The highest horizon that holds for a snapshot.
int64_t HighestFor(const NodeBlock *node, HorizonBlock *horizon, const Moment &seen) {
  Assert(IsHeld(horizon->lock));  // Requires: the horizon's lock.
  const bool last_holds = last.extension == horizon->extension && last.layout == horizon->layout &&
                          last.resets == horizon->resets &&
                          Covers({last.sample.xmax, last.running, last.sample.running}, seen);
  const int64_t before = last_holds ? last.sample.horizon : horizon->shown;
  const Samples &samples = horizon->samples;
  for (int i = samples.count - 1; i >= 0 && samples.kept[i].horizon > before; --i) {
    const Sample &sample = samples.kept[i];
    const Xid *running = SampleXids(node, sample.place);
    if (!Covers({sample.xmax, running, sample.running}, seen)) continue;
    last = {horizon->extension, horizon->layout, horizon->resets, sample, last.running};
    memcpy(last.running, running, sizeof(Xid) * static_cast<Size>(sample.running));
    // Order: none among processes that raise it. Decisions by it hold the lock exclusively.
    int64_t answered = horizon->answered;
    while (answered < sample.horizon && !horizon->answered.compare_exchange_weak(answered, sample.horizon)) {
    }
    return sample.horizon;
  }
  return before;
}

// Of the keeper, before it takes a sample: what may be reported is in the data directory first.
// After a step back of the clock, what was reported may be further ahead. While the node's clock
// shows a time that cannot be right, the limit stays. A limit is the beginning of a tick, because
// ticks can be longer than what is bridged over a restart. Returns whether it has risen.
bool StoreLimit(NodeBlock *node, HorizonBlock *horizon) {
  Assert(IsHeldExclusively(horizon->file_lock));  // Requires: the lock of the file.
  NodeClock clock;
  WithLock(node, LW_SHARED, [&] { clock = node->state.clock; });
  if (!MayBeRight(clock)) return false;
  LWLockAcquire(&horizon->lock, LW_SHARED);
  const Layout layout = horizon->layout;
  KeptHorizon kept;
  const bool is_due =
      IsAskedFor(*horizon) && horizon->stored < LowestId(layout, layout.TickAt(clock.shown_us + kStoredAheadUs / 2));
  if (is_due) {
    const int64_t limit = LowestId(layout, layout.TickAt(clock.shown_us + kStoredAheadUs)), highest = horizon->highest;
    ToKeep(node, *horizon, Max(limit, highest), &kept);
  }
  LWLockRelease(&horizon->lock);
  if (!is_due || !WriteKeptHorizon(kept)) return false;
  LWLockAcquire(&horizon->lock, LW_EXCLUSIVE);
  const bool same = horizon->extension == kept.extension && horizon->layout == layout;
  if (same) horizon->stored = kept.horizon;
  LWLockRelease(&horizon->lock);
  return same;
}

bool StoreAhead(NodeBlock *node) {
  HorizonBlock *horizon = HorizonOf(node);
  LWLockAcquire(&horizon->file_lock, LW_EXCLUSIVE);
  const bool risen = StoreLimit(node, horizon);
  LWLockRelease(&horizon->file_lock);
  return risen;
}

// What is reported, or may be after a loss of the black box.
int64_t HighestKnown(const HorizonBlock &horizon) {
  Assert(IsHeld(horizon.lock));  // Requires: the horizon's lock.
  return Max(horizon.highest.load(), horizon.stored);
}

// Before the horizon is taken back, and changes nothing: the limit that is right by the clock from
// then on. What is in the past stays reported. Returns whether the horizon is of the future.
bool FindRightLimit(NodeBlock *node, HorizonBlock *horizon, const ServerTime &time, HorizonReset *reset,
                    KeptHorizon *kept) {
  Assert(IsHeld(horizon->lock));  // Requires: the horizon's lock.
  const Layout &layout = horizon->layout;
  reset->before = HighestKnown(*horizon);
  NodeState state = StateAt(node, time);
  reset->clock_us = LatestIdUs(state);
  if (!IsOfFuture(layout, reset->before, reset->clock_us)) return false;
  GoBack(&state);
  ToKeep(node, *horizon, LowestId(layout, layout.TickAt(LatestIdUs(state))), kept);
  ++kept->resets;
  return true;
}

// Forgets every horizon of the future, and begins with a new sample below the new limit. If that
// cannot be taken because of a prepared transaction, the limit counts as reported.
int64_t BeginAnew(NodeBlock *node, HorizonBlock *horizon, const KeptHorizon &kept) {
  Assert(IsHeldExclusively(horizon->lock));  // Requires: the horizon's lock.
  const ServerTime time = ReadTime();
  ChangeNode(node, [&] {
    Read(&node->state, time);
    GoBack(&node->state);
  });
  Moment moment = {};
  const int64_t sampled = LookForSample(node, horizon, &moment);
  const int64_t id = sampled > 0 ? Min(sampled, kept.horizon) : kept.horizon;
  horizon->resets = kept.resets;
  horizon->shown = 0;
  horizon->samples.count = 0;
  horizon->stored = kept.horizon;
  horizon->answered = horizon->highest = id;
  BoxSlot *box = SlotOf(node);
  // What the box has is shown after a crash.
  if (sampled == 0) {
    if (box != nullptr) EmptyHorizon(box);
    return id;
  }
  KeptHorizon in_box;
  ToKeep(node, *horizon, id, &in_box);
  if (box != nullptr) LowerHorizon(box, in_box);
  KeepSample(node, horizon, id, moment);
  return id;
}

// Whether Citus opened this session to execute a part of another node's statement. Its sessions
// have this name, which users can set, too; its rebalancer and commands on all nodes have others.
bool IsForAnotherNode() {
  constexpr char kInternal[] = "citus_internal gpid=";
  return application_name != nullptr && strncmp(application_name, kInternal, sizeof(kInternal) - 1) == 0;
}

int64_t HighestNow(Oid fn_oid, const SnapshotData &snapshot) {
  if (RecoveryInProgress())
    ereport(
        ERROR,
        (errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION), errmsg("cannot report the horizon of ids during recovery"),
         errdetail(
             "Only the server that issues ids can determine which transactions that took ids are still in progress."),
         errhint("Read the table on the primary, or take the horizon there and wait until this standby has replayed "
                 "what the primary had written by then.")));
  if (IsForAnotherNode())
    ereport(
        ERROR,
        (errcode(ERRCODE_FEATURE_NOT_SUPPORTED), errmsg("cannot report the horizon of ids to another node of Citus"),
         errdetail(
             "Citus has sent a part of a statement to this node, which issues other ids and has another horizon."),
         errhint("Write (SELECT snowflake_horizon()), which is evaluated once, on the node where the statement began. "
                 "Read a table that is on one node only on the node that has it.")));
  const Oid extension = CallersExtension(fn_oid);
  NodeBlock *node = ThisNode(fn_oid, extension);
  const Layout layout = DatabaseLayout(fn_oid);
  HorizonBlock *horizon = HorizonOf(node);
  const Moment seen = {snapshot.xmax, snapshot.xip, static_cast<int32_t>(snapshot.xcnt)};
  MakeScratch();
  const int64_t now_us = SteadyUs();

  LWLockAcquire(&horizon->lock, LW_SHARED);
  const bool due = now_us - horizon->taken_us >= kAskersSampleUs || now_us - horizon->asked_us >= kNoteAskedUs ||
                   horizon->extension != extension || horizon->layout != layout;
  bool nobody_asked = false;
  if (due) {
    LWLockRelease(&horizon->lock);
    LWLockAcquire(&horizon->lock, LW_EXCLUSIVE);
    nobody_asked = !IsAskedFor(*horizon);
    horizon->asked_us = now_us;
    DropForeignSamples(node, horizon, extension, layout);
    if (SampleNode(node, horizon) && horizon->waits_us == 0) horizon->waits_us = now_us;
  }
  // A snapshot from before a promotion does not have the transactions in progress in xip.
  const int64_t highest = snapshot.takenDuringRecovery ? 0 : HighestFor(node, horizon, seen);
  LWLockRelease(&horizon->lock);
  if (due) EnsureKeeper(node);
  if (nobody_asked) WakeKeeper(node);
  return highest;
}

}  // namespace

int64_t Horizon(Oid fn_oid) {
  const Snapshot snapshot = GetActiveSnapshot();
  uint64 *kept = &snapshot->snapXactCompletionCount;
  // A horizon's complement has the highest bit, which no count of transactions has.
  if (likely(static_cast<int64_t>(*kept) < 0)) return static_cast<int64_t>(~*kept);
  if (!snapshot->copied || *kept != 0) elog(ERROR, "the active snapshot is no copy, or counts transactions");
  const int64_t highest = HighestNow(fn_oid, *snapshot);
  *kept = ~static_cast<uint64>(highest);
  return highest;
}

int64_t SampleForAskers(NodeBlock *node) {
  // A sample that waited for a higher limit is taken at once: the next call may be the last one.
  const bool can_rise = KeepServerClock(false) && !RecoveryInProgress() && StoreAhead(node);
  HorizonBlock *horizon = HorizonOf(node);
  const int64_t now_us = SteadyUs();
  LWLockAcquire(&horizon->lock, LW_SHARED);
  const bool asked = IsAskedFor(*horizon);
  int64_t left_us = horizon->taken_us + kKeeperSampleUs - now_us;
  LWLockRelease(&horizon->lock);
  if (!asked || RecoveryInProgress()) return PG_INT64_MAX;
  if (left_us > 0 && !can_rise) return left_us;
  MakeScratch();
  LWLockAcquire(&horizon->lock, LW_EXCLUSIVE);
  SampleNode(node, horizon);
  LWLockRelease(&horizon->lock);
  return kKeeperSampleUs;
}

int64_t EndLife(NodeBlock *node) {
  HorizonBlock *horizon = HorizonOf(node);
  int64_t last_us = 0;
  LWLockAcquire(&horizon->lock, LW_EXCLUSIVE);
  WithLock(node, LW_SHARED, [&] { last_us = LastUsOfLife(node->state.generator, horizon->layout, horizon->highest); });
  const Layout &layout = horizon->layout;
  if (last_us > 0 && layout.tick_us > 0)
    horizon->stored = Min(horizon->stored, LowestId(layout, layout.TickAt(last_us) + 1));
  LWLockRelease(&horizon->lock);
  return last_us;
}

HorizonShown ShowHorizon(NodeBlock *node, Oid extension) {
  HorizonBlock *horizon = HorizonOf(node);
  MakeScratch();
  HorizonShown shown = {};
  LWLockAcquire(&horizon->lock, LW_EXCLUSIVE);
  if (horizon->extension == extension) {
    shown.asked = horizon->asked_us != 0 || horizon->answered != 0;
    if (shown.asked && !RecoveryInProgress()) SampleNode(node, horizon);
    shown.horizon = NewestHorizon(*horizon);
    shown.highest = horizon->highest;
    shown.limit = HighestKnown(*horizon);
    shown.holder = horizon->holder;
    shown.waits_us = horizon->waits_us;
    shown.layout = horizon->layout;
  }
  LWLockRelease(&horizon->lock);
  return shown;
}

HorizonReset ResetHorizon(Oid fn_oid) {
  const Oid extension = CallersExtension(fn_oid);
  NodeBlock *node = ThisNode(fn_oid, extension);
  const Layout layout = DatabaseLayout(fn_oid);
  HorizonBlock *horizon = HorizonOf(node);
  MakeScratch();
  HorizonReset reset = {};
  KeptHorizon kept;
  LWLockAcquire(&horizon->file_lock, LW_EXCLUSIVE);
  LWLockAcquire(&horizon->lock, LW_EXCLUSIVE);
  DropForeignSamples(node, horizon, extension, layout);
  const ServerTime time = ReadTime();
  const bool of_future = FindRightLimit(node, horizon, time, &reset, &kept);
  reset.outcome = of_future ? HorizonReset::kDone : HorizonReset::kNotOfFuture;
  LWLockRelease(&horizon->lock);
  // By this call the operator says that the clock is right.
  if (of_future && !ConfirmServerClock(time)) reset.outcome = HorizonReset::kNotWritten;
  // A crash from here on finds that what the black box has was taken back. Only now do ids go back.
  if (reset.outcome == HorizonReset::kDone && !WriteKeptHorizon(kept)) reset.outcome = HorizonReset::kNotWritten;
  if (reset.outcome == HorizonReset::kDone) {
    LWLockAcquire(&horizon->lock, LW_EXCLUSIVE);
    reset.after = BeginAnew(node, horizon, kept);
    LWLockRelease(&horizon->lock);
  }
  LWLockRelease(&horizon->file_lock);
  WakeKeeper(node);
  return reset;
}

}  // namespace snowflake
