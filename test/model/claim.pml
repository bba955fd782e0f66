/* The highest horizon that may be reported, which ClaimId() in pg/issue/claim.cpp reads without a
 * lock.
 *
 * Claim (G12): if a transaction claims an id without a lock, no sample is above this id, whenever
 * it was taken.
 *
 * A run with ids from 3 on is open. Then the clock steps back, the node acquires another worker id,
 * and ids begin at 1. A transaction takes its first id before or after that, and claims this id or
 * the next one. It takes the next one from the run without the lock, or under it if the run has
 * ended.
 */
#define GENERATOR_LOCK 0          /* places */
#define HORIZON_LOCK 1
#define NEXT 2                    /* the lowest id that is still to come, unless a run is open */
#define WORD 3                    /* OpenRun, with the next id in place of how many are issued */
#define FIRST 4                   /* of the transaction's slot */
#define LXID 5
#define HIGHEST 6
#define PLACES 7
#define THREADS 3

#define TAKE 1                    /* orders */
#define PUT_LEASE 2
#define NOTE_FIRST 3
#define NOTE_LXID 4
#define NOTE_LOWER 5
#define KEPT 6                    /* its changes are atomic: open_run.pml */
#include "processor.pml"

#define word_of(serial) ((serial) * 8)
#define next_of(word) ((word) & 7)
#define serial_of(word) ((word) >> 3)
#define loaded_at(at) access(at).value

byte claimed, samples[2];

/* EndRun() */
inline end_run(next) {
  load_exclusive(WORD, KEPT, at_word);
  store_exclusive(WORD, 0, KEPT);
  load(NEXT, PLAIN, next);
  !is_pending(at_word) && !is_pending(next);
  next = (loaded_at(at_word) -> next_of(loaded_at(at_word)) : loaded_at(next))
}

/* SampleNode() */
inline take_sample(sample) {
  lock(HORIZON_LOCK, EXCLUSIVE);
  lock(GENERATOR_LOCK, EXCLUSIVE);
  end_run(horizon);
  store(NEXT, horizon, PLAIN);
  unlock(GENERATOR_LOCK, EXCLUSIVE);
  read(LXID, ACQUIRE, lxid, 1);
  read(FIRST, ACQUIRE, first, 4);
  if
  :: lxid && first < horizon -> horizon = first
  :: else
  fi;
  read(HIGHEST, ACQUIRE, highest, 6);
  if
  :: horizon > highest -> store(HIGHEST, horizon, PLAIN)
  :: else
  fi;
  unlock(HORIZON_LOCK, EXCLUSIVE);
  samples[sample] = horizon
}

/* One process stands for all that take samples, because they hold a lock. */
proctype Sampler(byte me) {
  thread;
  byte at_word, horizon, lxid, first, highest;
  atomic {
    take_sample(0);
    take_sample(1);
    finish()
  }
}

/* Acquire() of the keeper. */
proctype Keeper(byte me) {
  thread;
  byte at_word, next;
  atomic {
    if
    :: WITHOUT != PUT_LEASE -> lock(HORIZON_LOCK, EXCLUSIVE)
    :: else
    fi;
    lock(GENERATOR_LOCK, EXCLUSIVE);
    end_run(next);
    store(NEXT, 1, PLAIN);
    unlock(GENERATOR_LOCK, EXCLUSIVE);
    if
    :: WITHOUT != PUT_LEASE -> unlock(HORIZON_LOCK, EXCLUSIVE)
    :: else
    fi;
    finish()
  }
}

/* ClaimId() loads the highest horizon, perhaps before the process has loaded the word. */
inline look_early(claims) {
  if
  :: claims -> load(HIGHEST, PLAIN, at_highest); early = true
  :: true
  fi
}

inline look_late(claims) {
  if
  :: claims && !early -> load(HIGHEST, PLAIN, at_highest)
  :: else
  fi
}

/* JoinRun(), or OpenNextRun() with the serial number `fresh`. */
inline take_under_lock(fresh, claims) {
  issue(LOCK, GENERATOR_LOCK, EXCLUSIVE, acquire(TAKE));
  load_exclusive(WORD, KEPT, at_word);
  load(NEXT, PLAIN, at_next);
  look_early(claims);
  !is_pending(at_word) && !is_pending(at_next);
  word = loaded_at(at_word);
  if
  :: !word -> word = word_of(fresh) + loaded_at(at_next)
  :: else
  fi;
  serial = serial_of(word);
  id = next_of(word);
  store_exclusive(WORD, word + 1, KEPT);
  if
  :: !first || (id < first && WITHOUT != NOTE_LOWER) ->
    first = id;
    store(FIRST, id, release(NOTE_FIRST))
  :: else
  fi;
  store(LXID, 1, release(NOTE_LXID));
  unlock(GENERATOR_LOCK, EXCLUSIVE);
  look_late(claims)
}

inline take_without_lock(claims) {
  load_exclusive(WORD, KEPT, at_word);
  look_early(claims);
  !is_pending(at_word);
  word = loaded_at(at_word);
  serial_of(word) == serial;
  id = next_of(word);
  store_exclusive(WORD, word + 1, KEPT);
  look_late(claims)
}

proctype Transaction(byte me) {
  thread;
  byte serial, word, id, first, at_word, at_next, at_highest;
  bool early;
  atomic {
    if
    :: take_under_lock(2, true)
    :: take_under_lock(2, false);
      if
      :: take_without_lock(true)
      :: take_under_lock(3, true)
      fi
    fi;
    finish();
    if
    :: id >= loaded_at(at_highest) -> claimed = id
    :: else
    fi
  }
}

init {
  bool holds;
  atomic {
    memory[WORD] = word_of(1) + 3;
    run Processor(0);
    run Processor(1);
    run Processor(2);
    run Sampler(0);
    run Keeper(1);
    run Transaction(2)
  };
  _nr_pr == 1 + THREADS;
  holds = (!claimed || (samples[0] <= claimed && samples[1] <= claimed));
  assert(holds)
}
