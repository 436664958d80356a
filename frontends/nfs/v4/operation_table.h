// Every operation by its number: what COMPOUND calls, and what may stand where.
#pragma once

#include <span>
#include <string_view>

#include "frontends/nfs/v4/compound.h"

namespace stoa::nfs4 {

// In minor version 0 everything may stand everywhere.
enum class Place : std::uint8_t {
  kInSession,  // behind SEQUENCE
  kFirst,      // SEQUENCE itself
  kAlone,   // without a session, and then nothing else with it (RFC 8881 18.35.3, 18.36.3, 18.34.3, 18.37.3, 18.50.3)
  kMinor0,  // dropped by minor version 1: kNotSupp from there on (RFC 8881 17)
};

struct OperationEntry {
  std::uint32_t number = 0;
  std::string_view name{};
  std::uint32_t minor_low = 0, minor_high = 2;
  Nfs4Status (*run)(Compound&) = nullptr;  // null: known, and answered with kNotSupp
  Place place = Place::kInSession;
};

inline constexpr std::uint32_t kOpIllegal = 10044;

// Null: no operation of this minor version has the number (kOpIllegal).
const OperationEntry* find_operation(std::uint32_t number, std::uint32_t minor);

}  // namespace stoa::nfs4
