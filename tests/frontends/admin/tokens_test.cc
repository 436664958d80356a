#include "frontends/admin/authentication.h"
#include "frontends/admin/time_text.h"
#include "tests/frontends/admin/admin_fixture.h"

namespace stoa::admin {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;

TEST_F(AdminTest, ATokenIsMadeShownOnceUsedListedAndRemoved) {
  make_directory("team");
  const Answer made =
      call(Method::kPost, "/v1/tokens",
           R"({"name": "ann", "role": "owner", "directory": "/team", "expires": "2261-12-31T23:59:59Z"})");
  ASSERT_EQ(made.status, 201u) << made.text;
  const std::string secret = made.json["token"];
  EXPECT_THAT(secret, MatchesRegex("stoa_[0-9a-f]{64}"));
  EXPECT_EQ(made.json["expires"], "2261-12-31T23:59:59Z");
  EXPECT_EQ(made.json["last_used"], Json());
  EXPECT_EQ(call_as(secret, Method::kGet, "/v1/session").json,
            (Json{{"name", "ann"}, {"role", "owner"}, {"directory", "/team"}}));
  EXPECT_EQ(get("/v1/session").json, (Json{{"name", "admin.token"}, {"role", "admin"}, {"directory", Json()}}));

  const Answer list = get("/v1/tokens");
  ASSERT_EQ(list.json["tokens"].size(), 1u);
  EXPECT_EQ(list.json["tokens"][0]["directory"], "/team");
  EXPECT_TRUE(list.json["tokens"][0]["last_used"].is_string());
  EXPECT_EQ(list.text.find(secret), std::string::npos);
  EXPECT_FALSE(list.json["tokens"][0].contains("token"));

  EXPECT_EQ(call(Method::kPost, "/v1/tokens", R"({"name": "ann", "role": "admin"})").status, 409u);
  EXPECT_EQ(call(Method::kDelete, "/v1/tokens/ann").status, 204u);
  EXPECT_EQ(call(Method::kDelete, "/v1/tokens/ann").status, 404u);
  const Answer gone = call_as(secret, Method::kGet, "/v1/session");
  EXPECT_EQ(gone.status, 401u);
  EXPECT_THAT(gone.message(), HasSubstr("not known"));
}

TEST_F(AdminTest, BadTokensAreNotMade) {
  make_file(core::kRootId, "f", 1);
  make_directory("team");
  for (const char* body :
       {R"({"role": "admin"})", R"({"name": "a"})", R"({"name": "a", "role": "root"})",
        R"({"name": "a b", "role": "admin"})", R"({"name": "admin.token", "role": "admin"})",
        R"({"name": "a", "role": "owner"})", R"({"name": "a", "role": "admin", "directory": "/team"})",
        R"({"name": "a", "role": "owner", "directory": "/f"})",
        R"({"name": "a", "role": "admin", "expires": "tomorrow"})",
        R"({"name": "a", "role": "admin", "expires": "2020-01-01T00:00:00Z"})",
        R"({"name": "a", "role": "admin", "expires": "2261-02-30T00:00:00Z"})",
        R"({"name": "a", "role": "admin", "token": "mine"})"}) {
    EXPECT_EQ(call(Method::kPost, "/v1/tokens", body).status, 400u) << body;
  }
  EXPECT_EQ(call(Method::kPost, "/v1/tokens", R"({"name": "a", "role": "owner", "directory": "/none"})").status, 404u);
  EXPECT_EQ(get("/v1/tokens").json["tokens"], Json::array());
}

TEST_F(AdminTest, AnExpiredTokenIsRefusedByName) {
  ASSERT_TRUE(volume_->registry().add_token(
      {.name = "old", .role = core::Role::kAdmin, .hash = hash_of("s"), .created = {1}, .expires = {2}}));
  const Answer answer = call_as("s", Method::kGet, "/v1/session");
  EXPECT_EQ(answer.status, 401u);
  EXPECT_THAT(answer.message(), HasSubstr("'old' has expired at 1970-01-01T00:00:00"));
}

TEST_F(AdminTest, WhatIsRefusedOrChangesIsRecordedWithoutSecrets) {
  std::vector<AdminAction> actions;
  service_->record_action = [&](const Request&, const AdminAction& action) { actions.push_back(action); };
  const auto last = [&] { return actions.empty() ? AdminAction{} : actions.back(); };
  make_directory("team");
  const Answer made = call(Method::kPost, "/v1/tokens", R"({"name": "eve", "role": "auditor"})");
  const std::string secret = made.json["token"];
  ASSERT_EQ(actions.size(), 1u);
  EXPECT_EQ(last().token, "admin.token");
  EXPECT_EQ(last().role, "admin");
  EXPECT_EQ(last().route, "add_token");
  EXPECT_EQ(last().method, "POST");
  EXPECT_EQ(last().target, "eve");
  EXPECT_EQ(last().client, "127.0.0.1");
  EXPECT_EQ(last().status, 201u);
  EXPECT_EQ(last().result, "ok");
  EXPECT_GT(last().time.ns, 0);

  EXPECT_EQ(get("/v1/status").status, 200u);
  EXPECT_EQ(actions.size(), 1u);
  call_as(secret, Method::kPut, "/v1/quota?path=/team", R"({"bytes": 1})");
  ASSERT_EQ(actions.size(), 2u);
  EXPECT_EQ(last().token, "eve");
  EXPECT_EQ(last().target, "/team");
  EXPECT_EQ(last().status, 403u);
  EXPECT_EQ(last().result, "access");
  call(Method::kPut, "/v1/quota?path=/team", "no json");
  EXPECT_EQ(last().result, "invalid");

  call_as("stoa_wrong", Method::kGet, "/v1/quota?path=/team");
  ASSERT_EQ(actions.size(), 4u);
  EXPECT_EQ(last().status, 401u);
  EXPECT_EQ(last().token, "");
  EXPECT_EQ(last().target, "");
  // Reading secrets is recorded; the secrets are not.
  ASSERT_EQ(call(Method::kPost, "/v1/users",
                 R"({"name": "ann", "create_key": true, "access_key": "AKEY", "secret_key": "very-secret-key"})")
                .status,
            201u);
  EXPECT_EQ(get("/v1/users/ann/keys").status, 200u);
  EXPECT_EQ(last().route, "list_keys");
  for (const AdminAction& action : actions) {
    for (const std::string& text : {action.token, action.target, action.client, action.result}) {
      EXPECT_EQ(text.find("secret"), std::string::npos) << text;
      EXPECT_EQ(text.find("stoa_"), std::string::npos) << text;
    }
  }
}

TEST(TimeTextTest, WhatIsWrittenIsRead) {
  for (const char* text : {"1970-01-01T00:00:00Z", "2026-11-22T11:20:00Z", "2261-12-31T23:59:59.999999999Z",
                           "1678-01-01T00:00:00.000000001Z", "2024-02-29T12:00:00Z"}) {
    const auto time = parse_time(text);
    ASSERT_TRUE(time) << text;
    EXPECT_EQ(time_text(*time), text);
  }
  EXPECT_EQ(parse_time("2026-11-22T11:20:00.5Z")->nanoseconds(), 500'000'000u);
  for (const char* text : {"",
                           "Z",
                           "2026",
                           "2026-11-22",
                           "2026-11-22T11:20:00",
                           "2026-11-22T11:20:00+01:00",
                           "2026-13-22T11:20:00Z",
                           "2025-02-29T11:20:00Z",
                           "2026-11-22T24:00:00Z",
                           "2026-11-22T11:60:00Z",
                           "2026-11-22T11:20:60Z",
                           "2026-11-22T11:20:00.Z",
                           "2026-11-22T11:20:00.1234567890Z",
                           "2026-11-22 11:20:00Z",
                           "2026-1-22T11:20:00Z",
                           "-026-11-22T11:20:00Z",
                           "2262-01-01T00:00:00Z",
                           "1677-01-01T00:00:00Z",
                           "2026-11-22T11:20:00Zx",
                           "2026-+1-22T11:20:00Z"}) {
    EXPECT_FALSE(parse_time(text)) << text;
  }
}

}  // namespace
}  // namespace stoa::admin
