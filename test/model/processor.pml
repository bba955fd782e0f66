/* A processor that reorders loads and stores as ARM may (v8), for models of what is read without a
 * lock.
 *
 * A thread is a proctype with a number `me`. It issues the accesses of its program in their order,
 * and does not wait until they are performed. Processor(me) performs them, one by one, in the
 * `memory` that all threads share: a store of ARM reaches all other processors at the same moment.
 * The order is any order, but:
 *
 * - Accesses to one place keep their order. A load may take the value of an earlier store of its
 *   own thread before others see it.
 * - ACQUIRE: later accesses wait for this load. RELEASE: this store waits for all earlier accesses.
 * - lock() acquires, and unlock() releases. So accesses may move into a critical section, but not
 *   out of it. PostgreSQL's locks order more than that, but no claim needs it.
 * - read_barrier(): later accesses wait for earlier loads. release_fence(): later stores wait for
 *   all earlier accesses. full_barrier(): later accesses wait for all earlier ones.
 *
 * An atomic change is two accesses, load_exclusive() and store_exclusive(), as on ARM without its
 * atomic instructions: nobody else changes this place between them, and other accesses of the
 * thread may come before, after and between them. If the store does not follow, others wait, and
 * the run shows nothing.
 *
 * Loads are speculated. If a program looks at a value that is not loaded yet, it guesses one, and
 * the load is performed only when memory has this value. If it never has, the thread stops there,
 * and the run shows nothing. Stores are not speculated: after branch(), later stores wait for
 * earlier loads.
 *
 * A compiler may reorder plain accesses, too. That allows no other order than these.
 *
 * -DWITHOUT=LABEL takes away the one order that has this label in the model.
 */
#ifndef WITHOUT
#define WITHOUT 0
#endif

#define PLAIN 0                   /* orders */
#define ACQUIRE 1
#define RELEASE 2
#define acquire(label) (WITHOUT == label -> PLAIN : ACQUIRE)
#define release(label) (WITHOUT == label -> PLAIN : RELEASE)

#define LOAD 1                    /* kinds of accesses */
#define GUESSED 2
#define LOAD_EXCLUSIVE 3
#define STORE 4                   /* this and the next can be seen by others */
#define STORE_EXCLUSIVE 5
#define LOCK 6
#define UNLOCK 7

#define EXCLUSIVE 1               /* what a lock's place counts up by: several processes share it */
#define SHARED 2

#define WINDOW 30                 /* accesses of a thread, at most */

typedef Access {
  byte kind;
  byte place;
  byte value;                     /* what is stored, guessed or loaded, or how it is locked */
  byte own;                       /* the store of this thread that it may load from; WINDOW: none */
  int after                       /* what it waits for, a bit for each access */
}

typedef Thread {
  Access window[WINDOW];
  byte issued;
  int pending;                    /* a bit for each, as in the next */
  int loads;
  int before_all;                 /* what all later accesses wait for ... */
  int before_stores               /* ... and what later stores do */
}

byte memory[PLACES];
int reserved;                     /* by who has loaded exclusively, a bit for each place */
Thread threads[THREADS];

#define bit(i) (1 << (i))
#define self threads[me]
#define access(i) threads[me].window[i]
#define is_pending(i) (self.pending >> (i) & 1)

inline issue(new_kind, new_place, new_value, order) {
  d_step {
    access(self.issued).kind = new_kind;
    access(self.issued).place = new_place;
    access(self.issued).value = new_value;
    access(self.issued).own = WINDOW;
    access(self.issued).after = self.before_all | (new_kind >= STORE -> self.before_stores : 0) |
                                ((order) == RELEASE -> self.pending : 0);
    i = self.issued;
    do
    :: i > 0 ->
      i--;
      if
      :: access(i).place != new_place
      :: access(i).place == new_place && new_kind < LOAD_EXCLUSIVE &&
         (access(i).kind == STORE || access(i).kind == STORE_EXCLUSIVE) ->
        access(self.issued).own = i;
        break
      :: else -> access(self.issued).after = access(self.issued).after | bit(i)
      fi
    :: else -> break
    od;
    access(self.issued).after = access(self.issued).after & self.pending;
    self.pending = self.pending | bit(self.issued);
    if
    :: new_kind < STORE -> self.loads = self.loads | bit(self.issued)
    :: else
    fi;
    if
    :: (order) == ACQUIRE -> self.before_all = self.before_all | bit(self.issued)
    :: else
    fi;
    self.issued++;
    i = 0
  }
}

