// Layouts: how a timestamp, a worker id and a sequence number share 64 bits.
//
// Fields from the highest bit down:
//
//     sign (0) | timestamp | datacenter, worker | sequence        sequence_first = false
//     sign (0) | timestamp | sequence | datacenter, worker        sequence_first = true
//
// In a layout of fewer than 63 bits the bits above its timestamp are 0. One of 64 bits starts at
// the sign bit: all its ids can be read, but only those that are not negative are issued.
//
// Time is counted in ticks since the layout's epoch; ticks before the epoch are negative. "Worker
// id" means the datacenter's and the worker's bits together: datacenter << worker_bits | worker.
#pragma once

#include <cstdint>
#include <limits>

#include "core/assert.h"

namespace snowflake {
using Tick = int64_t;

inline constexpr int64_t kUsPerMs = 1000;

// Worker and sequence are SQL integers, so neither may need the 32nd bit.
inline constexpr int kMaxFieldBits = 31;

// While a registry settles after a failover it keeps a number for each datacenter.
inline constexpr int kMaxDatacenterBits = 10;

// A tick may last from a microsecond, the server's own resolution of time, to a day.
inline constexpr int64_t kMaxTickUs = int64_t{86400} * 1000 * kUsPerMs;

// The year 9999: far from where epoch_ms * 1000 would overflow.
inline constexpr int64_t kMaxEpochMs = int64_t{253402300799} * 1000;

// A database can begin with a layout only if it lasts for so many years more: ids outlive plans.
inline constexpr int64_t kMinYearsLeft = 10;
inline constexpr int64_t kUsPerYear = int64_t{36525} * 864 * 1000 * kUsPerMs;  // 365.25 days

enum class LayoutFault {
  kNone,
  kFieldWidth,   // a negative width, a timestamp of 0 bits, a field wider than the limits above
  kTooWide,      // the fields sum to more than 64 bits
  kTickLength,   // not within 1 microsecond .. 1 day
  kEpoch,        // not within 1970 .. 9999
  kEndsTooLate,  // its last tick is beyond what a timestamp can hold
  kReadOnly,     // nothing to issue: no worker bits or no sequence bits
};

struct Parts {
  Tick tick;
  int32_t worker;
  int32_t sequence;

  friend constexpr bool operator==(const Parts &a, const Parts &b) {
    return a.tick == b.tick && a.worker == b.worker && a.sequence == b.sequence;
  }
};

// Which of an id's parts does not fit its field.
enum class PartsFault { kNone, kTick, kWorker, kSequence };

struct Layout {
  int64_t epoch_ms;
  int64_t tick_us;
  int32_t timestamp_bits;
  int32_t datacenter_bits;
  int32_t worker_bits;
  int32_t sequence_bits;
  bool sequence_first;

  constexpr int32_t node_bits() const { return datacenter_bits + worker_bits; }
  constexpr int32_t total_bits() const { return timestamp_bits + node_bits() + sequence_bits; }
  constexpr int32_t sequence_shift() const { return sequence_first ? node_bits() : 0; }
  constexpr int32_t worker_shift() const { return sequence_first ? 0 : sequence_bits; }
  constexpr int32_t timestamp_shift() const { return node_bits() + sequence_bits; }

  // How many there are; the highest value is one less.
  constexpr int64_t worker_count() const { return int64_t{1} << node_bits(); }
  constexpr int64_t sequence_count() const { return int64_t{1} << sequence_bits; }
  constexpr int32_t datacenter_count() const { return int32_t{1} << datacenter_bits; }
  constexpr int64_t workers_per_datacenter() const { return int64_t{1} << worker_bits; }

  // The highest tick whose ids are not negative.
  constexpr Tick max_tick() const {
    const int32_t bits = timestamp_bits + timestamp_shift() > 63 ? 63 - timestamp_shift() : timestamp_bits;
    return static_cast<Tick>((uint64_t{1} << bits) - 1);
  }

  // The highest tick that ids can be read of. Those beyond max_tick() are negative.
  constexpr Tick max_readable_tick() const { return static_cast<Tick>((uint64_t{1} << timestamp_bits) - 1); }

  constexpr int64_t epoch_us() const { return epoch_ms * kUsPerMs; }

  // The tick of any Unix time in microseconds: rounded down, also before the epoch.
  constexpr Tick TickAt(int64_t unix_us) const {
    int64_t since = 0;
    if (__builtin_sub_overflow(unix_us, epoch_us(), &since)) since = std::numeric_limits<int64_t>::min();
    const int64_t whole = since / tick_us;
    return since % tick_us < 0 ? whole - 1 : whole;
  }

  // The Unix microsecond at which a tick begins. Saturates.
  constexpr int64_t UnixUsAt(Tick tick) const {
    int64_t since = 0, unix_us = 0;
    if (__builtin_mul_overflow(tick, tick_us, &since) || __builtin_add_overflow(since, epoch_us(), &unix_us))
      return tick < 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
    return unix_us;
  }

