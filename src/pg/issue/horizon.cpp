#include "pg/issue/horizon.h"

#include "pg/database_layout.h"
#include "pg/extension.h"
#include "pg/issue/issue.h"
#include "pg/issue/launch.h"
#include "pg/issue/report.h"
#include "pg/settings.h"

namespace snowflake {

namespace {

// Those who ask take samples this far apart, and the keeper, for as long after the last of them.
constexpr int64_t kAskersSampleUs = 10 * 1000;
constexpr int64_t kKeeperSampleUs = 100 * 1000;
constexpr int64_t kAskedForUs = int64_t{60} * 1000 * 1000;

// That somebody asks is written down this often.
constexpr int64_t kNoteAskedUs = 1000 * 1000;

// P, and what TakeSample() needs room for: made once in each process.
struct Scratch {
  Xid *running;
  Drawn *left;
};
Scratch scratch;

// The sample that the last answer of this process came from. For the same snapshot the next one is not lower, though others thin out.
struct Last {
  Oid extension;
  Layout layout;
  int64_t horizon;
  Xid xmax;
  int32_t count;
  Xid *running;
};
Last last;

// Of this process, while it prepares its transaction.
FullTransactionId preparing;

template <typename Element>
Element *Allocate(int for_each = 1) {
  const Size count = static_cast<Size>(HorizonSlots() * for_each);
  return static_cast<Element *>(MemoryContextAllocZero(TopMemoryContext, count * sizeof(Element)));
}

void MakeScratch() {
  if (scratch.left != nullptr) return;
  if (scratch.running == nullptr) scratch.running = Allocate<Xid>();
  if (last.running == nullptr) last.running = Allocate<Xid>();
  scratch.left = Allocate<Drawn>(2);
}

int CompareXids(const void *a, const void *b) {
  const Xid x = *static_cast<const Xid *>(a), y = *static_cast<const Xid *>(b);
  return x < y ? -1 : x > y;
}

bool IsPrepared(int32_t slot) { return slot >= MaxBackends; }

// What TakeSample() asks.
struct Server {
  NodeBlock *node;
  HorizonBlock *horizon;

  int64_t Seal() {
    const ClockReading reading = ReadClocks();
    const ClockLimits limits = PatienceNow().clock;
    BoxSlot *box = SlotOf(node);
    int64_t lowest = 0;
    WithLock(node, LW_EXCLUSIVE, [&] {
      Read(&node->state.clock, reading, limits);
      Generator *g = &node->state.generator, others = *g;
      others.open = false;
      if (node->extension != horizon->extension) g = &others;
      lowest = SealIds(g, horizon->layout, horizon->layout.TickAt(node->state.clock.shown_us));
      if (box != nullptr && g->open) StoreLastTick(box, Max(g->last_tick, g->sealed_tick - 1));
    });
    return lowest;
  }

  int32_t Slots() const { return HorizonSlots(); }

  const HorizonSlot *Slot(int32_t i) const {
    const HorizonSlot *slot = HorizonSlotAt(i);
    return slot->database.load(std::memory_order_acquire) == MyDatabaseId ? slot : nullptr;
  }

  bool Runs(int32_t i, const Local &by) const {
    const volatile PGPROC *proc = &ProcGlobal->allProcs[i];
    return proc->pid == by.pid && LocalXid(proc) == by.lxid;
  }

  // It may have been prepared in a life before.
  Xid Unknown(int32_t i) const {
    if (!IsPrepared(i)) return 0;
    const volatile PGPROC *proc = &PreparedXactProcs[i - MaxBackends];
    const TransactionId xid = proc->xid;
    if (proc->databaseId != MyDatabaseId || !TransactionIdIsNormal(xid) || HorizonSlotAt(i)->xid.load() == xid)
      return 0;
    const uint64_t next = U64FromFullTransactionId(ReadNextFullTransactionId());
    const uint64_t full = next - static_cast<uint32_t>(static_cast<uint32_t>(next) - xid);
    return full < horizon->transactions_from ? xid : 0;
  }

