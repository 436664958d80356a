#include "frontends/s3/op/objects.h"
#include "frontends/s3/op/staged_content.h"
#include "frontends/s3/op/uploads.h"

namespace stoa::s3 {
namespace {

class UploadPart final : public StreamingOperation {
 public:
  UploadPart(Upload upload, std::uint32_t number, std::unique_ptr<StagedContent> content)
      : upload_(std::move(upload)), number_(number), content_(std::move(content)) {}

  ByteSink& sink() override { return *content_; }

  Outcome<Response> finish(Call& call, const BodyDigest& digest) override {
    ObjectRecord record{.md5 = digest.md5, .checksum = digest.checksum};
    const std::string key = part_key(number_);
    const std::string meta = record.encode();
    core::PutKeyRequest request{.root = upload_.directory, .key = key, .meta = meta, .mode = 0644};
    STOA_CHECK_OK(content_->fill(request));
    auto put = call.ns().put_key(call.own_ctx(), request);
    if (!put) return refuse(put.error(), Missing::kUpload);
    content_->consumed();
    Response response;
    response.add("ETag", quoted(record.etag()));
    // A part has a checksum, but no type: that is the upload's.
    if (record.checksum) response.add(std::string(header_of(record.checksum->algorithm)), record.checksum->text());
    return response;
  }

 private:
  Upload upload_;
  std::uint32_t number_;
  std::unique_ptr<StagedContent> content_;
};

}  // namespace

Outcome<std::unique_ptr<StreamingOperation>> begin_upload_part(Call& call, BodyPlan& plan) {
  STOA_TRY(number, read_part_number(call.request));
  STOA_CHECK_OK(refuse_unsupported_headers(call.request));
  STOA_TRY(upload, find_upload(call));
  if (upload.record.algorithm && plan.algorithm != upload.record.algorithm) {
    // The checksum of the whole object can be joined from those computed here; a composite needs the client's own.
    if (plan.algorithm || upload.record.type == ChecksumType::kComposite) {
      return refuse(Code::kInvalidRequest,
                    "Checksum Type mismatch occurred, expected checksum Type: " +
                        lower_case(name_of(*upload.record.algorithm)) + ", actual checksum Type: " +
                        (plan.algorithm ? lower_case(name_of(*plan.algorithm)) : std::string("null")));
    }
    plan.algorithm = upload.record.algorithm;
  }
  STOA_TRY(content, StagedContent::begin(call, plan.length.value_or(0)));
  return std::unique_ptr<StreamingOperation>(new UploadPart(std::move(upload), number, std::move(content)));
}

}  // namespace stoa::s3
