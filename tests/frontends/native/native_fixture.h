// A native server on a volume in memory, and clients of it, for tests.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "backends/blob/memory/memory_blobs.h"
#include "backends/kv/memory/memory_kv.h"
#include "base/metrics.h"
#include "core/volume/volume.h"
#include "frontends/native/client/client.h"
#include "frontends/native/client/client_login.h"
#include "frontends/native/server/native_server.h"

namespace stoa::test {

using namespace native;  // NOLINT: of this protocol are all names here

class TestHostKeys final : public HostKeys {
 public:
  std::optional<HostKey> find(std::string_view key) const override {
    const std::lock_guard lock(mutex_);
    if (gone_ || key != "HOSTKEY") return std::nullopt;
    return HostKey{"node1", "HOSTKEY", "host-secret"};
  }
  void clear() {
    const std::lock_guard lock(mutex_);
    gone_ = true;
  }

 private:
  mutable std::mutex mutex_;  // guards gone_
  bool gone_ = false;
};

// One connection that has logged in, and says what a test wants.
class RawChannel {
 public:
  // `tls`: over TLS.
  RawChannel(std::uint16_t port, const ClientKey& key, const LoginWish& wish, const tls::Context* tls = nullptr);
  // The message as one call. Fields of `header` that are zero get what is right.
  Bytes frame(Header header, std::span<const std::byte> records, std::span<const std::byte> payload = {}) const;
  void send(const Bytes& bytes) { (void)connection->send(bytes); }
  // The next answer. Kept until the one after it.
  MessageView receive();
  bool closed();
  MessageView call(const Header& header, std::span<const std::byte> records, std::span<const std::byte> payload = {}) {
    send(frame(header, records, payload));
    return receive();
  }

  std::unique_ptr<ClientConnection> connection;
  Result<Welcome> welcome = fail(Errc::kIo);
  std::optional<Identity> as;  // a call block, if set

 private:
  std::shared_ptr<const Content> body_;
};

class NativeTest : public testing::Test {
 protected:
  NativeTest();
  ~NativeTest() override;

  // A directory of the volume's root, published as "/name".
  core::FileId publish(const std::string& name, const core::ClientRule& rule);
  static core::ClientRule anyone(core::Squash squash = core::Squash::kNone, bool read_only = false);
  void start_server();
  void stop_server();
  // Server and volume end and start again, at the same port.
  void restart();
  std::string key_file(const std::string& line, int mode = 0600);
  std::unique_ptr<Client> host_client(const std::string& path = "test", std::uint32_t channels = 1);
  std::unique_ptr<Client> user_client();
  std::string url(const std::string& path) const { return "stoa://127.0.0.1:" + std::to_string(port) + "/" + path; }
  RawChannel raw(const std::string& client_id = "0123456789abcdef", U64 session = 0);
  std::uint64_t metric(std::string_view line_start) const;

  // A call as root, of one operation, which succeeds.
  static CallOptions root() { return {.as = Identity{.uid = 0, .gid = 0}}; }
  template <class Operation>
  static typename Operation::Reply must(Client& client, const typename Operation::Arguments& arguments) {
    Batch batch;
    batch.add<Operation>(arguments);
    const auto replies = client.call(batch, root());
    EXPECT_TRUE(replies) << describe(replies.error());
    if (!replies) return {};
    const auto reply = replies->template get<Operation>(0);
    EXPECT_TRUE(reply) << describe(reply.error());
    typename Operation::Reply value = reply.value_or(typename Operation::Reply{});
    // Texts are views of the reply: those of a test are kept by who asks for more than numbers.
    return value;
  }
  template <class Operation>
  static WireStatus status(Client& client, const typename Operation::Arguments& arguments,
                           const CallOptions& options = root()) {
    Batch batch;
    batch.add<Operation>(arguments);
    const auto replies = client.call(batch, options);
    EXPECT_TRUE(replies) << describe(replies.error());
    return replies ? replies->status(0) : WireStatus::io;
  }
  static std::span<const std::byte> bytes(std::string_view text) {
    return std::as_bytes(std::span(text.data(), text.size()));
  }
  static std::string text(std::span<const std::byte> data) {
    return {reinterpret_cast<const char*>(data.data()), data.size()};
  }

  MetricRegistry metrics;
  TestHostKeys host_keys;
  NativeServerOptions options;
  std::unique_ptr<core::Volume> volume;
  std::unique_ptr<NativeServer> server;
  std::uint16_t port = 0;
  core::FileId exported{};
  core::S3Key ann_key;

 private:
  void open_volume();
  kv::MemoryKv kv_;
  blob::MemoryBlobs blobs_;
  std::vector<std::string> files_;
};

template <class Operation>
Bytes record_of(const typename Operation::Arguments& arguments) {
  Bytes record;
  append_record(record, Operation::kCode, arguments);
  return record;
}

// The status of the one operation that a reply is about.
inline WireStatus first_status(const MessageView& reply) {
  if (WireStatus{reply.header.status} != WireStatus::ok) return WireStatus{reply.header.status};
  std::span<const std::byte> records = reply.operations;
  const auto record = next_record(records);
  return record ? WireStatus{record->code} : WireStatus::malformed;
}

}  // namespace stoa::test
