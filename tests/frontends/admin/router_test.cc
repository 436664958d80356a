#include "frontends/admin/http_status.h"
#include "tests/frontends/admin/admin_fixture.h"

namespace stoa::admin {
namespace {

using testing::HasSubstr;

TEST_F(AdminTest, WithoutATokenOnlyWhatIsOpenIsAnswered) {
  for (const Route& route : routes()) {
    for (const std::string header :
         {"", "Bearer", "Bearer ", "Bearer wrong", "Bearer secretx", "Basic secret", "secret"}) {
      Request request{.method = route.method, .path = std::string(route.pattern), .authorization = header};
      request.client = "unix";  // without delay for wrong tokens
      const Answer answer = send(request);
      if (route.access == Access::kOpen) {
        EXPECT_NE(answer.status, 401u) << route.pattern;  // 404 for the console, which these tests do without
      } else {
        EXPECT_EQ(answer.status, 401u) << route.pattern;
        EXPECT_EQ(answer.code(), "unauthorised");
      }
    }
  }
}

TEST_F(AdminTest, MetricsNeedNoTokenFromThisMachine) {
  Request request{.method = Method::kGet, .path = "/metrics"};
  EXPECT_EQ(send(request).status, 401u);
  request.local = true;
  EXPECT_EQ(send(request).status, 200u);
  // The first answer is counted by the time of the second.
  EXPECT_THAT(send(request).text, HasSubstr("stoa_admin_requests_total{route=\"metrics\",outcome=\"refused\"} 1"));
}

TEST_F(AdminTest, UnknownPathsAndMethodsAreToldApart) {
  EXPECT_EQ(get("/v1/nothing").status, 404u);
  EXPECT_EQ(get("/").status, 404u);
  EXPECT_EQ(get("").status, 404u);
  EXPECT_EQ(get("/v1/exports/a/b").status, 404u);
  Request request{.method = Method::kDelete, .path = "/v1/exports", .authorization = "Bearer secret"};
  const Reply reply = dispatch(*service_, request);
  EXPECT_EQ(reply.status, 405u);
  EXPECT_EQ(reply.allow, "GET, POST");
}

TEST_F(AdminTest, AnEncodedSlashBelongsToTheName) {
  const Answer answer = get("/v1/exports/a%2Fb");
  EXPECT_EQ(answer.status, 404u);
  EXPECT_THAT(answer.message(), HasSubstr("'a/b'"));
}

TEST_F(AdminTest, StatusNamesProtocolsVolumeAndFolders) {
  const Answer answer = get("/v1/status");
  ASSERT_EQ(answer.status, 200u) << answer.text;
  EXPECT_EQ(answer.json["version"], "1.2.3");
  EXPECT_EQ(answer.json["healthy"], true);
  EXPECT_EQ(answer.json["protocols"][0]["address"], "127.0.0.1:1");
  EXPECT_EQ(answer.json["volume"]["name"], "test");
  EXPECT_EQ(get("/v1/version").json["version"], "1.2.3");
  EXPECT_EQ(get("/v1/volume").json["id"].get<std::string>().size(), 16u);
  EXPECT_EQ(get("/healthz").text, "ok\n");
}

TEST_F(AdminTest, ACheckRunsInTheBackgroundAndReports) {
  EXPECT_EQ(get("/v1/check").json["state"], "idle");
  EXPECT_EQ(call(Method::kPost, "/v1/check", R"({"read_data": 1})").status, 400u);
  ASSERT_EQ(call(Method::kPost, "/v1/check", R"({"read_data": true})").status, 202u);
  Answer answer = get("/v1/check");
  while (answer.json["state"] == "running") {
    std::this_thread::yield();
    answer = get("/v1/check");
  }
  EXPECT_EQ(answer.json["state"], "done") << answer.text;
  EXPECT_EQ(answer.json["report"]["ok"], true) << answer.text;
  EXPECT_EQ(answer.json["read_data"], true);
}

TEST(HttpStatusTest, EveryErrorHasAStatusOfItsKind) {
  for (std::uint16_t code = kErrcFirst; code <= kErrcLast; ++code) {
    const unsigned status = http_status(static_cast<Errc>(code));
    EXPECT_GE(status, 400u);
    EXPECT_LT(status, 600u);
  }
  EXPECT_EQ(http_status(Errc::kNotFound), 404u);
  EXPECT_EQ(http_status(Errc::kExists), 409u);
  EXPECT_EQ(http_status(Errc::kInvalid), 400u);
  EXPECT_EQ(http_status(Errc::kBusy), 503u);
}

TEST(PercentDecodeTest, BrokenEscapesStayAsTheyAre) {
  EXPECT_EQ(percent_decode("a%20b%2F%2f"), "a b//");
  EXPECT_EQ(percent_decode("%"), "%");
  EXPECT_EQ(percent_decode("%4"), "%4");
  EXPECT_EQ(percent_decode("%zz%41"), "%zzA");
}

}  // namespace
}  // namespace stoa::admin
