// Assertions of the core: they are compiled in here, and a false one ends the process.
#include "core/assert.h"

#include <gtest/gtest.h>

#include "core/layout.h"

namespace snowflake {
namespace {
void Exit(const char *condition, const char *, int) {
  std::fputs(condition, stderr);
  std::_Exit(3);
}

TEST(Assertions, End) {
  SNOWFLAKE_ASSERT(kDefaultLayout.Pack({1, 2, 3}) > 0);
  EXPECT_DEATH(SNOWFLAKE_ASSERT(kDefaultLayout.tick_us == 0), "assert_test.cpp:.*assertion failed: .*tick_us == 0");
  EXPECT_DEATH(static_cast<void>(kDefaultLayout.Pack({0, 1024, 0})), "layout.h:.*assertion failed: Fits");
  EXPECT_EXIT((HandleAssertions(Exit), SNOWFLAKE_ASSERT(1 + 1 == 3)), testing::ExitedWithCode(3), "^1 . 1 == 3$");
}

}  // namespace
}  // namespace snowflake