  Moment TakeMoment() const {
    RunningTransactions running = GetRunningTransactionData();
    TransactionId xmax = running->latestCompletedXid;
    TransactionIdAdvance(xmax);
    const int32_t count = Min(running->xcnt, HorizonSlots());
    memcpy(scratch.running, running->xids, sizeof(Xid) * static_cast<Size>(count));
    LWLockRelease(ProcArrayLock);
    LWLockRelease(XidGenLock);
    qsort(scratch.running, static_cast<Size>(count), sizeof(Xid), CompareXids);
    return {xmax, scratch.running, count};
  }
};

int64_t Newest(const HorizonBlock &horizon) {
  const Samples &samples = horizon.samples;
  return samples.count > 0 ? samples.kept[samples.count - 1].horizon : horizon.shown;
}

// The next two with the horizon's lock held exclusively. What was prepared before this life of the server has a lower number. On a standby
// that is still to come.
void Watch(HorizonBlock *horizon) {
  if (horizon->transactions_from == 0 && !RecoveryInProgress())
    horizon->transactions_from = U64FromFullTransactionId(ReadNextFullTransactionId());
}

// Keeps the sample only if it is of use: an older one of the same horizon holds for more.
void TakeSample(NodeBlock *node, HorizonBlock *horizon) {
  Watch(horizon);
  Server server = {node, horizon};
  horizon->taken_us = SteadyUs();
  Moment moment = {};
  const int64_t id = TakeSample(&server, scratch.left, &moment, &horizon->holder);
  if (id <= Newest(*horizon)) return;
  if (BoxSlot *box = SlotOf(node)) {
    KeptHorizon kept;
    memset(static_cast<void *>(&kept), 0, sizeof(kept));
    kept.database = MyDatabaseId;
    kept.extension = horizon->extension;
    kept.layout = horizon->layout;
    kept.horizon = id;
    StoreHorizon(box, kept);
  }
  const int32_t place = MakeRoom(&horizon->samples, horizon->answered, horizon->taken_us);
  memcpy(SampleXids(node, place), moment.running, sizeof(Xid) * static_cast<Size>(moment.count));
  Add(&horizon->samples, {id, horizon->taken_us, moment.xmax, moment.count, place});
}

// The same: the samples of another extension's ids, or of another layout's, say nothing of these.
void Follow(NodeBlock *node, HorizonBlock *horizon, Oid extension, const Layout &layout) {
  if (horizon->extension == extension && horizon->layout == layout) return;
  horizon->extension = extension;
  horizon->layout = layout;
  horizon->shown = 0;
  horizon->samples.count = 0;
  horizon->answered = 0;
  horizon->holder = {};
  if (BoxSlot *box = SlotOf(node)) EmptyHorizon(box);
}

void Remember(const NodeBlock *node, const HorizonBlock &horizon, const Sample &sample) {
  last.extension = horizon.extension;
  last.layout = horizon.layout;
  last.horizon = sample.horizon;
  last.xmax = sample.xmax;
  last.count = sample.running;
  memcpy(last.running, SampleXids(node, sample.place), sizeof(Xid) * static_cast<Size>(sample.running));
}

bool IsLast(const HorizonBlock &horizon, const Moment &seen) {
  return last.extension == horizon.extension && last.layout == horizon.layout &&
         Covers({last.xmax, last.running, last.count}, seen);
}

// The highest that holds for who sees that. The horizon's lock is held.
int64_t HighestFor(const NodeBlock *node, HorizonBlock *horizon, const Moment &seen) {
  const int64_t before = IsLast(*horizon, seen) ? last.horizon : horizon->shown;
  const Samples &samples = horizon->samples;
  for (int i = samples.count - 1; i >= 0 && samples.kept[i].horizon > before; --i) {
    const Sample &sample = samples.kept[i];
    if (!Covers({sample.xmax, SampleXids(node, sample.place), sample.running}, seen)) continue;
    Remember(node, *horizon, sample);
    int64_t answered = horizon->answered;
    while (answered < sample.horizon && !horizon->answered.compare_exchange_weak(answered, sample.horizon)) {
    }
    return sample.horizon;
  }
  return before;
}

void OnTransaction(XactEvent event, void *) {
  if (event == XACT_EVENT_PRE_PREPARE) {
    preparing = InvalidFullTransactionId;
    // Its parallel workers may have drawn, and it alone has not found the state block yet.
    if (HorizonSlots() == 0 && (MyProc->lockGroupLeader == nullptr || !HasSharedMemory())) return;
    const OwnSlot own = SlotOfTransaction();
    if (!IsOf(*own.slot, own.by)) return;
    preparing = GetTopFullTransactionId();
    own.slot->xid.store(XidFromFullTransactionId(preparing));
  } else if (event == XACT_EVENT_PREPARE && FullTransactionIdIsValid(preparing)) {
    const ptrdiff_t prepared = ProcOfPrepared(preparing) - PreparedXactProcs;
    MovePrepared(SlotOfTransaction().slot, HorizonSlotAt(MaxBackends + static_cast<int>(prepared)));
    preparing = InvalidFullTransactionId;
  }
}

}  // namespace

void WatchTransactions() { RegisterXactCallback(OnTransaction, nullptr); }

void WatchFromNow(NodeBlock *node) {
  HorizonBlock *horizon = HorizonOf(node);
  LWLockAcquire(&horizon->lock, LW_EXCLUSIVE);
  Watch(horizon);
  LWLockRelease(&horizon->lock);
}

OwnSlot SlotOfTransaction() {
  const PGPROC *proc = MyProc->lockGroupLeader != nullptr ? MyProc->lockGroupLeader : MyProc;
  return {HorizonSlotAt(static_cast<int>(proc - ProcGlobal->allProcs)), {proc->pid, LocalXid(proc)}};
}

int64_t Horizon(Oid fn_oid) {
  if (RecoveryInProgress()) ReportNoHorizonHere();
  const Oid extension = CallersExtension(fn_oid);
  NodeBlock *node = ThisNode(fn_oid, extension);
  const Layout layout = DatabaseLayout(fn_oid);
  HorizonBlock *horizon = HorizonOf(node);
  const Snapshot snapshot = GetActiveSnapshot();
  const Moment seen = {snapshot->xmax, snapshot->xip, static_cast<int32_t>(snapshot->xcnt)};
  MakeScratch();
  const int64_t now_us = SteadyUs();

  LWLockAcquire(&horizon->lock, LW_SHARED);
  const bool due = now_us - horizon->taken_us >= kAskersSampleUs || now_us - horizon->asked_us >= kNoteAskedUs ||
                   horizon->extension != extension || horizon->layout != layout;
  bool nobody_asked = false;
  if (due) {
    LWLockRelease(&horizon->lock);
    LWLockAcquire(&horizon->lock, LW_EXCLUSIVE);
    nobody_asked = horizon->asked_us == 0 || now_us - horizon->asked_us >= kAskedForUs;
    horizon->asked_us = now_us;
    Follow(node, horizon, extension, layout);
    if (now_us - horizon->taken_us >= kAskersSampleUs) TakeSample(node, horizon);
  }
  // A snapshot of before a promotion does not say apart which transactions were in progress.
  const int64_t highest = snapshot->takenDuringRecovery ? 0 : HighestFor(node, horizon, seen);
  LWLockRelease(&horizon->lock);
  if (due) EnsureKeeper(node);
  if (nobody_asked) WakeKeeper(node);
  return highest;
}

int64_t SampleForAskers(NodeBlock *node) {
  HorizonBlock *horizon = HorizonOf(node);
  const int64_t now_us = SteadyUs();
  LWLockAcquire(&horizon->lock, LW_SHARED);
  const bool asked = horizon->asked_us != 0 && now_us - horizon->asked_us < kAskedForUs;
  int64_t left_us = horizon->taken_us + kKeeperSampleUs - now_us;
  LWLockRelease(&horizon->lock);
  if (!asked || RecoveryInProgress()) return PG_INT64_MAX;
  if (left_us > 0) return left_us;
  MakeScratch();
  LWLockAcquire(&horizon->lock, LW_EXCLUSIVE);
  TakeSample(node, horizon);
  LWLockRelease(&horizon->lock);
  return kKeeperSampleUs;
}

HorizonShown ShowHorizon(NodeBlock *node, Oid extension) {
  HorizonBlock *horizon = HorizonOf(node);
  MakeScratch();
  HorizonShown shown = {};
  LWLockAcquire(&horizon->lock, LW_EXCLUSIVE);
  if (horizon->extension == extension) {
    const bool asked = horizon->asked_us != 0 || horizon->shown != 0;
    if (asked && !RecoveryInProgress()) TakeSample(node, horizon);
    shown = {Newest(*horizon), horizon->holder, horizon->layout};
  }
  LWLockRelease(&horizon->lock);
  return shown;
}

}  // namespace snowflake
