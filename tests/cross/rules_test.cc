// Every rule through every protocol: protocol A sets up, protocol B acts, protocol C sees. One server; each test has a
// folder of its own, and the verifier counts again at the end.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

#include "tests/cross/protocols/protocol.h"
#include "tests/frontends/nfs/v4_protocol/compound_caller.h"

namespace stoa::cross {
namespace {

using clients::ServerProcess;

constexpr std::uint32_t kNobodySpecial = 1001;
constexpr std::uint32_t kShareBoth = 3;  // OPEN4_SHARE_ACCESS_BOTH
constexpr ProtocolKind kNfs3 = ProtocolKind::kNfs3, kNfs4 = ProtocolKind::kNfs4, kS3 = ProtocolKind::kS3,
                       kNative = ProtocolKind::kNative;
constexpr ProtocolKind kAll[] = {kNfs3, kNfs4, kS3, kNative};

using Three = std::tuple<ProtocolKind, ProtocolKind, ProtocolKind>;

class RulesTest : public ::testing::TestWithParam<Three> {
 protected:
  static void SetUpTestSuite() {
    std::string why;
    server_ = ServerProcess::start({STOA_SERVE}, &why);
    ASSERT_NE(server_, nullptr) << why;
    for (const ProtocolKind kind : kAll) {
      superuser_[static_cast<std::size_t>(kind)] = open_protocol(kind, *server_, 0);
      nobody_special_[static_cast<std::size_t>(kind)] = open_protocol(kind, *server_, kNobodySpecial);
    }
  }
  static void TearDownTestSuite() {
    for (auto& protocol : superuser_) protocol.reset();
    for (auto& protocol : nobody_special_) protocol.reset();
    if (server_ != nullptr) {
      std::string output;
      EXPECT_EQ(stoa({"check"}, &output), 0) << output;
    }
    server_.reset();
  }

  void SetUp() override {
    ASSERT_NE(server_, nullptr);
    std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::ranges::replace(name, '/', '.');
    folder_ = name;
    ASSERT_EQ(as_root(kNfs3).make_directory(folder_), Outcome::kOk);
  }

  static ProtocolKind kind_a() { return std::get<0>(GetParam()); }
  static ProtocolKind kind_b() { return std::get<1>(GetParam()); }
  static ProtocolKind kind_c() { return std::get<2>(GetParam()); }
  static Protocol& as_root(ProtocolKind kind) { return *superuser_[static_cast<std::size_t>(kind)]; }
  static Protocol& as_nobody_special(ProtocolKind kind) { return *nobody_special_[static_cast<std::size_t>(kind)]; }
  static Protocol& a() { return as_root(kind_a()); }
  static Protocol& b() { return as_root(kind_b()); }
  static Protocol& c() { return as_root(kind_c()); }

  std::string in(const std::string& name) const { return folder_ + "/" + name; }
  using Names = std::vector<std::string>;
  Names seen(const std::string& below = {}) { return c().list(below.empty() ? folder_ : in(below)); }
  void sees(const std::string& name, std::string_view bytes) {
    const Content content = c().get(in(name));
    EXPECT_EQ(content.outcome, Outcome::kOk);
    EXPECT_EQ(content.bytes.size(), bytes.size());
    EXPECT_TRUE(content.bytes == bytes) << "other bytes in " << name;
    EXPECT_EQ(c().size(in(name)), bytes.size());
  }
  void misses(const std::string& name) {
    EXPECT_EQ(c().get(in(name)).outcome, Outcome::kMissing);
    EXPECT_EQ(c().size(in(name)), std::nullopt);
  }

