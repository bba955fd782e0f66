// The black box: what a node needs after a crash, in memory that outlives the server's processes.
//
// 1. It has a node's state as its keeper left it, sealed with a checksum, and the last tick used,
//    which is written before a number of that tick is issued: the box covers all that was issued.
// 2. A change is written beside the state that it replaces, whose seal is broken last: a process
//    that is killed meanwhile leaves one of the two. The registry is asked after that.
// 3. What is half written, or was changed by other programs, is not used.
//
// Locking: the node's state is written under the generator's lock only, the horizon under the
// horizon's. Stores keep their order, because a process may be killed between any two. Loads need
// none: when a box is read, nothing writes.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/node.h"

namespace snowflake {
// A node's state. All zero: none.
struct Kept {
  uint32_t database;
  uint32_t extension;
  uint64_t registry;  // the connection string, hashed
  NodeState state;
  char node_name[256];
};

// The highest horizon that a database's node has reported, which is kept without a lease, too.
struct KeptHorizon {
  uint32_t database;
  uint32_t extension;
  Layout layout;
  int64_t resets;  // how often an operator took it back: what is of an earlier number does not count
  int64_t horizon;
};

struct HorizonRecord {
  std::atomic<uint64_t> seal;
  KeptHorizon kept;
};

struct StateRecord {
  std::atomic<uint64_t> seal;  // 0: empty, or being written
  std::atomic<int64_t> last_tick;
  std::atomic<int64_t> last_tick_inverted;
  Kept kept;
};

// Records are written by turns: one is always whole.
struct alignas(64) BoxSlot {
  std::atomic<uint32_t> current;  // the state that is sealed, if any is
  StateRecord states[2];
  HorizonRecord horizons[2];
};
static_assert(std::atomic<uint64_t>::is_always_lock_free && sizeof(std::atomic<uint64_t>) == sizeof(uint64_t));

// CRC-32C.
inline uint32_t Checksum(const void *data, size_t size) {
  constexpr auto table = [] {
    std::array<uint32_t, 256> entries = {};
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t entry = i;
      for (int bit = 0; bit < 8; ++bit) entry = entry >> 1 ^ (entry & 1 ? 0x82F63B78 : 0);
      entries[i] = entry;
    }
    return entries;
  }();
  uint32_t sum = UINT32_MAX;
  for (const auto *byte = static_cast<const uint8_t *>(data); size > 0; ++byte, --size)
    sum = sum >> 8 ^ table[(sum ^ *byte) & 255];
  return ~sum;
}

// Never 0.
template <typename Sealed>
inline uint64_t SealOf(const Sealed &sealed) {
  return uint64_t{1} << 32 | Checksum(&sealed, sizeof(sealed));
}

inline StateRecord *CurrentState(BoxSlot *slot) {
  return &slot->states[slot->current.load(std::memory_order_relaxed) & 1];
}

inline void StoreTick(StateRecord *record, Tick tick) {
  // Otherwise Load() does not believe it.
  SNOWFLAKE_ASSERT(record->seal.load(std::memory_order_relaxed) == 0 || tick >= record->kept.state.generator.last_tick);
  record->last_tick.store(tick, std::memory_order_release);
  record->last_tick_inverted.store(~tick, std::memory_order_release);
}

// Of the run that is opened next, or of what ids have to be above.
inline void StoreLastTick(BoxSlot *slot, Tick tick) { StoreTick(CurrentState(slot), tick); }

inline void Empty(BoxSlot *slot) {
  for (StateRecord &record : slot->states) record.seal.store(0, std::memory_order_release);
}

// Whether a crash would lose nothing. A node that has lost its lease goes on with clock and last
// tick.
constexpr bool IsEmpty(const NodeState &node) {
  return node.generator.lease.lease_id == 0 && node.retired_count == 0 && node.next_secret == Secret{};
}

