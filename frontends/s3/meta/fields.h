// The envelope of S3 records stored with an object: {version, oldest reader, size}, then fields of tag, length
// and bytes. A reader skips tags that it does not know, so that a new field needs no new version.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stoa::s3 {

class FieldWriter {
 public:
  FieldWriter(std::uint8_t version, std::uint8_t oldest_reader);
  void bytes(std::uint8_t tag, std::string_view value);
  void text(std::uint8_t tag, std::string_view value) {  // empty: left out
    if (!value.empty()) bytes(tag, value);
  }
  void number(std::uint8_t tag, std::uint64_t value);
  std::string finish();

  static void append_varint(std::string& out, std::uint64_t value);

 private:
  std::string out_;
};

class FieldReader {
 public:
  // `version`: of the reader. ok() is false for another envelope, or one that only newer readers understand.
  FieldReader(std::string_view encoded, std::uint8_t version);
  bool ok() const { return ok_; }
  // The next field; absent at the end, or when the rest is malformed (then ok() turns false).
  struct Field {
    std::uint8_t tag;
    std::string_view value;
  };
  std::optional<Field> next();

  static std::optional<std::uint64_t> take_varint(std::string_view& from);

 private:
  std::string_view rest_;
  bool ok_ = false;
};

}  // namespace stoa::s3
