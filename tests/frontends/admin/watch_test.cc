// Watching through a real server: order, resuming, borders, limits, and the end.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <map>
#include <thread>

#include "core/api/journal_cursor.h"
#include "core/kv/keys.h"
#include "frontends/admin/admin_server.h"
#include "tests/frontends/admin/admin_fixture.h"

namespace stoa::admin {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

struct Event {
  std::string name, id;
  Json data;
};

// One request and its answer, event by event. The body is chunked; the borders of chunks mean nothing here.
class Watching {
 public:
  Watching(std::uint16_t port, const std::string& target, int receive_bytes = 0)
      : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    if (receive_bytes > 0) setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof receive_bytes);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    const std::string request =
        "GET " + target + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer secret\r\n\r\n";
    EXPECT_EQ(send(fd_, request.data(), request.size(), MSG_NOSIGNAL), static_cast<ssize_t>(request.size()));
  }
  ~Watching() { close(fd_); }
  Watching(const Watching&) = delete;
  Watching& operator=(const Watching&) = delete;

  // The status line and headers, or all when it is no stream.
  std::string head() {
    while (buffer_.find("\r\n\r\n") == std::string::npos && receive()) {
    }
    const std::size_t end = buffer_.find("\r\n\r\n");
    const std::string text = buffer_.substr(0, end);
    buffer_.erase(0, end == std::string::npos ? end : end + 4);
    return text;
  }
  std::string rest() {
    while (receive()) {
    }
    return buffer_;
  }
  // The next event; name "" at the end of the stream.
  Event next() {
    for (;;) {
      const std::size_t data = body_.find("\ndata: ");
      const std::size_t end = data == std::string::npos ? data : body_.find("\n\n", data);
      if (end != std::string::npos) {
        Event event;
        const std::size_t id = body_.rfind("id: ", data);
        event.id = body_.substr(id + 4, body_.find('\n', id) - id - 4);
        const std::size_t name = body_.find("event: ", id);
        event.name = body_.substr(name + 7, data - name - 7);
        event.data = Json::parse(body_.substr(data + 7, end - data - 7), nullptr, false);
        body_.erase(0, end + 2);
        return event;
      }
      if (!unchunk() && !receive()) return {};
    }
  }
  // "create /a/f"
  std::string change() {
    const Event event = next();
    std::string text = event.name + " " + event.data.value("path", "");
    if (event.data.contains("to_path")) text += " " + event.data["to_path"].get<std::string>();
    return text;
  }

 private:
  bool receive() {
    char part[8192];
    const ssize_t got = recv(fd_, part, sizeof part, 0);
    if (got > 0) buffer_.append(part, static_cast<std::size_t>(got));
    return got > 0;
  }
  bool unchunk() {
    const std::size_t line = buffer_.find("\r\n");
    if (line == std::string::npos) return false;
    const std::size_t size = std::stoul(buffer_.substr(0, line), nullptr, 16);
    if (buffer_.size() < line + 2 + size + 2) return false;
    body_.append(buffer_, line + 2, size);
    buffer_.erase(0, line + 2 + size + 2);
    return true;
  }
  int fd_;
  std::string buffer_, body_;
};

class WatchTest : public AdminTest {
 protected:
  WatchTest() {
    auto server = AdminServer::start(*service_, {.host = "127.0.0.1", .limits = {.connections_max = 256}});
    EXPECT_TRUE(server) << describe(server.error());
    server_ = *std::move(server);
  }
  std::unique_ptr<Watching> watch(const std::string& path, const std::string& cursor = {}) {
    auto watching = std::make_unique<Watching>(server_->port(),
                                               "/v1/watch?path=" + path + (cursor.empty() ? "" : "&cursor=" + cursor));
    EXPECT_THAT(watching->head(), StartsWith("HTTP/1.1 200"));
    const Event begin = watching->next();
    EXPECT_EQ(begin.name, "begin");
    begin_ = begin.id;
    return watching;
  }
  core::FileId directory(core::FileId parent, std::string_view name) {
    const auto made = volume_->ns().mkdir({}, {.parent = parent, .name = name});
    EXPECT_TRUE(made) << describe(made.error());
    return made->attr.id;
  }
  void file(core::FileId parent, std::string_view name) {
    EXPECT_TRUE(volume_->ns().create({}, {.parent = parent, .name = name}));
  }

  std::unique_ptr<AdminServer> server_;
  std::string begin_;  // of the last watch()
};

