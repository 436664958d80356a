// Audit through NFSv3, NFSv4.1, S3 and native: each class with the right user, path, protocol, client and result; and a
// watcher that sees all of them.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

#include "frontends/native/client/key_file.h"
#include "tests/clients/server_process.h"
#include "tests/cross/native_caller.h"
#include "tests/frontends/nfs/v4_protocol/compound_caller.h"

namespace stoa::clients {
namespace {

using cross::NativeCaller;
using native::WireStatus;
using nfs4::Nfs4Status;
using test::CompoundCaller;
using test::Ops;
using Json = nlohmann::json;

constexpr std::uint32_t kAnn = 1234;
constexpr std::uint32_t kBothWays = 3;

class AuditProtocolsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::string why;
    server_ = ServerProcess::start({STOA_SERVE, "--keytab"}, &why);
    ASSERT_NE(server_, nullptr) << why;
    ASSERT_EQ(stoa({"user", "create", "ann", "--uid", std::to_string(kAnn)}), 0) << output_;
  }
  static void TearDownTestSuite() { server_.reset(); }

  void SetUp() override {
    ASSERT_NE(server_, nullptr);
    root_ = connect(0);
    ann_ = connect(kAnn);
    folder_ = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    const NfsReply made = root_->mkdir(root_->root(), folder_, 0777);
    ASSERT_TRUE(made.ok()) << made.text();
    dir_ = made.handle;
  }
  void TearDown() override {
    EXPECT_EQ(stoa({"audit", "verify"}), 0) << output_;
    EXPECT_EQ(stoa({"check"}), 0) << output_;
  }

  static std::unique_ptr<NfsClient> connect(std::uint32_t uid) {
    std::string why;
    auto client = NfsClient::connect(server_->nfs(), uid, &why);
    EXPECT_NE(client, nullptr) << why;
    return client;
  }
  static int stoa(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {STOA_CLI, "--json", "--data", server_->value("STOA_DATA")});
    output_.clear();
    return run_command(arguments, &output_);
  }
  void audit(const std::string& classes) { ASSERT_EQ(stoa({"audit", "policy", "set", path(), classes}), 0) << output_; }
  std::string path() const { return "/test/" + folder_; }
  // "USER OPERATION PATH [TO] RESULT" of each record below the folder, after a look at its protocol and client.
  std::vector<std::string> recorded(const std::string& protocol, std::vector<std::string> filters = {}) {
    filters.insert(filters.begin(), {"audit", "query", "--path", path(), "--protocol", protocol});
    EXPECT_EQ(stoa(filters), 0) << output_;
    std::vector<std::string> all;
    const Json reply = Json::parse(output_);
    for (const Json& record : reply["records"]) {
      EXPECT_EQ(record["client"], "127.0.0.1");
      const Json& user = record["user"];
      std::string text = user["name"].is_string() ? user["name"].get<std::string>() : user["uid"].dump();
      text +=
          " " + record["operation"].get<std::string>() + " " + record["path"].get<std::string>().substr(path().size());
      if (record.contains("to_path")) text += " " + record["to_path"].get<std::string>().substr(path().size());
      all.push_back(text + " " + record["result"].get<std::string>());
    }
    return all;
  }

  static std::unique_ptr<ServerProcess> server_;
  static std::string output_;
  std::unique_ptr<NfsClient> root_, ann_;
  std::string folder_;
  NfsHandle dir_;
};
std::unique_ptr<ServerProcess> AuditProtocolsTest::server_;
std::string AuditProtocolsTest::output_;

using Lines = std::vector<std::string>;

