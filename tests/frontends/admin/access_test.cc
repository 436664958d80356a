// Every route for every role, and attempts to cross the border of an owner's directory.
#include <set>

#include "frontends/admin/authentication.h"
#include "tests/frontends/admin/admin_fixture.h"

namespace stoa::admin {
namespace {

using core::Role;
using testing::HasSubstr;

constexpr Role kRoles[] = {Role::kOwner, Role::kAuditor, Role::kOperator, Role::kAdmin};

class AccessTest : public AdminTest {
 protected:
  AccessTest() : AdminTest({.requests_burst = 1e6}) {
    team_ = make_directory("team");
    sub_ = directory_in(team_, "sub");
    other_ = make_directory("other");
    for (const Role role : kRoles) make_token(std::string(to_string(role)), role);
  }

  void make_token(const std::string& name, Role role) {
    core::Token token{.name = name, .role = role, .directory = role == Role::kOwner ? team_ : core::kNoFile};
    token.hash = hash_of("secret of " + name);
    EXPECT_TRUE(volume_->registry().add_token(token));
  }
  core::FileId directory_in(core::FileId parent, const std::string& name) {
    const auto made = volume_->ns().mkdir({}, {.parent = parent, .name = name});
    EXPECT_TRUE(made);
    return made->attr.id;
  }

  Answer ask(Role role, Method method, const std::string& target, const std::string& body = {}) {
    return call_as("secret of " + std::string(to_string(role)), method, target, body);
  }
  unsigned status(Role role, Method method, const std::string& target, const std::string& body = {}) {
    return ask(role, method, target, body).status;
  }
  unsigned owner(Method method, const std::string& target, const std::string& body = {}) {
    return status(Role::kOwner, method, target, body);
  }

