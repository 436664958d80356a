// Every byte of a READ, compared with a twin: each length and offset around the borders of blocks, pages and ways to
// answer. Through every protocol, on connections and in reply memory that are fresh, and that were in use.
//
// The server has one worker. So the memory that replies are written to is that worker's, and it is fresh again behind a
// reply so large that its memory was given back.
#include <gtest/gtest.h>

#include <functional>

#include "tests/clients/server_process.h"
#include "tests/cross/native_caller.h"
#include "tests/frontends/nfs/nfs_caller.h"
#include "tests/frontends/nfs/v4_protocol/compound_caller.h"

namespace stoa::clients {
namespace {

using test::Bytes;
using test::CompoundCaller;
using test::CompoundResult;
using test::NfsCaller;
using test::Ops;
using test::WireStateid;

constexpr std::uint32_t kReadOp = 25, kReadPlusOp = 68;
constexpr std::uint32_t kLargeReply = 700u << 10;  // its memory is not kept

// The content of the file "name".
struct Twin {
  std::string name;
  std::string content;
  Bytes handle{};
};

// The answer to a READ.
struct Answer {
  bool ok = false;
  std::string bytes{};
  bool end = false;
};

struct Protocol {
  std::string name;
  std::function<Answer(const Twin& file, std::uint64_t offset, std::uint32_t count)> read;
  std::function<void()> reconnect;
};

std::string noise(std::size_t size) {
  std::uint64_t state = 0x9E37'79B9'7F4A'7C15 + size;
  std::string text(size, '\0');
  for (char& c : text) {
    state = state * 6'364'136'223'846'793'005 + 1'442'695'040'888'963'407;
    c = static_cast<char>(state >> 33 | 1);  // no byte is zero, so unwritten bytes show
  }
  return text;
}

// 0 to 5, and all up to `around` away from each border.
std::vector<std::uint32_t> near_borders(std::uint32_t around) {
  std::vector<std::uint32_t> found;
  for (const std::uint32_t border : {0u, 4u, 4096u, 16'384u, 65'536u}) {
    for (std::uint32_t at = border < around ? 0 : border - around; at <= border + around; ++at) found.push_back(at);
  }
  std::ranges::sort(found);
  const auto rest = std::ranges::unique(found);
  found.erase(rest.begin(), rest.end());
  return found;
}

class ReadsTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::string why;
    server_ = ServerProcess::start({STOA_SERVE, "--", "--nfs-workers", "1"}, &why);
    ASSERT_NE(server_, nullptr) << why;
  }
  static void TearDownTestSuite() { server_.reset(); }

  void SetUp() override {
    ASSERT_NE(server_, nullptr);
    port_ = static_cast<std::uint16_t>(server_->nfs().nfs_port);
    v3_ = std::make_unique<NfsCaller>(port_);
    const auto root = v3_->mount("/test");
    ASSERT_TRUE(root);
    root_ = *root;
    v4_ = std::make_unique<CompoundCaller>(port_, testing::UnitTest::GetInstance()->current_test_info()->name());
    v4_->connect();
    s3_.emplace(server_->s3());
    native_ = cross::NativeCaller::connect(*server_, 0);
    ASSERT_NE(native_, nullptr);
    if (files_.empty()) make_files();
    make_protocols();
  }

