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
  for (const char* target : {"/team", "/other", "user:ann", "user:7", "door:nfs", "export:team"}) {
    ASSERT_EQ(call(Method::kPut, std::string("/v1/flow?target=") + target, R"({"read_bytes": 1000})").status, 200u);
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
    for (const Json& flow : reply["flows"]) found.push_back(flow["target"]);
    return found;
  };
  EXPECT_THAT(targets(plain.json), testing::UnorderedElementsAre("/team", "door:nfs", "export:team"));
  const Answer ann = get("/v1/explain?path=/team/f&user=ann");
  EXPECT_THAT(targets(ann.json), testing::UnorderedElementsAre("/team", "door:nfs", "export:team", "user:ann"));
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

}  // namespace
}  // namespace stoa::admin
