// What the keeper does: to its node's state, and with the registry's answers. When it does it is decided by core/keeper
// and carried out by process.cpp; errors of the registry pass through here.
#pragma once

#include "core/keeper.h"
#include "pg/issue/node_block.h"
#include "pg/keeper/registry.h"

namespace snowflake {

// This process's, a keeper's.
struct Keeping {
  NodeBlock *node;
  Oid extension;  // whose registry it asks
  const Registry *registry;
  char *conninfo;       // of one elsewhere, ...
  PlaceFound found;     // ... and what was found there
  KeeperAction failed;  // what failed last and has not succeeded since; kSleep: nothing
  int failed_sqlstate;  // ... and with what
  int64_t ranges_us;    // how long the last exchange for ranges took
  bool ranges_failed;   // ... or that it had no answer
  int ranges_from;      // the place of the segment that is then asked for next
  bool advised;         // of what an operator should know
  bool slow;            // the last exchange took too long for windows to last
};
extern Keeping keeping;

RegistryPlace PlaceOfRegistry();

// SF001: what makes a registry's answer unfit.
[[noreturn]] void ReportOlderTimeline(const Standing &standing, const RegistrySeen &seen);
[[noreturn]] void ReportAnswer(const char *what);

// Takes the place of its node's keeper; false when it is taken. It is given back when the process ends.
bool Attach();

// Writes the node's name down for the registry and the view.
void NameNode();

// Goes on with this extension's registry. When it is another one than before, the lease of the old one is void.
void SetExtension(Oid extension);

// snowflake.registry leads to another place than before: once what was leased there is given back, or could not be, the
// keeper goes on at the new one.
bool RegistryMoved();
void FollowRegistry();

// What core/keeper decides by. `other_extension`: a backend asked under another extension than the lease's.
KeeperView Look(bool leaving, bool *other_extension);

// From here on nothing is issued; the lease waits to be given back.
void CloseGenerator();

// This database issues no ids any more, until somebody asks the next extension for one.
void ForgetIds();

// Before the keeper ends in good order.
void TidyUp();

RegistryAnswer Acquire(int64_t duration_us);
RegistryAnswer Extend(int64_t duration_us);
// The oldest lease that waits to be given back. While leaving it takes no longer than a shutdown may.
RegistryAnswer Release(bool leaving);
void DropOldestRetired();

// After an acquire that brought no other worker id, although the clock is behind: ids go on, ahead of it.
void GoOn();
// After a refusal because of the clock.
void AskByOtherClock();
// One message for each of the clock's events.
void TellClockEvents();

// Tells waiting backends, the view and the log how the last exchange went; and how long it took, beside the window that it
// asked for.
void RecordSuccess(KeeperAction action, int64_t took_us, int64_t duration_us);
void RecordFailure(KeeperAction action, int sqlstate, const char *message, const char *detail, bool held_back = false);
void RecordBusy(KeeperAction action);

}  // namespace snowflake