  static int stoa(std::vector<std::string> arguments, std::string* output) {
    arguments.insert(arguments.begin(), {STOA_CLI, "--json", "--data", server_->value("STOA_DATA")});
    return clients::run_command(arguments, output);
  }
  nlohmann::json stoa(const std::vector<std::string>& arguments) {
    std::string output;
    EXPECT_EQ(stoa(arguments, &output), 0) << output;
    return nlohmann::json::parse(output, nullptr, false);
  }
  std::string path() const { return "/test/" + folder_; }
  void limit(const char* what, std::uint64_t most) { stoa({"quota", "set", path(), what, std::to_string(most)}); }
  nlohmann::json used() { return stoa({"quota", "get", path()})["usage"]; }

  static inline std::unique_ptr<ServerProcess> server_;
  static inline std::array<std::unique_ptr<Protocol>, std::size(kAll)> superuser_, nobody_special_;
  std::string folder_;
};

std::string name_of_three(const ::testing::TestParamInfo<Three>& info) {
  const auto [a, b, c] = info.param;
  std::string name;
  for (const ProtocolKind kind : {a, b, c}) name += name_of(kind);
  return name;
}
INSTANTIATE_TEST_SUITE_P(Protocols, RulesTest,
                         ::testing::Combine(::testing::Values(kNfs3, kNfs4, kS3), ::testing::Values(kNfs3, kNfs4, kS3),
                                            ::testing::Values(kNfs3, kNfs4, kS3)),
                         name_of_three);
// All threes with it would take as long again. These have it act before each other protocol, and see each other one.
INSTANTIATE_TEST_SUITE_P(Native, RulesTest,
                         ::testing::Values(Three{kNfs3, kNative, kNfs4}, Three{kNfs4, kNative, kS3},
                                           Three{kS3, kNative, kNfs3}, Three{kNative, kNfs3, kNative},
                                           Three{kNative, kNfs4, kNative}, Three{kNative, kS3, kNative}),
                         name_of_three);

// --- one truth

TEST_P(RulesTest, TheLastContentIsTheContent) {
  ASSERT_EQ(a().put(in("f"), "first"), Outcome::kOk);
  sees("f", "first");
  for (const std::size_t size : {0U, 7U, 16'385U, 1'500'000U}) {
    const std::string bytes(size, static_cast<char>('a' + size % 26));
    ASSERT_EQ(b().put(in("f"), bytes), Outcome::kOk);
    sees("f", bytes);
  }
  ASSERT_EQ(a().put(in("f"), "last"), Outcome::kOk);
  sees("f", "last");
  EXPECT_EQ(seen(), Names{"f"});
}

TEST_P(RulesTest, WhatIsRemovedIsGone) {
  ASSERT_EQ(a().put(in("f"), "here"), Outcome::kOk);
  ASSERT_EQ(a().put(in("g"), "there"), Outcome::kOk);
  ASSERT_EQ(b().remove(in("f")), Outcome::kOk);
  misses("f");
  EXPECT_EQ(seen(), Names{"g"});
  ASSERT_EQ(a().put(in("f"), "again"), Outcome::kOk);
  sees("f", "again");
  EXPECT_EQ(seen(), (Names{"f", "g"}));
}

TEST_P(RulesTest, ARenamedFileHasItsNewNameOnly) {
  if (!has_directories(kind_b())) return;
  ASSERT_EQ(a().put(in("from"), "moved"), Outcome::kOk);
  ASSERT_EQ(b().rename(in("from"), in("to")), Outcome::kOk);
  misses("from");
  sees("to", "moved");
  ASSERT_EQ(a().put(in("other"), "replaced"), Outcome::kOk);
  ASSERT_EQ(b().rename(in("to"), in("other")), Outcome::kOk);
  sees("other", "moved");
  EXPECT_EQ(seen(), Names{"other"});
}

TEST_P(RulesTest, DirectoriesAreTheSameEverywhere) {
  ASSERT_EQ(a().put(in("d/e/f"), "deep") == Outcome::kOk, !has_directories(kind_a()));
  if (has_directories(kind_a())) {
    ASSERT_EQ(a().make_directory(in("d")), Outcome::kOk);
    ASSERT_EQ(a().make_directory(in("d/e")), Outcome::kOk);
    ASSERT_EQ(a().put(in("d/e/f"), "deep"), Outcome::kOk);
  }
  ASSERT_EQ(b().put(in("d/e/g"), "beside"), Outcome::kOk);
  sees("d/e/f", "deep");
  sees("d/e/g", "beside");
  EXPECT_EQ(seen("d"), Names{"e"});
  EXPECT_EQ(seen("d/e"), (Names{"f", "g"}));
  if (!has_directories(kind_b())) return;
  EXPECT_EQ(b().remove_directory(in("d/e")), Outcome::kNotEmpty);
  ASSERT_EQ(b().rename(in("d"), in("renamed")), Outcome::kOk);
  sees("renamed/e/f", "deep");
  misses("d/e/f");
  EXPECT_EQ(seen(), Names{"renamed"});
}

TEST_P(RulesTest, WritesInPlaceAreSeen) {
  if (!has_directories(kind_b())) return;
  const std::string old(100'000, 'o');
  ASSERT_EQ(a().put(in("f"), old), Outcome::kOk);
  ASSERT_EQ(b().write(in("f"), 50'000, "in the middle"), Outcome::kOk);
  std::string want = old;
  want.replace(50'000, 13, "in the middle");
  sees("f", want);
  ASSERT_EQ(b().write(in("f"), 100'010, "behind a hole"), Outcome::kOk);
  want += std::string(10, '\0') + "behind a hole";
  sees("f", want);
  ASSERT_EQ(b().truncate(in("f"), 50'005), Outcome::kOk);
  want.resize(50'005);
  sees("f", want);
  ASSERT_EQ(b().truncate(in("f"), 70'000), Outcome::kOk);
  want.resize(70'000);
  sees("f", want);
}

// --- sealed directories

TEST_P(RulesTest, WhatIsSealedStaysAsItIs) {
  ASSERT_EQ(a().put(in("f"), "content"), Outcome::kOk);
  EXPECT_EQ(stoa({"seal", path()})["sealed"], true);
  const Outcome refused = has_directories(kind_b()) ? Outcome::kReadOnly : Outcome::kDenied;
  EXPECT_EQ(b().put(in("f"), "other"), refused);
  EXPECT_EQ(b().put(in("new"), "other"), refused);
  EXPECT_EQ(b().remove(in("f")), refused);
  if (has_directories(kind_b())) {
    EXPECT_EQ(b().write(in("f"), 0, "x"), refused);
    EXPECT_EQ(b().truncate(in("f"), 0), refused);
    EXPECT_EQ(b().set_mode(in("f"), 0600), refused);
    EXPECT_EQ(b().make_directory(in("d")), refused);
    EXPECT_EQ(b().rename(in("f"), in("g")), refused);
    EXPECT_EQ(b().rename(in("f"), folder_ + ".out"), refused);
  }
  sees("f", "content");
  EXPECT_EQ(seen(), Names{"f"});
  EXPECT_EQ(stoa({"unseal", path()})["sealed"], false);
  EXPECT_EQ(b().remove(in("f")), Outcome::kOk);
  misses("f");
}

// --- permissions

TEST_P(RulesTest, PermissionsBindAtEveryProtocol) {
  ASSERT_EQ(a().put(in("secret"), "mine"), Outcome::kOk);
  Protocol& keeper = has_directories(kind_a()) ? a() : as_root(kNfs3);
  ASSERT_EQ(keeper.set_mode(in("secret"), 0600), Outcome::kOk);
  Protocol& other = as_nobody_special(kind_b());
  EXPECT_EQ(other.get(in("secret")).outcome, Outcome::kDenied);
  EXPECT_EQ(other.put(in("secret"), "theirs"), Outcome::kDenied);
  EXPECT_EQ(other.put(in("new"), "theirs"), Outcome::kDenied);  // the folder is 0755
  EXPECT_EQ(other.remove(in("secret")), Outcome::kDenied);
  if (has_directories(kind_b())) {
    EXPECT_EQ(other.rename(in("secret"), in("public")), Outcome::kDenied);
    EXPECT_EQ(other.truncate(in("secret"), 0), Outcome::kDenied);
    EXPECT_EQ(other.set_mode(in("secret"), 0666), Outcome::kDenied);
    EXPECT_EQ(other.make_directory(in("d")), Outcome::kDenied);
  }
  sees("secret", "mine");
  EXPECT_EQ(seen(), Names{"secret"});
  ASSERT_EQ(keeper.set_mode(in("secret"), 0644), Outcome::kOk);
  EXPECT_EQ(other.get(in("secret")).bytes, "mine");
  EXPECT_EQ(as_nobody_special(kind_c()).get(in("secret")).bytes, "mine");
  EXPECT_EQ(other.put(in("secret"), "theirs"), Outcome::kDenied);
}

TEST_P(RulesTest, AnAclBindsAtEveryProtocol) {
  ASSERT_EQ(a().put(in("f"), "mine"), Outcome::kOk);
  // Read, by the mode, for all; by the list for all but one. And that one may write.
  const std::filesystem::path list = std::filesystem::temp_directory_path() / (server_->value("STOA_PID") + ".acl");
  std::ofstream(list) << "A::1001:wa\nD::1001:r\nA::OWNER@:rwatTnNcCoy\nA:g:GROUP@:rtncy\nA::EVERYONE@:rtncy\n";
  stoa({"acl", "set", path() + "/f", list.string()});
  std::filesystem::remove(list);
  Protocol& other = as_nobody_special(kind_b());
  EXPECT_EQ(other.get(in("f")).outcome, Outcome::kDenied);
  EXPECT_EQ(as_nobody_special(kind_c()).get(in("f")).outcome, Outcome::kDenied);
  sees("f", "mine");
}

// --- quotas

TEST_P(RulesTest, AQuotaOfBytesIsExact) {
  limit("--bytes", 1000);
  ASSERT_EQ(a().put(in("first"), std::string(600, 'a')), Outcome::kOk);
  EXPECT_EQ(b().put(in("second"), std::string(401, 'b')), Outcome::kNoRoom);
  EXPECT_EQ(used()["bytes"], 600);
  ASSERT_EQ(b().put(in("second"), std::string(400, 'b')), Outcome::kOk);
  sees("first", std::string(600, 'a'));
  sees("second", std::string(400, 'b'));
  EXPECT_EQ(b().put(in("third"), "x"), Outcome::kNoRoom);
  if (has_directories(kind_b())) {
    EXPECT_EQ(b().write(in("first"), 600, "x"), Outcome::kNoRoom);
    EXPECT_EQ(b().truncate(in("second"), 401), Outcome::kNoRoom);
  }
  if (has_directories(kind_c())) {
    EXPECT_EQ(c().room(folder_), 0U);
  }
  EXPECT_EQ(used()["bytes"], 1000);
  // Room freed by one protocol is there for another at once.
  ASSERT_EQ(c().remove(in("first")), Outcome::kOk);
  if (has_directories(kind_c())) {
    EXPECT_EQ(c().room(folder_), 600U);
  }
  ASSERT_EQ(b().put(in("third"), std::string(600, 'c')), Outcome::kOk);
  EXPECT_EQ(a().put(in("fourth"), "x"), Outcome::kNoRoom);
  EXPECT_EQ(used()["bytes"], 1000);
}

TEST_P(RulesTest, AQuotaOfFilesIsExact) {
  limit("--files", 2);
  ASSERT_EQ(a().put(in("first"), "1"), Outcome::kOk);
  ASSERT_EQ(b().put(in("second"), "2"), Outcome::kOk);
  EXPECT_EQ(b().put(in("third"), "3"), Outcome::kNoRoom);
  if (has_directories(kind_b())) {
    EXPECT_EQ(b().make_directory(in("d")), Outcome::kNoRoom);
  }
  EXPECT_EQ(seen(), (Names{"first", "second"}));
  ASSERT_EQ(c().remove(in("first")), Outcome::kOk);
  ASSERT_EQ(b().put(in("third"), "3"), Outcome::kOk);
  EXPECT_EQ(a().put(in("fourth"), "4"), Outcome::kNoRoom);
  EXPECT_EQ(seen(), (Names{"second", "third"}));
}

TEST_P(RulesTest, ReplacingNeedsRoomForTheDifferenceOnly) {
  limit("--bytes", 1000);
  ASSERT_EQ(a().put(in("f"), std::string(1000, 'a')), Outcome::kOk);
  ASSERT_EQ(b().put(in("f"), std::string(1000, 'b')), Outcome::kOk);
  sees("f", std::string(1000, 'b'));
  EXPECT_EQ(b().put(in("f"), std::string(1001, 'c')), Outcome::kNoRoom);
  // S3 replaces the whole or nothing.
  if (!has_directories(kind_b())) sees("f", std::string(1000, 'b'));
  EXPECT_LE(used()["bytes"], 1000);
}

TEST_P(RulesTest, WhatIsRemovedWhileOpenCountsUntilItsClose) {
  limit("--bytes", 1000);
  ASSERT_EQ(a().put(in("f"), std::string(600, 'a')), Outcome::kOk);
  test::CompoundCaller holder(static_cast<std::uint16_t>(server_->nfs().nfs_port), "holder of " + folder_);
  holder.connect();
  const auto open = holder.open(holder.handle_of({"test", folder_}), "f", kShareBoth, 0, false);
  ASSERT_EQ(open.status, nfs4::Nfs4Status::kOk);
  ASSERT_EQ(b().remove(in("f")), Outcome::kOk);
  misses("f");
  EXPECT_EQ(used()["bytes"], 600);
  EXPECT_EQ(c().put(in("g"), std::string(401, 'c')), Outcome::kNoRoom);
  ASSERT_EQ(c().put(in("g"), std::string(400, 'c')), Outcome::kOk);
  EXPECT_EQ(holder.write(open.handle, open.stateid, std::string(601, 'x')), nfs4::Nfs4Status::kDQuot);
  EXPECT_EQ(used()["bytes"], 1000);
  EXPECT_EQ(holder.close(open.handle, open.stateid), nfs4::Nfs4Status::kOk);
  EXPECT_EQ(used()["bytes"], 400);
  EXPECT_EQ(b().put(in("h"), std::string(600, 'b')), Outcome::kOk);
}

// --- the recycle bin

TEST_P(RulesTest, WhatIsDeletedIsInTheBinAndComesBack) {
  stoa({"recycle", "policy", path(), "--on"});
  ASSERT_EQ(a().put(in("f"), "kept"), Outcome::kOk);
  ASSERT_EQ(b().remove(in("f")), Outcome::kOk);
  misses("f");
  EXPECT_EQ(seen(), Names{});  // shown at the root of an export only
  const nlohmann::json items = stoa({"recycle", "list", path()})["items"];
  ASSERT_EQ(items.size(), 1U);
  EXPECT_EQ(items[0]["path"], path() + "/f");
  EXPECT_EQ(items[0]["bytes"], 4);
  EXPECT_EQ(items[0]["protocol"], word_of(kind_b()));
  EXPECT_EQ(items[0]["deleted_by"]["uid"], 0);
  if (has_directories(kind_c())) {
    EXPECT_EQ(seen(".recycle"), Names{"0"});
    const Names kept = seen(".recycle/0");
    ASSERT_EQ(kept.size(), 1U);
    const std::string item = ".recycle/0/" + kept[0];
    EXPECT_EQ(kept[0].substr(0, 2), "f@");
    sees(item, "kept");
    EXPECT_EQ(c().write(in(item), 0, "k"), Outcome::kReadOnly);
    EXPECT_EQ(c().remove(in(item)), Outcome::kReadOnly);
    EXPECT_EQ(c().write(in(item), 0, "x"), Outcome::kReadOnly);
    EXPECT_EQ(c().put(in(".recycle/0/new"), "x"), Outcome::kReadOnly);
    EXPECT_EQ(as_nobody_special(kind_c()).get(in(item)).outcome, Outcome::kDenied);
  }
  ASSERT_EQ(a().put(in("f"), "new"), Outcome::kOk);
  std::string output;
  EXPECT_NE(stoa({"recycle", "restore", items[0]["id"]}, &output), 0) << "the name is taken";
  stoa({"recycle", "restore", items[0]["id"], "--to", path() + "/back"});
  sees("back", "kept");
  sees("f", "new");
  EXPECT_EQ(stoa({"recycle", "list", path()})["items"].size(), 0U);
}

TEST_P(RulesTest, WhatIsReplacedIsInTheBin) {
  stoa({"recycle", "policy", path(), "--on"});
  ASSERT_EQ(a().put(in("f"), "old"), Outcome::kOk);
  if (has_directories(kind_b())) {
    ASSERT_EQ(b().put(in("g"), "new"), Outcome::kOk);
    ASSERT_EQ(b().rename(in("g"), in("f")), Outcome::kOk);
  } else {
    ASSERT_EQ(b().put(in("f"), "new"), Outcome::kOk);
  }
  sees("f", "new");
  const nlohmann::json items = stoa({"recycle", "list", path()})["items"];
  ASSERT_EQ(items.size(), 1U);
  ASSERT_EQ(c().remove(in("f")), Outcome::kOk);
  stoa({"recycle", "restore", items[0]["id"]});
  sees("f", "old");
}

TEST_P(RulesTest, TheBinCountsUntilItIsPurged) {
  stoa({"recycle", "policy", path(), "--on"});
  limit("--bytes", 10);
  ASSERT_EQ(a().put(in("f"), std::string(10, 'a')), Outcome::kOk);
  ASSERT_EQ(b().remove(in("f")), Outcome::kOk);
  EXPECT_EQ(used()["bytes"], 10);
  EXPECT_EQ(c().put(in("g"), "x"), Outcome::kNoRoom);
  stoa({"recycle", "purge", path(), "--all"});
  EXPECT_EQ(used()["bytes"], 0);
  ASSERT_EQ(c().put(in("g"), std::string(10, 'c')), Outcome::kOk);
  EXPECT_EQ(used()["bytes"], 10);
}

// --- owners, exports, QoS classes, audit

TEST_P(RulesTest, AUsersQuotaIsExact) {
  ASSERT_EQ(as_root(kNfs3).set_mode(folder_, 0777), Outcome::kOk);
  stoa({"quota", "count-owners", path()});
  stoa({"quota", "set", path(), "--user", std::to_string(kNobodySpecial), "--bytes", "1000"});
  Protocol& first = as_nobody_special(kind_a());
  Protocol& second = as_nobody_special(kind_b());
  ASSERT_EQ(first.put(in("first"), std::string(600, 'a')), Outcome::kOk);
  EXPECT_EQ(second.put(in("second"), std::string(401, 'b')), Outcome::kNoRoom);
  ASSERT_EQ(second.put(in("second"), std::string(400, 'b')), Outcome::kOk);
  EXPECT_EQ(first.put(in("third"), "x"), Outcome::kNoRoom);
  // Others have room.
  ASSERT_EQ(c().put(in("roots"), std::string(2000, 'c')), Outcome::kOk);
  ASSERT_EQ(c().remove(in("first")), Outcome::kOk);
  ASSERT_EQ(second.put(in("third"), std::string(600, 'd')), Outcome::kOk);
  sees("third", std::string(600, 'd'));
  EXPECT_EQ(first.put(in("fourth"), "x"), Outcome::kNoRoom);
}

TEST_P(RulesTest, AReadOnlyExportIsReadOnly) {
  ASSERT_EQ(a().put(in("f"), "as it was"), Outcome::kOk);
  stoa({"export", "set", "test", "--read-only"});
  const Outcome refused = has_directories(kind_b()) ? Outcome::kReadOnly : Outcome::kDenied;
  EXPECT_EQ(b().put(in("new"), "x"), refused);
  EXPECT_EQ(b().remove(in("f")), refused);
  if (has_directories(kind_b())) {
    EXPECT_EQ(b().write(in("f"), 0, "x"), refused);
    EXPECT_EQ(b().truncate(in("f"), 0), refused);
    EXPECT_EQ(b().rename(in("f"), in("g")), refused);
    EXPECT_EQ(b().make_directory(in("d")), refused);
    EXPECT_EQ(b().set_mode(in("f"), 0600), refused);
  }
  sees("f", "as it was");
  EXPECT_EQ(seen(), Names{"f"});
  stoa({"export", "set", "test", "--read-write"});
  ASSERT_EQ(b().put(in("f"), "anew"), Outcome::kOk);
  sees("f", "anew");
}

TEST_P(RulesTest, AQosClassOfADirectoryCountsEveryProtocol) {
  stoa({"qos", "set", path(), "--write", "10GB/s", "--read", "10GB/s"});
  const auto use = [&] { return stoa({"qos", "get", path()})["use"]; };
  ASSERT_EQ(a().put(in("f"), std::string(50'000, 'a')), Outcome::kOk);
  const std::uint64_t written = use()["write_bytes"];
  EXPECT_GE(written, 50'000U);
  ASSERT_EQ(b().put(in("g"), std::string(70'000, 'b')), Outcome::kOk);
  EXPECT_GE(use()["write_bytes"].get<std::uint64_t>(), written + 70'000);
  const std::uint64_t read = use()["read_bytes"];
  sees("g", std::string(70'000, 'b'));
  EXPECT_GE(use()["read_bytes"].get<std::uint64_t>(), read + 70'000);
  stoa({"qos", "remove", path()});
}

TEST_P(RulesTest, WhatIsDoneAndRefusedIsAudited) {
  stoa({"audit", "policy", "set", path(), "write,delete,denied"});
  ASSERT_EQ(a().put(in("f"), "told"), Outcome::kOk);
  EXPECT_EQ(as_nobody_special(kind_c()).put(in("f"), "x"), Outcome::kDenied);
  ASSERT_EQ(b().remove(in("f")), Outcome::kOk);
  const auto told = [&](const std::vector<std::string>& operations, const char* result, ProtocolKind protocol,
                        std::uint32_t uid) {
    const nlohmann::json records =
        stoa({"audit", "query", "--path", path() + "/f", "--protocol", std::string(word_of(protocol))})["records"];
    return std::ranges::count_if(records, [&](const nlohmann::json& record) {
      return std::ranges::find(operations, record["operation"].get<std::string>()) != operations.end() &&
             record["result"] == result && record["path"] == path() + "/f" && record["user"]["uid"] == uid &&
             record["client"] == "127.0.0.1";
    });
  };
  EXPECT_EQ(told({"create"}, "ok", kind_a(), 0), 1);
  EXPECT_EQ(told({"remove"}, "ok", kind_b(), 0), 1);
  // S3 replaces, NFSv3 creates an existing file unchecked, NFSv4 and native open for writing.
  EXPECT_GE(told({"write", "create", "open", "attributes"}, "access", kind_c(), kNobodySpecial), 1);
  stoa({"audit", "policy", "remove", path()});
}

}  // namespace
}  // namespace stoa::cross
