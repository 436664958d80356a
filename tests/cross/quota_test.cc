// One quota, 64 writers, four protocols: NFSv3 (libnfs), NFSv4.1, S3 and native at once. Never one byte or file over,
// and full to the last one at the end.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>

#include <nlohmann/json.hpp>

#include "tests/clients/server_process.h"
#include "tests/cross/native_caller.h"
#include "tests/frontends/nfs/v4_protocol/compound_caller.h"

namespace stoa::clients {
namespace {

using cross::NativeCaller;
using cross::NativeReply;
using native::WireStatus;
using nfs4::Nfs4Status;
using test::CompoundCaller;
using test::Ops;

constexpr int kWriters = 64;
constexpr std::uint32_t kBothWays = 3;

class QuotaProtocolsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::string why;
    server_ = ServerProcess::start({STOA_SERVE}, &why);
    ASSERT_NE(server_, nullptr) << why;
  }
  static void TearDownTestSuite() { server_.reset(); }

  void SetUp() override {
    ASSERT_NE(server_, nullptr);
    nfs_ = connect();
    folder_ = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    const NfsReply made = nfs_->mkdir(nfs_->root(), folder_, 0777);
    ASSERT_TRUE(made.ok()) << made.text();
    dir_ = made.handle;
  }
  void TearDown() override {
    std::string output;
    EXPECT_EQ(stoa({"check"}, &output), 0) << output;
  }

  static std::unique_ptr<NfsClient> connect() {
    std::string why;
    auto client = NfsClient::connect(server_->nfs(), 0, &why);
    EXPECT_NE(client, nullptr) << why;
    return client;
  }
  static std::unique_ptr<CompoundCaller> connect4(const std::string& name) {
    auto caller = std::make_unique<CompoundCaller>(static_cast<std::uint16_t>(server_->nfs().nfs_port), name);
    caller->connect();
    return caller;
  }
  static int stoa(std::vector<std::string> arguments, std::string* output) {
    arguments.insert(arguments.begin(), {STOA_CLI, "--json", "--data", server_->value("STOA_DATA")});
    return run_command(arguments, output);
  }
  void limit(const char* what, std::uint64_t most) {
    std::string output;
    ASSERT_EQ(stoa({"quota", "set", "/test/" + folder_, what, std::to_string(most)}, &output), 0) << output;
  }
  // The usage that the server reports.
  nlohmann::json used() {
    std::string output;
    EXPECT_EQ(stoa({"quota", "get", "/test/" + folder_}, &output), 0) << output;
    return nlohmann::json::parse(output, nullptr, false)["usage"];
  }

