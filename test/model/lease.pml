/* The lease protocol, for spin: nodes acquire, extend and release leases of worker ids from a
 * registry.
 *
 * Claim (G1): no tick of a worker id is used twice. A generator counts upward in its own window. So
 * here the first id of a tick uses up the tick, and "twice" means under two leases, or under one
 * lease that began again. A second claim: a secret never has two live leases, so a node that
 * repeats a request uses up no second worker id.
 *
 * Clocks show any time: a request may contain any time and any duration, the registry may consider
 * any window over, an id may be of any tick of the window. So windows begin and end at any tick
 * that the rules allow, and no clock is modelled.
 *
 * The network loses, delays, repeats and reorders. An exchange that its node gave up may still be
 * executed, at any time and more than once. So requests are not stored: what a request may do is
 * done at any time, or never.
 *
 * Lease ids and secrets are not numbered: `hold` tells whether the row of the worker id is still
 * the lease that a node means. The registry finds this by comparing lease id, secret and role. So
 * only the ticks bound a run: the number of leases, exchanges and crashes is not limited.
 *
 * With -DRESUME a node that crashed, or was shut down without reaching the registry, may continue
 * under the lease in its black box, and repeats its request with the same secret. With -DREPLAY
 * another client has seen the secret of a lease that its node closed and released, and repeats that
 * release with another last tick. settling.pml models what a failover may lose.
 *
 * Each rule that can be broken has a flag, and spin must then find a counterexample: see #ifdef,
 * and `runs`.
 */
#ifndef NODES
#define NODES 2
#endif
#ifndef WORKERS
#define WORKERS 2
#endif
#ifndef TICKS
#define TICKS 3                   /* at most 6: they count from 1, and 0 is none */
#endif

#define CLOSED 0                  /* states of a generator */
#define OPEN 1
#define CRASHED 2                 /* its black box holds the lease */

#define GONE 0                    /* `hold`: the row of the worker id is no longer its lease */
#define LIVE 1                    /* `hold`: it still is */

typedef Row {                     /* of snowflake_registry, one for each worker id */
  bit there;
  unsigned start : 3;             /* the window: ticks from start to below end */
  unsigned end : 3;
  unsigned asker : 2;             /* node + 1 whose present secret this lease has; 0: none */
  unsigned back : 3               /* once its node has closed it: the first unused tick */
}

typedef Node {
  unsigned state : 2;             /* the generator: closed, all of it is 0 */
  unsigned worker : 2;
  bit hold;
  unsigned next : 3;              /* the last tick + 1 */
  unsigned end : 3;
  bit asking;                     /* an acquire: it has a secret, and no answer */
  bit answered;                   /* that acquire's answer is on the way */
  unsigned a_worker : 2;
  bit a_hold;
  unsigned a_start : 3;
  unsigned a_end : 3
#ifdef DELAYED
  ; unsigned moved : 3            /* an extend's answer on the way: the end; 0: none */
#endif
#ifdef EARLY_RETIRE
  ; unsigned early : 3
#endif
#ifdef STALE_BOX
  ; unsigned box : 3
#endif
}

Row row[WORKERS];
byte watermark[WORKERS];
int used;                         /* a bit for each tick of each worker id */
Node node[NODES];

#define BIT(w, t) (1 << ((w) * TICKS + (t) - 1))

hidden byte from, till, w, n, mark, held;     /* scratch, dead between two steps */

inline Pick(x, low, high) {       /* x := anything from low to high */
  x = low;
  do
  :: x < high -> x++
  :: break
  od
}

inline Close(who) {
  node[who].state = CLOSED; node[who].worker = 0; node[who].hold = GONE; node[who].next = 0; node[who].end = 0;
#ifdef STALE_BOX
  node[who].box = 0;
#endif
#if defined(DELAYED) && !defined(OTHER_LEASE)
  node[who].moved = 0;             /* an answer for another lease than the present one is ignored */
#endif
}

