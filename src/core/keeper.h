// The keeper's mind: (what it sees, now) -> (what to do next, until when to sleep). It does no I/O itself.
//
// `now_us` is a monotonic clock. Windows are in ticks of the wall clock, which may step; when to talk to the registry is not.
#pragma once

#include <cstdint>

namespace snowflake {

enum class KeeperAction {
  kSleep,    // until KeeperStep::until_us, or until something new is to be seen
  kAcquire,  // draw a lease; the one before it, if any, is retired when the new one is in place
  kExtend,   // move the window's end
  kRelease,  // give back one retired lease
  kExit,
};

struct KeeperView {
  int64_t lease_duration_us;
  bool leased;         // a lease is in place
  bool lease_wanted;   // a backend needs a lease, or another one because the clock stepped back
  bool window_wanted;  // a backend has reached the window's end
  bool retired;        // an old lease waits to be given back
  bool leaving;        // shutdown, or nothing is left to keep: the lease is retired already
};

struct KeeperStep {
  KeeperAction action;
  int64_t until_us;
};

class Keeper {
 public:
  KeeperStep Next(const KeeperView &view, int64_t now_us);

  // What came of an action. `ok` means that the registry answered, whatever it said. `spread` is a random number of
  // 0..999 that makes the pause after a failure half to one and a half times as long: a thousand nodes must not return
  // to a registry at the same instant.
  void Done(KeeperAction action, bool ok, int64_t now_us, int32_t spread = kNoSpread);

  static constexpr int32_t kNoSpread = 500;

  // Three tries fit into a window before it ends.
  static constexpr int64_t kExtensionsPerWindow = 3;

 private:
  bool inherited_checked_ = false;  // a lease found at the start is looked after at once
  int64_t asked_us_ = 0;            // when the action under way began
  int64_t extended_us_ = 0;         // when the registry was last asked for what it then confirmed
  int64_t tried_us_ = 0;
  int32_t failures_ = 0;  // in a row, of acquire and extend
  int32_t spread_ = kNoSpread;
  int64_t release_tried_us_ = 0;
  int32_t release_failures_ = 0;
  bool leaving_ = false;
};

// How long to pause after `failures` failures in a row: doubling from 100 ms to 10 s, but at most 0.5 s while somebody
// waits, so that ids flow soon after the registry is back.
int64_t PauseUs(int32_t failures, bool somebody_waits);

}  // namespace snowflake
