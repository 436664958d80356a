// A change whose result has no room in the reply is refused before it is made: RFC 8881 2.10.6.4, 15.1.1.4.
#include "tests/frontends/nfs/protocol_fixture.h"
#include "tests/frontends/nfs/v4_protocol/compound_caller.h"

namespace stoa::test {
namespace {

constexpr std::size_t kCachedBytes = 4096;  // of the sessions of CompoundCaller

class ReplyRoomTest : public ExportedTest {
 protected:
  ReplyRoomTest() : client(port, "a") {
    client.connect();
    dir = client.handle_of({"test"});
    const auto made = client.open(dir, "f", kOpenBoth);
    file = made.handle;
    open = made.stateid;
  }
  // All that a change touches: of the directory and of the file.
  std::string state() {
    std::string all;
    for (const Bytes& handle : {dir, file}) {
      auto result = client.call(Ops().putfh(handle).op(9).u32(1).u32(1u << 3 | 1u << 4));
      EXPECT_TRUE(result.ok());
      result.skip_sequence();
      result.next(22);
      result.next(9);
      result.in.u32();
      result.in.u32();
      result.in.u32();
      all += std::to_string(result.in.u64()) + "," + std::to_string(result.in.u64()) + " ";
    }
    return all;
  }
  // Behind a READ of more and more bytes until it does not fit, with a reply that is to be remembered.
  void expect_refused_in_time(const char* what, const Ops& change, const std::function<void()>& undo = {}) {
    SCOPED_TRACE(what);
    bool fitted = false, refused = false;
    for (std::uint32_t filler = kCachedBytes - 520; filler < kCachedBytes - 120; filler += 8) {
      const std::string before = state();
      Ops ops;
      ops.putfh(file).op(25).stateid(WireStateid{}).u64(0).u32(filler);
      ops.putfh(dir).more(change);
      auto result = client.send(Ops().sequence(client.session, client.sequence++).more(ops));
      if (result.ok()) {
        EXPECT_FALSE(refused) << "there is less room than before";
        fitted = true;
        if (undo) undo();
        continue;
      }
      ASSERT_EQ(result.status, Nfs4Status::kRepTooBigToCache);
      refused = true;
      EXPECT_EQ(state(), before) << "it was refused, and made";
    }
    EXPECT_TRUE(fitted);
    EXPECT_TRUE(refused);
  }

  CompoundCaller client;
  Bytes dir, file;
  WireStateid open;
};

TEST_F(ReplyRoomTest, NoChangeIsMadeWhoseResultDoesNotFit) {
  const std::string much(kCachedBytes, 'x');
  ASSERT_EQ(client.write(file, open, much), Nfs4Status::kOk);
  const auto gone = [this](const char* name) {
    return [this, name] { EXPECT_TRUE(client.call(Ops().putfh(dir).op(28).string(name)).ok()); };
  };
  expect_refused_in_time("CREATE", Ops().op(6).u32(2).string("d").u32(0).u32(0), gone("d"));
  expect_refused_in_time("CREATE with attributes", Ops().op(6).u32(2).string("d").u32(2).u32(0).u32(2).u32(4).u32(0755),
                         gone("d"));
  expect_refused_in_time("SETATTR",
                         Ops().putfh(file).op(34).stateid(WireStateid{}).u32(2).u32(0).u32(2).u32(4).u32(0640));
  expect_refused_in_time("LINK", Ops().putfh(file).op(32).putfh(dir).op(11).string("l"), gone("l"));
  expect_refused_in_time("RENAME", Ops().op(32).op(29).string("f").string("g"), [this] {
    EXPECT_TRUE(client.call(Ops().putfh(dir).op(32).op(29).string("g").string("f")).ok());
  });
  expect_refused_in_time("WRITE", Ops().putfh(file).op(38).stateid(WireStateid{}).u64(0).u32(2).string("y"));
  nfs->create(root, "r");
  expect_refused_in_time("REMOVE", Ops().op(28).string("r"), [this] { nfs->create(root, "r"); });
  Ops made;
  made.op(18).u32(0).u32(kOpenBoth).u32(0).u64(client.client).string("owner").u32(1);
  made.u32(1).u32(2).u32(0).u32(2).u32(4).u32(0644).u32(0).string("o");  // GUARDED, with a mode
  expect_refused_in_time("OPEN", made, gone("o"));
}

TEST_F(ReplyRoomTest, NorInMinorVersion0) {
  constexpr std::uint32_t kMost = 1 << 20;
  const std::string much(kMost, 'x');
  ASSERT_EQ(nfs->write(*nfs->lookup(root, "f"), 0, much), NfsStatus::kOk);
  const auto compound = [&](std::uint32_t second) {
    Ops ops;
    ops.putfh(file).op(25).stateid(WireStateid{}).u64(0).u32(kMost).op(25).stateid(WireStateid{}).u64(0).u32(second);
    return client.send(ops.putfh(dir).op(6).u32(2).string("d").u32(0).u32(0), 0).status;
  };
  EXPECT_EQ(compound(kMost - 120), Nfs4Status::kResource);
  EXPECT_EQ(nfs->status_of(kLookup, root, "d"), NfsStatus::kNoEnt);
  EXPECT_EQ(compound(kMost - 400), Nfs4Status::kOk);
}

}  // namespace
}  // namespace stoa::test