inline DropAnswer(who) {
  node[who].answered = 0; node[who].a_worker = 0; node[who].a_hold = GONE; node[who].a_start = 0; node[who].a_end = 0
}

/* -------------------------------------------------------------------------- the registry's part */

inline Vanish(id) {
  row[id].there = 0; row[id].start = 0; row[id].end = 0; row[id].asker = 0; row[id].back = 0;
  for (n : 0 .. NODES - 1) {
    if
    :: node[n].worker == id -> node[n].hold = GONE
    :: else
    fi;
    if
    :: node[n].a_worker == id -> node[n].a_hold = GONE
    :: else
    fi
  }
}

inline RaiseWatermark(id, last) {
  if
  :: last > watermark[id] -> watermark[id] = last
  :: else
  fi
}

/* Deletes the row and writes its watermark, in one transaction. */
inline Leave(id, last) {
  RaiseWatermark(id, last);
  Vanish(id)
}

#define FREE(w) (!row[w].there && watermark[w] < TICKS)

/* A new row: the window begins at the clock, but above the watermark. */
inline Assign(id, by) {
  for (n : 0 .. WORKERS - 1) { assert(by == 0 || row[n].asker != by) }
#ifdef NO_WINDOW_FLOOR
  Pick(from, 1, TICKS);
#else
  Pick(from, watermark[id] + 1, TICKS);
#endif
  Pick(till, from + 1, TICKS + 1);
  row[id].there = 1; row[id].start = from; row[id].end = till; row[id].asker = by
}

/* w := the row with this node's present secret; WORKERS: there is none */
inline Asked(by) {
  w = 0;
  do
  :: w < WORKERS && row[w].asker == by -> break
  :: w < WORKERS && row[w].asker != by -> w++
  :: w == WORKERS -> break
  od
}

/* w := any free worker id, not only the ring's choice; WORKERS: none */
inline AnyFree() {
  w = 0;
  do
  :: w < WORKERS && FREE(w) -> break
  :: w < WORKERS -> w++
  :: w == WORKERS -> break
  od
}

inline Acquire(by) {
  Asked(by + 1);
#ifdef NOT_IDEMPOTENT
  w = WORKERS;
#endif
  if
  :: w < WORKERS
  :: w == WORKERS ->
     AnyFree();
     if
     :: w < WORKERS -> Assign(w, by + 1)
     :: else
     fi
  fi;
  if
  :: w < WORKERS ->
     node[by].answered = 1; node[by].a_worker = w; node[by].a_hold = LIVE;
     node[by].a_start = row[w].start; node[by].a_end = row[w].end
  :: else                         /* SF004 */
  fi
}

/* mark := the highest tick used under the row, or the one before its window */
inline LastUsed(id) {
  mark = row[id].end - 1;
  do
  :: mark >= row[id].start && !(used & BIT(id, mark)) -> mark--
  :: else -> break
  od
}

/* held := whether a node that runs, or may run again, has the row's lease or will have it */
inline Held(id) {
  held = row[id].asker != 0;
  for (n : 0 .. NODES - 1) {
    if
#ifdef EVICT_CRASHED
    :: node[n].hold == LIVE && node[n].worker == id && node[n].state == OPEN -> held = 1
#else
    :: node[n].hold == LIVE && node[n].worker == id -> held = 1
#endif
    :: node[n].a_hold == LIVE && node[n].a_worker == id -> held = 1
    :: else
    fi
  }
}

