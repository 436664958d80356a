// The mathematics of the log-in: both sides prove that they know the secret of a key, over all that was said.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "frontends/native/protocol/record.h"

namespace stoa::native {

inline constexpr std::size_t kMacBytes = 32;
using Mac = std::array<std::byte, kMacBytes>;
using Digest = std::array<std::byte, 32>;
using Nonce = std::array<std::byte, 32>;

// From the system's generator of random numbers.
Nonce make_nonce();

// HMAC-SHA256 with the secret of the key over a word for the direction, then each part with its length in front (U32).
// The word keeps one side's proof from being sent back as the other's.
//   client: the records of Hello and Challenge
//   server: these, the client's Proof, and the record of Welcome
// `binding`: of the TLS channel (RFC 9266), as one more part; empty: the connection is plain.
enum class ProofOf : std::uint8_t { kClient, kServer };
Mac prove(ProofOf side, std::string_view secret, std::initializer_list<std::span<const std::byte>> said,
          std::span<const std::byte> binding = {});
// SHA-256 of the same bytes: what a Kerberos token is bound to, and what is signed with a ticket's key.
Digest digest(ProofOf side, std::initializer_list<std::span<const std::byte>> said,
              std::span<const std::byte> binding = {});
// What the server signs with the ticket's key: the digest of all that was said, and its own token.
Bytes to_sign(const Digest& said, std::span<const std::byte> token);
// In a time that does not depend on the bytes.
bool same(const Mac& mac, std::string_view given);

inline std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
inline std::span<const std::byte> as_bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace stoa::native
