#include "frontends/admin/event_sentences.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

#include "frontends/admin/fact_text.h"

namespace stoa::admin {
namespace {

using core::EventKind;

struct EventSentence {
  EventKind kind;
  std::string_view text;
};

constexpr EventSentence kEventSentences[] = {
    {EventKind::kSoftLimitPassed, "{whose} is above a soft limit: {usage}; growth is refused {grace}"},
    {EventKind::kSoftLimitKept, "{whose} is within its soft limits again: {usage}"},
    {EventKind::kOwnersCounted, "usage by user and group is counted; limits of users and groups bind from now on"},
    {EventKind::kDamage, "{bytes} bytes of {where} do not match their checksum, or cannot be read"},
    {EventKind::kContentWithoutFiles,
     "{blobs} blobs with {bytes} bytes have no file that refers to them: more than a crash leaves behind, so they are "
     "kept"},
    {EventKind::kGrowthRefused, "the disk of the metadata is full: removals work, nothing may grow"},
    {EventKind::kGrowthAccepted, "the disk of the metadata has room again"},
    {EventKind::kSpaceLow, "the disks fill up: {percent} % are full, {free_bytes} bytes are free"},
    {EventKind::kSpaceRegained, "the disks have room again: {percent} % are full, {free_bytes} bytes are free"},
};

std::string whose_text(const Facts& facts) {
  for (const char* const kind : {"user", "group"}) {
    if (const std::string_view id = fact_of(facts, kind); !id.empty()) return std::string(kind) + " " + std::string(id);
  }
  return "the directory";
}

// "120 bytes (soft limit 100), 3 files"
std::string usage_text_of(const Facts& facts) {
  std::string text;
  for (const char* const resource : {"bytes", "files"}) {
    text.append(text.empty() ? "" : ", ").append(fact_of(facts, resource)).append(" ").append(resource);
    if (const auto soft = fact_of(facts, std::string("soft_") + resource); !soft.empty())
      text.append(" (soft limit ").append(soft).append(")");
  }
  return text;
}

// "after 7 days of grace", "after 1 hour 30 minutes of grace", "at once"
std::string grace_text(std::string_view fact) {
  constexpr std::pair<std::uint64_t, const char*> kUnits[] = {
      {86'400, " day"}, {3600, " hour"}, {60, " minute"}, {1, " second"}};
  std::uint64_t seconds = 0;
  std::from_chars(fact.data(), fact.data() + fact.size(), seconds);
  if (seconds == 0) return "at once";
  std::string text = "after ";
  for (const auto& [unit, name] : kUnits) {
    const std::uint64_t count = seconds / unit;
    seconds %= unit;
    if (count > 0) text.append(std::to_string(count)).append(name).append(count > 1 ? "s " : " ");
  }
  return text + "of grace";
}

}  // namespace

std::string_view sentence_template(EventKind kind) {
  const auto found = std::ranges::find(kEventSentences, kind, &EventSentence::kind);
  return found == std::end(kEventSentences) ? std::string_view() : found->text;
}

std::string sentence(const core::Event& event) {
  Facts facts = facts_of(core::fact_names(event.kind), event.facts);
  facts.emplace("whose", whose_text(facts));
  facts.emplace("usage", usage_text_of(facts));
  facts.emplace("grace", grace_text(fact_of(facts, "grace_seconds")));
  facts.emplace("where", event.path.empty() ? "inode " + std::string(fact_of(facts, "inode")) : "a file");
  return filled(sentence_template(event.kind), facts);
}

}  // namespace stoa::admin
