#include "frontends/s3/http/content_reader.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/log.h"
#include "frontends/s3/core_call.h"

namespace stoa::s3 {

bool ContentReader::refill() {
  const std::uint64_t want = std::min<std::uint64_t>(range_.length - sent_, core::kIoBytesMax);
  begin_core_call(ctx_);
  auto reply = ns_.read_slices(ctx_, {.id = range_.id, .offset = range_.offset + sent_, .length = want});
  if (!reply || reply->slices.empty() || reply->attr.version() != range_.version) {
    log_warning("s3", "an object could not be sent to its end",
                {{"id", static_cast<std::uint64_t>(range_.id)},
                 {"cause", reply ? std::string("it changed") : describe(reply.error())}});
    return false;
  }
  range_.slices = std::move(reply->slices);
  slice_ = 0;
  slice_done_ = 0;
  return true;
}

ssize_t ContentReader::read(std::uint64_t position, std::span<char> into) {
  if (position != sent_) return -1;
  const std::uint64_t next = std::min<std::uint64_t>(into.size(), range_.length - sent_);
  const auto passing = gate_->go_on(qos::Resource::kReadBytes, next);
  if (!passing) return -1;
  into = into.first(*passing);
  std::size_t filled = 0;
  while (filled < into.size() && sent_ < range_.length) {
    if (slice_ == range_.slices.size() && !refill()) return filled != 0 ? static_cast<ssize_t>(filled) : -1;
    const core::DataSlice& slice = range_.slices[slice_];
    const std::uint64_t left = std::min(slice.length - slice_done_, range_.length - sent_);
    const auto take = static_cast<std::size_t>(std::min<std::uint64_t>(left, into.size() - filled));
    std::size_t got = take;
    if (slice.fd < 0) {
      std::memcpy(into.data() + filled, slice.bytes.data() + slice_done_, take);
    } else {
      const ssize_t bytes =
          ::pread(slice.fd, into.data() + filled, take, static_cast<off_t>(slice.file_offset + slice_done_));
      if (bytes < 0 && errno == EINTR) continue;
      if (bytes <= 0) return -1;
      got = static_cast<std::size_t>(bytes);
    }
    filled += got;
    sent_ += got;
    slice_done_ += got;
    if (slice_done_ == slice.length) {
      ++slice_;
      slice_done_ = 0;
    }
  }
  return static_cast<ssize_t>(filled);
}

}  // namespace stoa::s3
