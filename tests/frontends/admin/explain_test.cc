#include "frontends/admin/causes.h"

#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "tests/frontends/admin/admin_fixture.h"

namespace stoa::admin {
namespace {

TEST_F(AdminTest, WhatLimitsAPlaceIsExplained) {
  const core::FileId team = make_directory("team");
  make_file(team, "f", 100);
  make_directory("other");
  ASSERT_TRUE(volume_->registry().add_user({.name = "ann", .uid = 1000, .gid = 1000}));
  ASSERT_TRUE(volume_->registry().add_export({.name = "team", .root = team, .path = "/team", .nfs = true}));
  ASSERT_EQ(call(Method::kPut, "/v1/quota?path=/team", R"({"bytes": 100})").status, 200u);
  ASSERT_EQ(call(Method::kPut, "/v1/quota?path=/", R"({"files": 1000})").status, 200u);
  for (const char* target :
       {"/team", "/other", "user:ann", "user:7", "client:10.9.0.0/16", "protocol:nfs", "export:team"}) {
    ASSERT_EQ(call(Method::kPut, std::string("/v1/qos/class?target=") + target, R"({"read_bytes": 1000})").status,
              200u);
  }
  const Answer plain = get("/v1/explain?path=/team/f");
  ASSERT_EQ(plain.status, 200u) << plain.text;
  EXPECT_FALSE(plain.json.contains("access"));
  EXPECT_EQ(plain.json["attributes"]["type"], "file");
  ASSERT_EQ(plain.json["exports"].size(), 1u);
  EXPECT_EQ(plain.json["exports"][0]["name"], "team");
  ASSERT_EQ(plain.json["quotas"].size(), 2u);
  EXPECT_EQ(plain.json["quotas"][0]["full"], false);
  EXPECT_EQ(plain.json["quotas"][1]["path"], "/team");
  EXPECT_EQ(plain.json["quotas"][1]["full"], true);
  const auto targets = [](const Json& reply) {
    std::vector<std::string> found;
    for (const Json& qos_class : reply["qos_classes"]) found.push_back(qos_class["target"]);
    return found;
  };
  EXPECT_THAT(targets(plain.json),
              testing::UnorderedElementsAre("/team", "client:10.9.0.0/16", "protocol:nfs", "export:team"));
  const Answer ann = get("/v1/explain?path=/team/f&user=ann&client=10.8.0.1");
  EXPECT_THAT(targets(ann.json), testing::UnorderedElementsAre("/team", "protocol:nfs", "export:team", "user:ann"));
  const Answer client = get("/v1/explain?path=/team/f&client=10.9.0.1");
  EXPECT_THAT(targets(client.json),
              testing::UnorderedElementsAre("/team", "client:10.9.0.0/16", "protocol:nfs", "export:team"));
  EXPECT_EQ(ann.json["access"]["stopped_at"], Json());

  ASSERT_TRUE(volume_->ns().setattr({}, {.id = team, .set = {.mode = 0700}}));
  const Json denied = get("/v1/explain?path=/team/f&user=ann").json["access"];
  EXPECT_EQ(denied["stopped_at"], "/team");
  const Json directory = get("/v1/explain?path=/team&user=ann").json["access"];
  EXPECT_EQ(directory["stopped_at"], Json());
  EXPECT_TRUE(directory["granted"].empty());
  EXPECT_EQ(directory["denied"].size(), 4u);
  EXPECT_EQ(get("/v1/explain?path=/none").status, 404u);
  EXPECT_EQ(get("/v1/explain?path=/team&user=nobody").status, 404u);
  EXPECT_EQ(get("/v1/explain").status, 400u);
}

TEST_F(AdminTest, TheRuleThatDecidesAboutAClientIsNamed) {
  const core::FileId team = make_directory("team");
  const auto rule = [](const char* network, bool read_only) {
    return core::ClientRule{.network = *core::Network::parse(network),
                            .read_only = read_only,
                            .squash = core::Squash::kAll,
                            .anonymous_uid = 7};
  };
  ASSERT_TRUE(volume_->registry().add_export(
      {.name = "team",
       .root = team,
       .path = "/team",
       .nfs = true,
       .clients = {rule("10.9.0.0/16", true), rule("10.0.0.0/8", false), rule("10.9.1.0/24", false)}}));
  ASSERT_TRUE(volume_->registry().add_export({.name = "open", .root = team, .path = "/team", .s3 = true}));
  const auto decides = [&](const std::string& client) {
    return get("/v1/explain?path=/team&client=" + client).json["exports"];
  };
  EXPECT_EQ(decides("10.9.1.2")[1]["client_rule"], Json({{"number", 1},
                                                         {"network", "10.9.0.0/16"},
                                                         {"read_only", true},
                                                         {"squash", "all"},
                                                         {"anonymous_uid", 7},
                                                         {"anonymous_gid", 65534}}));
  EXPECT_EQ(decides("10.8.1.2")[1]["client_rule"]["number"], 2);
  EXPECT_TRUE(decides("192.0.2.7")[1].at("client_rule").is_null());
  EXPECT_TRUE(decides("10.8.1.2")[0].at("client_rule").is_null());
  EXPECT_FALSE(get("/v1/explain?path=/team").json["exports"][0].contains("client_rule"));
}

TEST_F(AdminTest, WhoHasAFileOpenOrLockedIsExplained) {
  make_file(core::kRootId, "f", 1);
  const core::FileId file = volume_->ns().lookup({}, {.parent = core::kRootId, .name = "f"})->attr.id;
  const Json nothing = get("/v1/explain?path=/f").json["held"];
  for (const char* const kind : {"opens", "locks", "leases", "waiting"})
    EXPECT_EQ(nothing[kind], (Json{{"total", 0}, {"list", Json::array()}}));

  core::StateTable& state = volume_->state();
  const core::HolderId known = state.add_holder(core::Protocol::kNfs, nullptr),
                       unknown = state.add_holder(core::Protocol::kNfs, nullptr);
  const auto id = std::to_string(static_cast<std::uint64_t>(known)),
             other = std::to_string(static_cast<std::uint64_t>(unknown));
  clients_ = {{.id = static_cast<std::uint64_t>(known),
               .protocol = "nfs",
               .version = "nfs4.1",
               .address = "10.0.0.1",
               .name = "a\xff"}};
  ASSERT_TRUE(state.open({file, known, core::kShareBoth, core::kShareWrite}));
  ASSERT_TRUE(state.lock(file, {known, "x"}, {0, 10}, true));
  ASSERT_TRUE(state.lock(file, {known, "x"}, {1ull << 63, core::LockRange::kToEnd}, false));
  ASSERT_FALSE(*state.lock_or_wait({file, {unknown, "y"}, {5, 1}, false}));
  const Answer answer = get("/v1/explain?path=/f");
  const Json client{{"id", id},          {"protocol", "nfs"},    {"version", "nfs4.1"}, {"address", "10.0.0.1"},
                    {"name", "a\uFFFD"}, {"name_base64", "Yf8="}};
  const Json stranger = Json::object({{"id", other}});
  const auto list = [](int total, const Json& rows) { return Json{{"total", total}, {"list", rows}}; };
  const auto lock = [](const Json& of, std::uint64_t offset, const Json& length, bool exclusive) {
    return Json{{"client", of}, {"offset", offset}, {"length", length}, {"exclusive", exclusive}, {"mandatory", false}};
  };
  const Json opens{
      {"client", client}, {"count", 1}, {"access", Json::array({"read", "write"})}, {"deny", Json::array({"write"})}};
  EXPECT_EQ(answer.json["held"]["opens"], list(1, Json::array({opens})));
  EXPECT_EQ(answer.json["held"]["locks"],
            list(2, Json::array({lock(client, 0, 10, true), lock(client, 1ull << 63, Json(), false)})));
  EXPECT_EQ(answer.json["held"]["waiting"], list(1, Json::array({lock(stranger, 5, 1, false)})));
  std::vector<std::string> said;
  for (const Json& cause : answer.json["causes"]) said.push_back(cause["what"].get<std::string>());
  const std::string name = "a\xEF\xBF\xBD (10.0.0.1, client " + id + ")";
  EXPECT_THAT(said,
              testing::IsSupersetOf({"others may not open it to write: that is denied by who has it open, " + name,
                                     "2 ranges of its bytes are locked by " + name +
                                         ": who wants another lock there waits or is refused"}));
  for (const Json& cause : answer.json["causes"]) {
    if (!cause["parameters"].contains("clients")) continue;
    const bool waits = cause["code"] == "lock_wanted";
    EXPECT_EQ(cause["parameters"]["clients"], Json::array({waits ? stranger : client})) << cause;
  }
  EXPECT_THAT(said, testing::Contains(testing::StartsWith("1 request waits for a lock of it, of client " + other)));

  state.remove_holder(unknown);
  state.remove_holder(known);
  const core::HolderId reader = state.add_holder(core::Protocol::kNfs, nullptr);
  for (const core::FileId one : {file, core::kRootId})
    ASSERT_TRUE(state.grant_lease(one, {reader}, {core::kReadCaching}));
  const Json lease{{"client", Json::object({{"id", std::to_string(static_cast<std::uint64_t>(reader))}})},
                   {"kind", "read"},
                   {"recalled", false}};
  EXPECT_EQ(get("/v1/explain?path=/").json["held"]["leases"], list(1, Json::array({lease})));
  EXPECT_EQ(volume_->ns().setattr({}, {.id = file, .set = {.mode = 0600}}).error().code, Errc::kRecallPending);
  const Answer recalled = get("/v1/explain?path=/f");
  EXPECT_EQ(recalled.json["held"]["leases"]["list"][0]["recalled"], true);
  EXPECT_THAT(recalled.json["causes"].dump(), testing::HasSubstr("it is cached by client "));
  state.remove_holder(reader);
}

TEST_F(AdminTest, OfManyWhoHaveAFileAHundredAreNamedInExplain) {
  make_file(core::kRootId, "f", 1);
  const core::FileId file = volume_->ns().lookup({}, {.parent = core::kRootId, .name = "f"})->attr.id;
  core::StateTable& state = volume_->state();
  std::vector<core::HolderId> holders;
  for (int i = 0; i < 105; ++i) {
    holders.push_back(state.add_holder(core::Protocol::kNfs, nullptr));
    ASSERT_TRUE(state.lock(file, {holders.back(), "o"}, {0, 1}, false));
  }
  const Json reply = get("/v1/explain?path=/f").json;
  EXPECT_EQ(reply["held"]["locks"]["total"], 105);
  EXPECT_EQ(reply["held"]["locks"]["list"].size(), 100u);
  EXPECT_THAT(reply["causes"].dump(), testing::HasSubstr(" and others: who wants another lock"));
  for (const core::HolderId holder : holders) state.remove_holder(holder);
}

class CausesTest : public AdminTest {
 protected:
  void SetUp() override {
    team_ = make_directory("team");
    make_file(team_, "f", 100);
    ASSERT_TRUE(volume_->registry().add_user({.name = "ann", .uid = 1000, .gid = 1000}));
    ASSERT_TRUE(volume_->registry().add_export({.name = "team", .root = team_, .path = "/team", .nfs = true}));
    ASSERT_TRUE(volume_->ns().setattr({}, {.id = team_, .set = {.mode = 0777}}));
  }
  // The sentence of each, in order.
  std::vector<std::string> causes(const std::string& query = "path=/team") {
    const Answer answer = get("/v1/explain?" + query);
    EXPECT_EQ(answer.status, 200u) << answer.text;
    std::vector<std::string> found;
    for (const Json& cause : answer.json["causes"]) {
      found.push_back(cause["what"].get<std::string>());
      std::set<std::string> names;
      for (const auto& [name, value] : cause["parameters"].items()) names.insert(name);
      const auto described = described_.find(cause["code"].get<std::string>());
      EXPECT_TRUE(described != described_.end() && described->second == names) << cause;
    }
    return found;
  }
  // The code and parameters of the first one.
  Json first(const std::string& query = "path=/team") {
    const Json cause = get("/v1/explain?" + query).json["causes"].at(0);
    return {{"code", cause["code"]}, {"parameters", cause["parameters"]}};
  }
  void put(const std::string& target, const std::string& body) {
    ASSERT_EQ(call(Method::kPut, target, body).status, 200u);
  }