TEST_F(WatchTest, TellsChangesAtAndBelowTheDirectory) {
  const core::FileId a = make_directory("a");
  const core::FileId other = make_directory("other");
  const auto watching = watch("/a");
  file(other, "unseen");
  const core::OpContext ann{.protocol = core::Protocol::kNfs, .client = "10.0.0.7"};
  ASSERT_TRUE(volume_->ns().create(ann, {.parent = a, .name = "f"}));
  const core::FileId b = directory(a, "b");
  file(b, "deep");
  const Event first = watching->next();
  EXPECT_EQ(first.name, "create");
  EXPECT_EQ(first.data["path"], "/a/f");
  EXPECT_EQ(first.data["operation"], "create");
  EXPECT_EQ(first.data["type"], "file");
  EXPECT_EQ(first.data["protocol"], "nfs");
  EXPECT_EQ(first.data["client"], "10.0.0.7");
  EXPECT_EQ(first.data["cursor"], first.id);
  EXPECT_EQ(watching->change(), "mkdir /a/b");
  EXPECT_EQ(watching->change(), "create /a/b/deep");
  // Into it, within it, out of it; a directory above takes its paths along.
  core::Namespace& ns = volume_->ns();
  ASSERT_TRUE(ns.rename({}, {.from_parent = other, .from_name = "unseen", .to_parent = b, .to_name = "in"}));
  ASSERT_TRUE(ns.rename({}, {.from_parent = a, .from_name = "b", .to_parent = a, .to_name = "c"}));
  file(b, "later");
  ASSERT_TRUE(ns.rename({}, {.from_parent = b, .from_name = "in", .to_parent = other, .to_name = "out"}));
  ASSERT_TRUE(ns.rename({}, {.from_parent = other, .from_name = "out", .to_parent = other, .to_name = "gone"}));
  ASSERT_TRUE(ns.setattr({}, {.id = a, .set = {.mode = 0700}}));
  EXPECT_EQ(watching->change(), "rename /other/unseen /a/b/in");
  EXPECT_EQ(watching->change(), "rename /a/b /a/c");
  EXPECT_EQ(watching->change(), "create /a/c/later");
  EXPECT_EQ(watching->change(), "rename /a/c/in /other/out");
  EXPECT_EQ(watching->change(), "attributes /a");
}

TEST_F(WatchTest, APurgeTellsWhereTheThingWas) {
  const core::FileId a = make_directory("a");
  core::Namespace& ns = volume_->ns();
  file(directory(a, "b"), "f");
  ASSERT_TRUE(volume_->registry().set_recycle({.dir = a}));
  ASSERT_TRUE(ns.unlink({}, {.parent = ns.lookup({}, {.parent = a, .name = "b"})->attr.id, .name = "f"}));
  const auto watching = watch("/a");
  ASSERT_TRUE(ns.purge({}, {.dir = a}));
  EXPECT_EQ(watching->change(), "purge /a/b/f");
}

TEST_F(WatchTest, GoesOnBehindACursor) {
  const core::FileId a = make_directory("a");
  auto watching = watch("/a");
  const std::string begin = begin_;
  for (const char* name : {"1", "2", "3"}) file(a, name);
  EXPECT_EQ(watching->next().data["path"], "/a/1");
  const std::string cursor = watching->next().id;
  watching.reset();
  file(a, "4");
  watching = watch("/a", cursor);
  EXPECT_EQ(begin_, cursor);
  EXPECT_EQ(watching->change(), "create /a/3");
  EXPECT_EQ(watching->change(), "create /a/4");
  EXPECT_EQ(watch("/a", begin)->change(), "create /a/1");
}

