// The decisions of the keeper, with the pauses after failures.
#include "core/keeper.h"

#include <algorithm>

#include "core/lease.h"

namespace snowflake {
namespace {
constexpr int64_t kFirstPauseUs = 100 * 1000;
constexpr int64_t kLongestPauseUs = 10 * 1000 * 1000;
constexpr int64_t kLongestPauseWaitedForUs = 1000 * 1000;

constexpr int64_t kAtOnce = INT64_MIN;
constexpr int64_t kNever = INT64_MAX;

}  // namespace

int64_t PauseUs(int32_t failures, bool waited_for) {
  const int64_t longest = waited_for ? kLongestPauseWaitedForUs : kLongestPauseUs;
  if (failures <= 0) return 0;
  int64_t pause = kFirstPauseUs;
  for (int32_t i = 1; i < failures && pause < longest; ++i) pause *= 2;
  return std::min(pause, longest);
}

int64_t Keeper::NextTry(const Tries &tries, bool waited_for) const {
  return tries.last_us + PauseUs(tries.failures, waited_for) / 1000 * (kNoSpread + spread_);
}

KeeperStep Keeper::Next(const KeeperView &view, int64_t now_us) {
  if (view.leaving) {
    if (!leaving_) releases_.failures = ranges_.failures = 0;
    leaving_ = true;
    if (view.retired > releases_.failures) return {KeeperAction::kRelease, now_us, 0, releases_.failures};
    const bool ranges = view.ranges_held && ranges_.failures == 0;
    return {ranges ? KeeperAction::kRanges : KeeperAction::kExit, now_us, 0, 0};
  }
  if (window_is_new_) {
    window_is_new_ = false;
    // Counted from the request, however long the answer took. Registries assign no less than the
    // shortest lease; a shorter one is a clock that leapt meanwhile.
    window_us_ = std::max(view.window_left_us + now_us - window_since_us_, kMinLeaseUs);
  }

  const bool call_waits = view.lease_wanted || view.window_wanted;
  if (view.moving) {
    const int64_t due_us = NextTry(exchanges_, call_waits || view.numbers_missing);
    return {due_us <= now_us ? KeeperAction::kProbe : KeeperAction::kSleep, due_us, 0, 0};
  }
  const Exchange next = NextExchange(view);
  int64_t due_us = std::max(next.from_us, NextTry(exchanges_, call_waits));
  if (due_us <= now_us) {
    asked_us_ = now_us;
    asked_lease_us_ = view.lease_duration_us;
    const bool acquire = next.action == KeeperAction::kAcquire;
    return {next.action, now_us, acquire ? view.lease_duration_us : WindowToAskFor(view), 0};
  }
  const auto is_due = [&](const Tries &tries, bool waited_for) {
    due_us = std::min(due_us, NextTry(tries, waited_for));
    return due_us <= now_us;
  };
  if (view.ranges_wanted && is_due(ranges_, view.numbers_missing)) return {KeeperAction::kRanges, now_us, 0, 0};
  // One that fails is not in the way of the others.
  if (view.retired > 0 && is_due(releases_, false))
    return {KeeperAction::kRelease, now_us, 0, releases_.failures % view.retired};
  SNOWFLAKE_ASSERT(due_us > now_us);  // or the keeper would go round without a pause
  return {KeeperAction::kSleep, due_us, 0, 0};
}

Keeper::Exchange Keeper::NextExchange(const KeeperView &view) const {
  if (view.idle) return {KeeperAction::kAcquire, kNever};
  if (!view.leased) return {KeeperAction::kAcquire, kAtOnce};
  const bool found_at_start = window_us_ == 0;
  const bool raised = view.lease_duration_us > window_lease_us_;
  const bool at_once = found_at_start || raised || view.window_wanted;
  const Exchange extend = {KeeperAction::kExtend,
                           at_once ? kAtOnce : window_since_us_ + window_us_ / kExtensionsPerWindow};
  if (!view.lease_wanted && !view.future) return extend;
  const Exchange acquire = {KeeperAction::kAcquire, view.lease_wanted ? kAtOnce : acquired_us_ + kAskForBetterUs};
  return acquire.from_us <= extend.from_us ? acquire : extend;
}

int64_t Keeper::WindowToAskFor(const KeeperView &view) const {
  if (window_us_ != 0 && view.lease_duration_us > window_lease_us_) return view.lease_duration_us;
  // Of a lease found at the start only the rest is known.
  const int64_t window_us = window_us_ != 0 ? window_us_ : view.window_left_us;
  if (window_us > view.lease_duration_us / 2) return view.lease_duration_us;
  return std::min(std::max(2 * std::max(window_us, int64_t{0}), kFirstWindowUs), view.lease_duration_us);
}

void Keeper::Done(KeeperAction action, KeeperOutcome outcome, int64_t now_us, int32_t spread) {
  SNOWFLAKE_ASSERT(action != KeeperAction::kSleep && action != KeeperAction::kExit);
  SNOWFLAKE_ASSERT(spread >= 0 && spread < 2 * kNoSpread);
  spread_ = spread;
  Tries &tries = action == KeeperAction::kRelease ? releases_ : action == KeeperAction::kRanges ? ranges_ : exchanges_;
  const bool failed = outcome == KeeperOutcome::kFailed;
  tries = {now_us, failed ? tries.failures + 1 : leaving_ ? tries.failures : 0};
  if (failed || &tries != &exchanges_ || action == KeeperAction::kProbe) return;
  if (action == KeeperAction::kAcquire) acquired_us_ = asked_us_;
  if (outcome != KeeperOutcome::kDone) return;
  window_is_new_ = true;
  window_since_us_ = asked_us_;
  window_lease_us_ = asked_lease_us_;
}

}  // namespace snowflake