TEST_F(AuditProtocolsTest, NfsVersion3) {
  audit("all");
  const NfsReply made = ann_->create(dir_, "f");
  ASSERT_TRUE(made.ok()) << made.text();
  ASSERT_TRUE(ann_->write(made.handle, 0, "hello", UNSTABLE).ok());
  ASSERT_TRUE(ann_->commit(made.handle).ok());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(ann_->read(made.handle, 0, 5).ok());
  ASSERT_TRUE(ann_->mkdir(dir_, "d").ok());
  ASSERT_TRUE(ann_->symlink(dir_, "s", "f").ok());
  ASSERT_TRUE(ann_->link(made.handle, dir_, "l").ok());
  ASSERT_TRUE(ann_->setattr(made.handle, {.mode = 0600}).ok());
  ASSERT_TRUE(ann_->rename(dir_, "f", dir_, "g").ok());
  ASSERT_TRUE(ann_->list(dir_).ok());
  ASSERT_TRUE(ann_->remove(dir_, "g").ok());
  ASSERT_TRUE(ann_->rmdir(dir_, "d").ok());
  EXPECT_EQ(recorded("nfs"), (Lines{"ann create /f ok", "ann write /f ok", "ann read /f ok", "ann mkdir /d ok",
                                    "ann symlink /s ok", "ann link /l ok", "ann attributes /f ok",
                                    "ann rename /f /g ok", "ann list  ok", "ann remove /g ok", "ann rmdir /d ok"}));
  EXPECT_EQ(recorded("nfs", {"--operation", "remove"}).size(), 1u);
  EXPECT_EQ(recorded("nfs", {"--user", "ann"}).size(), 11u);
  EXPECT_EQ(recorded("s3").size(), 0u);
}

TEST_F(AuditProtocolsTest, NfsVersion3Denied) {
  const NfsReply closed = root_->mkdir(dir_, "closed", 0700);
  const NfsReply file = root_->create(dir_, "f");
  ASSERT_TRUE(closed.ok() && file.ok());
  audit("denied");
  EXPECT_EQ(ann_->create(closed.handle, "x").status, NFS3ERR_ACCES);
  EXPECT_EQ(ann_->lookup(closed.handle, "x").status, NFS3ERR_ACCES);
  EXPECT_EQ(ann_->setattr(file.handle, {.mode = 0777}).status, NFS3ERR_PERM);
  EXPECT_EQ(ann_->write(file.handle, 0, "x", FILE_SYNC).status, NFS3ERR_ACCES);
  EXPECT_EQ(ann_->remove(closed.handle, "x").status, NFS3ERR_ACCES);
  EXPECT_EQ(ann_->rename(dir_, "f", closed.handle, "f").status, NFS3ERR_ACCES);
  ASSERT_EQ(stoa({"quota", "set", path(), "--files", "2"}), 0) << output_;
  EXPECT_EQ(ann_->create(dir_, "over").status, NFS3ERR_DQUOT);
  EXPECT_EQ(recorded("nfs"), (Lines{"ann create /closed/x access", "ann lookup /closed/x access",
                                    "ann attributes /f not_owner", "ann write /f access", "ann remove /closed/x access",
                                    "ann rename /f /closed/f access", "ann create /over quota"}));
  EXPECT_EQ(recorded("nfs", {"--result", "quota"}).size(), 1u);
}

TEST_F(AuditProtocolsTest, NfsVersion4) {
  audit("all");
  CompoundCaller client(static_cast<std::uint16_t>(server_->nfs().nfs_port), folder_, 1, kAnn);
  client.connect();
  const test::Bytes dir = client.handle_of({"test", folder_});
  const auto open = client.open(dir, "f", kBothWays);
  ASSERT_EQ(open.status, Nfs4Status::kOk);
  ASSERT_EQ(client.write(open.handle, open.stateid, "hello"), Nfs4Status::kOk);
  ASSERT_TRUE(client.read(open.handle, open.stateid));
  ASSERT_EQ(client.close(open.handle, open.stateid), Nfs4Status::kOk);
  constexpr std::uint32_t kRemove = 28;
  ASSERT_TRUE(client.call(Ops().putfh(dir).op(kRemove).string("f")).ok());
  EXPECT_EQ(recorded("nfs"), (Lines{"ann create /f ok", "ann write /f ok", "ann read /f ok", "ann remove /f ok"}));
  ASSERT_TRUE(root_->setattr(dir_, {.mode = 0755}).ok());
  EXPECT_EQ(client.open(dir, "g", kBothWays).status, Nfs4Status::kAccess);
  EXPECT_EQ(recorded("nfs", {"--result", "denied"}), (Lines{"ann create /g access"}));
}

