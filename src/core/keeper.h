// The keeper's mind: (what it sees, now) -> (what to do next, until when to sleep). It does no I/O itself.
//
// `now_us` is a monotonic clock. Windows are in ticks of the wall clock, which may step; when to talk to the registry is not.
//
// 1. A window is extended when a third of it is over, by the length that was granted: three tries fit into it.
// 2. Windows grow from kFirstWindowUs on: each extension asks for twice as much as there is, up to the lease duration.
// 3. A lease duration that was raised is asked for at once, as a whole: who raises it expects the registry to be away soon.
// 4. Who issues numbers of segments alone needs no lease.
#pragma once

#include <cstdint>

namespace snowflake {

enum class KeeperAction {
  kSleep,    // until KeeperStep::until_us, or until something new is to be seen
  kAcquire,  // draw a lease; the one before it, if any, is retired when the new one is in place
  kExtend,   // move the window's end
  kRelease,  // give back one retired lease
  kRanges,   // fetch ranges of segments, and give back those of segments that make room; while leaving, give all back
  kExit,
};

struct KeeperView {
  int64_t lease_duration_us;
  int64_t window_left_us;  // by the wall clock; below 0 when the window is over
  bool idle;               // nobody has asked for an id yet
  bool leased;             // a lease is in place
  bool future;             // ... whose window begins too far ahead for any id yet
  bool lease_wanted;       // a backend needs a lease, or another one because the clock stepped back
  bool window_wanted;      // a backend has reached the window's end
  bool retired;            // an old lease waits to be given back
  bool ranges_wanted;      // a segment's next range, or room for another segment
  bool numbers_missing;    // ... and somebody waits for it
  bool ranges_held;        // something can be given back
  bool leaving;            // shutdown, or nothing is left to keep: the lease is retired already
};

struct KeeperStep {
  KeeperAction action;
  int64_t until_us;
  int64_t duration_us;  // kAcquire: how long windows may become; kExtend: how long a window to ask for
};

enum class KeeperOutcome {
  kFailed,    // the registry did not answer, or said to ask again
  kAnswered,  // ... and what is in place stayed as it was
  kDone,
};

class Keeper {
 public:
  KeeperStep Next(const KeeperView &view, int64_t now_us);

  // What came of an action. `spread` is a random number of 0..999 that makes the pause after a failure half to one and a
  // half times as long: a thousand nodes must not return to a registry at the same instant.
  void Done(KeeperAction action, KeeperOutcome outcome, int64_t now_us, int32_t spread = kNoSpread);

  static constexpr int32_t kNoSpread = 500;
  static constexpr int64_t kExtensionsPerWindow = 3;

  // How often a node whose window is still to begin asks whether another worker id helps by now.
  static constexpr int64_t kAskForBetterUs = 3 * 1000 * 1000;

 private:
  struct Exchange {
    KeeperAction action;
    int64_t from_us;
  };
  Exchange NextExchange(const KeeperView &view) const;
  int64_t WindowToAskFor(const KeeperView &view) const;

  // The exchange under way, and the one whose answer put the present window in place.
  int64_t asked_us_ = 0;
  int64_t asked_lease_us_ = 0;  // the lease duration then
  bool window_is_new_ = false;  // its length is still to be seen
  int64_t window_since_us_ = 0;
  int64_t window_us_ = 0;  // 0: a lease found at the start
  int64_t window_lease_us_ = 0;

  int64_t drawn_us_ = 0;  // when the registry was last asked for a lease, and answered
  int64_t tried_us_ = 0;
  int32_t failures_ = 0;  // in a row, of acquire and extend
  int32_t spread_ = kNoSpread;
  int64_t release_tried_us_ = 0;
  int32_t release_failures_ = 0;
  int64_t ranges_tried_us_ = 0;
  int32_t ranges_failures_ = 0;
  bool leaving_ = false;
};

// How long to pause after `failures` failures in a row: doubling from 100 ms to 10 s, but at most 0.5 s while somebody
// waits, so that ids flow soon after the registry is back.
int64_t PauseUs(int32_t failures, bool somebody_waits);

}  // namespace snowflake
