// The keeper's process: a latch loop around core/keeper. One step looks, decides and acts once.
//
// 1. It is its node's only keeper (keeper_pid) for as long as it lives; a second one ends.
// 2. SIGTERM also cancels what is under way, because a wait for a lock or for a synchronous standby
//    never looks at a flag. A trigger on the registry's tables may catch that, again and again. So
//    what is still under way after kLeaveUs, or at a second SIGTERM, ends with the process, which
//    nothing catches.
// 3. It must not be the reason why a command on its database or its extension fails: see
//    LookAtDatabase().
// 4. Without work it costs next to nothing: no transaction, and one look in kRoundUs.
// 5. After each ERROR comes a pause, which is decided where nothing can fail: KeepError(). An
//    exchange that fails has the core's pauses, a chore waits for the next round, and everything
//    else that fails is this server's own failure.
// 6. What is to be done is read from the state of things, not from a message that it has changed.
//    So nothing is forgotten because something else failed.
#include "core/counter.h"
#include "pg/counter.h"
#include "pg/issue/horizon.h"
#include "pg/keeper/blame.h"
#include "pg/keeper/exchanges.h"
#include "pg/keeper/keeping.h"
#include "pg/keeper/libpq.h"
#include "pg/keeper/log.h"
#include "pg/keeper/registry.h"
#include "pg/report.h"
#include "pg/state/data_directory.h"
#include "pg/state/server_clock.h"
#include "pg/catalogs.h"
#include "pg/processes.h"

