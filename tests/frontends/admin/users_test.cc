#include "tests/frontends/admin/admin_fixture.h"

namespace stoa::admin {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST_F(AdminTest, AUserGetsFreeIdsAndAFreshKey) {
  const Answer ann = call(Method::kPost, "/v1/users", R"({"name": "ann", "create_key": true})");
  ASSERT_EQ(ann.status, 201u) << ann.text;
  EXPECT_EQ(ann.json["uid"], 1000);
  EXPECT_EQ(ann.json["gid"], 1000);
  EXPECT_EQ(ann.json["key"]["secret_key"].get<std::string>().size(), 40u);
  EXPECT_EQ(call(Method::kPost, "/v1/users", R"({"name": "bob"})").json["uid"], 1001);
  EXPECT_EQ(get("/v1/users").json["users"].size(), 2u);
  EXPECT_EQ(call(Method::kPost, "/v1/users", R"({"name": "bob"})").status, 409u);
}

// A number that is a group's would give the user the rights of that group, and the other way round.
TEST_F(AdminTest, UsersAndGroupsNeverGetEachOthersNumbers) {
  const auto user = [&](const std::string& body) { return call(Method::kPost, "/v1/users", body).json; };
  const auto group = [&](const std::string& body) { return call(Method::kPost, "/v1/groups", body).json; };
  EXPECT_EQ(group(R"({"name": "staff"})")["gid"], 1000);
  const Json ann = user(R"({"name": "ann", "groups": [1002]})");
  EXPECT_EQ(ann["uid"], 1001);
  EXPECT_EQ(ann["gid"], 1001);
  EXPECT_EQ(user(R"({"name": "bob", "gid": 1004})")["uid"], 1003);  // ann is in 1002
  EXPECT_EQ(group(R"({"name": "crew"})")["gid"], 1005);
  EXPECT_EQ(user(R"({"name": "cid"})")["uid"], 1006);
  // A requested uid is given, with a group of its own.
  const Json dan = user(R"({"name": "dan", "uid": 1000})"), eve = user(R"({"name": "eve", "uid": 1002})");
  EXPECT_EQ(dan["uid"], 1000);
  EXPECT_EQ(dan["gid"], 1007);
  EXPECT_EQ(eve["gid"], 1008);
  EXPECT_EQ(user(R"({"name": "fay", "uid": 2000})")["gid"], 2000);
  EXPECT_EQ(user(R"({"name": "fay2", "uid": 2000})")["gid"], 2000);              // the same one under another name
  EXPECT_EQ(user(R"({"name": "gus", "uid": 1000, "gid": 1000})")["gid"], 1000);  // by an explicit word
  // The number of a removed group is not reused while a user is in it.
  EXPECT_EQ(call(Method::kDelete, "/v1/users/cid").status, 204u);
  EXPECT_EQ(group(R"({"name": "team"})")["gid"], 1006);
}

TEST_F(AdminTest, SecretsAreShownOnlyWhereKeysAreAskedFor) {
  const std::string secret =
      call(Method::kPost, "/v1/users", R"({"name": "ann", "create_key": true})").json["key"]["secret_key"];
  EXPECT_THAT(get("/v1/users").text, Not(HasSubstr(secret)));
  EXPECT_THAT(get("/v1/users/ann").text, Not(HasSubstr(secret)));
  EXPECT_THAT(get("/v1/users/ann/keys").text, HasSubstr(secret));
}

TEST_F(AdminTest, IdsAndGroupsChange) {
  ASSERT_EQ(call(Method::kPost, "/v1/users", R"({"name": "ann", "uid": 5, "gid": 6, "groups": [7, 8]})").status, 201u);
  ASSERT_EQ(call(Method::kPatch, "/v1/users/ann", R"({"gid": 9})").status, 200u);
  const Json ann = get("/v1/users/ann").json;
  EXPECT_EQ(ann["uid"], 5);
  EXPECT_EQ(ann["gid"], 9);
  EXPECT_EQ(ann["groups"], Json({7, 8}));
  EXPECT_EQ(call(Method::kPatch, "/v1/users/ann", R"({"uid": -1})").status, 400u);
  EXPECT_EQ(call(Method::kPatch, "/v1/users/bob", R"({"uid": 1})").status, 404u);
  EXPECT_EQ(call(Method::kDelete, "/v1/users/ann").status, 204u);
  EXPECT_EQ(get("/v1/users/ann").status, 404u);
}

TEST_F(AdminTest, KeysAreAddedDisabledAndRemoved) {
  ASSERT_EQ(call(Method::kPost, "/v1/users", R"({"name": "ann"})").status, 201u);
  EXPECT_EQ(call(Method::kPost, "/v1/users/ann/keys", R"({"access_key": "MINE", "secret_key": "0123456789"})").status,
            201u);
  EXPECT_EQ(call(Method::kPost, "/v1/users/ann/keys", R"({"access_key": "MINE", "secret_key": "0123456789"})").status,
            400u);
  EXPECT_EQ(call(Method::kPost, "/v1/users/ann/keys", R"({"access_key": "HALF"})").status, 400u);
  EXPECT_EQ(call(Method::kPost, "/v1/users/ann/keys", R"({})").status, 201u);
  EXPECT_EQ(get("/v1/users/ann/keys").json["keys"].size(), 2u);
  EXPECT_EQ(call(Method::kPatch, "/v1/users/ann/keys/MINE", R"({"enabled": false})").status, 200u);
  EXPECT_EQ(call(Method::kPatch, "/v1/users/ann/keys/MINE", R"({})").status, 400u);
  EXPECT_EQ(volume_->registry().snapshot()->find_key("MINE").first, nullptr);
  EXPECT_EQ(call(Method::kDelete, "/v1/users/ann/keys/MINE").status, 204u);
  EXPECT_EQ(call(Method::kDelete, "/v1/users/ann/keys/MINE").status, 404u);
  EXPECT_EQ(call(Method::kPost, "/v1/users/bob/keys", R"({})").status, 404u);
}

// Growing lists come in pages; each name once, despite additions and removals between two of them.
TEST_F(AdminTest, UsersGroupsExportsAndTokensComeInPages) {
  make_directory("team");
  for (const char* const name : {"eve", "bob", "ann", "dan", "cat"}) {
    const std::string quoted = std::string(R"({"name": ")") + name + '"';
    ASSERT_EQ(call(Method::kPost, "/v1/users", quoted + "}").status, 201u);
    ASSERT_EQ(call(Method::kPost, "/v1/groups", quoted + "}").status, 201u);
    ASSERT_EQ(call(Method::kPost, "/v1/exports",
                   quoted + R"(, "path": "/team", "protocols": ["nfs"], "clients": [{"network": "10.0.0.0/8"}]})")
                  .status,
              201u);
    ASSERT_EQ(call(Method::kPost, "/v1/tokens", quoted + R"(, "role": "auditor"})").status, 201u);
  }
  for (const std::string member : {"users", "groups", "exports", "tokens"}) {
    const std::string path = "/v1/" + member;
    const Json first = get(path + "?limit=2").json;
    ASSERT_EQ(first[member].size(), 2u) << member;
    EXPECT_EQ(first[member][0]["name"], "ann");
    EXPECT_EQ(first["truncated"], true);
    EXPECT_EQ(first["next_after"], "bob");
    ASSERT_EQ(call(Method::kDelete, path + "/bob").status, 204u);  // begin of the next page
    const Json second = get(path + "?limit=3&after=bob").json;
    ASSERT_EQ(second[member].size(), 3u);
    EXPECT_EQ(second[member][0]["name"], "cat");
    EXPECT_EQ(second["truncated"], false);
    EXPECT_FALSE(second.contains("next_after"));
    EXPECT_EQ(get(path + "?after=zoe").json[member].size(), 0u);
    EXPECT_EQ(get(path).json[member].size(), 4u);
    for (const char* const wrong :
         {"?limit=0", "?limit=1001", "?limit=x", "?limit=", "?limit=99999999999999999999", "?page=1"}) {
      EXPECT_EQ(get(path + wrong).status, 400u) << path << wrong;
    }
  }
}

// Answers are bounded by default.
TEST_F(AdminTest, TenThousandClientsComeInPagesOfAThousand) {
  for (std::uint64_t id = 10'000; id > 0; --id)
    clients_.push_back({.id = id, .protocol = "nfs", .version = "nfs4.1", .address = "10.0.0.1", .name = "n"});
  std::uint64_t seen = 0;
  std::string after;
  for (int pages = 1;; ++pages) {
    const Json page = get("/v1/clients" + after).json;
    ASSERT_LE(page["clients"].size(), 1000u);
    for (const Json& client : page["clients"]) EXPECT_EQ(client["id"], std::to_string(++seen));
    if (page["truncated"] == false) {
      EXPECT_EQ(pages, 10);
      break;
    }
    after = "?after=" + page["next_after"].get<std::string>();
  }
  EXPECT_EQ(seen, 10'000u);
}

}  // namespace
}  // namespace stoa::admin