template <typename Fill>
inline void Store(BoxSlot *slot, Fill fill) {
  StateRecord *before = CurrentState(slot);
  const uint32_t next = before == &slot->states[0] ? 1 : 0;
  StateRecord *record = &slot->states[next];
  SNOWFLAKE_ASSERT(record->seal.load(std::memory_order_relaxed) == 0);
  std::atomic_thread_fence(std::memory_order_release);
  fill(&record->kept);
  if (IsEmpty(record->kept.state)) return Empty(slot);
  StoreTick(record, record->kept.state.generator.last_tick);
  record->seal.store(SealOf(record->kept), std::memory_order_release);
  slot->current.store(next, std::memory_order_release);
  before->seal.store(0, std::memory_order_release);
}

inline bool LoadState(const StateRecord &record, Kept *kept) {
  const uint64_t seal = record.seal.load(std::memory_order_acquire);
  if (seal == 0) return false;
  std::memcpy(kept, &record.kept, sizeof(*kept));  // its padding is sealed, too
  if (seal != SealOf(*kept)) return false;
  const Tick last_tick = record.last_tick.load(std::memory_order_relaxed);
  if (last_tick != ~record.last_tick_inverted.load(std::memory_order_relaxed)) return false;
  if (last_tick < kept->state.generator.last_tick) return false;
  Recover(&kept->state, last_tick);
  return true;
}

// What a crash left, which is current from now on. False: nothing. If both are sealed, the process
// was killed at the end of a change, and either will do.
inline bool Load(BoxSlot *slot, Kept *kept) {
  for (uint32_t i = 0; i < 2; ++i) {
    if (!LoadState(slot->states[i], kept)) continue;
    slot->current.store(i, std::memory_order_relaxed);
    slot->states[1 - i].seal.store(0, std::memory_order_release);
    return true;
  }
  Empty(slot);
  return false;
}

inline bool IsEmpty(const BoxSlot &slot) { return slot.states[0].seal.load() == 0 && slot.states[1].seal.load() == 0; }

constexpr bool IsNewer(const KeptHorizon &a, const KeptHorizon &b) {
  return a.resets != b.resets ? a.resets > b.resets : a.horizon > b.horizon;
}

// Of those that are whole; -1: none.
inline int NewestRecord(const BoxSlot &slot) {
  int newest = -1;
  for (int i = 0; i < 2; ++i) {
    const HorizonRecord &record = slot.horizons[i];
    const uint64_t seal = record.seal.load(std::memory_order_acquire);
    if (seal == 0 || seal != SealOf(record.kept)) continue;
    if (newest < 0 || IsNewer(record.kept, slot.horizons[newest].kept)) newest = i;
  }
  return newest;
}

// For one process at a time. The padding of `horizon` is zero.
inline void StoreHorizon(BoxSlot *slot, const KeptHorizon &horizon) {
  HorizonRecord *record = &slot->horizons[NewestRecord(*slot) == 0 ? 1 : 0];
  record->seal.store(0, std::memory_order_release);
  std::atomic_thread_fence(std::memory_order_release);
  std::memcpy(&record->kept, &horizon, sizeof(horizon));
  record->seal.store(SealOf(record->kept), std::memory_order_release);
}

// Stores a horizon that may be lower than the newest one, which is removed.
inline void LowerHorizon(BoxSlot *slot, const KeptHorizon &horizon) {
  const int newest = NewestRecord(*slot);
  StoreHorizon(slot, horizon);
  if (newest >= 0) slot->horizons[newest].seal.store(0, std::memory_order_release);
}

inline bool LoadHorizon(const BoxSlot &slot, KeptHorizon *horizon) {
  const int newest = NewestRecord(slot);
  if (newest < 0) return false;
  std::memcpy(horizon, &slot.horizons[newest].kept, sizeof(*horizon));
  return true;
}

inline void EmptyHorizon(BoxSlot *slot) {
  for (HorizonRecord &record : slot->horizons) record.seal.store(0, std::memory_order_release);
}

}  // namespace snowflake
