#include "frontends/admin/sentences.h"

#include <fstream>
#include <set>
#include <sstream>

#include "frontends/admin/error_reply.h"
#include "tests/frontends/admin/admin_fixture.h"

namespace stoa::admin {
namespace {

std::vector<Cause> all_causes() {
  std::vector<Cause> causes;
  for (std::uint16_t number = 1; number <= cause_count(); ++number) causes.push_back(static_cast<Cause>(number));
  return causes;
}
std::vector<Errc> all_codes() {
  std::vector<Errc> codes;
  for (std::uint16_t code = kErrcFirst; code <= kErrcLast; ++code) codes.push_back(static_cast<Errc>(code));
  return codes;
}

Error with_arguments(Cause cause) {
  return {.code = code_of(cause), .cause = cause, .arguments = {"a1", "a2", "a3", "a4", "a5"}};
}

std::size_t words_of(const std::string& text) {
  std::istringstream in(text);
  std::size_t count = 0;
  for (std::string word; in >> word;) ++count;
  return count;
}

TEST(SentencesTest, EachCauseHasOneShortSentenceOfItsOwn) {
  std::set<std::string> seen;
  for (const Cause cause : all_causes()) {
    const std::string text = sentence(with_arguments(cause));
    EXPECT_NE(text, "") << to_string(cause);
    EXPECT_EQ(text.find_first_of("{}"), std::string::npos) << text;
    EXPECT_LE(words_of(text), 30u) << text;
    EXPECT_FALSE(text.ends_with('.')) << text;
    EXPECT_EQ((" " + text).find(" stoa "), std::string::npos) << text << ": commands are for remedies";
    EXPECT_TRUE(seen.insert(text).second) << text;
  }
  for (const Errc code : all_codes()) {
    const std::string text = sentence({.code = code});
    EXPECT_NE(text, "") << to_string(code);
    EXPECT_TRUE(seen.insert(text).second) << text;
  }
}

TEST(SentencesTest, WordsNameOneCauseOrCode) {
  std::set<std::string_view> seen;
  for (const Errc code : all_codes()) EXPECT_TRUE(seen.insert(to_string(code)).second) << to_string(code);
  for (const Cause cause : all_causes()) {
    const std::string_view word = to_string(cause);
    EXPECT_TRUE(seen.insert(word).second) << word;
    EXPECT_EQ(word.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"), std::string_view::npos) << word;
    EXPECT_EQ(cause_of(word), cause);
  }
  EXPECT_EQ(cause_of("no_such_word"), Cause::kNone);
  EXPECT_EQ(cause_of(""), Cause::kNone);
}

TEST(SentencesTest, ArgumentsTakeTheirPlaces) {
  EXPECT_EQ(sentence(fail(Cause::kNameTaken, "user", std::string("ann")).error()), "user 'ann' exists already");
  EXPECT_EQ(sentence(fail(Cause::kTooDeep, 7u).error()), "directories may lie 7 deep");
  // An argument is not looked through for places, and one that is missing leaves its place empty.
  EXPECT_EQ(sentence(fail(Cause::kPathUnknown, "{1}").error()), "there is no '{1}' in the volume");
  EXPECT_EQ(sentence({.code = Errc::kNotFound, .cause = Cause::kPathUnknown}), "there is no '' in the volume");
  EXPECT_EQ(fill("{}{0}{1", {"a"}), "{}{0}{1");
  EXPECT_EQ(sentence(fail_errno(ENOSPC, "write /x").error()), "the volume is full (No space left on device)");
}

constexpr const char* kSentinel = "only-for-the-log";

TEST(SentencesTest, NoReplyHoldsTheDetailOfAnError) {
  for (const Errc code : all_codes()) {
    const Reply reply = error_reply({.code = code, .detail = kSentinel}, 1);
    EXPECT_EQ(reply.body.find(kSentinel), std::string::npos) << reply.body;
    EXPECT_EQ(Json::parse(reply.body)["error"]["cause"], to_string(code));
  }
  for (const Cause cause : all_causes()) {
    Error error = with_arguments(cause);
    error.detail = kSentinel;
    error.sys_errno = EIO;
    const Reply reply = error_reply(error, 1);
    EXPECT_EQ(reply.body.find(kSentinel), std::string::npos) << reply.body;
    const Json json = Json::parse(reply.body)["error"];
    EXPECT_EQ(json["code"], to_string(code_of(cause)));
    EXPECT_EQ(json["cause"], to_string(cause));
    EXPECT_EQ(json["message"], sentence(error));
  }
}

TEST_F(AdminTest, TheDetailOfAnErrorStaysInTheLog) {
  service_->evict_client = [](std::uint64_t) { return Status(fail(Errc::kIo, kSentinel)); };
  const Answer answer = call(Method::kDelete, "/v1/clients/1");
  EXPECT_EQ(answer.code(), "io");
  EXPECT_EQ(answer.message(), sentence({.code = Errc::kIo}));
  EXPECT_EQ(answer.text.find(kSentinel), std::string::npos) << answer.text;
}

// Of x-causes: "word: { code: CODE, message: TEXT }", one a line.
std::set<std::string> described_causes() {
  std::ifstream file(STOA_SOURCE_DIR "/frontends/admin/openapi.yaml");
  std::set<std::string> lines;
  bool within = false;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(' ')) within = line == "x-causes:";
    if (within && line.starts_with("  ")) lines.insert(line.substr(2));
  }
  return lines;
}

TEST(DescriptionTest, EveryCauseIsDescribedAndNothingElseIs) {
  std::set<std::string> known;
  for (const Cause cause : all_causes()) {
    std::string text;  // in single quotes of YAML
    for (const char c : sentence_template(cause)) text.append(c == '\'' ? 2 : 1, c);
    known.insert(std::string(to_string(cause)) + ": { code: " + std::string(to_string(code_of(cause))) +
                 ", message: '" + text + "' }");
  }
  EXPECT_EQ(described_causes(), known);
}

}  // namespace
}  // namespace stoa::admin