TEST_F(AuditProtocolsTest, S3) {
  audit("all");
  S3Client s3(server_->s3());
  const std::string key = folder_ + "/a/b";
  ASSERT_TRUE(s3.put(key, "hello").ok());
  ASSERT_TRUE(s3.get(key).ok());
  ASSERT_TRUE(s3.get(key).ok());
  ASSERT_TRUE(s3.put(key, "hello again").ok());
  ASSERT_TRUE(s3.remove(key).ok());
  const Lines all = recorded("s3");
  // The directory that the key implies comes and goes with it.
  std::string user = all.empty() ? "" : all[0].substr(0, all[0].find(' '));
  EXPECT_EQ(all, (Lines{user + " mkdir /a ok", user + " create /a/b ok", user + " read /a/b ok",
                        user + " write /a/b ok", user + " remove /a/b ok", user + " rmdir /a ok"}));
  ASSERT_EQ(stoa({"quota", "set", path(), "--bytes", "10"}), 0) << output_;
  EXPECT_EQ(s3.put(folder_ + "/large", std::string(100, 'x')).element("Code"), "QuotaExceeded");
  EXPECT_EQ(recorded("s3", {"--result", "denied"}), (Lines{user + " write /large quota"}));
}

TEST_F(AuditProtocolsTest, Native) {
  audit("all");
  const auto ann = NativeCaller::connect(*server_, kAnn);
  ASSERT_NE(ann, nullptr);
  const native::File dir = ann->walk(folder_).file;
  ASSERT_TRUE(ann->put(dir, "f", "hello").ok());
  const native::File file = ann->lookup(dir, "f").file;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(ann->read_all(file).ok());
  ASSERT_TRUE(ann->mkdir(dir, "d").ok());
  ASSERT_TRUE(ann->run<native::operations::symlink>({.parent = dir, .name = "s", .target = "f"}).ok());
  ASSERT_TRUE(ann->run<native::operations::link>({.file = file, .parent = dir, .name = "l"}).ok());
  ASSERT_TRUE(ann->set(file, {.which = native::kSetMode, .mode = 0600}).ok());
  ASSERT_TRUE(ann->rename(dir, "f", dir, "g").ok());
  ann->list(dir);
  ASSERT_TRUE(ann->unlink(dir, "g").ok());
  ASSERT_TRUE(ann->run<native::operations::rmdir>({.parent = dir, .name = "d"}).ok());
  EXPECT_EQ(recorded("native"), (Lines{"ann create /f ok", "ann write /f ok", "ann read /f ok", "ann mkdir /d ok",
                                       "ann symlink /s ok", "ann link /l ok", "ann attributes /f ok",
                                       "ann rename /f /g ok", "ann list  ok", "ann remove /g ok", "ann rmdir /d ok"}));
  EXPECT_EQ(recorded("native", {"--user", "ann"}).size(), 11u);
  EXPECT_EQ(recorded("nfs").size(), 0u);
}

TEST_F(AuditProtocolsTest, NativeDenied) {
  const NfsReply closed = root_->mkdir(dir_, "closed", 0700);
  ASSERT_TRUE(closed.ok() && root_->create(dir_, "f").ok());
  const auto ann = NativeCaller::connect(*server_, kAnn);
  ASSERT_NE(ann, nullptr);
  const native::File dir = ann->walk(folder_).file;
  const native::File file = ann->lookup(dir, "f").file, shut = ann->lookup(dir, "closed").file;
  audit("denied");
  EXPECT_EQ(ann->put(shut, "x", "").status, WireStatus::access);
  EXPECT_EQ(ann->lookup(shut, "x").status, WireStatus::access);
  EXPECT_EQ(ann->set(file, {.which = native::kSetMode, .mode = 0777}).status, WireStatus::not_owner);
  EXPECT_EQ(ann->write(file, 0, "x").status, WireStatus::access);
  EXPECT_EQ(ann->unlink(shut, "x").status, WireStatus::access);
  EXPECT_EQ(ann->rename(dir, "f", shut, "f").status, WireStatus::access);
  ASSERT_EQ(stoa({"quota", "set", path(), "--files", "2"}), 0) << output_;
  EXPECT_EQ(ann->put(dir, "over", "").status, WireStatus::quota);
  EXPECT_EQ(recorded("native"),
            (Lines{"ann create /closed/x access", "ann lookup /closed/x access", "ann attributes /f not_owner",
                   "ann write /f access", "ann remove /closed/x access", "ann rename /f /closed/f access",
                   "ann create /over quota"}));
}

