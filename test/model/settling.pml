/* Settling, for spin: a registry fails over to a standby that had not received its newest commits,
 * and again while it settles.
 *
 * Claim (G1): no worker id is used under two leases in one tick. Here there is one clock for all
 * nodes, because settling depends on time: it lasts as long as a lost lease may be used, and this
 * includes the skew that clocks may have. A node uses every tick of its window. lease.pml models
 * what arbitrary clocks do to windows.
 *
 * Commits are rows that are acquired, extended and deleted, with their watermarks. The newest
 * commits, up to LOSS, are lost at once, at any moment (the standby hangs, and takes over). The
 * next exchange sees another timeline, and the registry settles for the LENGTH of a lease: no lease
 * expires, and worker ids come from the reserve, on alternate timelines from its lower and its
 * upper half. Ordinarily they come from the common part, round and round.
 *
 * All times are counted from the present tick, so the length of a run is not limited. They are times
 * of the monotonic clock: a wall clock may show anything, and is set at any moment (WALL).
 *
 * The claim holds under these conditions. If one of them is not met, spin finds a tick that is used
 * twice:
 * - Every node has the same LENGTH.
 * - The common part and half of the reserve are never used up, not even by watermarks (FULL,
 *   RESERVE_FULL, LATER): an acquire that does not fit waits.
 * - While a lost lease of the reserve may be used, no loss leads to a timeline that uses the same
 *   half again: here, there are at most two failovers.
 * - No DELETE of a row is lost whose node still runs: the row comes back and is extended, while a
 *   lost lease has the worker id (DELETES). It would not help to refuse to extend a window that is
 *   over: a window that is still open is extended, too.
 *
 * Two things are not modelled. When the reserve is used up and half of the time has passed, a
 * registry uses the common part, which is an accepted risk. A registry adopts a lease that it does
 * not know, which only -DRESTARTS models.
 *
 * With -DSILENT no timeline shows the loss, as if a copy of the registry was restored: the half of
 * the reserve is then the same, and there is one loss. The only evidence is an exchange that names
 * a lost lease, which the skipped lease ids show, or a later window end than its row has. It is
 * sufficient if it comes before the next lease is acquired, and not if it comes later (UNHEARD).
 *
 * With -DRESTARTS the registry is restarted between the commits that are lost, any number of times.
 * After a restart, acquires begin anywhere in the common part. A second claim is that a lost lease
 * whose worker id is free is adopted. With -DREPORTED the operator reports the loss at once.
 *
 * With -DSTEPPED the lost state is not noticed by a lost lease alone: the registry's machine was
 * reverted with its memory, and its wall clock has been set right since. So the next acquires begin
 * in the farther half of the common part, in the other direction, whoever makes them. The claim holds
 * as long as no more than half of the common part is used, by lost leases and others (HALF_USED).
 *
 * Each rule that can be broken has a flag, and spin must then find a counterexample: see #ifdef,
 * and `runs`.
 */
#ifndef COMMON
#define COMMON 2                  /* worker ids of the common part */
#endif
#ifndef HALF
#define HALF 1                    /* worker ids of each half of the reserve; 7 at most in all */
#endif
#ifndef RING
#define RING 4                    /* both, and the other half: COMMON + 2 * HALF */
#endif
#ifndef NODES
#define NODES 2                   /* at most 5 */
#endif
#ifndef LOSS
#define LOSS 2                    /* commits, at most 7 */
#endif
#ifndef LENGTH
#define LENGTH 2                  /* of a lease, at most 6 */
#endif
#ifndef FAILOVERS
#ifdef SILENT
#define FAILOVERS 1
#else
#define FAILOVERS 2
#endif
#endif

#define NOBODYS (NODES + 1)       /* of a row: its lease was closed, or no node ever knew it */
#define BEYOND 7                  /* windows that would end later are not acquired */

typedef Place {                   /* a worker id */
  unsigned holder : 3;            /* of its row: node + 1, or NOBODYS; 0: there is no row */
  unsigned left : 3;              /* remaining ticks of the window; 0: it is over */
  unsigned ruled_out : 3          /* by the watermark: ticks from the present one on */
}

