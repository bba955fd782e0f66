// Where an id can have come from, by what a registry knows.
//
// What a registry handed out of a worker id is known by its watermark, the highest tick that any lease of before may have used,
// and by the window of the lease that lives. What lies above the one and outside the other was never handed out; of the rest
// nobody can tell any more.
#pragma once

#include <cstdint>

#include "core/layout.h"

namespace snowflake {

struct HandedOut {
  Tick watermark;     // kNoWatermark: none
  Tick window_start;  // of the live lease; none where it is not before the end
  Tick window_end;
};

enum class IdProblem : int32_t {
  kNone,
  kForeign,         // the layout makes no such ids
  kFuture,          // later than `latest`
  kNeverHandedOut,  // of a tick that no lease of its worker id had
};

// `latest` is the highest tick that a clock can show by now. `handed_out` of the id's worker id is null where it was never leased.
constexpr IdProblem ProblemOf(const Layout &layout, int64_t id, Tick latest, const HandedOut *handed_out) {
  if (id < 0 || !layout.Holds(id)) return IdProblem::kForeign;
  const Tick tick = layout.Unpack(id).tick;
  if (tick > latest) return IdProblem::kFuture;
  const bool covered = handed_out != nullptr && (tick <= handed_out->watermark ||
                                                 (tick >= handed_out->window_start && tick < handed_out->window_end));
  return covered ? IdProblem::kNone : IdProblem::kNeverHandedOut;
}

}  // namespace snowflake
