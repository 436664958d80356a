#include "frontends/s3/checksum/crc.h"

#include <isa-l/crc.h>

#include <array>
#include <cstring>

namespace stoa::s3 {
namespace {

constexpr std::uint64_t kCrc64NvmePolynomial = 0x9A6C9329AC4BC9B5;  // reflected
constexpr std::uint32_t kCrc32Polynomial = 0xEDB88320;
constexpr std::uint32_t kCrc32cPolynomial = 0x82F63B78;

// Slicing: tables[k][b] is the check of byte b followed by k zero bytes; sixteen bytes go in one step.
constexpr std::size_t kSlices = 16;
using Crc64Tables = std::array<std::array<std::uint64_t, 256>, kSlices>;

const Crc64Tables& crc64_tables() {
  static const Crc64Tables tables = [] {
    Crc64Tables made{};
    for (std::size_t b = 0; b < 256; ++b) {
      std::uint64_t crc = b;
      for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kCrc64NvmePolynomial : 0);
      made[0][b] = crc;
    }
    for (std::size_t k = 1; k < kSlices; ++k) {
      for (std::size_t b = 0; b < 256; ++b) made[k][b] = (made[k - 1][b] >> 8) ^ made[0][made[k - 1][b] & 0xff];
    }
    return made;
  }();
  return tables;
}

// Appending n zero bits multiplies the check by x^n modulo the polynomial. In reflected order the highest bit is x^0.
template <class Word>
Word multiply(Word a, Word b, Word polynomial) {
  constexpr Word kOne = Word{1} << (sizeof(Word) * 8 - 1);
  Word product = 0;
  for (Word bit = kOne; bit != 0; bit >>= 1) {
    if ((a & bit) != 0) product ^= b;
    b = (b >> 1) ^ ((b & 1) != 0 ? polynomial : 0);
  }
  return product;
}

template <class Word>
Word join(Word a, Word b, std::uint64_t b_bytes, Word polynomial) {
  constexpr Word kOne = Word{1} << (sizeof(Word) * 8 - 1);
  Word factor = kOne;
  Word power = kOne >> 8;  // x^8: one byte
  for (; b_bytes != 0; b_bytes >>= 1) {
    if ((b_bytes & 1) != 0) factor = multiply(factor, power, polynomial);
    power = multiply(power, power, polynomial);
  }
  return multiply(factor, a, polynomial) ^ b;
}

}  // namespace

std::uint32_t crc32(std::span<const std::byte> data, std::uint32_t crc) {
  if (data.empty()) return crc;
  return crc32_gzip_refl(crc, reinterpret_cast<const unsigned char*>(data.data()), data.size());
}

std::uint64_t crc64_nvme(std::span<const std::byte> data, std::uint64_t crc) {
  const Crc64Tables& t = crc64_tables();
  crc = ~crc;
  const auto* at = reinterpret_cast<const unsigned char*>(data.data());
  std::size_t left = data.size();
  for (; left >= kSlices; at += kSlices, left -= kSlices) {
    std::uint64_t low, high;
    std::memcpy(&low, at, 8);
    std::memcpy(&high, at + 8, 8);
    low ^= crc;
    std::uint64_t next = 0;
    for (std::size_t i = 0; i < 8; ++i) {
      next ^= t[15 - i][low >> (8 * i) & 0xff] ^ t[7 - i][high >> (8 * i) & 0xff];
    }
    crc = next;
  }
  for (; left != 0; ++at, --left) crc = (crc >> 8) ^ t[0][(crc ^ *at) & 0xff];
  return ~crc;
}

std::uint32_t crc32_join(std::uint32_t a, std::uint32_t b, std::uint64_t b_bytes) {
  return join<std::uint32_t>(a, b, b_bytes, kCrc32Polynomial);
}
std::uint32_t crc32c_join(std::uint32_t a, std::uint32_t b, std::uint64_t b_bytes) {
  return join<std::uint32_t>(a, b, b_bytes, kCrc32cPolynomial);
}
std::uint64_t crc64_nvme_join(std::uint64_t a, std::uint64_t b, std::uint64_t b_bytes) {
  return join<std::uint64_t>(a, b, b_bytes, kCrc64NvmePolynomial);
}

}  // namespace stoa::s3
