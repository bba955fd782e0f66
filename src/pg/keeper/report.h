// What makes a registry, or its answer, unfit. All raise an ERROR.
#pragma once

#include "core/node.h"
#include "pg/report.h"

namespace snowflake {

[[noreturn]] void ReportNoRegistry();
[[noreturn]] void ReportOtherLayout(const Layout &ours, const Layout &theirs);

[[noreturn]] void ReportOlderTimeline(const Standing &standing, const RegistrySeen &seen);
[[noreturn]] void ReportAnswer(const char *what);

}  // namespace snowflake
