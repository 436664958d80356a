// Delegations of one client against operations through every other protocol: RFC 8881 10.2 to 10.4. For each kind of
// delegation, protocol and operation: the holder's cached data is written before another client sees or changes the
// file.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <optional>
#include <thread>

#include "tests/clients/server_process.h"
#include "tests/cross/native_caller.h"
#include "tests/frontends/nfs/v40_protocol/caller_40.h"
#include "tests/frontends/nfs/v4_protocol/compound_caller.h"

namespace stoa::clients {
namespace {

using cross::NativeCaller;
using cross::NativeReply;
using nfs4::Nfs4Status;
using test::Bytes;
using test::Caller40;
using test::CompoundCaller;
using test::Ops;
using test::WireStateid;

constexpr std::uint32_t kRead = 1, kBoth = 3, kWantWrite = 0x200;
constexpr std::uint32_t kReadDelegation = 1, kWriteDelegation = 2;
constexpr std::uint32_t kStateRevoked = 0x40;
constexpr const char *kWritten = "0123456789", *kCached = "CACHED6789", *kPut = "put over it";

enum class Kind { kRead, kWrite };

// The protocol, and the operation on the file "f" (and "g") of the test's folder.
struct Case {
  const char* name;
  bool changes;                                           // else it only looks: it leaves delegations for reading alone
  std::function<bool()> act;                              // false: not yet, the server is waiting
  std::function<void(const std::string& content)> check;  // content of the file when `act` was done
};

class DelegationsTest : public testing::Test {
 protected:
  static std::unique_ptr<ServerProcess> serve(std::vector<std::string> flags) {
    std::string why;
    std::vector<std::string> command{STOA_SERVE, "--"};
    command.insert(command.end(), flags.begin(), flags.end());
    auto server = ServerProcess::start(command, &why);
    EXPECT_NE(server, nullptr) << why;
    return server;
  }
  void connect(ServerProcess& server) {
    port_ = static_cast<std::uint16_t>(server.nfs().nfs_port);
    std::string why;
    nfs_ = NfsClient::connect(server.nfs(), 0, &why);
    ASSERT_NE(nfs_, nullptr) << why;
    s3_.emplace(server.s3());
    native_ = NativeCaller::connect(server, 0);
    ASSERT_NE(native_, nullptr);
    begin_holder();
    other_.emplace(port_, "other", incarnation_);
    other_->connect();
    minor0_.emplace(port_, "minor 0", incarnation_);
    minor0_->connect();
  }
  // A client whose machine has restarted.
  void begin_holder() {
    holder_.emplace(port_, "holder", ++incarnation_);
    holder_->back_channel = true;
    holder_->connect();
  }

  // A fresh folder with "f" and "g", and a delegation of "f".
  void prepare(const std::string& folder, Kind kind) {
    folder_ = folder;
    const NfsReply made = nfs_->mkdir(nfs_->root(), folder_);
    ASSERT_TRUE(made.ok()) << made.text();
    dir_ = made.handle;
    for (const char* name : {"f", "g"}) {
      const NfsReply file = nfs_->create(dir_, name, NfsCreate::kGuarded, {.mode = 0644});
      ASSERT_TRUE(file.ok()) << file.text();
      ASSERT_TRUE(nfs_->write(file.handle, 0, name[0] == 'f' ? kWritten : "the other one", FILE_SYNC).ok());
    }
    v3_ = nfs_->lookup(dir_, "f").handle;
    native_dir_ = native_->walk(folder_).file;
    native_f_ = native_->lookup(native_dir_, "f").file;
    native_g_ = native_->lookup(native_dir_, "g").file;
    dir4_ = holder_->handle_of({"test", folder_});
    const auto writes = kind == Kind::kWrite;
    open_ = holder_->open(dir4_, "f", writes ? kBoth | kWantWrite : kRead, 0, false, folder_);
    ASSERT_EQ(open_.status, Nfs4Status::kOk);
    ASSERT_EQ(open_.delegation.type, writes ? kWriteDelegation : kReadDelegation);
  }

