#include "tests/frontends/nfs/v4/operation_fixture.h"

#include <algorithm>

#include "tests/frontends/nfs/listed_errors.h"

namespace stoa::nfs4 {

// A stand-in for the table of stateids: a seqid of 99 is of no state.
Nfs4Status check_io_stateid(Compound&, const Stateid& stateid, core::FileId, bool) {
  return stateid.seqid == 99 ? Nfs4Status::kBadStateId : Nfs4Status::kOk;
}

}  // namespace stoa::nfs4

namespace stoa::test {
namespace {

Bytes stateid(std::uint32_t seqid) {
  return Xdr().u32(seqid).u32(0).u32(0).u32(0).bytes();
}

}  // namespace

Bytes encoded(const Bitmap& map) {
  rpc::ReplyBuffer buffer;
  rpc::XdrWriter out(buffer);
  map.encode(out);
  return {buffer.bytes().begin(), buffer.bytes().end()};
}
Bytes fattr(const Bitmap& map, const Xdr& values) {
  return Xdr().raw(encoded(map)).opaque(values).bytes();
}
Bytes good_stateid() {
  return stateid(0);
}
Bytes bad_stateid() {
  return stateid(99);
}

OperationTest::OperationTest() {
  EXPECT_TRUE(core::Volume::format(kv, "test"));
  auto opened = core::Volume::open(kv, blobs, metrics, {.background = false});
  EXPECT_TRUE(opened);
  volume = std::move(*opened);
  environment.reset(new nfs4::Environment{volume->ns(), state, volume->handles(), clients});
  access = std::make_unique<nfs::ExportAccess>(volume->registry());
  peer.address = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1};
  peer.text = "127.0.0.1";
  root = publish("test", {anyone()});
  begin();
}

core::ClientRule OperationTest::anyone(core::Squash squash) {
  return {.network = *core::Network::parse("*"), .squash = squash};
}

core::FileId OperationTest::publish(const std::string& name, std::vector<core::ClientRule> clients_of, bool read_only) {
  const auto dir = volume->ns().mkdir({}, {core::kRootId, name, {.mode = 0777}});
  EXPECT_TRUE(dir);
  const auto added = volume->registry().add_export({.name = name,
                                                    .root = dir->attr.id,
                                                    .path = "/" + name,
                                                    .nfs = true,
                                                    .read_only = read_only,
                                                    .clients = std::move(clients_of)});
  EXPECT_TRUE(added) << describe(added.error());
  return dir->attr.id;
}

void OperationTest::begin(std::uint32_t minor, std::uint32_t uid) {
  c.reset();
  header.credential = {.sys = true, .uid = uid, .gid = uid};
  access->refresh();
  buffer.clear(1 << 20);
  call.reset(new nfs::Call{{header, peer, 1, std::chrono::steady_clock::now(), nullptr}, *access});
  reply.reset(new rpc::Reply{rpc::XdrWriter(buffer)});
  c = std::make_unique<nfs4::Compound>(*environment, *call, *reply);
  c->minor = minor;
}

namespace {

// Of the operations that these tests run.
std::uint32_t number_of(Nfs4Status (*operation)(nfs4::Compound&)) {
  using namespace nfs4;
  static const std::pair<Nfs4Status (*)(Compound&), std::uint32_t> kNumbers[] = {
      {op_access, 3},    {op_commit, 5},      {op_create, 6},     {op_getattr, 9},          {op_getfh, 10},
      {op_link, 11},     {op_lookup, 15},     {op_lookupp, 16},   {op_nverify, 17},         {op_putfh, 22},
      {op_putpubfh, 23}, {op_putrootfh, 24},  {op_read, 25},      {op_readdir, 26},         {op_readlink, 27},
      {op_remove, 28},   {op_rename, 29},     {op_restorefh, 31}, {op_savefh, 32},          {op_secinfo, 33},
      {op_setattr, 34},  {op_verify, 37},     {op_write, 38},     {op_secinfo_no_name, 52}, {op_allocate, 59},
      {op_copy, 60},     {op_deallocate, 62}, {op_io_advise, 63}, {op_read_plus, 68},       {op_seek, 69},
      {op_clone, 71},    {op_getxattr, 72},   {op_setxattr, 73},  {op_listxattrs, 74},      {op_removexattr, 75}};
  const auto found =
      std::ranges::find(kNumbers, operation, &std::pair<Nfs4Status (*)(Compound&), std::uint32_t>::first);
  return found != std::end(kNumbers) ? found->second : 0;
}

}  // namespace

