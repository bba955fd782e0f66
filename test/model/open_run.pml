/* The open run, from which all processes issue without a lock: core/open_run.h, WithBox() in
 * pg/state/node_box.h, pg/issue/issue.cpp and next_run.cpp.
 *
 * Claims:
 *
 * - No number is issued twice (G1).
 * - A process that was told of a number before its request gets a larger one (G2). So does one that
 *   was told that numbers were raised. One that was told that the lease was closed gets none.
 * - Whoever ends a run learns how many of its numbers were issued, and no others are issued later.
 * - A sample of the horizon is above no number of a transaction in progress (G12).
 * - What a start of the server finds in the black box covers every number that was returned.
 *
 * The word orders nothing: a change of it is atomic, and no more. No claim needs a clock: a process
 * may issue from a run as late as it likes. A try that fails only loads, so it is left out. The
 * generator is not among the places, because only holders of its lock use it.
 *
 * A tick has three numbers. The transaction of process 0 has the number 1, of the open run. Process
 * 1 knows this run from an earlier transaction. 0 issues one number, and 1 issues two, under the
 * lock whenever they like. TEST is what a third process does:
 *
 * - ORDER: there is none. 0 issues two numbers, and tells 1.
 * - RAISE: the numbers go on at RAISED, and it tells 1. This is also how another lease begins.
 * - CLOSE: it closes the lease, and tells 1.
 * - SEAL: it takes a sample. The transactions do not end.
 * - CRASH: it is the server's start after a crash, which may come at any moment.
 */
#define ORDER 1
#define RAISE 2
#define CLOSE 3
#define SEAL 4
#define CRASH 5

#define GENERATOR_LOCK 0          /* places */
#define WORD 1                    /* OpenRun */
#define SERIAL 2
#define RUN 3                     /* its first number; it has the rest of a tick */
#define MESSAGE 4                 /* later numbers are to be larger */
#define FIRST 5                   /* in the slot of process 1; 0: none */
#define LAST_TICK 6               /* in the black box */
#define RETURNED 7                /* to both clients */
#define PLACES 9
#define THREADS 3

#define ATOMIC 1                  /* rules, and orders; of Issue(): */
#define COMPARE_SERIAL 2
#define END 3                     /* of WithBox() and EndRun(): */
#define END_ATOMIC 4
#define COUNT_UP 5                /* of BeginRun(): */
#define TAKE_FIRST 6              /* of the lock: the first number is taken and noted under it */
#define NOTE_FIRST 7
#define STORE_TICK 8              /* and the last tick is stored */
#define ENTER 9
#define LEAVE 10
#define TELL 11                   /* of messages: */
#define HEAR 12
#include "processor.pml"

#define RAISED 10
#define tick_of(number) (((number) + 2) / 3)
#define word_of(serial) ((serial) * 4)
#define issued_of(word) ((word) & 3)
#define count_of(run) (3 * tick_of(run) + 1 - (run))

byte next = 4;                    /* the generator's next number; 4 begins a tick */
bool closed;

byte issued[5];                   /* two numbers of each process, and the one before; 0: none */
byte told;                        /* what process 1 was told before its second request */
byte ended, sample;               /* what the third process found */

#define is_done(at) !is_pending(at)
#define loaded_at(at) access(at).value

inline enter() {
  at_lock = self.issued;
  issue(LOCK, GENERATOR_LOCK, EXCLUSIVE, acquire(ENTER))
}

#define leave() issue(UNLOCK, GENERATOR_LOCK, EXCLUSIVE, release(LEAVE))

/* Issue(), after the load. */
inline take_share() {
  word = loaded_at(at_word);
  if
  :: WITHOUT == COMPARE_SERIAL -> word != 0 && issued_of(word) < count_of(run_known)
  :: else -> word >= word_of(serial) && word < word_of(serial) + count_of(run_known)
  fi;
  number = run_known + issued_of(word);
  store_exclusive(WORD, word + 1, ATOMIC)
}

inline take_without_lock() {
  load_exclusive(WORD, ATOMIC, at_word);
  is_done(at_word);
  take_share()
}

inline join_run() {
  load(SERIAL, PLAIN, at_serial);
  load(RUN, PLAIN, at_run);
  load_exclusive(WORD, ATOMIC, at_word);
  is_done(at_serial) && is_done(at_run) && is_done(at_word);
  serial = loaded_at(at_serial);
  run_known = loaded_at(at_run);
  take_share()
}

/* EndRun(), up to what it finds. */
inline end_run() {
  if
  :: WITHOUT != END || me != 2 ->
    load_exclusive(WORD, END_ATOMIC, at_word);
    store_exclusive(WORD, 0, END_ATOMIC)
  :: else
  fi;
  load(RUN, PLAIN, at_run);
  is_done(at_lock) && is_done(at_word) && is_done(at_run);
  if
  :: (WITHOUT != END || me != 2) && loaded_at(at_word) ->
    next = next - (count_of(loaded_at(at_run)) - issued_of(loaded_at(at_word)))
  :: else
  fi
}

