// Masked ids: texts that show neither time nor order nor volume, and that only a key turns back.
//
// 1. A text is a prefix, '_', the key's number as a base58 digit, and 14 base58 digits, most
//    significant first, of 80 bits. With the empty prefix there is no '_'.
// 2. The 80 bits are FF1's (core/ff1.h) of the id's 64 bits and 16 zeros. The tweak is the prefix.
//    So another prefix, key or digit leaves zeros with a probability of one in 65,536.
// 3. All keys read; the last one in their file writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/ff1.h"

namespace snowflake {
inline constexpr Numerals kMaskNumerals = {2, 80};
inline constexpr int kMaskCheckBits = 16;
inline constexpr int kMaskHalfBits = 40;
static_assert(kMaskNumerals.valid() && kMaskNumerals.left_count() == uint64_t{1} << kMaskHalfBits);

constexpr Halves HalvesOf(int64_t id) {
  const uint64_t bits = static_cast<uint64_t>(id);
  constexpr int kRight = kMaskHalfBits - kMaskCheckBits;
  return {bits >> kRight, (bits & ((uint64_t{1} << kRight) - 1)) << kMaskCheckBits};
}

// Whether the check bits are zero; then `*id` is set.
constexpr bool IdOf(const Halves &halves, int64_t *id) {
  if ((halves.right & ((uint64_t{1} << kMaskCheckBits) - 1)) != 0) return false;
  *id = static_cast<int64_t>(halves.left << (kMaskHalfBits - kMaskCheckBits) | halves.right >> kMaskCheckBits);
  return true;
}

// --- The text, without its prefix ---

inline constexpr int kMaskDigits = 14;
inline constexpr int kMaskWidth = 1 + kMaskDigits;

struct Masked {
  int key;
  Halves halves;
};

enum class MaskedFault {
  kNone,
  kForeign,  // a byte that is no digit of base58
  kWidth,    // not kMaskWidth bytes
  kTooBig,   // more than 80 bits
};

// Writes kMaskWidth bytes.
void WriteMasked(const Masked &masked, char *out);

struct MaskedReading {
  MaskedFault fault;
  Masked masked;  // for kNone
  size_t at;      // where the foreign byte is, for kForeign
};

MaskedReading ReadMasked(std::string_view text);

// --- The keys ---

inline constexpr int kMaxMaskKey = 57;  // the highest base58 digit
inline constexpr int kMaskKeyBytes = 32;

// By number, from 1 up.
struct MaskKeys {
  int masking;  // the number of the key that masks, or 0: there is no key
  bool present[kMaxMaskKey + 1];
  uint8_t bytes[kMaxMaskKey + 1][kMaskKeyBytes];
};

enum class MaskKeysFault {
  kNone,
  kNoKey,      // of the file
  kMalformed,  // not a number and 64 hexadecimal digits
  kNumber,     // not 1 to kMaxMaskKey
  kTwice,
};

struct MaskKeysReading {
  MaskKeysFault fault;
  int line;    // from 1
  int number;  // for kNumber and kTwice
};

// Reads the text of a file of keys: a line for each, empty lines, and comments that begin with '#'.
MaskKeysReading ReadMaskKeys(std::string_view text, MaskKeys *keys);

}  // namespace snowflake
