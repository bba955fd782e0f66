// Where the black box is (core/box.h): a POSIX shared memory object of the operating system, one for a data directory and for a state
// block's layout. It lives through any death of the server's processes and not through a reboot, and no copy of the data directory
// has it.
//
// 1. Its name is made of what tells this data directory from every other that may be there at the same time: device, inode, birth,
//    the system identifier, and the boot.
// 2. An object that somebody else put there, or that is not as it should be, is never used.
// 3. Whoever issues ids writes to the box: a process that does not get at it takes the box away from all, by its name, and after
//    the next crash there is none.
#pragma once

#include "core/box.h"
#include "pg/pg.h"

namespace snowflake {

// For a state block that is made anew, of the name of its layout: libraries that lay it out otherwise may be in use at the same time,
// each with a box of its own. Hands `keep` what the life before left, each with its place, and says which box it is; 0: there is none,
// which was told. What `keep` and `keep_horizon` do not want is not kept any longer. In the postmaster, or under the lock of who makes
// the block.
uint64_t OpenBlackBox(const char *block, int slots, bool (*keep)(int number, const Kept &kept, void *argument),
                      bool (*keep_horizon)(int number, const KeptHorizon &kept, void *argument), void *argument);

// In a process that came later and did not inherit it. False: it is not to be had, and was taken away. Error: 58030 when that failed.
bool FindBlackBox(const char *block, uint64_t box);

// Which box this process has; 0: none.
uint64_t BoxId();

// Of a slot; nullptr where there is no box. It may be called under a lock.
BoxSlot *SlotOf(int number);

// Whether the object was truncated: who writes to it then is ended by SIGBUS.
bool BoxIsCut();

// Whether the object of this process's box is whole, and still found by its name. It says what is wrong unless `quiet`.
bool BlackBoxIsThere(bool quiet);

// Makes another one, in a process that saw that it is not: begins (0: it cannot be made), has the caller fill the slots, and
// goes on with it.
uint64_t BeginBox(int slots, bool quiet);
BoxSlot *FreshSlotOf(int number);
void EndBox();

}  // namespace snowflake
