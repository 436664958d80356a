// Sentences for what `stoa check` finds.
#pragma once

#include <string>
#include <string_view>

#include "core/verify/check_report.h"

namespace stoa::admin {

// For people, in English, without a full stop.
std::string sentence(const core::Finding& finding);

// With "{inode}" for the fact of that name, and so on. "{usage}" and "{records}" are made of several facts.
std::string_view sentence_template(core::FindingKind kind);

}  // namespace stoa::admin
