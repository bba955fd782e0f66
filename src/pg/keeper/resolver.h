// Looks up a host's name in a process of its own, because the system's resolver can hang without
// limit: nothing interrupts getaddrinfo(), and it has no deadline.
//
// 1. The process begins as a copy of this one, and detaches from the server's shared memory at
//    once. So a process that outlives the server does not keep it from its next start.
// 2. It ends with exit code 0 or 1, by itself after some seconds: a postmaster that is the init
//    process of a container may inherit it, and treats any other end as a crash.
#pragma once

#include "pg/pg.h"

namespace snowflake {
// The addresses of a name, with commas between, or nullptr and why there are none; palloc'd.
// `await` waits for a descriptor until the deadline.
const char *AddressesOf(const char *name, bool (*await)(int descriptor, int events, int64_t deadline_us),
                        int64_t deadline_us, const char **failure);

// Whether the host is a name, and no address or socket directory.
bool IsName(const char *host);

}  // namespace snowflake