typedef Node {
  bit open;
  unsigned worker : 3;
  unsigned wait : 3;              /* ticks until its window begins */
  unsigned left : 3;
  bit fresh;                      /* the standby does not know its highest lease id */
  bit lost                        /* ... or did not, when it took over */
#ifdef RESTARTS
  ; bit far                       /* it acquired that lease after more than one restart that is lost */
#endif
}

Place place[RING];
Place kept[RING];                 /* what the standby has, while it hangs */
Node node[NODES];
unsigned last : 2;                /* where the next lease begins in the common part */
unsigned kept_last : 2;
unsigned used : RING;             /* worker ids, in this tick */

bit hangs;                        /* the standby */
unsigned lost : 3;                /* commits that it has not received */
unsigned failovers : 2;
#ifdef RESTARTS
unsigned restarts : 2;            /* while it hangs; 2: more than one */
#endif
bit unnoticed;                    /* the registry does not know yet that it has failed over */
bit in_doubt;                     /* no timeline shows this, and rows are missing or too short */
#ifdef STEPPED
bit back;                         /* acquires go down in the common part */
bit since;                        /* a worker id was in use before the loss, or was acquired after it */
#define FORTH(at) (back -> (at + COMMON - 1) % COMMON : (at + 1) % COMMON)
#else
#define FORTH(at) ((at + 1) % COMMON)
#endif

unsigned settles : 3;             /* for so many ticks */
unsigned kept_settles : 3;

hidden byte p, q, best, many, n, adopts;  /* scratch, dead between two steps */

#ifdef NO_SETTLING
#define BLIND false
#else
#define BLIND unnoticed
#endif
#ifdef UNHEARD
#define DOUBTFUL false
#else
#define DOUBTFUL in_doubt
#endif
#ifdef STEPPED
#ifdef HALF_USED
#define HAS_ROOM true
#else
/* with four worker ids, one of them lost */
#define TAKEN(at) (place[at].holder || place[at].ruled_out)
#define ALL_TAKEN (TAKEN(0) + TAKEN(1) + TAKEN(2) + TAKEN(3))
#define HAS_ROOM (ALL_TAKEN + LOSS + since < COMMON / 2)
#endif
#else
#define HAS_ROOM false
#endif
#define MAY_COMMIT (!hangs || lost < LOSS)
#ifdef NEAR_ONLY
#define HEARD(who) (!node[who].far)
#else
#define HEARD(who) true
#endif

inline Committed() {
  if
  :: hangs -> lost++
  :: else
  fi
}

#define COPY(to, from) \
  for (p : 0 .. RING - 1) { \
    to[p].holder = from[p].holder; to[p].left = from[p].left; to[p].ruled_out = from[p].ruled_out \
  }

/* --------------------------------------------------------------------------------- the registry */

inline Settle() {
#ifdef SHORT_SETTLING
  settles = LENGTH - 1;
#else
  settles = LENGTH;
#endif
  unnoticed = 0; in_doubt = 0
}

/* Every exchange notices another timeline, and names the highest lease id that its node has
 * seen. */
inline Look(who) {
  if
  :: BLIND -> Settle()
  :: else
  fi;
  if
  :: node[who].lost ->
#ifdef ID_IGNORED
     in_doubt = 0
#else
     if
     :: in_doubt && HEARD(who) -> Settle()
     :: else -> in_doubt = 0
     fi
#endif
  :: else
  fi
}

#define KNOWN(who) (place[node[who].worker].holder == who + 1)

/* held_until above the row's end: an extend was lost. */
inline HearEnd(who) {
  if
  :: KNOWN(who) && node[who].left > place[node[who].worker].left ->
#ifdef HELD_IGNORED
     in_doubt = 0
#else
     place[node[who].worker].left = node[who].left;
     if
     :: in_doubt -> Settle()
     :: else
     fi
#endif
  :: else
  fi
}

/* Once a lost lease has a row again, its node names nothing that is lost. */
inline Adopt(who) {
#ifdef RESTARTS
  if
  :: node[who].lost && !place[node[who].worker].holder && !place[node[who].worker].ruled_out ->
     adopts = HEARD(who);
     assert(adopts);
     place[node[who].worker].holder = who + 1; place[node[who].worker].left = node[who].left;
     node[who].lost = 0; node[who].far = 0
  :: else
  fi
#else
  skip
#endif
}