  core::FileId team_, sub_, other_;
};

// The first role that may use the route; for owners, at a place that is theirs.
Role first_role(const Route& route) {
  switch (route.access) {
    case Access::kOpen:
    case Access::kAnyRole:
    case Access::kOwnerPath:
    case Access::kOwnerBody:
    case Access::kOwnerHandler:
      return Role::kOwner;
    case Access::kLocalOrToken:
    case Access::kRead:
      return Role::kAuditor;
    case Access::kOperate:
      return Role::kOperator;
    case Access::kAdmin:
      return Role::kAdmin;
  }
  return Role::kAdmin;
}

// The contract, by name, so that a slip in the table shows. Reading routes are an auditor's unless listed
// here.
const std::set<std::string_view> kAdminOnly{
    "list_tokens", "add_token",        "remove_token",        "create_user",    "change_user",  "remove_user",
    "list_keys",   "add_key",          "change_key",          "remove_key",     "create_group", "remove_group",
    "set_acl",     "set_audit_policy", "remove_audit_policy", "list_host_keys", "add_host_key", "remove_host_key"};
const std::set<std::string_view> kForEveryone{"health", "get_console", "get_console_asset", "get_session",
                                              "get_version"};

bool allowed(const Route& route, Role role) {
  if (first_role(route) != Role::kOwner || kForEveryone.contains(route.name)) return role >= first_role(route);
  // An auditor may see everything that an owner may change.
  return role != Role::kAuditor || route.method == Method::kGet;
}

TEST_F(AccessTest, EveryRouteIsForTheRolesOfTheContract) {
  for (const Route& route : routes()) {
    const Role first = first_role(route);
    if (kAdminOnly.contains(route.name)) {
      EXPECT_EQ(first, Role::kAdmin) << route.name;
    } else if (kForEveryone.contains(route.name)) {
      EXPECT_EQ(first, Role::kOwner) << route.name;
    } else if (first != Role::kOwner) {
      // Verifying changes nothing: it is a POST because it takes long.
      EXPECT_EQ(first, route.method == Method::kGet || route.name == "verify_audit" ? Role::kAuditor : Role::kOperator)
          << route.name;
    }
  }
}

// With nothing in it a request may fail for many reasons, but for its role only where the table says so.
TEST_F(AccessTest, EveryRouteRefusesEveryRoleBelowIts) {
  for (const Route& route : routes()) {
    for (const Role role : kRoles) {
      // From elsewhere, where /metrics wants a token.
      Request request{.method = route.method,
                      .path = std::string(route.pattern),
                      .authorization = "Bearer secret of " + std::string(to_string(role))};
      request.query["path"] = "/team/sub";
      request.body = R"({"path": "/team/sub"})";
      request.client = "192.0.2.1";
      const Answer answer = send(request);
      if (allowed(route, role)) {
        EXPECT_NE(answer.status, 401u) << route.name << " " << to_string(role);
        EXPECT_NE(answer.status, 403u) << route.name << " " << to_string(role) << answer.text;
      } else {
        EXPECT_EQ(answer.status, 403u) << route.name << " " << to_string(role) << answer.text;
        EXPECT_EQ(answer.code(), "access");
        EXPECT_THAT(answer.message(), HasSubstr("the role " + std::string(to_string(role))));
      }
    }
  }
}

TEST_F(AccessTest, AnAuditorChangesNothingThatAnOwnerMay) {
  EXPECT_EQ(status(Role::kAuditor, Method::kGet, "/v1/quota?path=/team"), 200u);
  const Answer refused = ask(Role::kAuditor, Method::kPut, "/v1/quota?path=/team", R"({"bytes": 1})");
  EXPECT_EQ(refused.status, 403u);
  EXPECT_THAT(refused.message(), HasSubstr("needs the role operator or one above it, or owner of the directory"));
  EXPECT_EQ(status(Role::kOperator, Method::kPut, "/v1/quota?path=/team", R"({"bytes": 1})"), 200u);
}

TEST_F(AccessTest, AnOwnerSetsRecycleBinsBelowTheDirectoryAndCountedOnes) {
  EXPECT_EQ(owner(Method::kGet, "/v1/recycle/policy?path=/team"), 200u);
  EXPECT_EQ(owner(Method::kPut, "/v1/recycle/policy?path=/team/sub", R"({"days": 3})"), 200u);
  EXPECT_EQ(owner(Method::kDelete, "/v1/recycle/policy?path=/team/sub"), 204u);
  EXPECT_EQ(owner(Method::kPut, "/v1/recycle/policy?path=/team/sub", R"({"counted": false})"), 403u);
  EXPECT_EQ(owner(Method::kPut, "/v1/recycle/policy?path=/team", R"({"days": 3})"), 403u);
  EXPECT_EQ(owner(Method::kDelete, "/v1/recycle/policy?path=/team"), 403u);
  EXPECT_EQ(owner(Method::kPut, "/v1/recycle/policy?path=/other", R"({"days": 3})"), 403u);
  EXPECT_EQ(status(Role::kOperator, Method::kPut, "/v1/recycle/policy?path=/team", R"({"counted": false})"), 200u);
}

TEST_F(AccessTest, AnOwnerListsTheRecyclePoliciesInTheDirectory) {
  for (const char* path : {"/", "/team", "/team/sub", "/other"}) {
    ASSERT_EQ(status(Role::kOperator, Method::kPut, std::string("/v1/recycle/policy?path=") + path,
                     R"({"days": 3, "bytes_max": 5000})"),
              200u)
        << path;
  }
  const auto paths = [](const Answer& answer) {
    std::set<std::string> all;
    for (const Json& policy : answer.json["policies"]) all.insert(policy["path"].get<std::string>());
    return all;
  };
  const Answer all = ask(Role::kAuditor, Method::kGet, "/v1/recycle/policies");
  EXPECT_EQ(paths(all), (std::set<std::string>{"/", "/other", "/team", "/team/sub"}));
  const Json rules = {{"enabled", true},    {"days", 3},       {"bytes_max", 5000},
                      {"restore", "owner"}, {"counted", true}, {"path", "/"}};
  EXPECT_EQ(all.json["policies"][0], rules);
  EXPECT_EQ(paths(ask(Role::kOwner, Method::kGet, "/v1/recycle/policies")),
            (std::set<std::string>{"/team", "/team/sub"}));
  EXPECT_EQ(status(Role::kOwner, Method::kGet, "/v1/audit/policies"), 403u);
}

TEST_F(AccessTest, AnOwnerListsTheQuotasInTheDirectory) {
  for (const char* path : {"/", "/team", "/team/sub", "/other"}) {
    EXPECT_EQ(status(Role::kOperator, Method::kPut, std::string("/v1/quota?path=") + path, R"({"files": 50})"), 200u)
        << path;
  }
  const auto paths = [](const Answer& answer) {
    std::set<std::string> all;
    for (const Json& quota : answer.json["quotas"]) all.insert(quota["path"].get<std::string>());
    return all;
  };
  EXPECT_EQ(paths(ask(Role::kAuditor, Method::kGet, "/v1/quotas")).size(), 4u);
  EXPECT_EQ(paths(ask(Role::kOwner, Method::kGet, "/v1/quotas")), (std::set<std::string>{"/team", "/team/sub"}));
  // Page by page, too, with any items between.
  std::set<std::string> seen;
  std::string after = "0";
  for (int i = 0; i < 5 && !after.empty(); ++i) {
    const Answer page = ask(Role::kOwner, Method::kGet, "/v1/quotas?limit=1&after=" + after);
    ASSERT_EQ(page.status, 200u) << page.text;
    seen.merge(paths(page));
    after = page.json["truncated"] == true ? page.json["next_after"].get<std::string>() : "";
  }
  EXPECT_EQ(seen, (std::set<std::string>{"/team", "/team/sub"}));
  EXPECT_TRUE(paths(ask(Role::kOwner, Method::kGet, "/v1/quotas?filled=90")).empty());
}

// A bin of the root, which operators control: it has items of the owner, and of others.
class OwnerRecycleTest : public AccessTest {
 protected:
  OwnerRecycleTest() {
    EXPECT_EQ(status(Role::kAdmin, Method::kPut, "/v1/recycle/policy?path=/", "{}"), 200u);
    for (const auto& [dir, name] :
         {std::pair{team_, "mine"}, {sub_, "deep"}, {other_, "theirs"}, {core::kRootId, "top"}})
      deleted(dir, name);
  }
  void deleted(core::FileId dir, std::string_view name) {
    make_file(dir, name, 7);
    EXPECT_TRUE(volume_->ns().unlink({}, {.parent = dir, .name = name}));
  }
  std::string id_of(std::string_view name) {
    const Answer list = get("/v1/recycle?path=/");
    for (const Json& item : list.json["items"]) {
      if (item["name"] == name) return item["id"];
    }
    return "none";
  }
  Answer restore(std::string_view name, const Json& to = {}) {
    Json body{{"id", id_of(name)}};
    if (!to.is_null()) body["to"] = to;
    return ask(Role::kOwner, Method::kPost, "/v1/recycle/restore", body.dump());
  }
  Answer purge(const Json& body) { return ask(Role::kOwner, Method::kPost, "/v1/recycle/purge", body.dump()); }
  std::vector<std::string> kept() {
    std::vector<std::string> names;
    const Answer list = get("/v1/recycle?path=/");
    for (const Json& item : list.json["items"]) names.push_back(item["name"]);
    return names;
  }
};

TEST_F(OwnerRecycleTest, AnOwnerSeesWhatWasDeletedBelowTheDirectory) {
  const Answer list = ask(Role::kOwner, Method::kGet, "/v1/recycle?path=/team");
  ASSERT_EQ(list.status, 200u) << list.text;
  ASSERT_EQ(list.json["items"].size(), 2u);
  EXPECT_EQ(list.json["items"][0]["path"], "/team/mine");
  EXPECT_EQ(list.json["items"][1]["path"], "/team/sub/deep");
  for (const char* outside : {"/", "/other", "/team/..", "/team/sub/../../other", "/nothing"})
    EXPECT_EQ(owner(Method::kGet, std::string("/v1/recycle?path=") + outside), 403u) << outside;
}

TEST_F(OwnerRecycleTest, AnOwnerRestoresItInPlaceAndElsewhereBelow) {
  EXPECT_EQ(restore("deep").json, (Json{{"path", "/team/sub/deep"}}));
  EXPECT_EQ(restore("mine", "/other/../team/sub/renamed").json, (Json{{"path", "/team/sub/renamed"}}));
  EXPECT_THAT(kept(), testing::ElementsAre("theirs", "top"));
}

TEST_F(OwnerRecycleTest, AnOwnerRestoresNothingToPlacesOutside) {
  make_file(other_, "secret", 1);
  for (const char* outside : {"/", "", "/other", "/other/new", "/other/secret", "/new", "/team/..", "/team/../new",
                              "/team/sub/../../other/new", "/nothing/new", "/team/../nothing/new", "/teamwork"}) {
    const Answer refused = restore("mine", outside);
    EXPECT_EQ(refused.status, 403u) << outside << refused.text;
    // The existence of an object is not revealed.
    EXPECT_THAT(refused.message(), HasSubstr("the role owner")) << outside;
  }
  EXPECT_EQ(restore("mine", "/team/nothing/new").status, 404u);
  EXPECT_EQ(restore("mine", "/team/nothing/../../other/new").status, 404u);
  make_file(team_, "taken", 1);
  EXPECT_EQ(restore("mine", "/team/taken").status, 409u);
  EXPECT_EQ(restore("mine", "/team/taken/..").status, 400u);
  EXPECT_THAT(kept(), testing::Contains("mine"));
}

TEST_F(OwnerRecycleTest, AnOwnerNeitherRestoresNorPurgesWhatWasDeletedElsewhere) {
  for (const char* name : {"theirs", "top"}) {
    const Answer refused = restore(name);
    EXPECT_EQ(refused.status, 404u) << refused.text;
    // As for an item in no bin at all.
    EXPECT_EQ(refused.message(), ask(Role::kOwner, Method::kPost, "/v1/recycle/restore", R"({"id": "1-2"})").message());
    EXPECT_EQ(restore(name, "/team/sub/x").status, 404u);
    EXPECT_EQ(purge({{"path", "/team"}, {"ids", {id_of(name)}}}).json["removed"], 0);
  }
  for (const char* outside : {"/", "/other", "/team/..", "/team/sub/../../other"})
    EXPECT_EQ(purge({{"path", outside}}).status, 403u) << outside;
  EXPECT_EQ(kept().size(), 4u);
  EXPECT_EQ(purge({{"path", "/team/sub"}, {"ids", {id_of("mine"), id_of("deep")}}}).json["removed"], 1);
  EXPECT_EQ(purge({{"path", "/team"}}).json["removed"], 1);
  EXPECT_THAT(kept(), testing::ElementsAre("theirs", "top"));
}

TEST_F(OwnerRecycleTest, WhereOnlyAdministratorsRestoreAnOwnerDoesNot) {
  ASSERT_EQ(status(Role::kOperator, Method::kPut, "/v1/recycle/policy?path=/", R"({"restore": "admin"})"), 200u);
  const Answer refused = restore("mine");
  EXPECT_EQ(refused.status, 403u);
  EXPECT_THAT(refused.message(), HasSubstr("administrator"));
  EXPECT_EQ(purge({{"path", "/team"}}).status, 403u);
  EXPECT_EQ(kept().size(), 4u);
  EXPECT_EQ(ask(Role::kOperator, Method::kPost, "/v1/recycle/restore", Json{{"id", id_of("mine")}}.dump()).json["path"],
            "/team/mine");
}

TEST_F(OwnerRecycleTest, WhatLeftTheDirectoryIsNotShownThereNorBroughtBackThere) {
  ASSERT_EQ(status(Role::kOperator, Method::kPut, "/v1/recycle/policy?path=/team", "{}"), 200u);
  deleted(sub_, "left");
  ASSERT_TRUE(volume_->ns().rename(
      {}, {.from_parent = team_, .from_name = "sub", .to_parent = other_, .to_name = "secret project"}));
  const Json items = ask(Role::kOwner, Method::kGet, "/v1/recycle?path=/team").json["items"];
  ASSERT_EQ(items.size(), 2u);
  EXPECT_EQ(items[1]["name"], "left");
  EXPECT_EQ(items[1]["path"], Json());
  EXPECT_EQ(get("/v1/recycle?path=/team").json["items"][1]["path"], "/other/secret project/left");
  EXPECT_EQ(restore("left").status, 403u);
  EXPECT_EQ(restore("left", "/team").json["path"], "/team/left");
  // And items deleted there under the bin of the root went with it.
  EXPECT_EQ(restore("deep", "/team/x").status, 404u);
}

TEST_F(AccessTest, AnOwnerSeesAndLimitsWhatIsInTheDirectoryAndNothingElse) {
  make_file(team_, "f", 10);
  make_file(other_, "f", 10);
  for (const char* route : {"/v1/stat", "/v1/usage", "/v1/directory", "/v1/quota"}) {
    const std::string base = std::string(route) + "?path=";
    EXPECT_EQ(owner(Method::kGet, base + "/team"), 200u) << route;
    EXPECT_EQ(owner(Method::kGet, base + "/team/sub/"), 200u) << route;
    for (const char* outside : {"/", "", "/other", "/other/f", "/team/../other", "/team/sub/../../other", "/team/..",
                                "/teamwork", "/nothing", "/other/nothing"})
      EXPECT_EQ(owner(Method::kGet, base + outside), 403u) << route << outside;
    EXPECT_EQ(owner(Method::kGet, route), 403u) << route;
  }
  EXPECT_EQ(owner(Method::kGet, "/v1/stat?path=/team/f"), 200u);
  EXPECT_EQ(owner(Method::kGet, "/v1/stat?path=/other/../team/f"), 200u);
  // A missing object is reported where it would have been the owner's.
  EXPECT_EQ(owner(Method::kGet, "/v1/stat?path=/team/nothing"), 404u);
  EXPECT_EQ(owner(Method::kGet, "/v1/stat?path=/team/nothing/../../other"), 404u);
  EXPECT_EQ(owner(Method::kGet, "/v1/stat?path=/team/f/x"), 400u);

  EXPECT_EQ(owner(Method::kPut, "/v1/quota?path=/team/sub", R"({"bytes": 5})"), 200u);
  EXPECT_EQ(owner(Method::kPut, "/v1/quota?path=/team&children=true", R"({"bytes": 5})"), 200u);
  EXPECT_EQ(owner(Method::kDelete, "/v1/quota?path=/team&children=true"), 204u);
  EXPECT_EQ(owner(Method::kPut, "/v1/quota/owners?path=/team/sub", R"({"counted": true})"), 200u);
  EXPECT_EQ(owner(Method::kPut, "/v1/quota?path=/team/sub&user=7", R"({"bytes": 5})"), 200u);
  EXPECT_EQ(owner(Method::kDelete, "/v1/quota?path=/team/sub"), 204u);
  EXPECT_EQ(owner(Method::kPut, "/v1/quota?path=/other", R"({"bytes": 5})"), 403u);
  EXPECT_EQ(get("/v1/quota?path=/other").json["limits"]["bytes"], Json());
}

TEST_F(AccessTest, TheLimitsOfTheDirectoryItselfAreNotItsOwners) {
  ASSERT_EQ(call(Method::kPut, "/v1/quota?path=/team", R"({"bytes": 100})").status, 200u);
  const Answer raised = ask(Role::kOwner, Method::kPut, "/v1/quota?path=/team", R"({"bytes": 1000})");
  EXPECT_EQ(raised.status, 403u);
  EXPECT_THAT(raised.message(), HasSubstr("operator"));
  // Nor does it exclude classes.
  EXPECT_EQ(owner(Method::kPut, "/v1/quota?path=/team", R"({"bytes": 100, "count": []})"), 403u);
  EXPECT_EQ(owner(Method::kPut, "/v1/quota?path=/team", R"({"count": []})"), 403u);
  EXPECT_EQ(get("/v1/quota?path=/team").json["limits"]["count"].size(), 3u);
  EXPECT_EQ(owner(Method::kPut, "/v1/quota?path=/team/sub", R"({"bytes": 5, "count": []})"), 200u);
  EXPECT_EQ(owner(Method::kDelete, "/v1/quota?path=/team/sub"), 204u);
  EXPECT_EQ(owner(Method::kDelete, "/v1/quota?path=/team"), 403u);
  EXPECT_EQ(owner(Method::kDelete, "/v1/quota?path=/team/sub/.."), 403u);
  EXPECT_EQ(get("/v1/quota?path=/team").json["limits"]["bytes"], 100);
}

TEST_F(AccessTest, RenamesAndLinksDoNotMoveTheBorder) {
  core::Namespace& ns = volume_->ns();
  // The token stays with the directory, not with its name.
  ASSERT_TRUE(
      ns.rename({}, {.from_parent = core::kRootId, .from_name = "team", .to_parent = other_, .to_name = "moved"}));
  ASSERT_TRUE(ns.mkdir({}, {.parent = core::kRootId, .name = "team"}));
  EXPECT_EQ(owner(Method::kGet, "/v1/stat?path=/team"), 403u);
  EXPECT_EQ(owner(Method::kGet, "/v1/stat?path=/other/moved"), 200u);
  EXPECT_EQ(ask(Role::kOwner, Method::kGet, "/v1/session").json["directory"], "/other/moved");
  // A directory moved out is out of reach.
  ASSERT_TRUE(ns.rename({}, {.from_parent = team_, .from_name = "sub", .to_parent = core::kRootId, .to_name = "sub"}));
  EXPECT_EQ(owner(Method::kGet, "/v1/stat?path=/sub"), 403u);
  // A symbolic link is itself, not its target.
  ASSERT_TRUE(ns.symlink({}, {.parent = team_, .name = "out", .target = "/sub"}));
  EXPECT_EQ(owner(Method::kGet, "/v1/stat?path=/other/moved/out"), 200u);
  EXPECT_EQ(owner(Method::kGet, "/v1/stat?path=/other/moved/out/"), 200u);
  EXPECT_EQ(owner(Method::kGet, "/v1/directory?path=/other/moved/out"), 400u);
  // A second name for a file that counts elsewhere gives no right to it.
  make_file(other_, "f", 10);
  const auto file = ns.lookup({}, {.parent = other_, .name = "f"});
  ASSERT_TRUE(file);
  ASSERT_TRUE(ns.link({}, {.id = file->attr.id, .parent = team_, .name = "linked"}));
  EXPECT_EQ(owner(Method::kGet, "/v1/stat?path=/other/moved/linked"), 403u);
  // When the directory is gone, nothing is left to own.
  ASSERT_EQ(owner(Method::kGet, "/v1/session"), 200u);
  ASSERT_TRUE(ns.unlink({}, {.parent = team_, .name = "out"}));
  ASSERT_TRUE(ns.unlink({}, {.parent = team_, .name = "linked"}));
  ASSERT_TRUE(ns.rmdir({}, {.parent = other_, .name = "moved"}));
  EXPECT_EQ(ask(Role::kOwner, Method::kGet, "/v1/session").json["directory"], Json());
  EXPECT_EQ(owner(Method::kGet, "/v1/stat?path=/other/moved"), 403u);
  EXPECT_EQ(owner(Method::kGet, "/v1/stat?path=/"), 403u);
}

TEST_F(AccessTest, APlaceInTheBodyOrAskedForByTheHandlerIsHeldToTheSame) {
  Request request{.method = Method::kPost, .body = R"({"path": "/team/sub"})"};
  request.caller = Caller{.name = "o", .role = Role::kOwner, .directory = team_};
  ASSERT_TRUE(permit(*service_, Access::kOwnerBody, request));
  EXPECT_EQ((*request.place)->id, sub_);
  for (const char* body :
       {R"({"path": "/other"})", R"({"path": 1})", R"({})", "", "x", R"({"path": "/team/../other"})"}) {
    request.body = body;
    EXPECT_EQ(permit(*service_, Access::kOwnerBody, request).error().code, Errc::kAccess) << body;
  }
  ASSERT_TRUE(permit(*service_, Access::kOwnerHandler, request));
  EXPECT_TRUE(require_within(*service_, request, sub_));
  EXPECT_TRUE(require_within(*service_, request, team_));
  EXPECT_FALSE(require_within(*service_, request, other_));
  EXPECT_FALSE(require_within(*service_, request, core::FileId{999}));
  EXPECT_TRUE(require_below(*service_, request, sub_));
  EXPECT_FALSE(require_below(*service_, request, team_));
  request.caller->role = Role::kAuditor;
  EXPECT_FALSE(permit(*service_, Access::kOwnerHandler, request));
  request.caller->role = Role::kOperator;
  EXPECT_TRUE(permit(*service_, Access::kOwnerHandler, request));
  EXPECT_TRUE(require_below(*service_, request, other_));
}

}  // namespace
}  // namespace stoa::admin
