// What the SQL side arranges when the library is loaded: each once per load.
#pragma once

namespace snowflake {
void WatchCopies();            // COPY FROM calls a twin of the functions that issue (copy.cpp)
void WatchDrops();             // a registry that other nodes use cannot be dropped (drops.cpp)
void WatchRestoredSegments();  // a restored dump raises what this node has of a segment (segments.cpp)

}  // namespace snowflake