inline Leave(at, until) {
  if
  :: until > place[at].ruled_out -> place[at].ruled_out = until
  :: else
  fi;
  place[at].holder = 0; place[at].left = 0;
  Committed()
}

#ifdef LATER
#define FITS(at) (best == RING || place[best].ruled_out > place[at].ruled_out)
#else
#define FITS(at) (best == RING && place[at].ruled_out == 0)
#endif

/* best := the first of these worker ids without a row and with a watermark in the past; or else, if
 * a window may begin later, the one with the lowest watermark. */
inline Scan(low, high, from) {
  q = from; many = high - low;
  do
  :: many == 0 -> break
  :: many > 0 ->
     if
     :: place[q].holder == 0 && FITS(q) -> best = q
     :: else
     fi;
#ifdef STEPPED
     q = (low > 0 -> (q + 1 == high -> low : q + 1) : FORTH(q));
#else
     q = (q + 1 == high -> low : q + 1);
#endif
     many--
  od
}

#ifdef NO_RESERVE
#define OF_RESERVE false
#else
#define OF_RESERVE (settles > 0)
#endif
#ifdef ONE_END
#define END COMMON
#else
#define END (COMMON + (failovers % 2 == 0 -> HALF : 0))
#endif

/* best: RING, if there is none. */
inline Choose() {
  best = RING;
  if
  :: OF_RESERVE ->
#ifdef RESERVE_FULL
     Scan(COMMON, RING, END)
#else
     Scan(END, END + HALF, END)
#endif
  :: else ->
     Scan(0, COMMON, last);
#ifdef FULL
     if
     :: best == RING -> Scan(COMMON, RING, COMMON)
     :: else
     fi
#endif
  fi
}

#define SHORTEN(ticks) ticks = (ticks > 0 -> ticks - 1 : 0)

/* Uses the present tick. */
inline Use(who) {
  if
  :: node[who].open && node[who].wait == 0 && node[who].left ->
     assert(!(used & (1 << node[who].worker)));
     used = used | (1 << node[who].worker)
  :: else
  fi
}

proctype World() {
  do
  /* the next tick */
  :: atomic {
       used = 0; SHORTEN(settles); SHORTEN(kept_settles);
       for (p : 0 .. RING - 1) {
         SHORTEN(place[p].left); SHORTEN(place[p].ruled_out); SHORTEN(kept[p].left); SHORTEN(kept[p].ruled_out)
       }
       for (n : 0 .. NODES - 1) {
         SHORTEN(node[n].wait); SHORTEN(node[n].left);
         Use(n)
       }
     }

#ifdef WALL
  /* settling is counted by a wall clock that was behind, and is set right */
  :: atomic { settles > 0 -> settles = 0 }
#endif

  /* the standby hangs: commits from now on are lost with the failover */
  :: atomic { !hangs && failovers < FAILOVERS ->
       COPY(kept, place); kept_last = last; kept_settles = settles; hangs = 1;
#if defined(STEPPED) && !defined(HALF_USED)
       since = (ALL_TAKEN > 0)
#endif
     }

#ifdef RESTARTS
  :: atomic { last = (last + 1) % COMMON; restarts = (hangs && restarts < 2 -> restarts + 1 : restarts) }
#endif

  :: atomic { hangs ->
#ifdef SILENT
       for (p : 0 .. RING - 1) {
         if
         :: place[p].holder && place[p].holder != NOBODYS &&
            (place[p].holder != kept[p].holder || place[p].left > kept[p].left) -> in_doubt = 1
         :: else -> used = used & ~(1 << p)  /* no node is left that knows its use */
         fi
       }
#else
       unnoticed = 1;
#endif
       COPY(place, kept);
       for (p : 0 .. RING - 1) { kept[p].holder = 0; kept[p].left = 0; kept[p].ruled_out = 0 }
       for (n : 0 .. NODES - 1) { node[n].lost = node[n].fresh; node[n].fresh = 0 }
       last = kept_last; kept_last = 0; settles = kept_settles; kept_settles = 0; hangs = 0; lost = 0;
#ifdef RESTARTS
       restarts = 0;
       for (n : 0 .. NODES - 1) { node[n].far = node[n].far && node[n].lost }
#endif
#ifdef REPORTED
       Settle();
#endif
#ifdef STEPPED
#ifndef NO_SKIP
       back = 1;
       if
       :: last = (last + COMMON / 2 - 1) % COMMON
       :: last = (last + COMMON - 2) % COMMON
       fi;
#endif
#endif
       failovers++
     }
  od
}

