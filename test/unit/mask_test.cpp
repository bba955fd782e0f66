// Masked ids as text, and files of keys. Each written text is read back, and no other text is read.
// A text looks random: each bit of an id changes each bit of the text in half of the cases, and a
// wrong text is accepted once in 65,536 times.
//
// Optimized: it takes seconds, and half a minute without.
#include "core/mask.h"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/text.h"
#include "aes.h"
#include "random.h"

namespace snowflake {
namespace {

constexpr uint64_t kHalf = uint64_t{1} << kMaskHalfBits;

std::string Text(const Masked &masked) {
  std::string text(kMaskWidth, '?');
  WriteMasked(masked, text.data());
  return text;
}

TEST(Mask, IdsAreHalvesWithSixteenZeros) {
  std::mt19937_64 random = SeededRandom(20261124);
  std::vector<int64_t> ids = {0, 1, -1, std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};
  for (int i = 0; i < 100000; ++i) ids.push_back(static_cast<int64_t>(random()) >> random() % 64);
  for (const int64_t id : ids) {
    const Halves halves = HalvesOf(id);
    ASSERT_LT(halves.left, kHalf);
    ASSERT_LT(halves.right, kHalf);
    ASSERT_EQ(halves.right & 0xffff, 0u);
    int64_t read = ~id;
    ASSERT_TRUE(IdOf(halves, &read));
    ASSERT_EQ(read, id);
    ASSERT_FALSE(IdOf({halves.left, halves.right | uint64_t{1} << random() % 16}, &read));
  }
  // Bit by bit, most significant first.
  EXPECT_TRUE((HalvesOf(std::numeric_limits<int64_t>::min()) == Halves{kHalf / 2, 0}));
  EXPECT_TRUE((HalvesOf(1) == Halves{0, 0x10000}));
  EXPECT_TRUE((HalvesOf(-1) == Halves{kHalf - 1, kHalf - 0x10000}));
}

// From another implementation of FF1, in Python: prefixes with lengths at which the tweak needs
// another block.
TEST(Mask, PrefixesOfManyLengths) {
  struct Vector {
    size_t prefix;
    uint64_t left, right;
  };
  constexpr Vector kVectors[] = {
      {0, 0x5052df306d, 0x54c59dda78},  {9, 0xb820086372, 0xe0fabb757a},  {10, 0x46696bc4a5, 0x8b0eada740},
      {11, 0xaeaf06f77b, 0x687b6618b3}, {16, 0xd0b40158cb, 0x0205105bf6}, {26, 0x20691bde5c, 0x485a56aaab},
      {27, 0xd3a759ea1d, 0xc9634918ca}, {42, 0xe360b3a0ec, 0x53a1aff67e}, {58, 0x73702d0a34, 0xddbdf77f21},
      {63, 0xc30c421c04, 0x2e785e870d},
  };
  std::vector<uint8_t> key;
  for (int i = 0; i < kMaskKeyBytes; ++i) key.push_back(static_cast<uint8_t>(i));
  const Aes cipher(key);
  for (const Vector &vector : kVectors) {
    const std::string prefix(vector.prefix, 'z');
    const Ff1<Aes> ff1(cipher, kMaskNumerals, prefix);
    EXPECT_TRUE((ff1.Encrypt(HalvesOf(249788568795254815)) == Halves{vector.left, vector.right})) << vector.prefix;
    EXPECT_TRUE(ff1.Decrypt({vector.left, vector.right}) == HalvesOf(249788568795254815)) << vector.prefix;
  }
}

TEST(Mask, TextIsReadAsItIsWritten) {
  std::mt19937_64 random = SeededRandom(20261125);
  for (int i = 0; i < 100000; ++i) {
    const uint64_t shift = random() % 41;
    const Masked masked = {1 + static_cast<int>(random() % kMaxMaskKey), {random() % kHalf >> shift, random() % kHalf}};
    const std::string text = Text(masked);
    ASSERT_EQ(text.find_first_not_of(Base58().digits), std::string::npos);
    const MaskedReading reading = ReadMasked(text);
    ASSERT_EQ(static_cast<int>(reading.fault), static_cast<int>(MaskedFault::kNone));
    ASSERT_EQ(reading.masked.key, masked.key);
    ASSERT_TRUE(reading.masked.halves == masked.halves);
  }
  EXPECT_EQ(Text({1, {0, 0}}), "211111111111111");
  EXPECT_EQ(Text({57, {0, 57}}), "z1111111111111z");
  EXPECT_EQ(Text({2, {0, 58}}), "311111111111121");
}

TEST(Mask, NothingElseIsRead) {
  const auto fault = [](const std::string &text) { return ReadMasked(text).fault; };
  const std::string largest = Text({1, {kHalf - 1, kHalf - 1}});
  EXPECT_TRUE(fault(largest) == MaskedFault::kNone);
  std::string above = largest;
  above.back() = 'z';
  ASSERT_NE(above, largest);
  EXPECT_TRUE(fault(above) == MaskedFault::kTooBig);
  EXPECT_TRUE(fault("2zzzzzzzzzzzzzz") == MaskedFault::kTooBig);
  EXPECT_TRUE(fault("") == MaskedFault::kWidth);
  EXPECT_TRUE(fault(largest.substr(1)) == MaskedFault::kWidth);
  EXPECT_TRUE(fault(largest + "1") == MaskedFault::kWidth);
  for (size_t at = 0; at < largest.size(); ++at)
    for (int c = 0; c < 256; ++c) {
      std::string text = largest;
      text[at] = static_cast<char>(c);
      const bool digit = c != 0 && std::string(Base58().digits).find(static_cast<char>(c)) != std::string::npos;
      const MaskedReading reading = ReadMasked(text);
      ASSERT_EQ(reading.fault == MaskedFault::kForeign, !digit) << at << " " << c;
      if (!digit) {
        ASSERT_EQ(reading.at, at);
      }
    }
}

std::vector<uint8_t> RandomKey(std::mt19937_64 *random) {
  std::vector<uint8_t> key(kMaskKeyBytes);
  for (uint8_t &byte : key) byte = static_cast<uint8_t>((*random)());
  return key;
}

// Chi-squared with n degrees of freedom is nearly normal for large n. Returns the distance from its
// mean in standard deviations.
double Deviations(double chi_squared, int degrees) {
  return std::abs(chi_squared - degrees) / std::sqrt(2.0 * degrees);
}

// The squared deviation from half of `trials`, in units of its variance.
double Square(int64_t count, int64_t trials) {
  const double off = static_cast<double>(count) - static_cast<double>(trials) / 2;
  return off * off / (static_cast<double>(trials) / 4);
}

TEST(Mask, EachBitOfAnIdChangesHalfOfTheBits) {
  std::mt19937_64 random = SeededRandom(20261126);
  constexpr int kIds = 4000, kIdBits = 64, kBits = 2 * kMaskHalfBits;
  static int64_t changed[kIdBits][kBits];
  int64_t sum = 0;
  for (int trial = 0; trial < kIds; ++trial) {
    const Aes cipher(RandomKey(&random));
    const Ff1<Aes> ff1(cipher, kMaskNumerals, "order");
    // Like real ids: the ids of one layout differ in few bits.
    const int64_t id = static_cast<int64_t>(random()) >> random() % 64;
    const Halves before = ff1.Encrypt(HalvesOf(id));
    for (int bit = 0; bit < kIdBits; ++bit) {
      const Halves after = ff1.Encrypt(HalvesOf(static_cast<int64_t>(static_cast<uint64_t>(id) ^ uint64_t{1} << bit)));
      for (int i = 0; i < kMaskHalfBits; ++i) {
        changed[bit][i] += ((before.left ^ after.left) >> i) & 1;
        changed[bit][kMaskHalfBits + i] += ((before.right ^ after.right) >> i) & 1;
      }
    }
  }
  double pairs = 0;
  for (const auto &row : changed) {
    for (const int64_t count : row) {
      pairs += Square(count, kIds);
      sum += count;
    }
  }
  const int degrees = kIdBits * kBits;
  std::cout << kIds * kIdBits << " flipped bits changed " << 100.0 * static_cast<double>(sum) / kIds / degrees
            << " % of the bits; chi-squared " << pairs << " with " << degrees << " degrees of freedom" << std::endl;
  EXPECT_LT(Deviations(pairs, degrees), 5);
}

TEST(Mask, WrongTextsAreAcceptedOnceIn65536Times) {
  std::mt19937_64 random = SeededRandom(20261127);
  constexpr int kTrials = 1000000;
  const Aes cipher(RandomKey(&random)), another(RandomKey(&random));
  const Ff1<Aes> ff1(cipher, kMaskNumerals, "order"), prefix(cipher, kMaskNumerals, "item"),
      key(another, kMaskNumerals, "order");
  int accepted[3] = {}, trials[3] = {};
  while (trials[0] + trials[1] + trials[2] < kTrials) {
    const int kind = static_cast<int>(random() % 3);
    Halves halves = ff1.Encrypt(HalvesOf(static_cast<int64_t>(random() >> 1)));
    if (kind == 2) {
      std::string text = Text({1, halves});
      char &digit = text[1 + random() % kMaskDigits];
      const char before = digit;
      digit = Base58().digits[random() % 58];
      const MaskedReading reading = ReadMasked(text);
      if (digit == before || reading.fault != MaskedFault::kNone) continue;
      halves = reading.masked.halves;
    }
    int64_t id = 0;
    ++trials[kind];
    accepted[kind] += IdOf((kind == 0 ? prefix : kind == 1 ? key : ff1).Decrypt(halves), &id);
  }
  std::cout << "accepted of " << kTrials << " texts: with another prefix " << accepted[0] << ", another key "
            << accepted[1] << ", another digit " << accepted[2] << std::endl;
  // 15.3 are expected. Poisson's distribution is outside this range once in a million times.
  const int all = accepted[0] + accepted[1] + accepted[2];
  EXPECT_GE(all, 2);
  EXPECT_LE(all, 38);
}

const std::string kHex = "000102030405060708090a0b0c0d0e0f101112131415161718191A1B1C1D1E1F";
const std::string kOther(64, 'f');

MaskKeysReading Read(const std::string &text, MaskKeys *keys) { return ReadMaskKeys(text, keys); }

void ExpectFault(const std::string &text, MaskKeysFault fault, int line, int number = 0) {
  MaskKeys keys;
  const MaskKeysReading reading = Read(text, &keys);
  EXPECT_EQ(static_cast<int>(reading.fault), static_cast<int>(fault)) << text;
  EXPECT_EQ(reading.line, line) << text;
  EXPECT_EQ(reading.number, number) << text;
}

TEST(MaskKeys, TheLastLineMasks) {
  MaskKeys keys;
  ASSERT_TRUE(Read("1 " + kHex + "\n57 " + kOther + "\n\n# a comment\n  2\t" + kHex + " \r\n", &keys).fault ==
              MaskKeysFault::kNone);
  EXPECT_EQ(keys.masking, 2);
  for (int number = 0; number <= kMaxMaskKey; ++number)
    EXPECT_EQ(keys.present[number], number == 1 || number == 2 || number == 57);
  for (int i = 0; i < kMaskKeyBytes; ++i) {
    EXPECT_EQ(keys.bytes[1][i], i);
    EXPECT_EQ(keys.bytes[2][i], i);
    EXPECT_EQ(keys.bytes[57][i], 0xff);
  }
  // Without a newline at the end.
  ASSERT_TRUE(Read("01 " + kHex, &keys).fault == MaskKeysFault::kNone);
  EXPECT_EQ(keys.masking, 1);
  EXPECT_FALSE(keys.present[57]);
}

TEST(MaskKeys, Faults) {
  for (const char *text : {"", "\n", "# 1\n", "  \n\t\r\n"}) {
    MaskKeys keys;
    EXPECT_TRUE(Read(text, &keys).fault == MaskKeysFault::kNoKey) << text;
    EXPECT_EQ(keys.masking, 0);
  }
  const std::string good = "1 " + kHex + "\n";
  ExpectFault(good + "2 " + kHex.substr(1), MaskKeysFault::kMalformed, 2);
  ExpectFault(good + "2 " + kHex + "0", MaskKeysFault::kMalformed, 2);
  ExpectFault(good + "\n2 " + kHex.substr(1) + "g", MaskKeysFault::kMalformed, 3);
  ExpectFault(good + "2 " + kHex + " 3", MaskKeysFault::kMalformed, 2);
  ExpectFault(good + "2" + kHex, MaskKeysFault::kMalformed, 2);
  ExpectFault(good + kHex, MaskKeysFault::kMalformed, 2);
  ExpectFault(good + "-2 " + kHex, MaskKeysFault::kMalformed, 2);
  ExpectFault(good + "two " + kHex, MaskKeysFault::kMalformed, 2);
  ExpectFault(good + "2", MaskKeysFault::kMalformed, 2);
  ExpectFault(good + "2 ", MaskKeysFault::kMalformed, 2);
  ExpectFault(good + "2 " + kHex.substr(0, 32) + " " + kHex.substr(32), MaskKeysFault::kMalformed, 2);
  ExpectFault(good + std::string("2 \0", 3) + kHex, MaskKeysFault::kMalformed, 2);
  ExpectFault(good + "0 " + kHex, MaskKeysFault::kNumber, 2, 0);
  ExpectFault("58 " + kHex, MaskKeysFault::kNumber, 1, 58);
  MaskKeys keys;
  EXPECT_TRUE(Read("99999999999999999999999 " + kHex, &keys).fault == MaskKeysFault::kNumber);
  ExpectFault(good + "2 " + kHex + "\n1 " + kOther, MaskKeysFault::kTwice, 3, 1);
}

}  // namespace
}  // namespace snowflake
