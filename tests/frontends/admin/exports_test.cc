#include "tests/frontends/admin/admin_fixture.h"

namespace stoa::admin {
namespace {

using testing::HasSubstr;

const Json kTeam{
    {"name", "team"}, {"doors", {"nfs", "s3"}}, {"create_directory", true}, {"clients", {{{"network", "10.0.0.0/8"}}}}};

Json with(Json base, const std::string& member, Json value) {
  base[member] = std::move(value);
  return base;
}

TEST_F(AdminTest, ACreatedExportIsListedShownChangedAndRemoved) {
  const Answer made = call_json(Method::kPost, "/v1/exports", kTeam);
  ASSERT_EQ(made.status, 201u) << made.text;
  EXPECT_EQ(made.json["path"], "/team");
  EXPECT_EQ(made.json["clients"][0], Json({{"network", "10.0.0.0/8"},
                                           {"read_only", false},
                                           {"squash", "root"},
                                           {"anonymous_uid", 65534},
                                           {"anonymous_gid", 65534}}));
  EXPECT_EQ(get("/v1/exports").json["exports"].size(), 1u);
  EXPECT_EQ(get("/v1/exports/team").json["doors"], Json({"nfs", "s3"}));
  EXPECT_EQ(get("/v1/stat?path=/team").json["type"], "directory");

  const Answer changed =
      call(Method::kPatch, "/v1/exports/team", R"({"read_only": true, "name": "crew", "doors": ["s3"]})");
  ASSERT_EQ(changed.status, 200u) << changed.text;
  EXPECT_EQ(get("/v1/exports/team").status, 404u);
  EXPECT_EQ(get("/v1/exports/crew").json["read_only"], true);
  EXPECT_EQ(get("/v1/exports/crew").json["path"], "/team");

  EXPECT_EQ(call(Method::kDelete, "/v1/exports/crew").status, 204u);
  EXPECT_EQ(call(Method::kDelete, "/v1/exports/crew").status, 404u);
  EXPECT_EQ(get("/v1/stat?path=/team").status, 200u);
}

TEST_F(AdminTest, ExportMakesMissingDirectoriesOnlyWhenAsked) {
  Json wanted = with(with(kTeam, "path", "/a/b/c/"), "create_directory", false);
  EXPECT_EQ(call_json(Method::kPost, "/v1/exports", wanted).status, 404u);
  wanted["create_directory"] = true;
  wanted["mode"] = 0700;
  wanted["uid"] = 7;
  ASSERT_EQ(call_json(Method::kPost, "/v1/exports", wanted).status, 201u);
  EXPECT_EQ(get("/v1/exports/team").json["path"], "/a/b/c");
  EXPECT_EQ(get("/v1/stat?path=/a/b/c").json["mode"], "0700");
  EXPECT_EQ(get("/v1/stat?path=/a/b/c").json["uid"], 7);
  EXPECT_EQ(get("/v1/stat?path=/a/b").json["uid"], 0);
}

TEST_F(AdminTest, ARefusedExportLeavesNoDirectoryBehind) {
  EXPECT_EQ(call_json(Method::kPost, "/v1/exports", with(kTeam, "owner", "nobody")).status, 400u);
  EXPECT_EQ(call_json(Method::kPost, "/v1/exports", with(kTeam, "doors", {"smb"})).status, 400u);
  EXPECT_EQ(call_json(Method::kPost, "/v1/exports", with(kTeam, "surprise", 1)).status, 400u);
  EXPECT_EQ(get("/v1/stat?path=/team").status, 404u);
}

TEST_F(AdminTest, BadExportsAreRefusedWithTheReason) {
  const auto why = [&](const Json& body) {
    const Answer answer = call_json(Method::kPost, "/v1/exports", body);
    EXPECT_EQ(answer.status, 400u) << answer.text;
    return answer.message();
  };
  EXPECT_THAT(why(with(kTeam, "clients", Json::array())), HasSubstr("no client network"));
  EXPECT_THAT(why(with(kTeam, "clients", {{{"network", "10.0.0.1/8"}}})), HasSubstr("bits behind"));
  EXPECT_THAT(why(with(kTeam, "clients", {{{"network", "*"}, {"squash", "some"}}})), HasSubstr("none, root or all"));
  EXPECT_THAT(why(with(kTeam, "clients", {{{"netwrok", "*"}}})), HasSubstr("clients[0].network"));
  EXPECT_THAT(why(with(kTeam, "doors", Json::array())), HasSubstr("doors"));
  EXPECT_THAT(why(with(kTeam, "name", "")), HasSubstr("'name' is missing"));
  EXPECT_THAT(why(with(kTeam, "path", "/a/../b")), HasSubstr("'..'"));
  EXPECT_THAT(why(with(kTeam, "name", "Not_A_Bucket")), HasSubstr("lower-case"));
}

TEST_F(AdminTest, ATakenExportNameIsAConflict) {
  ASSERT_EQ(call_json(Method::kPost, "/v1/exports", kTeam).status, 201u);
  EXPECT_EQ(call_json(Method::kPost, "/v1/exports", kTeam).status, 409u);
}

TEST_F(AdminTest, AFileCannotBeExported) {
  make_file(core::kRootId, "team", 1);
  EXPECT_EQ(call_json(Method::kPost, "/v1/exports", kTeam).code(), "not_directory");
}

}  // namespace
}  // namespace stoa::admin
