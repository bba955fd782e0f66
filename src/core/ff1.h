// FF1 of NIST SP 800-38G: encrypts strings of numerals into strings of the same length and radix.
//
// A string is held as its two halves, each as the number that its numerals make, most significant
// first. The halves of n numerals are n / 2 (rounded down) and the rest. The block cipher is a
// parameter: a function that encrypts 16 bytes in place.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace snowflake {
inline constexpr int kBlockBytes = 16;

// Halves have less than 56 bits, so that a half and one byte more fit into a word.
inline constexpr uint64_t kMaxHalf = uint64_t{1} << 56;

struct Halves {
  uint64_t left;
  uint64_t right;

  friend constexpr bool operator==(const Halves &a, const Halves &b) { return a.left == b.left && a.right == b.right; }
};

// How many strings of `length` numerals there are, or 0 if they are more than a half may have.
constexpr uint64_t StringsOf(uint64_t radix, int length) {
  uint64_t count = 1;
  for (; length > 0; --length) {
    if (count > kMaxHalf / radix) return 0;
    count *= radix;
  }
  return count;
}

// Strings of `length` numerals. The standard asks for a radix of 2 to 2^16, and its revision for a
// million strings at least.
struct Numerals {
  uint32_t radix;
  int length;

  constexpr int left_length() const { return length / 2; }
  constexpr int right_length() const { return length - length / 2; }
  constexpr uint64_t left_count() const { return StringsOf(radix, left_length()); }
  constexpr uint64_t right_count() const { return StringsOf(radix, right_length()); }

  constexpr bool valid() const {
    return radix >= 2 && radix <= 1 << 16 && length >= 2 && right_count() != 0 &&
           left_count() >= (1000000 + right_count() - 1) / right_count();
  }
};

template <typename Cipher>
class Ff1 {
 public:
  // `numerals` must be valid. Everything that is the same in all rounds is encrypted here.
  Ff1(const Cipher &cipher, const Numerals &numerals, std::string_view tweak)
      : cipher_(cipher), left_count_(numerals.left_count()), right_count_(numerals.right_count()) {
    for (uint64_t rest = right_count_ - 1; rest > 0; rest >>= 8) ++half_bytes_;
    PutNumber(3, 3, numerals.radix);
    chain_[6] = kRounds;
    chain_[7] = static_cast<uint8_t>(numerals.left_length());
    PutNumber(8, 4, static_cast<uint64_t>(numerals.length));
    PutNumber(12, 4, tweak.size());
    cipher_(chain_);
    // The tweak is followed by zeros, so that the round's number and its half end a block.
    size_t at = 0;
    for (const char c : tweak) {
      chain_[at++] ^= static_cast<uint8_t>(c);
      if (at == kBlockBytes) {
        cipher_(chain_);
        at = 0;
      }
    }
    if (at + 1 + static_cast<size_t>(half_bytes_) > kBlockBytes) cipher_(chain_);
  }

  Halves Encrypt(Halves halves) const {
    for (uint8_t round = 0; round < kRounds; ++round) {
      const uint64_t count = CountOf(round);
      halves = {halves.right, (halves.left + RoundValue(round, halves.right, count)) % count};
    }
    return halves;
  }

  Halves Decrypt(Halves halves) const {
    for (uint8_t round = kRounds; round-- > 0;) {
      const uint64_t count = CountOf(round);
      halves = {(halves.right + (count - RoundValue(round, halves.left, count))) % count, halves.left};
    }
    return halves;
  }

 private:
  static constexpr uint8_t kRounds = 10;

  static constexpr uint8_t Byte(uint64_t number, int place) { return static_cast<uint8_t>(number >> (8 * place)); }
  constexpr uint64_t CountOf(uint8_t round) const { return round % 2 == 0 ? left_count_ : right_count_; }

  void PutNumber(int at, int bytes, uint64_t number) {
    for (int i = 0; i < bytes; ++i) chain_[at + i] = Byte(number, bytes - 1 - i);
  }

  // The first bytes of the encrypted block are a number; this is its remainder by `count`.
  uint64_t RoundValue(uint8_t round, uint64_t half, uint64_t count) const {
    uint8_t block[kBlockBytes];
    memcpy(block, chain_, kBlockBytes);
    block[kBlockBytes - 1 - half_bytes_] ^= round;
    for (int place = 0; place < half_bytes_; ++place) block[kBlockBytes - 1 - place] ^= Byte(half, place);
    cipher_(block);
    const int number_bytes = 4 * ((half_bytes_ + 3) / 4) + 4;
    uint64_t value = 0;
    for (int i = 0; i < number_bytes; ++i) value = (value << 8 | block[i]) % count;
    return value;
  }

  const Cipher &cipher_;
  uint64_t left_count_;
  uint64_t right_count_;
  int half_bytes_ = 0;
  uint8_t chain_[kBlockBytes] = {1, 2, 1};
};

}  // namespace snowflake