Nfs4Status OperationTest::run(Nfs4Status (*operation)(nfs4::Compound&), std::span<const std::byte> arguments) {
  arguments_.assign(arguments.begin(), arguments.end());
  c->in = rpc::XdrReader(arguments_);
  c->error_body = false;
  c->ctx.durability = core::Durability::kDurable;
  buffer.clear(1 << 20);
  const Nfs4Status status = operation(*c);
  if (status == Nfs4Status::kOk) {
    EXPECT_EQ(c->in.left(), 0u) << "arguments were left unread";
  }
  if (const std::uint32_t number = number_of(operation); number != 0) {
    const Nfs4Status sent = c->minor == 0 ? nfs4::in_minor_version_0(status) : status;
    EXPECT_TRUE(is_listed(c->minor, number, sent))
        << "operation " << number << " of 4." << c->minor << " has no error " << static_cast<std::uint32_t>(sent);
  }
  in = rpc::XdrReader(buffer.bytes());
  return status;
}

Nfs4Status OperationTest::put_root(std::string_view export_name) {
  EXPECT_EQ(run(nfs4::op_putrootfh), Nfs4Status::kOk);
  return lookup(export_name);
}

Bytes OperationTest::handle() {
  EXPECT_EQ(run(nfs4::op_getfh), Nfs4Status::kOk);
  const auto bytes = in.opaque(nfs4::kHandleBytesMax);
  return {bytes.begin(), bytes.end()};
}

core::FileId OperationTest::make_file(std::string_view name, std::string_view text, std::uint32_t mode) {
  const auto made = volume->ns().create({}, {.parent = root, .name = name, .set = {.mode = mode}});
  EXPECT_TRUE(made);
  if (!text.empty()) {
    const std::span<const std::byte> pieces[] = {std::as_bytes(std::span(text))};
    EXPECT_TRUE(volume->ns().write({}, {made->attr.id, 0, pieces}));
  }
  return made->attr.id;
}

core::FileId OperationTest::make_directory(std::string_view name, std::uint32_t mode) {
  const auto made = volume->ns().mkdir({}, {root, name, {.mode = mode}});
  EXPECT_TRUE(made);
  return made->attr.id;
}

core::Attributes OperationTest::attributes(core::FileId id) {
  const auto now = volume->ns().getattr({}, {id});
  EXPECT_TRUE(now);
  return now ? now->attr : core::Attributes{};
}

std::string OperationTest::content(core::FileId id) {
  std::string text(attributes(id).size, '?');
  EXPECT_TRUE(volume->ns().read({}, {id, 0, std::as_writable_bytes(std::span(text))}));
  return text;
}

rpc::XdrReader OperationTest::values(const Bitmap& wanted) {
  EXPECT_EQ(run(nfs4::op_getattr, encoded(wanted)), Nfs4Status::kOk);
  EXPECT_EQ(Bitmap::decode(in), wanted);
  const auto bytes = in.opaque(1 << 20);
  EXPECT_TRUE(in.ok());
  EXPECT_EQ(in.left(), 0u);
  return rpc::XdrReader(bytes);
}

std::uint64_t OperationTest::number(Attr attribute) {
  rpc::XdrReader reader = values({attribute});
  const std::uint64_t value = reader.u64();
  EXPECT_TRUE(reader.ok() && reader.left() == 0);
  return value;
}

}  // namespace stoa::test
