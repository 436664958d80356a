// One limit over all protocols together, set from the command line: NFSv3, NFSv4, S3 and native at the same time.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <sstream>
#include <thread>

#include "tests/clients/server_process.h"
#include "tests/cross/native_caller.h"
#include "tests/frontends/nfs/v4_protocol/compound_caller.h"

namespace stoa::clients {
namespace {

class QosTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    server_ = ServerProcess::start({STOA_SERVE}, &why);
    ASSERT_NE(server_, nullptr) << why;
  }
  // `stoa` with these arguments, which must end with this code.
  std::string stoa(const std::string& words, int expected = 0) {
    std::vector<std::string> command{STOA_CLI};
    std::istringstream in(words);
    for (std::string word; in >> word;) command.push_back(word);
    command.emplace_back("--data");
    command.push_back(server_->value("STOA_DATA"));
    std::string output;
    EXPECT_EQ(run_command(command, &output), expected) << words << ": " << output;
    return output;
  }
  std::unique_ptr<ServerProcess> server_;
};

// The bound holds on any machine: a slow one only takes longer.
TEST_F(QosTest, ADirectoryLimitIsHeldOverAllProtocolsTogether) {
  constexpr int kRate = 400, kOperations = 1600;
  std::string why;
  const auto v3 = NfsClient::connect(server_->nfs(), 0, &why);
  ASSERT_NE(v3, nullptr) << why;
  test::CompoundCaller v4(static_cast<std::uint16_t>(server_->nfs().nfs_port), "qos");
  v4.connect();
  const test::Bytes handle = v4.handle_of({"test"});
  S3Client s3(server_->s3());
  const auto native = cross::NativeCaller::connect(*server_, 0);
  ASSERT_NE(native, nullptr);

  stoa("qos set /test --metadata " + std::to_string(kRate));
  const auto began = std::chrono::steady_clock::now();
  std::atomic<int> done{0};
  std::array<int, 4> by_protocol{};
  const auto run = [&](int& mine, const auto& operation) {
    while (done.fetch_add(1) < kOperations) {
      EXPECT_TRUE(operation());
      ++mine;
    }
  };
  {
    const std::jthread first([&] { run(by_protocol[0], [&] { return v3->getattr(v3->root()).ok(); }); });
    const std::jthread second(
        [&] { run(by_protocol[1], [&] { return v4.call(test::Ops().putfh(handle).op(9).u32(0)).ok(); }); });
    const std::jthread third([&] { run(by_protocol[2], [&] { return s3.head("none").status == 404; }); });
    const std::jthread fourth([&] { run(by_protocol[3], [&] { return native->getattr(native->top()).ok(); }); });
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  // A burst of 100 ms, and the request that goes into debt.
  EXPECT_LE(kOperations, 1.05 * kRate * (took.count() + 0.1) + 1);
  for (const int operations : by_protocol) EXPECT_GT(operations, kOperations / 20);
  EXPECT_NE(stoa("qos list").find("400/s"), std::string::npos);
  EXPECT_NE(stoa("qos top").find("/test"), std::string::npos);
}

TEST_F(QosTest, LimitsAreSetShownAndTakenAwayFromTheCommandLine) {
  stoa("qos set user:nobody-knows --read 1MB/s", 4);
  stoa("qos set /test", 2);
  stoa("qos set /test --read fast", 2);
  stoa("qos set /none --read 1MB/s", 4);
  stoa("qos set team --read 1MB/s", 1);
  stoa("qos set /test --read 1MB/s --guarantee-read 2MB/s", 1);
  stoa("qos get /test", 4);
  stoa("qos set /test --read 100MB/s --write-iops 500 --metadata 2000/s --burst 2s --weight 200");
  const std::string changed = stoa("qos set /test --read none --guarantee-write 1MiB --json");
  for (const char* part : {"\"read_bytes\": null", "\"write_ops\": 500", "\"metadata_ops\": 2000", "\"burst_ms\": 2000",
                           "\"weight\": 200", "\"guarantee_write_bytes\": 1048576"}) {
    EXPECT_NE(changed.find(part), std::string::npos) << part << " in " << changed;
  }
  for (const char* target :
       {"protocol:nfs", "protocol:native", "client:10.0.0.0/8", "export:test", "user:4711", "group:7"}) {
    stoa(std::string("qos set --weight 50 ") + target);
    EXPECT_NE(stoa("qos list").find(target), std::string::npos);
  }
  stoa("qos remove /test");
  stoa("qos remove /test", 4);
}

}  // namespace
}  // namespace stoa::clients
