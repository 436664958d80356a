// Properties of a COMPOUND before it is run: whether it may run twice, its cost class, and its price. All step over the
// arguments of the operations that they know (operation_table.h), and take the careful answer at the first other one.
#include <algorithm>

#include "frontends/nfs/v4/operation_table.h"
#include "frontends/nfs/v4/program.h"

namespace stoa::nfs4 {
namespace {

enum : std::uint32_t { kPutFh = 22, kWrite = 38 };

class Scan {
 public:
  explicit Scan(std::span<const std::byte> arguments) : in(arguments) {
    in.opaque(kTagBytesMax);
    minor = in.u32();
    left_ = in.u32();
  }
  // Whether there is another operation: its number is in `number`, and its arguments come next.
  bool next() {
    if (left_ == 0 || !in.ok()) return false;
    --left_;
    number = in.u32();
    foreseen = &foresee(number);
    return true;
  }
  // To the next operation. False: this one is unknown.
  bool skip() { return foreseen->arguments.skip(in); }

  rpc::XdrReader in;
  std::uint32_t minor = 0;
  std::uint32_t number = 0;
  const Foreseen* foreseen = nullptr;

 private:
  std::uint32_t left_ = 0;
};

rpc::CostClass cost_class_of(Scan& scan) {
  using rpc::CostClass;
  rpc::XdrReader& in = scan.in;
  switch (scan.foreseen->cost) {
    case Cost::kRead:
      in.fixed(16 + 8);
      return in.u32() > kCopiedReadBytesMax ? CostClass::kHeavy : CostClass::kData;
    case Cost::kWrite:
      in.fixed(16 + 8);
      return in.u32() == 0 ? CostClass::kData : CostClass::kSync;
    case Cost::kOpen:  // makes the file, or not
      in.fixed(4 + 4 + 4 + 8);
      in.opaque(~std::uint32_t{0});
      return in.u32() == 0 ? CostClass::kMemory : CostClass::kChange;
    case Cost::kData:
      return CostClass::kData;
    case Cost::kSync:
      return CostClass::kSync;
    case Cost::kChange:
      return CostClass::kChange;
    case Cost::kNone:
    case Cost::kMemory:
      break;
  }
  return CostClass::kMemory;
}

}  // namespace

bool is_idempotent_compound(const rpc::CallHeader& header) {
  Scan scan(header.arguments);
  // Sessions have a replay cache of their own.
  if (scan.minor != 0) return true;
  // Operations with the seqid of an owner are recognised as retries by that.
  while (scan.next()) {
    if (!scan.foreseen->idempotent) return false;
    scan.skip();
  }
  return true;
}

std::size_t write_payload_offset(std::span<const std::byte> prefix) {
  rpc::CallHeader header;
  if (!rpc::decode_call(prefix, header) || header.auth != rpc::AuthStatus::kOk) return 0;
  if (header.program != kNfsProgram || header.version != kNfsVersion) return 0;
  Scan scan(header.arguments);
  while (scan.next()) {
    if (scan.number == kWrite) {
      scan.in.fixed(16 + 8 + 4);
      scan.in.u32();  // length of the data
      return scan.in.ok() ? prefix.size() - scan.in.left() : 0;
    }
    if (scan.foreseen->cost != Cost::kNone) return 0;
    scan.skip();
  }
  return 0;
}

rpc::CostClass cost_class_of(const rpc::CallHeader& header) {
  using rpc::CostClass;
  Scan scan(header.arguments);
  if (scan.minor == 0 && !is_idempotent_compound(header)) return CostClass::kChange;
  if (header.arguments.size() > kCopiedReadBytesMax) return CostClass::kHeavy;
  if (scan.minor > kMinorMax) return CostClass::kMemory;
  while (scan.next()) {
    if (scan.foreseen->cost != Cost::kNone) return cost_class_of(scan);
    scan.skip();
  }
  return CostClass::kMemory;
}

CompoundPrice price_compound(const rpc::CallHeader& header) {
  CompoundPrice compound;
  Scan scan(header.arguments);
  if (scan.minor > kMinorMax) return compound;
  bool here = false;  // at the file of compound.handle: no other has come to its place
  bool looks = false;
  bool gives_back = false;
  while (scan.next()) {
    const Foreseen& foreseen = *scan.foreseen;
    looks = looks || foreseen.pays == Pays::kLooks || foreseen.pays == Pays::kUnforeseen;
    gives_back = gives_back || foreseen.pays == Pays::kGivesBack;
    if (foreseen.pays == Pays::kUnforeseen) break;
    here = here && !foreseen.moves;
    rpc::XdrReader arguments = scan.in;
    scan.skip();
    if (scan.number == kPutFh) {
      const auto handle = arguments.opaque(kHandleBytesMax);
      if (compound.handle.empty()) compound.handle = handle;
      here = std::ranges::equal(handle, compound.handle);
    } else if (here && foreseen.pays == Pays::kRead) {
      arguments.fixed(16 + 8);
      compound.price += qos::Price::read(std::min(arguments.u32(), kIoBytesMax));
    } else if (here && foreseen.pays == Pays::kWrite) {
      arguments.fixed(16 + 8 + 4);
      compound.price += qos::Price::write(arguments.opaque(~std::uint32_t{0}).size());
    }
  }
  if (compound.price.free() && looks && !gives_back) compound.price = qos::Price::metadata();
  return compound;
}

}  // namespace stoa::nfs4
