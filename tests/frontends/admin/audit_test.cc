// The routes of audit over a log that only records the requests.
#include "core/api/journal_cursor.h"
#include "tests/frontends/admin/admin_fixture.h"

namespace stoa::admin {
namespace {

using testing::HasSubstr;

class ToyLog final : public core::AuditLog {
 public:
  explicit ToyLog(core::Registry& registry) : registry_(registry) {}
  Status set_policy(const core::AuditPolicy& policy) override { return registry_.set_audit_policy(policy); }
  Status remove_policy(core::FileId directory) override { return registry_.remove_audit_policy(directory); }
  Status catch_up() override { return behind ? Status(fail(Errc::kTimeout, "the audit log is behind")) : Status(); }
  Result<core::AuditLines> query(const core::AuditQuery& query) override {
    asked = query;
    return core::AuditLines{
        {R"({"sequence":18446744073709551615,"operation":"create","path":"/a","result":"ok","previous":"0","hash":"1"})"},
        42};
  }
  Result<core::AuditVerdict> verify() override { return verdict; }
  Result<std::string> report(const std::string& day) override {
    if (day == "2026-11-22") return std::string(R"({"day":"2026-11-22"})");
    return fail(Errc::kNotFound, "there is no audit log of " + day);
  }
  core::AuditQuery asked;
  core::AuditVerdict verdict{.records = 3, .days = 1};
  bool behind = false;

