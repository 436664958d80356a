// INIT: the version and the features that the kernel and we agree on.
#pragma once

#include <cstdint>

#include "base/error.h"
#include "frontends/native/fuse/kernel_abi.h"

namespace stoa::native::fuse {

struct Negotiated {
  std::uint32_t minor = 0;
  std::uint32_t write_bytes_max = 0;
  // Files may be opened past the page cache, and shared mappings of them work all the same. Not before Linux 6.6.
  bool direct_io = false;
};

struct InitReply {
  Negotiated negotiated;
  fuse_init_out out;
};

// kNotSupported, with a sentence: the kernel is too old. `in` of older kernels is padded with zeros.
// `with_rings`: FUSE over io_uring is agreed on where it is offered.
Result<InitReply> negotiate(const fuse_init_in& in, bool with_rings);
// Whether the kernel offers FUSE over io_uring.
bool offers_io_uring(const fuse_init_in& in);

}  // namespace stoa::native::fuse
