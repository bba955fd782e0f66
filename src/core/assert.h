// Assertions of the core: what a function requires of its caller, and what the numbered invariants
// say. If one is false, a guarantee may be broken by now.
//
// SNOWFLAKE_ASSERTIONS compiles them in: the Makefile defines it for a server with assertions,
// test/run for unit tests and fuzzers. Packages have none, so nothing from outside is judged by
// one: an answer, a setting or a file is judged first, and an impossible one is an error.
#pragma once

namespace snowflake {
// Ends the process.
[[noreturn]] void FailAssertion(const char *condition, const char *file, int line);

// What ends it instead; by default it prints the condition and aborts.
using AssertionHandler = void (*)(const char *condition, const char *file, int line);
void HandleAssertions(AssertionHandler handler);

}  // namespace snowflake

#ifdef SNOWFLAKE_ASSERTIONS
#define SNOWFLAKE_ASSERT(condition) \
  ((condition) ? static_cast<void>(0) : ::snowflake::FailAssertion(#condition, __FILE__, __LINE__))
#else
#define SNOWFLAKE_ASSERT(condition) static_cast<void>(sizeof(!(condition)))
#endif
