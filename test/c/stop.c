/*
 * Stops this process in a call of a function without arguments, before an instruction that its
 * caller chooses, for test/t/runs/stopped_anywhere.pl. The processor traps after each instruction
 * of the call, and the trap's handler counts. So it needs neither a debugger nor its rights.
 *
 * The process stops itself by SIGSTOP and continues by SIGCONT. It does not stop while it holds a
 * lightweight lock, because all others would wait for it. A processor without such a trap, or an
 * emulator that ignores it, counts 0 instructions.
 */
#define _GNU_SOURCE 1
#include "postgres.h"
#include "fmgr.h"

#include <dlfcn.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include "miscadmin.h"
#include "utils/builtins.h"

PG_MODULE_MAGIC;
PG_FUNCTION_INFO_V1(stop_in);
PG_FUNCTION_INFO_V1(stopped_at);
PG_FUNCTION_INFO_V1(instructions);

#ifdef __x86_64__
#define TRAP_FLAG 0x100

static volatile enum { kOff, kBefore, kIn } phase;
static volatile uintptr_t entry, frame, address;
static volatile int count, chosen;

static void on_trap(int number, siginfo_t *info, void *context) {
  greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
  const uintptr_t at = (uintptr_t)registers[REG_RIP], stack = (uintptr_t)registers[REG_RSP];

  if (phase == kBefore && at == entry) {
    phase = kIn;
    frame = stack;
  }
  /* The return address is on the stack until the call returns. */
  if (phase == kIn && stack > frame) phase = kOff;
  if (phase == kIn) {
    if (count >= chosen && InterruptHoldoffCount == 0) {
      phase = kOff;
      address = at;
      kill(getpid(), SIGSTOP);
    }
    ++count;
  }
  if (phase == kOff)
    registers[REG_EFL] &= ~(greg_t)TRAP_FLAG;
  else
    registers[REG_EFL] |= TRAP_FLAG;
}

static void trap_from(PGFunction function, int instruction) {
  struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_RESTART};

  sigemptyset(&action.sa_mask);
  sigaction(SIGTRAP, &action, NULL);
  entry = (uintptr_t)function;
  address = 0;
  count = 0;
  chosen = instruction;
  phase = kBefore;
  raise(SIGTRAP);
}

static void trap_no_more(void) { phase = kOff; }
#else
static uintptr_t address;
static int count;

static void trap_from(PGFunction function, int instruction) {}
static void trap_no_more(void) {}
#endif

/* stop_in(function, instruction): calls the function, and returns what it returns. Stops before
 * that instruction of the call, counted from 0, or at the next one at which it may; not at all if
 * the call has fewer. */
Datum stop_in(PG_FUNCTION_ARGS) {
  LOCAL_FCINFO(call, 0);
  FmgrInfo function;
  volatile Datum result = (Datum)0;

  fmgr_info(PG_GETARG_OID(0), &function);
  InitFunctionCallInfoData(*call, &function, 0, InvalidOid, NULL, NULL);
  PG_TRY();
  {
    trap_from(function.fn_addr, PG_GETARG_INT32(1));
    result = FunctionCallInvoke(call);
  }
  PG_FINALLY();
  {
    trap_no_more();
  }
  PG_END_TRY();
  PG_RETURN_DATUM(result);
}

/* Where the last call of stop_in() stopped: library+offset; null: it did not stop. */
Datum stopped_at(PG_FUNCTION_ARGS) {
  Dl_info of;
  const char *name;

  if (address == 0) PG_RETURN_NULL();
  if (dladdr((void *)address, &of) == 0 || of.dli_fname == NULL) PG_RETURN_TEXT_P(cstring_to_text("elsewhere"));
  name = strrchr(of.dli_fname, '/');
  PG_RETURN_TEXT_P(cstring_to_text(
      psprintf("%s+0x%lx", name != NULL ? name + 1 : of.dli_fname, (unsigned long)(address - (uintptr_t)of.dli_fbase))));
}

/* How many instructions the last call of stop_in() had; if it stopped, up to there. */
Datum instructions(PG_FUNCTION_ARGS) { PG_RETURN_INT32(count); }
