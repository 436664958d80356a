// The bytes of one file of the twin: pages that were written, zeros elsewhere.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace stoa::model {

class TwinContent {
 public:
  static constexpr std::uint64_t kPage = 4096;

  std::uint64_t size() const { return size_; }

  std::string read(std::uint64_t offset, std::uint64_t length) const {
    if (offset >= size_) return {};
    length = std::min(length, size_ - offset);
    std::string out(length, '\0');
    for (auto it = pages_.lower_bound(offset / kPage); it != pages_.end() && it->first * kPage < offset + length;
         ++it) {
      const std::uint64_t begin = std::max(offset, it->first * kPage);
      const std::uint64_t end = std::min(offset + length, (it->first + 1) * kPage);
      out.replace(begin - offset, end - begin, *it->second, begin - it->first * kPage, end - begin);
    }
    return out;
  }

  void write(std::uint64_t offset, std::string_view data) {
    for (std::uint64_t done = 0; done < data.size();) {
      const std::uint64_t at = offset + done;
      const std::uint64_t count = std::min<std::uint64_t>(kPage - at % kPage, data.size() - done);
      std::string& page = writable(at / kPage);
      page.replace(at % kPage, count, data.substr(done, count));
      done += count;
    }
    size_ = std::max(size_, offset + data.size());
  }

  void truncate(std::uint64_t size) {
    if (size < size_) zero(size, size_ - size);
    size_ = size;
  }

  // Zeros the range without changing the size.
  void zero(std::uint64_t offset, std::uint64_t length) {
    const std::uint64_t end = length > UINT64_MAX - offset ? UINT64_MAX : offset + length;
    for (auto it = pages_.lower_bound(offset / kPage); it != pages_.end() && it->first * kPage < end;) {
      const std::uint64_t from = std::max(offset, it->first * kPage);
      const std::uint64_t to = std::min(end, (it->first + 1) * kPage);
      if (to - from == kPage) {
        it = pages_.erase(it);
        continue;
      }
      auto page = std::make_shared<std::string>(*it->second);
      std::fill_n(page->begin() + static_cast<std::ptrdiff_t>(from % kPage), to - from, '\0');
      it->second = std::move(page);
      ++it;
    }
  }

  // The first byte at or behind `offset` that is not zero; size() when there is none.
  std::uint64_t next_nonzero(std::uint64_t offset) const {
    for (auto it = pages_.lower_bound(offset / kPage); it != pages_.end(); ++it) {
      const std::uint64_t from = std::max(offset, it->first * kPage) - it->first * kPage;
      const auto at = it->second->find_first_not_of('\0', from);
      if (at != std::string::npos) return std::min(size_, it->first * kPage + at);
    }
    return size_;
  }

  // The places of content, as (offset, length) of whole pages, for comparing huge sparse files.
  std::map<std::uint64_t, std::uint64_t> ranges() const {
    std::map<std::uint64_t, std::uint64_t> out;
    for (const auto& [page, bytes] : pages_) {
      if (!out.empty() && out.rbegin()->first + out.rbegin()->second == page * kPage) {
        out.rbegin()->second += kPage;
      } else {
        out[page * kPage] = kPage;
      }
    }
    return out;
  }

 private:
  std::string& writable(std::uint64_t page) {
    auto& slot = pages_[page];
    slot = slot ? std::make_shared<std::string>(*slot) : std::make_shared<std::string>(kPage, '\0');
    return *slot;
  }

  std::uint64_t size_ = 0;
  std::map<std::uint64_t, std::shared_ptr<std::string>>
      pages_;  // shared between copies of the twin, never changed in place
};

}  // namespace stoa::model
