// NFSv3 and MOUNT calls by hand, over WireClient.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/api/attributes.h"
#include "frontends/nfs/v3/status.h"
#include "tests/frontends/nfs/wire_client.h"

namespace stoa::test {

using nfs3::NfsStatus;
using Handle = Bytes;

enum Nfs3Procedure : std::uint32_t {
  kGetattr = 1,
  kSetattr,
  kLookup,
  kAccess,
  kReadlink,
  kRead,
  kWrite,
  kCreate,
  kMkdir,
  kSymlink,
  kMknod,
  kRemove,
  kRmdir,
  kRename,
  kLink,
  kReaddir,
  kReaddirplus,
  kFsstat,
  kFsinfo,
  kPathconf,
  kCommit,
};

struct WireAttributes {
  std::uint32_t type = 0, mode = 0, links = 0, uid = 0, gid = 0;
  std::uint64_t size = 0, used = 0, rdev = 0, fsid = 0, fileid = 0;
  std::uint64_t atime = 0, mtime = 0, ctime = 0;  // seconds << 32 | nanoseconds
};
struct WireBefore {
  std::uint64_t size = 0, mtime = 0, ctime = 0;
};
struct WireWcc {
  std::optional<WireBefore> before;
  std::optional<WireAttributes> after;
};
WireAttributes read_attributes(rpc::XdrReader& in);
std::optional<WireAttributes> read_post_op(rpc::XdrReader& in);
WireWcc read_wcc(rpc::XdrReader& in);

// The result of a call. `in` is positioned behind the status.
struct NfsResult {
  explicit NfsResult(std::optional<WireReply> r)
      : reply(r ? std::move(*r) : WireReply{.reply_status = 99}), in(reply.results) {
    good = reply.reply_status == 0 && reply.accept_status == 0;
    status = good ? static_cast<NfsStatus>(in.u32()) : static_cast<NfsStatus>(77'777);
  }
  NfsResult(const NfsResult&) = delete;
  bool ok() const { return good && status == NfsStatus::kOk; }
  WireReply reply;
  rpc::XdrReader in;
  bool good = false;
  NfsStatus status{};
};

struct WireEntry {
  std::uint64_t fileid = 0;
  std::string name;
  std::uint64_t cookie = 0;
  std::optional<WireAttributes> attr;
  std::optional<Handle> handle;
};
struct WireListing {
  NfsStatus status{};
  std::optional<WireAttributes> dir;
  std::uint64_t verifier = 0;
  std::vector<WireEntry> entries;
  bool end = false;
  std::size_t resok_bytes = 0;  // of the READDIR3resok structure
};

// sattr3 with only the given attributes set.
struct Sattr {
  std::optional<std::uint32_t> mode, uid, gid;
  std::optional<std::uint64_t> size;
  std::uint32_t atime_how = 0, mtime_how = 0;
  std::uint64_t atime = 0, mtime = 0;
};
Xdr& put(Xdr& xdr, const Sattr& set);

class NfsCaller {
 public:
  explicit NfsCaller(std::uint16_t port, std::uint32_t uid = 0, std::uint32_t gid = 0,
                     std::vector<std::uint32_t> groups = {});

  CallSpec spec(std::uint32_t procedure);
  NfsResult call(std::uint32_t procedure, const Xdr& arguments) {
    return NfsResult(wire.call(spec(procedure), arguments));
  }

  NfsResult mount_call(std::uint32_t procedure, const Xdr& arguments);
  std::optional<Handle> mount(std::string_view path);

  NfsResult getattr(const Handle& h) { return call(kGetattr, Xdr().opaque(h)); }
  WireAttributes attributes(const Handle& h);
  NfsResult setattr(const Handle& h, const Sattr& set, std::optional<std::uint64_t> guard = {});
  NfsResult named(std::uint32_t procedure, const Handle& dir, std::string_view name) {
    return call(procedure, Xdr().opaque(dir).string(name));
  }
  NfsStatus status_of(std::uint32_t procedure, const Handle& dir, std::string_view name) {
    return named(procedure, dir, name).status;
  }
  std::optional<Handle> lookup(const Handle& dir, std::string_view name);
  NfsResult create_call(const Handle& dir, std::string_view name, std::uint32_t how, const Sattr& set = {},
                        std::uint64_t verifier = 0);
  Handle create(const Handle& dir, std::string_view name, const Sattr& set = {.mode = 0644});
  NfsResult mkdir_call(const Handle& dir, std::string_view name, const Sattr& set = {.mode = 0755});
  Handle mkdir(const Handle& dir, std::string_view name, const Sattr& set = {.mode = 0755});
  NfsResult symlink_call(const Handle& dir, std::string_view name, std::string_view target);
  NfsResult write_call(const Handle& h, std::uint64_t offset, std::span<const std::byte> data, std::uint32_t stable);
  NfsStatus write(const Handle& h, std::uint64_t offset, std::string_view text, std::uint32_t stable = 2);
  NfsResult read_call(const Handle& h, std::uint64_t offset, std::uint32_t count);
  std::optional<std::string> read(const Handle& h, std::uint64_t offset = 0, std::uint32_t count = 1 << 20);
  NfsResult rename_call(const Handle& from, std::string_view name, const Handle& to, std::string_view to_name);
  WireListing readdir(const Handle& dir, std::uint64_t cookie, std::uint64_t verifier, std::uint32_t count);
  WireListing readdirplus(const Handle& dir, std::uint64_t cookie, std::uint64_t verifier, std::uint32_t dircount,
                          std::uint32_t maxcount);
  std::vector<std::string> names(const Handle& dir);

  WireClient wire;
  std::uint32_t xid;
  std::uint32_t uid, gid;
  std::vector<std::uint32_t> groups;
};

}  // namespace stoa::test
