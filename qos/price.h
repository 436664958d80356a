// Prices of requests and limits of QoS classes.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace stoa::qos {

enum class Resource : std::uint8_t { kReadBytes, kWriteBytes, kReadOps, kWriteOps, kMetadataOps };
inline constexpr std::size_t kResources = 5;

template <class T>
struct ByResource : std::array<T, kResources> {
  using std::array<T, kResources>::operator[];
  T& operator[](Resource resource) { return (*this)[static_cast<std::size_t>(resource)]; }
  const T& operator[](Resource resource) const { return (*this)[static_cast<std::size_t>(resource)]; }
};

// The kind of request that a price belongs to: requests of different kinds never wait behind each other.
enum class Kind : std::uint8_t { kRead, kWrite, kMetadata };
inline constexpr std::size_t kKinds = 3;

struct Price {
  ByResource<std::uint64_t> amount{};

  static Price read(std::uint64_t bytes) { return Price{}.add(Resource::kReadBytes, bytes).add(Resource::kReadOps, 1); }
  static Price write(std::uint64_t bytes) {
    return Price{}.add(Resource::kWriteBytes, bytes).add(Resource::kWriteOps, 1);
  }
  static Price metadata() { return Price{}.add(Resource::kMetadataOps, 1); }
  Price& add(Resource resource, std::uint64_t n) {
    amount[resource] += n;
    return *this;
  }
  Price& operator+=(const Price& other) {
    for (std::size_t i = 0; i < kResources; ++i) amount[i] += other.amount[i];
    return *this;
  }
  bool covers(const Price& other) const {
    for (std::size_t i = 0; i < kResources; ++i) {
      if (amount[i] < other.amount[i]) return false;
    }
    return true;
  }
  // Subtracts the covered part.
  Price& operator-=(const Price& other) {
    for (std::size_t i = 0; i < kResources; ++i) amount[i] -= other.amount[i];
    return *this;
  }
  bool free() const { return *this == Price{}; }
  // Writing comes before reading, and both before metadata.
  Kind kind() const {
    if (amount[Resource::kWriteBytes] + amount[Resource::kWriteOps] > 0) return Kind::kWrite;
    return amount[Resource::kReadBytes] + amount[Resource::kReadOps] > 0 ? Kind::kRead : Kind::kMetadata;
  }
  bool operator==(const Price&) const = default;
};

inline constexpr std::uint32_t kWeightDefault = 100;
inline constexpr std::uint32_t kWeightLowest = 1;
inline constexpr std::chrono::milliseconds kBurstDefault{100};
// A burst shorter than the delay of a timer thread would cost throughput.
inline constexpr std::chrono::milliseconds kBurstMin{10};

struct Limits {
  ByResource<std::optional<std::uint64_t>> limit{};      // a second; at least 1
  ByResource<std::optional<std::uint64_t>> guarantee{};  // a second; at least 1
  std::chrono::milliseconds burst = kBurstDefault;       // the part of a limit that may be used at once
                                                         // after rest
  std::uint32_t weight = kWeightDefault;  // share among the QoS classes that wait below the same limit; at least 1
  bool operator==(const Limits&) const = default;
};

}  // namespace stoa::qos
