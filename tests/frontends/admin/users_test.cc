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

}  // namespace
}  // namespace stoa::admin
