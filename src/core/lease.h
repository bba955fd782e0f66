// Leases: which ticks a node may use.
//
// 1. Windows of one worker id never overlap: a new window starts above the watermark, which is at
//    least the last tick that any earlier lease of that worker id used.
// 2. A window's end only moves forward, and is committed before any tick below it is used.
#pragma once

#include <cstdint>

#include "core/layout.h"

namespace snowflake {
template <int size>
constexpr bool AreSame(const uint8_t (&a)[size], const uint8_t (&b)[size]) {
  for (int i = 0; i < size; ++i)
    if (a[i] != b[i]) return false;
  return true;
}

// SHA-256 of a lease secret.
struct SecretHash {
  uint8_t bytes[32];

  friend constexpr bool operator==(const SecretHash &a, const SecretHash &b) { return AreSame(a.bytes, b.bytes); }
  friend constexpr bool operator!=(const SecretHash &a, const SecretHash &b) { return !(a == b); }
};

// A lease secret, which the node makes. The registry gets only its hash until the node releases the
// lease: nothing that it stores or logs while the lease is in use can release it. All zero: none.
struct Secret {
  uint8_t bytes[16];
  SecretHash hash;

  friend constexpr bool operator==(const Secret &a, const Secret &b) { return AreSame(a.bytes, b.bytes); }
  friend constexpr bool operator!=(const Secret &a, const Secret &b) { return !(a == b); }
};

// Registries neither reach nor believe higher lease ids, nor do nodes, so that nothing overflows. A
// registry would have to be restarted thirty million times to get there.
inline constexpr int64_t kHighestLeaseId = INT64_MAX / 2;

struct Lease {
  int64_t lease_id;
  Secret secret;
  int32_t worker;
  Tick window_start;
  Tick window_end;  // exclusive
};

// A lease that this node no longer issues under and still has to release.
struct Retired {
  int64_t lease_id;
  Secret secret;
  int32_t worker;
  Tick last_tick;
  Tick window_end;
  bool asked;  // the registry may have ended it already
};

// A duration is 1 s to 1 day: a shorter one would cost too many requests, a longer one would block
// a crashed node's worker id for too long.
inline constexpr int64_t kMinLeaseUs = int64_t{1000} * kUsPerMs;
inline constexpr int64_t kMaxLeaseUs = int64_t{86400} * 1000 * kUsPerMs;

// How long the first window of a lease is. It grows as it is extended, so that a crash or a clock
// that leapt blocks a worker id only for seconds. Three requests fit in if each takes a second or
// two.
inline constexpr int64_t kFirstWindowUs = int64_t{10} * 1000 * kUsPerMs;

// Of a worker id that was never used.
inline constexpr Tick kNoWatermark = -1;

// For a request that accepts any beginning of the window.
inline constexpr Tick kAnyStart = INT64_MAX;

// No window covers a negative tick or one that the layout cannot hold.
constexpr Tick WindowStart(Tick now, Tick watermark) {
  const Tick above = watermark < INT64_MAX ? watermark + 1 : watermark;
  const Tick start = now > watermark ? now : above;
  return start > 0 ? start : 0;
}

// At least one tick long, whatever the tick's length, unless the layout's time is used up.
constexpr Tick WindowEnd(const Layout &layout, Tick from, int64_t duration_us) {
  const Tick ticks = layout.TicksIn(duration_us) > 0 ? layout.TicksIn(duration_us) : 1;
  const Tick limit = layout.max_tick() + 1;
  return from >= limit - ticks ? limit : from + ticks;
}

}  // namespace snowflake
