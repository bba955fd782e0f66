// Looks up a host's name in a process of its own, because the system's resolver can hang for as long
// as it likes: nothing interrupts getaddrinfo(), and it keeps no deadline.
//
// 1. The process begins as a copy of this one, and gives the server's shared memory back at once: one
//    that outlives the server does not keep it from its next start.
// 2. It ends with exit code 0 or 1, by itself after some seconds: a postmaster that is the init
//    process of a container, and so may inherit it, takes any other end for a crash.
#pragma once

#include "pg/pg.h"

namespace snowflake {

struct LookUp {
  pid_t child;
  int answer;  // becomes readable
};

// False, with errno, if there is no process or pipe to be had.
bool StartLookUp(const char *name, LookUp *look_up);

// Once the answer is readable: the addresses, with commas between, or nullptr and what failed; palloc'd.
const char *ReadLookUp(const LookUp &look_up, const char **failure);

// Whatever it does, it ends.
void EndLookUp(const LookUp &look_up);

// Whether it takes a look-up to find the address.
bool IsName(const char *host);

}  // namespace snowflake
