// What a node asks of a registry, and what that answers: the three exchanges of section 4 of the design, and the one of segments.
#pragma once

#include <cstdint>

#include "core/lease.h"
#include "core/segment.h"

namespace snowflake {

// Where a registry stands, as its answers say. If timeline or word go back, it has lost commits or is
// an old one.
struct Standing {
  int64_t system_identifier;
  int64_t timeline;
  Tick raised_tick;  // no id of this tick or before it is wanted any more
  int64_t word_us;   // when the operator last said there that commits were lost: it overrules the timeline
};

// A word of the future would rule out all that come before it: from further ahead than clocks may differ
// it counts as none.
constexpr int64_t PlausibleWord(int64_t word_us, int64_t now_us) {
  return word_us > now_us + kMaxLeaseUs ? 0 : word_us;
}

inline constexpr int kMaxNodeName = 256;  // bytes

struct AcquireRequest {
  const char *node;  // its name, for people
  int32_t datacenter;
  Tick now;
  int64_t duration_us;
  SecretHash secret_hash;  // asked again with it, the registry gives the same lease
  int64_t seen_lease_id;   // the highest that the node has seen of this registry; 0: none
  Tick start_before;       // nothing is drawn unless the window begins before it
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
  int32_t worker;     // of the lease, as the node has it
  Tick window_start;  // likewise
  Tick latest_end;    // a window's end beyond it is refused, unless the registry knows of it
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
  Tick latest_end;  // as above
  Tick floor;       // the watermark is no lower, as far as the window goes
};

// Of one segment: what comes back, and how much is asked for.
struct RangeAsk {
  const char *name;
  int64_t segment_id;  // as the node knows it; 0: not yet
  int64_t highest;     // of the numbers that the node has had
  int64_t unused;      // so many up to there come back
  int64_t wanted;      // below 0: none
  Secret secret;       // what is handed out is recorded with its hash; it is sent to give numbers back
};

struct RangeAnswer {
  int64_t segment_id;                 // 0: there is no such segment
  Range range;                        // none: it is used up, or nothing was asked for
  char usage_role[kMaxRoleName + 1];  // whose members may use its numbers; empty: every role
};

struct RangesRequest {
  const char *node;
  bool here;  // this database's own node asks
  int count;
  const RangeAsk *asks;
};

// Room for the answers is the asker's.
struct RangesAnswer {
  RangeAnswer *answers;
  Standing standing;
  char known[256];  // names of segments, for who asked for one that is not there
};

}  // namespace snowflake
