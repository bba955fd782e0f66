// Bytes from elsewhere as text of this database: names of hosts and databases, and a registry's
// messages. They are for people, so bytes that an encoding cannot hold are shown, not refused.
#pragma once

#include "pg/pg.h"

namespace snowflake {
enum class Alphabet {
  kOurs,   // what is valid in this database's encoding
  kAscii,  // what is valid in every database's
};

// Copies `from`, with each byte that is no part of a valid character as \xHH. Cut off before the
// character that would not fit into `size` bytes, with the terminating zero.
inline void CopyPresentable(char *to, size_t size, const char *from, Alphabet alphabet = Alphabet::kOurs) {
  const int encoding = GetDatabaseEncoding();
  size_t left = strnlen(from, size);
  while (left > 0) {
    int length = 1;
    bool valid = !IS_HIGHBIT_SET(*from);
    if (!valid && alphabet == Alphabet::kOurs) {
      length = pg_encoding_verifymbchar(encoding, from, static_cast<int>(left));
      valid = length > 0;
      if (!valid) length = 1;
    }
    const size_t written = valid ? length : strlen("\\xff");
    if (written >= size) break;
    if (valid)
      memcpy(to, from, written);
    else
      snprintf(to, size, "\\x%02x", static_cast<unsigned char>(*from));
    to += written;
    size -= written;
    from += length;
    left -= length;
  }
  *to = '\0';
}

}  // namespace snowflake
