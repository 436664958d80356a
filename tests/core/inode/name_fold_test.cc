#include "core/inode/name_fold.h"

#include <gtest/gtest.h>

#include "core/inode/name_fold_table.h"

namespace stoa::core {
namespace {

TEST(NameFold, LettersThatDifferInCaseOnlyFoldToTheSame) {
  EXPECT_EQ(fold_name("README.txt"), "readme.txt");
  EXPECT_EQ(fold_name("ÄÖÜ é Ñ"), "äöü é ñ");
  EXPECT_EQ(fold_name("ΣΊΣΥΦΟΣ"), fold_name("Σίσυφος")) << "both small sigmas";
  EXPECT_EQ(fold_name("ПРИВЕТ"), "привет");
  EXPECT_EQ(fold_name("\u212A"), "k") << "the Kelvin sign";
  EXPECT_EQ(fold_name("\u1E9E"), "\u00DF") << "the capital sharp s, to fewer bytes";
  EXPECT_EQ(fold_name("\U00010400"), "\U00010428") << "Deseret, four bytes";
  EXPECT_EQ(fold_name(""), "");
}

TEST(NameFold, OnlySingleCharactersAreFolded) {
  EXPECT_EQ(fold_name("Straße"), "straße") << "not strasse";
  EXPECT_EQ(fold_name("\u0130"), "\u0130") << "a dotted capital I folds to two characters, or by language";
  EXPECT_EQ(fold_name("I"), "i") << "in every language";
  EXPECT_NE(fold_name("\u00C5"), fold_name("A\u030A")) << "composed and decomposed";
}

TEST(NameFold, BytesThatAreNotUtf8StayAsTheyAre) {
  EXPECT_EQ(fold_name("A\xC4"
                      "B"),
            "a\xC4"
            "b")
      << "Latin-1, and a character cut short";
  EXPECT_EQ(fold_name("\xFF\xFE"
                      "X"),
            "\xFF\xFE"
            "x");
  EXPECT_EQ(fold_name("\xC1\x81"), "\xC1\x81") << "an overlong A";
  EXPECT_EQ(fold_name("\xED\xA0\x80"), "\xED\xA0\x80") << "a surrogate";
  EXPECT_EQ(fold_name("\xF4\x90\x80\x80"), "\xF4\x90\x80\x80") << "beyond the last character";
  EXPECT_EQ(fold_name("\xE2\x84"), "\xE2\x84") << "the end is missing";
  EXPECT_EQ(fold_name(std::string_view("\0A", 2)), std::string_view("\0a", 2));
}

std::string utf8(std::uint32_t code) {
  std::string text;
  if (code < 0x80) return {static_cast<char>(code)};
  const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  constexpr unsigned kLead[] = {0, 0xc0, 0xe0, 0xf0};
  text += static_cast<char>(kLead[more] | code >> (6 * more));
  for (int shift = 6 * (more - 1); shift >= 0; shift -= 6) text += static_cast<char>(0x80 | (code >> shift & 0x3f));
  return text;
}

TEST(NameFold, ItFoldsWhatTheTableSaysAndWhatIsFoldedStays) {
  std::uint32_t last = 0;
  std::size_t folded = 0;
  for (const FoldRun& run : kFoldRuns) {
    EXPECT_GE(run.first, last);
    last = run.last + 1;
    EXPECT_EQ((run.last - run.first) % run.step, 0u);
    for (std::uint32_t code = run.first; code <= run.last; code += run.step) {
      const std::string to = utf8(static_cast<std::uint32_t>(static_cast<std::int64_t>(code) + run.delta));
      EXPECT_EQ(fold_name(utf8(code)), to) << code;
      EXPECT_FALSE(is_folded("a" + utf8(code))) << code;
      EXPECT_TRUE(is_folded(to)) << code;
      ++folded;
    }
  }
  EXPECT_EQ(folded, 1454u) << "of CaseFolding.txt 14.0.0, statuses C and S";
  for (std::uint32_t code = 1; code < 0x110000; code += code < 0x3000 ? 1 : 7) {
    if (code >= 0xd800 && code < 0xe000) continue;
    const std::string text = utf8(code);
    EXPECT_EQ(is_folded(text), fold_name(text) == text) << code;
  }
}

}  // namespace
}  // namespace stoa::core
