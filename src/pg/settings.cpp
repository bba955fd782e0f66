// Defines the settings and checks their values.
#include "pg/settings.h"

#include "core/lease.h"

namespace snowflake {
Settings settings;

namespace {
ConnectionString (*check_connection_string)(const char *text) = nullptr;

constexpr int kDayMs = 24 * 60 * 60 * 1000;
constexpr int kMinLeaseMs = static_cast<int>(kMinLeaseUs / kUsPerMs);
constexpr int kMaxLeaseMs = static_cast<int>(kMaxLeaseUs / kUsPerMs);

// A session may first use the library in a parallel query. A variable that is defined there gets
// the value that was set before only if it has this flag.
constexpr int kInParallel = GUC_ALLOW_IN_PARALLEL;

const config_enum_entry kStepBackOptions[] = {
    {"new_worker", static_cast<int>(OnClockStepBack::kNewWorker), false},
    {"error", static_cast<int>(OnClockStepBack::kError), false},
    {nullptr, 0, false},
};

// The message must not repeat the string.
const char *DetailOf(ConnectionString found) {
  return found == ConnectionString::kPassword ? "It contains a password, which others could read here."
                                              : "It is not a valid libpq connection string.";
}

bool CheckRegistry(char **value, void **extra, GucSource source) {
  const ConnectionString found = check_connection_string(*value);
  if (found == ConnectionString::kGood) return true;
  GUC_check_errcode(ERRCODE_INVALID_PARAMETER_VALUE);
  GUC_check_errmsg("invalid value for parameter \"snowflake.registry\"");
  GUC_check_errdetail("%s", DetailOf(found));
  if (found == ConnectionString::kPassword)
    GUC_check_errhint("Put the password into a passfile or a service file, or use a certificate.");
  return false;
}

// If a value from before the definition is refused, PostgreSQL only warns and takes the default.
// Ids would then come from this database's own registry instead of the configured one.
void CheckRegistryThatIsSet() {
  const char *value = GetConfigOption("snowflake.registry", true, false);
  if (value == nullptr) return;
  const ConnectionString found = check_connection_string(value);
  if (found != ConnectionString::kGood)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("invalid value for parameter \"snowflake.registry\""), errdetail("%s", DetailOf(found)),
                    errhint("Correct it where it was set; a password belongs in a passfile or a service file.")));
}

void DefineInt(const char *name, const char *what, const char *more, int *value, int initial, int least, int most,
               GucContext context, int flags = 0) {
  DefineCustomIntVariable(name, what, more, value, initial, least, most, context, flags | kInParallel, nullptr, nullptr,
                          nullptr);
}

}  // namespace

bool (*registry_leads_here)() = nullptr;

bool RegistryIsHere() { return AsksOwnTables() || registry_leads_here(); }

