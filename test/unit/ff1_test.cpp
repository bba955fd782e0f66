// FF1: NIST's samples, and properties of every such encryption, for strings of many radixes and
// lengths.
#include "core/ff1.h"

#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "aes.h"
#include "random.h"

namespace snowflake {
namespace {

std::vector<uint8_t> Bytes(const std::string &hex) {
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i < hex.size(); i += 2)
    bytes.push_back(static_cast<uint8_t>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  return bytes;
}

constexpr const char *kNumerals = "0123456789abcdefghijklmnopqrstuvwxyz";

uint64_t Number(const std::string &numerals, uint32_t radix) {
  uint64_t number = 0;
  for (const char c : numerals) number = number * radix + static_cast<uint64_t>(std::strchr(kNumerals, c) - kNumerals);
  return number;
}

std::string Text(uint64_t number, uint32_t radix, int length) {
  std::string text(static_cast<size_t>(length), '0');
  for (auto at = text.rbegin(); at != text.rend(); ++at, number /= radix) *at = kNumerals[number % radix];
  return text;
}

Halves Split(const std::string &text, const Numerals &numerals) {
  const size_t left = static_cast<size_t>(numerals.left_length());
  return {Number(text.substr(0, left), numerals.radix), Number(text.substr(left), numerals.radix)};
}

std::string Joined(const Halves &halves, const Numerals &numerals) {
  return Text(halves.left, numerals.radix, numerals.left_length()) +
         Text(halves.right, numerals.radix, numerals.right_length());
}

struct Sample {
  const char *key;
  uint32_t radix;
  const char *tweak;
  const char *plain;
  const char *encrypted;
};

// "FF1samples.pdf", the examples of SP 800-38G.
const std::string kKey128 = "2B7E151628AED2A6ABF7158809CF4F3C", kKey192 = kKey128 + "EF4359D8D580AA4F",
                  kKey256 = kKey192 + "7F036D6F04FC6A94";
constexpr const char *kTweak10 = "39383736353433323130", *kTweak36 = "3737373770717273373737";

TEST(Ff1, NistSamples) {
  const Sample samples[] = {
      {kKey128.c_str(), 10, "", "0123456789", "2433477484"},
      {kKey128.c_str(), 10, kTweak10, "0123456789", "6124200773"},
      {kKey128.c_str(), 36, kTweak36, "0123456789abcdefghi", "a9tv40mll9kdu509eum"},
      {kKey192.c_str(), 10, "", "0123456789", "2830668132"},
      {kKey192.c_str(), 10, kTweak10, "0123456789", "2496655549"},
      {kKey192.c_str(), 36, kTweak36, "0123456789abcdefghi", "xbj3kv35jrawxv32ysr"},
      {kKey256.c_str(), 10, "", "0123456789", "6657667009"},
      {kKey256.c_str(), 10, kTweak10, "0123456789", "1001623463"},
      {kKey256.c_str(), 36, kTweak36, "0123456789abcdefghi", "xs8a0azh2avyalyzuwd"},
  };
  for (const Sample &sample : samples) {
    const Numerals numerals = {sample.radix, static_cast<int>(std::strlen(sample.plain))};
    ASSERT_TRUE(numerals.valid());
    const std::vector<uint8_t> tweak = Bytes(sample.tweak);
    const Aes cipher(Bytes(sample.key));
    const Ff1<Aes> ff1(cipher, numerals, {reinterpret_cast<const char *>(tweak.data()), tweak.size()});
    EXPECT_EQ(Joined(ff1.Encrypt(Split(sample.plain, numerals)), numerals), sample.encrypted);
    EXPECT_EQ(Joined(ff1.Decrypt(Split(sample.encrypted, numerals)), numerals), sample.plain);
  }
}

TEST(Ff1, Numerals) {
  constexpr auto valid = [](uint32_t radix, int length) { return Numerals{radix, length}.valid(); };
  EXPECT_TRUE(valid(2, 80));
  EXPECT_TRUE(valid(2, 20));
  EXPECT_FALSE(valid(2, 19));  // fewer than a million
  EXPECT_TRUE(valid(10, 6));
  EXPECT_FALSE(valid(10, 5));
  EXPECT_TRUE(valid(65536, 2));
  EXPECT_TRUE(valid(65536, 6));
  EXPECT_FALSE(valid(65536, 7));  // a half of 64 bits
  EXPECT_FALSE(valid(65537, 4));
  EXPECT_FALSE(valid(1, 80));
  EXPECT_FALSE(valid(0, 80));
  EXPECT_TRUE(valid(2, 112));
  EXPECT_FALSE(valid(2, 113));
  EXPECT_FALSE(valid(2, 0));
  EXPECT_FALSE(valid(2, -2));
}

// Every radix and length, and tweaks with lengths near a block's.
TEST(Ff1, DecryptsWhatItEncrypts) {
  std::mt19937_64 random = SeededRandom(20261123);
  std::vector<uint8_t> key(32);
  for (uint8_t &byte : key) byte = static_cast<uint8_t>(random());
  const Aes cipher(key);
  constexpr int kTrials = 20000;
  int trials = 0, same = 0, same_under_another_tweak = 0;
  while (trials < kTrials) {
    const uint32_t radix = 2 + static_cast<uint32_t>(random() >> random() % 16 & 0xffff) % 65535;
    const Numerals numerals = {radix, 2 + static_cast<int>(random() % 111)};
    if (!numerals.valid()) continue;
    ++trials;
    std::string tweak(random() % 70, '\0');
    for (char &c : tweak) c = static_cast<char>(random());
    const Ff1<Aes> ff1(cipher, numerals, tweak);
    const Halves plain = {random() % numerals.left_count(), random() % numerals.right_count()};
    const Halves encrypted = ff1.Encrypt(plain);
    ASSERT_LT(encrypted.left, numerals.left_count());
    ASSERT_LT(encrypted.right, numerals.right_count());
    ASSERT_TRUE(ff1.Decrypt(encrypted) == plain);
    ASSERT_TRUE(ff1.Encrypt(ff1.Decrypt(plain)) == plain);
    same += encrypted == plain;
    same_under_another_tweak += Ff1<Aes>(cipher, numerals, tweak + "x").Encrypt(plain) == encrypted;
  }
  // Of a million strings or more.
  EXPECT_LE(same, 2);
  EXPECT_LE(same_under_another_tweak, 2);
  std::cout << trials << " trials" << std::endl;
}

// The smallest strings are permuted: each one is reached once.
TEST(Ff1, Permutes) {
  const Aes cipher(Bytes(kKey256));
  const Numerals numerals = {10, 6};
  const Ff1<Aes> ff1(cipher, numerals, "order");
  std::vector<bool> seen(1000000);
  for (uint64_t left = 0; left < 1000; ++left)
    for (uint64_t right = 0; right < 1000; ++right) {
      const Halves encrypted = ff1.Encrypt({left, right});
      ASSERT_LT(encrypted.left, 1000u);
      ASSERT_LT(encrypted.right, 1000u);
      ASSERT_FALSE(seen[encrypted.left * 1000 + encrypted.right]);
      seen[encrypted.left * 1000 + encrypted.right] = true;
    }
}

}  // namespace
}  // namespace snowflake
