// Page-aligned memory for large records, reused: the first touch of fresh memory costs more than the copy into it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "core/api/io.h"

namespace stoa::wire {

class RecordPool;

// Budget of the connections of one client address, so that one client cannot take the share of others.
struct AddressBudget {
  std::atomic<std::uint32_t> connections{0};
  std::atomic<std::uint64_t> record_bytes{0};
  std::atomic<std::uint64_t> half_sent_bytes{0};
};

// Memory of one record; goes back to its pool when destroyed. Counts as of a half-sent one until complete(). Movable;
// one owner.
class RecordMemory {
 public:
  RecordMemory() = default;
  RecordMemory(RecordMemory&& other) noexcept { *this = std::move(other); }
  RecordMemory& operator=(RecordMemory&& other) noexcept {
    if (this != &other) {
      release();
      pool_ = std::exchange(other.pool_, nullptr);
      data_ = std::exchange(other.data_, nullptr);
      size_class_ = other.size_class_;
      budget_ = std::move(other.budget_);
      half_sent_ = other.half_sent_;
      lent_ = std::move(other.lent_);
    }
    return *this;
  }
  ~RecordMemory() { release(); }

  explicit operator bool() const { return data_ != nullptr; }
  std::byte* data() const { return data_; }
  std::size_t size() const;
  void complete();  // all of the record is here
  // For callers that keep `part` of it longer than the record: nothing, unless it lies here and is most of it. Lent
  // memory counts for the record only as long as that lives.
  core::LentMemory lend(std::span<const std::byte> part);

 private:
  friend class RecordPool;
  RecordMemory(RecordPool* pool, std::byte* data, std::size_t size_class, std::shared_ptr<AddressBudget> budget)
      : pool_(pool), data_(data), size_class_(size_class), budget_(std::move(budget)) {}
  void release();

  RecordPool* pool_ = nullptr;
  std::byte* data_ = nullptr;
  std::size_t size_class_ = 0;
  std::shared_ptr<AddressBudget> budget_;
  bool half_sent_ = true;
  std::shared_ptr<std::byte> lent_;
};

// Thread-safe. Must outlive its records.
class RecordPool {
 public:
  static constexpr std::size_t kPage = 4096;
  // Payload sizes of the classes; each has room for two pages more, for headers and alignment.
  static constexpr std::array<std::size_t, 4> kPayloads{std::size_t{32} << 10, std::size_t{128} << 10,
                                                        std::size_t{512} << 10, std::size_t{1} << 20};
  static constexpr std::size_t kRecordBytesMax = kPayloads.back() + kPage;  // 1 MiB and its headers

  // Limits of the memory of records, half-sent ones included: in all, and for one address.
  struct Limit {
    std::uint64_t all;
    std::uint64_t of_address;
  };
  // `kept_max`: limit of the idle memory kept for reuse.
  RecordPool(const Limit& records, const Limit& half_sent, std::uint64_t kept_max)
      : records_(records), half_sent_(half_sent), idle_(std::make_shared<Idle>(kept_max)) {}
  RecordPool(const RecordPool&) = delete;

  // Memory for a record of `bytes` (at most kRecordBytesMax) plus up to a page in front of it for alignment. Empty when
  // a limit is reached.
  RecordMemory take(std::size_t bytes, const std::shared_ptr<AddressBudget>& budget);
  // Gives idle memory back to the system.
  void trim() { idle_->trim(); }

  std::uint64_t bytes_in_use() const { return in_use_.load(std::memory_order_relaxed); }
  std::uint64_t bytes_half_sent() const { return half_sent_in_use_.load(std::memory_order_relaxed); }
  // Little is left: connections should not read far ahead of the memory available.
  bool tight() const { return bytes_half_sent() > half_sent_.all / 2 || bytes_in_use() > records_.all / 2; }
  static constexpr std::size_t memory_of(std::size_t size_class) { return kPayloads[size_class] + 2 * kPage; }

 private:
  friend class RecordMemory;
  // Memory that waits for reuse. Memory that was lent comes back to it, also when the pool is gone.
  class Idle {
   public:
    explicit Idle(std::uint64_t kept_max) : kept_max_(kept_max) {}
    ~Idle() { trim(); }
    Idle(const Idle&) = delete;
    std::byte* take(std::size_t size_class);  // null: there is none
    void give(std::byte* data, std::size_t size_class);
    void trim();

   private:
    const std::uint64_t kept_max_;
    std::mutex mutex_;  // guards the two below
    std::array<std::vector<std::byte*>, kPayloads.size()> kept_;
    std::uint64_t kept_bytes_ = 0;
  };

  const Limit records_;
  const Limit half_sent_;
  const std::shared_ptr<Idle> idle_;
  std::atomic<std::uint64_t> in_use_{0};
  std::atomic<std::uint64_t> half_sent_in_use_{0};
};

inline std::size_t RecordMemory::size() const {
  return RecordPool::memory_of(size_class_);
}
inline void RecordMemory::complete() {
  if (data_ == nullptr || !std::exchange(half_sent_, false)) return;
  budget_->half_sent_bytes.fetch_sub(size(), std::memory_order_relaxed);
  pool_->half_sent_in_use_.fetch_sub(size(), std::memory_order_relaxed);
}
inline void RecordMemory::release() {
  if (data_ == nullptr) return;
  complete();
  budget_->record_bytes.fetch_sub(size(), std::memory_order_relaxed);
  budget_.reset();
  pool_->in_use_.fetch_sub(size(), std::memory_order_relaxed);
  std::byte* const data = std::exchange(data_, nullptr);
  if (lent_ != nullptr) {
    lent_.reset();
  } else {
    pool_->idle_->give(data, size_class_);
  }
}

}  // namespace stoa::wire
