#include "base/crc32c.h"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace stoa {
namespace {

constexpr std::uint32_t kPolynomial = 0x82F63B78;  // reflected

constexpr std::array<std::array<std::uint32_t, 256>, 8> make_tables() {
  std::array<std::array<std::uint32_t, 256>, 8> tables{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
    tables[0][i] = crc;
  }
  for (std::uint32_t i = 0; i < 256; ++i) {
    for (std::size_t t = 1; t < 8; ++t) tables[t][i] = (tables[t - 1][i] >> 8) ^ tables[0][tables[t - 1][i] & 0xff];
  }
  return tables;
}
constexpr auto kTables = make_tables();

std::uint32_t crc_portable(const unsigned char* p, std::size_t size, std::uint32_t crc) {
  for (; size >= 8; size -= 8, p += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, p, 8);
    word ^= crc;
    crc = 0;
    for (std::size_t i = 0; i < 8; ++i) crc ^= kTables[7 - i][(word >> (8 * i)) & 0xff];
  }
  for (; size > 0; --size) crc = (crc >> 8) ^ kTables[0][(crc ^ *p++) & 0xff];
  return crc;
}

#if defined(__x86_64__)
// Multiplies crc by x^(8*bytes) modulo the polynomial: joins the three streams below.
constexpr std::uint32_t shift_by_bytes(std::uint32_t crc, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) crc = (crc >> 8) ^ kTables[0][crc & 0xff];
  return crc;
}

// Three independent streams hide the 3-cycle latency of the crc32 instruction.
constexpr std::size_t kStreamBytes = 1024;

constexpr std::array<std::array<std::uint32_t, 256>, 4> make_shift_tables() {
  std::array<std::array<std::uint32_t, 256>, 4> tables{};
  std::array<std::uint32_t, 32> powers{};  // the operator is linear: one image for each bit
  for (std::size_t bit = 0; bit < 32; ++bit) powers[bit] = shift_by_bytes(std::uint32_t{1} << bit, kStreamBytes);
  for (std::size_t b = 0; b < 4; ++b) {
    for (std::size_t v = 0; v < 256; ++v) {
      std::uint32_t image = 0;
      for (std::size_t bit = 0; bit < 8; ++bit) {
        if ((v >> bit & 1) != 0) image ^= powers[8 * b + bit];
      }
      tables[b][v] = image;
    }
  }
  return tables;
}
const auto kShift = make_shift_tables();

std::uint32_t shift_stream(std::uint32_t crc) {
  return kShift[0][crc & 0xff] ^ kShift[1][crc >> 8 & 0xff] ^ kShift[2][crc >> 16 & 0xff] ^ kShift[3][crc >> 24];
}

std::uint64_t load(const unsigned char* p) {
  std::uint64_t word = 0;
  std::memcpy(&word, p, 8);
  return word;
}

__attribute__((target("sse4.2"))) std::uint32_t crc_sse42(const unsigned char* p, std::size_t size, std::uint32_t crc) {
  while (size >= 3 * kStreamBytes) {
    std::uint64_t a = crc;
    std::uint64_t b = 0;
    std::uint64_t c = 0;
    for (std::size_t i = 0; i < kStreamBytes; i += 8) {
      a = _mm_crc32_u64(a, load(p + i));
      b = _mm_crc32_u64(b, load(p + kStreamBytes + i));
      c = _mm_crc32_u64(c, load(p + 2 * kStreamBytes + i));
    }
    crc = shift_stream(shift_stream(static_cast<std::uint32_t>(a)) ^ static_cast<std::uint32_t>(b)) ^
          static_cast<std::uint32_t>(c);
    p += 3 * kStreamBytes;
    size -= 3 * kStreamBytes;
  }
  std::uint64_t wide = crc;
  for (; size >= 8; size -= 8, p += 8) wide = _mm_crc32_u64(wide, load(p));
  crc = static_cast<std::uint32_t>(wide);
  for (; size > 0; --size) crc = _mm_crc32_u8(crc, *p++);
  return crc;
}
#endif

// Products of polynomials modulo the polynomial of the checksum; bit 31 is x^0.
constexpr std::uint32_t multiply(std::uint32_t a, std::uint32_t b) {
  std::uint32_t product = 0;
  for (std::uint32_t bit = 1u << 31; bit != 0 && a != 0; bit >>= 1) {
    if ((a & bit) != 0) product ^= b;
    a &= ~bit;
    b = (b >> 1) ^ ((b & 1) != 0 ? kPolynomial : 0);
  }
  return product;
}

// x^(8 * 2^k): the factor that 2^k bytes of zeros apply to a checksum.
constexpr std::array<std::uint32_t, 64> make_zero_powers() {
  std::array<std::uint32_t, 64> powers{};
  powers[0] = 1u << 23;
  for (std::size_t k = 1; k < powers.size(); ++k) powers[k] = multiply(powers[k - 1], powers[k - 1]);
  return powers;
}
constexpr auto kZeroPowers = make_zero_powers();

std::uint32_t shift(std::uint32_t crc, std::uint64_t bytes) {
  for (std::size_t k = 0; bytes != 0; ++k, bytes >>= 1) {
    if ((bytes & 1) != 0) crc = multiply(kZeroPowers[k], crc);
  }
  return crc;
}

}  // namespace

std::uint32_t crc32c_join(std::uint32_t first, std::uint32_t second, std::uint64_t second_bytes) {
  return shift(first, second_bytes) ^ second;
}

std::uint32_t crc32c_zeros(std::uint32_t crc, std::uint64_t zeros) {
  return ~shift(~crc, zeros);
}

std::uint32_t crc32c(std::span<const std::byte> data, std::uint32_t crc) {
  const auto* p = reinterpret_cast<const unsigned char*>(data.data());
#if defined(__x86_64__)
  static const bool has_sse42 = __builtin_cpu_supports("sse4.2") != 0;
  if (has_sse42) return ~crc_sse42(p, data.size(), ~crc);
#endif
  return ~crc_portable(p, data.size(), ~crc);
}

}  // namespace stoa
