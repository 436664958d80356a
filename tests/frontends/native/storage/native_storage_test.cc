// Reads whose bytes stay in the memory of the reply, from a server that says what a test wants.
#include "frontends/native/storage/native_storage.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/frontends/native/fake_server.h"
#include "tests/frontends/native/key_files.h"

namespace stoa::test {
namespace {

class NativeStorageRead : public testing::Test {
 protected:
  NativeStorageRead() {
    auto client = Client::connect(
        {.url = "stoa://127.0.0.1:" + std::to_string(server_.port()) + "/test", .key_file = keys_.path()});
    EXPECT_TRUE(client) << (client ? "" : describe(client.error()));
    client_ = std::move(*client);
    storage_ = std::make_unique<NativeStorage>(*client_, KeyKind::kHost);
  }
  // What the server sends: a payload, and which part of it is said to be the data.
  void sends(std::size_t payload, U32 data_at, U32 data_bytes) {
    payload_.resize(payload);
    for (std::size_t i = 0; i < payload; ++i) payload_[i] = static_cast<std::byte>(i * 7);
    reply_ = {.data_at = data_at, .data_bytes = data_bytes, .attr = {.id = 5, .type = kRegularFile}};
  }
  Result<StorageBytes> read(std::size_t length) { return storage_->read_to_keep({}, core::FileId{5}, 0, 0, length); }

  Bytes payload_;
  ReadReply reply_{};
  TestKeyFile keys_{"host HOSTKEY host-secret\n"};
  FakeServer server_{[this](FakeServer::Peer& peer, const MessageView& message) {
    if (message.header.kind != static_cast<U16>(MessageKind::kCall)) return;
    Header header = message.header;
    header.kind = static_cast<U16>(MessageKind::kReply);
    header.credits = 64;
    header.deadline_ms = 0;
    header.operation_count = 1;
    peer.send(encode_message(header, {}, answer_of(reply_), payload_));
  }};
  std::unique_ptr<Client> client_;
  std::unique_ptr<NativeStorage> storage_;
};

TEST_F(NativeStorageRead, TheBytesStayWhenMoreIsRead) {
  sends(100'000, 0, 100'000);
  const Bytes expected = payload_;
  const auto first = read(100'000);
  ASSERT_TRUE(first) << describe(first.error());
  for (int i = 0; i < 8; ++i) {
    sends(200'000, 0, 200'000);
    ASSERT_TRUE(read(200'000));
  }
  ASSERT_EQ(first->length, expected.size());
  EXPECT_EQ(std::memcmp(first->memory.get(), expected.data(), expected.size()), 0);
  client_.reset();
  EXPECT_EQ(first->memory[99'999], expected[99'999]);
}

TEST_F(NativeStorageRead, BytesInTheMiddleOfAPayload) {
  sends(30, 7, 13);
  const auto got = read(4096);
  ASSERT_TRUE(got) << describe(got.error());
  ASSERT_EQ(got->length, 13u);
  EXPECT_EQ(std::memcmp(got->memory.get(), payload_.data() + 7, 13), 0);
}

TEST_F(NativeStorageRead, NothingIsThere) {
  sends(0, 0, 0);
  const auto got = read(4096);
  ASSERT_TRUE(got) << describe(got.error());
  EXPECT_EQ(got->length, 0u);
  EXPECT_EQ(got->memory, nullptr);
}

TEST_F(NativeStorageRead, MoreThanWasAskedForIsNotKept) {
  sends(4097, 0, 4097);
  const auto longer = read(4096);
  ASSERT_FALSE(longer);
  EXPECT_EQ(longer.error().code, Errc::kCorrupt);
  sends(kPayloadBytesMax, 0, 1);
  const auto around = read(1);
  ASSERT_FALSE(around);
  EXPECT_EQ(around.error().code, Errc::kCorrupt);
  sends(kPayloadBytesMax, 0, kPayloadBytesMax);
  EXPECT_TRUE(read(kPayloadBytesMax));
}

}  // namespace
}  // namespace stoa::test
