#include "tests/torture/protocol.h"

namespace stoa::torture {
namespace {

Answer answer_of(const clients::S3Reply& reply) {
  if (reply.lost()) return {Said::kLost, "connection lost"};
  if (reply.ok()) return {Said::kOk, "ok"};
  const std::string text = reply.text();
  switch (reply.status) {
    case 404:
      return {Said::kMissing, text};
    case 500:
      return {Said::kFailed, text};
    case 503:
      return {Said::kBusy, text};
    case 507:
      return {Said::kNoRoom, text};
    default:
      return {Said::kOther, text};
  }
}

class S3 final : public Protocol {
 public:
  explicit S3(clients::S3Target target) : bucket_(target.bucket), client_(std::move(target)) {}

  Answer read(const std::string& name, std::uint64_t offset, std::uint32_t count) override {
    if (count == 0) return {Said::kNoSuchThing};
    const std::string range = "bytes=" + std::to_string(offset) + "-" + std::to_string(offset + count - 1);
    clients::S3Reply reply = client_.get(name, {{"Range", range}});
    if (reply.status == 416) return {Said::kOk, "behind the end", {}, true};
    Answer answer = answer_of(reply);
    if (!answer.ok()) return answer;
    // "bytes 0-99/1000"; a whole object may come without.
    const std::string& told = reply.headers["content-range"];
    const std::size_t slash = told.find('/');
    const std::uint64_t size = slash == std::string::npos ? reply.body.size() : std::stoull(told.substr(slash + 1));
    answer.end = offset + reply.body.size() >= size;
    answer.bytes = std::move(reply.body);
    return answer;
  }
  Answer remove(const std::string& name) override { return answer_of(client_.remove(name)); }
  Answer replace(const std::string& name, std::string_view bytes) override {
    return answer_of(client_.put(name, bytes));
  }
  Answer replace_by_parts(const std::string& name, std::string_view bytes) override {
    const clients::S3Reply begun = client_.create_multipart(name);
    if (!begun.ok()) return answer_of(begun);
    const std::string upload = begun.element("UploadId");
    // All parts but the last have 5 MiB at least: there is one.
    const clients::S3Reply part = client_.put_part(name, upload, 1, bytes);
    if (!part.ok()) return answer_of(part);
    return answer_of(client_.complete(name, upload, {part.headers.at("etag")}));
  }
  Answer replace_by_copy(const std::string& name, const std::string& source) override {
    const clients::S3Reply reply =
        client_.request("PUT", name, {}, {}, {{"x-amz-copy-source", "/" + bucket_ + "/" + source}});
    // A copy may answer 200 first and tell of an error in the body.
    if (reply.ok() && !reply.element("Code").empty()) return {Said::kFailed, reply.element("Code")};
    return answer_of(reply);
  }

 private:
  const std::string bucket_;
  clients::S3Client client_;
};

}  // namespace

std::unique_ptr<Protocol> connect_s3(const clients::ServerProcess& server, const std::string& name) {
  clients::S3Target target = server.s3();
  target.bucket = name;
  return std::make_unique<S3>(std::move(target));
}

}  // namespace stoa::torture
