/* The lease protocol, for spin: nodes draw, move and give back leases of worker ids at a registry.
 *
 * Claim (G1): no tick of a worker id is used twice. A generator counts upward in its own window, so here a tick is used up
 * with its first id, and twice means: under two leases, or under one that began anew. A second claim: a secret never
 * has two live leases, so whoever asks again uses up no second worker id.
 *
 * Clocks show anything: a request may carry any time and any duration, the registry may think any window over, an id may
 * be of any tick of the window. So windows begin and end at any tick that the rules allow, and no clock is modelled.
 *
 * The network loses, delays, repeats and reorders, and an exchange that its node gave up may still be executed, at any
 * time and more than once. So requests are not kept: what one of them may do is done at any time, or never.
 *
 * Lease ids and secrets are not numbered: `hold` says whether the row of its worker id is still the lease that a node
 * means, which is what the registry finds by comparing lease id, secret and role. So nothing but the ticks bounds a run:
 * leases, exchanges and crashes may be any number.
 *
 * With -DRESUME a node that crashed, or was shut down without reaching the registry, may go on under the lease that its
 * black box kept, and asks again with the secret that it had. With -DREPLAY somebody who has seen the secret of a lease
 * that its node closed and released, repeats that release with another last tick. What a failover may lose is in
 * settling.pml.
 *
 * The rules that can be broken have a flag each, and spin must then find a counterexample: see #ifdef, and `runs`.
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

#define GONE 0                    /* what the row of its worker id is to a node */
#define LIVE 1                    /* still its lease */

typedef Row {                     /* of snowflake_registry, one for each worker id */
  bit there;
  unsigned start : 3;             /* the window: ticks from start to below end */
  unsigned end : 3;
  unsigned asker : 2;             /* node + 1 whose present secret this lease was drawn with; 0: nobody's */
  unsigned back : 3               /* the first tick not used under it, once its node has retired it; 0: it has not */
}

typedef Node {
  unsigned state : 2;             /* the generator: closed, all of it is 0 */
  unsigned worker : 2;
  bit hold;
  unsigned next : 3;              /* the last tick + 1 */
  unsigned end : 3;
  bit asking;                     /* an acquire: it has a secret, and no answer */
  bit answered;                   /* that acquire's answer on its way */
  unsigned a_worker : 2;
  bit a_hold;
  unsigned a_start : 3;
  unsigned a_end : 3
#ifdef DELAYED
  ; unsigned moved : 3            /* an extend's answer on its way: the end; 0: none */
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
  node[who].moved = 0;             /* an answer for another lease than the one in place is thrown away */
#endif
}

inline DropAnswer(who) {
  node[who].answered = 0; node[who].a_worker = 0; node[who].a_hold = GONE; node[who].a_start = 0; node[who].a_end = 0
}

/* ------------------------------------------------------------------------------------------------ the registry's part */

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

/* The row leaves, and its watermark enters, in one transaction. */
inline Leave(id, last) {
  RaiseWatermark(id, last);
  Vanish(id)
}

#define FREE(w) (!row[w].there && watermark[w] < TICKS)

/* A new row: the window begins at the clock, but above the watermark. */
inline Draw(id, by) {
  for (n : 0 .. WORKERS - 1) { assert(by == 0 || row[n].asker != by) }
#ifdef NO_WINDOW_FLOOR
  Pick(from, 1, TICKS);
#else
  Pick(from, watermark[id] + 1, TICKS);
#endif
  Pick(till, from + 1, TICKS + 1);
  row[id].there = 1; row[id].start = from; row[id].end = till; row[id].asker = by
}

/* w := the row that was drawn with this node's present secret; WORKERS: there is none */
inline Asked(by) {
  w = 0;
  do
  :: w < WORKERS && row[w].asker == by -> break
  :: w < WORKERS && row[w].asker != by -> w++
  :: w == WORKERS -> break
  od
}

/* w := any free worker id, more than the ring would choose; WORKERS: none */
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
     :: w < WORKERS -> Draw(w, by + 1)
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