  core::FileId team_{};

 private:
  // The codes of openapi.yaml, with the names of their parameters: a line "- CODE: NAME, NAME (explained), NAME" each.
  static std::map<std::string, std::set<std::string>> read_codes() {
    std::ifstream file(STOA_SOURCE_DIR "/frontends/admin/openapi.yaml");
    std::map<std::string, std::set<std::string>> codes;
    std::string line;
    while (std::getline(file, line) && line.find("The facts of the cause, by code:") == std::string::npos) {
    }
    std::getline(file, line);
    while (std::getline(file, line) && line.find_first_not_of(' ') != std::string::npos) {
      line = std::regex_replace(line, std::regex(R"(\([^)]*\)|[-:,])"), " ");
      std::istringstream words(line);
      std::string code;
      if (!(words >> code) || code == "what") break;
      for (std::string word; words >> word;) codes[code].insert(word);
      codes[code];
    }
    return codes;
  }
  const std::map<std::string, std::set<std::string>> described_ = read_codes();
};
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST_F(CausesTest, WhereNothingIsWrongNothingIsSaid) {
  put("/v1/quota?path=/team", R"({"bytes": 1000, "soft_bytes": 500})");
  put("/v1/qos/class?target=/team", R"({"read_bytes": 1000})");
  EXPECT_THAT(causes(), IsEmpty());
  EXPECT_THAT(causes("path=/team&user=ann"), IsEmpty());
}

TEST_F(CausesTest, AFullQuotaOfBytesOrFiles) {
  put("/v1/quota?path=/team", R"({"bytes": 100, "files": 1})");
  EXPECT_THAT(causes(), ElementsAre(HasSubstr("the quota of /team is used up: 100 of 100 bytes"),
                                    HasSubstr("1 of 1 files and directories")));
  EXPECT_EQ(first()["parameters"]["recycled_bytes"], 0);
  put("/v1/quota?path=/team", R"({"bytes": 100})");
  put("/v1/recycle/policy?path=/team", "{}");
  ASSERT_TRUE(volume_->ns().unlink({}, {.parent = team_, .name = "f"}));
  EXPECT_EQ(first()["parameters"]["recycled_bytes"], 100);
}

TEST_F(CausesTest, ASoftLimitThatIsPassedAndWhenItBites) {
  put("/v1/quota?path=/team", R"({"soft_bytes": 1000})");
  make_file(team_, "g", 1000);
  EXPECT_THAT(causes(), ElementsAre(AllOf(HasSubstr("the quota of /team is above its soft limit since 2"),
                                          HasSubstr("1100 of 1000 bytes; what would grow is refused from 2"))));
  EXPECT_THAT(causes()[0], testing::Not(HasSubstr(".")));  // whole seconds; in the members there are all
  EXPECT_EQ(get("/v1/explain?path=/team").json["quotas"][0]["full"], false);
  put("/v1/quota?path=/team", R"({"soft_bytes": 1000, "grace_seconds": 0})");
  EXPECT_THAT(causes(), ElementsAre(HasSubstr("its time of grace ended at")));
  EXPECT_EQ(get("/v1/explain?path=/team").json["quotas"][0]["full"], true);
}

TEST_F(CausesTest, ProgramsAndOtherLanguagesGetACodeAndParameters) {
  put("/v1/quota?path=/team", R"({"bytes": 100})");
  Json facts{{"path", "/team"},     {"user", nullptr}, {"group", nullptr},  {"resource", "bytes"},
             {"recycled_bytes", 0}, {"used", 100},     {"upload_bytes", 0}, {"limit", 100}};
  EXPECT_EQ(first(), (Json{{"code", "quota_full"}, {"parameters", facts}}));
  put("/v1/quota?path=/team", R"({"soft_bytes": 99, "grace_seconds": 0})");
  Json soft = first();
  EXPECT_TRUE(soft["parameters"].erase("since") == 1 && soft["parameters"].erase("ends") == 1);
  facts.update({{"limit", 99}, {"over", true}});
  EXPECT_EQ(soft, (Json{{"code", "soft_limit"}, {"parameters", facts}}));
  put("/v1/quota?path=/team", R"({"bytes": 1000})");
  ASSERT_TRUE(volume_->ns().setattr({}, {.id = team_, .set = {.mode = 0755}}));
  EXPECT_EQ(first("path=/team/f&user=ann")["code"], "denied");
  const Json denied = first("path=/team/f&user=ann")["parameters"];
  EXPECT_EQ(denied["denied"], Json::array({"write"}));
  EXPECT_EQ(denied["reason"], (Json{{"mode", "0644"}, {"uid", 0}, {"gid", 0}, {"entry", nullptr}, {"rule", nullptr}}));
  EXPECT_EQ(first("path=/")["code"], "no_export");
  ASSERT_EQ(call(Method::kPatch, "/v1/exports/team", R"({"clients": [{"network": "10.0.0.0/8"}]})").status, 200u);
  EXPECT_EQ(first("path=/team&client=192.0.2.1"),
            (Json{{"code", "client_refused"},
                  {"parameters", {{"export", "team"}, {"client", "192.0.2.1"}, {"protocol", nullptr}}}}));
}

TEST_F(CausesTest, TheQuotaOfAUserOrGroup) {
  const core::FileId scratch = make_directory("scratch");
  ASSERT_TRUE(volume_->registry().add_export({.name = "scratch", .root = scratch, .path = "/scratch", .nfs = true}));
  ASSERT_TRUE(volume_->ns().setattr({}, {.id = scratch, .set = {.mode = 0777}}));
  put("/v1/quota/owners?path=/scratch", R"({"counted": true})");
  put("/v1/quota?path=/scratch&user=ann", R"({"files": 1})");
  put("/v1/quota?path=/scratch&group=1000", R"({"files": 1})");
  core::OpContext ann;
  ann.cred = {.uid = 1000, .gid = 1000};
  ASSERT_TRUE(volume_->ns().create(ann, {.parent = scratch, .name = "f"}));
  EXPECT_THAT(causes("path=/scratch"), IsEmpty());
  EXPECT_THAT(causes("path=/scratch&user=ann"),
              ElementsAre(HasSubstr("the quota of /scratch (user ann) is used up"),
                          HasSubstr("the quota of /scratch (group 1000) is used up")));
  EXPECT_EQ(first("path=/scratch&user=ann")["parameters"]["user"], "ann");
  EXPECT_EQ(get("/v1/explain?path=/scratch&user=ann").json["quotas"].size(), 2u);
}

TEST_F(CausesTest, WhatIsReadOnly) {
  const auto change = [&](const char* body) { ASSERT_EQ(call(Method::kPatch, "/v1/exports/team", body).status, 200u); };
  change(R"({"read_only": true, "clients": [{"network": "10.0.0.0/8"}]})");
  EXPECT_THAT(causes(), ElementsAre(HasSubstr("through the export team: it is read-only")));
  change(
      R"({"read_only": false, "clients": [{"network": "10.1.0.0/16", "read_only": true}, {"network": "10.0.0.0/8"}]})");
  EXPECT_THAT(causes(), ElementsAre(HasSubstr("clients of 10.1.0.0/16 change nothing")));
  change(R"({"clients": [{"network": "10.0.0.0/8"}]})");
  put("/v1/recycle/policy?path=/team", "{}");
  ASSERT_TRUE(volume_->ns().unlink({}, {.parent = team_, .name = "f"}));
  EXPECT_THAT(causes("path=/team/.recycle/0"), ElementsAre(HasSubstr("in a recycle bin")));
}

TEST_F(CausesTest, WhatNobodyPublishes) {
  make_directory("not so plain");
  EXPECT_EQ(first("path=/not so plain"), (Json{{"code", "no_export"}, {"parameters", {{"path", "/not so plain"}}}}));
}

TEST_F(CausesTest, AFullVolumeIsNoQuota) {
  put("/v1/quota?path=/team", R"({"bytes": 100000000})");
  blobs_.full = true;
  const auto made = volume_->ns().create({}, {.parent = team_, .name = "g"});
  ASSERT_TRUE(made);
  const std::vector<std::byte> content(1 << 20, std::byte{7});
  const std::span<const std::byte> one(content);
  const auto write = [&] { return volume_->ns().write({}, {.id = made->attr.id, .offset = 0, .data = {&one, 1}}); };
  EXPECT_EQ(write().error().code, Errc::kNoSpace);
  const auto full = ElementsAre(AllOf(HasSubstr("the volume is full: its disks have less than the 16 MiB left"),
                                      HasSubstr("whatever quotas leave")));
  EXPECT_THAT(causes(), full);
  EXPECT_THAT(causes("path=/team/g&user=ann"), testing::Contains(HasSubstr("the volume is full")));
  EXPECT_EQ(get("/v1/explain?path=/team").json["bytes_free"], 1 << 20);
  // The disks themselves know best.
  blobs_.disks = {{.path = "/disks/1", .ok = true, .problem = {}, .space = {1 << 30, 0}},
                  {.path = "/disks/2", .ok = true, .problem = {}, .space = {1 << 30, 1 << 20}}};
  EXPECT_THAT(causes(), full);
  blobs_.disks[1].space.free = 1 << 29;
  EXPECT_THAT(causes(), ElementsAre(HasSubstr("the data directory /disks/1 is full: nothing new is put there")));
  blobs_.disks.clear();
  blobs_.full = false;
  EXPECT_TRUE(write());
  EXPECT_THAT(causes(), IsEmpty());
}

TEST_F(CausesTest, AFullQuotaOfTheRootIsNoFullVolume) {
  put("/v1/quota?path=/", R"({"bytes": 100})");
  EXPECT_THAT(causes(), ElementsAre(HasSubstr("the quota of / is used up: 100 of 100 bytes")));
}

TEST_F(CausesTest, WhoMayNot) {
  ASSERT_TRUE(volume_->ns().setattr({}, {.id = team_, .set = {.mode = 0750}}));
  EXPECT_THAT(causes("path=/team/f&user=ann"),
              testing::Contains(HasSubstr("ann does not get here: /team may not be searched; its mode is 0750")));
  EXPECT_EQ(first("path=/team/f&user=ann")["parameters"]["list"], false);
  EXPECT_THAT(causes("path=/team&user=ann"),
              ElementsAre(HasSubstr("ann may not list or search or change or remove here")));
  ASSERT_TRUE(volume_->ns().setattr({}, {.id = team_, .set = {.mode = 0755}}));
  EXPECT_THAT(causes("path=/team/f&user=ann"), ElementsAre(HasSubstr("ann may not write here")));
  put("/v1/acl?path=/team", R"({"acl": "D::1000:w\nA::EVERYONE@:rwax"})");
  EXPECT_THAT(causes("path=/team&user=ann"),
              ElementsAre(HasSubstr("ann may not change here: entry 1 of its access control list denies it: D::1000:w"),
                          HasSubstr("ann may not remove here: no entry of its access control list allows it")));
}

TEST_F(CausesTest, AClientThatNoExportLetsInOrOnlyToRead) {
  const char* const rules =
      R"({"clients": [{"network": "10.0.0.0/24", "read_only": true}, {"network": "10.0.0.0/16"}]})";
  ASSERT_EQ(call(Method::kPatch, "/v1/exports/team", rules).status, 200u);
  EXPECT_THAT(causes("path=/team&client=10.0.1.1"), IsEmpty());
  EXPECT_THAT(causes("path=/team&client=10.0.0.7"),
              ElementsAre(HasSubstr("the client 10.0.0.7 changes nothing through the export team: the first rule that "
                                    "fits it, 10.0.0.0/24, is read-only")));
  EXPECT_THAT(causes("path=/team&client=192.0.2.1"),
              ElementsAre(HasSubstr("the client 192.0.2.1 is refused by the export team: it has no rule for it")));
  EXPECT_EQ(get("/v1/explain?path=/team&client=10.0.0.0/8").status, 400u);
  EXPECT_EQ(get("/v1/explain?path=/team&client=here").status, 400u);
}

TEST(Causes, DamageOfAFileAndBelowADirectory) {
  const std::vector<core::DamagedRange> found{{core::FileId{7}, "/a/f", 0, 4096},
                                              {core::FileId{8}, "/a/g", 1, 1},
                                              {core::FileId{9}, "/ab", 5, 1},
                                              {core::FileId{10}, "", 5, 1}};
  const auto causes = [&](const std::string& path) {
    Json list = Json::array();
    add_damage(list, path, found);
    std::vector<std::string> sentences;
    for (const Json& cause : list) sentences.push_back(cause["what"]);
    return sentences;
  };
  EXPECT_THAT(causes("/a/f"),
              ElementsAre("its content is damaged: bytes 0 to 4096 do not match their checksum; reading them fails"));
  EXPECT_THAT(causes("/a"), ElementsAre(HasSubstr("in 2 ranges of bytes")));
  EXPECT_THAT(causes("/"), ElementsAre(HasSubstr("in 3 ranges of bytes")));
  EXPECT_THAT(causes("/b"), IsEmpty());
  Json list = Json::array();
  add_damage(list, "/a/g", found);
  EXPECT_EQ(list[0]["parameters"], (Json{{"offset", 1}, {"length", 1}}));
}

TEST(Causes, RequestsThatWaitAndTheLimitsThatThereAre) {
  Json qos_class{{"target", "/team"}, {"use", {{"waiting", 0}}}, {"limits", Json::object()}};
  for (const char* const name : {"read_bytes", "write_bytes", "read_ops", "write_ops", "metadata_ops"})
    qos_class["limits"][name] = nullptr;
  const auto list = [&] {
    Json causes = Json::array();
    add_qos_class(causes, qos_class);
    return causes;
  };
  EXPECT_EQ(list(), Json::array());
  qos_class["use"]["waiting"] = 1;
  EXPECT_THAT(list()[0]["what"].get<std::string>(),
              HasSubstr("1 request waits now, because a limit of /team or above it is reached"));
  EXPECT_EQ(list()[0]["parameters"]["limits"], Json::array());
  qos_class["use"]["waiting"] = 2;
  qos_class["limits"]["read_bytes"] = 1000;
  qos_class["limits"]["metadata_ops"] = 10;
  EXPECT_THAT(list()[0]["what"].get<std::string>(), HasSubstr("2 requests wait now"));
  EXPECT_EQ(list()[0]["parameters"],
            (Json{{"target", "/team"}, {"requests", 2}, {"limits", {"read_bytes", "metadata_ops"}}}));
}

TEST(Causes, ADataDirectoryThatDoesNotWork) {
  Json list = Json::array();
  add_disk(list, {.path = "/disks/1", .ok = true, .problem = {}, .space = {}});
  EXPECT_TRUE(list.empty());
  add_disk(list, {.path = "/disks/2", .ok = false, .problem = "Input/output error", .space = {}});
  ASSERT_EQ(list.size(), 1u);
  EXPECT_THAT(list[0]["what"].get<std::string>(),
              HasSubstr("the data directory /disks/2 does not work (Input/output error)"));
}

}  // namespace
}  // namespace stoa::admin
