// The keeper's own state: whose node it keeps, and at which registry. Here, and nowhere else, is chosen
// whether that is the registry in this database or one elsewhere.
#pragma once

#include "core/keeper.h"
#include "pg/keeper/registry.h"
#include "pg/state/node_block.h"

namespace snowflake {

// This process's, a keeper's.
struct Keeping {
  NodeBlock *node;
  Oid extension;  // whose registry it asks
  const Registry *registry;
  char *conninfo;       // of one elsewhere, ...
  TargetFound found;    // ... and what was found there
  KeeperAction failed;  // what failed last and has not succeeded since; kSleep: nothing
  int failed_sqlstate;  // ... and with what
  int64_t ranges_us;    // how long the last exchange for ranges took
  bool ranges_failed;   // ... or that it had no answer
  int ranges_from;      // the place of the segment that is then asked for next
  bool advised;         // of what an operator should know
  bool slow;            // the last exchange took too long for windows to last
};
extern Keeping keeping;

// Set by the signal's handler: what an exchange under way brings must not be put to use.
extern volatile sig_atomic_t stop_requested;

RegistryTarget TargetOfRegistry();

// SF001: what makes a registry's answer unfit.
[[noreturn]] void ReportOlderTimeline(const Standing &standing, const RegistrySeen &seen);
[[noreturn]] void ReportUnusable(const char *what);

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

// From here on nothing is issued; the lease waits to be given back.
void CloseGenerator();

// This database issues no ids any more, until somebody asks the next extension for one.
void ForgetIds();

// Before the keeper ends in good order.
void TidyUp();

}  // namespace snowflake
