#include "tests/torture/twin.h"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace stoa::torture {
namespace {

constexpr std::size_t kNotesMax = 50;
constexpr std::size_t kKeptMax = 8;  // a file with more pasts than this is not worth following

void apply(std::optional<std::string>& content, const Change& change) {
  switch (change.kind) {
    case Change::Kind::kMake:
      if (!content) content.emplace();
      break;
    case Change::Kind::kWrite:
    case Change::Kind::kPunch:
      if (!content) break;
      if (content->size() < change.offset + change.bytes.size()) content->resize(change.offset + change.bytes.size());
      content->replace(change.offset, change.bytes.size(), change.bytes);
      break;
    case Change::Kind::kCommit:
      break;
    case Change::Kind::kTruncate:
      if (content) content->resize(change.offset);
      break;
    case Change::Kind::kReplace:
      content = change.bytes;
      break;
    case Change::Kind::kRemove:
      content.reset();
      break;
  }
}

void apply(std::optional<crash::ExpectedFile>& content, const Change& change) {
  switch (change.kind) {
    case Change::Kind::kMake:
      if (!content) content.emplace();
      break;
    case Change::Kind::kWrite:
    case Change::Kind::kPunch:
      if (content && change.durable) content->write_durably(change.offset, change.bytes);
      if (content && !change.durable) content->write_perhaps(change.offset, change.bytes);
      break;
    case Change::Kind::kCommit:
      if (content) content->commit();
      break;
    case Change::Kind::kTruncate:
      if (content) content->truncate(change.offset);
      break;
    case Change::Kind::kReplace:
      content.emplace(change.bytes);
      break;
    case Change::Kind::kRemove:
      content.reset();
      break;
  }
}

std::string hex_around(std::string_view bytes, std::size_t at) {
  const std::size_t from = at / 16 < 1 ? 0 : (at / 16 - 1) * 16;
  std::string out;
  for (std::size_t i = from; i < std::min(bytes.size(), from + 64); ++i) {
    char text[8];
    std::snprintf(text, sizeof text, i == at ? " [%02x]" : " %02x", static_cast<unsigned char>(bytes[i]));
    out += text;
  }
  return out.empty() ? " (nothing)" : out;
}

}  // namespace

std::string show_difference(std::string_view expected, std::string_view found) {
  const auto [e, f] = std::ranges::mismatch(expected, found);
  if (e == expected.end() && f == found.end()) return "no difference";
  const auto at = static_cast<std::size_t>(e - expected.begin());
  std::size_t wrong = expected.size() > found.size() ? expected.size() - found.size() : found.size() - expected.size();
  for (std::size_t i = at; i < std::min(expected.size(), found.size()); ++i) wrong += expected[i] != found[i] ? 1 : 0;
  return std::to_string(wrong) + " of " + std::to_string(expected.size()) + " bytes are wrong (" +
         std::to_string(found.size()) + " were found), the first is " + std::to_string(at) + "\n  expected" +
         hex_around(expected, at) + "\n  found   " + hex_around(found, at);
}

void TwinFile::done(const Change& change) {
  apply(now_, change);
  for (Kept& kept : kept_) apply(kept, change);
  // Only the visible state: a refused write is not included.
  if (change.kind == Change::Kind::kCommit && known_) kept_.assign(1, now_ ? Kept(std::in_place, *now_) : Kept());
  if (change.kind == Change::Kind::kReplace || change.kind == Change::Kind::kRemove) {
    kept_.resize(1);
    known_ = true;
  }
}

void TwinFile::perhaps(const Change& change) {
  known_ = false;
  if (change.kind == Change::Kind::kCommit) return;  // open changes stay open
  if (change.kind == Change::Kind::kWrite || change.kind == Change::Kind::kPunch) {
    for (Kept& kept : kept_) {
      if (kept) kept->write_perhaps(change.offset, change.bytes);
    }
    return;
  }
  for (std::size_t i = 0, count = kept_.size(); i < count && kept_.size() < kKeptMax; ++i) {
    Kept other = kept_[i];
    apply(other, change);
    kept_.push_back(std::move(other));
  }
}

std::string TwinFile::settle(const std::optional<std::string>& found) {
  std::string why;
  bool possible = false;
  for (const Kept& kept : kept_) {
    std::string wrong;
    if (found && kept) {
      wrong = kept->difference(*found);
      if (!wrong.empty()) wrong += ": " + show_difference(kept->bytes(), *found);
    }
    if (kept && !found) wrong = "the file is gone; it had " + std::to_string(kept->bytes().size()) + " bytes";
    if (!kept && found)
      wrong = "a file of " + std::to_string(found->size()) + " bytes is there that was removed, or never was";
    possible = possible || wrong.empty();
    why = wrong;
  }
  if (!possible) return why;
  now_ = found;
  known_ = true;
  // State found by a restart does not go with the next one.
  if (std::exchange(died_, false)) kept_.assign(1, found ? Kept(std::in_place, *found) : Kept());
  return {};
}

std::string TwinFile::compare(std::uint64_t offset, std::uint64_t count, std::string_view got, bool end) const {
  if (!now_) return "a file that was removed is read";
  const std::uint64_t size = now_->size();
  const std::string_view expected = offset < size ? std::string_view(*now_).substr(offset, count) : std::string_view();
  if (got.size() < expected.size() && !got.empty() && !end) {
    // A server may return less than requested.
    if (got != expected.substr(0, got.size())) return show_difference(expected.substr(0, got.size()), got);
    return {};
  }
  if (got != expected) return show_difference(expected, got);
  if (end != (offset + got.size() >= size))
    return std::string("the end of the file is ") + (end ? "told too early" : "not told");
  return {};
}

void TwinFile::note(std::string operation) {
  notes_.push_back(std::move(operation));
  if (notes_.size() > kNotesMax) notes_.pop_front();
}

std::string TwinFile::history() const {
  std::string out;
  for (const std::string& note : notes_) out += "  " + note + "\n";
  return out;
}

}  // namespace stoa::torture
