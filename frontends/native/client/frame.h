// A message of the client: made once, and sent until it is answered.
#pragma once

#include <memory>
#include <vector>

#include "frontends/native/client/batch.h"
#include "frontends/native/protocol/message.h"

namespace stoa::native {

// A value that does not change once it is sent. The payload is shared with the batch that it came from.
struct Frame {
  Bytes head{};  // with the padding before the payload
  std::shared_ptr<const Content> payload{};
  std::vector<U64> written{};  // the files that it writes to; 0: one that it finds, opens or makes
  std::vector<U64> leases{};   // the numbers of the leases that it asks for

  static Frame of(const Batch& batch, Header header, std::span<const std::byte> call);

  static std::vector<U64> written_by(const Batch& batch);

  std::span<const std::byte> data() const { return payload == nullptr ? std::span<const std::byte>{} : *payload; }
  // What it says. Not checked: it is the client's own.
  MessageView view() const;
};

}  // namespace stoa::native
