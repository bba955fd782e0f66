// Where the black box is (core/box.h): a POSIX shared memory object for each data directory and
// layout of the state block. It survives the server's processes, but no reboot or copy.
//
// 1. Its name is a hash of the device, inode and birth of the data directory and of its control
//    file, of the system identifier and of the boot. So a copy of the directory does not find it. A
//    file in the directory would be copied, and two servers would issue ids under one lease.
// 2. An object of another user, or with a fault, is never used.
// 3. All processes that issue ids write to the box that they inherited or opened, also if its name
//    is lost. If one cannot open it, or it was truncated, nobody writes to it any more; before that
//    it is made such that no start of the server finds or believes it.
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

// Whether a box that is found is of this boot for certain: some systems do not name their boots.
bool BootIsKnown();

// nullptr: there is no box. May be called under a lock.
BoxSlot *SlotOf(int number);

// Whether the object was truncated: a write would raise SIGBUS.
bool BoxIsCut();

// Why a start of the server would not find or believe this process's box; nullptr: it would.
const char *FaultOfBox();

// Warns of that.
void TellBoxLost(const char *fault);

// No start of the server finds this process's box from here on, nor believes it if it is found.
void RemoveBox();

}  // namespace snowflake
