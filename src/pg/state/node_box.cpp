// Writes nodes and horizons to the black box, and puts them back.
#include "pg/state/node_box.h"

#include "pg/settings.h"
#include "pg/state/data_directory.h"
#include "pg/state/server_clock.h"

namespace snowflake {
namespace {
BoxState *shared = nullptr;

// While a block is made.
ServerTime made_at;
int64_t newest_sign_us;

void FindSign(int64_t us) { newest_sign_us = Max(newest_sign_us, us); }

void FindSignOfHorizon(const KeptHorizon &kept) {
  if (kept.horizon > 0) FindSign(kept.layout.UnixUsOf(kept.horizon));
}

// No other process has the block yet. Returns why the state is not used; nullptr: it is.
const char *RestoreNode(int number, const Kept &kept) {
  NodeBlock *node = NodeAt(number);
  for (int i = 0; i < number; ++i)
    if (NodeAt(i)->database == kept.database) return "It has that database twice.";
  if (!BootIsKnown() && kept.state.clock.read.steady_us > made_at.reading.steady_us)
    return "By its monotonic clock, it is of another boot.";
  node->database = kept.database;
  node->extension = kept.extension;
  node->recovered = true;
  node->state = kept.state;
  node->registry = kept.registry;
  memcpy(node->node_name, kept.node_name, sizeof(node->node_name));
  if (kept.state.clock.read.steady_us != 0) FindSign(SignOf(kept.state.clock, made_at.reading));
  return nullptr;
}

// Puts back a horizon that may have been reported. Without a lease it can be later than the node's
// last tick.
bool RestoreHorizon(int number, const KeptHorizon &kept) {
  NodeBlock *node = NodeAt(number);
  for (int i = 0; i < NodeSlots(); ++i)
    if (i != number && NodeAt(i)->database == kept.database) return false;
  if (!OidIsValid(node->database)) GiveNode(node, kept.database);
  if (node->database != kept.database) return false;
  HorizonBlock *horizon = HorizonOf(node);
  horizon->extension = kept.extension;
  horizon->layout = kept.layout;
  horizon->resets = kept.resets;
  horizon->answered = horizon->highest = kept.horizon;
  // Nothing below it may appear.
  if (!node->state.generator.open && kept.horizon > 0)
    GoOnAfter(&node->state, kept.layout, LastTickBelow(kept.layout, kept.horizon), made_at);
  return true;
}

// Takes what the box has of a node from before the restart, and empties the rest. Returns whether
// there is a lease.
bool Restore(int number) {
  BoxSlot *slot = SlotOf(number);
  Kept kept = {};
  const bool is_empty = IsEmpty(*slot);
  const char *fault = Load(slot, &kept) ? RestoreNode(number, kept) : "It is half written, or was changed.";
  const bool is_used = fault == nullptr;
  if (!is_used) Empty(slot);
  if (!is_used && !is_empty)
    ereport(LogLevel(LOG), (errmsg("snowflake: a database does not continue with its state in the black box, and "
                                   "acquires a new lease"),
                            errdetail_internal("%s", fault)));
  KeptHorizon horizon = {};
  if (LoadHorizon(*slot, &horizon)) FindSignOfHorizon(horizon);
  return is_used && kept.state.generator.open;
}

// When it is known what time it is: the node's clock and horizon go on.
void GoOn(int number) {
  NodeBlock *node = NodeAt(number);
  if (node->recovered) {
    Resume(&node->state, made_at, ConfiguredPolicy());
    NoteWindow(node);
  }
  BoxSlot *slot = SlotOf(number);
  KeptHorizon horizon = {};
  if (LoadHorizon(*slot, &horizon) && RestoreHorizon(number, horizon))
    HorizonOf(node)->shown = horizon.horizon;
  else
    EmptyHorizon(slot);
}

// For horizons that the box does not have.
void RestoreFromDirectory(const KeptHorizon &kept) {
  int number = -1;
  for (int i = 0; i < NodeSlots(); ++i) {
    const Oid database = NodeAt(i)->database;
    if (database == kept.database || (number < 0 && !OidIsValid(database))) number = i;
    if (database == kept.database) break;
  }
  if (number < 0) return;
  HorizonBlock *horizon = HorizonOf(NodeAt(number));
  // A crash came between the two: the box has what was taken back.
  if (horizon->resets < kept.resets) {
    if (horizon->answered != 0) GoBack(&NodeAt(number)->state);
    horizon->answered = horizon->shown = 0;
    if (BoxSlot *slot = shared->id != 0 ? SlotOf(number) : nullptr) EmptyHorizon(slot);
  }
  // What was reported is below the limit, and what was issued, below the clock. Neither is shown,
  // because a transaction that was prepared may have ids below it. A clock in doubt says nothing.
  const bool doubted = IsInDoubt(made_at);
  if (horizon->answered == 0 && RestoreHorizon(number, kept)) {
    const int64_t now = LowestId(kept.layout, kept.layout.TickAt(made_at.reading.wall_us));
    horizon->answered = horizon->highest = Max(kept.horizon, doubted ? 0 : now);
  }
  // An older file is one that was put back.
  if (horizon->resets == kept.resets) horizon->stored = doubted ? horizon->highest.load() : kept.horizon;
}

}  // namespace

void RestoreNodes(BoxState *state, const char *block) {
  shared = state;
  shared->id = OpenBlackBox(block, NodeSlots());
  made_at = LookAtTime();
  newest_sign_us = kNoSign;
  int leases = 0;
  for (int i = 0; i < NodeSlots() && shared->id != 0; ++i) leases += Restore(i);
  if (leases > 0)
    ereport(LogLevel(LOG), (errmsg_plural("snowflake: %d database continues with its previous lease",
                                          "snowflake: %d databases continue with their previous leases",
                                          static_cast<unsigned long>(leases), leases)));
  ForEachKeptHorizon(FindSignOfHorizon);
  made_at = StartServerClock(made_at.reading, newest_sign_us);
  for (int i = 0; i < NodeSlots() && shared->id != 0; ++i) GoOn(i);
  ForEachKeptHorizon(RestoreFromDirectory);
}

void UseBox(BoxState *state, const char *block) {
  // One process that issues ids cannot write to it, so from here on none does.
  if (!FindBlackBox(block, state->id)) state->id = 0;
  shared = state;
}

void LookAfterBox() {
  if (shared->id == 0) return;
  const char *fault = FaultOfBox();
  const bool known = shared->is_missing.exchange(fault != nullptr);
  if (fault != nullptr && BoxIsCut()) {
    RemoveBox();
    shared->id = 0;
  }
  if (fault != nullptr && !known) TellBoxLost(fault);
}

bool HasBox() { return shared->id != 0 && !shared->is_missing; }

BoxSlot *SlotOf(const NodeBlock *node) {
  // Requires: the node's lock, its horizon's or that of the slots.
  Assert(IsHeld(node->lock) || IsHeld(HorizonOf(node)->lock) || IsHeld(*SlotsLock()));
  return shared->id != 0 ? SlotOf(NumberOf(node)) : nullptr;
}

void KeepHorizonInBox(const NodeBlock *node, const HorizonBlock &horizon, int64_t id, BoxSlot *slot) {
  KeptHorizon kept;
  ToKeep(node, horizon, id, &kept);
  StoreHorizon(slot, kept);
}

void KeepInBox(const NodeBlock *node, BoxSlot *slot) {
  Assert(IsHeldExclusively(node->lock));  // Requires: the node's lock.
  Store(slot, [&](Kept *kept) {
    kept->database = node->database;
    kept->extension = node->extension;
    kept->registry = node->registry;
    kept->state = node->state;
    memcpy(kept->node_name, node->node_name, sizeof(kept->node_name));
  });
}

}  // namespace snowflake
