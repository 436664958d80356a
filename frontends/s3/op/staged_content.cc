#include "frontends/s3/op/staged_content.h"

#include <algorithm>
#include <cstring>

namespace stoa::s3 {

Outcome<std::unique_ptr<StagedContent>> StagedContent::begin(const Call& call, std::uint64_t size_hint) {
  Services& services = call.services;
  if (services.uploads.fetch_add(1) >= services.options.limits.uploads_max) {
    services.uploads.fetch_sub(1);
    return refuse(Code::kSlowDown);
  }
  return std::unique_ptr<StagedContent>(new StagedContent(services, call.ctx, size_hint));
}

StagedContent::~StagedContent() {
  if (upload_) (void)services_.ns.upload_discard(ctx_, {*upload_});
  services_.buffers.give_back(std::move(buffer_));
  services_.uploads.fetch_sub(1);
}

Outcome<void> StagedContent::write(std::span<const std::byte> data) {
  if (!upload_) {
    const std::uint64_t inline_max = services_.options.inline_bytes_max;
    if (size_hint_ <= inline_max && small_.size() + data.size() <= inline_max) {
      if (small_.empty()) small_.reserve(std::max<std::size_t>(size_hint_, data.size()));
      small_.append(reinterpret_cast<const char*>(data.data()), data.size());
      return {};
    }
    begin_core_call(ctx_);
    auto begun = services_.ns.upload_begin(ctx_, {.size_hint = size_hint_});
    if (!begun) return refuse(begun.error());
    upload_ = *begun;
    buffer_ = services_.buffers.take();
    std::memcpy(buffer_.get(), small_.data(), small_.size());
    buffered_ = small_.size();
  }
  while (!data.empty()) {
    const std::size_t take = std::min(data.size(), kStagingBytes - buffered_);
    std::memcpy(buffer_.get() + buffered_, data.data(), take);
    buffered_ += take;
    data = data.subspan(take);
    if (buffered_ == kStagingBytes) STOA_CHECK_OK(flush());
  }
  return {};
}

Outcome<void> StagedContent::flush() {
  if (buffered_ == 0) return {};
  const std::span<const std::byte> bytes(buffer_.get(), buffered_);
  begin_core_call(ctx_);
  const Status written = services_.ns.upload_write(ctx_, {.upload = *upload_, .data = std::span(&bytes, 1)});
  if (!written) return refuse(written.error());
  buffered_ = 0;
  return {};
}

Outcome<void> StagedContent::fill(core::PutKeyRequest& request) {
  if (upload_) {
    STOA_CHECK_OK(flush());
    request.upload = upload_;
  } else {
    request.bytes = std::as_bytes(std::span(small_));
  }
  return {};
}

}  // namespace stoa::s3
