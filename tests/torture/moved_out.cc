// A part of an exported directory is moved out, while clients hold handles of that part: these are handles of an
// export that does not contain them any more, and lead nowhere.
#include "tests/frontends/nfs/v4_protocol/compound_caller.h"
#include "tests/torture/scenario.h"

namespace stoa::torture {
namespace {

using clients::NfsClient;
using clients::NfsHandle;
using clients::NfsReply;
using nfs4::Nfs4Status;
using test::Ops;

constexpr std::uint32_t kGetattr = 9, kLookupp = 16, kReaddir = 26;

Result<std::unique_ptr<NfsClient>> mount(const clients::ServerProcess& server, const std::string& name) {
  clients::NfsTarget target = server.nfs();
  target.export_path = "/" + name;
  std::string why;
  auto client = NfsClient::connect(target, 0, &why);
  if (client == nullptr) return broken("mount of " + name + ": " + why);
  return client;
}

Status expect(const NfsReply& reply, const std::string& what, nfsstat3 wanted = NFS3_OK) {
  if (!reply.lost && reply.status == wanted) return {};
  return broken(what + " is answered by " + reply.text() + (wanted == NFS3_OK ? "" : ", not by NFS3ERR_STALE"));
}

test::Bytes bytes_of(const NfsHandle& handle) {
  const auto all = std::as_bytes(std::span(handle));
  return {all.begin(), all.end()};
}

}  // namespace

Status moved_out(Run& run) {
  STOA_TRY(server, run.start(run.folder / "data"));
  const std::string client_rule = "127.0.0.0/8,rw,squash=none";
  for (const auto& [name, path] : {std::pair{"above", "/above"}, {"inner", "/above/inner"}}) {
    std::string output;
    if (run.stoa(run.folder / "data",
                 {"export", "create", name, "--path", path, "--create", "--mode", "0777", "--owner", "root", "--client",
                  client_rule},
                 &output) != 0)
      return broken("stoa export create: " + output);
  }
  STOA_TRY(above, mount(*server, "above"));
  STOA_TRY(inner, mount(*server, "inner"));
  test::CompoundCaller v4(static_cast<std::uint16_t>(server->nfs().nfs_port), "moved_out");
  v4.connect();

  // A secret outside, and inside a chain of directories with a file at its end.
  const NfsReply outside = above->mkdir(above->root(), "outside");
  STOA_CHECK_OK(expect(outside, "MKDIR"));
  STOA_CHECK_OK(expect(above->create(outside.handle, "secret"), "CREATE"));
  std::vector<NfsHandle> held{};
  NfsHandle at = inner->root();
  const std::uint64_t depth = 1 + run.random.below(4);
  for (std::uint64_t i = 0; i < depth; ++i) {
    const NfsReply made = inner->mkdir(at, "d" + std::to_string(i));
    STOA_CHECK_OK(expect(made, "MKDIR"));
    held.push_back(at = made.handle);
  }
  const NfsReply file = inner->create(at, "file");
  STOA_CHECK_OK(expect(file, "CREATE"));
  STOA_CHECK_OK(expect(inner->write(file.handle, 0, "text", FILE_SYNC), "WRITE"));

  // All is well before, and again when it is back.
  for (const NfsHandle& directory : held)
    STOA_CHECK_OK(expect(inner->lookup(directory, ".."), "LOOKUP .. below the export"));
  const std::uint64_t from = run.random.below(depth);  // this one goes, with all below it
  const NfsHandle parent = from == 0 ? above->walk("inner").handle
                                     : above
                                           ->walk("inner/d0" +
                                                  [&] {
                                                    std::string way;
                                                    for (std::uint64_t i = 1; i < from; ++i)
                                                      way += "/d" + std::to_string(i);
                                                    return way;
                                                  }())
                                           .handle;
  const std::string name = "d" + std::to_string(from);
  STOA_CHECK_OK(expect(above->rename(parent, name, outside.handle, name), "RENAME out of the inner export"));

  for (std::uint64_t i = from; i < depth; ++i) {
    const std::string which = "directory " + std::to_string(i - from) + " below the one that was moved out";
    const NfsReply up = inner->lookup(held[i], "..");
    if (up.ok()) {
      const NfsReply secret = inner->lookup(up.handle, "secret");
      return broken("NFSv3 LOOKUP .. of " + which + " gives a handle" +
                    (secret.ok() ? ", and through it a file that was never exported" : ""));
    }
    STOA_CHECK_OK(expect(up, "NFSv3 LOOKUP .. of " + which, NFS3ERR_STALE));
    const auto up4 = v4.call(Ops().putfh(bytes_of(held[i])).op(kLookupp).getfh());
    if (up4.status != Nfs4Status::kStale)
      return broken("NFSv4 LOOKUPP of " + which + " is answered by " + std::to_string(static_cast<int>(up4.status)) +
                    ", not by NFS4ERR_STALE");
    STOA_CHECK_OK(expect(inner->lookup(held[i], i + 1 < depth ? "d" + std::to_string(i + 1) : "file"),
                         "NFSv3 LOOKUP in " + which, NFS3ERR_STALE));
    STOA_CHECK_OK(expect(inner->list(held[i]), "NFSv3 READDIRPLUS of " + which, NFS3ERR_STALE));
    STOA_CHECK_OK(expect(inner->getattr(held[i]), "NFSv3 GETATTR of " + which, NFS3ERR_STALE));
    for (const auto& [number, words] : {std::pair{kGetattr, Ops().op(kGetattr).u32(1).u32(1u << 4)},
                                        {kReaddir, Ops().op(kReaddir).u64(0).u64(0).u32(4096).u32(8192).u32(0)}}) {
      const auto answer = v4.call(Ops().putfh(bytes_of(held[i])).more(words));
      if (answer.status != Nfs4Status::kStale)
        return broken("NFSv4 operation " + std::to_string(number) + " on " + which + " is answered by " +
                      std::to_string(static_cast<int>(answer.status)) + ", not by NFS4ERR_STALE");
    }
  }
  STOA_CHECK_OK(expect(inner->read(file.handle, 0, 4), "NFSv3 READ of a file that was moved out", NFS3ERR_STALE));
  STOA_CHECK_OK(expect(inner->write(file.handle, 0, "TEXT", FILE_SYNC), "NFSv3 WRITE to a file that was moved out",
                       NFS3ERR_STALE));

  STOA_CHECK_OK(expect(above->rename(outside.handle, name, parent, name), "RENAME back"));
  for (const NfsHandle& directory : held)
    STOA_CHECK_OK(expect(inner->lookup(directory, ".."), "LOOKUP .. of a directory that is back"));
  const NfsReply back = inner->read(file.handle, 0, 4);
  STOA_CHECK_OK(expect(back, "READ of a file that is back"));
  if (back.data != "text") return broken("a file that was out for a while contains \"" + back.data + "\"");
  server->stop();
  return run.check(run.folder / "data");
}

}  // namespace stoa::torture
