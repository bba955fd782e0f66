// AES by libcrypto, for encryption in tests.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include <openssl/evp.h>

#include "core/ff1.h"

namespace snowflake {

class Aes {
 public:
  explicit Aes(const std::vector<uint8_t> &key) : context_(EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free) {
    const EVP_CIPHER *cipher = key.size() == 16   ? EVP_aes_128_ecb()
                               : key.size() == 24 ? EVP_aes_192_ecb()
                                                  : EVP_aes_256_ecb();
    if (EVP_EncryptInit_ex(context_.get(), cipher, nullptr, key.data(), nullptr) != 1) std::abort();
  }

  void operator()(uint8_t *block) const {
    int size = 0;
    if (EVP_EncryptUpdate(context_.get(), block, &size, block, kBlockBytes) != 1 || size != kBlockBytes) std::abort();
  }

 private:
  std::shared_ptr<EVP_CIPHER_CTX> context_;
};

}  // namespace snowflake
