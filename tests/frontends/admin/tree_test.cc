#include "tests/frontends/admin/admin_fixture.h"

namespace stoa::admin {
namespace {

TEST_F(AdminTest, DirectoriesAreListedInPages) {
  const core::FileId dir = make_directory("dir");
  for (int i = 0; i < 25; ++i) make_file(dir, "file" + std::to_string(i), 10);
  std::set<std::string> names;
  std::string target = "/v1/directory?path=/dir&limit=10";
  int pages = 0;
  for (bool end = false; !end; ++pages) {
    const Answer page = get(target);
    ASSERT_EQ(page.status, 200u) << page.text;
    for (const Json& entry : page.json["entries"]) {
      EXPECT_EQ(entry["size"], 10);
      EXPECT_TRUE(names.insert(entry["name"]).second);
    }
    end = page.json["end"];
    if (!end) target = "/v1/directory?path=/dir&limit=10&cookie=" + page.json["next_cookie"].get<std::string>();
    ASSERT_LT(pages, 10);
  }
  EXPECT_EQ(names.size(), 25u);
  EXPECT_EQ(get("/v1/directory?path=/dir/file1").code(), "not_directory");
  EXPECT_EQ(get("/v1/directory?path=/dir&limit=0").status, 400u);
  EXPECT_EQ(get("/v1/directory?path=/dir&limit=x").status, 400u);
  EXPECT_EQ(get("/v1/directory?path=/dir&colour=red").status, 400u);
  EXPECT_EQ(get("/v1/directory").status, 400u);
}

TEST_F(AdminTest, NamesThatAreNoUtf8ComeWholeInBase64) {
  make_file(core::kRootId, "bad\xff", 1);
  make_file(core::kRootId, "good\xc3\xa4", 1);
  const Answer answer = get("/v1/directory?path=/");
  ASSERT_EQ(answer.status, 200u);
  for (const Json& entry : answer.json["entries"]) {
    if (entry.contains("name_base64")) {
      EXPECT_EQ(entry["name_base64"], "YmFk/w==");
    } else {
      EXPECT_EQ(entry["name"], "good\xc3\xa4");
    }
  }
  EXPECT_EQ(get("/v1/stat?path=/bad%FF").status, 200u);
}

TEST_F(AdminTest, StatTellsAttributesAndTheTargetOfALink) {
  ASSERT_TRUE(volume_->ns().symlink({}, {.parent = core::kRootId, .name = "link", .target = "some/where"}));
  const Answer answer = get("/v1/stat?path=/link");
  EXPECT_EQ(answer.json["type"], "symlink");
  EXPECT_EQ(answer.json["target"], "some/where");
  EXPECT_EQ(get("/v1/stat?path=/none").status, 404u);
  EXPECT_EQ(get("/v1/stat?path=/link/x").message(), "a part of '/link/x' is no directory");
  EXPECT_EQ(get("/v1/stat").status, 400u);
}

TEST_F(AdminTest, ADirectoryIsSealedAndUnsealed) {
  const core::FileId dir = make_directory("dir");
  make_file(dir, "a", 1);
  EXPECT_EQ(get("/v1/sealed?path=/dir/a").json["sealed"], false);
  const Answer sealed = call_json(Method::kPut, "/v1/sealed?path=/dir", Json{{"sealed", true}});
  ASSERT_EQ(sealed.status, 200u) << sealed.text;
  EXPECT_EQ(sealed.json["own"], true);
  const Answer below = get("/v1/sealed?path=/dir/a");
  EXPECT_EQ(below.json["sealed_by"], "/dir");
  EXPECT_EQ(below.json["own"], false);
  EXPECT_EQ(get("/v1/explain?path=/dir/a").json["causes"][0]["code"], "sealed");
  const Answer refused = call_json(Method::kPut, "/v1/acl?path=/dir/a", Json{{"acl", "A::EVERYONE@:r"}});
  EXPECT_EQ(refused.status, 403u) << refused.text;
  EXPECT_EQ(refused.code(), "read_only");
  EXPECT_EQ(refused.json["error"]["cause"], "sealed");
  EXPECT_EQ(call_json(Method::kPut, "/v1/sealed?path=/dir/a", Json{{"sealed", true}}).code(), "not_directory");
  EXPECT_EQ(call_json(Method::kPut, "/v1/sealed?path=/dir", Json::object()).status, 400u);
  EXPECT_EQ(call_json(Method::kPut, "/v1/sealed?path=/none", Json{{"sealed", true}}).status, 404u);
  EXPECT_EQ(call_json(Method::kPut, "/v1/sealed?path=/dir", Json{{"sealed", false}}).json["sealed_by"], nullptr);
  EXPECT_TRUE(volume_->ns().unlink({}, {dir, "a"}));
}

TEST_F(AdminTest, AnAclIsShownAndSetAsText) {
  const core::FileId dir = make_directory("dir");
  make_file(dir, "a", 1);
  ASSERT_TRUE(volume_->registry().add_user({.name = "ann", .uid = 1815, .gid = 1815}));
  const Answer before = get("/v1/acl?path=/dir/a");
  ASSERT_EQ(before.status, 200u) << before.text;
  EXPECT_EQ(before.json["stored"], false);
  const Answer set = call_json(Method::kPut, "/v1/acl?path=/dir/a", {{"acl", "A::ann:rw\nD::S-1-5-7:r\n"}});
  ASSERT_EQ(set.status, 200u) << set.text;
  EXPECT_EQ(set.json["acl"], "A::1815:rw\nD::S-1-5-7:r\n");
  EXPECT_EQ(set.json["stored"], true);
  EXPECT_EQ(set.json["mode"], "0000");
  ASSERT_TRUE(volume_->registry().add_group({.name = "staff", .gid = 515}));
  EXPECT_EQ(call_json(Method::kPut, "/v1/acl?path=/dir/a", {{"acl", "A:g:staff:rx"}}).json["acl"], "A:g:515:rx\n");
  EXPECT_EQ(call_json(Method::kPut, "/v1/acl?path=/dir", {{"chmod", "replace"}}).json["chmod"], "replace");
  const auto refused = [&](const std::string& path, const Json& body) {
    const Answer answer = call_json(Method::kPut, "/v1/acl?path=" + path, body);
    EXPECT_EQ(answer.status, 400u) << answer.text;
    return answer.message();
  };
  EXPECT_EQ(refused("/dir/a", Json::object()), "give one of 'acl' and 'chmod', or both");
  EXPECT_THAT(refused("/dir/a", {{"acl", "\nA::bob:r"}}), testing::HasSubstr("line 2: 'bob'"));
  EXPECT_THAT(refused("/dir/a", {{"chmod", "sometimes"}}), testing::HasSubstr("chmod"));
  EXPECT_EQ(call_json(Method::kPut, "/v1/acl?path=/dir/a", {{"chmod", "keep"}}).code(), "not_directory");
  EXPECT_THAT(refused("/dir/a", {{"acl", "A:f:1:r"}}), testing::HasSubstr("only directories"));
  EXPECT_EQ(get("/v1/acl?path=/none").status, 404u);
}

TEST_F(AdminTest, UsageIsThatOfTheTreeAndOfEachChild) {
  const core::FileId dir = make_directory("dir");
  make_file(dir, "a", 100);
  make_directory("empty");
  const Answer answer = get("/v1/usage?path=/&children=true");
  ASSERT_EQ(answer.status, 200u) << answer.text;
  EXPECT_EQ(answer.json["usage"], Json({{"bytes", 100}, {"files", 1}, {"directories", 2}}));
  ASSERT_EQ(answer.json["children"].size(), 2u);
  EXPECT_EQ(answer.json["end"], true);
  EXPECT_EQ(get("/v1/usage?path=/dir/a").json["usage"]["bytes"], 100);
  EXPECT_FALSE(get("/v1/usage?path=/").json.contains("children"));
  EXPECT_EQ(get("/v1/usage?path=/&children=maybe").status, 400u);
}

TEST_F(AdminTest, QuotasAreSetListedEnforcedAndRemoved) {
  const core::FileId dir = make_directory("dir");
  EXPECT_EQ(get("/v1/quota?path=/dir").json["limits"]["bytes"], Json());
  const Answer set = call(Method::kPut, "/v1/quota?path=/dir", R"({"bytes": 1000, "files": null})");
  ASSERT_EQ(set.status, 200u) << set.text;
  EXPECT_EQ(set.json["limits"], Json({{"bytes", 1000},
                                      {"files", nullptr},
                                      {"soft_bytes", nullptr},
                                      {"soft_files", nullptr},
                                      {"grace_seconds", 604800},
                                      {"count", {"recycled", "open_but_deleted", "multipart"}}}));
  EXPECT_EQ(set.json["counted"],
            Json({{"live", true}, {"open_but_deleted", true}, {"recycled", nullptr}, {"multipart", true}}));
  const Answer list = get("/v1/quotas");
  ASSERT_EQ(list.json["quotas"].size(), 1u);
  EXPECT_EQ(list.json["quotas"][0]["path"], "/dir");
  const auto file = volume_->ns().create({}, {.parent = dir, .name = "a"});
  const std::vector<std::byte> much(1001);
  const std::span<const std::byte> one(much);
  EXPECT_EQ(volume_->ns().write({}, {.id = file->attr.id, .offset = 0, .data = {&one, 1}}).error().code, Errc::kQuota);

  EXPECT_EQ(call(Method::kPut, "/v1/quota?path=/dir", R"({})").status, 400u);
  EXPECT_EQ(call(Method::kPut, "/v1/quota?path=/dir", R"({"bytes": -1})").status, 400u);
  EXPECT_EQ(call(Method::kPut, "/v1/quota?path=/dir/a", R"({"bytes": 1})").code(), "not_directory");
  EXPECT_EQ(call(Method::kPut, "/v1/quota?path=/none", R"({"bytes": 1})").status, 404u);
  EXPECT_EQ(call(Method::kDelete, "/v1/quota?path=/dir").status, 204u);
  EXPECT_EQ(call(Method::kDelete, "/v1/quota?path=/dir").status, 404u);
  EXPECT_TRUE(get("/v1/quotas").json["quotas"].empty());
}

TEST_F(AdminTest, QuotasThatAreFullOrNearlySoAreListed) {
  // Used: 0, 10 and so on to 100 of 100 bytes.
  for (int i = 0; i <= 10; ++i) {
    const std::string name = "dir" + std::to_string(i);
    make_file(make_directory(name), "f", static_cast<std::size_t>(i) * 10);
    ASSERT_EQ(call(Method::kPut, "/v1/quota?path=/" + name, R"({"bytes": 100, "files": 100})").status, 200u);
  }
  make_file(make_directory("soft"), "f", 11);
  make_directory("nothing");
  ASSERT_EQ(call(Method::kPut, "/v1/quota?path=/soft", R"({"bytes": 100, "soft_bytes": 10})").status, 200u);
  ASSERT_EQ(call(Method::kPut, "/v1/quota?path=/nothing", R"({"files": 0})").status, 200u);
  const auto paths = [](const Json& reply) {
    std::vector<std::string> found;
    for (const Json& quota : reply["quotas"]) found.push_back(quota["path"]);
    return found;
  };
  using testing::ElementsAre;
  EXPECT_EQ(get("/v1/quotas").json["quotas"].size(), 13u);
  const Answer nearly = get("/v1/quotas?filled=90");
  ASSERT_EQ(nearly.status, 200u) << nearly.text;
  EXPECT_THAT(paths(nearly.json), ElementsAre("/dir9", "/dir10", "/soft", "/nothing"));
  EXPECT_EQ(nearly.json["truncated"], false);
  EXPECT_THAT(paths(get("/v1/quotas?filled=100").json), ElementsAre("/dir10", "/soft", "/nothing"));
  // Page by page: none twice, none left out.
  std::vector<std::string> all;
  std::string after = "0";
  for (bool more = true; more;) {
    const Json page = get("/v1/quotas?filled=50&limit=2&after=" + after).json;
    ASSERT_LE(page["quotas"].size(), 2u);
    for (const std::string& path : paths(page)) all.push_back(path);
    more = page["truncated"];
    if (more) after = page["next_after"];
  }
  EXPECT_THAT(all, ElementsAre("/dir5", "/dir6", "/dir7", "/dir8", "/dir9", "/dir10", "/soft", "/nothing"));
  EXPECT_EQ(get("/v1/quotas?filled=101").status, 400u);
  EXPECT_EQ(get("/v1/quotas?filled=most").status, 400u);
}

TEST_F(AdminTest, FilledQuotasOfUsersAndGroupsAreListedBehindTheirDirectory) {
  ASSERT_TRUE(volume_->registry().add_user({.name = "ann", .uid = 1000, .gid = 1000}));
  const auto write_as = [&](core::FileId dir, std::uint32_t uid, std::string_view name) {
    core::OpContext ctx;
    ctx.cred = {.uid = uid, .gid = uid};
    ASSERT_TRUE(volume_->ns().create(ctx, {.parent = dir, .name = name}));
  };
  for (const std::string name : {"a", "b", "c"}) {
    const core::FileId dir = make_directory(name);
    ASSERT_TRUE(volume_->ns().setattr({}, {.id = dir, .set = {.mode = 0777}}));
    ASSERT_EQ(call(Method::kPut, "/v1/quota?path=/" + name, R"({"files": 6})").status, 200u);
    if (name == "b") continue;
    ASSERT_EQ(call(Method::kPut, "/v1/quota/owners?path=/" + name, R"({"counted": true})").status, 200u);
    for (const std::uint32_t uid : {1000u, 1001u, 1002u}) write_as(dir, uid, "f" + std::to_string(uid));
    ASSERT_EQ(call(Method::kPut, "/v1/quota?path=/" + name + "&user=ann", R"({"files": 1})").status, 200u);
    ASSERT_EQ(call(Method::kPut, "/v1/quota?path=/" + name + "&user=1001", R"({"files": 9})").status, 200u);
    ASSERT_EQ(call(Method::kPut, "/v1/quota?path=/" + name + "&user=1002", R"({"soft_files": 0})").status, 200u);
    ASSERT_EQ(call(Method::kPut, "/v1/quota?path=/" + name + "&group=1002", R"({"files": 1})").status, 200u);
  }
  ASSERT_EQ(call(Method::kPut, "/v1/quota?path=/c", R"({"files": 3})").status, 200u);
  const auto names = [](const Json& quotas) {
    std::vector<std::string> found;
    for (const Json& quota : quotas) {
      const std::string who = quota.contains("uid")   ? " u" + quota["uid"].dump()
                              : quota.contains("gid") ? " g" + quota["gid"].dump()
                                                      : "";
      found.push_back(quota["path"].get<std::string>() + who);
    }
    return found;
  };
  const std::vector<std::string> expected{"/a u1000", "/a u1002", "/a g1002", "/c", "/c u1000", "/c u1002", "/c g1002"};
  const Json all = get("/v1/quotas?filled=90").json;
  EXPECT_EQ(names(all["quotas"]), expected);
  EXPECT_EQ(all["truncated"], false);
  EXPECT_EQ(all["quotas"][0]["user"], "ann");
  EXPECT_EQ(all["quotas"][0]["limits"]["files"], 1);
  EXPECT_EQ(all["quotas"][0]["usage_counted"]["files"], 1);
  EXPECT_EQ(all["quotas"][0]["directory_id"], get("/v1/quotas").json["quotas"][0]["directory_id"]);
  EXPECT_EQ(all["quotas"][2]["group"], Json());
  for (const int limit : {1, 2, 3, 7}) {
    Json found = Json::array();
    std::string after = "0";
    for (bool more = true; more;) {
      const Answer page = get("/v1/quotas?filled=90&limit=" + std::to_string(limit) + "&after=" + after);
      ASSERT_EQ(page.status, 200u) << page.text;
      ASSERT_LE(page.json["quotas"].size(), static_cast<std::size_t>(limit));
      for (const Json& quota : page.json["quotas"]) found.push_back(quota);
      more = page.json["truncated"];
      if (more) after = page.json["next_after"];
    }
    EXPECT_EQ(found, all["quotas"]) << limit;
  }
  // A place in a directory that is gone, or does not count any more.
  const std::string after = get("/v1/quotas?filled=90&limit=1").json["next_after"];
  EXPECT_THAT(after, testing::HasSubstr("/user:1000"));
  ASSERT_EQ(call(Method::kPut, "/v1/quota/owners?path=/a", R"({"counted": false})").status, 200u);
  EXPECT_EQ(names(get("/v1/quotas?filled=90&after=" + after).json["quotas"]),
            (std::vector<std::string>{"/c", "/c u1000", "/c u1002", "/c g1002"}));
  EXPECT_EQ(names(get("/v1/quotas?filled=90&after=1000000/user:7").json["quotas"]), std::vector<std::string>{});
  for (const char* const wrong : {"x", "1/x", "1/user:", "1/user:x", "", "-1", "1/user:7/"}) {
    EXPECT_EQ(get(std::string("/v1/quotas?filled=90&after=") + wrong).status, 400u) << wrong;
  }
  EXPECT_EQ(get("/v1/quotas?limit=0").status, 400u);
}

TEST_F(AdminTest, SoftLimitsAndThoseOfChildrenAreSetAndShown) {
  const core::FileId dir = make_directory("dir");
  const Answer set =
      call(Method::kPut, "/v1/quota?path=/dir", R"({"soft_bytes": 10, "files": 5, "grace_seconds": 60})");
  ASSERT_EQ(set.status, 200u) << set.text;
  EXPECT_EQ(set.json["limits"]["soft_bytes"], 10);
  EXPECT_EQ(set.json["limits"]["grace_seconds"], 60);
  EXPECT_EQ(set.json["over_soft_since"], Json({{"bytes", nullptr}, {"files", nullptr}}));
  EXPECT_EQ(set.json["children"], Json());
  EXPECT_EQ(call(Method::kPut, "/v1/quota?path=/dir", R"({"bytes": 9, "soft_bytes": 10})").status, 400u);
  EXPECT_EQ(call(Method::kPut, "/v1/quota?path=/dir", R"({"grace_seconds": 60})").status, 400u);
  EXPECT_EQ(call(Method::kDelete, "/v1/quota?path=/dir&children=true").status, 404u);
  const Answer children = call(Method::kPut, "/v1/quota?path=/dir&children=true", R"({"bytes": 7})");
  EXPECT_EQ(children.json["children"]["bytes"], 7);
  EXPECT_EQ(children.json["limits"]["bytes"], Json());
  ASSERT_TRUE(volume_->ns().mkdir({}, {.parent = dir, .name = "child"}));
  EXPECT_EQ(get("/v1/quota?path=/dir/child").json["limits"]["bytes"], 7);
  EXPECT_EQ(get("/v1/quotas").json["quotas"].size(), 2u);
  EXPECT_EQ(call(Method::kDelete, "/v1/quota?path=/dir&children=true").status, 204u);
  EXPECT_EQ(get("/v1/quota?path=/dir").json["children"], Json());
  EXPECT_EQ(get("/v1/quota?path=/dir").json["limits"]["files"], 5);
  EXPECT_EQ(call(Method::kPut, "/v1/quota?path=/dir&children=true&user=1", R"({"bytes": 7})").status, 400u);
}

TEST_F(AdminTest, UsersAndGroupsOfADirectoryAreCountedAndLimited) {
  const core::FileId dir = make_directory("dir");
  EXPECT_EQ(call(Method::kPut, "/v1/quota?path=/dir&user=1234", R"({"bytes": 7})").code(), "not_supported");
  ASSERT_EQ(call(Method::kPut, "/v1/quota/owners?path=/dir", R"({"counted": true})").status, 200u);
  EXPECT_EQ(get("/v1/quota?path=/dir").json["counts_owners"], true);
  EXPECT_EQ(call(Method::kPut, "/v1/quota?path=/dir&user=nobody-here", R"({"bytes": 7})").status, 404u);
  const Answer set = call(Method::kPut, "/v1/quota?path=/dir&user=1234", R"({"bytes": 7})");
  ASSERT_EQ(set.status, 200u) << set.text;
  EXPECT_EQ(set.json["uid"], 1234);
  EXPECT_EQ(set.json["user"], Json());
  EXPECT_EQ(set.json["limits"]["bytes"], 7);
  ASSERT_TRUE(volume_->ns().create({}, {.parent = dir, .name = "a", .set = {.uid = 1234, .gid = 77}}));
  EXPECT_EQ(get("/v1/quota?path=/dir&group=77").json["usage"]["files"], 1);
  const Answer list = get("/v1/quota/owners?path=/dir&limit=1");
  ASSERT_EQ(list.json["owners"].size(), 1u) << list.text;
  EXPECT_EQ(list.json["owners"][0]["uid"], 1234);
  const std::string next = list.json["next_after"].get<std::string>();
  EXPECT_EQ(get("/v1/quota/owners?path=/dir&after=" + next).json["owners"][0]["gid"], 77);
  EXPECT_EQ(get("/v1/quota/owners?path=/dir&after=bogus").status, 400u);
  EXPECT_EQ(call(Method::kDelete, "/v1/quota?path=/dir&user=1234").status, 204u);
  EXPECT_EQ(call(Method::kDelete, "/v1/quota?path=/dir&user=1234").status, 404u);
  EXPECT_EQ(get("/v1/quota?path=/dir").json["counting"], Json());
  EXPECT_EQ(call(Method::kPut, "/v1/quota/owners?path=/dir", R"({})").status, 400u);
}

TEST_F(AdminTest, UsersOfAFullDirectoryAreCountedBehindTheAnswer) {
  ASSERT_TRUE(
      volume_->ns().create({}, {.parent = make_directory("full"), .name = "x", .set = {.uid = 1234, .gid = 77}}));
  const Answer begun = call(Method::kPut, "/v1/quota/owners?path=/full", R"({"counted": true})");
  ASSERT_EQ(begun.status, 200u) << begun.text;
  EXPECT_EQ(begun.json["counts_owners"], true);
  EXPECT_EQ(begun.json["counting"]["looked_at"], 0);
  EXPECT_GT(begun.json["counting"]["in_all"], 2);
  EXPECT_TRUE(get("/v1/quotas").json["quotas"][0]["counting"].is_object());
  EXPECT_TRUE(get("/v1/quota/owners?path=/full").json["counting"].is_object());
  EXPECT_EQ(call(Method::kPut, "/v1/quota?path=/full&user=1234", R"({"files": 1})").status, 200u);
  EXPECT_TRUE(get("/v1/quota?path=/full&user=1234").json["counting"].is_object());
  while (!volume_->run_owner_count(1000).value()) continue;
  for (const char* path : {"/v1/quota?path=/full", "/v1/quota?path=/full&user=1234", "/v1/quota/owners?path=/full"}) {
    EXPECT_EQ(get(path).json["counting"], Json()) << path;
  }
  EXPECT_EQ(get("/v1/quota?path=/full&user=1234").json["usage"]["files"], 1);
}

}  // namespace
}  // namespace stoa::admin