/* A lease expires only if no other worker id is free, which the claim excludes, and never while the
 * registry settles. */
#ifdef EXPIRE_UNNEEDED
#define MAY_EXPIRE (!BLIND && !DOUBTFUL && settles == 0)
#else
#ifdef EXPIRE_WHILE_SETTLING
#define MAY_EXPIRE (!BLIND && !DOUBTFUL && settles > 0)
#else
#define MAY_EXPIRE false
#endif
#endif

proctype WorkerId(byte me) {
  do
  /* expiry: its node may run again after the failover, find its row and extend it, while a lost
   * lease has the worker id; or the row looks as if its window were over, because an extend was
   * lost */
  :: atomic { place[me].holder && place[me].left == 0 && MAY_EXPIRE && MAY_COMMIT -> Leave(me, 0) }

  /* evict, or a late release: no node issues ids under the lease any more */
  :: atomic { place[me].holder == NOBODYS && MAY_COMMIT ->
       if
       :: BLIND -> Settle()
       :: else
       fi;
       Leave(me, 1)
     }

#ifdef DELETES
  :: atomic { place[me].holder && MAY_COMMIT -> Leave(me, place[me].left) }
#endif
  od
}

/* ------------------------------------------------------------------------------------- the node */

inline Close(who) {
  if
  :: node[who].open && KNOWN(who) -> place[node[who].worker].holder = NOBODYS
  :: else
  fi;
  if
  :: node[who].open && kept[node[who].worker].holder == who + 1 -> kept[node[who].worker].holder = NOBODYS
  :: else
  fi;
  node[who].open = 0; node[who].worker = 0; node[who].wait = 0; node[who].left = 0
}

proctype ANode(byte me) {
  do
  /* acquire */
  :: atomic { !node[me].open && MAY_COMMIT && (!DOUBTFUL || node[me].lost || HAS_ROOM) ->
       Look(me);
#ifdef STEPPED
       since = since || in_doubt;
#endif
       Choose();
       if
       :: best < RING && place[best].ruled_out + LENGTH <= BEYOND ->
          if
          :: best < COMMON -> last = FORTH(best)
          :: else
          fi;
          place[best].holder = NOBODYS; place[best].left = place[best].ruled_out + LENGTH;
          Committed();
          if
          :: skip ->
             place[best].holder = me + 1;
             node[me].open = 1; node[me].worker = best; node[me].wait = place[best].ruled_out;
             node[me].left = place[best].left; node[me].fresh = hangs; node[me].lost = 0;
#ifdef RESTARTS
             node[me].far = (hangs && restarts == 2);
#endif
             Use(me)
          :: skip                 /* the answer is lost */
          fi
       :: else                    /* SF004 */
       fi
     }

  /* extend, by one tick or by LENGTH */
  :: atomic { node[me].open && MAY_COMMIT ->
       Look(me);
       HearEnd(me);
       Adopt(me);
       if
       :: KNOWN(me) ->
          q = node[me].worker;
          if
          :: many = 1
          :: many = LENGTH
          fi;
          if
          :: many > place[q].left -> place[q].left = many; Committed()
          :: else
          fi;
          if
          :: place[q].left > node[me].left -> many = node[me].left; node[me].left = place[q].left;
             if
             :: many == 0 -> Use(me)         /* it had run out, in this tick */
             :: else
             fi
          :: else
          fi
       :: else -> Close(me)       /* gone */
       fi
     }

  /* release: the watermark is the clock */
  :: atomic { node[me].open && MAY_COMMIT ->
       Look(me);
       if
       :: KNOWN(me) -> p = node[me].worker; Leave(p, 1)
       :: else
       fi;
       Close(me)
     }

  /* crash, or closed and never released */
  :: atomic { node[me].open || node[me].fresh || node[me].lost ->
       Close(me); node[me].fresh = 0; node[me].lost = 0;
#ifdef RESTARTS
       node[me].far = 0
#endif
     }
  od
}

init {
  atomic {
    run World();
    for (n : 0 .. RING - 1) { run WorkerId(n) }
    for (n : 0 .. NODES - 1) { run ANode(n) }
  }
}
