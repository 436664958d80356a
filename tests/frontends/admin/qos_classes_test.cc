#include "tests/frontends/admin/admin_fixture.h"

namespace stoa::admin {
namespace {

TEST_F(AdminTest, QosClassesAreSetListedAndRemovedByTheirWords) {
  const core::FileId dir = make_directory("dir");
  ASSERT_TRUE(volume_->registry().add_user({.name = "ann", .uid = 1000, .gid = 1000}));
  ASSERT_TRUE(volume_->registry().add_group({.name = "staff", .gid = 50}));
  ASSERT_TRUE(volume_->registry().add_export({.name = "team", .root = dir, .path = "/dir", .nfs = true}));
  EXPECT_EQ(get("/v1/qos/classes").json["qos_classes"].size(), 1u);  // background work
  for (const std::string target : {"/", "/dir", "user:ann", "user:7", "group:staff", "group:8", "client:10.0.0.0/8",
                                   "protocol:nfs", "protocol:s3", "protocol:native", "export:team"}) {
    SCOPED_TRACE(target);
    EXPECT_EQ(get("/v1/qos/class?target=" + target).status, 404u);
    const Answer set = call(Method::kPut, "/v1/qos/class?target=" + target,
                            R"({"read_bytes": 1000, "guarantee_read_bytes": 10, "weight": 7})");
    ASSERT_EQ(set.status, 200u) << set.text;
    EXPECT_EQ(set.json["target"], target);
    EXPECT_EQ(set.json["limits"]["read_bytes"], 1000);
    EXPECT_EQ(set.json["limits"]["write_bytes"], Json());
    EXPECT_EQ(set.json["limits"]["guarantee_read_bytes"], 10);
    EXPECT_EQ(set.json["limits"]["burst_ms"], 100);
    EXPECT_EQ(set.json["limits"]["weight"], 7);
    EXPECT_EQ(set.json["use"]["read_bytes"], 0);
    EXPECT_EQ(get("/v1/qos/class?target=" + target).json, set.json);
  }
  EXPECT_EQ(get("/v1/qos/classes").json["qos_classes"].size(), 12u);
  // Kinds not named are not limited.
  EXPECT_EQ(call(Method::kPut, "/v1/qos/class?target=/dir", R"({"metadata_ops": 5, "read_bytes": null})")
                .json["limits"]["read_bytes"],
            Json());
  EXPECT_EQ(call(Method::kDelete, "/v1/qos/class?target=user:ann").status, 204u);
  EXPECT_EQ(call(Method::kDelete, "/v1/qos/class?target=user:ann").status, 404u);
}

TEST_F(AdminTest, QosClassesOfWhatIsNotThereAreRefused) {
  make_file(make_directory("dir"), "a", 1);
  const auto refused = [&](const std::string& target, const std::string& body = R"({"read_bytes": 1})") {
    return call(Method::kPut, "/v1/qos/class?target=" + target, body).status;
  };
  EXPECT_EQ(call(Method::kPut, "/v1/qos/class", "{}").status, 400u);
  EXPECT_EQ(refused("/none"), 404u);
  EXPECT_EQ(call(Method::kPut, "/v1/qos/class?target=/dir/a", "{}").code(), "not_directory");
  EXPECT_EQ(refused("user:ann"), 404u);
  EXPECT_EQ(refused("group:staff"), 404u);
  EXPECT_EQ(refused("export:team"), 404u);
  EXPECT_EQ(refused("protocol:smb"), 404u);
  EXPECT_EQ(refused("client:10.0.0.1/8"), 400u);
  EXPECT_EQ(refused("directory:x"), 400u);
  EXPECT_EQ(refused("ann"), 400u);
  EXPECT_EQ(refused("/dir", R"({"read_bytes": 0})"), 400u);
  EXPECT_EQ(refused("/dir", R"({"read_bytes": -1})"), 400u);
  EXPECT_EQ(refused("/dir", R"({"read_byte": 1})"), 400u);
  EXPECT_EQ(refused("/dir", R"({"weight": 0})"), 400u);
  EXPECT_EQ(refused("/dir", R"({"burst_ms": 1})"), 400u);
  EXPECT_EQ(refused("/dir", R"({"read_bytes": 5, "guarantee_read_bytes": 6})"), 400u);
  EXPECT_EQ(refused("background", R"({"weight": 0})"), 400u);
  EXPECT_EQ(refused("background:x"), 400u);
  EXPECT_EQ(get("/v1/qos/classes").json["qos_classes"].size(), 1u);
}

TEST_F(AdminTest, BackgroundWorkIsAQosClassOfTheLowestWeight) {
  const Answer before = get("/v1/qos/class?target=background");
  ASSERT_EQ(before.status, 200u);
  EXPECT_EQ(before.json["target"], "background");
  EXPECT_EQ(before.json["limits"]["weight"], 1);
  EXPECT_EQ(before.json["limits"]["read_bytes"], Json());
  EXPECT_EQ(get("/v1/qos/classes").json["qos_classes"][0], before.json);
  EXPECT_EQ(call(Method::kDelete, "/v1/qos/class?target=background").status, 404u);
  // No request pays it, so none has to look for it.
  const Answer set = call(Method::kPut, "/v1/qos/class?target=background", R"({"read_bytes": 1000})");
  EXPECT_EQ(set.json["limits"]["weight"], 1);
  EXPECT_EQ(set.json["limits"]["read_bytes"], 1000);
  EXPECT_EQ(volume_->registry().snapshot()->qos_classes(), nullptr);
  EXPECT_EQ(call(Method::kPut, "/v1/qos/class?target=background", R"({"weight": 50})").json["limits"]["weight"], 50);
  EXPECT_EQ(get("/v1/qos/classes").json["qos_classes"].size(), 1u);
  EXPECT_EQ(call(Method::kDelete, "/v1/qos/class?target=background").status, 204u);
  EXPECT_EQ(get("/v1/qos/class?target=background").json, before.json);
}

TEST_F(AdminTest, QosClassesComeInPages) {
  make_directory("dir");
  ASSERT_TRUE(volume_->registry().add_user({.name = "ann", .uid = 1000, .gid = 1000}));
  for (const std::string target : {"/", "/dir", "user:7", "user:ann", "group:8", "client:10.0.0.0/8",
                                   "client:10.1.0.0/16", "client:fd00::/8", "protocol:nfs", "protocol:s3"}) {
    ASSERT_EQ(call(Method::kPut, "/v1/qos/class?target=" + target, R"({"read_bytes": 1000})").status, 200u);
  }
  const Json all = get("/v1/qos/classes").json;
  EXPECT_EQ(all["truncated"], false);
  EXPECT_FALSE(all.contains("next_after"));
  ASSERT_EQ(all["qos_classes"].size(), 11u);
  EXPECT_EQ(all["qos_classes"].back()["target"], "background");
  for (const int limit : {1, 2, 3, 10, 11, 12}) {
    Json qos_classes = Json::array();
    std::string after;
    for (;;) {
      const Answer page = get("/v1/qos/classes?limit=" + std::to_string(limit) + after);
      ASSERT_EQ(page.status, 200u) << page.text;
      EXPECT_LE(page.json["qos_classes"].size(), static_cast<std::size_t>(limit));
      EXPECT_FALSE(page.json["qos_classes"].empty());
      for (const Json& qos_class : page.json["qos_classes"]) qos_classes.push_back(qos_class);
      EXPECT_EQ(page.json["truncated"], page.json.contains("next_after"));
      if (!page.json["truncated"].get<bool>()) break;
      after = "&after=" + page.json["next_after"].get<std::string>();
    }
    EXPECT_EQ(qos_classes, all["qos_classes"]) << limit;
  }
  // The last entry of a page may be gone when the next page is requested.
  const std::string after = get("/v1/qos/classes?limit=4").json["next_after"];
  const Json rest = get("/v1/qos/classes?after=" + after).json["qos_classes"];
  ASSERT_EQ(call(Method::kDelete, "/v1/qos/class?target=" + all["qos_classes"][3]["target"].get<std::string>()).status,
            204u);
  EXPECT_EQ(get("/v1/qos/classes?after=" + after).json["qos_classes"], rest);
  for (const char* const wrong : {"limit=0", "limit=1001", "limit=x", "after=", "after=x", "after=1", "after=1/",
                                  "after=0/1", "after=99/1", "after=-1/1", "after=1/x", "page=1"}) {
    EXPECT_EQ(get(std::string("/v1/qos/classes?") + wrong).status, 400u) << wrong;
  }
}

TEST_F(AdminTest, TheQosClassOfADirectoryThatIsGoneIsStillListedAndCanBeRemoved) {
  make_directory("dir");
  ASSERT_EQ(call(Method::kPut, "/v1/qos/class?target=/dir", R"({"read_bytes": 1})").status, 200u);
  ASSERT_TRUE(volume_->ns().rmdir({}, {.parent = core::kRootId, .name = "dir"}));
  const std::string target = get("/v1/qos/classes").json["qos_classes"][0]["target"];
  EXPECT_TRUE(target.starts_with("directory:"));
  EXPECT_EQ(call(Method::kDelete, "/v1/qos/class?target=" + target).status, 204u);
}

}  // namespace
}  // namespace stoa::admin