inline open_run() {
  load(SERIAL, PLAIN, at_serial);
  end_run();
  is_done(at_serial) && !closed;
  run_known = next;
  next = next + count_of(next);
  serial = loaded_at(at_serial) + (WITHOUT != COUNT_UP);
  number = run_known;
  if
  :: TEST == CRASH && WITHOUT != STORE_TICK -> store(LAST_TICK, tick_of(run_known), PLAIN)
  :: else
  fi;
  store(SERIAL, serial, PLAIN);
  store(RUN, run_known, PLAIN);
  store(WORD, word_of(serial) + 1, PLAIN)
}

/* Forgets what is no longer of use: fewer states. */
inline forget() {
  d_step {
    number = 0; word = 0;
    at_lock = 0; at_serial = 0; at_run = 0; at_word = 0; at_message = 0;
    i = 0;
    do
    :: i < self.issued ->
      if
      :: !is_pending(i) ->
        access(i).kind = 0; access(i).place = 0; access(i).value = 0; access(i).own = 0
      :: else
      fi;
      i++
    :: else -> break
    od;
    i = 0;
    if
    :: self.pending == 0 ->
      self.issued = 0; self.loads = 0; self.before_all = 0; self.before_stores = 0
    :: else
    fi
  }
}

inline note_first() {
  if
  :: TEST == SEAL && me == 1 && !issued[me] -> store(FIRST, number, PLAIN)
  :: else
  fi
}

inline request(place) {
  if
  :: issued[me] || me == 0 || WITHOUT == TAKE_FIRST ->
    take_without_lock();
    note_first()
  :: place != 2 ->
    enter();
    if
    :: join_run()
    :: open_run()
    fi;
    if
    :: WITHOUT != NOTE_FIRST -> note_first(); leave()
    :: else -> leave(); note_first()
    fi;
    if
    :: TEST == CRASH && WITHOUT == STORE_TICK -> store(LAST_TICK, tick_of(run_known), PLAIN)
    :: else
    fi
  fi;
  issued[place] = number;
  if
  :: TEST == CRASH -> store(RETURNED + me, number, RELEASE)
  :: TEST == ORDER && me == 0 -> store(MESSAGE, number, release(TELL))
  :: else
  fi
}

proctype Issuer(byte me) {
  thread;
  byte serial = 1, run_known = 1, number, word;
  byte at_lock, at_serial, at_run, at_word, at_message;
  atomic {
    if
    :: request(me);
      if
      :: me == 1 && TEST <= CLOSE ->
        load(MESSAGE, acquire(HEAR), at_message);
        look(at_message, told, RAISED)
      :: else
      fi;
      forget();
      if
      :: me == 1 || TEST == ORDER -> request(me + 2)
      :: true
      fi
    :: true
    fi;
    finish();
    forget(); serial = 0; run_known = 0
  }
}

proctype Third(byte me) {
  thread;
  byte at_lock, at_word, at_run, at_first;
  bool holds;
#if TEST == CRASH
  atomic {
    holds = tick_of(memory[RETURNED]) <= memory[LAST_TICK] &&
            tick_of(memory[RETURNED + 1]) <= memory[LAST_TICK];
    assert(holds)
  }
#else
  atomic {
    enter();
    end_run();
    ended = next;
#if TEST == RAISE
    next = RAISED;
    leave();
    store(MESSAGE, RAISED - 1, release(TELL));
#elif TEST == CLOSE
    closed = true;
    leave();
    store(MESSAGE, RAISED, release(TELL));
#else
    leave();
    load(FIRST, PLAIN, at_first);
    is_done(at_first);
    sample = (loaded_at(at_first) -> loaded_at(at_first) : ended);
#endif
    finish()
  }
#endif
}

init {
  byte i, j, before, after;
  bool holds = true;
  atomic {
    issued[4] = 1;
    memory[WORD] = word_of(1) + 1;
    memory[SERIAL] = 1;
    memory[RUN] = 1;
    memory[LAST_TICK] = 1;
    for (i : 0 .. THREADS - 1) {
      run Processor(i)
    };
    run Issuer(0);
    run Issuer(1);
    if
    :: TEST != ORDER -> run Third(2)
    :: else
    fi
  };
  _nr_pr == 1 + THREADS;
  d_step {
    next = next - (memory[WORD] -> count_of(memory[RUN]) - issued_of(memory[WORD]) : 0);
    for (i : 0 .. 4) {
      for (j : 0 .. 4) {
        holds = holds && (i == j || !issued[i] || issued[i] != issued[j])
      };
      before = before + (issued[i] && issued[i] < RAISED);
      after = after + (issued[i] >= RAISED);
      holds = holds && (!issued[i] || issued[i] < next);
      holds = holds && (!ended || TEST == SEAL || !issued[i] || issued[i] >= RAISED ||
                        issued[i] < ended)
    };
    holds = holds && (!ended || TEST == SEAL || ended == 1 + before);
    holds = holds && next == (TEST == RAISE -> RAISED + after : 1 + before);
    holds = holds && (!issued[2] || issued[2] > issued[0]) && (!issued[3] || issued[3] > issued[1]);
    holds = holds && (!issued[3] || issued[3] > told) && (!issued[1] || issued[1] >= sample)
  };
  assert(holds)
}
