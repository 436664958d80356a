// The content of a future object: small ones stay in memory and go to the core in one piece. Larger ones stream into an
// upload of the core, which is discarded unless it was put somewhere.
#pragma once

#include <optional>
#include <string>

#include "frontends/s3/op/call.h"

namespace stoa::s3 {

class StagedContent final : public ByteSink {
 public:
  // kSlowDown when too many uploads are in flight. `size_hint` 0: unknown.
  static Outcome<std::unique_ptr<StagedContent>> begin(const Call& call, std::uint64_t size_hint);
  ~StagedContent() override;
  StagedContent(const StagedContent&) = delete;
  StagedContent& operator=(const StagedContent&) = delete;

  Outcome<void> write(std::span<const std::byte> data) override;
  // Everything has been written: names the content in a request, as often as that is tried again.
  Outcome<void> fill(core::PutKeyRequest& request);
  // The request succeeded: the upload is the core's now.
  void consumed() { upload_.reset(); }

 private:
  StagedContent(Services& services, const core::OpContext& ctx, std::uint64_t size_hint)
      : services_(services), ctx_(ctx), size_hint_(size_hint) {}
  Outcome<void> flush();

  Services& services_;
  core::OpContext ctx_;
  std::uint64_t size_hint_;
  std::string small_;
  std::optional<core::UploadId> upload_;
  StagingBuffers::Buffer buffer_;
  std::size_t buffered_ = 0;
};

}  // namespace stoa::s3
