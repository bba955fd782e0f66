/* The slots of transactions, which a sample of the horizon reads without a lock (TakeSample() in
 * core/horizon.h, Server in pg/issue/horizon.cpp), while transactions write into them.
 *
 * Claim (G12): no sample is above an id of a transaction that is in progress at P, nor above an id
 * that is still to come.
 *
 * Transaction 1 took the id 1, and transaction 2 of the same process takes the id 2; in the slot,
 * their lxids are 1 and 2. Transaction 2 does not end. Both are first ids, taken and noted under
 * the lock. Later ids of a transaction are larger and change nothing in its slot. They, and the end
 * of the open run, are in open_run.pml. TEST says how transaction 1 ends:
 *
 * - COMMITS: it takes its id while the sample is taken, and commits.
 * - PREPARES: it is prepared, and OnTransaction() moves it to the slot TO.
 * - COMMITTED: its parallel workers took the id, and its process does not have the library. So when
 *   it is prepared, nobody moves it. Then it is committed, and another transaction is prepared.
 * - UNKNOWN: the same without the commit, and it is prepared before the sample is taken. A process
 *   of transaction 2 takes an id, and moves transaction 1 before, in KeepPrepared().
 * - STRANGER: the same, if the slot belongs to a process of another database by then.
 * - TAKERS: two processes of transaction 2 do so, a leader and a parallel worker. There is no
 *   sample, but a second claim: what they move is of transaction 1.
 *
 * Of PostgreSQL it relies on what pg/issue/horizon.h lists.
 */
#define COMMITS 1
#define PREPARES 2
#define COMMITTED 3
#define UNKNOWN 4
#define STRANGER 5
#define TAKERS 6

/* Places. */
#define GENERATOR_LOCK 0
#define PROC_ARRAY_LOCK 1
#define TWO_PHASE_LOCK 2
#define NEXT 3                    /* the lowest id that is still to come */
#define FIRST 4                   /* a HorizonSlot, ... */
#define PID 5
#define LXID 6
#define XID 7
#define DATABASE 8
#define OF_WORKER 9
#define PROC_PID 10               /* ... and the PGPROC of its process */
#define PROC_LXID 11
#define PREPARED_LXID 12          /* the PGPROC of the prepared transaction, ... */
#define PREPARED_XID 13
#define TO_FIRST 14               /* ... and its slot */
#define TO_XID 15
#define TO_DATABASE 16
#define RUNNING 17                /* the xid 1 is in progress, as PostgreSQL's list shows */
#define LEFT 18                   /* the process knows that its transaction 1 is prepared */
#define PLACES 19

#define THREADS 3

/* Orders. Of NoteFirstId(): */
#define CLEAR_LXID 1
#define NOTE_FIRST 2
#define CLEAR_XID 3
#define NOTE_DATABASE 4
#define NOTE_PID 5
#define NOTE_OF_WORKER 6
#define NOTE_LXID 7
/* Of TakeSample(), with the lock of Seal() and the barrier of Runs(): */
#define SEAL 10
#define READ_DATABASE 11
#define READ_LXID 12
#define READ_PID 13
#define READ_FIRST 14
#define RUNS 15
#define READ_OF_WORKER 16
#define READ_LXID_AGAIN 17
#define READ_XID 18
#define READ_FIRST_AGAIN 19
/* Of MovePrepared(), KeepPrepared() and OnTransaction(): */
#define MOVE_FIRST 21
#define MOVE_DATABASE 22
#define MOVE_LXID 23
#define MOVED_FIRST 24
#define MOVED_DATABASE 25
#define MOVED_XID 26
#define KEEP_LXID 27
#define PREPARE_XID 28
#define MOVED 29
#define BRANCH 30
#include "processor.pml"

#define MINE 1                    /* database */
#define OTHER 2

inline hold(holds, id) {
  if
  :: (holds) && id < horizon -> horizon = id
  :: else
  fi
}

