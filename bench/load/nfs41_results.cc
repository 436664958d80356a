#include "bench/load/nfs41_results.h"

#include <algorithm>

namespace stoa::bench {
namespace {

std::uint32_t bit(unsigned attribute) {
  return 1u << attribute;
}

}  // namespace

Results41::Results41(std::string_view record) : in_(record) {
  if (in_.u32() != 0) {
    reject("RPC: denied");
    return;
  }
  in_.u32();
  in_.opaque();
  if (const std::uint32_t accepted = in_.u32(); accepted != 0) {
    reject("RPC: accept status " + std::to_string(accepted));
    return;
  }
  status_ = in_.u32();
  in_.opaque();
  in_.u32();
}

Results41& Results41::expect(Op op) {
  if (!why_.empty()) return *this;
  const std::uint32_t number = in_.u32();
  const std::uint32_t status = in_.u32();
  if (!in_.ok()) {
    reject(std::string("no result of ") + name_of(op));
  } else if (number != static_cast<std::uint32_t>(op)) {
    reject(std::string("result of another operation than ") + name_of(op));
  } else if (status != kNfs4Ok) {
    reject(std::string(name_of(op)) + ": " + status_name(status));
  }
  if (!why_.empty()) in_ = XdrIn({});
  return *this;
}

Stateid41 Results41::stateid() {
  Stateid41 stateid{.seqid = in_.u32()};
  const std::string_view other = in_.fixed(stateid.other.size());
  std::ranges::copy(other, stateid.other.begin());
  return stateid;
}

void Results41::getfh(Handle41& handle) {
  const std::string_view bytes = expect(Op::kGetFh).in_.opaque();
  if (bytes.size() > sizeof handle.bytes) return reject("a filehandle above 128 bytes");
  handle.size = static_cast<std::uint32_t>(bytes.size());
  std::ranges::copy(bytes, handle.bytes);
}

Attributes41 Results41::getattr() {
  expect(Op::kGetattr);
  const std::uint32_t words = in_.u32();
  std::uint32_t first = 0;
  for (std::uint32_t i = 0; i < words && in_.ok(); ++i) {
    const std::uint32_t word = in_.u32();
    if (i == 0) first = word;
  }
  // They come in the order of their numbers: type 1, change 3, size 4.
  XdrIn values(in_.opaque());
  if ((first & bit(1)) == 0 || (first & bit(3)) == 0 || (first & bit(4)) == 0 || (first & (bit(0) | bit(2))) != 0) {
    reject("GETATTR: other attributes than those asked for");
    return {};
  }
  const Attributes41 attributes{.type = values.u32(), .change = values.u64(), .size = values.u64()};
  if (!values.ok()) reject("GETATTR: values that end early");
  return attributes;
}

Opened41 Results41::open() {
  Opened41 opened{.stateid = expect(Op::kOpen).stateid()};
  in_.fixed(4 + 8 + 8);  // change_info4
  in_.u32();             // rflags
  skip_attribute_map();
  const std::uint32_t delegation = in_.u32();
  if (delegation == 1 || delegation == 2) {
    opened.delegation = delegation == 1 ? Delegation41::kRead : Delegation41::kWrite;
    opened.delegation_stateid = stateid();
    in_.u32();  // recalled at once
    if (delegation == 2) in_.fixed(4 + 8);
    in_.fixed(4 + 4 + 4);  // nfsace4
    in_.opaque();
  } else if (delegation == 3) {
    const std::uint32_t reason = in_.u32();
    if (reason == 1 || reason == 2) in_.u32();  // WND4_CONTENTION, WND4_RESOURCE: whether it will be told later
  } else if (delegation != 0) {
    reject("OPEN: no such delegation");
  }
  return opened;
}

void Results41::skip_attribute_map() {
  for (std::uint32_t words = in_.u32(); words > 0 && in_.ok(); --words) in_.u32();
}

void Results41::read(std::uint32_t count, std::string_view& data) {
  expect(Op::kRead).in_.u32();  // eof
  data = in_.opaque();
  if (data.size() != count) {
    reject("short READ");
    data = {};
  }
}

std::uint64_t Results41::write(std::uint32_t count) {
  if (expect(Op::kWrite).in_.u32() != count) reject("short WRITE");
  in_.u32();  // committed: at least as much as was asked for
  return in_.u64();
}

}  // namespace stoa::bench
