// The settings, `snowflake.*`. Times are in milliseconds.
#pragma once

#include "core/node.h"
#include "pg/pg.h"

namespace snowflake {
enum class OnClockStepBack : int { kNewWorker, kError };

struct Settings {
  char *registry;
  char *node_name;
  char *mask_key_file;
  int datacenter;
  int lease_duration_ms;
  int max_clock_skew_ms;
  int max_lease_duration_ms;
  int max_leases_per_role;
  int max_lead_ms;
  int max_bridge_ms;
  int max_leap_ms;
  int on_clock_step_back;
  int start_timeout_ms;
  int max_databases;
  int max_segments;
};

extern Settings settings;

// A role or a database may have settings that make the small queries of an exchange slow: a plan
// that looks dear is compiled first, or waits for workers. So a keeper and its connections have
// these.
inline constexpr const char *kQuickPlans[][2] = {{"jit", "off"},
                                                 {"max_parallel_workers_per_gather", "0"},
                                                 {"enable_seqscan", "on"},
                                                 {"enable_indexscan", "on"},
                                                 {"enable_sort", "on"},
                                                 {"enable_nestloop", "on"},
                                                 {"enable_hashjoin", "on"},
                                                 {"enable_hashagg", "on"}};

// Whether the setting names the registry in this database, which needs no connection.
inline bool AsksOwnTables() { return settings.registry[0] == '\0'; }

// Whether the registry is in this database: by the setting, or because the keeper found that the
// setting leads here. `registry_leads_here` is set when the library is loaded.
bool RegistryIsHere();
extern bool (*registry_leads_here)();

// A hash of a connection string, to tell registries apart.
inline uint64_t HashOfRegistry(const char *conninfo) {
  const auto *text = reinterpret_cast<const unsigned char *>(conninfo);
  return DatumGetUInt64(hash_any_extended(text, static_cast<int>(strlen(conninfo)), 0));
}
inline uint64_t HashOfRegistry() { return HashOfRegistry(settings.registry); }
inline uint64_t HashOfOwnTables() { return HashOfRegistry(""); }

// What the settings of this process say. What is in force for all is in NodeState: the keeper puts
// it there, and the process that creates the node.
inline ClockPolicy ConfiguredPolicy() {
  return {settings.max_lead_ms * kUsPerMs,
          {settings.max_bridge_ms * kUsPerMs, settings.max_leap_ms * kUsPerMs},
          settings.on_clock_step_back == static_cast<int>(OnClockStepBack::kNewWorker)};
}

// What is wrong with a connection string; an empty one is good.
enum class ConnectionString { kGood, kInvalid, kPassword };

// How values are judged by code that this room does not know.
struct SettingHooks {
  ConnectionString (*check_registry)(const char *text);
  GucStringCheckHook check_mask_key_file;
  GucStringAssignHook assign_mask_key_file;
};

// Called once per load of the library. `preloading`: in the postmaster, the only time when the size
// of shared memory can still be set.
void DefineSettings(bool preloading, const SettingHooks &hooks);

}  // namespace snowflake
