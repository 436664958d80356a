// An NFSv3 client for tests, on libnfs's raw calls: the caller chooses every argument of the protocol. Nothing is
// cached or retried, so a test sees the server's own answers.
#pragma once

// Each needs the one above it.
// clang-format off
#include <nfsc/libnfs.h>
#include <nfsc/libnfs-raw.h>
#include <nfsc/libnfs-raw-mount.h>
#include <nfsc/libnfs-raw-nfs.h>
// clang-format on
#include <sys/time.h>  // libnfs-raw-nfs.h uses struct timeval without it

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stoa::clients {

using NfsHandle = std::string;

struct NfsTarget {
  std::string host = "127.0.0.1";
  int nfs_port = 0;
  int mount_port = 0;
  std::string export_path;  // "/test"
};

struct NfsAttributes {
  ftype3 type = NF3REG;
  std::uint32_t mode = 0, links = 0, uid = 0, gid = 0;
  std::uint64_t size = 0, id = 0;
  std::int64_t mtime_s = 0;
  std::uint32_t mtime_ns = 0;
};

struct NfsEntry {
  std::string name;
  std::uint64_t id = 0;
  std::uint64_t cookie = 0;
  std::optional<NfsAttributes> attr;
  NfsHandle handle;
};

// The answer to any call. `lost`: the connection broke, so it is unknown whether the call was executed.
struct NfsReply {
  bool lost = false;
  nfsstat3 status = NFS3_OK;
  NfsHandle handle;                   // LOOKUP, CREATE, MKDIR, SYMLINK, MKNOD
  std::optional<NfsAttributes> attr;  // of the object
  std::string data;                   // READ, READLINK
  bool eof = false;
  std::uint32_t count = 0;
  stable_how committed = UNSTABLE;
  std::string verifier;  // WRITE, COMMIT, READDIRPLUS
  std::vector<NfsEntry> entries;
  std::uint64_t bytes_total = 0, bytes_free = 0;

  bool ok() const { return !lost && status == NFS3_OK; }
  std::string text() const;
};
using NfsDone = std::function<void(NfsReply)>;

struct NfsSet {
  std::optional<std::uint32_t> mode, uid, gid;
  std::optional<std::uint64_t> size;
  std::optional<std::pair<std::int64_t, std::uint32_t>> mtime;
};

enum class NfsCreate : std::uint8_t { kUnchecked, kGuarded, kExclusive };

// One connection; used by one thread. Calls may be many at a time: each `*_async` returns at once, poll() runs the
// answers' callbacks; the others wait. After the connection broke, every call answers `lost`.
class NfsClient {
 public:
  // Null when the server cannot be reached or refuses the mount; `why` has the reason.
  static std::unique_ptr<NfsClient> connect(const NfsTarget& target, std::uint32_t uid, std::string* why);
  ~NfsClient();
  NfsClient(const NfsClient&) = delete;
  NfsClient& operator=(const NfsClient&) = delete;

  const NfsHandle& root() const { return root_; }
  bool broken() const { return broken_; }
  std::size_t in_flight() const { return in_flight_; }
  // Handles arrived data; waits up to `timeout_ms` for some. False: broken.
  bool poll(int timeout_ms);
  // Until at most `limit` calls are in flight.
  void drain(std::size_t limit = 0);

  void null_async(NfsDone done);
  void getattr_async(const NfsHandle& file, NfsDone done);
  void setattr_async(const NfsHandle& file, const NfsSet& set, NfsDone done);
  void lookup_async(const NfsHandle& dir, const std::string& name, NfsDone done);
  void readlink_async(const NfsHandle& file, NfsDone done);
  void read_async(const NfsHandle& file, std::uint64_t offset, std::uint32_t count, NfsDone done);
  void write_async(const NfsHandle& file, std::uint64_t offset, std::string_view data, stable_how stable, NfsDone done);
  void commit_async(const NfsHandle& file, NfsDone done);
  void create_async(const NfsHandle& dir, const std::string& name, NfsCreate mode, const NfsSet& set, NfsDone done);
  void mkdir_async(const NfsHandle& dir, const std::string& name, std::uint32_t mode, NfsDone done);
  void symlink_async(const NfsHandle& dir, const std::string& name, const std::string& target, NfsDone done);
  void remove_async(const NfsHandle& dir, const std::string& name, NfsDone done);
  void rmdir_async(const NfsHandle& dir, const std::string& name, NfsDone done);
  void rename_async(const NfsHandle& from, const std::string& from_name, const NfsHandle& to,
                    const std::string& to_name, NfsDone done);
  void link_async(const NfsHandle& file, const NfsHandle& dir, const std::string& name, NfsDone done);
  void readdirplus_async(const NfsHandle& dir, std::uint64_t cookie, const std::string& verifier, std::uint32_t bytes,
                         NfsDone done);
  void fsstat_async(const NfsHandle& dir, NfsDone done);

  // Waits for the answer of one call: client.wait([&](auto done) { client.getattr_async(file, done); }).
  template <class Start>
  NfsReply wait(Start start) {
    NfsReply out{.lost = true};
    bool finished = false;
    start([&](NfsReply reply) {
      out = std::move(reply);
      finished = true;
    });
    while (!finished && poll(100)) {
    }
    return out;
  }
  NfsReply getattr(const NfsHandle& file) {
    return wait([&](NfsDone done) { getattr_async(file, std::move(done)); });
  }
  NfsReply setattr(const NfsHandle& file, const NfsSet& set) {
    return wait([&](NfsDone done) { setattr_async(file, set, std::move(done)); });
  }
  NfsReply lookup(const NfsHandle& dir, const std::string& name) {
    return wait([&](NfsDone done) { lookup_async(dir, name, std::move(done)); });
  }
  NfsReply readlink(const NfsHandle& file) {
    return wait([&](NfsDone done) { readlink_async(file, std::move(done)); });
  }
  NfsReply read(const NfsHandle& file, std::uint64_t offset, std::uint32_t count) {
    return wait([&](NfsDone done) { read_async(file, offset, count, std::move(done)); });
  }
  NfsReply write(const NfsHandle& file, std::uint64_t offset, std::string_view data, stable_how stable) {
    return wait([&](NfsDone done) { write_async(file, offset, data, stable, std::move(done)); });
  }
  NfsReply commit(const NfsHandle& file) {
    return wait([&](NfsDone done) { commit_async(file, std::move(done)); });
  }
  NfsReply create(const NfsHandle& dir, const std::string& name, NfsCreate mode = NfsCreate::kGuarded,
                  const NfsSet& set = {}) {
    return wait([&](NfsDone done) { create_async(dir, name, mode, set, std::move(done)); });
  }
  NfsReply mkdir(const NfsHandle& dir, const std::string& name, std::uint32_t mode = 0755) {
    return wait([&](NfsDone done) { mkdir_async(dir, name, mode, std::move(done)); });
  }
  NfsReply symlink(const NfsHandle& dir, const std::string& name, const std::string& target) {
    return wait([&](NfsDone done) { symlink_async(dir, name, target, std::move(done)); });
  }
  NfsReply remove(const NfsHandle& dir, const std::string& name) {
    return wait([&](NfsDone done) { remove_async(dir, name, std::move(done)); });
  }
  NfsReply rmdir(const NfsHandle& dir, const std::string& name) {
    return wait([&](NfsDone done) { rmdir_async(dir, name, std::move(done)); });
  }
  NfsReply rename(const NfsHandle& from, const std::string& from_name, const NfsHandle& to,
                  const std::string& to_name) {
    return wait([&](NfsDone done) { rename_async(from, from_name, to, to_name, std::move(done)); });
  }
  NfsReply link(const NfsHandle& file, const NfsHandle& dir, const std::string& name) {
    return wait([&](NfsDone done) { link_async(file, dir, name, std::move(done)); });
  }
  NfsReply fsstat(const NfsHandle& dir) {
    return wait([&](NfsDone done) { fsstat_async(dir, std::move(done)); });
  }
  // The whole directory without "." and "..".
  NfsReply list(const NfsHandle& dir);
  // The whole file.
  NfsReply read_all(const NfsHandle& file);
  // Follows '/'-separated names from the root.
  NfsReply walk(const std::string& path);

 private:
  NfsClient() = default;
  struct Call;
  template <class Queue>
  void start(NfsDone done, void (*take)(void* result, NfsReply& reply), Queue queue);
  static void on_answer(struct rpc_context* rpc, int status, void* data, void* call);
  void break_off();

  rpc_context* rpc_ = nullptr;
  NfsHandle root_;
  bool broken_ = false;
  std::size_t in_flight_ = 0;
};

}  // namespace stoa::clients
