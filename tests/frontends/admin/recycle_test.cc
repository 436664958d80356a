#include "tests/frontends/admin/admin_fixture.h"

namespace stoa::admin {
namespace {

class RecycleRoutesTest : public AdminTest {
 protected:
  void SetUp() override {
    dir_ = make_directory("dir");
    ASSERT_EQ(call(Method::kPut, "/v1/recycle/policy?path=/dir", "{}").status, 200u);
  }
  void remove(std::string_view name) { ASSERT_TRUE(volume_->ns().unlink({}, {.parent = dir_, .name = name})); }
  core::FileId dir_{};
};

TEST_F(RecycleRoutesTest, APolicyIsSetInheritedAndRemoved) {
  EXPECT_EQ(
      get("/v1/recycle/policy?path=/").json,
      Json::parse(
          R"({"path":"/","set_on":null,"own":false,"enabled":false,"days":14,"bytes_max":null,"restore":"owner","counted":true,
                            "used":{"bytes":0,"items":0}})"));
  const Answer set = call(Method::kPut, "/v1/recycle/policy?path=/dir",
                          R"({"enabled":true,"days":3,"bytes_max":1000,"restore":"admin","counted":false})");
  ASSERT_EQ(set.status, 200u) << set.text;
  EXPECT_EQ(set.json["own"], true);
  EXPECT_EQ(set.json["bytes_max"], 1000);
  ASSERT_TRUE(volume_->ns().mkdir({}, {.parent = dir_, .name = "sub"}));
  const Json inherited = get("/v1/recycle/policy?path=/dir/sub").json;
  EXPECT_EQ(inherited["own"], false);
  EXPECT_EQ(inherited["set_on"], "/dir");
  EXPECT_EQ(inherited["restore"], "admin");
  EXPECT_EQ(inherited["counted"], false);
  EXPECT_EQ(call(Method::kDelete, "/v1/recycle/policy?path=/dir/sub").status, 404u);
  EXPECT_EQ(call(Method::kDelete, "/v1/recycle/policy?path=/dir").status, 204u);
  EXPECT_EQ(get("/v1/recycle/policy?path=/dir/sub").json["set_on"], Json());
}

TEST_F(RecycleRoutesTest, AQuotaSaysWhetherWhatIsKeptCounts) {
  const auto recycled = [&](const char* path) {
    return get("/v1/quota?path=" + std::string(path)).json["counted"]["recycled"];
  };
  ASSERT_TRUE(volume_->ns().mkdir({}, {.parent = dir_, .name = "sub"}));
  EXPECT_EQ(recycled("/"), Json());
  EXPECT_EQ(recycled("/dir"), true);
  EXPECT_EQ(recycled("/dir/sub"), false);  // it goes to the bin of /dir
  ASSERT_EQ(call(Method::kPut, "/v1/recycle/policy?path=/dir/sub", "{}").status, 200u);
  EXPECT_EQ(recycled("/dir/sub"), true);
  ASSERT_EQ(call(Method::kPut, "/v1/recycle/policy?path=/dir", R"({"counted":false})").status, 200u);
  EXPECT_EQ(recycled("/dir"), false);
  ASSERT_EQ(call(Method::kPut, "/v1/recycle/policy?path=/dir", R"({"enabled":false})").status, 200u);
  EXPECT_EQ(recycled("/dir"), Json());
}

TEST_F(RecycleRoutesTest, AQuotaDeclaresWhatItCounts) {
  const Json recycled_only = Json::array({"recycled"});
  make_file(dir_, "a", 60);
  make_file(dir_, "b", 40);
  remove("b");
  const Answer set = call(Method::kPut, "/v1/quota?path=/dir", R"({"bytes": 100, "count": ["open_but_deleted"]})");
  ASSERT_EQ(set.status, 200u) << set.text;
  EXPECT_EQ(set.json["limits"]["count"], Json::array({"open_but_deleted"}));
  EXPECT_EQ(set.json["counted"]["recycled"], false);
  EXPECT_EQ(set.json["counted"]["open_but_deleted"], true);
  EXPECT_EQ(set.json["usage"]["bytes"], 100);
  EXPECT_EQ(set.json["usage_counted"], (Json{{"bytes", 60}, {"files", 1}, {"directories", 0}}));
  EXPECT_EQ(set.json["usage_by_class"]["recycled"], (Json{{"bytes", 40}, {"files", 1}, {"directories", 0}}));
  EXPECT_EQ(set.json["usage_by_class"]["open_but_deleted"]["bytes"], 0);
  EXPECT_EQ(set.json["counted"]["multipart"], false);
  EXPECT_EQ(set.json["usage_by_class"]["multipart"]["bytes"], 0);
  EXPECT_EQ(get("/v1/quotas").json["quotas"][0]["usage_counted"]["bytes"], 60);
  EXPECT_EQ(get("/v1/usage?path=/dir").json["usage_counted"]["bytes"], 60);
  // Above, everything counts; there, too, by class.
  EXPECT_EQ(get("/v1/quota?path=/").json["usage_by_class"]["recycled"]["bytes"], 40);
  EXPECT_EQ(get("/v1/quota?path=/").json["limits"]["count"],
            Json::array({"recycled", "open_but_deleted", "multipart"}));
  EXPECT_EQ(get("/v1/explain?path=/dir").json["quotas"][0]["full"], false);
  EXPECT_EQ(get("/v1/explain?path=/dir").json["quotas"][0]["usage_counted"]["bytes"], 60);

  // Bad ones change nothing.
  for (const char* body :
       {R"({"bytes": 1, "count": ["live"]})", R"({"bytes": 1, "count": ["recycled", "snapshots"]})",
        R"({"bytes": 1, "count": "recycled"})", R"({"bytes": 1, "count": [1]})", R"({"count": ["recycled"]})"}) {
    const Answer refused = call(Method::kPut, "/v1/quota?path=/dir", body);
    EXPECT_EQ(refused.status, 400u) << body << refused.text;
  }
  EXPECT_EQ(get("/v1/quota?path=/dir").json["limits"], set.json["limits"]);

  // The same applies to users and groups, which cannot change it.
  ASSERT_EQ(call(Method::kPut, "/v1/quota/owners?path=/dir", R"({"counted": true})").status, 200u);
  EXPECT_EQ(call(Method::kPut, "/v1/quota?path=/dir&user=7", R"({"bytes": 5, "count": ["recycled"]})").status, 400u);
  const Answer user = call(Method::kPut, "/v1/quota?path=/dir&user=7", R"({"bytes": 5})");
  EXPECT_FALSE(user.json["limits"].contains("count"));
  EXPECT_EQ(user.json["counted"]["recycled"], false);
  EXPECT_EQ(user.json["usage_counted"]["bytes"], 0);

  // With its own limits gone, it goes on for them; without them, it goes, too.
  ASSERT_EQ(call(Method::kDelete, "/v1/quota?path=/dir").status, 204u);
  EXPECT_EQ(get("/v1/quota?path=/dir").json["counted"]["recycled"], false);
  EXPECT_EQ(call(Method::kDelete, "/v1/quota?path=/dir").status, 404u);
  ASSERT_EQ(call(Method::kPut, "/v1/quota?path=/dir", R"({"count": ["recycled"]})").status, 200u);
  EXPECT_EQ(get("/v1/quota?path=/dir").json["limits"]["count"], recycled_only);
  ASSERT_EQ(call(Method::kPut, "/v1/quota/owners?path=/dir", R"({"counted": false})").status, 200u);
  EXPECT_EQ(get("/v1/quotas").json["quotas"].size(), 1u);
  EXPECT_EQ(call(Method::kDelete, "/v1/quota?path=/dir").status, 204u);
  EXPECT_TRUE(get("/v1/quotas").json["quotas"].empty());
  const Answer children =
      call(Method::kPut, "/v1/quota?path=/dir&children=true", R"({"bytes": 5, "count": ["recycled"]})");
  EXPECT_EQ(children.json["children"]["count"], recycled_only);
  EXPECT_EQ(call(Method::kDelete, "/v1/quota?path=/dir&children=true").status, 204u);
  EXPECT_EQ(get("/v1/quota?path=/dir").json["children"], Json());
}

TEST_F(RecycleRoutesTest, WhatWasDeletedIsListedRestoredAndPurged) {
  for (const char* name : {"a", "b", "c"}) {
    make_file(dir_, name, 7);
    remove(name);
  }
  const Answer page = get("/v1/recycle?path=/&limit=2");
  ASSERT_EQ(page.status, 200u) << page.text;
  ASSERT_EQ(page.json["items"].size(), 2u);
  const Json& item = page.json["items"][0];
  EXPECT_EQ(item["path"], "/dir/a");
  EXPECT_EQ(item["name"], "a");
  EXPECT_EQ(item["type"], "file");
  EXPECT_EQ(item["bytes"], 7);
  EXPECT_EQ(item["protocol"], "internal");
  EXPECT_EQ(item["deleted_by"], (Json{{"uid", 0}, {"user", nullptr}}));
  const Answer rest = get("/v1/recycle?path=/&after=" + page.json["next"].get<std::string>());
  ASSERT_EQ(rest.json["items"].size(), 1u);
  EXPECT_EQ(rest.json["next"], Json());
  EXPECT_EQ(get("/v1/recycle/policy?path=/dir").json["used"], (Json{{"bytes", 21}, {"items", 3}}));

  const Json id = item["id"];
  EXPECT_EQ(call_json(Method::kPost, "/v1/recycle/restore", {{"id", id}}).json, (Json{{"path", "/dir/a"}}));
  EXPECT_EQ(call_json(Method::kPost, "/v1/recycle/restore", {{"id", id}}).status, 404u);
  const Json second = page.json["items"][1]["id"];
  EXPECT_EQ(call_json(Method::kPost, "/v1/recycle/restore", {{"id", second}, {"to", "/dir/a"}}).status, 409u);
  EXPECT_EQ(call_json(Method::kPost, "/v1/recycle/restore", {{"id", second}, {"to", "x"}}).message(),
            "'x' must be a path of the volume, from its root on");
  EXPECT_EQ(call_json(Method::kPost, "/v1/recycle/restore", {{"id", second}, {"to", "/none/x"}}).message(),
            "there is no '/none' in the volume");
  EXPECT_EQ(call_json(Method::kPost, "/v1/recycle/restore", {{"id", second}, {"to", "/dir/a/x"}}).message(),
            "a part of '/dir/a/x' is no directory");
  EXPECT_EQ(call_json(Method::kPost, "/v1/recycle/restore", {{"id", second}, {"to", "/dir/new"}}).json["path"],
            "/dir/new");
  remove("new");
  EXPECT_EQ(
      call_json(Method::kPost, "/v1/recycle/purge", {{"path", "/dir"}, {"older_than_seconds", 1000}}).json["removed"],
      0);
  EXPECT_EQ(call_json(Method::kPost, "/v1/recycle/purge", {{"path", "/dir"}, {"ids", {rest.json["items"][0]["id"]}}})
                .json["removed"],
            1);
  EXPECT_EQ(call_json(Method::kPost, "/v1/recycle/purge", {{"path", "/"}}).json["removed"], 1);
  EXPECT_TRUE(get("/v1/recycle?path=/").json["items"].empty());
}

TEST_F(RecycleRoutesTest, WhatMakesNoSenseIsRefused) {
  make_file(dir_, "file", 1);
  EXPECT_EQ(get("/v1/recycle").status, 400u);
  EXPECT_EQ(get("/v1/recycle?path=/none").status, 404u);
  EXPECT_EQ(get("/v1/recycle?path=/dir/file").code(), "not_directory");
  EXPECT_EQ(get("/v1/recycle?path=/&limit=0").status, 400u);
  EXPECT_EQ(get("/v1/recycle?path=/&before=1").status, 400u);
  EXPECT_EQ(call(Method::kPost, "/v1/recycle/restore", "{}").status, 400u);
  EXPECT_EQ(call(Method::kPost, "/v1/recycle/restore", R"({"id":"x"})").status, 400u);
  EXPECT_EQ(call(Method::kPost, "/v1/recycle/restore", R"({"id":"1-2"})").status, 404u);
  EXPECT_EQ(call(Method::kPost, "/v1/recycle/purge", "{}").status, 400u);
  EXPECT_EQ(call(Method::kPost, "/v1/recycle/purge", R"({"path":"/","ids":[]})").status, 400u);
  EXPECT_EQ(call(Method::kPut, "/v1/recycle/policy?path=/dir", R"({"restore":"all"})").status, 400u);
  EXPECT_EQ(call(Method::kPut, "/v1/recycle/policy?path=/dir", R"({"days":40000})").status, 400u);
  EXPECT_EQ(call(Method::kPut, "/v1/recycle/policy?path=/dir", R"({"on":true})").status, 400u);
  EXPECT_EQ(call(Method::kPut, "/v1/recycle/policy?path=/dir/file", "{}").code(), "not_directory");
}

}  // namespace
}  // namespace stoa::admin
