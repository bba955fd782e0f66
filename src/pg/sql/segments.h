// Segments as users see them, and what this database's own node has of them.
#pragma once

namespace snowflake {

// A restored dump raises what the node has of a segment that was there.
void WatchRestoredSegments();

}  // namespace snowflake
