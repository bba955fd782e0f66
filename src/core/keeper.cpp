#include "core/keeper.h"

#include <algorithm>

#include "core/lease.h"

namespace snowflake {

namespace {

constexpr int64_t kFirstPauseUs = 100 * 1000;
constexpr int64_t kLongestPauseUs = 10 * 1000 * 1000;
constexpr int64_t kLongestPauseWaitedForUs = 500 * 1000;

constexpr int64_t kAtOnce = INT64_MIN;
constexpr int64_t kNever = INT64_MAX;

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
    if (!leaving_) release_failures_ = ranges_failures_ = 0;
    leaving_ = true;
    const bool answers = release_failures_ == 0 && ranges_failures_ == 0;
    if (view.retired && answers) return {KeeperAction::kRelease, now_us, 0};
    return {view.ranges_held && answers ? KeeperAction::kRanges : KeeperAction::kExit, now_us, 0};
  }
  if (window_is_new_) {
    window_is_new_ = false;
    // Counted from the question, however long the answer took. No registry grants less than the shortest lease; what looks
    // like it is a clock that leapt meanwhile.
    window_us_ = std::max(view.window_left_us + now_us - window_since_us_, kMinLeaseUs);
  }

  const bool waited_for = view.lease_wanted || view.window_wanted;
  const int64_t may_try_us = tried_us_ + Spread(PauseUs(failures_, waited_for), spread_);
  const Exchange next = NextExchange(view);
  int64_t due_us = std::max(next.from_us, may_try_us);
  if (due_us <= now_us) {
    asked_us_ = now_us;
    asked_lease_us_ = view.lease_duration_us;
    const bool acquire = next.action == KeeperAction::kAcquire;
    return {next.action, now_us, acquire ? view.lease_duration_us : WindowToAskFor(view)};
  }

  if (view.ranges_wanted) {
    const int64_t ranges_us = ranges_tried_us_ + Spread(PauseUs(ranges_failures_, view.numbers_missing), spread_);
    if (ranges_us <= now_us) return {KeeperAction::kRanges, now_us, 0};
    due_us = std::min(due_us, ranges_us);
  }

  if (view.retired) {
    const int64_t release_us = release_tried_us_ + Spread(PauseUs(release_failures_, false), spread_);
    if (release_us <= now_us) return {KeeperAction::kRelease, now_us, 0};
    due_us = std::min(due_us, release_us);
  }
  return {KeeperAction::kSleep, due_us, 0};
}

Keeper::Exchange Keeper::NextExchange(const KeeperView &view) const {
  if (view.idle) return {KeeperAction::kAcquire, kNever};
  if (!view.leased) return {KeeperAction::kAcquire, kAtOnce};
  const bool inherited = window_us_ == 0;
  const bool raised = view.lease_duration_us > window_lease_us_;
  const bool at_once = inherited || raised || view.window_wanted;
  const Exchange extend = {KeeperAction::kExtend,
                           at_once ? kAtOnce : window_since_us_ + window_us_ / kExtensionsPerWindow};
  if (!view.lease_wanted && !view.future) return extend;
  const Exchange acquire = {KeeperAction::kAcquire, view.lease_wanted ? kAtOnce : drawn_us_ + kAskForBetterUs};
  return acquire.from_us <= extend.from_us ? acquire : extend;
}

int64_t Keeper::WindowToAskFor(const KeeperView &view) const {
  if (window_us_ != 0 && view.lease_duration_us > window_lease_us_) return view.lease_duration_us;
  // Of a lease found at the start that is what is left.
  const int64_t window_us = window_us_ != 0 ? window_us_ : view.window_left_us;
  if (window_us > view.lease_duration_us / 2) return view.lease_duration_us;
  return std::min(std::max(2 * std::max(window_us, int64_t{0}), kFirstWindowUs), view.lease_duration_us);
}

void Keeper::Done(KeeperAction action, KeeperOutcome outcome, int64_t now_us, int32_t spread) {
  spread_ = spread;
  const bool failed = outcome == KeeperOutcome::kFailed;
  if (action == KeeperAction::kRelease) {
    release_tried_us_ = now_us;
    release_failures_ = failed ? release_failures_ + 1 : 0;
    return;
  }
  if (action == KeeperAction::kRanges) {
    ranges_tried_us_ = now_us;
    ranges_failures_ = failed ? ranges_failures_ + 1 : 0;
    return;
  }
  tried_us_ = now_us;
  failures_ = failed ? failures_ + 1 : 0;
  if (failed) return;
  if (action == KeeperAction::kAcquire) drawn_us_ = asked_us_;
  if (outcome != KeeperOutcome::kDone) return;
  window_is_new_ = true;
  window_since_us_ = asked_us_;
  window_lease_us_ = asked_lease_us_;
}

}  // namespace snowflake