proctype Sample(byte me) {
  thread;
  byte lxid, by, proc_pid, proc_lxid, database, of_worker, of_prepared, again;
  byte by_xid, xid, to_xid;       /* of those that may be prepared; 0: none */
  byte sealed, first, first_again, to_first, running, horizon;
  bool runs, holds;
  atomic {
    issue(LOCK, GENERATOR_LOCK, EXCLUSIVE, acquire(SEAL));            /* Seal() */
    load(NEXT, PLAIN, sealed);
    unlock(GENERATOR_LOCK, EXCLUSIVE);

    read(DATABASE, acquire(READ_DATABASE), database, 2);              /* Slot() */
    if
    :: database != MINE -> goto next
    :: else
    fi;
    read(LXID, acquire(READ_LXID), lxid, 2);
    load(PID, acquire(READ_PID), by);
    load(FIRST, acquire(READ_FIRST), first);
    if
    :: lxid == 0 -> goto moved
    :: else
    fi;
    load(PROC_PID, PLAIN, proc_pid);                                  /* Runs() */
    load(PROC_LXID, PLAIN, proc_lxid);
    read_barrier(RUNS);
    look(by, by, 2);
    look(proc_pid, proc_pid, 2);
    look(proc_lxid, proc_lxid, 2);
    runs = (proc_pid == by && proc_lxid == lxid);
    if
    :: runs -> goto next
    :: else
    fi;
    read(OF_WORKER, acquire(READ_OF_WORKER), of_worker, 1);
    if
    :: of_worker ->
      read(PREPARED_LXID, PLAIN, of_prepared, 3);                     /* PreparedBy() */
      if
      :: of_prepared == lxid ->
        read(PREPARED_XID, PLAIN, by_xid, 2);
        read(LXID, acquire(READ_LXID_AGAIN), again, 2);
        if
        :: again != lxid -> by_xid = 0
        :: else
        fi
      :: else
      fi
    :: else
    fi;
moved:
    read(XID, acquire(READ_XID), xid, 1);
    load(FIRST, acquire(READ_FIRST_AGAIN), first_again);
next:
    read(TO_DATABASE, acquire(READ_DATABASE), database, 2);
    if
    :: database == MINE ->
      read(TO_XID, acquire(READ_XID), to_xid, 2);
      load(TO_FIRST, acquire(READ_FIRST_AGAIN), to_first)
    :: else
    fi;

    lock(PROC_ARRAY_LOCK, EXCLUSIVE);                                 /* TakeMoment() */
    load(RUNNING, PLAIN, running);
    unlock(PROC_ARRAY_LOCK, EXCLUSIVE);
    finish();

    horizon = access(sealed).value;
    running = access(running).value;
    first = access(first).value;
    first_again = access(first_again).value;
    to_first = access(to_first).value;
    hold(runs || (running && by_xid == 1), first);
    hold(running && xid == 1, first_again);
    hold(running && to_xid == 1, to_first);
    holds = horizon <= 2 && (horizon <= 1 || !running);
    assert(holds)
  }
}

/* Requires: the generator's lock. The slot is not the transaction's yet. */
inline note_first_id(number, pid_of, database, worker) {
  store(NEXT, number + 1, PLAIN);
  store(LXID, 0, release(CLEAR_LXID));
  store(FIRST, number, release(NOTE_FIRST));
  store(XID, 0, release(CLEAR_XID));
  store(DATABASE, database, release(NOTE_DATABASE));
  store(PID, pid_of, release(NOTE_PID));
  store(OF_WORKER, worker, release(NOTE_OF_WORKER));
  store(LXID, number, release(NOTE_LXID))
}

inline take_id(number) {
  store(PROC_LXID, number, PLAIN);                                /* StartTransaction() */
  lock(GENERATOR_LOCK, EXCLUSIVE);
  note_first_id(number, 1, MINE, 0);
  unlock(GENERATOR_LOCK, EXCLUSIVE)
}

/* PrepareTransaction(), from the filling of the PGPROC of the prepared transaction on. */
inline prepare() {
  store(PREPARED_LXID, 1, PLAIN);
  store(PREPARED_XID, 1, PLAIN);
  lock(PROC_ARRAY_LOCK, EXCLUSIVE);                               /* ProcArrayAdd() */
  unlock(PROC_ARRAY_LOCK, EXCLUSIVE);
  lock(PROC_ARRAY_LOCK, EXCLUSIVE);                               /* ProcArrayClearTransaction() */
  store(PROC_LXID, 0, PLAIN);
  unlock(PROC_ARRAY_LOCK, EXCLUSIVE)
}

inline move_prepared(first, database) {
  store(TO_FIRST, first, release(MOVED_FIRST));
  store(TO_DATABASE, database, release(MOVED_DATABASE));
  store(TO_XID, 1, release(MOVED_XID))
}

proctype Process(byte me) {
  thread;
  atomic {
#if TEST == COMMITS
    take_id(1);
    lock(PROC_ARRAY_LOCK, EXCLUSIVE);                             /* ProcArrayEndTransaction() */
    store(RUNNING, 0, PLAIN);
    store(PROC_LXID, 0, PLAIN);
    unlock(PROC_ARRAY_LOCK, EXCLUSIVE);
    take_id(2)
#elif TEST == PREPARES
    store(XID, 1, release(PREPARE_XID));                          /* XACT_EVENT_PRE_PREPARE */
    prepare();
    move_prepared(1, MINE);                                       /* XACT_EVENT_PREPARE */
    store(XID, 0, release(MOVED));
    take_id(2)
#else
    prepare();
    store(LEFT, 1, RELEASE)                                       /* another process begins */
#endif
    ;
    finish()
  }
}

