// Records: one layout each, with lengths that let older and newer peers read it.
//
// A record is its length (U32, all of it), the length of its fixed part (U16), a code (U16), the fixed part, the bytes
// of its Text fields in order, and zeros up to a multiple of eight. A fixed part that is longer than the reader's
// layout is read as far as it is known; one that is shorter leaves the rest zero.
#pragma once

#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "frontends/native/protocol/layouts.h"

namespace stoa::native {

using Bytes = std::vector<std::byte>;

inline constexpr std::size_t kRecordHeadBytes = 8;

template <class T>
constexpr T load(const std::byte* from) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) value |= static_cast<T>(static_cast<T>(from[i]) << (8 * i));
  return value;
}
template <class T>
constexpr void store(std::byte* to, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) to[i] = static_cast<std::byte>(value >> (8 * i));
}

// How many bytes the fixed part of a layout has.
template <class Layout>
constexpr std::size_t fixed_bytes() {
  std::size_t bytes = 0;
  const Layout layout{};
  each_field(layout, [&]<class Field>(const Field&) {
    if constexpr (std::is_integral_v<Field> || std::is_same_v<Field, File>) {
      bytes += sizeof(Field);
    } else if constexpr (std::is_same_v<Field, Text>) {
      bytes += sizeof(U32);
    } else {
      bytes += fixed_bytes<Field>();
    }
  });
  return bytes;
}

// Writes the fixed part of a layout to `at`, which moves behind it. Text fields are appended to `texts`.
template <class Layout>
void store_fixed(const Layout& layout, std::byte*& at, std::vector<Text>* texts) {
  each_field(layout, [&]<class Field>(const Field& field) {
    if constexpr (std::is_integral_v<Field>) {
      store(at, field);
      at += sizeof field;
    } else if constexpr (std::is_same_v<Field, File>) {
      store(at, static_cast<U64>(field));
      at += sizeof(U64);
    } else if constexpr (std::is_same_v<Field, Text>) {
      store(at, static_cast<U32>(field.size()));
      at += sizeof(U32);
      if (texts != nullptr) texts->push_back(field);
    } else {
      store_fixed(field, at, texts);
    }
  });
}

// Reads a fixed part of fixed_bytes<Layout>() and the texts behind it. False: the texts are longer than `rest`.
template <class Layout>
bool load_fixed(const std::byte*& at, std::span<const std::byte>& rest, Layout& layout) {
  bool whole = true;
  each_field(layout, [&]<class Field>(Field& field) {
    if constexpr (std::is_integral_v<Field>) {
      field = load<Field>(at);
      at += sizeof field;
    } else if constexpr (std::is_same_v<Field, File>) {
      field = File{load<U64>(at)};
      at += sizeof(U64);
    } else if constexpr (std::is_same_v<Field, Text>) {
      const std::size_t bytes = load<U32>(at);
      at += sizeof(U32);
      whole = whole && bytes <= rest.size();
      if (!whole) return;
      field = Text(reinterpret_cast<const char*>(rest.data()), bytes);
      rest = rest.subspan(bytes);
    } else {
      whole = load_fixed(at, rest, field) && whole;
    }
  });
  return whole;
}

// Appends one record.
template <class Layout>
void append_record(Bytes& out, U16 code, const Layout& layout) {
  constexpr std::size_t kFixed = fixed_bytes<Layout>();
  static_assert(kFixed <= 0xffff);
  const std::size_t begin = out.size();
  out.resize(begin + kRecordHeadBytes + kFixed);
  std::byte* at = out.data() + begin + kRecordHeadBytes;
  std::vector<Text> texts;
  store_fixed(layout, at, &texts);
  for (const Text text : texts) {
    const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
    out.insert(out.end(), bytes.begin(), bytes.end());
  }
  out.resize((out.size() + 7) & ~std::size_t{7});
  store(out.data() + begin, static_cast<U32>(out.size() - begin));
  store(out.data() + begin + 4, static_cast<U16>(kFixed));
  store(out.data() + begin + 6, code);
}

// One record of a message, cut but not read.
struct RecordView {
  U16 code = 0;
  std::span<const std::byte> fixed{};
  std::span<const std::byte> rest{};  // texts and padding
};

// Takes the next record off `from`. Nothing: it is not whole.
inline std::optional<RecordView> next_record(std::span<const std::byte>& from) {
  if (from.size() < kRecordHeadBytes) return std::nullopt;
  const std::size_t length = load<U32>(from.data());
  const std::size_t fixed = load<U16>(from.data() + 4);
  if (length % 8 != 0 || length > from.size() || length < kRecordHeadBytes + fixed) return std::nullopt;
  const RecordView record{.code = load<U16>(from.data() + 6),
                          .fixed = from.subspan(kRecordHeadBytes, fixed),
                          .rest = from.subspan(kRecordHeadBytes + fixed, length - kRecordHeadBytes - fixed)};
  from = from.subspan(length);
  return record;
}

// Its texts are views of the record. False: they are not whole; `layout` may be half filled then.
template <class Layout>
bool read_record(const RecordView& record, Layout& layout) {
  constexpr std::size_t kFixed = fixed_bytes<Layout>();
  std::span<const std::byte> rest = record.rest;
  if (record.fixed.size() >= kFixed) {
    const std::byte* at = record.fixed.data();
    return load_fixed(at, rest, layout);
  }
  std::byte padded[kFixed + 1]{};
  if (!record.fixed.empty()) std::memcpy(padded, record.fixed.data(), record.fixed.size());
  const std::byte* at = padded;
  return load_fixed(at, rest, layout);
}

}  // namespace stoa::native
