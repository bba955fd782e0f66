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

void ReportOlderTimeline(const Standing &standing, const RegistrySeen &seen) {
  const char *detail = psprintf(
      "It is at timeline %lld; this node has seen timeline %lld, and goes back only when snowflake_settle() was"
      " called in the registry's database.",
      Long(standing.timeline), Long(seen.timeline));
  if (standing.word_us < seen.word_us)
    detail = psprintf("It does not know that snowflake_settle() was called at %s.", Time(seen.word_us));
  ereport(ERROR,
          (errcode(kNoLease), errmsg("the registry answers from an older timeline"), errdetail_internal("%s", detail),
           errhint("If an old primary has come back, stop it. If this server is to be the registry from now on, call"
                   " snowflake_settle() in its database.")));
  pg_unreachable();
}

void ReportAnswer(const char *what) {
  ereport(ERROR, (errcode(kNoLease), errmsg("the registry's answer cannot be"), errdetail_internal("%s", what),
                  errhint("Check snowflake.registry, and who may change that database.")));
  pg_unreachable();
}

}  // namespace snowflake