#define thread byte i = 0         /* what a proctype begins with, besides its number */
#define store(place, value, order) issue(STORE, place, value, order)
#define lock(place, mode) issue(LOCK, place, mode, ACQUIRE)
#define unlock(place, mode) issue(UNLOCK, place, mode, RELEASE)

/* Both with the same label, which takes away that they are exclusive. `at` as for load(). */
inline load_exclusive(from, label, at) {
  at = self.issued;
  issue((WITHOUT == label -> LOAD : LOAD_EXCLUSIVE), from, 0, PLAIN)
}

#define store_exclusive(place, value, label) \
  issue((WITHOUT == label -> STORE : STORE_EXCLUSIVE), place, value, PLAIN)

/* `at` is how to look at it later. If it acquires, nothing later is issued before it is done. */
inline load(from, order, at) {
  at = self.issued;
  issue(LOAD, from, 0, order);
  (order) != ACQUIRE || !is_pending(at)
}

inline look(issued_at, variable, most) {
  if
  :: !is_pending(issued_at) -> variable = access(issued_at).value
  :: is_pending(issued_at) ->
    access(issued_at).kind = GUESSED;
    access(issued_at).value = 0;
    do
    :: access(issued_at).value < most -> access(issued_at).value++
    :: break
    od;
    variable = access(issued_at).value
  fi
}

inline read(read_place, read_order, result, max) {
  load(read_place, read_order, result);
  look(result, result, max)
}

#define before(waiting, those, label) waiting = waiting | (WITHOUT == label -> 0 : those)
#define release_fence(label) before(self.before_stores, self.pending, label)
#define full_barrier(label) before(self.before_all, self.pending, label)
#define branch(label) before(self.before_stores, self.loads, label)

inline read_barrier(label) {
  before(self.before_all, self.loads, label);
  (WITHOUT == label || (self.pending & self.loads) == 0)
}

/* Waits until all is performed. */
#define finish() (self.pending == 0)

#define in_memory(i) memory[access(i).place]
#define is_own(i) (access(i).own < WINDOW && is_pending(access(i).own))
#define loaded(i) (is_own(i) -> access(access(i).own).value : in_memory(i))
#define may_share(i) (access(i).value == SHARED && !(in_memory(i) & EXCLUSIVE))
#define may_lock(i) (in_memory(i) == 0 || may_share(i))
#define is_change(i) (access(i).kind == LOAD_EXCLUSIVE || access(i).kind == STORE)
#define may_change(i) (!is_change(i) || !(reserved >> access(i).place & 1))
#define may_load(i) (access(i).kind != GUESSED || loaded(i) == access(i).value)
#define is_next(i) \
  (is_pending(i) && (access(i).after & self.pending) == 0 && \
   (access(i).kind != LOCK || may_lock(i)) && may_load(i) && may_change(i))

inline do_access(i) {
  if
  :: access(i).kind == LOAD -> access(i).value = loaded(i)
  :: access(i).kind == LOAD_EXCLUSIVE ->
    access(i).value = in_memory(i);
    reserved = reserved | bit(access(i).place)
  :: access(i).kind == STORE -> in_memory(i) = access(i).value
  :: access(i).kind == STORE_EXCLUSIVE ->
    in_memory(i) = access(i).value;
    reserved = reserved & ~bit(access(i).place)
  :: access(i).kind == LOCK -> in_memory(i) = in_memory(i) + access(i).value
  :: access(i).kind == UNLOCK -> in_memory(i) = in_memory(i) - access(i).value
  :: else
  fi;
  access(i).after = 0;                /* no longer of use: fewer states */
  access(i).own = WINDOW;
  self.pending = self.pending & ~bit(i)
}

#define ACCESS(i) :: d_step { is_next(i) -> do_access(i) }

proctype Processor(byte me) {
  do
  ACCESS(0) ACCESS(1) ACCESS(2) ACCESS(3) ACCESS(4) ACCESS(5) ACCESS(6) ACCESS(7) ACCESS(8)
  ACCESS(9) ACCESS(10) ACCESS(11) ACCESS(12) ACCESS(13) ACCESS(14) ACCESS(15) ACCESS(16)
  ACCESS(17) ACCESS(18) ACCESS(19) ACCESS(20) ACCESS(21) ACCESS(22) ACCESS(23) ACCESS(24)
  ACCESS(25) ACCESS(26) ACCESS(27) ACCESS(28) ACCESS(29)
  od
}
