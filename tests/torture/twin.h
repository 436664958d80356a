// The required content of a file: exactly, for readers while the server lives; and after a death the promised content,
// with all that may have come through besides.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/crash/expected_file.h"

namespace stoa::torture {

// The effect of one operation on a file.
struct Change {
  enum class Kind : std::uint8_t { kMake, kWrite, kPunch, kCommit, kTruncate, kReplace, kRemove };
  Kind kind = Kind::kCommit;
  std::uint64_t offset = 0;  // the new size of kTruncate
  std::string bytes{};       // of kWrite and kReplace; of kPunch: zeros
  bool durable = true;       // kWrite: acknowledged as FILE_SYNC
  std::string source{};      // kReplace: the copied file, with content `bytes`
  bool parts = false;        // kReplace: by a multipart upload
};

class TwinFile {
 public:
  // Acknowledged. kMake makes a file that is missing, empty.
  void done(const Change& change);
  // Sent and not answered, or answered by an error: done wholly, in part or not at all.
  void perhaps(const Change& change);
  // The server died.
  void died() {
    known_ = false;
    died_ = true;
  }

  // Whether now() is the content that a reader sees. After perhaps() and died() it is not, until settle().
  bool known() const { return known_; }
  const std::optional<std::string>& now() const { return now_; }
  // The whole content that a reader found; empty: no such file. Returns the difference, if any, and takes the content
  // over.
  std::string settle(const std::optional<std::string>& found);
  // The result of a read of `count` bytes; only when known().
  std::string compare(std::uint64_t offset, std::uint64_t count, std::string_view got, bool end) const;

  void note(std::string operation);
  std::string history() const;  // the last 50

 private:
  using Kept = std::optional<crash::ExpectedFile>;  // empty: no such file

  std::optional<std::string> now_;
  bool known_ = true;
  bool died_ = false;
  std::vector<Kept> kept_{Kept{}};  // one of these is found after a death
  std::deque<std::string> notes_;
};

// Both around the first byte in which they differ, in hexadecimal.
std::string show_difference(std::string_view expected, std::string_view found);

}  // namespace stoa::torture
