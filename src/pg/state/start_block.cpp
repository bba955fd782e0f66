// Compares the clock with signs of life, and begins and ends the doubt.
#include "pg/state/start_block.h"

#include "pg/report.h"
#include "pg/settings.h"
#include "pg/state/black_box.h"
#include "pg/state/data_directory.h"
#include "pg/processes.h"

namespace snowflake {
namespace {
StartBlock *start = nullptr;

int64_t MaxLeapUs() { return settings.max_leap_ms * kUsPerMs; }

// When the last checkpoint was begun; kNoSign: in this life of the server.
int64_t CheckpointUs() {
  bool sound = false;
  ControlFileData *control = get_controlfile(DataDir, &sound);
  const int64_t at_us = static_cast<int64_t>(control->checkPointCopy.time) * USECS_PER_SEC;
  pfree(control);
  const bool of_this_life = IsUnderPostmaster && at_us >= UnixUsFromTimestamp(PgStartTime) - USECS_PER_SEC;
  return sound && !of_this_life ? at_us : kNoSign;
}

// What the wall clock would show if it had kept its time since the postmaster's first block.
int64_t SinceFirstStart(const ClockReading &reading) {
  static ClockReading first = {};
  if (IsUnderPostmaster) return kNoSign;
  if (first.steady_us == 0) {
    first = reading;
    return kNoSign;
  }
  return first.wall_us + reading.steady_us - first.steady_us;
}

int64_t NewestSign(const ClockReading &reading, int64_t sign_us) {
  for (const int64_t found_us : {CheckpointUs(), SinceFirstStart(reading)})
    if (found_us <= reading.wall_us) sign_us = Max(sign_us, found_us);
  return sign_us;
}

void TellDoubt(const StartClock &clock) {
  ereport(LogLevel(WARNING),
          (errmsg("snowflake: the clock shows %s, %.1f days after the last sign of life of this server",
                  Time(clock.since.wall_us), Seconds(clock.since.wall_us - clock.sign_us) / SECS_PER_DAY),
           errdetail("The last sign of life is of %s. Ids are issued, but snowflake_horizon() does not rise until the "
                     "clock has kept its time for %lld minutes.",
                     Time(clock.sign_us), Long(kHoldUs / 60 / USECS_PER_SEC)),
           errhint("If the clock is right, call snowflake_confirm_clock(). Otherwise set it right.")));
}

void Doubt(const StartClock &clock) {
  WriteDoubt(clock.sign_us);
  TellDoubt(clock);
}

void TellBelieved(const ClockReading &reading) {
  ForgetDoubt();
  ereport(LogLevel(LOG), (errmsg("snowflake: the clock is not in doubt any more; it shows %s", Time(reading.wall_us))));
}

}  // namespace

void MakeStart(StartBlock *memory, int tranche) { LWLockInitialize(&memory->lock, tranche); }

void UseStart(StartBlock *memory) { start = memory; }

void CompareStart(const ClockReading &reading, int64_t sign_us) {
  int64_t kept_us = 0;
  const int64_t found_us = NewestSign(reading, sign_us);
  start->of_before = ReadDoubt(&kept_us);
  start->clock = Compare(reading, start->of_before ? kept_us : found_us, MaxLeapUs());
  if (start->clock.doubted) {
    if (!start->of_before) WriteDoubt(start->clock.sign_us);
    TellDoubt(start->clock);
  } else if (start->of_before) {
    ForgetDoubt();
  }
}

StartClock ReadStart(const ClockReading &reading) {
  LWLockAcquire(&start->lock, LW_EXCLUSIVE);
  const bool changed = Read(&start->clock, reading, MaxLeapUs());
  const StartClock clock = start->clock;
  LWLockRelease(&start->lock);
  if (changed && clock.doubted)
    Doubt(clock);
  else if (changed)
    TellBelieved(reading);
  return clock;
}

bool MayReportBy(const NodeClock &clock) { return MayReport(ReadStart(clock.read), clock, MaxLeapUs()); }

bool IsStartDoubted() {
  LWLockAcquire(&start->lock, LW_SHARED);
  const bool doubted = start->clock.doubted;
  LWLockRelease(&start->lock);
  return doubted;
}

bool ConfirmStart(const ClockReading &reading) {
  LWLockAcquire(&start->lock, LW_EXCLUSIVE);
  const bool doubted = start->clock.doubted;
  if (doubted) Believe(&start->clock, reading);
  LWLockRelease(&start->lock);
  if (doubted) TellBelieved(reading);
  return doubted;
}

bool IsSignWanted() { return !start->of_before && IsStartDoubted(); }

void NoteSignOfLife(int64_t sign_us) {
  LWLockAcquire(&start->lock, LW_EXCLUSIVE);
  NoteSign(&start->clock, sign_us);
  LWLockRelease(&start->lock);
}

}  // namespace snowflake