void DefineSettings(bool preloading, const SettingHooks &hooks) {
  check_connection_string = hooks.check_registry;
  CheckRegistryThatIsSet();
  DefineCustomStringVariable("snowflake.registry", "Connection string of the registry, without a password.",
                             "If empty, the registry is in the same database. A node uses what its keeper reads.",
                             &settings.registry, "", PGC_SUSET, GUC_SUPERUSER_ONLY | kInParallel, CheckRegistry,
                             nullptr, nullptr);
  DefineCustomStringVariable(
      "snowflake.node_name", "Name of this node in the registry.",
      "If empty, cluster_name, if set, with the host's name, port and database. A node uses what its keeper reads.",
      &settings.node_name, "", PGC_SUSET, kInParallel, nullptr, nullptr, nullptr);
  DefineCustomStringVariable("snowflake.mask_key_file", "File of the keys that mask ids.",
                             "If empty, snowflake_mask() and snowflake_unmask() raise an error.",
                             &settings.mask_key_file, "", PGC_SIGHUP, kInParallel, hooks.check_mask_key_file,
                             hooks.assign_mask_key_file, nullptr);
  DefineInt("snowflake.datacenter", "Datacenter of this node, for layouts with datacenter bits.",
            "A node uses what its keeper reads.", &settings.datacenter, 0, 0, PG_INT32_MAX, PGC_SUSET);
  DefineInt("snowflake.lease_duration", "How long a node issues ids without hearing from the registry.",
            "A node uses what its keeper reads.", &settings.lease_duration_ms, 10 * 60 * 1000, kMinLeaseMs, kMaxLeaseMs,
            PGC_SUSET, GUC_UNIT_MS);
  DefineInt("snowflake.max_clock_skew", "Maximum difference between a node's clock and the registry's.",
            "Checked by a registry that is asked over a connection. 0 disables the check.", &settings.max_clock_skew_ms,
            10 * 1000, 0, kDayMs, PGC_SUSET, GUC_UNIT_MS);
  DefineInt("snowflake.max_lease_duration", "Maximum duration of a lease that a node of another server requests.",
            "Applied by a registry that is asked over a connection.", &settings.max_lease_duration_ms, 60 * 60 * 1000,
            kMinLeaseMs, kMaxLeaseMs, PGC_SUSET, GUC_UNIT_MS);
  DefineInt("snowflake.max_leases_per_role", "Maximum number of leases of a role in this registry.",
            "0 means no limit.", &settings.max_leases_per_role, 0, 0, PG_INT32_MAX, PGC_SUSET);
  DefineInt("snowflake.max_lead", "Maximum time by which an id's timestamp may be ahead of the clock.",
            "Counted in ticks of the layout, rounded down, at least one.", &settings.max_lead_ms, 5, 0,
            static_cast<int>(kMostLeadUs / kUsPerMs), PGC_SIGHUP, GUC_UNIT_MS);
  DefineInt("snowflake.max_bridge", "Maximum time by which ids may be ahead of a wall clock that stepped back.",
            "Ids go on in order, at half speed, until it has caught up. 0 disables this.", &settings.max_bridge_ms,
            60 * 1000, 0, kDayMs, PGC_SIGHUP, GUC_UNIT_MS);
  DefineInt("snowflake.max_leap", "Largest forward step of the wall clock that is followed at once.",
            "A larger one is followed when it has lasted for ten minutes, or a registry elsewhere confirms it. "
            "0 follows every step at once.",
            &settings.max_leap_ms, kDayMs, 0, PG_INT32_MAX, PGC_SIGHUP, GUC_UNIT_MS);
  DefineCustomEnumVariable(
      "snowflake.on_clock_step_back", "Action when the clock has stepped back by more than max_bridge.",
      "new_worker acquires another worker id, whose watermark is in the past; error raises an error.",
      &settings.on_clock_step_back, static_cast<int>(OnClockStepBack::kNewWorker), kStepBackOptions, PGC_SIGHUP,
      kInParallel, nullptr, nullptr, nullptr);
  DefineInt("snowflake.start_timeout", "How long a call waits for a lease.", nullptr, &settings.start_timeout_ms, 5000,
            0, 60 * 60 * 1000, PGC_USERSET, GUC_UNIT_MS);
  // Only the postmaster can make its own variables; these may be set without preloading, too.
  const GucContext at_start = preloading ? PGC_POSTMASTER : PGC_SIGHUP;
  DefineInt("snowflake.max_databases", "Maximum number of databases of this server that can issue ids.",
            "Each takes 3 kB of shared memory, and 64 bytes for each possible connection. Has no effect if "
            "the library is not preloaded.",
            &settings.max_databases, 16, 1, 10000, at_start);
  DefineInt("snowflake.max_segments", "Maximum number of segments of this server that can be in use at a time.",
            "Each takes less than 1 kB of shared memory. Has no effect if the library is not preloaded.",
            &settings.max_segments, 64, 1, 100000, at_start);
  MarkGUCPrefixReserved("snowflake");
}

}  // namespace snowflake
