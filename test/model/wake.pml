/* The owner of a segment's slot, which the keeper reads without a lock (ObserveRanges() in
 * pg/keeper/ranges.cpp), after a process has taken the slot and wakes it (pg/issue/segments.cpp).
 *
 * Claim: the keeper sees the slot, or does not sleep. PostgreSQL promises the barriers in
 * SetLatch() and ResetLatch().
 */
#define MUTEX 0                   /* places */
#define DATABASE 1
#define IS_SET 2
#define PLACES 3
#define THREADS 2

#define SET_LATCH 1               /* orders */
#define RESET_LATCH 2
#include "processor.pml"

bool seen;

proctype Caller(byte me) {
  thread;
  byte is_set;
  atomic {
    lock(MUTEX, EXCLUSIVE);                                           /* AssignSlot() */
    store(DATABASE, 1, PLAIN);
    unlock(MUTEX, EXCLUSIVE);
    full_barrier(SET_LATCH);                                          /* SetLatch() */
    read(IS_SET, PLAIN, is_set, 1);
    if
    :: !is_set -> branch(0); store(IS_SET, 1, PLAIN)
    :: else
    fi;
    finish()
  }
}

proctype Keeper(byte me) {
  thread;
  byte database;
  atomic {
    store(IS_SET, 0, PLAIN);                                          /* ResetLatch() */
    full_barrier(RESET_LATCH);
    read(DATABASE, PLAIN, database, 1);                               /* ObserveRanges() */
    finish();
    seen = database
  }
}

init {
  bool holds;
  atomic {
    if
    :: memory[IS_SET] = 1         /* another process has woken the keeper */
    :: skip
    fi;
    run Processor(0);
    run Processor(1);
    run Caller(0);
    run Keeper(1)
  };
  _nr_pr == 1 + THREADS;
  holds = seen || memory[IS_SET];
  assert(holds)
}