/* held := whether a node that lives, or that may come back, has the row's lease or will have it */
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

/* What may happen to one worker id at any time, but for an acquire that is waited for. */
proctype WorkerId(byte me) {
  do
  /* acquire, with a secret that nobody waits for any more and whose lease is gone: a lease that nobody knows */
  :: atomic { FREE(me) -> Draw(me, 0) }

  /* extend, or acquire with the secret of a live lease; who learns of it is another step */
  :: atomic { row[me].there ->
#ifdef SHRINK
       Pick(from, row[me].start + 1, TICKS + 1);
#else
       Pick(from, row[me].end, TICKS + 1);
#endif
       row[me].end = from
     }

  /* release: the watermark is the last tick, or the registry's clock if that is later, within the window */
  :: atomic { row[me].back ->
#ifdef RELEASE_WITHOUT_WATERMARK
       Vanish(me)
#else
       Pick(mark, row[me].back - 1, row[me].end - 1);
       Leave(me, mark)
#endif
     }

  /* expiry, by whatever clock, needed or not */
  :: atomic { row[me].there ->
#ifdef EXPIRY_WITHOUT_WATERMARK
       Vanish(me)
#else
#ifdef EARLY_EXPIRY
       Pick(mark, row[me].start - 1, row[me].end - 1);    /* the clock that judged it, while the window lasts */
       Leave(me, mark)
#else
       Leave(me, row[me].end - 1)
#endif
#endif
     }

  /* DELETE by anybody: the guard leaves the window's end. Here that is what expiry does, too. */
#ifdef DELETE_WITHOUT_GUARD
  :: atomic { row[me].there -> Vanish(me) }
#endif
#ifdef WATERMARK_DELETED
  :: atomic { watermark[me] -> watermark[me] = 0 }
#endif

  /* evict: the operator's word that a node is dead, never comes back, and issued nothing after a time */
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
  /* The lease secret was sent to release the lease, and is no secret any more: somebody else sends it with the lowest last
   * tick that is accepted. The node has closed the lease before. The clocks agree within the skew, so the registry's
   * clock is no lower than all that was used up to now. */
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

/* ---------------------------------------------------------------------------------------------------------- the node */

/* The lease is closed: its release says what was used, now or later, or never comes. */
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

  /* acquire: also while there is a lease, because the clock stepped back. The secret stays until there is an answer. */
  :: atomic { !node[me].asking && node[me].state != CRASHED ->
       node[me].asking = 1;
#ifdef EARLY_RETIRE
       node[me].early = node[me].next
#endif
     }

  :: atomic { node[me].asking && !node[me].answered && node[me].state != CRASHED -> Acquire(me) }

  /* the answer is lost, or the exchange given up; or the keeper has died, and the secret with it */
  :: atomic { node[me].answered -> DropAnswer(me) }
  :: atomic { node[me].asking -> DropAnswer(me); ForgetSecret(me) }

  :: atomic { node[me].answered ->
       if
       :: skip ->                 /* publish: at the same moment the lease before it is retired with its last tick */
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
       :: skip ->                 /* told to stop meanwhile: given back unused */
          Retire(node[me].a_worker, node[me].a_hold, node[me].a_start)
       fi;
       DropAnswer(me);
#ifdef KEEP_SECRET
       node[me].asking = 0
#else
       ForgetSecret(me)
#endif
     }

  /* extend: the answer, if it comes. Coming late is the same as coming at once and being used late, but for DELAYED. */
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

  /* shutdown, a dropped extension, another registry: closed and then released. Before the registry hears of it the black
   * box says so; until then a shutdown is the same as a crash */
  :: atomic { node[me].state == OPEN ->
       Retire(node[me].worker, node[me].hold, node[me].next);
#ifdef RESUME_RETIRED
       node[me].state = CRASHED
#else
       Close(me)
#endif
     }
#ifdef GIVE_BACK_OPEN
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
