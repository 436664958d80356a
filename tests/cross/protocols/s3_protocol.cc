#include <gtest/gtest.h>

#include "tests/cross/protocols/protocol.h"

namespace stoa::cross {
namespace {

using clients::S3Client;
using clients::S3Reply;

Outcome outcome_of(const S3Reply& reply) {
  if (reply.ok()) return Outcome::kOk;
  const std::string code = reply.element("Code");
  if (code == "NoSuchKey" || (code.empty() && reply.status == 404)) return Outcome::kMissing;
  if (code == "AccessDenied" || (code.empty() && reply.status == 403)) return Outcome::kDenied;
  if (code == "QuotaExceeded") return Outcome::kNoRoom;
  ADD_FAILURE() << reply.text();
  return Outcome::kOther;
}

Outcome not_offered() {
  ADD_FAILURE() << "S3 has no word for it";
  return Outcome::kOther;
}

class S3Protocol final : public Protocol {
 public:
  explicit S3Protocol(clients::S3Target target) : client_(std::move(target)) {}

  Outcome put(const std::string& path, std::string_view bytes) override { return outcome_of(client_.put(path, bytes)); }
  Content get(const std::string& path) override {
    S3Reply reply = client_.get(path);
    return {outcome_of(reply), reply.ok() ? std::move(reply.body) : std::string()};
  }
  // Succeeds for a missing object, as S3 does.
  Outcome remove(const std::string& path) override { return outcome_of(client_.remove(path)); }
  std::vector<std::string> list(const std::string& path) override {
    const std::string prefix = path + "/";
    const clients::S3Listing listing = client_.list_all(prefix, "/");
    EXPECT_TRUE(listing.reply.ok()) << listing.reply.text();
    std::vector<std::string> names;
    for (const std::string& key : listing.keys) names.push_back(key.substr(prefix.size()));
    for (const std::string& below : listing.prefixes) {
      names.push_back(below.substr(prefix.size(), below.size() - prefix.size() - 1));
    }
    std::ranges::sort(names);
    return names;
  }
  std::optional<std::uint64_t> size(const std::string& path) override {
    const S3Reply reply = client_.head(path);
    if (!reply.ok() || !reply.headers.contains("content-length")) return std::nullopt;
    return std::stoull(reply.headers.at("content-length"));
  }

  Outcome make_directory(const std::string&) override { return not_offered(); }
  Outcome remove_directory(const std::string&) override { return not_offered(); }
  Outcome rename(const std::string&, const std::string&) override { return not_offered(); }
  Outcome write(const std::string&, std::uint64_t, std::string_view) override { return not_offered(); }
  Outcome truncate(const std::string&, std::uint64_t) override { return not_offered(); }
  Outcome set_mode(const std::string&, std::uint32_t) override { return not_offered(); }
  std::uint64_t room(const std::string&) override {
    not_offered();
    return 0;
  }

 private:
  S3Client client_;
};

}  // namespace

std::unique_ptr<Protocol> open_s3(const clients::ServerProcess& server, std::uint32_t uid) {
  clients::S3Target target = server.s3();
  if (uid != 0) {
    target.access_key = server.value("STOA_S3_ALT_ACCESS_KEY");
    target.secret_key = server.value("STOA_S3_ALT_SECRET_KEY");
  }
  return std::make_unique<S3Protocol>(std::move(target));
}

}  // namespace stoa::cross