TEST_F(WatchTest, ACursorThatIsTooOldIsGoneAndWrongOnesAreRefused) {
  const core::FileId a = make_directory("a");
  for (int i = 0; i < 10; ++i) file(a, std::to_string(i));
  ASSERT_TRUE(volume_->journal().newest());
  core::WriteBatch batch;
  for (std::uint64_t i = 1; i <= 5; ++i) batch.remove(core::Family::kJournal, core::keys::be64(i));
  const core::WriteBatch* const batches[] = {&batch};
  ASSERT_TRUE(kv_.apply(batches));
  const Answer gone = get("/v1/watch?path=/a&cursor=" + core::encode_cursor({}, 3));
  EXPECT_EQ(gone.status, 410u);
  EXPECT_EQ(gone.code(), "gone");
  EXPECT_THAT(gone.message(), HasSubstr("the oldest cursor is " + core::encode_cursor({}, 5)));
  EXPECT_EQ(get("/v1/watch?path=/a&cursor=" + core::encode_cursor({}, 5)).status, 200u);
  EXPECT_EQ(get("/v1/watch?path=/a&cursor=" + core::encode_cursor({}, 99999)).status, 400u);
  for (const char* no_cursor : {"", "x", "5", "-1", "99999999999999999999999999"})
    EXPECT_EQ(get("/v1/watch?path=/a&cursor=" + std::string(no_cursor)).status, 400u) << no_cursor;
  EXPECT_EQ(get("/v1/watch?path=/none").status, 404u);
  EXPECT_EQ(get("/v1/watch?path=/a/1").code(), "not_directory");
  EXPECT_EQ(get("/v1/watch").status, 400u);
  EXPECT_EQ(get("/v1/watch?path=/a&more=1").status, 400u);
}

TEST_F(WatchTest, TooManyWatchersAreRefusedAndRoomComesBack) {
  std::vector<std::unique_ptr<Watching>> all;
  for (std::size_t i = 0; i < WatchHub::kWatchersMax; ++i) all.push_back(watch("/"));
  Watching one(server_->port(), "/v1/watch?path=/");
  EXPECT_THAT(one.head(), StartsWith("HTTP/1.1 503"));
  EXPECT_EQ(get("/v1/version").status, 200u) << "watchers cost no thread";
  all.clear();
  // The server learns that they are gone when it tells them something.
  for (bool again = true; again;) {
    file(core::kRootId, "f" + std::to_string(*volume_->journal().newest()));
    Watching next(server_->port(), "/v1/watch?path=/");
    again = !next.head().starts_with("HTTP/1.1 200");
  }
}

TEST_F(WatchTest, EndsWithTheServer) {
  const auto watching = watch("/");
  const auto idle = watch("/");
  server_.reset();
  EXPECT_EQ(watching->next().name, "");
  EXPECT_EQ(idle->next().name, "");
  EXPECT_EQ(get("/v1/watch?path=/").status, 503u);
}

TEST_F(WatchTest, ThousandsOfChangesByManyThreadsComeInOrder) {
  constexpr int kThreads = 4;
  constexpr int kEach = 1000;
  std::vector<core::FileId> dirs;
  for (int t = 0; t < kThreads; ++t) dirs.push_back(make_directory("d" + std::to_string(t)));
  const auto all = watch("/");
  const auto one = watch("/d1");
  std::vector<std::jthread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) file(dirs[static_cast<std::size_t>(t)], std::to_string(i));
    });
  }
  std::map<std::string, int> next;
  std::uint64_t last = 0;
  for (int i = 0; i < kThreads * kEach; ++i) {
    const Event event = all->next();
    ASSERT_EQ(event.name, "create");
    const auto sequence = core::decode_cursor(core::ShardId{}, event.id);
    ASSERT_TRUE(sequence) << event.id;
    ASSERT_GT(*sequence, last);
    last = *sequence;
    const auto path = event.data["path"].get<std::string>();
    const std::string dir = path.substr(0, 3);
    ASSERT_EQ(path, dir + "/" + std::to_string(next[dir]++));
  }
  for (int i = 0; i < kEach; ++i) ASSERT_EQ(one->change(), "create /d1/" + std::to_string(i));
}

TEST_F(WatchTest, ASlowReaderHoldsNobodyUpAndMissesNothing) {
  constexpr int kFiles = 6000;
  const core::FileId a = make_directory("a");
  // More than the buffers hold: the hub has to leave the journal alone until the reader takes something.
  Watching slow(server_->port(), "/v1/watch?path=/a", 4096);
  EXPECT_THAT(slow.head(), StartsWith("HTTP/1.1 200"));
  const auto quick = watch("/a");
  const std::string name(200, 'n');
  for (int i = 0; i < kFiles; ++i) file(a, name + std::to_string(i));
  for (int i = 0; i < kFiles; ++i) ASSERT_EQ(quick->change(), "create /a/" + name + std::to_string(i));
  EXPECT_EQ(slow.next().name, "begin");
  for (int i = 0; i < kFiles; ++i) ASSERT_EQ(slow.change(), "create /a/" + name + std::to_string(i));
}

}  // namespace
}  // namespace stoa::admin
