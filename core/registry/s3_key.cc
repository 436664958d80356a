#include <sys/random.h>

#include "base/assert.h"
#include "core/api/registry.h"

namespace stoa::core {
namespace {

// Uniform: bytes beyond the last whole multiple of the alphabet are thrown away.
std::string random_text(std::size_t length, std::string_view alphabet) {
  const unsigned fair = 256 / static_cast<unsigned>(alphabet.size()) * static_cast<unsigned>(alphabet.size());
  std::string text;
  while (text.size() < length) {
    unsigned char pool[64];
    STOA_ASSERT(getrandom(pool, sizeof pool, 0) == sizeof pool);  // never short up to 256 bytes (getrandom(2))
    for (const unsigned char byte : pool) {
      if (byte < fair && text.size() < length) text += alphabet[byte % alphabet.size()];
    }
  }
  return text;
}

}  // namespace

S3Key make_s3_key() {
  constexpr std::string_view kBase32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  // No '+' and '/': they need quoting in URLs and configuration files.
  constexpr std::string_view kAlphanumeric = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  return {.access_key = "ST" + random_text(18, kBase32), .secret_key = random_text(40, kAlphanumeric)};
}

}  // namespace stoa::core
