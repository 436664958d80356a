// Handles of files moved out of an export, by an administrator or through another export: stale for each procedure,
// until they are back.
#include "tests/frontends/nfs/protocol_fixture.h"

namespace stoa::test {
namespace {

class MovedOutTest : public ProtocolTest {
 protected:
  MovedOutTest() {
    publish("test", {anyone()});
    start_protocol();
    nfs = std::make_unique<NfsCaller>(port);
    root = *nfs->mount("/test");
    dir = nfs->mkdir(root, "dir");
    file = nfs->create(dir, "f");
    EXPECT_EQ(nfs->write(file, 0, "text"), NfsStatus::kOk);
    EXPECT_TRUE(nfs->symlink_call(dir, "s", "t").ok());
    link = *nfs->lookup(dir, "s");
    exported = volume->registry().snapshot()->find_export("test")->root;
  }
  void move(core::FileId from, std::string_view name, core::FileId to) {
    ASSERT_TRUE(volume->ns().rename({}, {.from_parent = from, .from_name = name, .to_parent = to, .to_name = name}));
  }
  NfsStatus about(std::uint32_t procedure, const Xdr& arguments) { return nfs->call(procedure, arguments).status; }
  // The status of each procedure for them.
  std::vector<NfsStatus> all() {
    const Sattr mode{.mode = 0600};
    Xdr set;
    set.opaque(file);
    put(set, mode).u32(0);
    Xdr made;
    made.opaque(dir).string("new").u32(0);
    put(made, mode);
    Xdr link_to;
    link_to.opaque(file).opaque(root).string("l");
    Xdr link_in;
    link_in.opaque(root).opaque(dir).string("l");
    return {
        nfs->getattr(dir).status,
        nfs->getattr(file).status,
        about(kSetattr, set),
        nfs->status_of(kLookup, dir, "f"),
        nfs->status_of(kLookup, dir, "."),
        nfs->status_of(kLookup, dir, ".."),
        about(kAccess, Xdr().opaque(file).u32(1)),
        about(kReadlink, Xdr().opaque(link)),
        nfs->read_call(file, 0, 4).status,
        nfs->write(file, 0, "more"),
        about(kCreate, made),
        nfs->mkdir_call(dir, "d").status,
        nfs->symlink_call(dir, "s2", "t").status,
        about(kMknod, Xdr().opaque(dir).string("p").u32(7).u32(0).u32(0).u32(0).u32(0).u32(0).u32(0)),
        nfs->status_of(kRemove, dir, "f"),
        nfs->status_of(kRmdir, dir, "d"),
        nfs->rename_call(dir, "f", root, "g").status,
        nfs->rename_call(root, "taken", dir, "g").status,
        about(kLink, link_to),
        about(kLink, link_in),
        nfs->readdir(dir, 0, 0, 4096).status,
        nfs->readdirplus(dir, 0, 0, 4096, 32768).status,
        about(kFsstat, Xdr().opaque(dir)),
        about(kFsinfo, Xdr().opaque(dir)),
        about(kPathconf, Xdr().opaque(dir)),
        about(kCommit, Xdr().opaque(file).u64(0).u32(0)),
    };
  }

  std::unique_ptr<NfsCaller> nfs;
  Handle root, dir, file, link;
  core::FileId exported{};
};

TEST_F(MovedOutTest, EveryProcedureSaysStale) {
  nfs->create(root, "taken");
  move(exported, "dir", core::kRootId);
  const auto statuses = all();
  for (std::size_t i = 0; i < statuses.size(); ++i) EXPECT_EQ(statuses[i], NfsStatus::kStale) << "procedure " << i;
  EXPECT_TRUE(nfs->getattr(root).ok());
  move(core::kRootId, "dir", exported);
  EXPECT_EQ(nfs->read(file), "text") << "nothing was changed";
  EXPECT_EQ(nfs->lookup(dir, ".."), root);
  EXPECT_EQ(nfs->names(dir).size(), 4u);
}

TEST_F(MovedOutTest, AFileThatWasMovedOutAlone) {
  const auto found = volume->ns().lookup({}, {.parent = exported, .name = "dir"});
  ASSERT_TRUE(found);
  move(found->attr.id, "f", core::kRootId);
  EXPECT_EQ(nfs->getattr(file).status, NfsStatus::kStale);
  EXPECT_EQ(nfs->read_call(file, 0, 4).status, NfsStatus::kStale);
  EXPECT_TRUE(nfs->getattr(dir).ok());
  move(core::kRootId, "f", found->attr.id);
  EXPECT_EQ(nfs->read(file), "text");
}

TEST_F(MovedOutTest, ByWhoeverHasAnExportAboveBoth) {
  ASSERT_TRUE(volume->registry().add_export(
      {.name = "all", .root = core::kRootId, .path = "/", .nfs = true, .clients = {anyone()}}));
  const Handle above = *nfs->mount("/all");
  const Handle test = *nfs->lookup(above, "test");
  ASSERT_TRUE(nfs->rename_call(test, "dir", above, "dir").ok());
  EXPECT_EQ(nfs->getattr(dir).status, NfsStatus::kStale);
  EXPECT_EQ(nfs->status_of(kLookup, dir, ".."), NfsStatus::kStale);
  const Handle there = *nfs->lookup(above, "dir");
  EXPECT_EQ(nfs->lookup(there, ".."), above) << "through the other one it is where it is";
}

}  // namespace
}  // namespace stoa::test
