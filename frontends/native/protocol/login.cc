#include "frontends/native/protocol/login.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include "base/assert.h"

namespace stoa::native {
namespace {

Bytes transcript(ProofOf side, std::initializer_list<std::span<const std::byte>> said,
                 std::span<const std::byte> binding) {
  Bytes all;
  const auto add = [&all](std::span<const std::byte> part) {
    const std::size_t at = all.size();
    all.resize(at + sizeof(U32));
    store(all.data() + at, static_cast<U32>(part.size()));
    all.insert(all.end(), part.begin(), part.end());
  };
  add(as_bytes(side == ProofOf::kClient ? "stoa native 1 client" : "stoa native 1 server"));
  for (const auto part : said) add(part);
  if (!binding.empty()) add(binding);
  return all;
}

}  // namespace

Nonce make_nonce() {
  Nonce nonce;
  STOA_ASSERT(RAND_bytes(reinterpret_cast<unsigned char*>(nonce.data()), static_cast<int>(nonce.size())) == 1);
  return nonce;
}

Mac prove(ProofOf side, std::string_view secret, std::initializer_list<std::span<const std::byte>> said,
          std::span<const std::byte> binding) {
  const Bytes all = transcript(side, said, binding);
  Mac mac;
  unsigned int bytes = 0;
  const unsigned char* const made = HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
                                         reinterpret_cast<const unsigned char*>(all.data()), all.size(),
                                         reinterpret_cast<unsigned char*>(mac.data()), &bytes);
  STOA_ASSERT(made != nullptr && bytes == mac.size());
  return mac;
}

Digest digest(ProofOf side, std::initializer_list<std::span<const std::byte>> said,
              std::span<const std::byte> binding) {
  const Bytes all = transcript(side, said, binding);
  Digest made;
  unsigned int bytes = 0;
  STOA_ASSERT(EVP_Digest(all.data(), all.size(), reinterpret_cast<unsigned char*>(made.data()), &bytes, EVP_sha256(),
                         nullptr) == 1 &&
              bytes == made.size());
  return made;
}

Bytes to_sign(const Digest& said, std::span<const std::byte> token) {
  Bytes all(said.begin(), said.end());
  all.insert(all.end(), token.begin(), token.end());
  return all;
}

bool same(const Mac& mac, std::string_view given) {
  return given.size() == mac.size() && CRYPTO_memcmp(mac.data(), given.data(), mac.size()) == 0;
}

}  // namespace stoa::native
