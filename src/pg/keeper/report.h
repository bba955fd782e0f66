// What makes a registry on another server unfit. All raise an ERROR.
#pragma once

#include "core/layout.h"
#include "pg/report.h"

namespace snowflake {

[[noreturn]] void ReportNoRegistry();
[[noreturn]] void ReportOtherLayout(const Layout &ours, const Layout &theirs);

}  // namespace snowflake
