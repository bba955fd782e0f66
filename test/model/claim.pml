/* The highest horizon that may be reported, which ClaimId() in pg/issue/claim.cpp reads without a
 * lock.
 *
 * Claim (G12): if a transaction claims an id without a lock, no sample is above this id, whenever
 * it was taken.
 *
 * Ids begin at 3. Then the clock steps back, the node acquires another worker id, and ids begin at
 * 1. A transaction takes an id before or after that, and claims it.
 */
#define GENERATOR_LOCK 0          /* places */
#define HORIZON_LOCK 1
#define NEXT 2                    /* the lowest id that is still to come */
#define FIRST 3                   /* of the transaction's slot */
#define LXID 4
#define HIGHEST 5
#define PLACES 6
#define THREADS 4

#define TAKE 1                    /* orders */
#define PUT_LEASE 2
#define NOTE_FIRST 3
#define NOTE_LXID 4
#include "processor.pml"

byte claimed, samples[2];

/* SampleNode() */
proctype Sampler(byte me, number) {
  thread;
  byte horizon, lxid, first, highest;
  atomic {
    lock(HORIZON_LOCK, EXCLUSIVE);
    lock(GENERATOR_LOCK, EXCLUSIVE);
    read(NEXT, ACQUIRE, horizon, 4);
    unlock(GENERATOR_LOCK, EXCLUSIVE);
    read(LXID, ACQUIRE, lxid, 1);
    read(FIRST, ACQUIRE, first, 3);
    if
    :: lxid && first < horizon -> horizon = first
    :: else
    fi;
    read(HIGHEST, ACQUIRE, highest, 4);
    if
    :: horizon > highest -> store(HIGHEST, horizon, PLAIN)
    :: else
    fi;
    unlock(HORIZON_LOCK, EXCLUSIVE);
    finish();
    samples[number] = horizon
  }
}

/* Acquire() of the keeper. */
proctype Keeper(byte me) {
  thread;
  atomic {
    if
    :: WITHOUT != PUT_LEASE -> lock(HORIZON_LOCK, EXCLUSIVE)
    :: else
    fi;
    lock(GENERATOR_LOCK, EXCLUSIVE);
    store(NEXT, 1, PLAIN);
    unlock(GENERATOR_LOCK, EXCLUSIVE);
    if
    :: WITHOUT != PUT_LEASE -> unlock(HORIZON_LOCK, EXCLUSIVE)
    :: else
    fi;
    finish()
  }
}

proctype Transaction(byte me) {
  thread;
  byte id, highest;
  atomic {
    issue(LOCK, GENERATOR_LOCK, EXCLUSIVE, acquire(TAKE));            /* TakeRun() */
    read(NEXT, PLAIN, id, 3);
    branch(0);
    store(NEXT, id + 1, PLAIN);
    store(FIRST, id, release(NOTE_FIRST));
    store(LXID, 1, release(NOTE_LXID));
    unlock(GENERATOR_LOCK, EXCLUSIVE);
    read(HIGHEST, PLAIN, highest, 4);                                 /* ClaimId() */
    finish();
    if
    :: id >= highest -> claimed = id
    :: else
    fi
  }
}

init {
  bool holds;
  atomic {
    memory[NEXT] = 3;
    run Processor(0);
    run Processor(1);
    run Processor(2);
    run Processor(3);
    run Sampler(0, 0);
    run Sampler(1, 1);
    run Keeper(2);
    run Transaction(3)
  };
  _nr_pr == 1 + THREADS;
  holds = (!claimed || (samples[0] <= claimed && samples[1] <= claimed));
  assert(holds)
}
