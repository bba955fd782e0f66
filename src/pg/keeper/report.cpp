#include "pg/keeper/report.h"

#include "pg/database_layout.h"

namespace snowflake {

void ReportNoRegistry() {
  ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                  errmsg("the registry's database has no extension snowflake"),
                  errdetail("snowflake.registry leads to a database without it."),
                  errhint("CREATE EXTENSION snowflake there; it need not be preloaded.")));
  pg_unreachable();
}

void ReportOtherLayout(const Layout &ours, const Layout &theirs) {
  ereport(ERROR,
          (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("the registry has another layout"),
           errdetail("This database's has %s; the registry's has %s.", DescribeLayout(ours), DescribeLayout(theirs)),
           errhint("Set the registry's layout here with snowflake_set_layout(), before the first id is issued.")));
  pg_unreachable();
}

void ReportOlderTimeline(int64_t timeline, int64_t seen) {
  ereport(ERROR,
          (errcode(kNoLease), errmsg("the registry answers from an older timeline"),
           errdetail("It is at timeline %lld; answers of timeline %lld have been seen.", Long(timeline), Long(seen)),
           errhint("An old primary has come back: stop it.")));
  pg_unreachable();
}

void ReportAnswer(const char *what) {
  ereport(ERROR, (errcode(kNoLease), errmsg("the registry's answer cannot be"), errdetail_internal("%s", what),
                  errhint("Check snowflake.registry, and who may change that database.")));
  pg_unreachable();
}

}  // namespace snowflake
