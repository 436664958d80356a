// What a client wants of TLS.
#pragma once

#include <cstdint>

namespace stoa::native {

enum class TlsWish : std::uint8_t {
  kOff,       // plain, even if the server offers TLS
  kOffered,   // when the server offers it. Its certificate is not looked at: the proof of the key covers the channel
  kRequired,  // always, and the certificate must be for the host, from an authority that is trusted
};

}  // namespace stoa::native
