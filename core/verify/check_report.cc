#include "core/verify/check_report.h"

#include <iterator>

#include "core/api/fact_names.h"

namespace stoa::core {
namespace {

struct KnownFinding {
  std::string_view word;
  std::string_view facts;
};

constexpr KnownFinding kFindings[] = {
#define STOA_FINDING(name, word, facts) {word, facts},
#include "core/verify/findings.def"
#undef STOA_FINDING
};

}  // namespace

std::size_t finding_kind_count() {
  return std::size(kFindings);
}

std::string_view to_string(FindingKind kind) {
  return kFindings[static_cast<std::size_t>(kind)].word;
}

std::vector<std::string_view> fact_names(FindingKind kind) {
  return fact_names(kFindings[static_cast<std::size_t>(kind)].facts);
}

std::string describe(const Finding& finding) {
  std::string text(to_string(finding.kind));
  for (std::size_t i = 0; i < finding.facts.size(); ++i) text.append(i == 0 ? " [" : ", ").append(finding.facts[i]);
  return finding.facts.empty() ? text : text + "]";
}

}  // namespace stoa::core
