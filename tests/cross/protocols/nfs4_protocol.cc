#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "tests/cross/protocols/protocol.h"
#include "tests/frontends/nfs/v4_protocol/compound_caller.h"

namespace stoa::cross {
namespace {

using nfs4::Nfs4Status;
using test::CompoundCaller;
using test::CompoundResult;
using test::Ops;

// Operations, and attributes as bits of the first two words (RFC 8881 5.8).
constexpr std::uint32_t kCreate = 6, kGetattr = 9, kLookup = 15, kPutfh = 22, kPutrootfh = 24, kRead = 25,
                        kReaddir = 26, kRemove = 28, kRename = 29, kSavefh = 32, kSetattr = 34, kWrite = 38;
constexpr std::uint32_t kSizeBit = 1u << 4;
constexpr std::uint32_t kModeBit = 1u << (33 - 32), kSpaceAvailBit = 1u << (42 - 32);
constexpr std::uint32_t kReadWay = 1, kWriteWay = 2, kFileSync = 2, kDirectory = 2;

Outcome outcome_of(Nfs4Status status) {
  switch (status) {
    case Nfs4Status::kOk:
      return Outcome::kOk;
    case Nfs4Status::kNoEnt:
      return Outcome::kMissing;
    case Nfs4Status::kAccess:
    case Nfs4Status::kPerm:
      return Outcome::kDenied;
    case Nfs4Status::kDQuot:
      return Outcome::kNoRoom;
    case Nfs4Status::kRoFs:
      return Outcome::kReadOnly;
    case Nfs4Status::kExist:
      return Outcome::kExists;
    case Nfs4Status::kNotEmpty:
      return Outcome::kNotEmpty;
    default:
      ADD_FAILURE() << "status " << static_cast<std::uint32_t>(status);
      return Outcome::kOther;
  }
}

struct Place {
  std::string dir, name;
};
Place split(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {"", path};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

// Version 4.1, one session.
class Nfs4Protocol final : public Protocol {
 public:
  Nfs4Protocol(std::uint16_t port, std::uint32_t uid) : caller_(port, "cross" + std::to_string(++made_), 1, uid) {
    caller_.connect();
  }

  Outcome put(const std::string& path, std::string_view bytes) override {
    const Place at = split(path);
    CompoundCaller::Open open;
    if (const Outcome outcome = open_at(at, kWriteWay, true, open); outcome != Outcome::kOk) return outcome;
    Outcome outcome = set_size(open.handle, open.stateid, 0);
    if (outcome == Outcome::kOk) outcome = write_all(open, 0, bytes);
    EXPECT_EQ(caller_.close(open.handle, open.stateid), Nfs4Status::kOk);
    return outcome;
  }
  Content get(const std::string& path) override {
    CompoundCaller::Open open;
    if (const Outcome outcome = open_at(split(path), kReadWay, false, open); outcome != Outcome::kOk) return {outcome};
    Content content{Outcome::kOk};
    for (bool eof = false; !eof && content.outcome == Outcome::kOk;) {
      auto result =
          call_once(Ops().putfh(open.handle).op(kRead).stateid(open.stateid).u64(content.bytes.size()).u32(256 << 10));
      content.outcome = outcome_of(result.status);
      if (!result.ok()) break;
      result.skip_sequence();
      result.next(kPutfh);
      result.next(kRead);
      eof = result.in.boolean();
      content.bytes += result.in.string(256 << 10);
    }
    EXPECT_EQ(caller_.close(open.handle, open.stateid), Nfs4Status::kOk);
    return content;
  }
  Outcome remove(const std::string& path) override {
    const Place at = split(path);
    return outcome_of(caller_.call(to(at.dir).op(kRemove).string(at.name)).status);
  }
  Outcome remove_directory(const std::string& path) override { return remove(path); }
  std::vector<std::string> list(const std::string& path) override {
    std::vector<std::string> names;
    std::uint64_t cookie = 0;
    test::Bytes verifier(8);
    for (bool eof = false; !eof;) {
      auto result =
          call_once(to(path).op(kReaddir).u64(cookie).fixed(verifier).u32(32 << 10).u32(64 << 10).u32(1).u32(kSizeBit));
      EXPECT_TRUE(result.ok()) << static_cast<std::uint32_t>(result.status);
      if (!result.ok()) break;
      skip_way(result, path);
      result.next(kReaddir);
      const auto bytes = result.in.fixed(8);
      verifier.assign(bytes.begin(), bytes.end());
      while (result.in.boolean()) {
        cookie = result.in.u64();
        names.emplace_back(result.in.string(255));
        for (std::uint32_t words = result.in.u32(); words > 0; --words) result.in.u32();
        result.in.opaque(64);
      }
      eof = result.in.boolean();
      EXPECT_TRUE(result.in.ok());
      if (!result.in.ok()) break;
    }
    std::ranges::sort(names);
    return names;
  }
  std::optional<std::uint64_t> size(const std::string& path) override { return attribute(path, 0, kSizeBit); }
  Outcome make_directory(const std::string& path) override {
    const Place at = split(path);
    return outcome_of(
        caller_
            .call(to(at.dir).op(kCreate).u32(kDirectory).string(at.name).u32(2).u32(0).u32(kModeBit).u32(4).u32(0755))
            .status);
  }
  Outcome rename(const std::string& from, const std::string& to_path) override {
    const Place source = split(from);
    const Place target = split(to_path);
    return outcome_of(
        caller_
            .call(to(source.dir).op(kSavefh).more(to(target.dir)).op(kRename).string(source.name).string(target.name))
            .status);
  }
  Outcome write(const std::string& path, std::uint64_t offset, std::string_view bytes) override {
    CompoundCaller::Open open;
    if (const Outcome outcome = open_at(split(path), kWriteWay, false, open); outcome != Outcome::kOk) return outcome;
    const Outcome outcome = write_all(open, offset, bytes);
    EXPECT_EQ(caller_.close(open.handle, open.stateid), Nfs4Status::kOk);
    return outcome;
  }
  Outcome truncate(const std::string& path, std::uint64_t size) override {
    CompoundCaller::Open open;
    if (const Outcome outcome = open_at(split(path), kWriteWay, false, open); outcome != Outcome::kOk) return outcome;
    const Outcome outcome = set_size(open.handle, open.stateid, size);
    EXPECT_EQ(caller_.close(open.handle, open.stateid), Nfs4Status::kOk);
    return outcome;
  }
  Outcome set_mode(const std::string& path, std::uint32_t mode) override {
    return outcome_of(
        caller_.call(to(path).op(kSetattr).stateid({}).u32(2).u32(0).u32(kModeBit).u32(4).u32(mode)).status);
  }
  std::uint64_t room(const std::string& path) override {
    const auto room = attribute(path, 1, kSpaceAvailBit);
    EXPECT_TRUE(room);
    return room.value_or(0);
  }

 private:
  static std::vector<std::string> names_of(const std::string& path) {
    std::vector<std::string> names{"test"};
    for (std::size_t begin = 0; begin < path.size();) {
      const std::size_t end = std::min(path.find('/', begin), path.size());
      names.push_back(path.substr(begin, end - begin));
      begin = end + 1;
    }
    return names;
  }
  static Ops to(const std::string& path) {
    Ops ops;
    ops.putrootfh();
    for (const std::string& name : names_of(path)) ops.lookup(name);
    return ops;
  }
  static void skip_way(CompoundResult& result, const std::string& path) {
    result.skip_sequence();
    result.next(kPutrootfh);
    for (std::size_t i = names_of(path).size(); i > 0; --i) result.next(kLookup);
  }
  // Its reply may be larger than the server's reply cache.
  CompoundResult call_once(const Ops& ops) {
    return caller_.send(Ops().sequence(caller_.session, caller_.sequence++, 0, false).more(ops));
  }
  Outcome open_at(const Place& at, std::uint32_t way, bool create, CompoundCaller::Open& open) {
    auto found = caller_.call(to(at.dir).getfh());
    if (!found.ok()) return outcome_of(found.status);
    skip_way(found, at.dir);
    found.next(10);
    const auto bytes = found.in.opaque(128);
    const test::Bytes dir(bytes.begin(), bytes.end());
    open = caller_.open(dir, at.name, way, 0, create);
    return outcome_of(open.status);
  }
  Outcome set_size(const test::Bytes& handle, const test::WireStateid& stateid, std::uint64_t size) {
    return outcome_of(
        caller_.call(Ops().putfh(handle).op(kSetattr).stateid(stateid).u32(1).u32(kSizeBit).u32(8).u64(size)).status);
  }
  Outcome write_all(const CompoundCaller::Open& open, std::uint64_t offset, std::string_view bytes) {
    while (!bytes.empty()) {
      const std::string_view piece = bytes.substr(0, 256 << 10);
      const auto result = caller_.call(
          Ops().putfh(open.handle).op(kWrite).stateid(open.stateid).u64(offset).u32(kFileSync).string(piece));
      if (!result.ok()) return outcome_of(result.status);
      offset += piece.size();
      bytes.remove_prefix(piece.size());
    }
    return Outcome::kOk;
  }
  // A 64-bit attribute: `bit` of bitmap word `word`.
  std::optional<std::uint64_t> attribute(const std::string& path, std::uint32_t word, std::uint32_t bit) {
    Ops ops = to(path);
    ops.op(kGetattr).u32(word + 1);
    for (std::uint32_t i = 0; i < word; ++i) ops.u32(0);
    auto result = caller_.call(ops.u32(bit));
    if (!result.ok()) return std::nullopt;
    skip_way(result, path);
    result.next(kGetattr);
    for (std::uint32_t words = result.in.u32(); words > 0; --words) result.in.u32();
    result.in.u32();
    return result.in.u64();
  }

  static inline std::atomic<int> made_{0};
  CompoundCaller caller_;
};

}  // namespace

std::unique_ptr<Protocol> open_nfs4(const clients::ServerProcess& server, std::uint32_t uid) {
  return std::make_unique<Nfs4Protocol>(static_cast<std::uint16_t>(server.nfs().nfs_port), uid);
}

}  // namespace stoa::cross
