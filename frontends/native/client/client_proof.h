// What a client proves itself with, and by which it knows the server.
#pragma once

#include <initializer_list>
#include <span>

#include "base/error.h"
#include "frontends/native/protocol/record.h"

namespace stoa::native {

// Of one log-in. `said`: records as they were said; `binding`: of the TLS channel, empty on a plain one.
class ClientProof {
 public:
  virtual ~ClientProof() = default;
  // The record that proves the client, after Hello and Challenge.
  virtual Result<Bytes> make(std::initializer_list<std::span<const std::byte>> said,
                             std::span<const std::byte> binding) = 0;
  // Whether `shown` proves the server, after Hello, Challenge, the client's record and Welcome. kAccess, kCorrupt.
  virtual Status verify(const RecordView& shown, std::initializer_list<std::span<const std::byte>> said,
                        std::span<const std::byte> binding) = 0;
};

}  // namespace stoa::native