  // A writer brings `size` bytes (0: a new empty file) when the quota allows it; else it changes nothing.
  using Write = std::function<bool(std::uint64_t size)>;
  Write over_nfs3(int number, bool append) {
    std::shared_ptr<NfsClient> client = connect();
    auto next = std::make_shared<std::uint64_t>(0);
    const std::string name = "v3." + std::to_string(number) + ".";
    if (!append) {
      return [=, dir = dir_](std::uint64_t) {
        const NfsReply made = client->create(dir, name + std::to_string((*next)++));
        EXPECT_TRUE(made.ok() || made.status == NFS3ERR_DQUOT) << made.text();
        return made.ok();
      };
    }
    const NfsReply made = client->create(dir_, name);
    EXPECT_TRUE(made.ok()) << made.text();
    return [=, file = made.handle](std::uint64_t size) {
      const NfsReply written =
          client->write(file, *next, std::string(size, '3'), *next % 2 == 0 ? UNSTABLE : FILE_SYNC);
      EXPECT_TRUE(written.ok() || written.status == NFS3ERR_DQUOT) << written.text();
      if (written.ok()) *next += written.count;
      return written.ok();
    };
  }
  Write over_nfs4(int number, bool append) {
    const std::string name = "v4." + std::to_string(number) + ".";
    std::shared_ptr<CompoundCaller> client = connect4(folder_ + name);
    auto next = std::make_shared<std::uint64_t>(0);
    const test::Bytes dir = client->handle_of({"test", folder_});
    if (!append) {
      return [=](std::uint64_t) {
        const auto made = client->open(dir, name + std::to_string((*next)++), kBothWays);
        EXPECT_TRUE(made.status == Nfs4Status::kOk || made.status == Nfs4Status::kDQuot)
            << static_cast<int>(made.status);
        if (made.status != Nfs4Status::kOk) return false;
        EXPECT_EQ(client->close(made.handle, made.stateid), Nfs4Status::kOk);
        return true;
      };
    }
    const auto open = client->open(dir, name, kBothWays);
    EXPECT_EQ(open.status, Nfs4Status::kOk);
    return [=](std::uint64_t size) {
      constexpr std::uint32_t kWrite = 38, kFileSync = 2;
      const std::string text(size, '4');
      const auto result = client->call(
          Ops().putfh(open.handle).op(kWrite).stateid(open.stateid).u64(*next).u32(kFileSync).string(text));
      EXPECT_TRUE(result.ok() || result.status == Nfs4Status::kDQuot) << static_cast<int>(result.status);
      if (result.ok()) *next += size;
      return result.ok();
    };
  }
  Write over_s3(int number) {
    auto client = std::make_shared<S3Client>(server_->s3());
    auto next = std::make_shared<std::uint64_t>(0);
    const std::string prefix = folder_ + "/s3." + std::to_string(number) + ".";
    return [=](std::uint64_t size) {
      const S3Reply put = client->put(prefix + std::to_string((*next)++), std::string(size, 's'));
      EXPECT_TRUE(put.ok() || put.element("Code") == "QuotaExceeded") << put.text();
      if (!put.ok()) {
        EXPECT_EQ(put.status, 403);
        EXPECT_NE(put.element("Message"), "");
      }
      return put.ok();
    };
  }
  Write over_native(int number, bool append) {
    std::shared_ptr<NativeCaller> client = NativeCaller::connect(*server_, 0);
    auto next = std::make_shared<std::uint64_t>(0);
    const std::string name = "native." + std::to_string(number) + ".";
    const native::File dir = client->walk(folder_).file;
    const auto allowed = [](const NativeReply& reply) {
      EXPECT_TRUE(reply.ok() || reply.status == WireStatus::quota) << reply.text();
      return reply.ok();
    };
    if (!append) {
      return [=](std::uint64_t) { return allowed(client->put(dir, name + std::to_string((*next)++), "")); };
    }
    EXPECT_TRUE(client->put(dir, name, "").ok());
    const native::File file = client->lookup(dir, name).file;
    // At an offset, at the end, and in a file that is made with it.
    return [=](std::uint64_t size) {
      const std::string text(size, 'n');
      const std::uint64_t turn = (*next)++;
      if (turn % 3 == 0) return allowed(client->write(file, client->getattr(file).attr.size, text, turn % 2 == 0));
      native::Batch batch;
      const std::string filled = name + std::to_string(turn);
      if (turn % 3 == 1) {
        batch.add_with<native::operations::append>({.file = file, .stable = 1}, NativeCaller::bytes(text));
      } else {
        batch.add_with<native::operations::create_filled>(
            {.parent = dir, .mode = native::kCreateGuarded, .name = filled}, NativeCaller::bytes(text));
      }
      return allowed(client->call(batch));
    };
  }
  Write writer(int number, bool append) {
    switch (number % 4) {
      case 0:
        return over_nfs3(number, append);
      case 1:
        return over_nfs4(number, append);
      case 2:
        return over_native(number, append);
      default:
        return over_s3(number);
    }
  }
  // Every writer goes on until not even the smallest piece is taken.
  void fill(bool append, std::uint64_t first, const std::function<void()>& look) {
    std::vector<Write> writers;
    for (int i = 0; i < kWriters; ++i) writers.push_back(writer(i, append));
    std::atomic<int> busy{kWriters};
    std::vector<std::thread> threads;
    for (int i = 0; i < kWriters; ++i) {
      threads.emplace_back([&, i] {
        for (std::uint64_t size = first + static_cast<std::uint64_t>(i); size > 0;) {
          if (!writers[static_cast<std::size_t>(i)](size)) size /= 2;
        }
        --busy;
      });
    }
    while (busy > 0) look();
    for (std::thread& thread : threads) thread.join();
  }

  static std::unique_ptr<ServerProcess> server_;
  std::unique_ptr<NfsClient> nfs_;
  std::string folder_;
  NfsHandle dir_;
};
std::unique_ptr<ServerProcess> QuotaProtocolsTest::server_;

TEST_F(QuotaProtocolsTest, BytesAreNeverOneTooManyAndAllAreUsed) {
  constexpr std::uint64_t kMost = 3'000'017;
  limit("--bytes", kMost);
  fill(true, 9000, [&] { EXPECT_LE(used()["bytes"].get<std::uint64_t>(), kMost); });
  EXPECT_EQ(used()["bytes"].get<std::uint64_t>(), kMost);
  // A late writer may have written nothing, so the largest file is the one that gives room back.
  std::uint64_t sum = 0, largest_size = 0;
  std::string largest;
  for (const NfsEntry& entry : nfs_->list(dir_).entries) {
    sum += entry.attr->size;
    if (entry.attr->size > largest_size) largest = entry.name, largest_size = entry.attr->size;
  }
  EXPECT_EQ(sum, kMost);
  EXPECT_EQ(nfs_->fsstat(dir_).bytes_total, kMost);
  EXPECT_EQ(nfs_->fsstat(dir_).bytes_free, 0u);
  // Released room is there at once.
  ASSERT_TRUE(nfs_->remove(dir_, largest).ok());
  const std::uint64_t room = nfs_->fsstat(dir_).bytes_free;
  EXPECT_EQ(room, largest_size);
  S3Client s3(server_->s3());
  EXPECT_EQ(s3.put(folder_ + "/last", std::string(room + 1, 'x')).element("Code"), "QuotaExceeded");
  EXPECT_TRUE(s3.put(folder_ + "/last", std::string(room, 'x')).ok());
}

