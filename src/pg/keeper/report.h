// What makes a registry, or its answer, unfit. All raise an ERROR.
#pragma once

#include "core/layout.h"
#include "pg/report.h"

namespace snowflake {

[[noreturn]] void ReportNoRegistry();
[[noreturn]] void ReportOtherLayout(const Layout &ours, const Layout &theirs);

[[noreturn]] void ReportOlderTimeline(int64_t timeline, int64_t seen);
[[noreturn]] void ReportAnswer(const char *what);

}  // namespace snowflake
