// The allocation map of the slots in all containers of one data directory: two bits a slot, in memory only.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "backends/blob/local/blob_name.h"

namespace stoa::blob_local {

struct SlotRef {
  unsigned size_class;
  std::uint64_t container;
  std::uint32_t slot;
};

// Not thread-safe: the directory's lock guards it.
class SlotMap {
 public:
  struct Taken {
    SlotRef slot;
    bool ready;  // reads as zeros and has real space; else it must be zeroed first
  };

  // A container that exists on the host with room for `slots` slots now; `ready`: fresh from the file system.
  void set_container(unsigned size_class, std::uint64_t container, std::uint32_t slots, bool ready);
  std::uint32_t container_slots(unsigned size_class, std::uint64_t container) const;  // 0: no such container

  // From now on until open_all(), the containers that are there are neither taken from nor grown.
  void close_present();
  void open_all();
  bool is_closed(unsigned size_class, std::uint64_t container) const {
    return container < classes_[size_class].first_open;
  }

  // A free slot, ready ones first within a container; nothing: a container has to grow or to be made.
  std::optional<Taken> take(unsigned size_class);
  bool adopt(const SlotRef& slot);  // false: no such place
  // False when it was free already.
  bool give_back(const SlotRef& slot, bool ready);
  bool taken(const SlotRef& slot) const;

  // The container to grow next, or a number never used for a new one (slots == 0).
  struct Growth {
    std::uint64_t container;
    std::uint32_t slots;
  };
  Growth next_growth(unsigned size_class) const;

  // A container of which no slot is taken and that the class can do without: forgets it and names it.
  bool drop_if_empty(unsigned size_class, std::uint64_t container);
  bool is_empty(unsigned size_class, std::uint64_t container) const;
  void forget(unsigned size_class, std::uint64_t container);

  void for_each_taken(const std::function<void(const SlotRef&)>& visit) const;
  // Closed containers: class and number.
  std::vector<std::pair<unsigned, std::uint64_t>> empty_containers() const;
  std::vector<std::pair<unsigned, std::uint64_t>> newest_with_room(
      std::size_t max) const;  // at most this many of each class
  // One bit for each slot of a container: taken.
  std::vector<bool> taken_slots(unsigned size_class, std::uint64_t container) const;
  std::uint64_t slots_taken() const { return slots_taken_; }

 private:
  struct Container {
    std::uint32_t slots = 0;
    std::uint32_t taken = 0;
    std::vector<std::uint64_t> taken_bits;
    std::vector<std::uint64_t> ready_bits;
  };
  struct SizeClass {
    std::map<std::uint64_t, Container> containers;
    std::map<std::uint64_t, Container*> with_room;
    std::uint64_t next_number = 1;
    std::uint64_t first_open = 0;
  };
  std::array<SizeClass, kSizeClasses> classes_;
  std::uint64_t slots_taken_ = 0;
};

}  // namespace stoa::blob_local
