#include "frontends/native/data/write_buffer.h"

#include <algorithm>

namespace stoa::native::data {
namespace {

constexpr std::uint64_t boundary_after(std::uint64_t offset) {
  return (offset / WriteBuffer::kPieceBytes + 1) * WriteBuffer::kPieceBytes;
}

// Doubling, but no more than the piece can ever have.
void append_bytes(Piece& piece, std::span<const std::byte> more) {
  const std::size_t size = piece.bytes.size() + more.size();
  if (size > piece.bytes.capacity()) {
    const std::size_t most = boundary_after(piece.offset) - piece.offset;
    piece.bytes.reserve(std::min(most, std::max(size, 2 * piece.bytes.capacity())));
  }
  piece.bytes.insert(piece.bytes.end(), more.begin(), more.end());
}

}  // namespace

// The first piece that ends behind `offset`.
WriteBuffer::Map::const_iterator WriteBuffer::first_past(const Map& map, std::uint64_t offset) {
  auto at = map.upper_bound(offset);
  if (at != map.begin() && std::prev(at)->second->end() > offset) --at;
  return at;
}

WriteBuffer::Added WriteBuffer::add(std::uint64_t offset, std::span<const std::byte> data, std::uint64_t lease,
                                    const std::shared_ptr<OpenFile>& open) {
  Added added;
  while (!data.empty()) {
    const auto next = waiting_.upper_bound(offset);
    const std::shared_ptr<Piece> before = next == waiting_.begin() ? nullptr : std::prev(next)->second;
    if (before && before->end() > offset) {
      const std::size_t length = std::min<std::uint64_t>(data.size(), before->end() - offset);
      std::copy_n(data.begin(), length, before->bytes.begin() + static_cast<std::ptrdiff_t>(offset - before->offset));
      offset += length;
      data = data.subspan(length);
      continue;
    }
    std::uint64_t end = std::min(offset + data.size(), boundary_after(offset));
    if (next != waiting_.end()) end = std::min(end, next->first);
    const std::size_t length = end - offset;
    std::shared_ptr<Piece> piece = before;
    const bool extends = before && before->end() == offset && offset % kPieceBytes != 0 && before->open == open;
    if (!extends) {
      piece = std::make_shared<Piece>(Piece{.offset = offset, .lease = lease, .open = open, .number = ++last_});
      waiting_.emplace(offset, piece);
      ++open->unsent;
      ++added.pieces;
    }
    append_bytes(*piece, data.first(length));
    added.bytes += length;
    added.full = added.full || end % kPieceBytes == 0;
    offset = end;
    data = data.subspan(length);
  }
  bytes_ += added.bytes;
  return added;
}

bool WriteBuffer::overlaps(std::uint64_t offset, std::uint64_t length) const {
  const auto meets = [&](const Map& map) {
    const auto at = first_past(map, offset);
    return at != map.end() && at->first < offset + length;
  };
  return meets(waiting_) || meets(sending_);
}

std::uint64_t WriteBuffer::end() const {
  const auto last = [](const Map& map) { return map.empty() ? 0 : map.rbegin()->second->end(); };
  return std::max(last(waiting_), last(sending_));
}

std::uint64_t WriteBuffer::lease() const {
  if (!waiting_.empty()) return waiting_.begin()->second->lease;
  return sending_.empty() ? 0 : sending_.begin()->second->lease;
}

bool WriteBuffer::has_until(std::uint64_t number) const {
  const auto old = [&](const auto& entry) { return entry.second->number <= number; };
  return std::ranges::any_of(waiting_, old) || std::ranges::any_of(sending_, old);
}

std::shared_ptr<Piece> WriteBuffer::take(bool only_full, const std::function<bool(const Piece&)>& fits) {
  for (auto at = waiting_.begin(); at != waiting_.end(); ++at) {
    const std::shared_ptr<Piece> piece = at->second;
    if (only_full && piece->end() % kPieceBytes != 0) continue;
    const auto under = first_past(sending_, piece->offset);
    if (under != sending_.end() && under->first < piece->end()) continue;
    if (!fits(*piece)) return nullptr;
    waiting_.erase(at);
    sending_.emplace(piece->offset, piece);
    return piece;
  }
  return nullptr;
}

void WriteBuffer::sent(const Piece& piece) {
  sending_.erase(piece.offset);
  bytes_ -= piece.bytes.size();
}

WriteBuffer::Pieces WriteBuffer::drop_waiting(std::uint64_t lease) {
  Pieces dropped;
  std::erase_if(waiting_, [&](const auto& entry) {
    if (entry.second->lease != lease) return false;
    dropped.push_back(entry.second);
    bytes_ -= entry.second->bytes.size();
    return true;
  });
  return dropped;
}

WriteBuffer::Pieces WriteBuffer::overlapping(std::uint64_t offset, std::uint64_t length) const {
  Pieces found;
  for (const Map* map : {&sending_, &waiting_}) {
    for (auto at = first_past(*map, offset); at != map->end() && at->first < offset + length; ++at) {
      found.push_back(at->second);
    }
  }
  return found;
}

}  // namespace stoa::native::data
