// Finds signs of life, takes readings, and writes the file.
#include "pg/state/server_clock.h"

#include "pg/report.h"
#include "pg/settings.h"
#include "pg/state/black_box.h"
#include "pg/state/data_directory.h"
#include "pg/processes.h"

namespace snowflake {
namespace {
ServerClock *server = nullptr;

// How often the file is written while nothing changes. Without power, so much less is known.
constexpr int64_t kWrittenAgainUs = int64_t{60} * 1000 * 1000;

ClockLimits Limits() { return ConfiguredPolicy().clock; }

ClockReading ReadClocks() {
  constexpr int64_t close_us = kStepUs / 5;
  ClockReading reading = {};
  for (int tries = 0; tries < 3; ++tries) {
    reading.steady_us = SteadyUs();
    reading.wall_us = NowUnixUs();
    if (SteadyUs() - reading.steady_us < close_us) break;
  }
  return reading;
}

// When the last checkpoint was begun; kNoSign: in this life of the server.
int64_t CheckpointUs(bool of_this_life) {
  bool sound = false;
  ControlFileData *control = get_controlfile(DataDir, &sound);
  const int64_t at_us = static_cast<int64_t>(control->checkPointCopy.time) * USECS_PER_SEC;
  pfree(control);
  const bool is_older = !IsUnderPostmaster || at_us < UnixUsFromTimestamp(PgStartTime) - USECS_PER_SEC;
  return sound && (of_this_life || is_older) ? at_us : kNoSign;
}

// What the wall clock would show if it had kept its time since the postmaster's first block.
int64_t SinceFirstStart(const ClockReading &reading) {
  static ClockReading first = {};
  if (IsUnderPostmaster) return kNoSign;
  if (first.steady_us == 0) {
    first = reading;
    return kNoSign;
  }
  const int64_t since_us = first.wall_us + reading.steady_us - first.steady_us;
  return since_us <= reading.wall_us ? since_us : kNoSign;
}

// What this process has seen last.
KnownTime seen;

// Under the mutex, but nobody waits for a process that is stopped there: false.
template <typename Critical>
bool TryMutex(Critical critical) SNOWFLAKE_LOCKS_UNCHECKED {
  for (int tries = 0; tries < 1000; ++tries) {
    if (TAS_SPIN(&server->mutex)) continue;
    critical();
    SpinLockRelease(&server->mutex);
    return true;
  }
  return false;
}

// Runs `critical` under the mutex, however long it takes to get it.
template <typename Critical>
void WithKnown(Critical critical) {
  while (!TryMutex(critical)) pg_usleep(1000);
}

// The first reading that somebody issues by says what time it is, not one that is only looked at.
KnownTime IfKnown(const KnownTime &known, const ClockReading &reading) {
  return known.read_us == 0 ? known : After(known, reading, Limits().max_bridge_us);
}

// What a process goes by that does not get the mutex. One that has seen nothing yet would believe
// every wall clock, and move a node's clock for all: it takes the one word that says what time it
// is known to be. Order: none. The word is whole, and of before or after a change under the mutex.
// On 32 bits it may be of both: then what a new process knows is off by up to 72 minutes.
KnownTime Seen() SNOWFLAKE_LOCKS_UNCHECKED {
  const int64_t offset_us = *const_cast<const volatile int64_t *>(&server->known.offset_us);
  if (seen.read_us == 0 && offset_us != 0) seen = {offset_us, 0, 0, 1};
  return seen;
}

KnownTime Known() {
  TryMutex([&]() SNOWFLAKE_HOLDS(server->mutex) { seen = server->known; });
  return Seen();
}

void TellDoubt(const ServerTime &time) {
  const int64_t known_us = KnownUs(time.known, time.reading.steady_us);
  ereport(LogLevel(WARNING),
          (errmsg("snowflake: the clock shows %s, %.1f days after what this server knows of the time",
                  Time(time.reading.wall_us), Seconds(time.reading.wall_us - known_us) / SECS_PER_DAY),
           errdetail("By what it knows, it is %s. snowflake_horizon() does not follow the clock until that has kept "
                     "its time for %lld minutes.",
                     Time(known_us), Long(kHoldUs / 60 / USECS_PER_SEC)),
           errhint("If the clock is right, call snowflake_confirm_clock(). Otherwise set it right.")));
}

void TellOnce(const ServerTime &time) {
  const bool doubted = IsInDoubt(time);
  if (doubted && !server->doubt_told) TellDoubt(time);
  if (!doubted && server->doubt_told)
    ereport(LogLevel(LOG),
            (errmsg("snowflake: the clock is not in doubt any more; it shows %s", Time(time.reading.wall_us))));
  server->doubt_told = doubted;
}

// Whether a checkpoint has begun since then, at no time that this reading refutes.
bool HasBegunSince(int64_t us, const ServerTime &time) {
  const int64_t at_us = CheckpointUs(true);
  return at_us > us && at_us <= time.reading.wall_us;
}

// Whether other signs of life may be of a wrong clock, and the file is to count alone.
bool MayOthersBeWrong(const ServerTime &time) {
  const bool doubted = IsInDoubt(time);
  if (doubted) server->latest_offset_us = Max(server->latest_offset_us, OffsetUs(time.reading));
  if (server->latest_offset_us <= time.known.offset_us + kLeapUs) return false;
  if (doubted)
    server->right_since_us = 0;
  else if (server->right_since_us == 0)
    server->right_since_us = time.reading.wall_us;
  else if (HasBegunSince(server->right_since_us, time))
    server->latest_offset_us = server->right_since_us = 0;
  return server->latest_offset_us != 0;
}

bool Write(const ServerTime &time, bool counts_alone, bool durably) {
  Assert(IsHeldExclusively(server->file_lock));  // Requires: the lock of the file.
  const bool written = WriteClockRecord({KnownUs(time.known, time.reading.steady_us), counts_alone}, durably);
  if (written) server->counts_alone = counts_alone;
  server->written_us = written ? time.reading.steady_us : 0;
  return written;
}

bool WriteIfDue(const ServerTime &time, bool last) {
  Assert(IsHeldExclusively(server->file_lock));  // Requires: the lock of the file.
  const bool was_written = server->written_us != 0 && time.reading.steady_us - server->written_us < kWrittenAgainUs;
  if (!last && was_written && IsInDoubt(time) == server->doubt_told) return true;
  const bool counts_alone = MayOthersBeWrong(time);
  TellOnce(time);
  return Write(time, counts_alone, last || counts_alone || server->counts_alone);
}

}  // namespace

void MakeServerClock(ServerClock *memory, int tranche) {
  SpinLockInit(&memory->mutex);
  LWLockInitialize(&memory->file_lock, tranche);
}

void UseServerClock(ServerClock *memory) { server = memory; }

ServerTime StartServerClock(const ClockReading &reading, int64_t sign_us) {
  ClockRecord record = {};
  const bool found = ReadClockRecord(&record);
  KnownTime known = {};
  if (found || sign_us != kNoSign || HasIssuer()) {
    int64_t newest_us = Max(Max(sign_us, CheckpointUs(false)), SinceFirstStart(reading));
    if (found) newest_us = record.counts_alone ? record.known_us : Max(record.known_us, newest_us);
    known = KnownBySign(newest_us, reading.steady_us);
  }
  const ServerTime time = {reading, IfKnown(known, reading)};
  const bool alone = found && record.counts_alone;
  WithKnown([&]() SNOWFLAKE_HOLDS(server->mutex) {
    server->known = time.known;
    server->takes_signs = !alone;
  });
  LWLockAcquire(&server->file_lock, LW_EXCLUSIVE);
  server->counts_alone = alone;
  if (server->counts_alone) server->latest_offset_us = kFarthestUs;
  // Before this life writes a sign by it.
  if (IsInDoubt(time)) WriteIfDue(time, true);
  LWLockRelease(&server->file_lock);
  return time;
}

ServerTime ReadTime() {
  ServerTime time = {ReadClocks(), {}};
  const int64_t max_bridge_us = Limits().max_bridge_us;
  const bool noted = TryMutex([&]() SNOWFLAKE_HOLDS(server->mutex) {
    seen = server->known = After(server->known, time.reading, max_bridge_us);
  });
  if (!noted) seen = After(Seen(), time.reading, max_bridge_us);
  time.known = seen;
  return time;
}

ServerTime LookAtTime() {
  const ClockReading reading = ReadClocks();
  return {reading, server == nullptr ? KnownTime{} : IfKnown(Known(), reading)};
}

bool IsInDoubt(const ServerTime &time) { return !MayBe(time.known, time.reading, Limits().max_leap_us); }

bool IsKnownBehind(const ServerTime &time) {
  const ClockLimits limits = Limits();
  return limits.max_leap_us > 0 && IsBehindKnown(time.known, time.reading, limits.max_bridge_us);
}

bool MayBeRight(const NodeClock &clock) {
  return MayBe(Known(), {clock.shown_us, clock.read.steady_us}, Limits().max_leap_us);
}

bool KeepServerClock(bool last) {
  const ServerTime time = ReadTime();
  if (time.known.read_us == 0) return true;
  // Another process is writing it: a disk that hangs is to stop no other keeper.
  if (!LWLockConditionalAcquire(&server->file_lock, LW_EXCLUSIVE)) return !IsInDoubt(time);
  const bool kept = WriteIfDue(time, last);
  LWLockRelease(&server->file_lock);
  return kept;
}

void NoteSignOfLife(int64_t sign_us) {
  const int64_t now_us = SteadyUs();
  WithKnown([&]() SNOWFLAKE_HOLDS(server->mutex) {
    if (server->takes_signs) NoteSign(&server->known, sign_us, now_us);
    server->takes_signs = false;
  });
}

bool ConfirmServerClock(const ServerTime &time) {
  const ServerTime confirmed = {time.reading, KnownBy(time.reading)};
  LWLockAcquire(&server->file_lock, LW_EXCLUSIVE);
  // The former time has left signs of life, too.
  server->latest_offset_us = Max(server->latest_offset_us, time.known.offset_us);
  const bool written = Write(confirmed, MayOthersBeWrong(confirmed), true);
  if (written)
    WithKnown([&]() SNOWFLAKE_HOLDS(server->mutex) {
      server->known = confirmed.known;
      server->takes_signs = false;
    });
  LWLockRelease(&server->file_lock);
  return written;
}

}  // namespace snowflake
