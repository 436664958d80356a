// What a COMPOUND is, before it is run: whether it may be run twice, what it will cost, and what it pays. All step over
// the arguments of the operations that they know, and take the careful answer at the first other one.
#include <algorithm>

#include "frontends/nfs/v4/program.h"

namespace stoa::nfs4 {

bool is_idempotent_compound(const rpc::CallHeader& header) {
  rpc::XdrReader in(header.arguments);
  in.opaque(kTagBytesMax);
  // Sessions have a replay cache of their own.
  if (in.u32() != 0) return true;
  // Operations with the seqid of an owner are known as retries by that.
  const std::uint32_t count = in.u32();
  for (std::uint32_t i = 0; i < count && in.ok(); ++i) {
    switch (in.u32()) {
      case 3:
        in.u32();
        break;  // ACCESS
      case 4:
        in.fixed(4 + 16);
        break;  // CLOSE
      case 5:
        in.fixed(8 + 4);
        break;  // COMMIT
      case 9:
        for (std::uint32_t n = in.u32(); n > 0 && in.ok(); --n) in.u32();
        break;  // GETATTR
      case 10:
      case 16:
      case 23:
      case 24:
      case 27:
      case 31:
      case 32:
        break;  // GETFH, LOOKUPP, PUT*FH, READLINK, RESTOREFH, SAVEFH
      case 14:
        in.fixed(4 + 4 + 16 + 8 + 8);
        break;  // LOCKU
      case 15:
      case 22:
      case 33:
        in.opaque(~std::uint32_t{0});
        break;  // LOOKUP, PUTFH, SECINFO
      case 25:
        in.fixed(16 + 8 + 4);
        break;  // READ
      case 26:  // READDIR
        in.fixed(8 + 8 + 4 + 4);
        for (std::uint32_t n = in.u32(); n > 0 && in.ok(); --n) in.u32();
        break;
      case 30:
        in.u64();
        break;  // RENEW
      case 38:
        in.fixed(16 + 8 + 4);
        in.opaque(~std::uint32_t{0});
        break;  // WRITE
      default:
        return false;
    }
  }
  return true;
}

std::size_t write_payload_offset(std::span<const std::byte> prefix) {
  rpc::CallHeader header;
  if (!rpc::decode_call(prefix, header) || header.auth != rpc::AuthStatus::kOk) return 0;
  if (header.program != kNfsProgram || header.version != kNfsVersion) return 0;
  rpc::XdrReader in(header.arguments);
  in.opaque(kTagBytesMax);
  in.u32();  // minor version
  const std::uint32_t count = in.u32();
  for (std::uint32_t i = 0; i < count && in.ok(); ++i) {
    switch (in.u32()) {
      case 22:
        in.opaque(kHandleBytesMax);
        break;  // PUTFH
      case 38:  // WRITE
        in.fixed(16 + 8 + 4);
        in.u32();  // length of the data
        return in.ok() ? prefix.size() - in.left() : 0;
      case 53:
        in.fixed(16 + 16);
        break;  // SEQUENCE
      default:
        return 0;
    }
  }
  return 0;
}

rpc::Weight weigh_compound(const rpc::CallHeader& header) {
  using rpc::Weight;
  if (!is_idempotent_compound(header)) return Weight::kChange;
  if (header.arguments.size() > kCopiedReadBytesMax) return Weight::kHeavy;
  rpc::XdrReader in(header.arguments);
  in.opaque(kTagBytesMax);
  const std::uint32_t minor = in.u32();
  const std::uint32_t count = in.u32();
  if (minor > kMinorMax) return Weight::kMemory;
  for (std::uint32_t i = 0; i < count && in.ok(); ++i) {
    switch (in.u32()) {
      case 3:
        in.u32();
        break;  // ACCESS
      case 9:
        for (std::uint32_t n = in.u32(); n > 0 && in.ok(); --n) in.u32();
        break;  // GETATTR
      case 10:
      case 16:
      case 23:
      case 24:
      case 31:
      case 32:
        break;  // GETFH, LOOKUPP, PUTPUBFH, PUTROOTFH, RESTOREFH, SAVEFH
      case 15:
        in.opaque(~std::uint32_t{0});
        break;  // LOOKUP
      case 22:
        in.opaque(~std::uint32_t{0});
        break;  // PUTFH
      case 53:
        in.fixed(16 + 16);
        break;  // SEQUENCE: session, sequence, slot, highest, cache
      case 25:
        in.fixed(16 + 8);
        return in.u32() > kCopiedReadBytesMax ? Weight::kHeavy : Weight::kData;  // READ
      case 38:
        in.fixed(16 + 8);
        return in.u32() == 0 ? Weight::kData : Weight::kSync;  // WRITE
      case 5:
        return Weight::kSync;  // COMMIT
      case 26:
      case 27:
      case 68:
      case 69:
      case 60:
        return Weight::kData;  // READDIR, READLINK, READ_PLUS, SEEK, COPY
      case 18:                 // OPEN: makes the file, or not
        in.fixed(4 + 4 + 4 + 8);
        in.opaque(~std::uint32_t{0});
        return in.u32() == 0 ? Weight::kMemory : Weight::kChange;
      case 4:
      case 8:
      case 12:
      case 13:
      case 14:
      case 21:
      case 30:
      case 45:
      case 55:
        return Weight::kMemory;  // CLOSE, LOCK, RENEW, ...
      default:
        return Weight::kChange;
    }
    if (!in.ok()) break;
  }
  return Weight::kMemory;
}

CompoundPrice price_compound(const rpc::CallHeader& header) {
  CompoundPrice compound;
  rpc::XdrReader in(header.arguments);
  in.opaque(kTagBytesMax);
  const std::uint32_t minor = in.u32();
  const std::uint32_t count = in.u32();
  if (minor > kMinorMax) return compound;
  bool here = false;        // at the file of compound.handle: no other has come to its place
  bool looks = false;       // at names or attributes, or changes them
  bool gives_back = false;  // what others may be waiting for: never held up for its metadata
  bool known = true;
  for (std::uint32_t i = 0; i < count && known && in.ok(); ++i) {
    switch (in.u32()) {
      case 3:
        in.u32();
        looks = true;
        break;  // ACCESS
      case 4:
        in.fixed(4 + 16);
        gives_back = true;
        break;  // CLOSE
      case 5:
        in.fixed(8 + 4);
        looks = true;
        break;  // COMMIT
      case 8:
        in.fixed(16);
        gives_back = true;
        break;  // DELEGRETURN
      case 9:   // GETATTR
        for (std::uint32_t n = in.u32(); n > 0 && in.ok(); --n) in.u32();
        looks = true;
        break;
      case 10:
      case 32:
        break;  // GETFH, SAVEFH
      case 14:
        in.fixed(4 + 4 + 16 + 8 + 8);
        gives_back = true;
        break;  // LOCKU
      case 15:
        in.opaque(~std::uint32_t{0});
        looks = true;
        here = false;
        break;  // LOOKUP
      case 16:
        looks = true;
        here = false;
        break;    // LOOKUPP
      case 22: {  // PUTFH
        const auto handle = in.opaque(kHandleBytesMax);
        if (compound.handle.empty()) compound.handle = handle;
        here = std::ranges::equal(handle, compound.handle);
        break;
      }
      case 23:
      case 24:
      case 31:
        here = false;
        break;  // PUTPUBFH, PUTROOTFH, RESTOREFH
      case 25:
      case 68: {  // READ, READ_PLUS
        in.fixed(16 + 8);
        const std::uint32_t bytes = std::min(in.u32(), kIoBytesMax);
        if (here) compound.price += qos::Price::read(bytes);
        break;
      }
      case 27:
        looks = true;
        break;  // READLINK
      case 30:
        in.u64();
        break;    // RENEW
      case 38: {  // WRITE
        in.fixed(16 + 8 + 4);
        const auto data = in.opaque(~std::uint32_t{0});
        if (here) compound.price += qos::Price::write(data.size());
        break;
      }
      case 53:
        in.fixed(16 + 16);
        break;  // SEQUENCE
      default:
        looks = true;
        known = false;
        break;
    }
  }
  if (compound.price.free() && looks && !gives_back) compound.price = qos::Price::metadata();
  return compound;
}

}  // namespace stoa::nfs4
