// Table of operations by number: the function for COMPOUND, their allowed places, and facts known before they are
// run.
#pragma once

#include <span>
#include <string_view>

#include "frontends/nfs/v4/compound.h"

namespace stoa::nfs4 {

// Minor version 0 allows every operation in every position.
enum class Place : std::uint8_t {
  kInSession,  // behind SEQUENCE
  kFirst,      // SEQUENCE itself
  kAlone,   // without a session, and then nothing else with it (RFC 8881 18.35.3, 18.36.3, 18.34.3, 18.37.3, 18.50.3)
  kMinor0,  // dropped by minor version 1: kNotSupp from there on (RFC 8881 17)
};

// The layout of an operation's arguments, for skipping them: a number of bytes, and the parts that follow them.
struct Arguments {
  enum class Tail : std::uint8_t {
    kUnknown,  // these arguments are never skipped
    kNone,
    kOpaque,
    kHandle,  // an opaque of at most kHandleBytesMax
    kWords,   // a count and that many words
  };
  std::uint8_t bytes = 0;
  Tail tail = Tail::kUnknown;

  // False, and nothing was read: their layout is unknown. Truncated arguments make the reader fail.
  bool skip(rpc::XdrReader& in) const;
};

inline bool Arguments::skip(rpc::XdrReader& in) const {
  if (tail == Tail::kUnknown) return false;
  in.fixed(bytes);
  switch (tail) {
    case Tail::kOpaque:
      in.opaque(~std::uint32_t{0});
      break;
    case Tail::kHandle:
      in.opaque(kHandleBytesMax);
      break;
    case Tail::kWords:
      for (std::uint32_t left = in.u32(); left > 0 && in.ok(); --left) in.u32();
      break;
    case Tail::kUnknown:
    case Tail::kNone:
      break;
  }
  return true;
}

// The first operation with a cost selects the thread that runs a COMPOUND.
enum class Cost : std::uint8_t {
  kNone,
  kMemory,  // rpc::CostClass has these
  kData,
  kSync,
  kChange,
  kRead,   // by the size of a READ
  kWrite,  // by the stability of a WRITE
  kOpen,   // by whether an OPEN may make the file
};

// The price of an operation, as far as it is known before it is run.
enum class Pays : std::uint8_t {
  kNothing,
  kLooks,      // at names or attributes, or changes them
  kGivesBack,  // frees state that others may wait for: never held up for its metadata
  kRead,
  kWrite,
  kUnforeseen,  // as kLooks; the operations behind it are not foreseen
};

// Before a COMPOUND is run. Defaults are the careful answers.
struct Foreseen {
  Arguments arguments{};
  bool idempotent = false;  // in minor version 0: running it twice has the same effect as once
  Cost cost = Cost::kChange;
  Pays pays = Pays::kUnforeseen;
  bool moves = false;  // to another current filehandle
};

struct OperationEntry {
  std::uint32_t number = 0;
  std::string_view name{};
  std::uint32_t minor_low = 0, minor_high = 2;
  Nfs4Status (*run)(Compound&) = nullptr;  // null: known, and answered with kNotSupp
  Place place = Place::kInSession;
  Foreseen foreseen{};
};

inline constexpr std::uint32_t kOpIllegal = 10044;

// Null: no operation of this minor version has the number (kOpIllegal).
const OperationEntry* find_operation(std::uint32_t number, std::uint32_t minor);
// Of any minor version, and of any number.
const Foreseen& foresee(std::uint32_t number);

}  // namespace stoa::nfs4
