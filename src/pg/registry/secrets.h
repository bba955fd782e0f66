// Lease secrets: random bytes, and their SHA-256. How a node makes one, and how SQL passes them.
// None of this needs a transaction. A registry stores only the hash, so a copy of its tables or log
// releases no lease.
#pragma once

#include "core/lease.h"
#include "pg/pg.h"

namespace snowflake {
// One that cannot be guessed.
Secret NewSecret();

// As bytea, in the current memory context, and back. Errors: 22023 for another length.
Datum SecretDatum(const Secret &secret);
Datum SecretHashDatum(const SecretHash &hash);
Secret SecretFromDatum(Datum bytes);
SecretHash SecretHashFromDatum(Datum bytes);

}  // namespace snowflake