#if TEST >= STRANGER
#define TAKERS_PID 2
#define TAKERS_DATABASE OTHER
#else
#define TAKERS_PID 1
#define TAKERS_DATABASE MINE
#endif

/* Nobody changes what a single taker reads, so the order of its reads means nothing. */
#define ALONE (TEST == TAKERS -> PLAIN : ACQUIRE)

/* Try() in a process of transaction 2. */
proctype Taker(byte me, worker) {
  thread;
  byte lxid, by, of_worker, of_prepared, first, database, again;
  atomic {
    read(LXID, ALONE, lxid, 2);                                       /* KeepPrepared() */
    read(PID, ACQUIRE, by, 2);
    if
    :: lxid == 2 && by == TAKERS_PID -> goto take
    :: else
    fi;
    read(OF_WORKER, ALONE, of_worker, 1);
    if
    :: !of_worker -> goto take
    :: else
    fi;
    read(LXID, acquire(KEEP_LXID), lxid, 2);
    lock(TWO_PHASE_LOCK, SHARED);
    if
    :: lxid != 0 ->
      read(PREPARED_LXID, ACQUIRE, of_prepared, 3);
      if
      :: of_prepared == lxid ->
        read(FIRST, acquire(MOVE_FIRST), first, 2);                   /* MovePrepared() */
        read(DATABASE, acquire(MOVE_DATABASE), database, 2);
        read(LXID, acquire(MOVE_LXID), again, 2);
        if
        :: again == lxid ->
          branch(BRANCH);
          move_prepared(first, database)
        :: else
        fi
      :: else
      fi
    :: else
    fi;
    unlock(TWO_PHASE_LOCK, SHARED);
take:
    branch(BRANCH);
    lock(GENERATOR_LOCK, EXCLUSIVE);
    read(LXID, ACQUIRE, lxid, 2);
    read(PID, ACQUIRE, by, 2);
    if
    :: lxid == 2 && by == TAKERS_PID                                  /* another was faster */
    :: else ->
      branch(BRANCH);
      note_first_id(2, TAKERS_PID, TAKERS_DATABASE, worker)
    fi;
    unlock(GENERATOR_LOCK, EXCLUSIVE);
    finish()
  }
}

/* COMMIT PREPARED of transaction 1. Then transaction 3 is prepared and has its PGPROC. */
proctype Committer(byte me) {
  thread;
  byte left;
  atomic {
    read(LEFT, ACQUIRE, left, 1);
    left == 1;
    lock(PROC_ARRAY_LOCK, EXCLUSIVE);
    store(RUNNING, 0, PLAIN);
    unlock(PROC_ARRAY_LOCK, EXCLUSIVE);
    lock(TWO_PHASE_LOCK, EXCLUSIVE);
    store(PREPARED_LXID, 3, PLAIN);
    store(PREPARED_XID, 2, PLAIN);
    unlock(TWO_PHASE_LOCK, EXCLUSIVE);
    finish()
  }
}

init {
  byte i;
  bool holds;
  atomic {
    memory[NEXT] = 1;
    memory[RUNNING] = 1;
    memory[PROC_PID] = 1;
    memory[PROC_LXID] = 1;
    if
    :: TEST != COMMITS ->
      memory[NEXT] = 2;
      memory[FIRST] = 1;
      memory[PID] = 1;
      memory[LXID] = 1;
      memory[DATABASE] = MINE;
      memory[OF_WORKER] = (TEST >= COMMITTED)
    :: else
    fi;
    if
    :: TEST >= UNKNOWN ->
      memory[PROC_PID] = TAKERS_PID;
      memory[PROC_LXID] = 2;
      memory[PREPARED_LXID] = 1;
      memory[PREPARED_XID] = 1
    :: else
    fi;
    for (i : 0 .. THREADS - 1) {
      run Processor(i)
    }
    if
    :: TEST <= COMMITTED -> run Process(1)
    :: TEST > COMMITTED -> run Taker(1, 1)
    :: TEST > COMMITTED -> run Taker(1, 0)
    fi;
    if
    :: TEST == COMMITTED -> run Committer(2)
    :: else
    fi;
    if
    :: TEST == TAKERS -> run Taker(0, 0)
    :: else -> run Sample(0)
    fi
  }
#if TEST == TAKERS
  _nr_pr == 1 + THREADS;
  holds = !memory[TO_XID] || (memory[TO_FIRST] == 1 && memory[TO_DATABASE] == MINE);
  assert(holds)
#endif
}
