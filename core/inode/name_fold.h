// Case-folded names for case-insensitive look-ups: the simple case folding of Unicode, character by character. Bytes
// that are not UTF-8 stay as they are. No normalisation: composed and decomposed letters differ, as they do for other
// look-ups.
//
// Family fold is an index of the names that differ from their folding, so most names cost nothing: a name equal to its
// folding is found in family entry.
#pragma once

#include <string>
#include <string_view>

namespace stoa::core {

std::string fold_name(std::string_view raw);
// fold_name(raw) == raw, without a copy.
bool is_folded(std::string_view raw);

}  // namespace stoa::core