// On a server of its own: of one address, 20 denials a second are recorded one by one.
class AuditRefusalsTest : public AuditProtocolsTest {};

// Refusals by the servers before authentication.
TEST_F(AuditRefusalsTest, RefusalsOfTheProtocols) {
  audit("denied");
  const std::string name = "audited-export";
  ASSERT_EQ(stoa({"export", "create", name, "--path", path(), "--client", "127.0.0.1,rw,squash=none", "--owner", "root",
                  "--native"}),
            0)
      << output_;
  NfsTarget target = server_->nfs();
  target.export_path = "/" + name;
  std::string why;
  const auto mounted = NfsClient::connect(target, kAnn, &why);
  ASSERT_NE(mounted, nullptr) << why;
  CompoundCaller v4(static_cast<std::uint16_t>(target.nfs_port), folder_, 1, kAnn);
  v4.connect();
  const test::Bytes handle = v4.handle_of({name});
  S3Target bucket = server_->s3();
  bucket.bucket = name;
  S3Client s3(bucket);
  EXPECT_TRUE(s3.list().reply.ok());
  std::string url = server_->value("STOA_NATIVE_URL");
  url.replace(url.rfind('/') + 1, url.npos, name);
  const native::ClientOptions wanted{.url = url, .key_file = server_->value("STOA_NATIVE_KEY_FILE")};
  const auto entered = native::Client::connect(wanted);
  ASSERT_TRUE(entered) << describe(entered.error());
  native::Batch look;
  look.add<native::operations::getattr>({native::File{(*entered)->facts().root}});
  const native::CallOptions as_ann{.as = native::Identity{.uid = kAnn, .gid = kAnn}};
  EXPECT_TRUE((*entered)->call(look, as_ann));

  ASSERT_EQ(stoa({"export", "set", name, "--client", "192.0.2.0/24"}), 0) << output_;
  EXPECT_EQ(NfsClient::connect(target, kAnn, &why), nullptr);
  EXPECT_EQ(mounted->getattr(mounted->root()).status, NFS3ERR_ACCES);
  EXPECT_EQ(v4.call(Ops().putrootfh().lookup(name)).status, Nfs4Status::kAccess);
  EXPECT_EQ(v4.call(Ops().putfh(handle).getfh()).status, Nfs4Status::kAccess);
  EXPECT_EQ(s3.get("key").element("Code"), "AccessDenied");
  const auto refused = (*entered)->call(look, as_ann);
  EXPECT_TRUE(!refused && refused.error().code == Errc::kAccess);
  const auto kept_out = native::Client::connect(wanted);
  EXPECT_TRUE(!kept_out && kept_out.error().code == Errc::kAccess);

  // The caller's flavor must be one of the export's.
  ASSERT_EQ(stoa({"export", "set", name, "--client", "127.0.0.1,rw,squash=none", "--sec", "krb5p"}), 0) << output_;
  EXPECT_EQ(v4.call(Ops().putrootfh().lookup(name).getfh()).status, Nfs4Status::kWrongSec);
  EXPECT_EQ(mounted->list(mounted->root()).status, NFS3ERR_ACCES);

  S3Target forged = bucket;
  forged.secret_key += "x";
  EXPECT_EQ(S3Client(forged).get("key").element("Code"), "SignatureDoesNotMatch");
  forged.access_key = "NOBODY";
  EXPECT_EQ(S3Client(forged).get("key").element("Code"), "InvalidAccessKeyId");
  const auto host_key = native::read_key_file(wanted.key_file);
  ASSERT_TRUE(host_key);
  const std::string forged_file = server_->value("STOA_DATA") + "/forged.key";
  std::ofstream(forged_file) << "host " << host_key->key << ' ' << host_key->secret << "x\n";
  ASSERT_EQ(chmod(forged_file.c_str(), 0600), 0);
  EXPECT_FALSE(native::Client::connect({.url = url, .key_file = forged_file}));
  EXPECT_TRUE((*entered)->call(look, as_ann));
  ASSERT_EQ(stoa({"host", "key", "remove", "serve"}), 0) << output_;
  EXPECT_FALSE((*entered)->call(look, as_ann));

  ASSERT_EQ(stoa({"audit", "query", "--operation", "refused"}), 0) << output_;
  const Json reply = Json::parse(output_);
  Lines all;
  for (const Json& record : reply["records"]) {
    EXPECT_EQ(record["client"], "127.0.0.1");
    EXPECT_EQ(record["path"], path());
    EXPECT_EQ(record["result"], "access");
    EXPECT_FALSE(record.contains("user"));
    const std::string claimed = record["claimed"];
    all.push_back(record["protocol"].get<std::string>() + " " + claimed.substr(0, claimed.find(" on ")) + " " +
                  record["request"].get<std::string>());
  }
  const std::string uid = "nfs uid " + std::to_string(kAnn) + " ";
  const std::string no_rule = ": the export has no rule for this address";
  const std::string wrong_flavor = ": the export wants another security flavor";
  const std::string key = "s3 access key " + bucket.access_key + " GET /" + name + "/key: ";
  const std::string host = "native host key " + host_key->key + " ";
  EXPECT_EQ(all,
            (Lines{uid + "MNT /" + name + no_rule, uid + "nfs3 getattr" + no_rule,
                   uid + "nfs4 lookup /" + name + no_rule, uid + "nfs4 putfh /" + name + no_rule, key + "AccessDenied",
                   host + "call through /" + name + no_rule, host + "log-in to /" + name + no_rule,
                   uid + "nfs4 lookup /" + name + wrong_flavor, uid + "nfs3 readdirplus" + wrong_flavor,
                   key + "SignatureDoesNotMatch", "s3 access key NOBODY GET /" + name + "/key: InvalidAccessKeyId",
                   host + "log-in to /" + name + ": wrong key", host + "call through /" + name + ": wrong key"}));
  ASSERT_EQ(stoa({"export", "remove", name}), 0) << output_;
}

