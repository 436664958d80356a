// The ordered key-value store under the metadata. Implemented by backends/kv/rocksdb and its twin backends/kv/memory.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/assert.h"
#include "base/error.h"
#include "core/kv/number.h"

namespace stoa::core {

// Column families. Key layouts: core/kv/keys.h. Numbers are persistent in names only ("inode"), order is free.
enum class Family : std::uint8_t {
  kInode,
  kInline,
  kEntry,
  kCookie,
  kFold,
  kXattr,
  kLink,
  kUsage,
  kBlob,
  kChecksum,
  kState,
  kJournal,
  kGc,
  kConfig,
  kTrash,
};
inline constexpr std::size_t kFamilies = 15;
std::string_view to_string(Family family);

// Changes that are applied together or not at all, in order.
class WriteBatch {
 public:
  enum class Kind : std::uint8_t { kPut, kRemove, kAdd };
  struct Op {
    Family family;
    Kind kind;
    std::uint32_t key_size;
    std::uint32_t value_size;
    std::size_t at;  // key, then value, in bytes_
  };
  void put(Family family, std::string_view key, std::string_view value) { append(family, Kind::kPut, key, value); }
  void remove(Family family, std::string_view key) { append(family, Kind::kRemove, key, {}); }
  // Adds to the value, which is a number (core/kv/number.h); without one, to zero. In family blob only.
  void add(Family family, std::string_view key, std::int64_t delta) {
    append(family, Kind::kAdd, key, encode_number(delta));
  }
  void clear() {
    ops_.clear();
    bytes_.clear();
  }
  // Takes one change back.
  void erase(std::size_t index) {
    STOA_ASSERT(index < ops_.size());
    ops_.erase(ops_.begin() + static_cast<std::ptrdiff_t>(index));
  }
  bool empty() const { return ops_.empty(); }
  std::span<const Op> ops() const { return ops_; }
  std::string_view key(const Op& op) const { return {bytes_.data() + op.at, op.key_size}; }
  std::string_view value(const Op& op) const { return {bytes_.data() + op.at + op.key_size, op.value_size}; }
  std::size_t bytes() const { return bytes_.size(); }

 private:
  void append(Family family, Kind kind, std::string_view key, std::string_view value) {
    STOA_ASSERT(!key.empty());
    STOA_ASSERT(key.size() <= UINT32_MAX && value.size() <= UINT32_MAX);
    ops_.push_back({family, kind, static_cast<std::uint32_t>(key.size()), static_cast<std::uint32_t>(value.size()),
                    bytes_.size()});
    bytes_.insert(bytes_.end(), key.begin(), key.end());
    bytes_.insert(bytes_.end(), value.begin(), value.end());
  }
  std::vector<Op> ops_;
  std::vector<char> bytes_;  // stays where it is when the batch is moved
};

// A walk over [lower, upper) of one family as of its creation. Not thread-safe.
class KvIterator {
 public:
  virtual ~KvIterator() = default;
  virtual void seek(std::string_view key) = 0;  // first key >= `key`; never before `lower`
  virtual bool valid() const = 0;
  virtual void next() = 0;
  virtual std::string_view key() const = 0;  // until the next move
  virtual std::string_view value() const = 0;
  virtual Status status() const = 0;  // ask when valid() turned false
};

// Thread-safe; every call blocks at most for disk reads.
class KvReader {
 public:
  virtual ~KvReader() = default;

  // `value` is untouched when there is no such key (false).
  virtual Result<bool> get(Family family, std::string_view key, std::string* value) = 0;
  virtual Status multi_get(Family family, std::span<const std::string_view> keys,
                           std::span<std::optional<std::string>> values) = 0;
  // upper empty: to the end of the family.
  virtual std::unique_ptr<KvIterator> scan(Family family, std::string_view lower, std::string_view upper) = 0;
};

class KvStore : public KvReader {
 public:
  // All families as of now, for readers that compare them with each other. Must not outlive the store.
  virtual std::unique_ptr<KvReader> snapshot() = 0;

  // Applies the batches, in order, as one atomic change; visible on return, durable only after a sync() that began
  // later. One caller at a time (the committer). kNoSpace: nothing of it is visible, and nothing that was applied
  // before is lost; the same call may be made again, and a later sync() covers all that was applied. After any other
  // error the store must not be used for writing any more.
  virtual Status apply(std::span<const WriteBatch* const> batches) = 0;
  // Hands all that was applied before the call to the kernel: it outlives the process, not the machine. May run beside
  // all others, itself too. kNoSpace: as of apply().
  virtual Status write_out() = 0;
  // Makes all that was applied before the call durable. One caller at a time; may run beside apply(). kNoSpace: as of
  // apply().
  virtual Status sync() = 0;

  // Whether the store may grow. False: the disk is nearly full. The rest is for removals, for what was promised
  // before, and for at most this many bytes of other changes. Cheap; thread-safe.
  virtual bool has_room() { return true; }
  virtual std::uint64_t unpaid_growth_max() const { return ~std::uint64_t{0}; }

  // The disk that it lies on, absent if on none. `reserve`: bytes that it holds for the time when nothing is free;
  // `free`: beside them.
  struct Disk {
    std::string path;
    std::uint64_t total = 0, free = 0, reserve = 0, reserve_wanted = 0;
    bool low = false;  // !has_room()
  };
  virtual std::optional<Disk> disk() { return std::nullopt; }

  // Numbers for the administrator, as name and value ("block_cache_bytes", ...).
  virtual std::vector<std::pair<std::string, double>> statistics() const { return {}; }
};

}  // namespace stoa::core
