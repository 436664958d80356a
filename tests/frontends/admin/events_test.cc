#include "frontends/admin/event_sentences.h"

#include <fstream>
#include <set>

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
  EXPECT_EQ(event["facts"], (Json{{"user", ""},
                                  {"group", ""},
                                  {"bytes", "101"},
                                  {"files", "1"},
                                  {"soft_bytes", "100"},
                                  {"soft_files", ""},
                                  {"grace_seconds", "604800"}}));
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
  volume_->events().add(core::Severity::kCritical, core::EventKind::kSpaceLow, "", {"91", "5"});
  const Answer answer = get("/v1/events");
  ASSERT_EQ(answer.json["events"].size(), 1u);
  EXPECT_EQ(answer.json["events"][0]["path"], Json());
  EXPECT_EQ(answer.json["events"][0]["severity"], "critical");
  EXPECT_EQ(answer.json["events"][0]["facts"], (Json{{"percent", "91"}, {"free_bytes", "5"}}));
}

TEST_F(AdminTest, AWrongCursorIsRefused) {
  for (const char* wrong : {"?after=x", "?after=", "?after=-1", "?after=99999999999999999999", "?since=1"})
    EXPECT_EQ(get("/v1/events" + std::string(wrong)).status, 400u) << wrong;
  EXPECT_EQ(get("/v1/events?after=18446744073709551615").status, 200u);
}

TEST(EventSentencesTest, EachKindHasASentenceThatItsFactsFill) {
  std::set<std::string_view> templates;
  for (std::size_t number = 0; number < core::event_kind_count(); ++number) {
    const auto kind = static_cast<core::EventKind>(number);
    EXPECT_TRUE(templates.insert(sentence_template(kind)).second) << to_string(kind);
    core::Event event{.kind = kind};
    for (const std::string_view name : core::fact_names(kind)) event.facts.push_back("the-" + std::string(name));
    const std::string text = sentence(event);
    EXPECT_FALSE(text.empty()) << to_string(kind);
    EXPECT_EQ(text.find_first_of("{}"), std::string::npos) << text;
    EXPECT_FALSE(text.ends_with('.')) << text;
    EXPECT_EQ(text.find("  "), std::string::npos) << text;
  }
}

TEST(EventSentencesTest, WhoseWhereAndHowMuch) {
  EXPECT_EQ(sentence({.kind = core::EventKind::kSoftLimitKept, .facts = {"", "5", "10", "2", "", "3", "60"}}),
            "group 5 is within its soft limits again: 10 bytes, 2 files (soft limit 3)");
  EXPECT_EQ(sentence({.kind = core::EventKind::kDamage, .facts = {"7", "64"}}),
            "64 bytes of inode 7 do not match their checksum, or cannot be read");
  EXPECT_EQ(sentence({.kind = core::EventKind::kDamage, .path = "/f", .facts = {"7", "64"}}),
            "64 bytes of a file do not match their checksum, or cannot be read");
}

// Of x-events: "word: { facts: [NAMES], message: TEXT }", one a line.
TEST(EventSentencesTest, EveryKindIsDescribedAndNothingElseIs) {
  std::set<std::string> known, described;
  for (std::size_t number = 0; number < core::event_kind_count(); ++number) {
    const auto kind = static_cast<core::EventKind>(number);
    std::string facts;
    for (const std::string_view name : core::fact_names(kind)) facts.append(facts.empty() ? "" : ", ").append(name);
    known.insert(std::string(to_string(kind)) + ": { facts: [" + facts + "], message: '" +
                 std::string(sentence_template(kind)) + "' }");
  }
  std::ifstream file(STOA_SOURCE_DIR "/frontends/admin/openapi.yaml");
  bool within = false;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(' ')) within = line == "x-events:";
    if (within && line.starts_with("  ")) described.insert(line.substr(2));
  }
  EXPECT_EQ(described, known);
}

}  // namespace
}  // namespace stoa::admin
