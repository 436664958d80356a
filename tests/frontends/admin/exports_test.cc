#include <algorithm>
#include <initializer_list>
#include <utility>

#include "tests/frontends/admin/admin_fixture.h"

namespace stoa::admin {
namespace {

using testing::HasSubstr;

const Json kTeam{{"name", "team"},
                 {"protocols", {"nfs", "s3"}},
                 {"create_directory", true},
                 {"clients", {{{"network", "10.0.0.0/8"}}}}};

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
  EXPECT_EQ(get("/v1/exports/team").json["protocols"], Json({"nfs", "s3"}));
  EXPECT_EQ(get("/v1/stat?path=/team").json["type"], "directory");

  const Answer changed =
      call(Method::kPatch, "/v1/exports/team", R"({"read_only": true, "name": "crew", "protocols": ["s3"]})");
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
  EXPECT_EQ(call_json(Method::kPost, "/v1/exports", with(kTeam, "protocols", {"smb"})).status, 400u);
  EXPECT_EQ(call_json(Method::kPost, "/v1/exports", with(kTeam, "surprise", 1)).status, 400u);
  // Checks made only by the registry.
  EXPECT_EQ(call_json(Method::kPost, "/v1/exports", with(with(kTeam, "name", "Not_A_Bucket"), "path", "/team")).status,
            400u);
  EXPECT_EQ(call_json(Method::kPost, "/v1/exports", with(kTeam, "security", {"sys", "sys"})).status, 400u);
  EXPECT_EQ(call_json(Method::kPost, "/v1/exports", with(kTeam, "security", {"krb5p"})).status, 400u);
  Json many = Json::array();
  for (int i = 0; i < 257; ++i) many.push_back({{"network", "10.0.0.0/8"}});
  EXPECT_EQ(call_json(Method::kPost, "/v1/exports", with(kTeam, "clients", many)).status, 400u);
  EXPECT_EQ(get("/v1/stat?path=/team").status, 404u);
}

// A failure behind all checks: here a quota lets in one directory only.
TEST_F(AdminTest, AnExportThatFailsOnTheWayTakesItsDirectoriesAlong) {
  make_directory("a");
  ASSERT_EQ(call(Method::kPut, "/v1/quota?path=/a", R"({"files": 2})").status, 200u);
  EXPECT_EQ(call_json(Method::kPost, "/v1/exports", with(kTeam, "path", "/a/b/c/d")).code(), "quota");
  EXPECT_EQ(get("/v1/stat?path=/a/b").status, 404u);
  EXPECT_EQ(get("/v1/exports").json["exports"].size(), 0u);
  EXPECT_EQ(call_json(Method::kPost, "/v1/exports", with(kTeam, "path", "/a/b/c")).status, 201u);
}

TEST_F(AdminTest, AnExportAsksForKerberosOnlyWhereThereIsSome) {
  ASSERT_EQ(call_json(Method::kPost, "/v1/exports", kTeam).status, 201u);
  const Answer refused =
      call(Method::kPatch, "/v1/exports/team", R"({"security": ["sys", "krb5p"], "read_only": true})");
  EXPECT_EQ(refused.status, 400u);
  EXPECT_THAT(refused.message(), HasSubstr("cannot ask for krb5p: this server has no keytab"));
  EXPECT_EQ(get("/v1/exports/team").json["read_only"], false);
  service_->kerberos = [] { return Status{}; };
  ASSERT_EQ(call(Method::kPatch, "/v1/exports/team", R"({"security": ["krb5p"]})").status, 200u);
  EXPECT_TRUE(get("/v1/status").json["warnings"].empty());

  // The keytab goes away: existing exports are shown, and other changes go on.
  service_->kerberos = [] { return Status(fail(Cause::kKeytabUnreadable, "/keytab")); };
  EXPECT_EQ(call(Method::kPatch, "/v1/exports/team", R"({"read_only": true})").status, 200u);
  EXPECT_THAT(
      get("/v1/status").json["warnings"][0].get<std::string>(),
      HasSubstr("through NFS to the export team: it takes Kerberos only, and the keytab /keytab of this server"));
  const Json causes = get("/v1/explain?path=/team").json["causes"];
  EXPECT_EQ(
      std::ranges::count(causes, "no_kerberos", [](const Json& cause) { return cause["code"].get<std::string>(); }), 1)
      << causes;
}

TEST_F(AdminTest, AnExportRequiresTlsOfNativeClientsOnlyWhereThereIsACertificate) {
  const Answer none = call_json(Method::kPost, "/v1/exports", with(kTeam, "native_tls", "required"));
  EXPECT_EQ(none.status, 400u);
  EXPECT_EQ(none.json["error"]["cause"], "native_tls_missing");
  EXPECT_EQ(get("/v1/stat?path=/team").status, 404u);
  ASSERT_EQ(call_json(Method::kPost, "/v1/exports", kTeam).status, 201u);
  EXPECT_EQ(get("/v1/exports/team").json["native_tls"], "offered");
  const Answer refused = call(Method::kPatch, "/v1/exports/team", R"({"native_tls": "required", "read_only": true})");
  EXPECT_EQ(refused.status, 400u);
  EXPECT_THAT(refused.message(), HasSubstr("cannot require TLS of native clients: this server has no certificate"));
  EXPECT_EQ(get("/v1/exports/team").json["read_only"], false);
  EXPECT_EQ(call(Method::kPatch, "/v1/exports/team", R"({"native_tls": "sometimes"})").status, 400u);
  service_->native_tls = true;
  ASSERT_EQ(call(Method::kPatch, "/v1/exports/team", R"({"native_tls": "required"})").status, 200u);
  EXPECT_EQ(get("/v1/exports/team").json["native_tls"], "required");

  // The certificate goes away: it may be taken back, and other changes go on.
  service_->native_tls = false;
  EXPECT_EQ(call(Method::kPatch, "/v1/exports/team", R"({"read_only": true})").status, 200u);
  EXPECT_EQ(get("/v1/exports/team").json["native_tls"], "required");
  ASSERT_EQ(call(Method::kPatch, "/v1/exports/team", R"({"native_tls": "offered"})").status, 200u);
  EXPECT_EQ(get("/v1/exports/team").json["native_tls"], "offered");
}

// A change of one member leaves every other unchanged.
TEST_F(AdminTest, AChangeOfAnExportChangesOnlyWhatItNames) {
  ASSERT_EQ(call(Method::kPost, "/v1/users", R"({"name": "ann"})").status, 201u);
  ASSERT_EQ(call_json(Method::kPost, "/v1/exports", with(with(kTeam, "read_only", true), "owner", "ann")).status, 201u);
  Json expected = get("/v1/exports/team").json;
  for (const auto& [member, value] : std::initializer_list<std::pair<const char*, Json>>{
           {"security", {"sys"}},
           {"owner", ""},
           {"protocols", {"nfs"}},
           {"clients", {{{"network", "192.0.2.0/24"}, {"read_only", true}}}},
           {"read_only", false},
           {"name", "crew"}}) {
    const std::string name = expected["name"].get<std::string>();
    const Answer changed = call_json(Method::kPatch, "/v1/exports/" + name, Json{{member, value}});
    ASSERT_EQ(changed.status, 200u) << changed.text;
    expected[member] = changed.json[member];
    EXPECT_EQ(changed.json, expected) << member;
  }
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
  EXPECT_THAT(why(with(kTeam, "protocols", Json::array())), HasSubstr("protocols"));
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
