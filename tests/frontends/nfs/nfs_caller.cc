#include "tests/frontends/nfs/nfs_caller.h"

#include <atomic>

#include "frontends/nfs/mount/program.h"
#include "frontends/nfs/v3/program.h"

namespace stoa::test {
namespace {

// Unlike a real client's, so that no two callers of one test run share transactions.
std::atomic<std::uint32_t> g_xid{0x1000};

Handle copy(std::span<const std::byte> bytes) {
  return {bytes.begin(), bytes.end()};
}

}  // namespace

WireAttributes read_attributes(rpc::XdrReader& in) {
  WireAttributes a;
  a.type = in.u32();
  a.mode = in.u32();
  a.links = in.u32();
  a.uid = in.u32();
  a.gid = in.u32();
  a.size = in.u64();
  a.used = in.u64();
  a.rdev = in.u64();
  a.fsid = in.u64();
  a.fileid = in.u64();
  a.atime = in.u64();
  a.mtime = in.u64();
  a.ctime = in.u64();
  return a;
}

std::optional<WireAttributes> read_post_op(rpc::XdrReader& in) {
  if (!in.boolean()) return std::nullopt;
  return read_attributes(in);
}

WireWcc read_wcc(rpc::XdrReader& in) {
  WireWcc wcc;
  if (in.boolean()) {
    WireBefore before;
    before.size = in.u64();
    before.mtime = in.u64();
    before.ctime = in.u64();
    wcc.before = before;
  }
  wcc.after = read_post_op(in);
  return wcc;
}

Xdr& put(Xdr& x, const Sattr& set) {
  for (const auto& word : {set.mode, set.uid, set.gid}) {
    x.u32(word ? 1 : 0);
    if (word) x.u32(*word);
  }
  x.u32(set.size ? 1 : 0);
  if (set.size) x.u64(*set.size);
  x.u32(set.atime_how);
  if (set.atime_how == 2) x.u64(set.atime);
  x.u32(set.mtime_how);
  if (set.mtime_how == 2) x.u64(set.mtime);
  return x;
}

NfsCaller::NfsCaller(std::uint16_t port, std::uint32_t u, std::uint32_t g, std::vector<std::uint32_t> more)
    : wire(port), xid(g_xid.fetch_add(0x10000)), uid(u), gid(g), groups(std::move(more)) {}

CallSpec NfsCaller::spec(std::uint32_t procedure) {
  return {.xid = ++xid,
          .program = nfs3::kNfsProgram,
          .version = 3,
          .procedure = procedure,
          .auth_flavor = 1,
          .auth_body = auth_sys(uid, gid, groups)};
}

NfsResult NfsCaller::mount_call(std::uint32_t procedure, const Xdr& arguments) {
  CallSpec s = spec(procedure);
  s.program = mount3::kMountProgram;
  return NfsResult(wire.call(s, arguments));
}

std::optional<Handle> NfsCaller::mount(std::string_view path) {
  NfsResult result = mount_call(1, Xdr().string(path));
  if (!result.ok()) return std::nullopt;
  return copy(result.in.opaque(64));
}

WireAttributes NfsCaller::attributes(const Handle& h) {
  NfsResult result = getattr(h);
  return result.ok() ? read_attributes(result.in) : WireAttributes{};
}

NfsResult NfsCaller::setattr(const Handle& h, const Sattr& set, std::optional<std::uint64_t> guard) {
  Xdr x;
  put(x.opaque(h), set).u32(guard ? 1 : 0);
  if (guard) x.u64(*guard);
  return call(kSetattr, x);
}

std::optional<Handle> NfsCaller::lookup(const Handle& dir, std::string_view name) {
  NfsResult result = named(kLookup, dir, name);
  if (!result.ok()) return std::nullopt;
  return copy(result.in.opaque(64));
}

NfsResult NfsCaller::create_call(const Handle& dir, std::string_view name, std::uint32_t how, const Sattr& set,
                                 std::uint64_t verifier) {
  Xdr x;
  x.opaque(dir).string(name).u32(how);
  if (how == 2) {
    x.u64(verifier);
  } else {
    put(x, set);
  }
  return call(kCreate, x);
}
Handle NfsCaller::create(const Handle& dir, std::string_view name, const Sattr& set) {
  Xdr x;
  put(x.opaque(dir).string(name).u32(0), set);
  NfsResult result(wire.call(spec(kCreate), x));
  if (!result.ok() || !result.in.boolean()) return {};
  return copy(result.in.opaque(64));
}
NfsResult NfsCaller::mkdir_call(const Handle& dir, std::string_view name, const Sattr& set) {
  Xdr x;
  put(x.opaque(dir).string(name), set);
  return call(kMkdir, x);
}
Handle NfsCaller::mkdir(const Handle& dir, std::string_view name, const Sattr& set) {
  NfsResult result = mkdir_call(dir, name, set);
  if (!result.ok() || !result.in.boolean()) return {};
  return copy(result.in.opaque(64));
}
NfsResult NfsCaller::symlink_call(const Handle& dir, std::string_view name, std::string_view target) {
  Xdr x;
  put(x.opaque(dir).string(name), {.mode = 0777}).string(target);
  return call(kSymlink, x);
}

NfsResult NfsCaller::write_call(const Handle& h, std::uint64_t offset, std::span<const std::byte> data,
                                std::uint32_t stable) {
  return call(kWrite,
              Xdr().opaque(h).u64(offset).u32(static_cast<std::uint32_t>(data.size())).u32(stable).opaque(data));
}
NfsStatus NfsCaller::write(const Handle& h, std::uint64_t offset, std::string_view text, std::uint32_t stable) {
  return write_call(h, offset, std::as_bytes(std::span(text.data(), text.size())), stable).status;
}
NfsResult NfsCaller::read_call(const Handle& h, std::uint64_t offset, std::uint32_t count) {
  return call(kRead, Xdr().opaque(h).u64(offset).u32(count));
}
std::optional<std::string> NfsCaller::read(const Handle& h, std::uint64_t offset, std::uint32_t count) {
  NfsResult result = read_call(h, offset, count);
  if (!result.ok()) return std::nullopt;
  read_post_op(result.in);
  const std::uint32_t length = result.in.u32();
  result.in.boolean();
  std::string text(result.in.string(4 << 20));
  if (!result.in.ok() || text.size() != length || result.in.left() != 0) return std::nullopt;
  return text;
}

NfsResult NfsCaller::rename_call(const Handle& from, std::string_view name, const Handle& to,
                                 std::string_view to_name) {
  return call(kRename, Xdr().opaque(from).string(name).opaque(to).string(to_name));
}

namespace {

WireListing parse_listing(NfsResult& result, bool plus) {
  WireListing listing;
  listing.status = result.status;
  listing.resok_bytes = result.in.left();
  listing.dir = read_post_op(result.in);
  if (!result.ok()) return listing;
  listing.verifier = result.in.u64();
  while (result.in.boolean()) {
    WireEntry entry;
    entry.fileid = result.in.u64();
    entry.name = result.in.string(1024);
    entry.cookie = result.in.u64();
    if (plus) {
      entry.attr = read_post_op(result.in);
      if (result.in.boolean()) entry.handle = copy(result.in.opaque(64));
    }
    listing.entries.push_back(std::move(entry));
  }
  listing.end = result.in.boolean();
  if (!result.in.ok() || result.in.left() != 0) listing.status = static_cast<NfsStatus>(88'888);
  return listing;
}

}  // namespace

WireListing NfsCaller::readdir(const Handle& dir, std::uint64_t cookie, std::uint64_t verifier, std::uint32_t count) {
  NfsResult result(wire.call(spec(kReaddir), Xdr().opaque(dir).u64(cookie).u64(verifier).u32(count)));
  return parse_listing(result, false);
}
WireListing NfsCaller::readdirplus(const Handle& dir, std::uint64_t cookie, std::uint64_t verifier,
                                   std::uint32_t dircount, std::uint32_t maxcount) {
  NfsResult result(
      wire.call(spec(kReaddirplus), Xdr().opaque(dir).u64(cookie).u64(verifier).u32(dircount).u32(maxcount)));
  return parse_listing(result, true);
}
std::vector<std::string> NfsCaller::names(const Handle& dir) {
  std::vector<std::string> all;
  std::uint64_t cookie = 0;
  std::uint64_t verifier = 0;
  while (true) {
    const WireListing page = readdir(dir, cookie, verifier, 4096);
    if (page.status != NfsStatus::kOk) return {"error"};
    for (const WireEntry& entry : page.entries) {
      all.push_back(entry.name);
      cookie = entry.cookie;
    }
    verifier = page.verifier;
    if (page.end) return all;
    if (page.entries.empty()) return {"no progress"};
  }
}

}  // namespace stoa::test
