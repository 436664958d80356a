#include "frontends/wire/receiver.h"

#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace stoa::wire {
namespace {

// While large records stream in, more than this of the next one is not read ahead: it would have to be copied.
constexpr std::size_t kReadAhead = 512;
static_assert(kReadAhead >= Receiver::kLargePrefix + Framer::kHeaderBytesMax);

}  // namespace

Receiver::Outcome Receiver::receive(int fd, std::span<std::byte> scratch, std::vector<Record>& records) {
  const auto outcome_of = [](Parsed parsed) {
    return parsed == Parsed::kOversized ? Outcome::kOversized : Outcome::kNoMemory;
  };
  if (stalled_) {
    stalled_ = false;
    const std::vector<std::byte> bytes = std::exchange(pending_, {});
    // The records that parse() finds borrow the bytes, so those must lie in scratch.
    std::memcpy(scratch.data(), bytes.data(), bytes.size());
    const Parsed parsed = parse(scratch.first(bytes.size()), records);
    if (parsed != Parsed::kAll) return outcome_of(parsed);
    if (!records.empty()) return Outcome::kMore;
  }
  while (true) {
    iovec parts[2];
    int count = 0;
    std::size_t wanted = 0;
    const auto add = [&](std::byte* at, std::size_t size) {
      parts[count++] = {at, size};
      wanted += size;
    };
    std::size_t kept = 0;
    std::size_t large_rest = 0;
    if (large_.memory) {
      large_rest = large_.size - large_.filled;
      add(large_.memory.data() + large_.offset + large_.filled, large_rest);
      add(scratch.data(), kReadAhead);
    } else {
      kept = pending_.size();
      if (kept > 0) std::memcpy(scratch.data(), pending_.data(), kept);
      add(scratch.data() + kept,
          (expect_large_ || pool_.tight()) && kept < kReadAhead ? kReadAhead - kept : scratch.size() - kept);
    }
    const ssize_t got =
        tls_ == nullptr ? readv(fd, parts, count) : tls_->read({parts, static_cast<std::size_t>(count)});
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return Outcome::kDry;
    if (got <= 0) return Outcome::kClosed;

    const auto bytes = static_cast<std::size_t>(got);
    std::size_t in_scratch = kept + bytes;
    if (large_.memory) {
      const std::size_t into_large = std::min(bytes, large_rest);
      large_.filled += into_large;
      in_scratch = bytes - into_large;
      if (large_.filled == large_.size) {
        const std::span<const std::byte> whole(large_.memory.data() + large_.offset, large_.size);
        large_.memory.complete();
        records.push_back(Record{whole, std::move(large_.memory), {}});
        large_ = {};
      }
    }
    if (in_scratch > 0) {
      pending_.clear();
      const Parsed parsed = parse(scratch.first(in_scratch), records);
      if (parsed != Parsed::kAll) return outcome_of(parsed);
    }
    const bool maybe_more = bytes == wanted;
    if (!records.empty()) return maybe_more ? Outcome::kMore : Outcome::kDry;
    // A large record that has just begun has its own place to read to; anything else that came short has drained the
    // socket.
    if (!maybe_more && !(large_.memory && large_rest == 0)) return Outcome::kDry;
  }
}

Receiver::Parsed Receiver::parse(std::span<const std::byte> bytes, std::vector<Record>& records) {
  const auto keep = [&] { pending_.assign(bytes.begin(), bytes.end()); };
  while (!bytes.empty()) {
    if (records.size() >= kRecordsMax) return Parsed::kOversized;
    if (assembling_ && fragment_left_ > 0) {
      const std::size_t take = std::min(bytes.size(), fragment_left_);
      if (!assemble(bytes.first(take))) {
        keep();
        stalled_ = true;
        return Parsed::kNoMemory;
      }
      bytes = bytes.subspan(take);
      fragment_left_ -= take;
      if (fragment_left_ == 0 && fragment_last_) emit_assembled(records);
      continue;
    }
    if (bytes.size() < framer_.header_bytes) break;
    const auto [length, last] = framer_.read(bytes.data());
    if (length > limits_.record_bytes_max) return Parsed::kOversized;

    if (assembling_ || !last) {
      if (!assembling_) {
        assembling_ = true;
        fragments_ = 0;
      }
      if (++fragments_ > limits_.fragments_max) return Parsed::kOversized;
      if (assembly_.size() + assembly_large_.filled + length > limits_.record_bytes_max) return Parsed::kOversized;
      fragment_left_ = length;
      fragment_last_ = last;
      bytes = bytes.subspan(framer_.header_bytes);
      if (length == 0 && last) emit_assembled(records);
      continue;
    }

    const auto body = bytes.subspan(framer_.header_bytes);
    if (body.size() >= length) {
      records.push_back(Record{.bytes = body.first(length)});
      bytes = body.subspan(length);
      expect_large_ = length >= kLargeRecord;
      continue;
    }
    if (length < kLargeRecord || body.size() < kLargePrefix) break;
    if (!begin_large(body, length)) {
      keep();
      stalled_ = true;
      return Parsed::kNoMemory;
    }
    expect_large_ = true;
    return Parsed::kAll;
  }
  keep();
  return Parsed::kAll;
}

bool Receiver::begin_large(std::span<const std::byte> prefix, std::size_t size) {
  RecordMemory memory = pool_.take(size, budget_);
  if (!memory) return false;
  const std::size_t payload = framer_.payload_offset == nullptr ? 0 : framer_.payload_offset(prefix);
  large_.offset = (RecordPool::kPage - payload % RecordPool::kPage) % RecordPool::kPage;
  large_.memory = std::move(memory);
  large_.size = size;
  large_.filled = prefix.size();
  std::memcpy(large_.memory.data() + large_.offset, prefix.data(), prefix.size());
  return true;
}

bool Receiver::assemble(std::span<const std::byte> bytes) {
  if (!assembly_large_.memory && assembly_.size() + bytes.size() <= kLargeRecord) {
    assembly_.insert(assembly_.end(), bytes.begin(), bytes.end());
    return true;
  }
  if (!assembly_large_.memory) {
    assembly_large_.memory = pool_.take(limits_.record_bytes_max, budget_);
    if (!assembly_large_.memory) return false;
    if (!assembly_.empty()) std::memcpy(assembly_large_.memory.data(), assembly_.data(), assembly_.size());
    assembly_large_.filled = assembly_.size();
    assembly_.clear();
  }
  if (!bytes.empty()) std::memcpy(assembly_large_.memory.data() + assembly_large_.filled, bytes.data(), bytes.size());
  assembly_large_.filled += bytes.size();
  return true;
}

void Receiver::emit_assembled(std::vector<Record>& records) {
  Record& record = records.emplace_back();
  if (assembly_large_.memory) {
    record.bytes = {assembly_large_.memory.data(), assembly_large_.filled};
    assembly_large_.memory.complete();
    record.memory = std::move(assembly_large_.memory);
  } else {
    record.assembled = std::exchange(assembly_, {});
    record.bytes = record.assembled;
  }
  assembly_large_ = {};
  assembling_ = false;
}

}  // namespace stoa::wire
