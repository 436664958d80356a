#include "tests/frontends/native/native_fixture.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

namespace stoa::test {

RawChannel::RawChannel(std::uint16_t port, const ClientKey& key, const LoginWish& wish, const tls::Context* tls) {
  auto opened = ClientConnection::open("127.0.0.1", port, std::chrono::seconds(10));
  EXPECT_TRUE(opened);
  if (!opened) return;
  connection = std::move(*opened);
  const Status started = tls == nullptr ? Status{} : connection->start_tls(*tls, "127.0.0.1", std::chrono::seconds(10));
  EXPECT_TRUE(started) << (started ? "" : describe(started.error()));
  std::chrono::milliseconds wait{};
  welcome = log_in(*connection, key, wish, wait);
  if (key.kind == KeyKind::kHost) as = Identity{.uid = 0, .gid = 0};
}

Bytes RawChannel::frame(Header header, std::span<const std::byte> records, std::span<const std::byte> payload) const {
  Bytes block;
  if (as) append_record(block, 0, CallBlock{.uid = as->uid, .gid = as->gid});
  header.version = kVersion;
  if (header.kind == 0) header.kind = static_cast<U16>(MessageKind::kCall);
  if (header.session == 0) header.session = welcome->session;
  if (header.sequence == 0) header.sequence = 1;
  if (header.operation_count == 0) header.operation_count = 1;
  return encode_message(header, block, records, payload);
}

MessageView RawChannel::receive() {
  MessageView view;
  auto body = connection->receive(std::chrono::seconds(10));
  EXPECT_TRUE(body) << describe(body.error());
  if (!body) return view;
  body_ = *body;
  EXPECT_EQ(cut_message(*body_, view), Cut::kWhole);
  return view;
}

bool RawChannel::closed() {
  const auto body = connection->receive(std::chrono::seconds(10));
  return !body && body.error().code == Errc::kIo;
}

NativeTest::NativeTest() : ann_key(core::make_s3_key()) {
  options.port = 0;
  EXPECT_TRUE(core::Volume::format(kv_, "test"));
  open_volume();
  exported = publish("test", anyone());
  EXPECT_TRUE(volume->registry().add_user({.name = "ann", .uid = 1000, .gid = 100, .keys = {ann_key}}));
  start_server();
}

NativeTest::~NativeTest() {
  stop_server();
  volume.reset();
  for (const std::string& file : files_) std::filesystem::remove(file);
}

void NativeTest::open_volume() {
  auto opened = core::Volume::open(kv_, blobs_, metrics, {});
  ASSERT_TRUE(opened) << describe(opened.error());
  volume = std::move(*opened);
}

core::FileId NativeTest::publish(const std::string& name, const core::ClientRule& rule) {
  const auto dir = volume->ns().mkdir({}, {.parent = core::kRootId, .name = name, .set = {.mode = 0777}});
  EXPECT_TRUE(dir);
  EXPECT_TRUE(volume->registry().add_export(
      {.name = name, .root = dir->attr.id, .path = "/" + name, .native = true, .clients = {rule}}));
  return dir->attr.id;
}

core::ClientRule NativeTest::anyone(core::Squash squash, bool read_only) {
  return {.network = *core::Network::parse("*"), .read_only = read_only, .squash = squash};
}

void NativeTest::start_server() {
  options.port = port;
  auto started = NativeServer::start(options, volume->ns(), volume->state(), volume->registry(), host_keys, metrics);
  ASSERT_TRUE(started) << (started ? "" : describe(started.error()));
  server = std::move(*started);
  port = server->port();
}

void NativeTest::stop_server() {
  server.reset();
}

void NativeTest::restart() {
  stop_server();
  volume.reset();
  open_volume();
  start_server();
}

std::string NativeTest::key_file(const std::string& line, int mode) {
  std::string path = (std::filesystem::temp_directory_path() / "stoa-key-XXXXXX").string();
  const int fd = mkstemp(path.data());
  EXPECT_GE(fd, 0);
  EXPECT_EQ(write(fd, line.data(), line.size()), static_cast<ssize_t>(line.size()));
  fchmod(fd, static_cast<mode_t>(mode));
  close(fd);
  files_.push_back(path);
  return path;
}

std::unique_ptr<Client> NativeTest::host_client(const std::string& path, std::uint32_t channels) {
  auto client =
      Client::connect({.url = url(path), .key_file = key_file("host HOSTKEY host-secret\n"), .channels = channels});
  EXPECT_TRUE(client) << describe(client.error());
  return client ? std::move(*client) : nullptr;
}

std::unique_ptr<Client> NativeTest::user_client() {
  auto client = Client::connect(
      {.url = url("test"), .key_file = key_file("user " + ann_key.access_key + " " + ann_key.secret_key + "\n")});
  EXPECT_TRUE(client) << describe(client.error());
  return client ? std::move(*client) : nullptr;
}

RawChannel NativeTest::raw(const std::string& client_id, U64 session) {
  return RawChannel(port, {KeyKind::kHost, "HOSTKEY", "host-secret"}, {"test", client_id, session});
}

std::uint64_t NativeTest::metric(std::string_view line_start) const {
  const std::string text = metrics.render();
  const auto at = text.find("\n" + std::string(line_start) + " ");
  return at == text.npos ? 0 : std::stoull(text.substr(at + line_start.size() + 2));
}

}  // namespace stoa::test