  std::string key(const std::string& name) const { return folder_ + "/" + name; }
  Nfs4Status by_other(const Ops& ops) { return other_->call(ops, 2).status; }
  Nfs4Status by_minor0(const Ops& ops) { return minor0_->send(ops).status; }

  // The server answers: not now.
  static bool done(const NfsReply& reply) {
    EXPECT_TRUE(reply.ok() || (!reply.lost && reply.status == NFS3ERR_JUKEBOX)) << reply.text();
    return reply.ok();
  }
  static bool done(Nfs4Status status) {
    EXPECT_TRUE(status == Nfs4Status::kOk || status == Nfs4Status::kDelay) << static_cast<std::uint32_t>(status);
    return status != Nfs4Status::kDelay;
  }
  static bool done(const S3Reply& reply) {
    EXPECT_TRUE(reply.ok() || reply.element("Code") == "SlowDown") << reply.text();
    return reply.status != 503;
  }

  // The client asks again by itself until the server does not say *recall pending*.
  static bool done(const NativeReply& reply) {
    EXPECT_TRUE(reply.ok()) << reply.text();
    return true;
  }

  // The present content, for any reader.
  std::string content(const std::string& name) {
    const NfsReply found = nfs_->lookup(dir_, name);
    if (!found.ok()) return "(" + found.text() + ")";
    const NfsReply read = nfs_->read_all(found.handle);
    if (!read.ok()) return "(" + read.text() + ")";
    EXPECT_EQ(s3_->get(key(name)).body, read.data);
    EXPECT_EQ(native_->read(native_->lookup(native_dir_, name).file, 0, 100).data, read.data);
    return read.data;
  }
  bool exists(const std::string& name) { return nfs_->lookup(dir_, name).ok(); }
  std::string read_by_holder() { return holder_->read(open_.handle, open_.stateid).value_or("(refused)"); }

  std::vector<Case> version3();
  std::vector<Case> s3();
  std::vector<Case> native();
  std::vector<Case> native_more();
  std::vector<Case> version4(const std::string& who, const std::function<Nfs4Status(const Ops&)>& by);
  std::vector<Case> version42();
  void each(const std::string& protocol, const std::function<std::vector<Case>()>& cases,
            const std::function<void(const Case&, Kind)>& run) {
    for (const Kind kind : {Kind::kRead, Kind::kWrite}) {
      for (std::size_t i = 0;; ++i) {
        prepare(protocol + (kind == Kind::kRead ? "-r" : "-w") + std::to_string(i), kind);
        if (HasFatalFailure()) return;
        const std::vector<Case> now = cases();  // for the files of now
        if (i == now.size()) break;
        const Case& it = now[i];
        SCOPED_TRACE(protocol + " " + it.name +
                     (kind == Kind::kRead ? " against a delegation for reading" : " against one for writing"));
        run(it, kind);
        if (HasFailure()) return;
      }
    }
  }

  // The holder answers: it writes its cached data, and returns the delegation.
  void answered(const Case& it, Kind kind) {
    const bool recalls = it.changes || kind == Kind::kWrite;
    std::atomic<bool> finished = false;
    if (recalls) {
      std::thread other([&] {
        while (!it.act()) {
        }
        finished = true;
      });
      const auto recall = holder_->take_recall();
      EXPECT_EQ(recall.stateid.other, open_.delegation.stateid.other);
      EXPECT_EQ(recall.handle, open_.handle);
      EXPECT_FALSE(finished) << "it was done before the delegation was back";
      if (kind == Kind::kWrite) {
        EXPECT_EQ(holder_->write(open_.handle, open_.delegation.stateid, "CACHED"), Nfs4Status::kOk);
      }
      EXPECT_FALSE(finished) << "it was done before the delegation was back";
      EXPECT_EQ(holder_->return_delegation(open_.handle, open_.delegation.stateid), Nfs4Status::kOk);
      other.join();
    } else {
      EXPECT_TRUE(it.act());
    }
    it.check(kind == Kind::kWrite ? kCached : kWritten);
    EXPECT_FALSE(holder_->recalled());
    EXPECT_EQ(holder_->status_flags(), 0u);
    holder_->close(open_.handle, open_.stateid);
    const Nfs4Status returned = holder_->return_delegation(open_.handle, open_.delegation.stateid);
    EXPECT_EQ(returned, recalls ? Nfs4Status::kBadStateId : Nfs4Status::kOk);
  }

