// A folder of its own for each test, on one server, with a client of NFSv3, S3 and the native protocol.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/clients/server_process.h"
#include "tests/cross/native_caller.h"

namespace stoa::clients {

class ProtocolsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::string why;
    server_ = ServerProcess::start({STOA_SERVE}, &why);
    ASSERT_NE(server_, nullptr) << why;
  }
  static void TearDownTestSuite() { server_.reset(); }

  void SetUp() override {
    ASSERT_NE(server_, nullptr);
    std::string why;
    nfs_ = NfsClient::connect(server_->nfs(), 0, &why);
    ASSERT_NE(nfs_, nullptr) << why;
    s3_.emplace(server_->s3());
    folder_ = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    const NfsReply made = nfs_->mkdir(nfs_->root(), folder_);
    ASSERT_TRUE(made.ok()) << made.text();
    dir_ = made.handle;
    native_ = cross::NativeCaller::connect(*server_, 0);
    ASSERT_NE(native_, nullptr);
    native_dir_ = native_->walk(folder_).file;
  }

  std::string key(const std::string& name) { return folder_ + "/" + name; }
  // A file written over NFS, durable.
  NfsHandle put_nfs(const std::string& name, std::string_view bytes) {
    const NfsReply made = nfs_->create(dir_, name, NfsCreate::kUnchecked, {.mode = 0644, .size = 0});
    EXPECT_TRUE(made.ok()) << made.text();
    if (!bytes.empty()) {
      const NfsReply written = nfs_->write(made.handle, 0, bytes, FILE_SYNC);
      EXPECT_TRUE(written.ok()) << written.text();
    }
    return made.handle;
  }
  std::string get_nfs(const std::string& name) {
    const NfsReply found = nfs_->lookup(dir_, name);
    if (!found.ok()) return "(" + found.text() + ")";
    const NfsReply content = nfs_->read_all(found.handle);
    return content.ok() ? content.data : "(" + content.text() + ")";
  }
  std::string get_native(const std::string& name) {
    const cross::NativeReply found = native_->lookup(native_dir_, name);
    if (!found.ok()) return "(" + found.text() + ")";
    const cross::NativeReply content = native_->read_all(found.file);
    return content.ok() ? content.data : "(" + content.text() + ")";
  }
  std::string get_s3(const std::string& name) {
    const S3Reply reply = s3_->get(key(name));
    return reply.ok() ? reply.body : "(" + reply.text() + ")";
  }
  std::string etag(const std::string& name) {
    const S3Reply reply = s3_->head(key(name));
    return reply.ok() && reply.headers.contains("etag") ? reply.headers.at("etag") : "(" + reply.text() + ")";
  }
  std::vector<std::string> keys(const std::string& prefix = {}) {
    std::vector<std::string> out;
    for (const std::string& k : s3_->list_all(folder_ + "/" + prefix).keys) out.push_back(k.substr(folder_.size() + 1));
    return out;
  }
  std::vector<std::string> names(const NfsHandle& dir) {
    std::vector<std::string> out;
    for (const NfsEntry& entry : nfs_->list(dir).entries) out.push_back(entry.name);
    std::sort(out.begin(), out.end());
    return out;
  }
  int stoa(std::vector<std::string> arguments) {
    std::string output;
    arguments.insert(arguments.begin(), STOA_CLI);
    arguments.insert(arguments.end(), {"--data", server_->value("STOA_DATA")});
    const int code = run_command(arguments, &output);
    EXPECT_EQ(code, 0) << output;
    return code;
  }
  using Names = std::vector<std::string>;

  static inline std::unique_ptr<ServerProcess> server_;
  std::unique_ptr<NfsClient> nfs_;
  std::unique_ptr<cross::NativeCaller> native_;
  std::optional<S3Client> s3_;
  std::string folder_;
  NfsHandle dir_;
  native::File native_dir_{};
};

}  // namespace stoa::clients
