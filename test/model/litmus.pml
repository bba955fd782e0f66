/* Small programs that are known to show how a processor reorders, for processor.pml. TEST names the
 * program, as the literature does.
 *
 * Each `outcome` needs a reordering. ARM forbids it with the orders ONE and OTHER, and allows it if
 * one of them is missing. COHERENCE needs no order. FORWARDED, UNORDERED and BETWEEN are allowed.
 */
#define MP 1
#define FENCES 2
#define SB 3
#define LB 4
#define S 5
#define R 6
#define W 7
#define WRC 8
#define IRIW 9
#define COHERENCE 10
#define FORWARDED 11
#define GUESS 12
#define ATOMIC 13
#define EXCHANGES 14
#define UNORDERED 15
#define BETWEEN 16

#define X 0                       /* places */
#define Y 1
#define PLACES 2
#define THREADS 4

#define ONE 1                     /* orders */
#define OTHER 2
#define NEITHER 3
#include "processor.pml"

#define program(number, accesses) \
  proctype P##number() { byte me = number; thread; byte at; atomic { accesses }; finish() }
#define value(thread, access) threads[thread].window[access].value

#if TEST == MP                    /* message passing */
program(0, store(X, 1, PLAIN); store(Y, 1, release(ONE)))
program(1, load(Y, acquire(OTHER), at); load(X, PLAIN, at))
#define outcome (value(1, 0) == 1 && value(1, 1) == 0)

#elif TEST == FENCES              /* the same with fences */
program(0, store(X, 1, PLAIN); release_fence(ONE); store(Y, 1, PLAIN))
program(1, load(Y, PLAIN, at); read_barrier(OTHER); load(X, PLAIN, at))
#define outcome (value(1, 0) == 1 && value(1, 1) == 0)

#elif TEST == GUESS               /* the same with a branch between the loads */
program(0, store(X, 1, PLAIN); store(Y, 1, release(ONE)))
program(1, read(Y, acquire(OTHER), at, 1); if :: at -> load(X, PLAIN, at) :: !at fi)
#define outcome (value(1, 0) == 1 && value(1, 1) == 0)

#elif TEST == SB                  /* store buffering */
program(0, store(X, 1, PLAIN); full_barrier(ONE); load(Y, PLAIN, at))
program(1, store(Y, 1, PLAIN); full_barrier(OTHER); load(X, PLAIN, at))
#define outcome (value(0, 1) == 0 && value(1, 1) == 0)

#elif TEST == LB                  /* load buffering */
program(0, load(X, acquire(ONE), at); store(Y, 1, PLAIN))
program(1, load(Y, PLAIN, at); branch(OTHER); store(X, 1, PLAIN))
#define outcome (value(0, 0) == 1 && value(1, 0) == 1)

#elif TEST == S
program(0, store(X, 2, PLAIN); store(Y, 1, release(ONE)))
program(1, load(Y, acquire(OTHER), at); store(X, 1, PLAIN))
#define outcome (value(1, 0) == 1 && memory[X] == 2)

#elif TEST == R
program(0, store(X, 1, PLAIN); store(Y, 1, release(ONE)))
program(1, store(Y, 2, PLAIN); full_barrier(OTHER); load(X, PLAIN, at))
#define outcome (value(1, 1) == 0 && memory[Y] == 2)

#elif TEST == W                   /* 2+2W */
program(0, store(X, 1, PLAIN); store(Y, 2, release(ONE)))
program(1, store(Y, 1, PLAIN); release_fence(OTHER); store(X, 2, PLAIN))
#define outcome (memory[X] == 1 && memory[Y] == 1)

#elif TEST == WRC                 /* write to read causality */
program(0, store(X, 1, PLAIN))
program(1, load(X, PLAIN, at); store(Y, 1, release(ONE)))
program(2, load(Y, acquire(OTHER), at); load(X, PLAIN, at))
#define outcome (value(1, 0) == 1 && value(2, 0) == 1 && value(2, 1) == 0)

#elif TEST == IRIW                /* independent reads of independent writes */
program(0, load(X, acquire(ONE), at); load(Y, PLAIN, at))
program(1, load(Y, PLAIN, at); read_barrier(OTHER); load(X, PLAIN, at))
program(2, store(X, 1, PLAIN))
program(3, store(Y, 1, PLAIN))
#define outcome (value(0, 0) == 1 && value(0, 1) == 0 && value(1, 0) == 1 && value(1, 1) == 0)

#elif TEST == COHERENCE
program(0, store(X, 1, PLAIN); store(X, 2, PLAIN))
program(1, load(X, PLAIN, at); load(X, PLAIN, at))
#define outcome (value(1, 0) > value(1, 1) || memory[X] != 2)

#elif TEST == FORWARDED           /* each thread sees its own store first */
program(0, store(X, 1, PLAIN); load(X, ACQUIRE, at); load(Y, PLAIN, at))
program(1, store(Y, 1, PLAIN); load(Y, ACQUIRE, at); load(X, PLAIN, at))
#define outcome (value(0, 1) == 1 && value(0, 2) == 0 && value(1, 1) == 1 && value(1, 2) == 0)

#elif TEST == ATOMIC              /* neither change is lost */
program(0, load_exclusive(X, ONE, at); !is_pending(at); store_exclusive(X, value(0, 0) + 1, ONE))
program(1, load_exclusive(X, OTHER, at); !is_pending(at);
        store_exclusive(X, value(1, 0) + 1, OTHER))
#define outcome (memory[X] != 2)

#elif TEST == EXCHANGES           /* message passing: the later change finds the earlier one */
program(0, load_exclusive(X, NEITHER, at); store_exclusive(X, 1, NEITHER);
        store(Y, 1, release(ONE)))
program(1, load(Y, acquire(OTHER), at); load_exclusive(X, NEITHER, at);
        store_exclusive(X, 2, NEITHER))
#define outcome (value(1, 0) == 1 && value(1, 1) == 0)

#elif TEST == UNORDERED           /* message passing by changes, which order nothing */
program(0, store(X, 1, PLAIN); load_exclusive(Y, NEITHER, at); store_exclusive(Y, 1, NEITHER))
program(1, load(Y, ACQUIRE, at); load(X, PLAIN, at))
#define outcome (value(1, 0) == 1 && value(1, 1) == 0)

#elif TEST == BETWEEN             /* another store between both halves of a change */
program(0, load_exclusive(X, NEITHER, at); !is_pending(at); store_exclusive(X, 1, NEITHER);
        store(Y, 1, PLAIN))
program(1, load(Y, ACQUIRE, at); load(X, PLAIN, at))
#define outcome (value(1, 0) == 1 && value(1, 1) == 0)
#endif

init {
  bool holds;
  atomic {
    run Processor(0);
    run Processor(1);
    run Processor(2);
    run Processor(3);
    run P0();
    run P1();
#if TEST == WRC || TEST == IRIW
    run P2();
#endif
#if TEST == IRIW
    run P3();
#endif
  };
  _nr_pr == 1 + THREADS;
  holds = !(outcome);
  assert(holds)
}