  // The holder never answers: it loses the delegation, nothing else, and learns of it.
  void unanswered(const Case& it, Kind kind) {
    while (!it.act()) {
    }
    it.check(kWritten);
    const bool recalls = it.changes || kind == Kind::kWrite;
    EXPECT_EQ(holder_->status_flags(), recalls ? kStateRevoked : 0u);
    EXPECT_EQ(holder_->recalled(), recalls);
    const WireStateid& delegation = open_.delegation.stateid;
    if (recalls) {
      holder_->take_recall();
      EXPECT_EQ(holder_->write(open_.handle, delegation, "late"), Nfs4Status::kDelegRevoked);
      EXPECT_EQ(holder_->return_delegation(open_.handle, delegation), Nfs4Status::kDelegRevoked);
      EXPECT_EQ(tested(delegation), Nfs4Status::kDelegRevoked);
      EXPECT_TRUE(holder_->call(Ops().op(45).stateid(delegation)).ok());
      EXPECT_EQ(tested(delegation), Nfs4Status::kBadStateId);
      EXPECT_EQ(holder_->status_flags(), 0u);
    } else {
      EXPECT_EQ(holder_->return_delegation(open_.handle, delegation), Nfs4Status::kOk);
    }
    EXPECT_NE(read_by_holder(), "(refused)") << "the open itself is not lost";
    EXPECT_EQ(holder_->close(open_.handle, open_.stateid), Nfs4Status::kOk);
  }
  Nfs4Status tested(const WireStateid& stateid) {
    auto result = holder_->call(Ops().op(55).u32(1).stateid(stateid));
    EXPECT_TRUE(result.ok());
    result.skip_sequence();
    result.next(55);
    result.in.u32();
    return static_cast<Nfs4Status>(result.in.u32());
  }

