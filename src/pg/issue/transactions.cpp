// Moves a transaction's slot when it is prepared.
#include "pg/issue/transactions.h"

#include "pg/processes.h"

namespace snowflake {
namespace {
// Valid while this process prepares a transaction that took ids.
FullTransactionId preparing;

void OnTransaction(XactEvent event, void *) {
  if (event == XACT_EVENT_PRE_PREPARE) {
    preparing = InvalidFullTransactionId;
    if (HorizonSlots() == 0) return;
    const OwnSlot own = SlotOfTransaction();
    // Order: after its parallel workers' writes, because it has waited for their end.
    if (!IsOf(*own.slot, own.by)) return;
    preparing = GetTopFullTransactionId();
    own.slot->xid.store(XidFromFullTransactionId(preparing));
  } else if (event == XACT_EVENT_PREPARE && FullTransactionIdIsValid(preparing)) {
    const ptrdiff_t prepared = ProcOfPrepared(preparing) - PreparedXactProcs;
    HorizonSlot *slot = SlotOfTransaction().slot;
    MovePrepared(*slot, slot->lxid.load(), HorizonSlotAt(MaxBackends + static_cast<int>(prepared)),
                 XidFromFullTransactionId(preparing));
    slot->xid.store(0);
    preparing = InvalidFullTransactionId;
  }
}

}  // namespace

void WatchTransactions() { RegisterXactCallback(OnTransaction, nullptr); }

OwnSlot SlotOfTransaction() {
  // Order: none. A leader's pid and lxid are what they were before this worker began.
  const PGPROC *proc = MyProc->lockGroupLeader != nullptr ? MyProc->lockGroupLeader : MyProc;
  const ptrdiff_t number = proc - ProcGlobal->allProcs;
  // The slots after these are for prepared transactions.
  if (number < 0 || number >= MaxBackends) elog(ERROR, "process %d is not one of %d", proc->pid, MaxBackends);
  return {HorizonSlotAt(static_cast<int>(number)), {proc->pid, LocalXid(proc)}, proc != MyProc};
}

void KeepPrepared(const OwnSlot &own) {
  const HorizonSlot &slot = *own.slot;
  // Order: none. If another process of this transaction has changed these, it moved the earlier
  // transaction before.
  if (IsOf(slot, own.by) || !slot.of_worker.load(std::memory_order_relaxed)) return;
  const uint32_t lxid = slot.lxid.load(std::memory_order_acquire);
  const int proc_number = static_cast<int>(own.slot - HorizonSlotAt(0));
  // While this is held, no prepared transaction leaves its PGPROC to another.
  LWLockAcquire(TwoPhaseStateLock, LW_SHARED);
  for (int i = 0; i < max_prepared_xacts; ++i)
    if (lxid != 0 && WasOf(&PreparedXactProcs[i], proc_number, lxid))
      MovePrepared(slot, lxid, HorizonSlotAt(MaxBackends + i), PreparedXactProcs[i].xid);
  LWLockRelease(TwoPhaseStateLock);
}

}  // namespace snowflake
