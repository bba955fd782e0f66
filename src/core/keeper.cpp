#include "core/keeper.h"

namespace snowflake {

namespace {

constexpr int64_t kFirstPauseUs = 100 * 1000;
constexpr int64_t kLongestPauseUs = 10 * 1000 * 1000;
constexpr int64_t kLongestPauseWaitedForUs = 500 * 1000;

int64_t Spread(int64_t pause_us, int32_t spread) { return pause_us / 1000 * (Keeper::kNoSpread + spread); }

}  // namespace

int64_t PauseUs(int32_t failures, bool somebody_waits) {
  const int64_t longest = somebody_waits ? kLongestPauseWaitedForUs : kLongestPauseUs;
  if (failures <= 0) return 0;
  int64_t pause = kFirstPauseUs;
  for (int32_t i = 1; i < failures && pause < longest; ++i) pause *= 2;
  return pause < longest ? pause : longest;
}

KeeperStep Keeper::Next(const KeeperView &view, int64_t now_us) {
  // A registry that does not answer must not hold up a shutdown: the first release that fails is the last one tried.
  if (view.leaving) {
    if (!leaving_) release_failures_ = 0;
    leaving_ = true;
    return {view.retired && release_failures_ == 0 ? KeeperAction::kRelease : KeeperAction::kExit, now_us};
  }

  const bool waited_for = view.lease_wanted || view.window_wanted;
  const int64_t may_try_us = tried_us_ + Spread(PauseUs(failures_, waited_for), spread_);

  KeeperAction due = KeeperAction::kAcquire;
  int64_t due_us = may_try_us;
  if (view.leased && !view.lease_wanted) {
    due = KeeperAction::kExtend;
    const int64_t next_us = extended_us_ + view.lease_duration_us / kExtensionsPerWindow;
    if (inherited_checked_ && !view.window_wanted && next_us > due_us) due_us = next_us;
  }
  if (due_us <= now_us) {
    asked_us_ = now_us;
    return {due, now_us};
  }

  if (view.retired) {
    const int64_t release_us = release_tried_us_ + Spread(PauseUs(release_failures_, false), spread_);
    if (release_us <= now_us) return {KeeperAction::kRelease, now_us};
    if (release_us < due_us) due_us = release_us;
  }
  return {KeeperAction::kSleep, due_us};
}

void Keeper::Done(KeeperAction action, bool ok, int64_t now_us, int32_t spread) {
  spread_ = spread;
  if (action == KeeperAction::kRelease) {
    release_tried_us_ = now_us;
    release_failures_ = ok ? 0 : release_failures_ + 1;
    return;
  }
  tried_us_ = now_us;
  failures_ = ok ? 0 : failures_ + 1;
  if (!ok) return;
  extended_us_ = asked_us_;
  inherited_checked_ = true;
}

}  // namespace snowflake