namespace snowflake {
namespace {
// A command that wants the database to itself waits for 5 s, and releasing a lease at a remote
// registry may take nearly 2 of them.
constexpr int64_t kRoundUs = 2 * 1000 * 1000;
constexpr int64_t kRoundSoonUs = 100 * 1000;
constexpr int64_t kGiveWayUs = 1000 * 1000;

// From the moment the keeper is to leave. A shutdown may take 3 s in all.
constexpr int64_t kLeaveUs = 2 * 1000 * 1000;
// The postmaster sends each signal twice, to the process and to its group; only a later one is a
// second one.
constexpr int64_t kAgainUs = 500 * 1000;
constexpr int kLeaveCheckMs = 200;

// What the keeper is about. Only Enter() sets it.
//
//   kKeeps  -> kProbes  the setting names another registry
//   kProbes -> kKeeps   it is the same one at another address, or nothing is held of the one in use
//   kProbes -> kMoves   another one has answered
//   kMoves  -> kKeeps   what was held was returned, or tried: on with the other one
//   kProbes, kMoves -> kKeeps   the setting names the one in use again
//   kMoves  -> kProbes  the setting names a third one
//   all     -> kEnds    the process is to end
enum class Phase {
  kKeeps,   // the lease of the registry in use
  kProbes,  // the registry that the setting names; the one in use is not asked any more
  kMoves,   // returns what is held to the registry in use
  kEnds,    // likewise, and then exits
};

constexpr size_t kChoreCount = 5;

struct Process {
  Keeper keeper;
  MemoryContext step_context;
  TimeoutId leave_timeout;
  Phase phase;
  uint64_t wanted;      // the registry that the phase was entered for
  KeeperAction action;  // under way, ...
  bool future;          // ... while the window of the lease in place is still to begin
  size_t chore;         // under way in a round, kChoreCount: no round is
  int64_t round_us;     // when the newest round began
  int64_t next_round_us;
  ErrorData *error;       // of the last step; the next one handles it
  int failures;           // of this server's own, in a row up to the last step: a pause follows
  bool chore_failed;      // ... and nothing else
  bool renamed;           // the node's name may be another one
  bool reloads;           // the configuration is still to be read
  bool catalogs_changed;  // since they were last read
  bool gave_way;          // the exchange under way, to a command that wants the database
  bool looked_for_signs;  // of life before this start of the server
  bool kept_last_tick;    // or tried to, ...
  bool stored_last_tick;  // ... and it is in the table
  bool marked_clean;
  CounterSpeed counter;
};
Process self;

volatile int64_t stop_requested_us = 0;  // monotonic, as the next
volatile int64_t leave_since_us = 0;     // 0: not leaving
volatile sig_atomic_t attached = false;  // a step under way may be canceled: the next one releases

void EndAtOnce() { ProcDiePending = InterruptPending = true; }

void HandleStop(SIGNAL_ARGS) {
  const int saved_errno = errno;
  const int64_t now_us = MonotonicUs();
  if (!stop_requested) {
    stop_requested = true;
    stop_requested_us = now_us;
    if (leave_since_us == 0) leave_since_us = now_us;
    if (attached) QueryCancelPending = InterruptPending = true;
  } else if (now_us - stop_requested_us >= kAgainUs) {
    EndAtOnce();
  }
  SetLatch(MyLatch);
  errno = saved_errno;
}

bool IsOverdue() { return leave_since_us != 0 && MonotonicUs() - leave_since_us >= kLeaveUs; }

// Runs in a signal's handler, like the others.
void HandleLeaveTimeout() {
  if (IsOverdue()) EndAtOnce();
}

// The process sends itself a SIGINT for timeouts of locks and statements. pg_cancel_backend() is
// ignored: it would end a wait for a synchronous standby as if that had acknowledged.
void HandleInterrupt(SIGNAL_ARGS) {
  const int saved_errno = errno;
  if (get_timeout_indicator(LOCK_TIMEOUT, false) || get_timeout_indicator(STATEMENT_TIMEOUT, false))
    QueryCancelPending = InterruptPending = true;
  SetLatch(MyLatch);
  errno = saved_errno;
}

// What ALTER DATABASE or ALTER ROLE set must not reach the protocol.
void PinKeeperSettings() {
  static constexpr const char *pins[][2] = {{"search_path", "pg_catalog, pg_temp"},
                                            {"default_transaction_isolation", "read committed"},
                                            {"default_transaction_read_only", "off"},
                                            {"default_transaction_deferrable", "off"},
                                            {"statement_timeout", "0"},
                                            {"lock_timeout", "1s"},
                                            {"idle_in_transaction_session_timeout", "0"},
                                            {"session_replication_role", "origin"},
                                            {"zero_damaged_pages", "off"}};
  for (const auto &pin : pins) SetConfigOption(pin[0], pin[1], PGC_SUSET, PGC_S_OVERRIDE);
  for (const auto &pin : kQuickPlans) SetConfigOption(pin[0], pin[1], PGC_SUSET, PGC_S_OVERRIDE);
  if (kHasTransactionTimeout) SetConfigOption("transaction_timeout", "0", PGC_SUSET, PGC_S_OVERRIDE);
}

// DROP DATABASE, RENAME, CREATE DATABASE ... TEMPLATE lock the database and wait up to 5 s for all
// others to leave it. If a client is connected, they fail anyway; the one that runs the command
// does not count. This takes no lock itself: the table of locks may be full.
bool DatabaseIsWanted(bool *locked) {
  LOCKTAG tag;
  SET_LOCKTAG_OBJECT(tag, InvalidOid, DatabaseRelationId, MyDatabaseId, 0);
  int lockers = 0, holders = 0;
  const VirtualTransactionId *vxids = GetLockConflicts(&tag, RowExclusiveLock, &lockers);
  *locked = lockers > 0;
  for (; VirtualTransactionIdIsValid(*vxids); ++vxids) {
    const PGPROC *proc = HolderOf(*vxids);
    // Order: none. If the process has just ended, the next look counts again.
    if (proc != nullptr && proc->databaseId == MyDatabaseId) ++holders;
  }
  return *locked && CountDBConnections(MyDatabaseId) <= holders;
}

void LookSoon() { self.next_round_us = Min(self.next_round_us, self.round_us + kRoundSoonUs); }

// Whether a wait for a registry must end.
bool GiveWay() {
  static int64_t asked_us = 0;
  if (self.phase == Phase::kEnds) return false;
  SampleForAskers(keeping.node);
  bool locked = false;
  if (MonotonicUs() - asked_us < kGiveWayUs) return false;
  asked_us = MonotonicUs();
  if (!DatabaseIsWanted(&locked)) return false;
  self.gave_way = true;
  LookSoon();
  return true;
}

// The core's keeper of before would have its pauses. At the end it has the tries that were made,
// and there is no round any more.
void Enter(Phase phase) {
  self.phase = phase;
  if (phase == Phase::kEnds)
    self.chore = kChoreCount;
  else
    self.keeper = Keeper();
}

void Leave(const char *reason) {
  if (self.phase == Phase::kEnds) return;
  Enter(Phase::kEnds);
  if (leave_since_us == 0) leave_since_us = MonotonicUs();
  ereport(DEBUG1, (errmsg_internal("snowflake keeper leaves: %s", reason)));
}

// Dropping or creating the extension drops or creates tables.
void OnRelcacheChange(Datum, Oid) { self.catalogs_changed = true; }

void LookAtCatalogs() {
  self.catalogs_changed = true;
  LookSoon();
}

void ReadSettings() {
  if (ConfigReloadPending) self.reloads = true;
  ConfigReloadPending = false;
  if (!self.reloads) return;
  ProcessConfigFile(PGC_SIGHUP);
  self.reloads = false;
  self.renamed = true;
}

void LookAtName() {
  if (self.renamed) NameNode();
  self.renamed = false;
}

void LookAtDatabase() {
  bool locked = false;
  if (DatabaseIsWanted(&locked)) Leave("a command needs the database for itself");
  if (locked) LookSoon();
}

void LookAtExtension() {
  // Outside of a transaction, as idle workers of logical replication do it.
  AcceptInvalidationMessages();
  if (!self.catalogs_changed) return;
  self.catalogs_changed = false;
  const Oid before = keeping.target.extension, after = FindExtension();
  SetExtension(after);
  // A new extension may not have been asked for an id yet, and a lease would settle its layout.
  if (!OidIsValid(after) || (OidIsValid(before) && after != before)) {
    // It issues no ids until somebody requests one from the next extension.
    ForgetIssuer(MyDatabaseId);
    ChangeNode(keeping.node, [] { ForgetExtension(&keeping.node->state); });
    keeping.goes_on = false;  // the tables may be another one's
    Leave("the extension is gone");
  }
}

// What is looked at in each round. If one of them fails, the round goes on with the next one.
constexpr void (*kChores[])() = {ReadSettings, LookAfterBox, LookAtDatabase, LookAtExtension, LookAtName};
static_assert(lengthof(kChores) == kChoreCount);

void GoOnWithRound() {
  for (; self.chore < kChoreCount && self.phase != Phase::kEnds; ++self.chore) kChores[self.chore]();
  self.chore = kChoreCount;
}

// The next round has its time before anything in this one can fail.
void BeginRound(int64_t now_us) {
  self.round_us = now_us;
  self.next_round_us = now_us + kRoundUs;
  self.chore = 0;
}

// Recovery may have replayed a newer sign of life than a start of the server can read.
void LookForSigns() {
  if (self.looked_for_signs || RecoveryInProgress()) return;
  self.looked_for_signs = true;
  if (const TimestampTz replayed = GetLatestXTime()) NoteSignOfLife(UnixUsFromTimestamp(replayed));
}

int32_t Spread() { return static_cast<int32_t>(pg_prng_uint64_range(&pg_global_prng_state, 0, 999)); }

void ShowIdle() {
  char what[128];
  Generator g;
  WithLock(keeping.node, LW_SHARED, [&] { g = keeping.node->state.generator; });
  if (g.open)
    snprintf(what, sizeof(what), "holding worker id %d until %s", g.lease.worker,
             timestamptz_to_str(TimestampFromUnixUs(g.layout.UnixUsAt(g.lease.window_end))));
  else
    strlcpy(what, "waiting to try again to acquire a worker id", sizeof(what));
  pgstat_report_activity(STATE_IDLE, what);
}

void Sleep(int64_t until_us) {
  ShowIdle();
  static uint32 event = 0;
  if (event == 0) event = WaitEventNamed("SnowflakeKeeper");
  const int64_t ms = Max((until_us - MonotonicUs() + kUsPerMs - 1) / kUsPerMs, int64_t{0});
  WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, static_cast<long>(ms), event);
  ResetLatch(MyLatch);
}

bool IsLeaving() { return self.phase == Phase::kMoves || self.phase == Phase::kEnds; }

RegistryAnswer Act(const KeeperStep &step) {
  const bool leaving = IsLeaving();
  switch (step.action) {
    case KeeperAction::kAcquire: return Acquire(step.duration_us);
    case KeeperAction::kExtend: return Extend(step.duration_us);
    case KeeperAction::kRanges: return ExchangeRanges(leaving);
    case KeeperAction::kRelease: return Release(step.retired, leaving);
    default: return Probe();
  }
}

// For those who see the keeper wait.
void NoteExchange(int64_t asked_us) {
  WithLock(keeping.node, LW_EXCLUSIVE, [&] { keeping.node->exchanges.asked_us = asked_us; });
}

// The protocol's tables may have triggers of others, which may not end by themselves.
template <typename Exchange>
void InTime(Exchange exchange) {
  registry_failed = self.gave_way = false;
  NoteExchange(SteadyUs());
  enable_timeout_every(self.leave_timeout, TimestampTzPlusMilliseconds(GetCurrentTimestamp(), kLeaveCheckMs),
                       kLeaveCheckMs);
  exchange();
  disable_timeout(self.leave_timeout, false);
  NoteExchange(0);
}

// How fast the processor's counter is; 0: not known, or no process is to go by it.
int64_t CountsPerMs() {
  if (!CounterServes()) {
    self.counter = {};
    return 0;
  }
  const uint64_t before = ReadCounter();
  const int64_t now_us = SteadyUs();
  Measure(&self.counter, before, now_us, ReadCounter());
  return self.counter.per_ms;
}

// What core/keeper decides by.
KeeperView Observe() {
  NodeBlock *node = keeping.node;
  const bool leaving = IsLeaving();
  const ServerTime time = ReadTime();
  const int64_t lease_duration_us = settings.lease_duration_ms * kUsPerMs;
  const ClockPolicy policy = ConfiguredPolicy();
  const int64_t counts_per_ms = CountsPerMs();
  KeeperView view = {};
  bool other_extension = false;
  ChangeNode(node, [&] {
    Read(&node->state, time);
    SetPolicy(&node->state, policy);
    node->run.counts_per_ms = counts_per_ms;
    view = ViewForKeeper(&node->state, lease_duration_us, leaving);
    // If a backend misses a lease although there is one, it asks under another extension than the
    // lease's.
    other_extension = node->state.generator.open && node->state.lease_wanted;
    if (other_extension) node->state.lease_wanted = false;
  });
  if (other_extension) LookAtCatalogs();
  ObserveRanges(&view);
  view.moving = self.phase == Phase::kProbes;
  // Nothing can be released where no connection leads.
  if (leaving && keeping.target.conninfo == nullptr) {
    view.retired = 0;
    view.ranges_held = false;
  }
  return view;
}

void FollowSetting() {
  const uint64_t wanted = HashOfRegistry();
  if (wanted == self.wanted) return;
  const bool in_use = wanted == keeping.node->registry;
  if (in_use) {
    UseRegistry();
    ForgetFailures();
  }
  Enter(in_use ? Phase::kKeeps : Phase::kProbes);
  self.wanted = wanted;
}

// The registry that was left got back what was held of it, or had its chance.
void GoOnWithOther() {
  FollowRegistry();
  Enter(Phase::kKeeps);
}

// An acquire brought no other worker id, although the clock is behind: ids go on, ahead of it.
void StayWithWorker() {
  ChangeNode(keeping.node, [] { KeepPresentWorker(&keeping.node->state); });
}

void Perform(const KeeperStep &step, int64_t now_us) {
  RegistryAnswer answer = {};
  InTime([&] { answer = Act(step); });
  const bool gone = answer == RegistryAnswer::kGone;
  if (gone) LookAtCatalogs();
  // A lease that is gone is not asked about again. Without the extension nothing is to be asked.
  const bool again = answer == RegistryAnswer::kBusy ||
                     (gone && step.action != KeeperAction::kExtend && step.action != KeeperAction::kRelease);
  const KeeperOutcome outcome = again                                      ? KeeperOutcome::kFailed
                                : answer == RegistryAnswer::kNothingBetter ? KeeperOutcome::kAnswered
                                                                           : KeeperOutcome::kDone;
  self.keeper.Done(step.action, outcome, MonotonicUs(), Spread());
  if (step.action == KeeperAction::kAcquire && answer != RegistryAnswer::kDone) StayWithWorker();
  if (answer == RegistryAnswer::kBusy) {
    ErrorData busy = {};
    busy.sqlerrcode = ERRCODE_OBJECT_IN_USE;
    busy.message = pstrdup("it has just detected a failover");
    registry_failed = true;
    RecordFailure(step.action, busy);
    return;
  }
  RecordSuccess(step.action, MonotonicUs() - now_us, step.duration_us);
  if (step.action != KeeperAction::kProbe || gone) return;
  const bool another = answer == RegistryAnswer::kAnother;
  Enter(another ? Phase::kMoves : Phase::kKeeps);
  if (another) ereport(LOG, (errmsg("snowflake keeper: follows snowflake.registry to another registry")));
}

// When nothing is issued any more, and before the releases, which may take until the end. It is not
// repeated after an error. What a life without a lease knows may be less than what is stored.
void KeepLastTickOnce() {
  if (self.kept_last_tick || !OidIsValid(keeping.target.extension) || RecoveryInProgress()) return;
  self.kept_last_tick = true;
  bool leased = false;
  WithLock(keeping.node, LW_SHARED, [&] { leased = keeping.node->state.generator.lease.lease_id != 0; });
  const int64_t last_us = leased || keeping.goes_on ? EndLife(keeping.node) : 0;
  if (last_us > 0) InTime([&] { self.stored_last_tick = KeepLastTickLocally(keeping.target.extension, last_us); });
}

// Before the keeper ends in good order. The server's next life goes on by the last tick in the
// table or, if that was not stored, by what the box has; so does this one, also after a crash. A
// database that issued no id in more than a day gets no keeper at the server's next start.
void TidyUp() {
  int64_t taken = 0;
  bool idle = false;
  const bool stopping = ServerIsStopping();
  WithBox(keeping.node, [&](BoxSlot *slot) {
    taken = keeping.node->counters.ids_taken;
    idle = IsIdle(keeping.node->state);
    const bool is_known = self.stored_last_tick || keeping.node->state.generator.lease.lease_id == 0;
    const bool is_empty = ForgetQuestion(&keeping.node->state) && is_known;
    if (slot == nullptr) return;
    if (is_empty && stopping)
      Empty(slot);
    else
      KeepInBox(keeping.node, slot);
  });
  KeepServerClock(true);
  // Nobody requests what failed: an extension that was dropped leaves no error to the next one.
  if (idle) ForgetFailures();
  if (taken == 0 && GetCurrentTimestamp() - PgStartTime > USECS_PER_DAY) ForgetIssuer(MyDatabaseId);
}

// After the releases. If only the keeper ends, this does nothing. It is not repeated after an
// error.
void MarkCleanOnce() {
  if (!stop_requested || self.marked_clean || !OidIsValid(keeping.target.extension)) return;
  if (!keeping.registry->is_here && !keeping.node->serves) return;
  self.marked_clean = true;
  if (!RecoveryInProgress()) InTime([] { MarkCleanLocally(keeping.target.extension); });
}

// What may hold something together when a step acts. What a registry is asked with is in `keeping`,
// what is to be done in `self`; a step may fail between two changes, except where this says so.
void CheckState() {
  Assert(self.error == nullptr);
  // The setting names the registry in use, whose address is known. Otherwise it is probed.
  Assert(self.phase != Phase::kKeeps || (self.wanted == keeping.node->registry && keeping.target.conninfo != nullptr &&
                                         keeping.registry->is_here == (self.wanted == HashOfOwnTables())));
  // At the end nothing is looked at any more, and the time is limited.
  Assert(self.phase != Phase::kEnds || (self.chore == kChoreCount && leave_since_us != 0));
  // Neither an error nor what an exchange found outlives what it is about.
  Assert(keeping.failed.action != KeeperAction::kSleep || keeping.failed.sqlstate == 0);
  Assert(!keeping.target.leads_here || OidIsValid(keeping.target.place.database));
}

// One step; false when the keeper is done.
bool Step() {
  self.action = KeeperAction::kSleep;
  self.future = false;
  if (stop_requested && self.phase != Phase::kEnds) {
    QueryCancelPending = false;  // what was under way has ended
    // The registry in use gives no other lease any more: the next keeper goes on with this one.
    if (self.phase == Phase::kProbes && !ServerIsStopping()) return false;
    Leave("it was asked to stop");
  }
  if (BoxIsCut()) LookAfterBox();
  CHECK_FOR_INTERRUPTS();
  if (self.phase != Phase::kEnds) {
    if (self.chore == kChoreCount && (ConfigReloadPending || MonotonicUs() >= self.next_round_us))
      BeginRound(MonotonicUs());
    GoOnWithRound();
  }
  if (self.phase != Phase::kEnds) FollowSetting();
  if (IsLeaving()) CloseGenerator();
  if (self.phase == Phase::kEnds) KeepLastTickOnce();
  CheckState();

  const int64_t now_us = MonotonicUs();
  const KeeperView view = Observe();
  // Then the change costs nothing.
  if (view.moving && !view.leased && view.retired == 0 && !view.ranges_held) {
    GoOnWithOther();
    return true;
  }
  LookForSigns();
  TellClockEvents();
  // At the end no horizon rises: EndLife().
  const int64_t sample_in_us = self.phase == Phase::kEnds ? PG_INT64_MAX : SampleForAskers(keeping.node);
  KeeperStep step = self.keeper.Next(view, now_us);
  // Without a look at the catalogs nobody knows whose lease it is.
  if (!IsLeaving() && !OidIsValid(keeping.target.extension)) step = {KeeperAction::kSleep, self.next_round_us, 0, 0};
  if (self.phase == Phase::kMoves && step.action == KeeperAction::kExit) {
    GoOnWithOther();
    return true;
  }
  self.action = step.action;
  self.future = view.future;
  switch (step.action) {
    case KeeperAction::kExit:
      TidyUp();
      MarkCleanOnce();
      return false;
    case KeeperAction::kSleep:
      Sleep(Min(Min(step.until_us, self.next_round_us),
                sample_in_us < PG_INT64_MAX ? now_us + sample_in_us : PG_INT64_MAX));
      return true;
    default: Perform(step, now_us); return true;
  }
}

bool IsExchange(KeeperAction action) { return action != KeeperAction::kSleep && action != KeeperAction::kExit; }

// That all worker ids are leased also answers the question for a better one, and a registry that
// refuses to take a lease back will never take it.
bool IsAnswer(const ErrorData &error) {
  if (self.action == KeeperAction::kRelease) return error.sqlerrcode == ERRCODE_INVALID_PARAMETER_VALUE;
  return self.action == KeeperAction::kAcquire && self.future && error.sqlerrcode == kAllLeased;
}

// Called in PG_CATCH: nothing here may look at interrupts, as a message to the log does, or fail.
// Most of a step is outside of a transaction, and then AbortCurrentTransaction() releases nothing.
// Locks come first, because a copy of the error needs memory.
void KeepError(bool handling) {
  LWLockReleaseAll();
  ConditionVariableCancelSleep();
  pgstat_report_wait_end();
  MemoryContextSwitchTo(self.step_context);
  self.error = handling ? nullptr : CopyErrorData();
  FlushErrorState();
  disable_all_timeouts(false);
  AbortCurrentTransaction();

  LookAtCatalogs();
  self.chore_failed = !handling && self.chore < kChoreCount;
  if (self.chore_failed) {
    ++self.chore;
  } else if (!handling && IsExchange(self.action)) {
    const KeeperOutcome outcome = IsAnswer(*self.error) ? KeeperOutcome::kAnswered : KeeperOutcome::kFailed;
    self.keeper.Done(self.action, outcome, MonotonicUs(), Spread());
  } else {
    ++self.failures;
    return;
  }
  self.failures = 0;
}

// Is a step of its own. If it fails, the error is not known to anybody, but steps go on.
void HandleError() {
  const ErrorData *error = self.error;
  const KeeperAction action = self.action;
  self.error = nullptr;
  NoteExchange(0);
  if (self.chore_failed || !IsExchange(action)) {
    // Ids go on without a chore, but not without the extension.
    RecordOwnFailure(*error, !self.chore_failed || !OidIsValid(keeping.target.extension));
    return;
  }
  // A release is refused for its last tick, whatever the clock shows.
  if (error->sqlerrcode == kClockBehind && action != KeeperAction::kRelease)
    ChangeNode(keeping.node, [] { RefusedForSkew(&keeping.node->state); });
  if (action == KeeperAction::kAcquire || action == KeeperAction::kProbe) StayWithWorker();
  if (action == KeeperAction::kAcquire && IsAnswer(*error)) return;
  // A shutdown, or a command that wants the database, canceled it: that is no failure of the
  // registry.
  const bool given_way = stop_requested || self.gave_way;
  if (given_way && error->sqlerrcode == ERRCODE_QUERY_CANCELED && self.phase != Phase::kEnds) return;
  if (action == KeeperAction::kRelease && IsAnswer(*error))
    ChangeNode(keeping.node, [] { DropRetired(&keeping.node->state, keeping.releasing); });
  RecordFailure(action, *error);
}

bool ProtectedStep() {
  MemoryContextSwitchTo(self.step_context);
  volatile bool more = true;
  const bool handling = self.error != nullptr;
  if (IsOverdue()) return false;
  PG_TRY();
  {
    if (handling) {
      HandleError();
    } else {
      MemoryContextReset(self.step_context);
      more = Step();
      self.failures = 0;
    }
  }
  PG_CATCH();
  { KeepError(handling); }
  PG_END_TRY();
  return more;
}

// Where nothing can fail. A signal ends it.
void Pause() {
  if (self.failures > 0) pg_usleep(static_cast<long>(PauseUs(self.failures, true)));
}

}  // namespace

extern "C" PGDLLEXPORT void snowflake_keeper_main(Datum database) {
  pqsignal(SIGHUP, SignalHandlerForConfigReload);
  pqsignal(SIGTERM, HandleStop);
  pqsignal(SIGINT, HandleInterrupt);
  BackgroundWorkerUnblockSignals();
  // A database that accepts no new connections may still have old ones that issue ids.
  BackgroundWorkerInitializeConnectionByOid(DatumGetObjectId(database), InvalidOid, BGWORKER_BYPASS_ALLOWCONN);
  PinKeeperSettings();
  if (!Attach()) proc_exit(0);
  self.wanted = keeping.node->registry;
  self.leave_timeout = RegisterTimeout(USER_TIMEOUT, HandleLeaveTimeout);
  self.catalogs_changed = self.renamed = true;
  self.chore = kChoreCount;
  CacheRegisterRelcacheCallback(OnRelcacheChange, Datum{0});
  self.step_context = AllocSetContextCreate(TopMemoryContext, "snowflake keeper", ALLOCSET_DEFAULT_SIZES);
  remote_give_way = GiveWay;
  attached = true;
  while (ProtectedStep()) {
    if (self.error == nullptr) Pause();
  }
  proc_exit(0);
}

}  // namespace snowflake
