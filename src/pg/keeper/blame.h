// Whose fault an ERROR of an exchange is: the registry's, with the way to it, or this server's own,
// which could not ask or could not use the answer.
#pragma once

namespace snowflake {
// Set anew for each exchange. The registry in this database is to blame for all that happens in its
// transaction.
inline bool registry_failed = false;

// As a field of an error that a registry elsewhere is to blame for.
inline int BlameRegistry() {
  registry_failed = true;
  return 0;
}

}  // namespace snowflake