/* What may happen to one worker id at any time, except for an acquire that a node waits for. */
proctype WorkerId(byte me) {
  do
  /* acquire, with a secret of a request that was given up and whose lease is gone: no node knows
   * this lease */
  :: atomic { FREE(me) -> Assign(me, 0) }

  /* extend, or acquire with the secret of a live lease; that a node gets the answer is another
   * step */
  :: atomic { row[me].there ->
#ifdef SHRINK
       Pick(from, row[me].start + 1, TICKS + 1);
#else
       Pick(from, row[me].end, TICKS + 1);
#endif
       row[me].end = from
     }

  /* release: the watermark is the last tick, or the registry's clock if that is later, limited to
   * the window */
  :: atomic { row[me].back ->
#ifdef RELEASE_WITHOUT_WATERMARK
       Vanish(me)
#else
       Pick(mark, row[me].back - 1, row[me].end - 1);
       Leave(me, mark)
#endif
     }

  /* expiry, by any clock, needed or not */
  :: atomic { row[me].there ->
#ifdef EXPIRY_WITHOUT_WATERMARK
       Vanish(me)
#else
#ifdef EARLY_EXPIRY
       Pick(mark, row[me].start - 1, row[me].end - 1);    /* the deciding clock, in the window */
       Leave(me, mark)
#else
       Leave(me, row[me].end - 1)
#endif
#endif
     }

  /* DELETE by any role: the guard leaves the window's end as the watermark. Here expiry does the
   * same. */
#ifdef DELETE_WITHOUT_GUARD
  :: atomic { row[me].there -> Vanish(me) }
#endif
#ifdef WATERMARK_DELETED
  :: atomic { watermark[me] -> watermark[me] = 0 }
#endif

  /* evict: the operator states that a node is dead, never runs again, and issued nothing after a
   * time */
  :: atomic { row[me].there ->
       Held(me);
#ifdef EVICT_ALIVE
       held = 0;
#endif
       if
       :: !held ->
          LastUsed(me);
#ifdef EVICT_EARLY
          Pick(mark, row[me].start - 1, row[me].end - 1);
#else
          Pick(mark, mark, row[me].end - 1);
#endif
          Leave(me, mark)
       :: else
       fi
     }

#ifdef REPLAY
  /* The lease secret was sent to release the lease, so it is no longer secret: another client sends
   * it with the lowest last tick that is accepted. The node has closed the lease before. The clocks
   * agree within the skew, so the registry's clock is no lower than all ticks used until now. */
  :: atomic { row[me].there ->
       for (n : 0 .. NODES - 1) {
         if
         :: node[n].hold == LIVE && node[n].worker == me -> Close(n)
         :: else
         fi;
         if
         :: node[n].a_hold == LIVE && node[n].a_worker == me -> DropAnswer(n)
         :: else
         fi
       }
#ifdef NO_FLOOR
       mark = row[me].start - 1;
#else
       LastUsed(me);
       Pick(mark, mark, row[me].end - 1);
#endif
       Leave(me, mark)
     }
#endif
  od
}

/* ------------------------------------------------------------------------------------- the node */

/* The lease is closed: its release reports the ticks used, now or later, or never arrives. */
inline Retire(id, is, first) {
  if
#ifdef NO_SECRET_CHECK
  :: row[id].there && first >= row[id].start && first <= row[id].end -> row[id].back = first
#else
  :: is == LIVE -> row[id].back = first
#endif
  :: else
  fi
}

inline ForgetSecret(me) {
  node[me].asking = 0;
  for (w : 0 .. WORKERS - 1) {
    if
    :: row[w].asker == me + 1 -> row[w].asker = 0
    :: else
    fi
  }
}

inline Use(me) {
  Pick(from, node[me].next, node[me].end - 1);
  w = node[me].worker;
  assert(!(used & BIT(w, from)));
  used = used | BIT(w, from);
#ifdef STALE_BOX
  node[me].box = node[me].next;
#endif
  node[me].next = from + 1
}

