// When the keeper asks the registry: (what it sees, now) -> (what to do next, until when to sleep).
//
// `now_us` is a monotonic clock: windows are in ticks of the wall clock, requests are not.
//
// 1. A window is extended when a third of it is over: three tries fit in.
// 2. Windows grow from kFirstWindowUs on: each extension doubles them, up to the lease duration.
// 3. A raised lease duration is requested at once, because the registry may soon be unavailable.
// 4. A node that issues only numbers of segments needs no lease.
// 5. If the setting names another registry, that one is probed. Until it answers, nothing is
//    requested of the previous one: that may be an old primary beside its successor.
// 6. A registry that is left gets one try for each lease and one for all ranges, whatever became of
//    the tries before. There is no second one: what is unavailable must not delay a shutdown.
#pragma once

#include <cstdint>

#include "core/assert.h"

namespace snowflake {
enum class KeeperAction {
  kSleep,    // until KeeperStep::until_us, or until the view changes
  kAcquire,  // a lease; once it is in place, the one before it, if any, is retired
  kExtend,   // the window
  kRelease,  // one retired lease, KeeperStep::retired
  kRanges,   // acquire ranges of segments, and release those of segments that make room; all while leaving
  kProbe,    // the registry that the setting names now
  kExit,
};

struct KeeperView {
  int64_t lease_duration_us;
  int64_t window_left_us;  // by the wall clock; below 0 when the window is over
  bool idle;               // no id was requested yet
  bool leased;             // a lease is in place
  bool future;             // ... whose window begins too far ahead for any id yet
  bool lease_wanted;       // a backend needs a lease, or another one because the clock stepped back
  bool window_wanted;      // a backend has reached the window's end
  int32_t retired;         // how many old leases are to be released
  bool ranges_wanted;      // a segment's next range, or room for another segment
  bool numbers_missing;    // ... and a call waits for it
  bool ranges_held;        // there are ranges to release
  bool moving;             // the setting names another registry than the one in use
  bool leaving;            // the registry in use, or for good: the lease is retired already
};

struct KeeperStep {
  KeeperAction action;
  int64_t until_us;
  int64_t duration_us;  // kAcquire: how long windows may become; kExtend: how long a window to ask for
  int32_t retired;      // kRelease: which one, the oldest is 0
};

enum class KeeperOutcome {
  kFailed,    // the registry did not answer, or wants the request later
  kAnswered,  // ... and what is in place stayed as it was
  kDone,
};

class Keeper {
 public:
  KeeperStep Next(const KeeperView &view, int64_t now_us);

  // What came of an action. `spread`, random in 0..999, makes the pause after a failure half to one
  // and a half times as long, so that a thousand nodes do not return to a registry at once.
  void Done(KeeperAction action, KeeperOutcome outcome, int64_t now_us, int32_t spread = kNoSpread);

  static constexpr int32_t kNoSpread = 500;
  static constexpr int64_t kExtensionsPerWindow = 3;

  // How often a node whose window begins in the future asks for a better worker id.
  static constexpr int64_t kAskForBetterUs = 3 * 1000 * 1000;

 private:
  struct Exchange {
    KeeperAction action;
    int64_t from_us;
  };
  struct Tries {
    int64_t last_us;
    int32_t failures;  // in a row
  };
  Exchange NextExchange(const KeeperView &view) const;
  int64_t WindowToAskFor(const KeeperView &view) const;
  int64_t NextTry(const Tries &tries, bool waited_for) const;

  // The exchange under way, and the one whose answer put the present window in place.
  int64_t asked_us_ = 0;
  int64_t asked_lease_us_ = 0;  // the lease duration then
  bool window_is_new_ = false;  // its length is still to be seen
  int64_t window_since_us_ = 0;
  int64_t window_us_ = 0;  // 0: a lease found at the start
  int64_t window_lease_us_ = 0;

  int64_t acquired_us_ = 0;  // when the last answered acquire was sent
  int32_t spread_ = kNoSpread;
  Tries exchanges_ = {};  // of acquire and extend
  Tries releases_ = {};
  Tries ranges_ = {};
  bool leaving_ = false;
};

// The pause after `failures` failures in a row: doubling from 100 ms to 10 s, but at most 1 s while
// a call waits, so that ids flow soon after the registry is back.
int64_t PauseUs(int32_t failures, bool waited_for);

}  // namespace snowflake