  static inline std::uint64_t incarnation_ = 0;
  std::uint16_t port_ = 0;
  std::unique_ptr<NfsClient> nfs_;
  std::optional<S3Client> s3_;
  std::unique_ptr<NativeCaller> native_;
  std::optional<CompoundCaller> holder_, other_;
  std::optional<Caller40> minor0_;
  std::string folder_, upload_, etag_;
  NfsHandle dir_, v3_;
  Bytes dir4_;
  native::File native_dir_{}, native_f_{}, native_g_{};
  CompoundCaller::Open open_;
  std::string seen_;
};

std::vector<Case> DelegationsTest::version3() {
  const auto unchanged = [this](const std::string& was) { EXPECT_EQ(content("f"), was); };
  return {
      {"READ", false,
       [this] {
         const NfsReply read = nfs_->read(v3_, 0, 100);
         seen_ = read.data;
         return done(read);
       },
       [this](const std::string& was) { EXPECT_EQ(seen_, was); }},
      {"GETATTR", false, [this] { return done(nfs_->getattr(v3_)); }, unchanged},
      {"WRITE", true, [this] { return done(nfs_->write(v3_, 8, "xy", FILE_SYNC)); },
       [this](const std::string& was) { EXPECT_EQ(content("f"), was.substr(0, 8) + "xy"); }},
      {"SETATTR of the mode", true, [this] { return done(nfs_->setattr(v3_, {.mode = 0600})); },
       [=, this](const std::string& was) {
         unchanged(was);
         EXPECT_EQ(nfs_->getattr(v3_).attr->mode & 07777, 0600u);
       }},
      {"SETATTR of the size", true, [this] { return done(nfs_->setattr(v3_, {.size = 3})); },
       [this](const std::string& was) { EXPECT_EQ(content("f"), was.substr(0, 3)); }},
      {"LINK", true, [this] { return done(nfs_->link(v3_, dir_, "second")); },
       [this](const std::string& was) { EXPECT_EQ(content("second"), was); }},
      {"REMOVE", true, [this] { return done(nfs_->remove(dir_, "f")); },
       [this](const std::string& was) {
         EXPECT_FALSE(exists("f"));
         EXPECT_EQ(read_by_holder(), was);
       }},
      {"RENAME of it", true, [this] { return done(nfs_->rename(dir_, "f", dir_, "h")); },
       [this](const std::string& was) { EXPECT_EQ(content("h"), was); }},
      {"RENAME over it", true, [this] { return done(nfs_->rename(dir_, "g", dir_, "f")); },
       [this](const std::string& was) {
         EXPECT_EQ(content("f"), "the other one");
         EXPECT_EQ(read_by_holder(), was);
       }},
  };
}

std::vector<Case> DelegationsTest::s3() {
  const auto replaced = [this](const std::string&) {
    EXPECT_EQ(content("f"), kPut);
    EXPECT_EQ(read_by_holder(), kPut) << "the object is the same file";
  };
  const auto removed = [this](const std::string& was) {
    EXPECT_FALSE(exists("f"));
    EXPECT_EQ(read_by_holder(), was);
  };
  return {
      {"GetObject", false,
       [this] {
         const S3Reply got = s3_->get(key("f"));
         seen_ = got.body;
         return done(got);
       },
       [this](const std::string& was) { EXPECT_EQ(seen_, was); }},
      {"HeadObject", false,
       [this] {
         const S3Reply got = s3_->head(key("f"));
         return got.status != 503;
       },
       [this](const std::string& was) { EXPECT_EQ(content("f"), was); }},
      {"CopyObject from it", false,
       [this] { return done(s3_->put(key("copy"), "", {{"x-amz-copy-source", "/test/" + key("f")}})); },
       [this](const std::string& was) { EXPECT_EQ(content("copy"), was); }},
      {"PutObject", true, [this] { return done(s3_->put(key("f"), kPut)); }, replaced},
      {"CopyObject over it", true,
       [this] { return done(s3_->put(key("f"), "", {{"x-amz-copy-source", "/test/" + key("g")}})); },
       [this](const std::string&) { EXPECT_EQ(content("f"), "the other one"); }},
      {"CompleteMultipartUpload over it", true,
       [this] {
         if (upload_.empty()) {
           upload_ = s3_->create_multipart(key("f")).element("UploadId");
           etag_ = s3_->put_part(key("f"), upload_, 1, kPut).headers["etag"];
         }
         if (!done(s3_->complete(key("f"), upload_, {etag_}))) return false;
         upload_.clear();
         return true;
       },
       replaced},
      {"DeleteObject", true, [this] { return done(s3_->remove(key("f"))); }, removed},
      {"DeleteObjects", true,
       [this] {
         const S3Reply reply = s3_->remove_many({key("f")});
         EXPECT_TRUE(reply.ok()) << reply.text();
         return reply.element("Code").empty();
       },
       removed},
  };
}

std::vector<Case> DelegationsTest::native() {
  const auto unchanged = [this](const std::string& was) { EXPECT_EQ(content("f"), was); };
  return {
      {"read", false,
       [this] {
         const NativeReply read = native_->read(native_f_, 0, 100);
         seen_ = read.data;
         return done(read);
       },
       [this](const std::string& was) { EXPECT_EQ(seen_, was); }},
      {"getattr", false, [this] { return done(native_->getattr(native_f_)); }, unchanged},
      {"write", true, [this] { return done(native_->write(native_f_, 8, "xy")); },
       [this](const std::string& was) { EXPECT_EQ(content("f"), was.substr(0, 8) + "xy"); }},
      {"setattr of the mode", true,
       [this] { return done(native_->set(native_f_, {.which = native::kSetMode, .mode = 0600})); },
       [=, this](const std::string& was) {
         unchanged(was);
         EXPECT_EQ(nfs_->getattr(v3_).attr->mode & 07777, 0600u);
       }},
      {"setattr of the size", true, [this] { return done(native_->resize(native_f_, 3)); },
       [this](const std::string& was) { EXPECT_EQ(content("f"), was.substr(0, 3)); }},
      {"link", true,
       [this] {
         return done(
             native_->run<native::operations::link>({.file = native_f_, .parent = native_dir_, .name = "second"}));
       },
       [this](const std::string& was) { EXPECT_EQ(content("second"), was); }},
      {"unlink", true, [this] { return done(native_->unlink(native_dir_, "f")); },
       [this](const std::string& was) {
         EXPECT_FALSE(exists("f"));
         EXPECT_EQ(read_by_holder(), was);
       }},
      {"rename of it", true, [this] { return done(native_->rename(native_dir_, "f", native_dir_, "h")); },
       [this](const std::string& was) { EXPECT_EQ(content("h"), was); }},
      {"rename over it", true, [this] { return done(native_->rename(native_dir_, "g", native_dir_, "f")); },
       [this](const std::string& was) {
         EXPECT_EQ(content("f"), "the other one");
         EXPECT_EQ(read_by_holder(), was);
       }},
  };
}

// Opens and locks, ranges, and operations that other protocols do not have.
std::vector<Case> DelegationsTest::native_more() {
  const auto unchanged = [this](const std::string& was) { EXPECT_EQ(content("f"), was); };
  const auto with_data = [this](auto add) {
    native::Batch batch;
    add(batch, NativeCaller::bytes("++"));
    return done(native_->call(batch));
  };
  return {
      {"open, read and close", false,
       [this] {
         const NativeReply read = native_->read_all(native_f_);
         seen_ = read.data;
         return done(read);
       },
       [this](const std::string& was) { EXPECT_EQ(seen_, was); }},
      {"open for writing", true,
       [this] {
         const std::uint64_t open = native_->new_open();
         const bool opened = done(
             native_->run<native::operations::open>({.file = native_f_, .open = open, .access = native::kOpenWrite}));
         return done(native_->run<native::operations::close>({open})) && opened;
       },
       unchanged},
      {"open that truncates, write and close", true, [this] { return done(native_->put(native_dir_, "f", kPut)); },
       [this](const std::string&) { EXPECT_EQ(content("f"), kPut); }},
      {"append", true,
       [=, this] {
         return with_data([&](native::Batch& batch, auto data) {
           batch.add_with<native::operations::append>({.file = native_f_, .stable = 1}, data);
         });
       },
       [this](const std::string& was) { EXPECT_EQ(content("f"), was + "++"); }},
      {"exchange", true,
       [this] {
         return done(native_->run<native::operations::exchange>(
             {.from_parent = native_dir_, .to_parent = native_dir_, .from_name = "g", .to_name = "f"}));
       },
       [this](const std::string& was) {
         EXPECT_EQ(content("f"), "the other one");
         EXPECT_EQ(content("g"), was);
       }},
      {"lock", true,
       [this] {
         const bool locked = done(native_->run<native::operations::lock>(
             {.file = native_f_, .owner = 1, .length = native::kLockToEnd, .exclusive = 1}));
         return done(native_->run<native::operations::unlock>(
                    {.file = native_f_, .owner = 1, .length = native::kLockToEnd})) &&
                locked;
       },
       unchanged},
      {"seek", false, [this] { return done(native_->run<native::operations::seek>({.file = native_f_})); }, unchanged},
      {"allocate", true,
       [this] { return done(native_->run<native::operations::allocate>({.file = native_f_, .length = 12})); },
       [this](const std::string& was) { EXPECT_EQ(content("f"), was + std::string(2, '\0')); }},
      {"punch", true,
       [this] { return done(native_->run<native::operations::punch>({.file = native_f_, .offset = 8, .length = 1})); },
       [this](const std::string& was) { EXPECT_EQ(content("f"), was.substr(0, 8) + '\0' + was.substr(9)); }},
      {"zero", true,
       [this] { return done(native_->run<native::operations::zero>({.file = native_f_, .offset = 9, .length = 2})); },
       [this](const std::string& was) { EXPECT_EQ(content("f"), was.substr(0, 9) + std::string(2, '\0')); }},
      {"copy_range over it", true,
       [this] {
         return done(native_->run<native::operations::copy_range>({.from = native_g_, .to = native_f_, .length = 13}));
       },
       [this](const std::string&) { EXPECT_EQ(content("f"), "the other one"); }},
      {"copy_range from it", false,
       [this] {
         return done(native_->run<native::operations::copy_range>({.from = native_f_, .to = native_g_, .length = 10}));
       },
       [this](const std::string& was) { EXPECT_EQ(content("g"), was + "one"); }},
      {"set_xattr", true,
       [this] {
         return done(
             native_->run<native::operations::set_xattr>({.file = native_f_, .name = "user.color", .value = "red"}));
       },
       unchanged},
  };
}

// `by`: any client of versions 4.0 to 4.2.
std::vector<Case> DelegationsTest::version4(const std::string& who, const std::function<Nfs4Status(const Ops&)>& by) {
  const WireStateid anonymous{};
  const Bytes file = open_.handle, dir = dir4_;
  const auto unchanged = [this](const std::string& was) { EXPECT_EQ(content("f"), was); };
  const std::uint32_t read_op = 25, sequence_ops = who == "minor 0" ? 0 : 1;
  return {
      {"READ", false,
       [=, this] {
         auto result = sequence_ops == 0
                           ? minor0_->send(Ops().putfh(file).op(read_op).stateid(anonymous).u64(0).u32(100))
                           : other_->call(Ops().putfh(file).op(read_op).stateid(anonymous).u64(0).u32(100));
         if (result.ok()) {
           if (sequence_ops != 0) result.skip_sequence();
           result.next(22);
           result.next(read_op);
           result.in.boolean();
           seen_ = result.in.string(100);
         }
         return done(result.status);
       },
       [this](const std::string& was) { EXPECT_EQ(seen_, was); }},
      {"GETATTR", false, [=] { return done(by(Ops().putfh(file).op(9).u32(1).u32(16))); }, unchanged},
      {"WRITE", true, [=] { return done(by(Ops().putfh(file).op(38).stateid(anonymous).u64(8).u32(2).string("xy"))); },
       [this](const std::string& was) { EXPECT_EQ(content("f"), was.substr(0, 8) + "xy"); }},
      {"SETATTR of the mode", true,
       [=] { return done(by(Ops().putfh(file).op(34).stateid(anonymous).u32(2).u32(0).u32(2).u32(4).u32(0600))); },
       unchanged},
      {"SETATTR of the size", true,
       [=] { return done(by(Ops().putfh(file).op(34).stateid(anonymous).u32(1).u32(16).u32(8).u64(3))); },
       [this](const std::string& was) { EXPECT_EQ(content("f"), was.substr(0, 3)); }},
      {"LINK", true, [=] { return done(by(Ops().putfh(file).op(32).putfh(dir).op(11).string("second"))); },
       [this](const std::string& was) { EXPECT_EQ(content("second"), was); }},
      {"REMOVE", true, [=] { return done(by(Ops().putfh(dir).op(28).string("f"))); },
       [this](const std::string& was) {
         EXPECT_FALSE(exists("f"));
         EXPECT_EQ(read_by_holder(), was);
       }},
      {"RENAME of it", true, [=] { return done(by(Ops().putfh(dir).op(32).op(29).string("f").string("h"))); },
       [this](const std::string& was) { EXPECT_EQ(content("h"), was); }},
      {"RENAME over it", true, [=] { return done(by(Ops().putfh(dir).op(32).op(29).string("g").string("f"))); },
       [this](const std::string& was) {
         EXPECT_EQ(content("f"), "the other one");
         EXPECT_EQ(read_by_holder(), was);
       }},
  };
}

// Operations of 4.1 and 4.2, and opens and locks.
std::vector<Case> DelegationsTest::version42() {
  const WireStateid anonymous{};
  const Bytes file = open_.handle, dir = dir4_, g = other_->handle_of({"test", folder_, "g"});
  const auto unchanged = [this](const std::string& was) { EXPECT_EQ(content("f"), was); };
  const auto opened = [=, this](std::uint32_t access) {
    const auto open = other_->open(dir, "f", access | 0x400, 0, false, folder_);
    if (open.status == Nfs4Status::kOk) other_->close(open.handle, open.stateid);
    return done(open.status);
  };
  return {
      {"OPEN for reading", false, [=] { return opened(kRead); }, unchanged},
      {"OPEN for writing", true, [=] { return opened(kBoth); }, unchanged},
      {"LOCKT", true,
       [=, this] {
         return done(by_other(Ops().putfh(file).op(13).u32(2).u64(0).u64(10).u64(other_->client).string("l")));
       },
       unchanged},
      {"READ_PLUS", false,
       [=, this] { return done(by_other(Ops().putfh(file).op(68).stateid(anonymous).u64(0).u32(100))); }, unchanged},
      {"SEEK", false, [=, this] { return done(by_other(Ops().putfh(file).op(69).stateid(anonymous).u64(0).u32(0))); },
       unchanged},
      {"ALLOCATE", true,
       [=, this] { return done(by_other(Ops().putfh(file).op(59).stateid(anonymous).u64(0).u64(12))); },
       [this](const std::string& was) { EXPECT_EQ(content("f"), was + std::string(2, '\0')); }},
      {"DEALLOCATE", true,
       [=, this] { return done(by_other(Ops().putfh(file).op(62).stateid(anonymous).u64(8).u64(1))); },
       [this](const std::string& was) { EXPECT_EQ(content("f"), was.substr(0, 8) + '\0' + was.substr(9)); }},
      {"COPY over it", true,
       [=, this] {
         return done(by_other(Ops()
                                  .putfh(g)
                                  .op(32)
                                  .putfh(file)
                                  .op(60)
                                  .stateid(anonymous)
                                  .stateid(anonymous)
                                  .u64(0)
                                  .u64(0)
                                  .u64(0)
                                  .u32(1)
                                  .u32(1)
                                  .u32(0)));
       },
       [this](const std::string&) { EXPECT_EQ(content("f"), "the other one"); }},
      {"COPY from it", false,
       [=, this] {
         return done(by_other(Ops()
                                  .putfh(file)
                                  .op(32)
                                  .putfh(g)
                                  .op(60)
                                  .stateid(anonymous)
                                  .stateid(anonymous)
                                  .u64(0)
                                  .u64(0)
                                  .u64(10)
                                  .u32(1)
                                  .u32(1)
                                  .u32(0)));
       },
       [this](const std::string& was) { EXPECT_EQ(content("g"), was + "one"); }},
      {"CLONE over it", true,
       [=, this] {
         return done(by_other(
             Ops().putfh(g).op(32).putfh(file).op(71).stateid(anonymous).stateid(anonymous).u64(0).u64(0).u64(0)));
       },
       [this](const std::string&) { EXPECT_EQ(content("f"), "the other one"); }},
      {"CLONE from it", false,
       [=, this] {
         return done(by_other(
             Ops().putfh(file).op(32).putfh(g).op(71).stateid(anonymous).stateid(anonymous).u64(0).u64(0).u64(0)));
       },
       [this](const std::string& was) { EXPECT_EQ(content("g").substr(0, 10), was); }},
      {"SETXATTR", true,
       [=, this] { return done(by_other(Ops().putfh(file).op(73).u32(0).string("color").string("red"))); }, unchanged},
  };
}

// --- a holder that answers

class AnsweredTest : public DelegationsTest {
 protected:
  static void SetUpTestSuite() { server_ = serve({}); }
  static void TearDownTestSuite() { server_.reset(); }
  void SetUp() override {
    ASSERT_NE(server_, nullptr);
    connect(*server_);
  }
  void all(const std::string& protocol, const std::function<std::vector<Case>()>& cases) {
    each(protocol, cases, [this](const Case& it, Kind kind) { answered(it, kind); });
  }
  static std::unique_ptr<ServerProcess> server_;
};
std::unique_ptr<ServerProcess> AnsweredTest::server_;

TEST_F(AnsweredTest, Version3SeesWhatTheHolderHadCached) {
  all("v3", [this] { return version3(); });
}
TEST_F(AnsweredTest, S3SeesWhatTheHolderHadCached) {
  all("s3", [this] { return s3(); });
}
TEST_F(AnsweredTest, NativeSeesWhatTheHolderHadCached) {
  all("native", [this] { return native(); });
}
TEST_F(AnsweredTest, NativeOpensLocksAndRangesSeeWhatTheHolderHadCached) {
  all("native-more", [this] { return native_more(); });
}
TEST_F(AnsweredTest, AnotherClientOf41SeesWhatTheHolderHadCached) {
  all("v41", [this] { return version4("minor 1", [this](const Ops& ops) { return by_other(ops); }); });
}
TEST_F(AnsweredTest, AClientOf40SeesWhatTheHolderHadCached) {
  all("v40", [this] { return version4("minor 0", [this](const Ops& ops) { return by_minor0(ops); }); });
}
TEST_F(AnsweredTest, OpensLocksAndWhat42AddedSeeWhatTheHolderHadCached) {
  all("v42", [this] { return version42(); });
}

// --- a holder that never answers; no request waits longer for it than `lease_recall_ms`

class UnansweredTest : public DelegationsTest {
 protected:
  static void SetUpTestSuite() { server_ = serve({"--volume-lease-recall-ms", "200"}); }
  static void TearDownTestSuite() { server_.reset(); }
  void SetUp() override {
    ASSERT_NE(server_, nullptr);
    connect(*server_);
    holder_->callbacks = CompoundCaller::Callbacks::kIgnore;
  }
  void all(const std::string& protocol, const std::function<std::vector<Case>()>& cases) {
    each(protocol, cases, [this](const Case& it, Kind kind) {
      unanswered(it, kind);
      // Its back channel is stuck with the call that it did not answer.
      begin_holder();
      holder_->callbacks = CompoundCaller::Callbacks::kIgnore;
    });
  }
  static std::unique_ptr<ServerProcess> server_;
};
std::unique_ptr<ServerProcess> UnansweredTest::server_;

TEST_F(UnansweredTest, Version3WaitsNoLongerThanTheRecall) {
  all("v3", [this] { return version3(); });
}
TEST_F(UnansweredTest, S3WaitsNoLongerThanTheRecall) {
  all("s3", [this] { return s3(); });
}
TEST_F(UnansweredTest, NativeWaitsNoLongerThanTheRecall) {
  all("native", [this] { return native(); });
}
TEST_F(UnansweredTest, AnotherClientOf41WaitsNoLongerThanTheRecall) {
  all("v41", [this] { return version4("minor 1", [this](const Ops& ops) { return by_other(ops); }); });
}
TEST_F(UnansweredTest, AClientOf40WaitsNoLongerThanTheRecall) {
  all("v40", [this] { return version4("minor 0", [this](const Ops& ops) { return by_minor0(ops); }); });
}
TEST_F(UnansweredTest, OpensLocksAndWhat42AddedWaitNoLongerThanTheRecall) {
  all("v42", [this] { return version42(); });
}

}  // namespace
}  // namespace stoa::clients
