// Possible content of a file after a crash: all that was acknowledged as durable, and any part of the rest.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stoa::crash {

class ExpectedFile {
 public:
  explicit ExpectedFile(std::string bytes = {}) : bytes_(std::move(bytes)) {}

  bool certain() const { return maybe_.empty(); }
  // The certain bytes, zeros where there are none.
  const std::string& bytes() const { return bytes_; }
  std::uint64_t size_max() const {
    std::uint64_t size = bytes_.size();
    for (const Maybe& maybe : maybe_) size = std::max<std::uint64_t>(size, maybe.offset + maybe.data.size());
    return size;
  }

  // Acknowledged as durable.
  void write_durably(std::uint64_t offset, std::string_view data) {
    std::vector<Maybe> left;
    for (const Maybe& maybe : maybe_) {
      // Newly certain bytes are no longer open there.
      const std::uint64_t begin = maybe.offset, end = begin + maybe.data.size(), from = offset,
                          to = offset + data.size();
      if (begin < from) left.push_back({begin, maybe.data.substr(0, std::min(end, from) - begin)});
      if (end > to) left.push_back({std::max(begin, to), maybe.data.substr(std::max(begin, to) - begin)});
    }
    maybe_ = std::move(left);
    apply(offset, data);
  }
  // Sent but not promised: UNSTABLE before its COMMIT, or a call without an answer.
  void write_perhaps(std::uint64_t offset, std::string_view data) { maybe_.push_back({offset, std::string(data)}); }
  // COMMIT was answered, with the verifier of the writes.
  void commit() {
    for (const Maybe& maybe : maybe_) apply(maybe.offset, maybe.data);
    maybe_.clear();
  }
  // Acknowledged as durable. Open bytes behind the new end are gone.
  void truncate(std::uint64_t size) {
    std::erase_if(maybe_, [size](const Maybe& maybe) { return maybe.offset >= size; });
    for (Maybe& maybe : maybe_) maybe.data.resize(std::min<std::uint64_t>(maybe.data.size(), size - maybe.offset));
    bytes_.resize(size);
  }

  // Empty when `found` may be the content; else the difference.
  std::string difference(std::string_view found) const {
    bool size_right = found.size() == bytes_.size();
    for (const Maybe& maybe : maybe_) {
      const std::uint64_t end = maybe.offset + maybe.data.size();
      size_right = size_right || (end > bytes_.size() && found.size() == end);
    }
    if (!size_right) {
      return "size is " + std::to_string(found.size()) + ", promised were " + std::to_string(bytes_.size()) +
             (certain() ? "" : " or more, by unpromised writes");
    }
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (i < bytes_.size() ? found[i] == bytes_[i] : found[i] == '\0') continue;
      bool may_be = false;
      for (const Maybe& maybe : maybe_) {
        may_be = may_be || (i >= maybe.offset && i < maybe.offset + maybe.data.size() &&
                            maybe.data[i - maybe.offset] == found[i]);
      }
      if (!may_be) return "byte " + std::to_string(i) + " of " + std::to_string(found.size()) + " is wrong";
    }
    return {};
  }

 private:
  struct Maybe {
    std::uint64_t offset;
    std::string data;
  };
  void apply(std::uint64_t offset, std::string_view data) {
    if (bytes_.size() < offset + data.size()) bytes_.resize(offset + data.size());
    bytes_.replace(offset, data.size(), data);
  }

  std::string bytes_;
  std::vector<Maybe> maybe_;  // in the order of the requests
};

}  // namespace stoa::crash
