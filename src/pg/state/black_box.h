// Where the black box is (core/box.h): a POSIX shared memory object for each data directory and
// layout of the state block. It survives the server's processes, but no reboot or copy.
//
// 1. Its name is a hash of the data directory's device, inode and birth, system identifier and
//    boot.
// 2. An object of another user, or with a fault, is never used.
// 3. All processes that issue ids write to the box. One that cannot open it removes it for all.
#pragma once

#include "core/box.h"
#include "pg/pg.h"

namespace snowflake {
// For a new state block. `block` names its layout: libraries with another one have their own box.
// Returns which box it is, with what was there before the restart; 0: none, which is logged.
uint64_t OpenBlackBox(const char *block, int slots);

// Of messages about the box: the client of a session need not see them.
inline int LogLevel(int in_postmaster) { return IsUnderPostmaster ? LOG_SERVER_ONLY : in_postmaster; }

// For a process that did not inherit the box. False: it cannot be used and was removed. Error
// 58030: it cannot be removed.
bool FindBlackBox(const char *block, uint64_t box);

// This process's; 0: none.
uint64_t BoxId();

// nullptr: there is no box. May be called under a lock.
BoxSlot *SlotOf(int number);

// Whether the object was truncated: a write would raise SIGBUS.
bool BoxIsCut();

// Whether this process's box is whole and still found by its name. Warns if not, unless `quiet`.
bool BlackBoxIsThere(bool quiet);

// Replaces a box that is not: BeginBox() makes one (0: it cannot), the caller fills the slots,
// EndBox() switches to it.
uint64_t BeginBox(int slots, bool quiet);
BoxSlot *FreshSlotOf(int number);
void EndBox();

}  // namespace snowflake
