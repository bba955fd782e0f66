/* Settling, for spin: a registry fails over to a standby that had not heard of its newest commits.
 *
 * Claim (G1): no worker id is used under two leases in one tick. Here there is a clock, the same for all, because
 * settling is a matter of time: it lasts as long as a lost lease may live on, and the skew that clocks may have is part of
 * that. A node uses every tick of its window. What clocks that show anything do to windows is in lease.pml.
 *
 * Commits are rows that are drawn, moved and deleted, with their watermarks and last_lease_id; the newest, up to LOSS, are
 * lost at once, at any moment (the standby hangs, and takes over). The next acquire sees another timeline, and the
 * registry settles for the LENGTH of a lease: nothing expires, and of the free places the nearer half, seen from the lease
 * after last_lease_id, is not handed out.
 *
 * All times are counted from the present tick, and lease ids from last_lease_id, so runs are as long as they like.
 *
 * Claimed is it under these conditions; beyond each of them spin finds a tick that is used twice:
 * - One failover, and every node has the same LENGTH.
 * - The lost leases are no more than half of the free places whose watermark was in the past when the standby hung: those that
 *   are held back (MANY_LOST). The registry tells them by the newest of its rows.
 * - No row leaves between the failover and the acquire, or the evidence, that tells the registry of it: that would make
 *   more places free, and move the nearer half (LEAVE_UNNOTICED).
 * - No DELETE of a row whose node lives is lost: the row comes back and is moved, while a lost lease has the worker id
 *   (DELETES). To refuse to move a window that is over would not do: one that is still open is moved, too.
 *
 * That a registry hands out what it holds back, when all else is used up and half of the time is over, is left out: it is a
 * risk that is taken.
 *
 * With -DSILENT no timeline tells of the loss, as when a copy of the registry was restored. Then the only evidence is an
 * exchange that names a lease above last_lease_id, or holds more than its row says; it is enough if it comes before the
 * next lease is drawn, and where it comes later (UNHEARD) it is not.
 *
 * The rules that can be broken have a flag each, and spin must then find a counterexample: see #ifdef, and `runs`.
 */
#ifndef RING
#define RING 4                    /* worker ids, at most 7 */
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

#define NOBODYS (NODES + 1)       /* of a row: its lease was closed, or nobody ever knew it */
#define BEYOND 7                  /* windows that would end later are not drawn */

typedef Place {                   /* a worker id */
  unsigned holder : 3;            /* of its row: node + 1, or NOBODYS; 0: there is no row */
  unsigned left : 3;              /* ticks of the window that are left; 0: it is over */
  unsigned ruled_out : 3          /* by the watermark: ticks from the present one on */
}

typedef Node {
  bit open;
  unsigned worker : 3;
  unsigned wait : 3;              /* ticks until its window begins */
  unsigned left : 3;
  unsigned ahead : 3              /* by how much the highest lease id that it has seen is above the one that survives */
}

Place place[RING];
Place kept[RING];                 /* what the standby has, once it hangs */
Node node[NODES];
unsigned last : 3;                /* last_lease_id, on the ring */
unsigned kept_last : 3;
unsigned used : RING;             /* worker ids, in this tick */

#define FOLLOWS 0
#define HANGS 1
#define FAILED_OVER 2
unsigned standby : 2;
unsigned lost : 3;                /* commits that the standby has not heard of */
unsigned lost_leases : 3;
unsigned covered : 3;             /* how many leases it may be */
unsigned ahead : RING;            /* worker ids whose watermark is in the future for the standby: what is drawn goes past them */
bit unnoticed;                    /* the registry does not know yet that it has failed over */
bit in_doubt;                     /* nor is there a timeline that tells it, and rows are missing or too short */

unsigned settles : 3;             /* for so many ticks */
unsigned anchor : 3;
unsigned cut : 3;                 /* places before this offset from the anchor are held back */

hidden byte p, q, best, many, n;  /* scratch, dead between two steps */

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
#ifdef LEAVE_UNNOTICED
#define MAY_LEAVE true
#else
#define MAY_LEAVE (!BLIND && !DOUBTFUL)
#endif
#define MAY_COMMIT (standby != HANGS || lost < LOSS)

inline Committed() {
  if
  :: standby == HANGS -> lost++
  :: else
  fi
}