TEST_F(AuditProtocolsTest, AdministratorsToo) {
  audit("admin");
  ASSERT_EQ(stoa({"quota", "set", path(), "--bytes", "10MB"}), 0) << output_;
  ASSERT_EQ(stoa({"audit", "query", "--operation", "admin"}), 0) << output_;
  const Json records = Json::parse(output_)["records"];
  ASSERT_FALSE(records.empty());
  EXPECT_EQ(records.back()["request"], "PUT /v1/quota?path=" + path() + " by token admin.token");
  EXPECT_EQ(records.back()["protocol"], "admin");
  EXPECT_EQ(records.back()["path"], path());
}

TEST(AuditCrashTest, AfterAKillNothingIsTwiceOrMissing) {
  std::string pattern = (std::filesystem::temp_directory_path() / "stoa-audit-XXXXXX").string();
  const std::string data = mkdtemp(pattern.data());
  std::string output;
  const auto stoa = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {STOA_CLI, "--json", "--data", data});
    output.clear();
    return run_command(arguments, &output);
  };
  std::vector<std::string> wanted;
  for (int life = 0; life < 3; ++life) {
    std::string why;
    const auto server = ServerProcess::start({STOA_SERVE, "--data", data}, &why);
    ASSERT_NE(server, nullptr) << why;
    if (life == 0) {
      ASSERT_EQ(stoa({"audit", "policy", "set", "/test", "write"}), 0) << output;
    }
    const auto client = NfsClient::connect(server->nfs(), 0, &why);
    ASSERT_NE(client, nullptr) << why;
    for (int i = 0; i < 300; ++i) {
      const std::string name = std::to_string(life) + "." + std::to_string(i);
      ASSERT_TRUE(client->create(client->root(), name).ok());
      wanted.push_back("/test/" + name);
    }
    if (life < 2) {
      server->kill_hard();
      continue;
    }
    ASSERT_EQ(stoa({"audit", "query", "--operation", "create"}), 0) << output;
    const Json reply = Json::parse(output);
    std::vector<std::string> found;
    for (const Json& record : reply["records"]) found.push_back(record["path"]);
    EXPECT_EQ(found, wanted);
    EXPECT_EQ(stoa({"audit", "verify"}), 0) << output;
  }
  std::filesystem::remove_all(data);
}

}  // namespace
}  // namespace stoa::clients
