// A reader of an object range in several pieces of memory or files: reads the next piece when the socket wants it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>

#include "core/api/namespace.h"
#include "frontends/s3/http/response.h"
#include "frontends/s3/qos_gate.h"

namespace stoa::s3 {

class ContentReader {
 public:
  ContentReader(core::Namespace& ns, core::OpContext ctx, ContentRange range, std::shared_ptr<QosGate> gate)
      : ns_(ns), ctx_(std::move(ctx)), range_(std::move(range)), gate_(std::move(gate)) {}

  // Waits until they may be read (qos), then copies bytes from `position` (within the range, growing) into `into`.
  // Bytes given; -1: the rest cannot be read (the object changed, or is damaged) and the connection must be cut, as the
  // length was promised.
  ssize_t read(std::uint64_t position, std::span<char> into);

 private:
  bool refill();

  core::Namespace& ns_;
  core::OpContext ctx_;
  ContentRange range_;
  std::shared_ptr<QosGate> gate_;
  std::size_t slice_ = 0;         // in memory
  std::uint64_t slice_done_ = 0;  // of it
  std::uint64_t sent_ = 0;        // of the range
};

}  // namespace stoa::s3
