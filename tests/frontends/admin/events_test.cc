#include "tests/frontends/admin/admin_fixture.h"

namespace stoa::admin {
namespace {

TEST_F(AdminTest, ASoftLimitThatIsPassedAndKeptAgainIsAnEvent) {
  const Answer none = get("/v1/events");
  ASSERT_EQ(none.status, 200u);
  EXPECT_TRUE(none.json["events"].empty());
  const core::FileId dir = make_directory("dir");
  ASSERT_TRUE(volume_->ns().set_quota({}, {.dir = dir, .limits = {.soft_bytes = 100}}));
  make_file(dir, "a", 101);
  ASSERT_TRUE(volume_->run_gc());
  const Answer passed = get("/v1/events?after=" + none.json["next"].get<std::string>());
  ASSERT_EQ(passed.json["events"].size(), 1u) << passed.text;
  const Json& event = passed.json["events"][0];
  EXPECT_EQ(event["what"], "soft_limit_passed");
  EXPECT_EQ(event["severity"], "warning");
  EXPECT_EQ(event["path"], "/dir");
  EXPECT_EQ(event["message"],
            "the directory is above a soft limit: 101 bytes (soft limit 100), 1 files; growth is refused after 7 days "
            "of grace");
  EXPECT_TRUE(event["time"].is_string());
  EXPECT_EQ(event["sequence"], passed.json["next"]);

  ASSERT_TRUE(volume_->ns().unlink({}, {.parent = dir, .name = "a"}));
  ASSERT_TRUE(volume_->run_gc());
  const Answer kept = get("/v1/events?after=" + passed.json["next"].get<std::string>());
  ASSERT_EQ(kept.json["events"].size(), 1u) << kept.text;
  EXPECT_EQ(kept.json["events"][0]["what"], "soft_limit_kept");
  EXPECT_EQ(kept.json["events"][0]["severity"], "info");
  EXPECT_EQ(get("/v1/events").json["events"].size(), 2u);
  EXPECT_TRUE(get("/v1/events?after=" + kept.json["next"].get<std::string>()).json["events"].empty());
}

TEST_F(AdminTest, GraceIsToldAsPeopleSayIt) {
  const std::pair<std::uint32_t, const char*> graces[] = {{0, "at once"},
                                                          {1, "after 1 second of grace"},
                                                          {5400, "after 1 hour 30 minutes of grace"},
                                                          {86'400, "after 1 day of grace"},
                                                          {180'061, "after 2 days 2 hours 1 minute 1 second of grace"}};
  int number = 0;
  for (const auto& [seconds, words] : graces) {
    const core::FileId dir = make_directory("dir" + std::to_string(number++));
    ASSERT_TRUE(volume_->ns().set_quota({}, {.dir = dir, .limits = {.soft_bytes = 1, .grace_s = seconds}}));
    make_file(dir, "a", 2);
    ASSERT_TRUE(volume_->run_gc());
    const Answer answer = get("/v1/events");
    ASSERT_FALSE(answer.json["events"].empty());
    EXPECT_THAT(answer.json["events"].back()["message"].get<std::string>(),
                testing::EndsWith("growth is refused " + std::string(words)));
  }
}

TEST_F(AdminTest, EventsWithoutAPathSayNull) {
  volume_->events().add(core::Severity::kCritical, "space_low", "", "full");
  const Answer answer = get("/v1/events");
  ASSERT_EQ(answer.json["events"].size(), 1u);
  EXPECT_EQ(answer.json["events"][0]["path"], Json());
  EXPECT_EQ(answer.json["events"][0]["severity"], "critical");
}

TEST_F(AdminTest, AWrongCursorIsRefused) {
  for (const char* wrong : {"?after=x", "?after=", "?after=-1", "?after=99999999999999999999", "?since=1"})
    EXPECT_EQ(get("/v1/events" + std::string(wrong)).status, 400u) << wrong;
  EXPECT_EQ(get("/v1/events?after=18446744073709551615").status, 200u);
}

}  // namespace
}  // namespace stoa::admin
