// Bytes from a server, in place of its answers: a client makes some calls to it (the first bytes say which), gets what
// the others make, and ends. No answer makes it crash, wait for ever, take much memory, or hand on more than was asked.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/assert.h"
#include "base/log.h"
#include "frontends/native/fuzz/hostile_server.h"
#include "frontends/native/storage/native_storage.h"

namespace {

using namespace stoa;
using namespace stoa::native;

constexpr std::size_t kStepsMost = 24;
// A client waits for a server that does not let it in, longer each time, and asks again what is never answered: for
// ever, but for this. A call that does not end by it hangs.
constexpr std::chrono::milliseconds kPatience{200};

class NoEvents final : public LeaseEvents {
 public:
  void lease_recalled(const LeaseRecalled&) override {}
  void lease_lost(U64) override {}
};

// The path of a key file that is gone with the process.
std::string key_file() {
  const std::string line = "host " + std::string(HostileServer::kKey) + " " + std::string(HostileServer::kSecret);
  const int fd = memfd_create("key", MFD_CLOEXEC);
  STOA_ASSERT(fd >= 0 && fchmod(fd, 0600) == 0);
  STOA_ASSERT(write(fd, line.data(), line.size()) == static_cast<ssize_t>(line.size()));
  return "/proc/self/fd/" + std::to_string(fd);
}

class Steps {
 public:
  Steps(Client& client, NativeStorage& storage) : client_(client), storage_(storage) {}

  void run(std::uint8_t step) {
    const core::FileId file{std::uint64_t{1} + step / 64};
    switch (step % 27) {
      case 0: {
        LeaseWish wish{.file = file, .number = client_.new_lease(), .bits = 7, .of_files = step >= 128};
        leases_.push_back(wish.number);
        (void)storage_.getattr({.cred = {}, .wish = &wish}, file);
        break;
      }
      case 1:
        (void)storage_.acknowledge(leases_.empty() ? 1 : leases_.back(), step / 64);
        break;
      case 2:
        (void)storage_.lookup(asker_, file, "name");
        break;
      case 3:
        if (const auto opened = storage_.open(asker_, {.id = file, .access = core::kShareBoth})) open_ = opened->open;
        break;
      case 4:
        storage_.close(asker_, std::exchange(open_, 0));
        break;
      case 5: {
        std::vector<std::byte> into(4096 >> step / 64);
        const auto read = storage_.read(asker_, file, open_, step, into);
        STOA_ASSERT(!read || *read <= into.size());
        break;
      }
      case 6:
      case 7: {
        const std::vector<std::byte> data(100 << step / 64);
        const auto written = storage_.write(asker_, file, open_, step, data, {.durable = step % 2 == 0});
        STOA_ASSERT(!written || written->length <= data.size());
        break;
      }
      case 8: {
        const std::vector<std::byte> data(10);
        const auto written = storage_.append(asker_, file, open_, data, step >= 128);
        STOA_ASSERT(!written || written->length <= data.size());
        break;
      }
      case 9:
        (void)storage_.commit(asker_, file, open_);
        break;
      case 10:
        (void)storage_.readdir(asker_, {.dir = file, .want_attributes = step >= 128});
        break;
      case 11:
        (void)storage_.readlink(asker_, file);
        break;
      case 12:
        (void)storage_.get_xattr(asker_, {.id = file, .name = "user.x"});
        break;
      case 13:
        (void)storage_.list_xattrs(asker_, file);
        break;
      case 14:
        (void)storage_.lock(asker_, {.file = file, .owner = 1, .range = {}, .exclusive = step >= 128}, false);
        break;
      case 15:
        (void)storage_.lock(asker_, {.file = file, .owner = 2, .range = {}, .exclusive = true}, true);
        break;
      case 16:
        (void)storage_.test_lock(asker_, {.file = file, .owner = 3, .range = {}, .exclusive = true});
        break;
      case 17:
        (void)storage_.unlock(asker_, {.file = file, .owner = 1, .range = {}});
        break;
      case 18:
        client_.break_connections();
        break;
      case 19: {
        const auto copied = storage_.copy_range(
            asker_, {.from = file, .from_offset = 0, .to = core::FileId{9}, .to_offset = 0, .length = 100}, open_, 0);
        STOA_ASSERT(!copied || *copied <= 100);
        break;
      }
      case 20: {
        const std::vector<std::byte> data(100);
        std::vector<StorageWrite> writes;
        for (std::uint64_t i = 1; i < 5; ++i)
          writes.push_back({.id = core::FileId{i}, .open = i, .data = data, .closes = i % 2 == 0});
        const auto results = storage_.write_all(asker_, writes);
        STOA_ASSERT(results.size() == writes.size());
        for (const auto& one : results) STOA_ASSERT(!one || one->length <= data.size());
        break;
      }
      case 21:
        STOA_ASSERT(storage_.commit_all(asker_, std::vector<StorageCommit>(3, {.id = file})).size() == 3);
        break;
      case 22:
        (void)storage_.create(asker_, {.parent = file, .name = "made"});
        break;
      case 23:
        (void)storage_.seek(asker_, {.id = file, .offset = step, .what = core::SeekWhat::kHole});
        break;
      case 24:
        (void)storage_.statfs(asker_, file);
        break;
      case 25: {
        const std::vector<NumberedOpen> opens(3, {.number = client_.new_open(), .file = file, .access = 1});
        STOA_ASSERT(storage_.open_numbered({}, opens).size() == 3);
        break;
      }
      default: {  // nobody waits for it
        Batch batch;
        batch.add<operations::getattr>({.file = File{7}});
        client_.submit(batch, {.as = Identity{}}, [](const Result<Replies>&) {});
        break;
      }
    }
  }

 private:
  Client& client_;
  NativeStorage& storage_;
  const Asker asker_{};
  OpenNumber open_ = 0;
  std::vector<std::uint64_t> leases_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  static const std::string key = key_file();
  static const bool quiet = (set_log_level(LogLevel::kError), true);
  (void)quiet;
  if (size < 2 || size > 8192) return 0;
  const std::size_t steps = std::min<std::size_t>(data[0] % (kStepsMost + 1), size - 1);
  NoEvents events;
  HostileServer server{Script(std::as_bytes(std::span(data + 1 + steps, size - 1 - steps)))};
  const auto client = Client::connect(
      {.url = "stoa://127.0.0.1:" + std::to_string(server.port()) + "/e" + (size % 2 == 0 ? "" : "/path"),
       .key_file = key,
       .soft = kPatience,
       .leases = &events});
  if (!client) return 0;
  NativeStorage storage(**client, KeyKind::kHost);
  Steps made(**client, storage);
  for (std::size_t i = 0; i < steps; ++i) made.run(data[1 + i]);
  return 0;
}
