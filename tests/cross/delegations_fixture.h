// A client of NFSv4.1 with a delegation, and clients of every other protocol that want the file.
#pragma once

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
  static inline std::unique_ptr<ServerProcess> server_;
};

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
  static inline std::unique_ptr<ServerProcess> server_;
};

}  // namespace stoa::clients
