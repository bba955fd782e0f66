// The SQL functions that mask ids and read masked ids. COMMENT ON has arguments and errors.
//
// They are PARALLEL RESTRICTED: the leader of a query and its workers might have read different
// files of keys.
#include "core/mask.h"

#include "pg/report.h"
#include "pg/sql/mask_keys.h"
#include "pg/sql/prefix.h"

#ifdef SNOWFLAKE_WITH_LIBCRYPTO
#include <openssl/evp.h>
#endif

namespace snowflake {
namespace {
#ifdef SNOWFLAKE_WITH_LIBCRYPTO
[[noreturn]] void ReportCipher() {
  ereport(ERROR,
          (errcode(ERRCODE_INTERNAL_ERROR), errmsg("could not mask an id"),
           errdetail("libcrypto does not provide AES-256."), errhint("Check OpenSSL's configuration on this server.")));
}

class Aes {
 public:
  explicit Aes(EVP_CIPHER_CTX *context) : context_(context) {}

  void operator()(uint8_t *block) const {
    int size;
    if (EVP_EncryptUpdate(context_, block, &size, block, kBlockBytes) != 1) ReportCipher();
  }

 private:
  EVP_CIPHER_CTX *context_;
};

// The ciphers of this process by the numbers of their keys, made when they are first used. A reload
// may give a number another key.
struct KeyedCipher {
  EVP_CIPHER_CTX *context;
  uint8_t key[kMaskKeyBytes];
};
KeyedCipher ciphers[kMaxMaskKey + 1];

Aes CipherOf(const MaskKeys &keys, int number) {
  KeyedCipher &cipher = ciphers[number];
  const uint8_t *key = keys.bytes[number];
  if (cipher.context == nullptr || memcmp(cipher.key, key, kMaskKeyBytes) != 0) {
    EVP_CIPHER_CTX_free(cipher.context);
    cipher.context = EVP_CIPHER_CTX_new();
    if (cipher.context == nullptr ||
        EVP_EncryptInit_ex(cipher.context, EVP_aes_256_ecb(), nullptr, key, nullptr) != 1) {
      EVP_CIPHER_CTX_free(cipher.context);
      cipher.context = nullptr;
      ReportCipher();
    }
    memcpy(cipher.key, key, kMaskKeyBytes);
  }
  return Aes(cipher.context);
}

const MaskKeys &Keys() {
  const MaskKeys *keys = CurrentMaskKeys();
  if (keys == nullptr)
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("there is no key for masked ids"),
                    errdetail("The setting snowflake.mask_key_file is empty, or its file was refused."),
                    errhint("Set it in postgresql.conf to a file of keys and reload the configuration. "
                            "The view pg_file_settings shows whether the file is refused.")));
  return *keys;
}

constexpr const char *kCopy = "Copy the complete text from its source.";

[[noreturn]] void ReportMasked(const text *input, const char *detail, const char *hint) {
  ereport(ERROR,
          (errcode(ERRCODE_INVALID_TEXT_REPRESENTATION), errmsg("invalid masked text \"%s\"", text_to_cstring(input)),
           errdetail_internal("%s", detail), errhint("%s", hint)));
}

Masked MaskedIn(std::string_view digits, const text *input) {
  const MaskedReading reading = ReadMasked(digits);
  switch (reading.fault) {
    case MaskedFault::kNone: break;
    case MaskedFault::kForeign: ReportMasked(input, "It has a character that is not a digit of base58.", kCopy);
    case MaskedFault::kWidth:
      ReportMasked(input, psprintf("It has %zu digits after the prefix instead of %d.", digits.size(), kMaskWidth),
                   kCopy);
    case MaskedFault::kTooBig: ReportMasked(input, "Its digits are above all masked ids.", kCopy);
  }
  return reading.masked;
}
#else
[[noreturn]] void ReportNoLibcrypto() {
  ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED), errmsg("masked ids are not supported by this build"),
                  errdetail("The library was built without libcrypto."),
                  errhint("Install OpenSSL's headers and build snowflake again.")));
}
#endif

}  // namespace

SNOWFLAKE_FUNCTION(snowflake_mask) {
#ifdef SNOWFLAKE_WITH_LIBCRYPTO
  const std::string_view prefix = Prefix(PG_GETARG_TEXT_PP(1));
  const MaskKeys &keys = Keys();
  const Aes cipher = CipherOf(keys, keys.masking);
  char *digits;
  text *result = TextWithPrefix(prefix, kMaskWidth, &digits);
  WriteMasked({keys.masking, Ff1(cipher, kMaskNumerals, prefix).Encrypt(HalvesOf(PG_GETARG_INT64(0)))}, digits);
  PG_RETURN_TEXT_P(result);
#else
  ReportNoLibcrypto();
#endif
}

SNOWFLAKE_FUNCTION(snowflake_unmask) {
#ifdef SNOWFLAKE_WITH_LIBCRYPTO
  const text *input = PG_GETARG_TEXT_PP(0);
  const std::string_view prefix = Prefix(PG_GETARG_TEXT_PP(1));
  const MaskKeys &keys = Keys();
  const Masked masked = MaskedIn(DigitsAfter(prefix, input, "masked"), input);
  if (!keys.present[masked.key])
    ReportMasked(input, psprintf("There is no key with the number %d.", masked.key),
                 "If the text is genuine, put its key back into the file of snowflake.mask_key_file, and reload.");
  const Aes cipher = CipherOf(keys, masked.key);
  int64_t id;
  if (!IdOf(Ff1(cipher, kMaskNumerals, prefix).Decrypt(masked.halves), &id))
    ReportMasked(input, "Its check bits are wrong: it was changed, or masked with another key.", kCopy);
  PG_RETURN_INT64(id);
#else
  ReportNoLibcrypto();
#endif
}

}  // namespace snowflake