TEST_F(QuotaProtocolsTest, FilesAreNeverOneTooManyAndAllAreUsed) {
  constexpr std::uint64_t kMost = 701;
  limit("--files", kMost);
  fill(false, 1, [&] { EXPECT_LE(used()["files"].get<std::uint64_t>(), kMost); });
  EXPECT_EQ(used()["files"].get<std::uint64_t>(), kMost);
  EXPECT_EQ(nfs_->list(dir_).entries.size(), kMost);
}

TEST_F(QuotaProtocolsTest, ASoftLimitWhoseGraceIsOverIsToldByEveryProtocol) {
  std::string output;
  ASSERT_EQ(stoa({"quota", "set", "/test/" + folder_, "--soft-bytes", "500000", "--grace", "1s"}, &output), 0)
      << output;
  const Write v3 = over_nfs3(0, true), v4 = over_nfs4(1, true), s3 = over_s3(2), native = over_native(3, true);
  ASSERT_TRUE(v3(500'001)) << "while grace lasts";
  // Grace ends by the server's clock, in a second: sooner than this many bytes come one by one.
  while (s3(1)) {
  }
  EXPECT_FALSE(v3(1));
  EXPECT_FALSE(v4(1));
  EXPECT_FALSE(native(1));
  ASSERT_TRUE(nfs_->setattr(nfs_->lookup(dir_, "v3.0.").handle, {.size = 0}).ok());
  EXPECT_TRUE(s3(1));
  EXPECT_TRUE(v4(1));
  EXPECT_TRUE(native(1));
}

TEST_F(QuotaProtocolsTest, HomesGetTheirLimitThroughEveryProtocol) {
  std::string output;
  ASSERT_EQ(stoa({"quota", "set", "/test/" + folder_, "--children", "--bytes", "1000"}, &output), 0) << output;
  S3Client s3(server_->s3());
  EXPECT_EQ(s3.put(folder_ + "/ann/f", std::string(1001, 'x')).element("Code"), "QuotaExceeded");
  EXPECT_TRUE(s3.put(folder_ + "/ann/f", std::string(1000, 'x')).ok());
  const NfsReply bob = nfs_->mkdir(dir_, "bob");
  ASSERT_TRUE(bob.ok());
  EXPECT_EQ(nfs_->fsstat(bob.handle).bytes_total, 1000u);
  EXPECT_EQ(nfs_->write(nfs_->create(bob.handle, "f").handle, 0, std::string(1001, 'x'), FILE_SYNC).status,
            NFS3ERR_DQUOT);
  const auto native = NativeCaller::connect(*server_, 0);
  const NativeReply cat = native->mkdir(native->walk(folder_).file, "cat");
  ASSERT_TRUE(cat.ok()) << cat.text();
  EXPECT_EQ(native->bytes_available(cat.file), 1000u);
  EXPECT_EQ(native->put(cat.file, "f", std::string(1001, 'x')).status, WireStatus::quota);
  EXPECT_TRUE(native->put(cat.file, "f", std::string(1000, 'x')).ok());
}

TEST_F(QuotaProtocolsTest, AUserIsLimitedThroughEveryProtocol) {
  std::string output;
  ASSERT_EQ(stoa({"quota", "count-owners", "/test/" + folder_}, &output), 0) << output;
  ASSERT_EQ(stoa({"quota", "set", "/test/" + folder_, "--user", "4321", "--bytes", "1000"}, &output), 0) << output;
  const NfsReply file = nfs_->create(dir_, "f", NfsCreate::kGuarded, {.mode = 0666, .uid = 4321});
  ASSERT_TRUE(file.ok()) << file.text();
  EXPECT_EQ(nfs_->write(file.handle, 0, std::string(1001, 'x'), FILE_SYNC).status, NFS3ERR_DQUOT);
  ASSERT_TRUE(nfs_->write(file.handle, 0, std::string(900, 'x'), FILE_SYNC).ok());
  const NfsReply other = nfs_->create(dir_, "g", NfsCreate::kGuarded, {.mode = 0666, .uid = 0});
  ASSERT_TRUE(nfs_->write(other.handle, 0, std::string(101, 'x'), FILE_SYNC).ok());
  EXPECT_EQ(nfs_->setattr(other.handle, {.uid = 4321}).status, NFS3ERR_DQUOT);
  S3Client s3(server_->s3());
  EXPECT_EQ(s3.put(folder_ + "/f", std::string(1001, 'x')).element("Code"), "QuotaExceeded");
  EXPECT_TRUE(s3.put(folder_ + "/f", std::string(1000, 'x')).ok()) << "the file stays its owner's";
  const auto native = NativeCaller::connect(*server_, 0);
  const native::File mine = native->walk(folder_ + "/f").file, others = native->walk(folder_ + "/g").file;
  EXPECT_EQ(native->write(mine, 1000, "x").status, WireStatus::quota);
  EXPECT_EQ(native->set(others, {.which = native::kSetUid, .uid = 4321}).status, WireStatus::quota);
  ASSERT_TRUE(native->resize(mine, 899).ok());
  EXPECT_TRUE(native->set(others, {.which = native::kSetUid, .uid = 4321}).ok());
}

}  // namespace
}  // namespace stoa::clients
