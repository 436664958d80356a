#include "backends/blob/local/slot_map.h"

#include <algorithm>
#include <bit>
#include <iterator>

namespace stoa::blob_local {
namespace {

constexpr std::uint32_t kWordBits = 64;

bool test(const std::vector<std::uint64_t>& bits, std::uint32_t at) {
  return (bits[at / kWordBits] >> (at % kWordBits) & 1) != 0;
}
void assign(std::vector<std::uint64_t>& bits, std::uint32_t at, bool value) {
  const std::uint64_t mask = std::uint64_t{1} << (at % kWordBits);
  if (value) {
    bits[at / kWordBits] |= mask;
  } else {
    bits[at / kWordBits] &= ~mask;
  }
}

}  // namespace

void SlotMap::set_container(unsigned size_class, std::uint64_t container, std::uint32_t slots, bool ready) {
  SizeClass& in_class = classes_[size_class];
  Container& entry = in_class.containers[container];
  const std::uint32_t before = entry.slots;
  entry.slots = slots;
  entry.taken_bits.resize((slots + kWordBits - 1) / kWordBits);
  entry.ready_bits.resize((slots + kWordBits - 1) / kWordBits);
  for (std::uint32_t slot = before; slot < slots; ++slot) assign(entry.ready_bits, slot, ready);
  if (entry.taken < slots) in_class.with_room[container] = &entry;
  in_class.next_number = std::max(in_class.next_number, container + 1);
}

std::uint32_t SlotMap::container_slots(unsigned size_class, std::uint64_t container) const {
  const auto it = classes_[size_class].containers.find(container);
  return it == classes_[size_class].containers.end() ? 0 : it->second.slots;
}

void SlotMap::close_present() {
  for (SizeClass& in_class : classes_) in_class.first_open = in_class.next_number;
}

void SlotMap::open_all() {
  for (SizeClass& in_class : classes_) in_class.first_open = 0;
}

std::optional<SlotMap::Taken> SlotMap::take(unsigned size_class) {
  SizeClass& in_class = classes_[size_class];
  const auto at = in_class.with_room.lower_bound(in_class.first_open);
  if (at == in_class.with_room.end()) return {};
  Container& entry = *at->second;
  std::optional<std::uint32_t> free_slot;
  bool ready = false;
  for (std::size_t word = 0; word < entry.taken_bits.size() && !ready; ++word) {
    std::uint64_t free_bits = ~entry.taken_bits[word];
    const std::uint64_t behind = entry.slots - word * kWordBits;
    if (behind < kWordBits) free_bits &= (std::uint64_t{1} << behind) - 1;
    if (free_bits == 0) continue;
    const std::uint64_t best = free_bits & entry.ready_bits[word];
    if (best == 0 && free_slot) continue;
    free_slot = static_cast<std::uint32_t>(word * kWordBits) +
                static_cast<std::uint32_t>(std::countr_zero(best != 0 ? best : free_bits));
    ready = best != 0;
  }
  assign(entry.taken_bits, *free_slot, true);
  assign(entry.ready_bits, *free_slot, false);
  ++slots_taken_;
  const SlotRef slot{size_class, at->first, *free_slot};
  if (++entry.taken == entry.slots) in_class.with_room.erase(at);
  return Taken{slot, ready};
}

bool SlotMap::adopt(const SlotRef& slot) {
  SizeClass& in_class = classes_[slot.size_class];
  const auto it = in_class.containers.find(slot.container);
  if (it == in_class.containers.end() || slot.slot >= it->second.slots) return false;
  if (test(it->second.taken_bits, slot.slot)) return true;
  assign(it->second.taken_bits, slot.slot, true);
  ++slots_taken_;
  if (++it->second.taken == it->second.slots) in_class.with_room.erase(slot.container);
  return true;
}

bool SlotMap::give_back(const SlotRef& slot, bool ready) {
  SizeClass& in_class = classes_[slot.size_class];
  const auto it = in_class.containers.find(slot.container);
  if (it == in_class.containers.end() || slot.slot >= it->second.slots) return false;
  if (!test(it->second.taken_bits, slot.slot)) return false;
  assign(it->second.taken_bits, slot.slot, false);
  assign(it->second.ready_bits, slot.slot, ready);
  --slots_taken_;
  --it->second.taken;
  in_class.with_room[slot.container] = &it->second;
  return true;
}

bool SlotMap::taken(const SlotRef& slot) const {
  const auto it = classes_[slot.size_class].containers.find(slot.container);
  return it != classes_[slot.size_class].containers.end() && slot.slot < it->second.slots &&
         test(it->second.taken_bits, slot.slot);
}

SlotMap::Growth SlotMap::next_growth(unsigned size_class) const {
  const SizeClass& in_class = classes_[size_class];
  for (auto it = in_class.containers.rbegin(); it != in_class.containers.rend(); ++it) {
    if (it->first < in_class.first_open) break;
    if (it->second.slots < slots_per_container(size_class)) return {it->first, it->second.slots};
  }
  return {in_class.next_number, 0};
}

bool SlotMap::drop_if_empty(unsigned size_class, std::uint64_t container) {
  SizeClass& in_class = classes_[size_class];
  const auto it = in_class.containers.find(container);
  if (it == in_class.containers.end() || it->second.taken != 0) return false;
  // The last one with room stays: a file that comes and goes must not make and remove a container each time.
  if (in_class.with_room.size() <= 1) return false;
  forget(size_class, container);
  return true;
}

bool SlotMap::is_empty(unsigned size_class, std::uint64_t container) const {
  const auto it = classes_[size_class].containers.find(container);
  return it != classes_[size_class].containers.end() && it->second.taken == 0;
}

void SlotMap::forget(unsigned size_class, std::uint64_t container) {
  classes_[size_class].with_room.erase(container);
  classes_[size_class].containers.erase(container);
}

void SlotMap::for_each_taken(const std::function<void(const SlotRef&)>& visit) const {
  for (unsigned size_class = 0; size_class < kSizeClasses; ++size_class) {
    for (const auto& [number, entry] : classes_[size_class].containers) {
      for (std::uint32_t slot = 0; slot < entry.slots; ++slot) {
        if (test(entry.taken_bits, slot)) visit({size_class, number, slot});
      }
    }
  }
}

std::vector<std::pair<unsigned, std::uint64_t>> SlotMap::empty_containers() const {
  std::vector<std::pair<unsigned, std::uint64_t>> found;
  for (unsigned size_class = 0; size_class < kSizeClasses; ++size_class) {
    for (const auto& [number, entry] : classes_[size_class].containers) {
      if (entry.taken == 0 && is_closed(size_class, number)) found.emplace_back(size_class, number);
    }
  }
  return found;
}

std::vector<std::pair<unsigned, std::uint64_t>> SlotMap::newest_with_room(std::size_t max) const {
  std::vector<std::pair<unsigned, std::uint64_t>> found;
  for (unsigned size_class = 0; size_class < kSizeClasses; ++size_class) {
    std::size_t left = max;
    const auto& with_room = classes_[size_class].with_room;
    auto it = std::make_reverse_iterator(with_room.lower_bound(classes_[size_class].first_open));
    for (; it != with_room.rend() && left != 0; ++it, --left) found.emplace_back(size_class, it->first);
  }
  return found;
}

std::vector<bool> SlotMap::taken_slots(unsigned size_class, std::uint64_t container) const {
  std::vector<bool> taken;
  const auto it = classes_[size_class].containers.find(container);
  if (it == classes_[size_class].containers.end()) return taken;
  for (std::uint32_t slot = 0; slot < it->second.slots; ++slot) taken.push_back(test(it->second.taken_bits, slot));
  return taken;
}

}  // namespace stoa::blob_local
