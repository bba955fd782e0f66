// Makes lease secrets of PostgreSQL's random numbers, and copies them to and from bytea.
#include "pg/registry/secrets.h"

#include "pg/catalogs.h"

namespace snowflake {
namespace {
template <size_t size>
Datum BytesDatum(const uint8_t (&bytes)[size]) {
  bytea *value = static_cast<bytea *>(palloc(VARHDRSZ + size));
  SET_VARSIZE(value, VARHDRSZ + size);
  memcpy(VARDATA(value), bytes, size);
  return PointerGetDatum(value);
}

template <size_t size>
void BytesFromDatum(Datum datum, const char *what, uint8_t (&bytes)[size]) {
  const bytea *value = DatumGetByteaPP(datum);
  if (VARSIZE_ANY_EXHDR(value) != size)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("invalid secret"),
                    errdetail("The %s has %d bytes instead of %d.", what, static_cast<int>(VARSIZE_ANY_EXHDR(value)),
                              static_cast<int>(size)),
                    errhint("The secret is 16 random bytes, and its hash is sha256() of them.")));
  memcpy(bytes, VARDATA_ANY(value), size);
}

// OpenSSL's contexts belong to a resource owner, which a process has only in transactions.
SecretHash HashOf(const Secret &secret) {
  SecretHash hash = {};
  const ResourceOwner outer = CurrentResourceOwner;
  const ResourceOwner owner = CurrentResourceOwner = ResourceOwnerCreate(outer, "snowflake lease secret");
  pg_cryptohash_ctx *context = pg_cryptohash_create(PG_SHA256);
  if (context == nullptr || pg_cryptohash_init(context) < 0 ||
      pg_cryptohash_update(context, secret.bytes, sizeof(secret.bytes)) < 0 ||
      pg_cryptohash_final(context, hash.bytes, sizeof(hash.bytes)) < 0)
    elog(ERROR, "could not hash a lease secret");
  pg_cryptohash_free(context);
  CurrentResourceOwner = outer;
  ResourceOwnerDelete(owner);
  return hash;
}

}  // namespace

Secret NewSecret() {
  Secret secret = {};
  if (!pg_strong_random(secret.bytes, sizeof(secret.bytes))) elog(ERROR, "could not generate a lease secret");
  secret.hash = HashOf(secret);
  return secret;
}

Datum SecretDatum(const Secret &secret) { return BytesDatum(secret.bytes); }
Datum SecretHashDatum(const SecretHash &hash) { return BytesDatum(hash.bytes); }

Secret SecretFromDatum(Datum bytes) {
  Secret secret = {};
  BytesFromDatum(bytes, "secret", secret.bytes);
  secret.hash = HashOf(secret);
  return secret;
}

SecretHash SecretHashFromDatum(Datum bytes) {
  SecretHash hash = {};
  BytesFromDatum(bytes, "hash of the secret", hash.bytes);
  return hash;
}

}  // namespace snowflake
