// A whole server with a user and a bucket, on a volume on either engine. The final state is checked at the
// end.
#pragma once

#include "frontends/s3/s3_server.h"
#include "tests/clients/s3_client.h"
#include "tests/core/volume_fixture.h"
#include "tests/frontends/s3/raw_client.h"

namespace stoa::s3::test {

using clients::S3Client;
using core::FileId;

constexpr const char* kAccess = "STTESTTESTTESTTESTTE";
constexpr const char* kSecret = "secretsecretsecretsecretsecretsecretsecr";

template <class Engine>
class ProtocolTest : public core::test::VolumeTest<Engine> {
 protected:
  void SetUp() override {
    core::Registry& registry = this->volume_->registry();
    ASSERT_TRUE(registry.add_user({.name = "ann", .uid = 1000, .gid = 1000, .keys = {{kAccess, kSecret}}}));
    start();
    ASSERT_EQ(client_->request("PUT", "", {}, "").status, 200);
    root_ = this->volume_->registry().snapshot()->find_export("bucket")->root;
  }
  void TearDown() override {
    client_.reset();
    server_.reset();
    this->expect_consistent();
  }
  void start() {
    auto server = Server::start(this->ns(), this->volume_->registry(), this->metrics_, options_);
    ASSERT_TRUE(server) << describe(server.error());
    server_ = std::move(*server);
    client_ = std::make_unique<S3Client>(
        clients::S3Target{.url = server_->url(), .access_key = kAccess, .secret_key = kSecret, .bucket = "bucket"});
  }
  void restart() {
    client_.reset();
    server_.reset();
    this->reopen();
    start();
  }
  std::string head(std::string_view method, std::string_view target,
                   std::vector<std::pair<std::string, std::string>> headers = {}) {
    return signed_head(method, target, kAccess, kSecret, "UNSIGNED-PAYLOAD", std::move(headers));
  }

  ServerOptions options_{.address = "127.0.0.1"};
  std::unique_ptr<Server> server_;
  std::unique_ptr<S3Client> client_;
  FileId root_{};
};

// Limits and wire forms, which are the server's own: one engine is enough.
class MemoryProtocolTest : public ProtocolTest<core::test::MemoryEngine> {};

}  // namespace stoa::s3::test