  void make_files() {
    constexpr std::size_t kAll = 131'072 + 21;
    add_file("in-the-record", noise(13'497));
    add_file("one-slot", noise(21'915));
    add_file("large", noise(kAll));
    // Holes in front, in the middle and behind; the rest is data, in blocks of no round size.
    std::string sparse(kAll, '\0');
    const test::Handle handle = v3_->create(root_, "sparse");
    for (const std::size_t at : {std::size_t{4099}, std::size_t{65'533}, std::size_t{100'001}}) {
      const std::string part = noise(16'387);
      ASSERT_EQ(v3_->write(handle, at, part), test::NfsStatus::kOk);
      sparse.replace(at, part.size(), part);
    }
    ASSERT_TRUE(v3_->setattr(handle, {.size = kAll}).ok());
    files_.push_back({"sparse", std::move(sparse), handle});
    large_ = {"largest", noise(1 << 20), v3_->create(root_, "largest")};
    ASSERT_EQ(v3_->write(large_.handle, 0, large_.content), test::NfsStatus::kOk);
  }
  void add_file(const std::string& name, std::string content) {
    const test::Handle handle = v3_->create(root_, name);
    ASSERT_EQ(v3_->write(handle, 0, content), test::NfsStatus::kOk);
    files_.push_back({name, std::move(content), handle});
  }

  Answer read_v3(const Twin& file, std::uint64_t offset, std::uint32_t count) {
    test::NfsResult result = v3_->read_call(file.handle, offset, count);
    if (!result.ok() || !test::read_post_op(result.in)) return {};
    const std::uint32_t length = result.in.u32();
    const bool end = result.in.boolean();
    Answer answer{true, std::string(result.in.string(2 << 20)), end};
    answer.ok = result.in.ok() && result.in.left() == 0 && answer.bytes.size() == length;
    return answer;
  }
  // In minor version 0, outside of any client.
  CompoundResult call_v40(const Ops& ops) {
    test::Xdr arguments;
    arguments.string("").u32(0).u32(ops.count).raw(ops.body.bytes());
    test::CallSpec spec = v3_->spec(1);
    spec.version = 4;
    return {v40_->call(spec, arguments)};
  }
  // Its reply must not be cached: it may be too long.
  CompoundResult call_v41(const Ops& ops, std::uint32_t minor = 1) {
    return v4_->send(Ops().sequence(v4_->session, v4_->sequence++, 0, false).more(ops), minor);
  }
  static Ops read_ops(const Twin& file, std::uint32_t operation, std::uint64_t offset, std::uint32_t count) {
    Ops ops;
    ops.putfh(file.handle).op(operation).stateid(WireStateid{}).u64(offset).u32(count);
    return ops;
  }
  static Answer take_read(CompoundResult& result) {
    if (result.next(22) != nfs4::Nfs4Status::kOk || result.next(kReadOp) != nfs4::Nfs4Status::kOk) return {};
    const bool end = result.in.boolean();
    Answer answer{true, std::string(result.in.string(2 << 20)), end};
    answer.ok = result.in.ok();
    return answer;
  }
  static Answer take_read_plus(CompoundResult& result, std::uint64_t offset) {
    if (result.next(22) != nfs4::Nfs4Status::kOk || result.next(kReadPlusOp) != nfs4::Nfs4Status::kOk) return {};
    Answer answer{.end = result.in.boolean()};
    for (std::uint32_t pieces = result.in.u32(); pieces > 0 && result.in.ok(); --pieces) {
      const bool hole = result.in.u32() == 1;
      if (result.in.u64() != offset + answer.bytes.size()) return {};
      if (hole) {
        const std::uint64_t length = result.in.u64();
        if (length > 2 << 20) return {};
        answer.bytes.append(length, '\0');
      } else {
        answer.bytes.append(result.in.string(2 << 20));
      }
    }
    answer.ok = result.in.ok();
    return answer;
  }
  Answer read_s3(const Twin& file, std::uint64_t offset, std::uint32_t count) {
    const S3Reply reply =
        s3_->get(file.name, {{"Range", "bytes=" + std::to_string(offset) + "-" + std::to_string(offset + count - 1)}});
    return {reply.status == 206, reply.body, offset + count >= file.content.size()};
  }

  Answer read_native(const Twin& file, std::uint64_t offset, std::uint32_t count) {
    native::Batch batch;
    batch.add<native::operations::lookup>({.parent = native_->top(), .name = file.name});
    batch.add<native::operations::read>({.file = native::result_of(0), .offset = offset, .length = count});
    cross::NativeReply reply = native_->call(batch);
    return {reply.ok(), std::move(reply.data), reply.end};
  }

  void make_protocols() {
    v40_ = std::make_unique<test::WireClient>(port_);
    protocols_ = {
        {"NFSv3", [this](const Twin& f, std::uint64_t o, std::uint32_t c) { return read_v3(f, o, c); },
         [this] {
           const std::uint32_t xid = v3_->xid;
           v3_ = std::make_unique<NfsCaller>(port_);
           v3_->xid = xid;
         }},
        {"NFSv4.0",
         [this](const Twin& f, std::uint64_t o, std::uint32_t c) {
           auto result = call_v40(read_ops(f, kReadOp, o, c));
           return take_read(result);
         },
         [this] { v40_ = std::make_unique<test::WireClient>(port_); }},
    };
    for (const std::uint32_t minor : {1u, 2u}) {
      protocols_.push_back({"NFSv4." + std::to_string(minor),
                            [this, minor](const Twin& f, std::uint64_t o, std::uint32_t c) {
                              auto result = call_v41(read_ops(f, kReadOp, o, c), minor);
                              result.skip_sequence();
                              return take_read(result);
                            },
                            [this] { v4_->reconnect(port_); }});
    }
    // Not the last one of its COMPOUND: its bytes are copied in any number.
    protocols_.push_back({"NFSv4.1, another operation behind it",
                          [this](const Twin& f, std::uint64_t o, std::uint32_t c) {
                            auto result = call_v41(read_ops(f, kReadOp, o, c).getfh());
                            result.skip_sequence();
                            return take_read(result);
                          },
                          [this] { v4_->reconnect(port_); }});
    protocols_.push_back({"READ_PLUS",
                          [this](const Twin& f, std::uint64_t o, std::uint32_t c) {
                            auto result = call_v41(read_ops(f, kReadPlusOp, o, c), 2);
                            result.skip_sequence();
                            return take_read_plus(result, o);
                          },
                          [this] { v4_->reconnect(port_); }});
    protocols_.push_back({"native",
                          [this](const Twin& f, std::uint64_t o, std::uint32_t c) { return read_native(f, o, c); },
                          [this] { native_ = cross::NativeCaller::connect(*server_, 0); }});
  }

  // The worker has no memory for replies from now on.
  void make_reply_memory_fresh() {
    auto result = call_v40(read_ops(large_, kReadOp, 0, kLargeReply).getfh());
    ASSERT_TRUE(result.ok());
    const Answer answer = take_read(result);
    ASSERT_TRUE(answer.bytes == std::string_view(large_.content).substr(0, kLargeReply));
  }

  // False: it differs, and the test has failed.
  static bool same(const Protocol& protocol, const Twin& file, std::uint64_t offset, std::uint32_t count) {
    const Answer answer = protocol.read(file, offset, count);
    const std::string_view content = file.content;
    const std::string_view expected = offset < content.size() ? content.substr(offset, count) : std::string_view();
    const bool end = offset + count >= content.size();
    // READ_PLUS may be short; its data is right.
    const bool may_be_short =
        protocol.name == "READ_PLUS" && !answer.bytes.empty() && answer.bytes.size() < expected.size();
    const bool right = answer.ok && (may_be_short ? answer.bytes == expected.substr(0, answer.bytes.size())
                                                  : answer.bytes == expected && answer.end == end);
    EXPECT_TRUE(right) << protocol.name << ", " << file.name << ": " << count << " bytes at " << offset << ", got "
                       << answer.bytes.size() << (answer.end ? " and the end" : "");
    return right;
  }

  static std::unique_ptr<ServerProcess> server_;
  static std::vector<Twin> files_;
  static Twin large_;
  std::uint16_t port_ = 0;
  Bytes root_;
  std::unique_ptr<NfsCaller> v3_;
  std::unique_ptr<test::WireClient> v40_;
  std::unique_ptr<CompoundCaller> v4_;
  std::optional<S3Client> s3_;
  std::unique_ptr<cross::NativeCaller> native_;
  std::vector<Protocol> protocols_;
};
std::unique_ptr<ServerProcess> ReadsTest::server_;
std::vector<Twin> ReadsTest::files_;
Twin ReadsTest::large_;

TEST_F(ReadsTest, WholeFilesOverAFreshConnectionAndInFreshMemory) {
  for (const std::uint32_t size : {13'497u, 16'815u, 21'915u}) {
    const std::string name = "whole" + std::to_string(size);
    const Twin file{name, noise(size), v3_->create(root_, name)};
    ASSERT_EQ(v3_->write(file.handle, 0, file.content), test::NfsStatus::kOk);
    for (const Protocol& protocol : protocols_) {
      make_reply_memory_fresh();
      protocol.reconnect();
      ASSERT_TRUE(same(protocol, file, 0, size));
    }
  }
}

TEST_F(ReadsTest, EveryLengthAroundABorderInFreshReplyMemory) {
  for (const Protocol& protocol : protocols_) {
    for (const std::uint32_t count : near_borders(5)) {
      for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{4095}}) {
        make_reply_memory_fresh();
        protocol.reconnect();
        ASSERT_TRUE(same(protocol, files_[2], offset, count));
      }
    }
  }
}

TEST_F(ReadsTest, EveryLengthAndOffsetAroundABorderOnAConnectionThatIsInUse) {
  const auto borders = near_borders(5);
  for (const Twin& file : files_) {
    for (const Protocol& protocol : protocols_) {
      for (const std::uint32_t offset : borders) {
        for (const std::uint32_t count : borders) ASSERT_TRUE(same(protocol, file, offset, count));
      }
    }
  }
}

// Recent large writes are read from memory for a while: that must follow every change, by any client.
TEST_F(ReadsTest, AFileThatIsReadRightAfterItWasWrittenIsAsItWasWritten) {
  constexpr std::uint64_t kBlock = 1u << 20;
  constexpr std::uint32_t kDeallocate = 62, kClone = 71;
  Twin file{"lately", noise(4 * kBlock + 13), v3_->create(root_, "lately")};
  const auto write = [&](std::uint64_t offset, const std::string& data, std::uint32_t stable) {
    ASSERT_EQ(v3_->write(file.handle, offset, data, stable), test::NfsStatus::kOk);
    if (file.content.size() < offset + data.size()) file.content.resize(offset + data.size());
    file.content.replace(offset, data.size(), data);
  };
  const auto check = [&](const Twin& twin) {
    for (const Protocol& protocol : protocols_) {
      for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{4095}, kBlock - 3, kBlock, 3 * kBlock + 1}) {
        for (const std::uint32_t count : {1u, 4097u, 65'535u, 65'537u, 1'000'000u})
          ASSERT_TRUE(same(protocol, twin, offset, count));
      }
    }
  };
  for (std::uint64_t at = 0; at < file.content.size(); at += kBlock) write(at, file.content.substr(at, kBlock), 0);
  check(file);
  write(kBlock - 2, noise(5), 0);
  check(file);
  write(0, noise(kBlock - 1), 2);  // replaced as a whole
  write(kBlock, noise(kBlock), 0);
  check(file);
  ASSERT_TRUE(v4_->call(Ops().putfh(file.handle).op(kDeallocate).stateid({}).u64(kBlock + 4095).u64(9), 2).ok());
  file.content.replace(kBlock + 4095, 9, std::string(9, '\0'));
  check(file);
  // Cut off and made longer again: zeros.
  for (const std::uint64_t size : {2 * kBlock - 7, 3 * kBlock + 5}) {
    ASSERT_TRUE(v3_->setattr(file.handle, {.size = size}).ok());
    file.content.resize(size);
    check(file);
  }
  // A clone shares the bytes until one of the two changes.
  Twin clone{"lately-clone", file.content, v3_->create(root_, "lately-clone")};
  ASSERT_TRUE(v4_->call(Ops()
                            .putfh(file.handle)
                            .op(32)
                            .putfh(clone.handle)
                            .op(kClone)
                            .stateid({})
                            .stateid({})
                            .u64(0)
                            .u64(0)
                            .u64(0),
                        2)
                  .ok());
  check(clone);
  write(0, noise(kBlock - 5), 0);
  check(file);
  check(clone);
  // Replaced through another protocol, and removed with its place used again.
  file.content = noise(2 * kBlock + 1);
  ASSERT_TRUE(s3_->put("lately", file.content).ok());
  check(file);
  ASSERT_TRUE(v3_->named(test::kRemove, root_, "lately").ok());
  Twin next{"next", noise(3 * kBlock - 1), v3_->create(root_, "next")};
  for (std::uint64_t at = 0; at < next.content.size(); at += kBlock) {
    ASSERT_EQ(v3_->write(next.handle, at, next.content.substr(at, kBlock)), test::NfsStatus::kOk);
  }
  check(next);
  check(clone);
}

TEST_F(ReadsTest, EveryRangeOfAnObjectAroundABorder) {
  const Protocol protocol{
      "S3", [this](const Twin& f, std::uint64_t o, std::uint32_t c) { return read_s3(f, o, c); }, {}};
  for (const Twin& file : files_) {
    for (const std::uint32_t offset : near_borders(2)) {
      for (const std::uint32_t count : near_borders(5)) {
        if (count > 0 && offset < file.content.size()) {
          ASSERT_TRUE(same(protocol, file, offset, count));
        }
      }
    }
  }
}

}  // namespace
}  // namespace stoa::clients
