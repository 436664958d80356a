#include "frontends/admin/finding_sentences.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "frontends/admin/health_view.h"
#include "frontends/admin/views.h"

namespace stoa::admin {
namespace {

using core::FindingKind;

std::vector<FindingKind> all_kinds() {
  std::vector<FindingKind> kinds;
  for (std::size_t number = 0; number < core::finding_kind_count(); ++number)
    kinds.push_back(static_cast<FindingKind>(number));
  return kinds;
}

TEST(FindingsTest, EachFindingHasASentenceOfItsOwn) {
  std::set<std::string_view> templates;
  for (const FindingKind kind : all_kinds()) {
    EXPECT_NE(sentence_template(kind), "") << to_string(kind);
    EXPECT_TRUE(templates.insert(sentence_template(kind)).second) << to_string(kind);
    core::Finding finding{kind};
    for (const std::string_view name : core::fact_names(kind)) finding.facts.push_back("the-" + std::string(name));
    const std::string text = sentence(finding);
    EXPECT_EQ(text.find_first_of("{}"), std::string::npos) << text;
    EXPECT_FALSE(text.ends_with('.')) << text;
    // No place stays empty: each is filled by a fact of the kind.
    EXPECT_EQ(text.find("  "), std::string::npos) << text;
    EXPECT_EQ(text.find("''"), std::string::npos) << text;
  }
}

TEST(FindingsTest, FactsTakeTheirPlaces) {
  EXPECT_EQ(sentence({FindingKind::kEntryDangling, {"2", "f", "17"}}),
            "entry 'f' of inode 2: dangling, inode 17 does not exist");
  EXPECT_EQ(sentence({FindingKind::kPathUnreadable, {"/a/{inode}", "5"}}),
            "/a/{inode} (inode 5) cannot be followed: its record cannot be read");
  EXPECT_EQ(sentence({FindingKind::kNamesUncompared}),
            "names, links and accounts were not compared, because records of them cannot be read");
  EXPECT_EQ(sentence({FindingKind::kInodeDamaged}), "inode : the record is damaged") << "a fact is missing";
}

TEST(FindingsTest, RecordsAreOfAFamilyAndARange) {
  EXPECT_EQ(sentence({FindingKind::kRecordsUnreadable, {"inode", "3", "9", "corrupt"}}),
            "records of inodes from 3 up to 9 cannot be read: corrupt");
  EXPECT_EQ(sentence({FindingKind::kRecordsUnreadable, {"blob", "3", "", "corrupt"}}),
            "records of blobs from 3 on cannot be read: corrupt");
  EXPECT_EQ(sentence({FindingKind::kRecordsUnreadable, {"config", "", "", "io"}}),
            "some records of family config cannot be read: io");
}

TEST(FindingsTest, UsageIsOfAnOwnerAndAClass) {
  EXPECT_EQ(sentence({FindingKind::kUsageUnrecorded, {"7", "", "", "1", "2", "3"}}),
            "usage of inode 7: not recorded, counted 1 bytes, 2 files, 3 directories");
  EXPECT_EQ(sentence({FindingKind::kUsageEarly, {"7", "1000", ""}}),
            "usage of user 1000 in inode 7: recorded before it is counted");
  EXPECT_EQ(sentence({FindingKind::kUsageDiffers, {"7", "", "5", "orphans", "1", "2", "3", "4", "5", "6"}}),
            "usage of group 5 in inode 7, without a name: recorded 1 bytes, 2 files, 3 directories, counted 4 bytes, 5 "
            "files, 6 directories");
}

TEST(FindingsTest, ProgramsGetTheKindAndFacts) {
  EXPECT_EQ(view(core::Finding{FindingKind::kLinkCount, {"7", "2", "3"}}),
            (Json{{"kind", "link_count"},
                  {"facts", {{"inode", "7"}, {"recorded", "2"}, {"found", "3"}}},
                  {"text", "inode 7: link count 2, found 3"}}));
}

// Of x-findings: "word: { facts: [NAMES], message: TEXT }", one a line.
TEST(FindingsTest, EveryKindIsDescribedAndNothingElseIs) {
  std::set<std::string> known;
  for (const FindingKind kind : all_kinds()) {
    std::string facts, text;
    for (const std::string_view name : core::fact_names(kind)) facts.append(facts.empty() ? "" : ", ").append(name);
    for (const char c : sentence_template(kind)) text.append(c == '\'' ? 2 : 1, c);
    known.insert(std::string(to_string(kind)) + ": { facts: [" + facts + "], message: '" + text + "' }");
  }
  std::set<std::string> described;
  std::ifstream file(STOA_SOURCE_DIR "/frontends/admin/openapi.yaml");
  bool within = false;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(' ')) within = line == "x-findings:";
    if (within && line.starts_with("  ")) described.insert(line.substr(2));
  }
  EXPECT_EQ(described, known);
}

TEST(HealthViewTest, AProblemHasItsFactsAndASentence) {
  EXPECT_EQ(view(core::Problem{.kind = core::ProblemKind::kBlobDirectory, .path = "/disks/1", .error = "it is gone"}),
            (Json{{"kind", "blob_directory"},
                  {"path", "/disks/1"},
                  {"facts", {{"error", "it is gone"}}},
                  {"text", "a blob directory does not work: it is gone"}}));
  EXPECT_EQ(view(core::Problem{.kind = core::ProblemKind::kMetadataStalled})["text"],
            "changes of the metadata wait for room");
  EXPECT_EQ(view(core::Problem{.kind = core::ProblemKind::kMetadataFull})["facts"], Json::object());
  EXPECT_EQ(view(core::Problem{.kind = core::ProblemKind::kKeptContent, .blobs = 3, .bytes = 70})["facts"],
            (Json{{"blobs", 3}, {"bytes", 70}}));
  const core::DamagedRange range{core::FileId{7}, "/a", 10, 5}, nameless{core::FileId{8}, "", 0, 1};
  const Json one = view(core::Problem{.kind = core::ProblemKind::kDamage, .damage = {range}});
  EXPECT_EQ(one["text"], "content is damaged: /a: bytes 10 to 15 do not match their checksum");
  EXPECT_EQ(view(core::Problem{.kind = core::ProblemKind::kDamage, .damage = {nameless, range}})["text"],
            "content is damaged: inode 8: bytes 0 to 1 do not match their checksum, and 1 more");
  EXPECT_EQ(view(range), (Json{{"id", "7"},
                               {"path", "/a"},
                               {"offset", 10},
                               {"length", 5},
                               {"text", "/a: bytes 10 to 15 do not match their checksum"}}));
}

}  // namespace
}  // namespace stoa::admin
