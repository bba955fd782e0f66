// Ends a process whose assertion failed.
#include "core/assert.h"

#include <cstdio>
#include <cstdlib>

namespace snowflake {
namespace {
AssertionHandler assertion_handler = nullptr;

}  // namespace

void FailAssertion(const char *condition, const char *file, int line) {
  if (assertion_handler != nullptr) assertion_handler(condition, file, line);
  std::fprintf(stderr, "%s:%d: assertion failed: %s\n", file, line, condition);
  std::abort();
}

void HandleAssertions(AssertionHandler handler) { assertion_handler = handler; }

}  // namespace snowflake