#define COPY(to, from) \
  for (p : 0 .. RING - 1) { \
    to[p].holder = from[p].holder; to[p].left = from[p].left; to[p].ruled_out = from[p].ruled_out \
  }

#ifdef WATERMARKS_AHEAD
#define DRAWABLE(at) (place[at].holder == 0)
#else
#ifdef WATERMARKS_NOW
#define DRAWABLE(at) (place[at].holder == 0 && place[at].ruled_out == 0)
#else
#define DRAWABLE(at) (place[at].holder == 0 && !(ahead & (1 << (at))))
#endif
#endif

/* ------------------------------------------------------------------------------------------------------ the registry */

/* Whatever it comes from, the record names the timeline, too: or the next acquire would settle anew, and count the nearer
 * half from a last_lease_id that evidence has raised meanwhile. */
inline Settle() {
  anchor = (last + 1) % RING;
  many = 0;
  for (p : 0 .. RING - 1) {
    if
    :: DRAWABLE(p) -> many++
    :: else
    fi
  }
#ifdef NO_HALVING
  many = 0;
#endif
  many = many - many / 2;         /* held back */
  cut = 0;
  do
  :: many == 0 -> break
  :: many > 0 ->
     if
     :: DRAWABLE((anchor + cut) % RING) -> many--
     :: else
     fi;
     cut++
  od;
#ifdef SHORT_SETTLING
  settles = LENGTH - 1;
#else
  settles = LENGTH;
#endif
#ifndef TIMELINE_LATER
  unnoticed = 0;
#endif
  in_doubt = 0; ahead = 0
}

inline SettleUnlessItDoes() {
  if
  :: settles == 0 -> Settle()
  :: else -> in_doubt = 0
  fi
}

/* Lease ids go on above one that is named or drawn. */
inline RaiseLast(by) {
  last = (last + by) % RING;
  if
  :: standby == FAILED_OVER ->
     q = by;
     for (n : 0 .. NODES - 1) { node[n].ahead = (node[n].ahead > q -> node[n].ahead - q : 0) }
  :: else
  fi
}

/* An exchange names the highest lease id that its node has seen. */
inline Hear(who) {
  if
  :: standby == FAILED_OVER && node[who].ahead ->
#ifdef ID_IGNORED
     in_doubt = 0;
#else
     SettleUnlessItDoes();
#endif
     RaiseLast(node[who].ahead)
  :: else
  fi
}

#define KNOWN(who) (place[node[who].worker].holder == who + 1)

/* held_until above the row's end: a move was lost. */
inline HearEnd(who) {
  if
  :: KNOWN(who) && node[who].left > place[node[who].worker].left ->
#ifdef HELD_IGNORED
     in_doubt = 0
#else
     place[node[who].worker].left = node[who].left;
     SettleUnlessItDoes()
#endif
  :: else
  fi
}

inline Leave(at, until) {
  if
  :: until > place[at].ruled_out -> place[at].ruled_out = until
  :: else
  fi;
  place[at].holder = 0; place[at].left = 0;
  Committed()
}

/* best := the first place in the ring without a row and with a watermark in the past, or else the one with the lowest
 * watermark; RING: there is none. */
inline Choose() {
  if
  :: settles -> q = (anchor + cut) % RING; many = RING - cut
  :: else -> q = last; many = RING
  fi;
  best = RING;
  do
  :: many == 0 -> break
  :: many > 0 ->
     if
     :: place[q].holder == 0 && (best == RING || place[best].ruled_out > place[q].ruled_out) -> best = q
     :: else
     fi;
     q = (q + 1) % RING;
     many--
  od
}

/* covered := how many places will be held back of those that can be drawn now */
inline Cover() {
  ahead = 0; covered = 0;
  for (p : 0 .. RING - 1) {
    if
    :: place[p].holder == 0 && place[p].ruled_out -> ahead = ahead | (1 << p)
    :: place[p].holder == 0 && place[p].ruled_out == 0 -> covered++
    :: else
    fi
  }
  covered = covered - covered / 2
}

#define SHORTEN(ticks) ticks = (ticks > 0 -> ticks - 1 : 0)

