// COPY FROM and snowflake_nextval().
#pragma once

namespace snowflake {

// Called once per load of the library.
void WatchCopies();

}  // namespace snowflake
