// One line of the audit log: a JSON object that ends with the hash of the line before and its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/error.h"

namespace stoa::appliance {

// Before the first line ever.
inline constexpr std::string_view kNoHash = "0000000000000000000000000000000000000000000000000000000000000000";

// Builds a line member by member. The text of the members is JSON; bytes that are no UTF-8 appear with replacement
// characters, and whole as NAME_base64.
class LineWriter {
 public:
  // Appends to `out`, which no other code changes meanwhile: a line costs no memory of its own.
  explicit LineWriter(std::string& out) : out_(out), begin_(out.size()) { out_ += '{'; }
  LineWriter& text(std::string_view name, std::string_view value);  // UTF-8
  LineWriter& bytes(std::string_view name, std::string_view value);
  LineWriter& number(std::string_view name, std::int64_t value);
  LineWriter& json(std::string_view name, std::string_view value);  // appended unchanged
  // null: no user has the number.
  LineWriter& user(std::uint32_t uid, const std::string* name);
  // Ends the line. `previous`: the hash of the line before; becomes this one's. The line without its end of line, until
  // `out` changes.
  std::string_view finish(std::string& previous);

 private:
  void member(std::string_view name);
  std::string& out_;
  const std::size_t begin_;
};

std::string json_text(std::string_view value);                      // with quotation marks
std::string json_user(std::uint32_t uid, const std::string* name);  // as LineWriter::user()
// The member "NAME":"...", and NAME_base64 behind it where LineWriter::bytes() would write it.
std::string json_bytes(std::string_view name, std::string_view value);

// SHA-256 in lower-case hex.
std::string sha256(std::string_view bytes);

struct Chained {
  std::string_view previous, hash;  // in the line
};
// The end of a line (without end of line) as finish() writes it, and whether the hash is that of the line. Absent: it
// is no line of an audit log, or was changed.
std::optional<Chained> check_line(std::string_view line);
// The same, without looking at the hash.
std::optional<Chained> chain_of(std::string_view line);

// A member of a line that LineWriter wrote, at the top level. Absent: there is none.
std::optional<std::uint64_t> number_of(std::string_view line, std::string_view name);
std::optional<std::string_view> text_of(std::string_view line,
                                        std::string_view name);  // the text between the quotation marks

inline constexpr std::size_t kDayDigits = 10;
std::string iso_time(Timestamp time);  // "2026-11-22T10:00:00.123456789Z"
std::string day_of(Timestamp time);    // "2026-11-22"
bool is_day(std::string_view text);
Timestamp begin_of_next_day(Timestamp time);

}  // namespace stoa::appliance
