// Dropping the extension, and with it the registry.
#pragma once

namespace snowflake {

// Called once per load of the library.
void WatchDrops();

}  // namespace snowflake
