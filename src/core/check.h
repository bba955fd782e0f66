// Whether an id can come from a node of a registry, by what the registry knows.
//
// The watermark of a worker id is the highest tick that an ended lease may have used. The window is
// that of its lease in use. A tick above the watermark and outside the window was never used. The
// registry cannot decide about the others.
#pragma once

#include <cstdint>

#include "core/layout.h"

namespace snowflake {
struct LeaseHistory {
  Tick watermark;     // kNoWatermark: none
  Tick window_start;  // of the lease in use; none if it is not before the end
  Tick window_end;
};

enum class IdProblem : int32_t {
  kNone,
  kForeign,        // the layout has no such ids
  kFuture,         // later than `latest`
  kNeverAssigned,  // of a tick that no lease of its worker id had
};

// `latest` is the highest tick that a clock can show by now. `history` is null if the worker id
// was never leased.
constexpr IdProblem ProblemOf(const Layout &layout, int64_t id, Tick latest, const LeaseHistory *history) {
  if (id < 0 || !layout.HasRoomFor(id)) return IdProblem::kForeign;
  const Tick tick = layout.Unpack(id).tick;
  if (tick > latest) return IdProblem::kFuture;
  const bool covered = history != nullptr &&
                       (tick <= history->watermark || (tick >= history->window_start && tick < history->window_end));
  return covered ? IdProblem::kNone : IdProblem::kNeverAssigned;
}

}  // namespace snowflake