 private:
  core::Registry& registry_;
};

class AuditRoutesTest : public AdminTest {
 protected:
  AuditRoutesTest() { service_->audit = &log_; }
  ToyLog log_{volume_->registry()};
};

TEST_F(AuditRoutesTest, PoliciesAreOfTheNearestDirectory) {
  const core::FileId a = make_directory("a");
  ASSERT_TRUE(volume_->ns().mkdir({}, {.parent = a, .name = "b"}));
  Answer answer = get("/v1/audit/policy?path=/a/b");
  EXPECT_EQ(answer.status, 200u);
  EXPECT_TRUE(answer.json["set_on"].is_null());
  EXPECT_EQ(answer.json["classes"], Json::array());
  answer = call_json(Method::kPut, "/v1/audit/policy?path=/a", {{"classes", {"admin", "write", "denied"}}});
  EXPECT_EQ(answer.status, 200u) << answer.text;
  EXPECT_EQ(answer.json["classes"], Json({"write", "denied", "admin"}));
  answer = get("/v1/audit/policy?path=/a/b");
  EXPECT_EQ(answer.json["set_on"], "/a");
  EXPECT_EQ(answer.json["path"], "/a/b");
  EXPECT_EQ(call_json(Method::kPut, "/v1/audit/policy?path=/a/b", {{"classes", Json::array()}}).json["set_on"], "/a/b");
  EXPECT_EQ(call(Method::kDelete, "/v1/audit/policy?path=/a/b").status, 204u);
  EXPECT_EQ(call(Method::kDelete, "/v1/audit/policy?path=/a/b").status, 404u);
  EXPECT_EQ(get("/v1/audit/policy?path=/a/b").json["set_on"], "/a");
}

TEST_F(AuditRoutesTest, AllPoliciesAreListedInPagesButThoseOfDirectoriesThatAreGone) {
  EXPECT_EQ(get("/v1/audit/policies").json, (Json{{"policies", Json::array()}, {"truncated", false}}));
  make_directory("a");
  make_directory("gone");
  make_directory("z");
  for (const char* path : {"/z", "/gone", "/a"}) {
    ASSERT_EQ(call_json(Method::kPut, std::string("/v1/audit/policy?path=") + path, {{"classes", {"write"}}}).status,
              200u);
  }
  ASSERT_EQ(call_json(Method::kPut, "/v1/audit/policy?path=/a", {{"classes", Json::array()}}).status, 200u);
  ASSERT_TRUE(volume_->ns().rmdir({}, {.parent = core::kRootId, .name = "gone"}));
  EXPECT_EQ(get("/v1/audit/policies").json["policies"],
            (Json{{{"path", "/a"}, {"classes", Json::array()}}, {{"path", "/z"}, {"classes", {"write"}}}}));

  // Page by page: the one of the directory that is gone takes its place in a page.
  std::vector<std::string> seen;
  std::string after = "0";
  for (int pages = 1;; ++pages) {
    const Answer page = get("/v1/audit/policies?limit=1&after=" + after);
    ASSERT_EQ(page.status, 200u) << page.text;
    for (const Json& policy : page.json["policies"]) seen.push_back(policy["path"]);
    if (page.json["truncated"] == false) {
      EXPECT_EQ(pages, 3);
      break;
    }
    after = page.json["next_after"];
  }
  EXPECT_EQ(seen, (std::vector<std::string>{"/a", "/z"}));
  EXPECT_EQ(get("/v1/audit/policies?limit=0").status, 400u);
  EXPECT_EQ(get("/v1/audit/policies?after=a").status, 400u);
  EXPECT_EQ(get("/v1/audit/policies?path=/a").status, 400u);
}

TEST_F(AuditRoutesTest, WrongPoliciesAreRefused) {
  const core::FileId a = make_directory("a");
  make_file(a, "f", 3);
  EXPECT_THAT(call_json(Method::kPut, "/v1/audit/policy?path=/a", {{"classes", {"wirte"}}}).message(),
              HasSubstr("not 'wirte'"));
  EXPECT_EQ(call_json(Method::kPut, "/v1/audit/policy?path=/a", Json::object()).status, 400u);
  EXPECT_EQ(call_json(Method::kPut, "/v1/audit/policy?path=/a", {{"classes", "write"}}).status, 400u);
  EXPECT_EQ(call_json(Method::kPut, "/v1/audit/policy?path=/a", {{"classes", {"write"}}, {"more", 1}}).status, 400u);
  EXPECT_EQ(call_json(Method::kPut, "/v1/audit/policy?path=/a/f", {{"classes", {"write"}}}).status, 400u);
  EXPECT_EQ(call_json(Method::kPut, "/v1/audit/policy?path=/none", {{"classes", {"write"}}}).status, 404u);
  EXPECT_EQ(call_json(Method::kPut, "/v1/audit/policy", {{"classes", {"write"}}}).status, 400u);
  EXPECT_FALSE(volume_->registry().audited());
}

TEST_F(AuditRoutesTest, QueriesAreTyped) {
  Answer answer =
      get("/v1/audit?path=/"
          "a&user=ann&operation=create&protocol=nfs&result=ok&from=2026-11-22&to=2026-11-22T10:00:00Z&limit=5&after=" +
          core::encode_cursor({}, 7));
  ASSERT_EQ(answer.status, 200u) << answer.text;
  EXPECT_EQ(log_.asked.path, "/a");
  EXPECT_EQ(log_.asked.user, "ann");
  EXPECT_EQ(log_.asked.limit, 5u);
  EXPECT_EQ(log_.asked.after, 7u);
  EXPECT_EQ(log_.asked.to->ns - log_.asked.from->ns, 36'000'000'000'000);
  EXPECT_EQ(answer.json["next"], core::encode_cursor({}, 42));
  EXPECT_EQ(answer.json["records"][0]["cursor"], core::encode_cursor({}, ~std::uint64_t{0}));
  EXPECT_EQ(get("/v1/audit?after=7").status, 400u);
  EXPECT_FALSE(answer.json["records"][0].contains("hash"));
  EXPECT_EQ(get("/v1/audit?from=yesterday").status, 400u);
  EXPECT_EQ(get("/v1/audit?limit=0").status, 400u);
  EXPECT_EQ(get("/v1/audit?limit=10001").status, 400u);
  EXPECT_EQ(get("/v1/audit?who=ann").status, 400u);
  for (const char* known : {"operation=delete", "operation=refused", "operation=checkpoint", "operation=mknod",
                            "protocol=s3", "protocol=admin"}) {
    EXPECT_EQ(get("/v1/audit?" + std::string(known)).status, 200u) << known;
  }
  for (const char* wrong : {"operation=deleted", "operation=", "protocol=ftp", "protocol=NFS"}) {
    EXPECT_THAT(get("/v1/audit?" + std::string(wrong)).message(), HasSubstr("must be one of")) << wrong;
  }
  log_.behind = true;
  EXPECT_EQ(get("/v1/audit").code(), "timeout");
}

TEST_F(AuditRoutesTest, ReportAndVerify) {
  EXPECT_EQ(get("/v1/audit/report?day=2026-11-22").json["day"], "2026-11-22");
  EXPECT_EQ(get("/v1/audit/report?day=2001-01-01").status, 404u);
  Answer answer = call(Method::kPost, "/v1/audit/verify");
  EXPECT_EQ(answer.json["ok"], true);
  EXPECT_TRUE(answer.json["problem"].is_null());
  log_.verdict.problem = "2026-11-22.jsonl line 7: changed";
  answer = call(Method::kPost, "/v1/audit/verify");
  EXPECT_EQ(answer.status, 200u);
  EXPECT_EQ(answer.json["ok"], false);
  EXPECT_EQ(answer.json["problem"], "2026-11-22.jsonl line 7: changed");
  service_->audit = nullptr;
  EXPECT_EQ(get("/v1/audit").code(), "not_supported");
}

TEST_F(AuditRoutesTest, ChangesByAdministratorsGoToTheJournal) {
  make_directory("a");
  const std::uint64_t begin = *volume_->journal().newest();
  ASSERT_EQ(call_json(Method::kPost, "/v1/users", {{"name", "ann"}}).status, 201u);
  EXPECT_EQ(*volume_->journal().newest(), begin) << "nobody wants it";
  ASSERT_EQ(call_json(Method::kPut, "/v1/audit/policy?path=/", {{"classes", {"admin"}}}).status, 200u);
  ASSERT_EQ(call_json(Method::kPut, "/v1/quota?path=/a", {{"files", 5}}).status, 200u);
  ASSERT_EQ(call_json(Method::kPost, "/v1/users", {{"name", "ann"}}).status, 409u);
  Request stranger{.method = Method::kDelete, .path = "/v1/users/ann"};
  ASSERT_EQ(send(stranger).status, 401u);
  const auto page = volume_->journal().read(begin, 100);
  ASSERT_TRUE(page);
  std::vector<std::string> said;
  for (const core::JournalRecord& record : page->records) {
    if (record.kind == core::ChangeKind::kAdmin)
      said.push_back(record.name + (record.result ? " " + std::string(to_string(*record.result)) : ""));
  }
  EXPECT_THAT(said, testing::ElementsAre("PUT /v1/audit/policy?path=/ by token admin.token",
                                         "PUT /v1/quota?path=/a by token admin.token",
                                         "POST /v1/users by token admin.token invalid", "DELETE /v1/users/ann access"));
}

}  // namespace
}  // namespace stoa::admin
