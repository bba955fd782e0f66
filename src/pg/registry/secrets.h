// Lease secrets: how a node makes one, and how SQL has them. Nothing of this needs a transaction.
#pragma once

#include "core/lease.h"
#include "pg/pg.h"

namespace snowflake {

// One that nobody can guess.
Secret NewSecret();

// As bytea, in the current memory context, and back. Errors: 22023 for another length.
Datum SecretDatum(const Secret &secret);
Datum SecretHashDatum(const SecretHash &hash);
Secret SecretFromDatum(Datum bytes);
SecretHash SecretHashFromDatum(Datum bytes);

}  // namespace snowflake
