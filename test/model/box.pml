/* The black box, which a start of the server reads after every process has been killed: core/box.h,
 * and MakeObject() in pg/state/black_box.cpp.
 *
 * Claim: what a start accepts is whole and not out of date. The start may come between any two
 * stores in the order in which they are performed. A processor ends all that it has begun, so only
 * a compiler can reorder stores before a kill. The model lets the processor do so, too.
 *
 * The checksum is left out, because it may be right by chance: the order alone must be enough. All
 * writers hold a lock, so one thread can stand for them.
 *
 * TEST is what is written:
 *
 * - STATE: a node's state, by Store(), and its last tick, by StoreLastTick(). A number is issued
 *   after the lock is released. Of lease 1 the ticks 3 and 4 are used, of lease 2 the ticks 1 and
 *   2, of lease 3 the tick 5: their layouts differ.
 * - HORIZON: the horizons 1, 2 and 5, by StoreHorizon(). 1 and 2 are reported. Then LowerHorizon()
 *   drops 5, because a transaction claims the id 3.
 * - HEADER: a new object.
 */
#define STATE 1
#define HORIZON 2
#define HEADER 3

#define GENERATOR_LOCK 0          /* places */
#define SEAL 1
#define KEPT 2                    /* the first word and the last one: here both are the lease */
#define KEPT_END 3
#define LAST_TICK 4
#define INVERTED 5                /* of the same value if it is the complement */
#define ISSUED 6
#define HORIZON_LOCK 7
#define RECORD 8                  /* two times seal, horizon, and a last word of the same value */
#define REPORTED 14
#define CLAIMED 15
#define SLOTS 16
#define PATH 17
#define BOX 18
#define PLACES 19
#define THREADS 1

#define EMPTY 1                   /* orders, of Store() and StoreLastTick() */
#define FENCE 2
#define STORE_TICK 3
#define STORE_INVERTED 4
#define SEALED 5
#define EMPTY_RECORD 6            /* of StoreHorizon() and LowerHorizon() */
#define FENCE_RECORD 7
#define SEALED_RECORD 8
#define DROP_NEWEST 9
#define MADE 10                   /* of MakeObject() */
#include "processor.pml"

inline store_last_tick(tick) {
  store(LAST_TICK, tick, release(STORE_TICK));
  store(INVERTED, tick, release(STORE_INVERTED))
}

/* What others learn leaves the process by a system call, after all that it has stored. */
inline issue_ids(tick) {
  lock(GENERATOR_LOCK, EXCLUSIVE);
  store_last_tick(tick);
  unlock(GENERATOR_LOCK, EXCLUSIVE);
  store(ISSUED, tick, RELEASE)
}

inline keep(lease, last_tick) {                                       /* Store() */
  lock(GENERATOR_LOCK, EXCLUSIVE);
  store(SEAL, 0, release(EMPTY));
  release_fence(FENCE);
  store(KEPT, lease, PLAIN);
  store(KEPT_END, lease, PLAIN);
  store_last_tick(last_tick);
  store(SEAL, 1, release(SEALED));
  unlock(GENERATOR_LOCK, EXCLUSIVE)
}

inline store_horizon(record, horizon) {
  store(record, 0, release(EMPTY_RECORD));
  release_fence(FENCE_RECORD);
  store(record + 1, horizon, PLAIN);
  store(record + 2, horizon, PLAIN);
  store(record, 1, release(SEALED_RECORD))
}

proctype Writers(byte me) {
  thread;
  atomic {
#if TEST == STATE
    issue_ids(4);
    keep(2, 1);
    issue_ids(2);
    keep(3, 5);
#elif TEST == HORIZON
    lock(HORIZON_LOCK, EXCLUSIVE);                                    /* SampleNode() */
    store_horizon(RECORD + 3, 2);
    unlock(HORIZON_LOCK, EXCLUSIVE);
    store(REPORTED, 2, RELEASE);
    lock(HORIZON_LOCK, EXCLUSIVE);
    store_horizon(RECORD, 5);
    unlock(HORIZON_LOCK, EXCLUSIVE);
    lock(HORIZON_LOCK, EXCLUSIVE);                                    /* LowerHorizon() */
    store_horizon(RECORD + 3, 3);
    store(RECORD, 0, release(DROP_NEWEST));
    unlock(HORIZON_LOCK, EXCLUSIVE);
    store(CLAIMED, 3, RELEASE);
#else
    store(SLOTS, 1, PLAIN);
    store(PATH, 1, PLAIN);
    release_fence(MADE);
    store(BOX, 1, PLAIN);
#endif
    finish()
  }
}

#define lease_of(tick) ((tick) >= 5 -> 3 : ((tick) >= 3 -> 1 : ((tick) >= 1 -> 2 : 0)))
#define first_tick_of(lease) (lease == 1 -> 3 : (lease == 2 -> 1 : 5))

#define is_sealed(record) memory[RECORD + 3 * record]
#define horizon_of(record) memory[RECORD + 3 * record + 1]
#define end_of(record) memory[RECORD + 3 * record + 2]
#define is_whole(record) (!is_sealed(record) || horizon_of(record) == end_of(record))
#define higher(a, b) (a > b -> a : b)

proctype Start() {
  byte lease, issuing, tick, horizon;
  bool holds = true;
  atomic {
#if TEST == STATE                                                     /* Load() */
    lease = memory[KEPT];
    tick = memory[LAST_TICK];
    if
    :: memory[SEAL] && tick == memory[INVERTED] && tick >= first_tick_of(lease) ->
      issuing = lease_of(memory[ISSUED]);
      holds = memory[KEPT_END] == lease && lease_of(tick) == lease &&
              (issuing < lease || (issuing == lease && memory[ISSUED] <= tick))
    :: else
    fi;
#elif TEST == HORIZON                                                 /* LoadHorizon() */
    horizon = higher(is_sealed(0) * horizon_of(0), is_sealed(1) * horizon_of(1));
    holds = is_whole(0) && is_whole(1) && horizon >= memory[REPORTED] &&
            (!memory[CLAIMED] || horizon <= memory[CLAIMED]);
#else                                                                 /* MapObject() */
    holds = !memory[BOX] || (memory[SLOTS] && memory[PATH]);
#endif
    assert(holds)
  }
}

init {
  atomic {
    memory[SEAL] = 1;
    memory[KEPT] = 1;
    memory[KEPT_END] = 1;
    memory[LAST_TICK] = 3;
    memory[INVERTED] = 3;
    memory[RECORD] = 1;
    memory[RECORD + 1] = 1;
    memory[RECORD + 2] = 1;
    memory[REPORTED] = 1;
    run Writers(0);
    run Processor(0);
    run Start()
  }
}
