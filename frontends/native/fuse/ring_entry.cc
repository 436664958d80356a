#include "frontends/native/fuse/ring_entry.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

namespace stoa::native::fuse {

RingEntry::RingEntry(std::uint16_t queue, const RingMemory& memory, std::uint32_t slot, RingUse use)
    : queue_(queue),
      slot_(slot),
      memory_(memory),
      at_(memory.slot(slot)),
      buffers_{iovec{at_, sizeof(RingEntryHead)}, iovec{at_ + kPayloadAt, kIoBytes}},
      touched_(use == RingUse::kIdle ? 0 : kIoBytes),  // another process may have touched all
      use_(use) {}

fuse_in_header RingEntry::header() const {
  fuse_in_header header;
  std::memcpy(&header, head()->header, sizeof(header));
  return header;
}

std::span<const std::byte> RingEntry::request() {
  const fuse_in_header header = this->header();
  const std::size_t payload_bytes = head()->payload_bytes;
  if (payload_bytes > kIoBytes || header.len < sizeof(header) + payload_bytes) return {};
  touched_ = std::max(touched_, payload_bytes);
  const std::size_t argument_bytes = header.len - sizeof(header) - payload_bytes;
  if (argument_bytes > sizeof(head()->argument)) return {};
  const std::size_t fixed_bytes = sizeof(header) + argument_bytes;
  const bool in_front = header.len <= kRequestHeadBytes;
  std::byte* const begin = in_front ? at_ + kRequestAt : at_ + kPayloadAt - fixed_bytes;
  std::memcpy(begin, &header, sizeof(header));
  std::memcpy(begin + sizeof(header), head()->argument, argument_bytes);
  if (in_front) std::memcpy(begin + fixed_bytes, at_ + kPayloadAt, payload_bytes);
  return {begin, header.len};
}

bool RingEntry::asks_for_attribute(std::string_view name) const {
  if (header().opcode != FUSE_GETXATTR || head()->payload_bytes != name.size() + 1) return false;
  return std::memcmp(at_ + kPayloadAt, name.data(), name.size()) == 0;
}

void RingEntry::give_back() {
  ::madvise(at_ + kPayloadAt + kKeptBytes, kIoBytes - kKeptBytes, MADV_REMOVE);
  touched_ = 0;
}

void RingEntry::put_reply(int error, std::span<const std::byte> body) {
  fuse_out_header out{};
  out.len = static_cast<std::uint32_t>(sizeof(out) + body.size());
  out.error = -error;
  out.unique = unique();
  if (!body.empty() && body.data() != payload().data()) std::memmove(payload().data(), body.data(), body.size());
  touched_ = std::max(touched_, body.size());
  head()->payload_bytes = static_cast<std::uint32_t>(body.size());
  std::memcpy(head()->header, &out, sizeof(out));
}

}  // namespace stoa::native::fuse
