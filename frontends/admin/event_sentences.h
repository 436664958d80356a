// Sentences for events.
#pragma once

#include <string>
#include <string_view>

#include "core/api/event_log.h"

namespace stoa::admin {

// For people, in English, without a full stop and without the path.
std::string sentence(const core::Event& event);

// With "{percent}" for the fact of that name, and so on. "{whose}", "{usage}", "{grace}" and "{where}" are made of
// several facts.
std::string_view sentence_template(core::EventKind kind);

}  // namespace stoa::admin
