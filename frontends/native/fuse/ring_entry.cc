#include "frontends/native/fuse/ring_entry.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

namespace stoa::native::fuse {

Result<std::unique_ptr<RingEntry>> RingEntry::make(std::uint16_t queue) {
  // Memory that is not touched is not taken.
  void* const at = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return fail(Errc::kNoSpace, "no memory for requests of the kernel");
  return std::unique_ptr<RingEntry>(new RingEntry(queue, static_cast<std::byte*>(at)));
}

RingEntry::RingEntry(std::uint16_t queue, std::byte* memory)
    : queue_(queue),
      memory_(memory),
      buffers_{iovec{memory, sizeof(RingEntryHead)}, iovec{memory + kPayloadAt, kIoBytes}} {}

RingEntry::~RingEntry() {
  ::munmap(memory_, kBytes);
}

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
  std::byte* const begin = in_front ? memory_ + kRequestAt : memory_ + kPayloadAt - fixed_bytes;
  std::memcpy(begin, &header, sizeof(header));
  std::memcpy(begin + sizeof(header), head()->argument, argument_bytes);
  if (in_front) std::memcpy(begin + fixed_bytes, memory_ + kPayloadAt, payload_bytes);
  return {begin, header.len};
}

void RingEntry::give_back() {
  ::madvise(memory_ + kPayloadAt + kKeptBytes, kIoBytes - kKeptBytes, MADV_DONTNEED);
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