proctype ANode(byte me) {
  do
  :: atomic { node[me].state == OPEN && node[me].next < node[me].end -> Use(me) }

  /* acquire: also while there is a lease, because the clock stepped back. The secret stays until an
   * answer arrives. */
  :: atomic { !node[me].asking && node[me].state != CRASHED ->
       node[me].asking = 1;
#ifdef EARLY_RETIRE
       node[me].early = node[me].next
#endif
     }

  :: atomic { node[me].asking && !node[me].answered && node[me].state != CRASHED -> Acquire(me) }

  /* the answer is lost, or the exchange was given up, or the keeper died, and the secret with it */
  :: atomic { node[me].answered -> DropAnswer(me) }
  :: atomic { node[me].asking -> DropAnswer(me); ForgetSecret(me) }

  :: atomic { node[me].answered ->
       if
       :: skip ->                 /* publish, and at the same moment close the previous lease */
          if
#ifdef EARLY_RETIRE
          :: node[me].state == OPEN -> Retire(node[me].worker, node[me].hold, node[me].early); node[me].early = 0
#else
          :: node[me].state == OPEN -> Retire(node[me].worker, node[me].hold, node[me].next)
#endif
          :: else
          fi;
          Close(me);
          node[me].state = OPEN; node[me].worker = node[me].a_worker; node[me].hold = node[me].a_hold;
          node[me].next = node[me].a_start; node[me].end = node[me].a_end
       :: skip ->                 /* stopped meanwhile: released unused */
          Retire(node[me].a_worker, node[me].a_hold, node[me].a_start)
       fi;
       DropAnswer(me);
#ifdef KEEP_SECRET
       node[me].asking = 0
#else
       ForgetSecret(me)
#endif
     }

  /* extend: the answer, if it arrives. A late arrival is the same as an early arrival that is used
   * late, except with DELAYED. */
#ifdef NO_SECRET_CHECK
#define EXTENDS (node[me].state == OPEN && row[node[me].worker].there)
#else
#define EXTENDS (node[me].state == OPEN && node[me].hold == LIVE)
#endif
#ifdef DELAYED
  :: atomic { EXTENDS -> node[me].moved = row[node[me].worker].end }
  :: atomic { node[me].state == OPEN && node[me].moved > node[me].end -> node[me].end = node[me].moved; node[me].moved = 0 }
#else
  :: atomic { EXTENDS && row[node[me].worker].end > node[me].end -> node[me].end = row[node[me].worker].end }
#endif
#ifdef USE_BEFORE_COMMIT
  :: atomic { node[me].state == OPEN -> Pick(from, node[me].end, TICKS + 1); node[me].end = from }
#endif

  /* extend: the lease is gone */
  :: atomic { node[me].state == OPEN && node[me].hold != LIVE -> Close(me) }

  /* shutdown, a dropped extension, another registry: closed and then released. The black box
   * records this before the registry gets the release; until then a shutdown is the same as a
   * crash */
  :: atomic { node[me].state == OPEN ->
       Retire(node[me].worker, node[me].hold, node[me].next);
#ifdef RESUME_RETIRED
       node[me].state = CRASHED
#else
       Close(me)
#endif
     }
#ifdef RELEASE_OPEN
  :: atomic { node[me].state == OPEN -> Retire(node[me].worker, node[me].hold, node[me].next) }
#endif

  /* crash */
  :: atomic { node[me].state != CLOSED -> Close(me); DropAnswer(me); ForgetSecret(me) }
#ifdef RESUME
  :: atomic { node[me].state == OPEN ->
       node[me].state = CRASHED; DropAnswer(me);
       if
       :: ForgetSecret(me)
       :: skip                    /* the black box has it, too */
       fi;
#ifdef STALE_BOX
       if
       :: node[me].box -> node[me].next = node[me].box; node[me].box = 0
       :: else
       fi
#endif
     }
  :: atomic { node[me].state == CRASHED -> node[me].state = OPEN }
#endif
  od
}

init {
  atomic {
    for (n : 0 .. WORKERS - 1) { run WorkerId(n) }
    for (n : 0 .. NODES - 1) { run ANode(n) }
  }
}
