#include "frontends/s3/op/objects.h"
#include "frontends/s3/op/staged_content.h"

namespace stoa::s3 {
namespace {

class PutObject final : public StreamingOperation {
 public:
  PutObject(ObjectRecord record, std::unique_ptr<StagedContent> content)
      : record_(std::move(record)), content_(std::move(content)) {}

  ByteSink& sink() override { return *content_; }

  Outcome<Response> finish(Call& call, const BodyDigest& digest) override {
    record_.md5 = digest.md5;
    record_.checksum = digest.checksum;
    const std::string meta = record_.encode();
    core::PutKeyRequest request{.root = call.root(), .key = call.route.key, .meta = meta};
    STOA_CHECK_OK(content_->fill(request));
    STOA_TRY(reply, write_conditionally(call, call.route.key, [&](std::optional<core::ObjectExpectation> expect) {
               request.expect = expect;
               return call.ns().put_key(call.fresh_ctx(), request);
             }));
    (void)reply;
    content_->consumed();
    Response response;
    response.add("ETag", quoted(record_.etag()));
    if (record_.checksum) add_checksum_headers(response, *record_.checksum);
    return response;
  }

 private:
  ObjectRecord record_;
  std::unique_ptr<StagedContent> content_;
};

}  // namespace

Outcome<std::unique_ptr<StreamingOperation>> begin_put_object(Call& call, const BodyPlan& plan) {
  STOA_TRY(record, read_object_headers(call));
  // Requests that cannot succeed are refused before the body is sent. The decision itself is made with the write.
  STOA_TRY(expect, expect_for_write(call, call.route.key));
  if (expect && expect->must_not_exist) {
    auto found = find_object(call, call.root(), call.route.key);
    if (found) return refuse(Code::kPreconditionFailed);
    if (found.error().code != Code::kNoSuchKey) return std::unexpected<Failure>(std::move(found.error()));
  }
  STOA_TRY(content, StagedContent::begin(call, plan.length.value_or(0)));
  return std::unique_ptr<StreamingOperation>(new PutObject(std::move(record), std::move(content)));
}

}  // namespace stoa::s3
