// A client over kills of its server: what was under way is done once, and what was held is held on.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <thread>

#include "frontends/native/client/client.h"
#include "tests/clients/server_process.h"

namespace stoa::test {
namespace {

using namespace native;

bool is_free(std::uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool bound = bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  close(fd);
  return bound;
}

// Four ports in a row, below those that the kernel gives out.
std::uint16_t free_ports() {
  for (std::uint32_t tried = 0; tried < 1000; ++tried) {
    const auto base =
        static_cast<std::uint16_t>(20'000 + (static_cast<std::uint32_t>(getpid()) * 8 + tried * 4) % 10'000);
    bool free = true;
    for (std::uint16_t i = 0; i < 4; ++i) free = free && is_free(static_cast<std::uint16_t>(base + i));
    if (free) return base;
  }
  return 0;
}

class NativeKill : public testing::Test {
 protected:
  NativeKill() : base_(free_ports()) {
    std::string pattern = (std::filesystem::temp_directory_path() / "stoa-native-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    start();
  }
  ~NativeKill() override {
    server_.reset();
    std::filesystem::remove_all(folder_);
  }
  void start() {
    std::string why;
    server_ = clients::ServerProcess::start(
        {STOA_SERVE, "--data", folder_, "--port-base", std::to_string(base_), "--lease", "20"}, &why);
    ASSERT_TRUE(server_) << why;
  }
  void kill_and_start() {
    server_->kill_hard();
    start();
  }
  std::unique_ptr<Client> connect() {
    auto client = Client::connect(
        {.url = server_->value("STOA_NATIVE_URL"), .key_file = server_->value("STOA_NATIVE_KEY_FILE"), .channels = 2});
    EXPECT_TRUE(client) << describe(client.error());
    return client ? std::move(*client) : nullptr;
  }
  static CallOptions root() { return {.as = Identity{.uid = 0, .gid = 0}}; }

  const std::uint16_t base_;
  std::string folder_;
  std::unique_ptr<clients::ServerProcess> server_;
};

TEST_F(NativeKill, ChangesUnderWayAreDoneOnce) {
  const auto client = connect();
  ASSERT_TRUE(client);
  const File top{client->facts().root};
  std::atomic<bool> stop{false};
  std::atomic<int> made{0}, failed{0};
  const auto work = [&](int thread) {
    for (int i = 0; !stop; ++i) {
      const std::string name = std::to_string(thread) + "." + std::to_string(i);
      // Done twice, each of them fails: the name is taken, or is gone.
      Batch batch;
      batch.add<operations::create>({.parent = top, .mode = kCreateGuarded, .name = name});
      batch.add<operations::rename>(
          {.from_parent = top, .to_parent = top, .no_replace = 1, .from_name = name, .to_name = name + ".moved"});
      const auto replies = client->call(batch, root());
      if (!replies || !replies->ok()) {
        ++failed;
        ADD_FAILURE() << name << ": "
                      << (replies ? std::string(to_string(replies->status(replies->size() - 1)))
                                  : describe(replies.error()));
        return;
      }
      ++made;
    }
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) threads.emplace_back(work, t);
  for (int kills = 0; kills < 2; ++kills) {
    const int before = made;
    while (made < before + 30 && failed == 0) std::this_thread::yield();
    kill_and_start();
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed, 0);
  EXPECT_GE(client->counts().sessions, 3u);
}

// Records of two clients, of all lengths up to what goes to blobs: each is in the file once and whole, those of a
// thread in their order, and nothing is between them.
TEST_F(NativeKill, AppendsUnderWayAreDoneOnce) {
  const std::array clients{connect(), connect()};
  ASSERT_TRUE(clients[0] && clients[1]);
  Batch make;
  make.add<operations::create>({.parent = File{clients[0]->facts().root}, .mode = kCreateGuarded, .name = "log"});
  const auto made = clients[0]->call(make, root());
  ASSERT_TRUE(made && made->ok());
  const File file{made->file(0)};
  std::atomic<bool> stop{false};
  std::atomic<int> done{0}, failed{0};
  std::array<std::uint32_t, 4> written{};
  const auto record = [](std::uint32_t thread, std::uint32_t number) {
    std::string line(number % 7 == 6 ? 9000 : number * 37 % 300, static_cast<char>('a' + thread));
    return std::to_string(thread) + "." + std::to_string(number) + "." + line + "\n";
  };
  const auto work = [&](std::uint32_t thread) {
    for (std::uint32_t i = 0; !stop; ++i) {
      const std::string line = record(thread, i);
      Batch batch;
      batch.add_with<operations::append>({.file = file, .stable = i % 5 == 0 ? 1u : 0u},
                                         std::as_bytes(std::span(line.data(), line.size())));
      const auto replies = clients[thread % 2]->call(batch, root());
      if (!replies || !replies->ok()) {
        ++failed;
        ADD_FAILURE() << (replies ? std::string(to_string(replies->status(0))) : describe(replies.error()));
        return;
      }
      written[thread] = i + 1;
      ++done;
    }
  };
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < 4; ++t) threads.emplace_back(work, t);
  for (int kills = 0; kills < 3; ++kills) {
    const int before = done;
    while (done < before + 60 && failed == 0) std::this_thread::yield();
    kill_and_start();
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed, 0);
  std::string log;
  for (std::size_t got = 1; got != 0;) {
    Batch batch;
    batch.add<operations::read>({.file = file, .offset = log.size(), .length = 500'000});
    const auto replies = clients[1]->call(batch, root());
    ASSERT_TRUE(replies && replies->ok());
    const auto data = replies->data(0);
    got = data.size();
    log.append(reinterpret_cast<const char*>(data.data()), got);
  }
  std::array<std::uint32_t, 4> seen{};
  for (std::size_t at = 0; at < log.size();) {
    const auto thread = static_cast<std::uint32_t>(log[at] - '0');
    ASSERT_LT(thread, seen.size()) << "at " << at;
    const std::string line = record(thread, seen[thread]);
    ASSERT_EQ(log.substr(at, line.size()), line) << "at " << at;
    ++seen[thread];
    at += line.size();
  }
  EXPECT_EQ(seen, written);
}

TEST_F(NativeKill, OpensLocksAndUncommittedWritesOutliveAKill) {
  const auto client = connect();
  ASSERT_TRUE(client);
  const std::uint64_t open = client->new_open();
  Batch batch;
  batch.add<operations::open>({.parent = File{client->facts().root},
                               .open = open,
                               .disposition = kOpenCreate,
                               .access = kOpenRead | kOpenWrite,
                               .name = "f"});
  const std::string text = "not committed";
  batch.add_write({.file = result_of(0), .open = open}, std::as_bytes(std::span(text.data(), text.size())));
  batch.add<operations::lock>({.file = result_of(0), .owner = 1, .length = kLockToEnd, .exclusive = 1});
  const auto held = client->call(batch, root());
  ASSERT_TRUE(held && held->ok());
  const File file{held->file(0)};
  kill_and_start();
  Batch after;
  after.add<operations::commit>({.file = file, .open = open});
  after.add<operations::read>({.file = file, .open = open, .length = 100});
  after.add<operations::unlock>({.file = file, .owner = 1, .length = kLockToEnd});
  after.add<operations::close>({open});
  const auto replies = client->call(after, root());
  ASSERT_TRUE(replies) << describe(replies.error());
  EXPECT_TRUE(replies->ok());
  const auto data = replies->data(1);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(data.data()), data.size()), text);
  EXPECT_FALSE(client->lost(open));
  EXPECT_EQ(client->counts().reclaimed, 2u);
}

}  // namespace
}  // namespace stoa::test
