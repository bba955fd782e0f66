// The keeper's own state: whose node it keeps, and at which registry. Here alone is chosen whether
// that is the registry in this database or one elsewhere.
#pragma once

#include "core/keeper.h"
#include "pg/keeper/registry.h"
#include "pg/state/state_block.h"

namespace snowflake {
struct KeeperFailure {
  KeeperAction action;  // kSleep: none
  int sqlstate;
  bool here;  // on this server
};

// At the end of an exchange, `target` has what it found, until the next one or UseRegistry().
struct Keeping {
  NodeBlock *node;
  RegistryTarget target;
  const Registry *registry;
  KeeperFailure failed;  // the last one, if nothing has succeeded since
  bool hung;             // the log has an exchange that hung, and not yet its cause
  int64_t logged_us;     // when the log had the newest failure of this server's own, monotonic; 0: never
  int64_t ranges_us;     // how long the last exchange for ranges took
  bool ranges_failed;    // ... or that it had no answer
  int ranges_from;       // the slot of the segment that is then asked for next
  int64_t releasing;     // the lease whose release was asked for last
  bool at_new_address;   // of the registry in use, which has not answered there yet
  bool advised;          // of what an operator should know
  bool slow;             // the last exchange took too long for windows to last
  bool goes_on;          // after the last tick of the shutdown before
  bool was_elsewhere;    // before that shutdown
};
extern Keeping keeping;  // of this process, a keeper

// Set by the signal's handler: the answer of an exchange under way must not be used.
extern volatile sig_atomic_t stop_requested;

// SF001: what makes a registry's answer unfit.
[[noreturn]] void ReportOlderTimeline(const Standing &standing, const RegistrySeen &seen);
[[noreturn]] void ReportUnusable(const char *what);

// Becomes its node's keeper until the process ends; false if there is one.
bool Attach();

// Stores the node's name for the registry and the view.
void NameNode();

// Goes on with this extension's registry. If that differs from the previous one, its lease is void.
void SetExtension(Oid extension);

// Finds the address of the registry in use: the setting's or, if that has changed meanwhile, none,
// except for this database's own tables.
void UseRegistry();

// Goes on with the registry that snowflake.registry leads to. The old one's lease was released, or
// could not be.
void FollowRegistry();

// From here on nothing is issued; the lease waits to be released.
void CloseGenerator();

}  // namespace snowflake