  // Ticks in a span of microseconds, rounded down.
  constexpr Tick TicksIn(int64_t span_us) const { return span_us / tick_us; }

  constexpr PartsFault Fits(const Parts &parts) const {
    if (parts.tick < 0 || parts.tick > max_readable_tick()) return PartsFault::kTick;
    if (parts.worker < 0 || parts.worker >= worker_count()) return PartsFault::kWorker;
    if (parts.sequence < 0 || parts.sequence >= sequence_count()) return PartsFault::kSequence;
    return PartsFault::kNone;
  }

  constexpr int64_t Pack(const Parts &parts) const {
    SNOWFLAKE_ASSERT(Fits(parts) == PartsFault::kNone);
    return static_cast<int64_t>(static_cast<uint64_t>(parts.tick) << timestamp_shift() |
                                static_cast<uint64_t>(parts.worker) << worker_shift() |
                                static_cast<uint64_t>(parts.sequence) << sequence_shift());
  }

  // Whether an id could come from this layout: no bit set above its timestamp.
  constexpr bool HasRoomFor(int64_t id) const {
    return total_bits() >= 64 || (static_cast<uint64_t>(id) >> total_bits()) == 0;
  }

  constexpr Parts Unpack(int64_t id) const {
    const uint64_t bits = static_cast<uint64_t>(id);
    return {static_cast<Tick>(bits >> timestamp_shift()),
            static_cast<int32_t>(bits >> worker_shift() & static_cast<uint64_t>(worker_count() - 1)),
            static_cast<int32_t>(bits >> sequence_shift() & static_cast<uint64_t>(sequence_count() - 1))};
  }

  // The Unix microsecond at which an id's tick begins.
  constexpr int64_t UnixUsOf(int64_t id) const { return UnixUsAt(Unpack(id).tick); }

  // Whether ids of this layout can be read, and with `to_issue` also whether they can be issued.
  constexpr LayoutFault Fault(bool to_issue) const {
    if (timestamp_bits < 1 || timestamp_bits > 63 || datacenter_bits < 0 || worker_bits < 0 || sequence_bits < 0 ||
        datacenter_bits > kMaxDatacenterBits || worker_bits > kMaxFieldBits || sequence_bits > kMaxFieldBits ||
        node_bits() > kMaxFieldBits)
      return LayoutFault::kFieldWidth;
    if (total_bits() > 64) return LayoutFault::kTooWide;
    if (tick_us < 1 || tick_us > kMaxTickUs) return LayoutFault::kTickLength;
    if (epoch_ms < 0 || epoch_ms > kMaxEpochMs) return LayoutFault::kEpoch;
    const uint64_t ticks = uint64_t{1} << timestamp_bits;
    if (ticks >
        static_cast<uint64_t>(std::numeric_limits<int64_t>::max() - epoch_us()) / static_cast<uint64_t>(tick_us))
      return LayoutFault::kEndsTooLate;
    if (to_issue && (worker_bits == 0 || sequence_bits == 0)) return LayoutFault::kReadOnly;
    return LayoutFault::kNone;
  }

  // How long ids can still be issued; below 0 once that is over.
  constexpr int64_t UsLeft(int64_t now_us) const {
    int64_t left_us = 0;
    if (__builtin_sub_overflow(UnixUsAt(max_tick() + 1), now_us, &left_us)) return std::numeric_limits<int64_t>::max();
    return left_us;
  }

  // Whether a database may begin with this layout now.
  constexpr bool MayBegin(int64_t now_us) const {
    return Fault(true) == LayoutFault::kNone && epoch_us() <= now_us && UsLeft(now_us) >= kMinYearsLeft * kUsPerYear;
  }

  friend constexpr bool operator==(const Layout &a, const Layout &b) {
    return a.epoch_ms == b.epoch_ms && a.tick_us == b.tick_us && a.timestamp_bits == b.timestamp_bits &&
           a.datacenter_bits == b.datacenter_bits && a.worker_bits == b.worker_bits &&
           a.sequence_bits == b.sequence_bits && a.sequence_first == b.sequence_first;
  }
  friend constexpr bool operator!=(const Layout &a, const Layout &b) { return !(a == b); }
};

// 2025-01-01 00:00 UTC; the milliseconds last until September 2094.
inline constexpr Layout kDefaultLayout = {1735689600000, kUsPerMs, 41, 0, 10, 12, false};

static_assert(kDefaultLayout.Fault(true) == LayoutFault::kNone);
static_assert(kDefaultLayout.total_bits() == 63);
static_assert(kDefaultLayout.Pack({kDefaultLayout.max_tick(), 1023, 4095}) == std::numeric_limits<int64_t>::max());
static_assert(kDefaultLayout.Unpack(std::numeric_limits<int64_t>::max()) ==
              Parts{kDefaultLayout.max_tick(), 1023, 4095});

}  // namespace snowflake
