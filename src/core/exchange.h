// What nodes ask and registries answer: section 4 of the design, and the exchange of segments.
#pragma once

#include <cstdint>

#include "core/lease.h"
#include "core/segment.h"

namespace snowflake {
// What a registry's answers show of it. If its timeline or `settle_called_us` goes back, it has
// lost commits or is old.
struct Standing {
  int64_t system_identifier;
  int64_t timeline;
  Tick raised_tick;          // ids must be of a later tick
  int64_t settle_called_us;  // when the operator last reported lost commits there: it overrules the timeline
};

// A call of snowflake_settle() in the future would hide earlier ones. Further ahead than clocks may
// differ, it is ignored.
constexpr int64_t PlausibleSettleCall(int64_t settle_called_us, int64_t now_us) {
  return settle_called_us > now_us + kMaxLeaseUs ? 0 : settle_called_us;
}

// Where a registry is, and as whom it is asked: OIDs there. In a server with the same system
// identifier this is the same registry, and leases are the node's own.
struct RegistryPlace {
  uint32_t database;
  uint32_t extension;
  uint32_t role;

  constexpr bool operator==(const RegistryPlace &other) const {
    return database == other.database && extension == other.extension && role == other.role;
  }
};

inline constexpr int kMaxNodeName = 256;  // bytes

struct AcquireRequest {
  const char *node;  // its name, for people
  int32_t datacenter;
  Tick now;
  int64_t duration_us;
  SecretHash secret_hash;  // a repeated request with the same hash gets the same lease
  int64_t seen_lease_id;   // of the node's newest lease of this registry; 0: none
  Tick start_before;       // no lease unless its window begins before
  bool leapt;              // `now` is of a wall clock that leapt, which the node does not follow yet
};

struct AcquireAnswer {
  Lease lease;  // without its secret
  Layout layout;
  Standing standing;
  int64_t workers_free;  // below 0: not counted
};

struct ExtendRequest {
  int64_t lease_id;
  SecretHash secret_hash;
  Tick now;
  int64_t duration_us;
  Tick held_until;    // the window's end that the node has
  int32_t worker;     // as the node has it
  Tick window_start;  // likewise
  bool leapt;         // as above
};

struct ExtendAnswer {
  Tick window_end;
  Standing standing;
};

struct ReleaseRequest {
  int64_t lease_id;
  Secret secret;
  Tick last_tick;
  Tick held_until;  // as above
};

// Of one segment: what the node releases, and how much it asks for.
struct RangeAsk {
  const char *name;
  int64_t segment_id;  // as the node knows it; 0: not yet
  int64_t highest;     // number that the node has had
  int64_t unused;      // how many up to there are released
  int64_t wanted;      // below 0: none
  Secret secret;       // ranges are recorded with its hash; it is sent to release numbers
};

struct RangeAnswer {
  int64_t segment_id;                 // 0: there is no such segment
  Range range;                        // empty: it is used up, or nothing was asked for
  char usage_role[kMaxRoleName + 1];  // whose members may use its numbers; empty: every role
};

struct RangesRequest {
  const char *node;
  bool here;  // from this database's own node
  int count;
  const RangeAsk *asks;
};

struct RangesAnswer {
  RangeAnswer *answers;  // as many as asks, allocated by the caller
  Standing standing;
  char known[256];  // names of segments, if one that was asked for is missing
};

}  // namespace snowflake
