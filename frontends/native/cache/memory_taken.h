// How much memory is taken by what is kept.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace stoa::native {

// By an allocation of this size: malloc has a word beside it, and steps of two words.
constexpr std::int64_t bytes_allocated(std::size_t size) {
  constexpr std::size_t kWord = sizeof(void*), kStep = 2 * kWord, kLeast = 4 * kWord;
  return static_cast<std::int64_t>(std::max(kLeast, (size + kWord + kStep - 1) / kStep * kStep));
}

// By an element of an unordered map, at most: with the pointer to the next one, its hash where that is kept, and its
// share of the table, which is at least half full.
template <class Map>
constexpr std::int64_t bytes_of_element(bool hash_is_kept) {
  constexpr std::size_t kWord = sizeof(void*);
  return bytes_allocated(sizeof(typename Map::value_type) + (hash_is_kept ? 2 : 1) * kWord) +
         static_cast<std::int64_t>(2 * kWord);
}

// By the characters of a string, beside the object itself.
constexpr std::int64_t bytes_of_text(std::string_view text) {
  constexpr std::size_t kInside = 15;
  return text.size() <= kInside ? 0 : bytes_allocated(text.size() + 1);
}

}  // namespace stoa::native
