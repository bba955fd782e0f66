// A claim takes the horizon's lock exclusively, so no sample is taken or returned meanwhile: what
// was reported cannot rise above the id, and later samples see the transaction's slot.
//
// For an id that the transaction took itself, its slot is enough. Only a step back of the clock
// makes such an id smaller than earlier ids, and then smaller than `highest`. Another worker id is
// put in place under the horizon's lock, so no sample of before comes later.
#include "pg/issue/claim.h"

#include "pg/database_layout.h"
#include "pg/issue/caller.h"
#include "pg/issue/transactions.h"
#include "pg/state/node_box.h"

namespace snowflake {
namespace {
// After samples were dropped. What a crash leaves counts as reported, and as valid although a
// prepared transaction has the id.
void LowerInBox(NodeBlock *node, const HorizonBlock &horizon) {
  KeptHorizon kept;
  ToKeep(node, horizon, horizon.highest, &kept);
  if (BoxSlot *box = SlotOf(node)) LowerHorizon(box, kept);
}

void NoteClaimed(NodeBlock *node, const OwnSlot &own, int64_t id) {
  WithLock(node, LW_EXCLUSIVE, [&] { NoteFirstId(own.slot, MyDatabaseId, own.by, own.is_leaders, id); });
}

pg_noinline Claimed ClaimUnderLock(NodeBlock *node, Oid fn_oid, Oid extension, const OwnSlot &own, int64_t id) {
  HorizonBlock *horizon = HorizonOf(node);
  const Layout layout = DatabaseLayout(fn_oid);
  const bool is_own = Holds(*own.slot, own.by, id);
  KeepPrepared(own);
  Samples none = {};
  LWLockAcquire(&horizon->lock, LW_EXCLUSIVE);
  // Horizons of other ids do not count: readers begin anew.
  const bool has_samples = horizon->extension == extension && horizon->layout == layout;
  const int64_t reported = has_samples ? horizon->answered.load() : 0;
  const int32_t before = horizon->samples.count;
  const bool covered = Claim(has_samples ? &horizon->samples : &none, reported, id);
  if (covered) {
    NoteHighest(horizon);
    NoteClaimed(node, own, id);
    if (horizon->samples.count < before) LowerInBox(node, *horizon);
  }
  LWLockRelease(&horizon->lock);
  return {covered, is_own, reported};
}

}  // namespace

Claimed ClaimId(Oid fn_oid, int64_t id) {
  const Oid extension = CallersExtension(fn_oid);
  NodeBlock *node = ThisNode(fn_oid, extension);
  const OwnSlot own = SlotOfTransaction();
  // Order: after the transaction learnt of the run of its ids, under the generator's lock.
  if (likely(Holds(*own.slot, own.by, id) && id >= HorizonOf(node)->highest.load())) return {true, true, 0};
  return ClaimUnderLock(node, fn_oid, extension, own, id);
}

}  // namespace snowflake
