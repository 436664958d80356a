#include "frontends/native/client/held_state.h"

#include <algorithm>

namespace stoa::native {
namespace {

U64 last_byte(U64 offset, U64 length) {
  return length == kLockToEnd || length > ~offset ? ~U64{0} : offset + length - 1;
}

}  // namespace

void HeldState::note(U16 code, const RecordView& record, U64 file, std::span<const std::byte> call) {
  const Bytes by(call.begin(), call.end());
  const std::lock_guard lock(mutex_);
  if (code == operations::open::kCode) {
    OpenArgs arguments;
    (void)read_record(record, arguments);
    opens_[arguments.open] = {arguments.open, file, arguments.access, arguments.deny, by};
  } else if (code == operations::close::kCode) {
    CloseArgs arguments;
    (void)read_record(record, arguments);
    opens_.erase(arguments.open);
    lost_.erase(arguments.open);
  } else if (code == operations::lock::kCode) {
    LockArgs arguments;
    (void)read_record(record, arguments);
    const Lock held{file,
                    arguments.owner,
                    arguments.offset,
                    last_byte(arguments.offset, arguments.length),
                    arguments.exclusive != 0,
                    by};
    cut_locked(file, held.owner, held.offset, held.end);
    locks_.push_back(held);
  } else if (code == operations::unlock::kCode) {
    UnlockArgs arguments;
    (void)read_record(record, arguments);
    cut_locked(file, arguments.owner, arguments.offset, last_byte(arguments.offset, arguments.length));
  }
}

void HeldState::cut_locked(U64 file, U64 owner, U64 offset, U64 end) {
  std::vector<Lock> left;
  for (const Lock& lock : locks_) {
    if (lock.file != file || lock.owner != owner || lock.end < offset || lock.offset > end) {
      left.push_back(lock);
      continue;
    }
    if (lock.offset < offset) {
      left.push_back(lock);
      left.back().end = offset - 1;
    }
    if (lock.end > end) {
      left.push_back(lock);
      left.back().offset = end + 1;
    }
  }
  locks_ = std::move(left);
}

std::vector<HeldState::Open> HeldState::opens() const {
  std::vector<Open> all;
  const std::lock_guard lock(mutex_);
  for (const auto& [number, open] : opens_) {
    if (!lost_.contains(number)) all.push_back(open);
  }
  return all;
}

std::vector<HeldState::Lock> HeldState::locks() const {
  const std::lock_guard lock(mutex_);
  return locks_;
}

HeldState::All HeldState::all() const {
  const std::lock_guard lock(mutex_);
  All all{.locks = locks_, .lost = {lost_.begin(), lost_.end()}};
  for (const auto& [number, open] : opens_) all.opens.push_back(open);
  return all;
}

void HeldState::restore(const All& all) {
  const std::lock_guard lock(mutex_);
  for (const Open& open : all.opens) opens_[open.number] = open;
  locks_ = all.locks;
  lost_ = {all.lost.begin(), all.lost.end()};
}

void HeldState::lose_open(U64 number) {
  const std::lock_guard lock(mutex_);
  lost_.insert(number);
}

void HeldState::lose_file(U64 file) {
  const std::lock_guard lock(mutex_);
  std::erase_if(locks_, [&](const Lock& held) { return held.file == file; });
  for (const auto& [number, open] : opens_) {
    if (open.file == file) lost_.insert(number);
  }
}

bool HeldState::lost(U64 open) const {
  const std::lock_guard lock(mutex_);
  return lost_.contains(open);
}

std::uint64_t HeldState::lost_count() const {
  const std::lock_guard lock(mutex_);
  return lost_.size();
}

}  // namespace stoa::native