/* The tick that has come. */
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
       used = 0; SHORTEN(settles);
       if
       :: settles == 0 -> anchor = 0; cut = 0
       :: else
       fi;
       for (p : 0 .. RING - 1) {
         SHORTEN(place[p].left); SHORTEN(place[p].ruled_out); SHORTEN(kept[p].left); SHORTEN(kept[p].ruled_out)
       }
       for (n : 0 .. NODES - 1) {
         SHORTEN(node[n].wait); SHORTEN(node[n].left);
         Use(n)
       }
     }

  /* the standby hangs: what is committed from now on is lost with the failover */
  :: atomic { standby == FOLLOWS -> COPY(kept, place); kept_last = last; Cover(); standby = HANGS }

#ifdef MANY_LOST
#define COVERED true
#else
#define COVERED (lost_leases <= covered)
#endif
  :: atomic { standby == HANGS && COVERED ->
       standby = FAILED_OVER;
#ifdef SILENT
       for (p : 0 .. RING - 1) {
         if
         :: place[p].holder && place[p].holder != NOBODYS &&
            (place[p].holder != kept[p].holder || place[p].left > kept[p].left) -> in_doubt = 1
         :: else -> used = used & ~(1 << p)  /* nobody is left who could tell of what it used in this very tick */
         fi
       }
#else
       unnoticed = 1;
#endif
       COPY(place, kept);
       for (p : 0 .. RING - 1) { kept[p].holder = 0; kept[p].left = 0; kept[p].ruled_out = 0 }
       last = kept_last; kept_last = 0; lost = 0; lost_leases = 0; covered = 0
     }
  od
}

#ifdef EXPIRE_WHILE_SETTLING
#define MAY_EXPIRE (!BLIND && !DOUBTFUL)
#else
#define MAY_EXPIRE (!BLIND && !DOUBTFUL && settles == 0)
#endif

proctype WorkerId(byte me) {
  do
  /* expiry, but only when no worker id is free whose watermark is in the past: or it might be one whose node comes back
   * after the failover, finds its row there again and moves it, while a lost lease has the worker id */
  :: atomic { place[me].holder && place[me].left == 0 && MAY_EXPIRE && MAY_COMMIT ->
       many = 0;
#ifndef EXPIRE_UNNEEDED
       for (p : 0 .. RING - 1) {
         if
         :: place[p].holder == 0 && place[p].ruled_out == 0 -> many++
         :: else
         fi
       }
#endif
       if
       :: many == 0 -> Leave(me, 0)
       :: else
       fi
     }

  /* evict, or a release that comes late: nobody issues under it any more */
  :: atomic { place[me].holder == NOBODYS && MAY_LEAVE && MAY_COMMIT -> Leave(me, 1) }

#ifdef DELETES
  :: atomic { place[me].holder && MAY_LEAVE && MAY_COMMIT -> Leave(me, place[me].left) }
#endif
  od
}

/* ---------------------------------------------------------------------------------------------------------- the node */

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
  /* acquire: it names the highest lease id that the node has seen */
  :: atomic { !node[me].open && MAY_COMMIT && (!DOUBTFUL || node[me].ahead) ->
       if
       :: BLIND -> Settle(); unnoticed = 0
       :: else
       fi;
       Hear(me);
       RaiseLast(1);
       Choose();
       if
       :: best < RING && place[best].ruled_out + LENGTH <= BEYOND ->
          place[best].holder = NOBODYS; place[best].left = place[best].ruled_out + LENGTH;
          Committed();
          if
          :: standby == HANGS -> lost_leases++
          :: else
          fi;
          if
          :: skip ->
             place[best].holder = me + 1;
             node[me].open = 1; node[me].worker = best; node[me].wait = place[best].ruled_out;
             node[me].left = place[best].left; node[me].ahead = lost_leases;
             Use(me)
          :: skip                 /* the answer is lost */
          fi
       :: else                    /* SF004 */
       fi
     }

  /* extend, for this long or shorter */
  :: atomic { node[me].open && MAY_COMMIT ->
       Hear(me);
       HearEnd(me);
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
  :: atomic { node[me].open && MAY_COMMIT && (MAY_LEAVE || node[me].ahead) ->
       Hear(me);
       if
       :: KNOWN(me) -> p = node[me].worker; Leave(p, 1)
       :: else
       fi;
       Close(me)
     }

  /* crash, or closed and never released */
  :: atomic { node[me].open || node[me].ahead -> Close(me); node[me].ahead = 0 }
  od
}

init {
  atomic {
    run World();
    for (n : 0 .. RING - 1) { run WorkerId(n) }
    for (n : 0 .. NODES - 1) { run ANode(n) }
  }
}
