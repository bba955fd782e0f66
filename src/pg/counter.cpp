// Asks processor and system about the counter.
#include "pg/counter.h"

#if defined(__linux__)
#include <sys/prctl.h>
#endif
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace snowflake {
namespace {
// An x86 processor says so if its counter is invariant. Under a hypervisor this may be hidden. The
// one of arm64 always is. Of other processors and systems nothing is known here.
bool RunsAtOneSpeed() {
#if defined(__linux__) && defined(__x86_64__)
  constexpr unsigned kLeaf = 0x80000007, kInvariant = 1u << 8;
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(kLeaf, &a, &b, &c, &d) != 0 && (d & kInvariant) != 0;
#elif defined(__linux__) && defined(__aarch64__)
  return true;
#else
  return false;
#endif
}

// A process that is denied the counter, and with it all its children, would be ended by a SIGSEGV.
bool MayReadCounter() {
#if defined(PR_GET_TSC)
  int mode = 0;
  return prctl(PR_GET_TSC, &mode) != 0 || mode != PR_TSC_SIGSEGV;
#else
  return true;
#endif
}

}  // namespace

bool CounterServes() {
  static const bool serves = RunsAtOneSpeed() && MayReadCounter();
  return serves && !OnlySystemClock();
}

}  // namespace snowflake
