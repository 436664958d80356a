#include "frontends/nfs/v3/attributes.h"

#include <algorithm>
#include <array>
#include <limits>

namespace stoa::nfs3 {
namespace {

constexpr std::uint32_t kModeBits = 07777;
constexpr std::uint32_t kNanosecondsMax = 1'000'000'000;

// ftype3
std::uint32_t to_wire(core::FileType type) {
  switch (type) {
    case core::FileType::kRegular:
      return 1;
    case core::FileType::kDirectory:
      return 2;
    case core::FileType::kBlockDevice:
      return 3;
    case core::FileType::kCharDevice:
      return 4;
    case core::FileType::kSymlink:
      return 5;
    case core::FileType::kSocket:
      return 6;
    case core::FileType::kFifo:
      return 7;
  }
  return 1;
}

std::uint64_t time_word(Timestamp time) {
  constexpr std::int64_t kSecondsMax = std::numeric_limits<std::uint32_t>::max();
  const std::int64_t seconds = time.seconds();
  if (seconds < 0) return 0;
  if (seconds > kSecondsMax) return std::uint64_t{kSecondsMax} << 32 | (kNanosecondsMax - 1);
  return static_cast<std::uint64_t>(seconds) << 32 | time.nanoseconds();
}

void store_be64(std::byte* at, std::uint64_t value) {
  rpc::store_be32(at, static_cast<std::uint32_t>(value >> 32));
  rpc::store_be32(at + 4, static_cast<std::uint32_t>(value));
}

}  // namespace

void encode_time(rpc::XdrWriter& out, Timestamp time) {
  out.u64(time_word(time));
}

void encode_attributes(rpc::XdrWriter& out, const core::Attributes& attr, std::uint64_t fsid) {
  std::array<std::byte, kAttributesBytes> words;
  std::byte* const at = words.data();
  rpc::store_be32(at, to_wire(attr.type));
  rpc::store_be32(at + 4, attr.mode & kModeBits);
  rpc::store_be32(at + 8, attr.links);
  rpc::store_be32(at + 12, attr.uid);
  rpc::store_be32(at + 16, attr.gid);
  store_be64(at + 20, attr.size);
  store_be64(at + 28, attr.allocated);
  rpc::store_be32(at + 36, attr.device.major);
  rpc::store_be32(at + 40, attr.device.minor);
  store_be64(at + 44, fsid);
  store_be64(at + 52, static_cast<std::uint64_t>(attr.id));
  store_be64(at + 60, time_word(attr.atime));
  store_be64(at + 68, time_word(attr.mtime));
  store_be64(at + 76, time_word(attr.ctime));
  out.fixed(words);
}

void encode_post_op(rpc::XdrWriter& out, const core::Attributes* attr, std::uint64_t fsid) {
  out.boolean(attr != nullptr);
  if (attr != nullptr) encode_attributes(out, *attr, fsid);
}

void encode_wcc(rpc::XdrWriter& out, const core::BeforeAttributes* before, const core::Attributes* after,
                std::uint64_t fsid) {
  out.boolean(before != nullptr);
  if (before != nullptr) {
    out.u64(before->size);
    encode_time(out, before->mtime);
    encode_time(out, before->ctime);
  }
  encode_post_op(out, after, fsid);
}

std::optional<Timestamp> decode_time(rpc::XdrReader& in) {
  const std::uint32_t seconds = in.u32();
  const std::uint32_t nanoseconds = in.u32();
  if (nanoseconds >= kNanosecondsMax) return std::nullopt;
  return Timestamp::from(seconds, nanoseconds);
}

DecodedAttributes decode_set_attributes(rpc::XdrReader& in) {
  DecodedAttributes decoded;
  core::SetAttributes& set = decoded.set;
  if (in.boolean()) set.mode = in.u32() & kModeBits;
  if (in.boolean()) set.uid = in.u32();
  if (in.boolean()) set.gid = in.u32();
  if (in.boolean()) {
    set.size = in.u64();
    decoded.valid &= *set.size <= core::kFileBytesMax;
  }
  const auto set_time = [&](std::optional<core::SetTime>& to) {
    enum : std::uint32_t { kDontChange = 0, kServerTime = 1, kClientTime = 2 };
    switch (in.u32()) {
      case kDontChange:
        return;
      case kServerTime:
        to = core::SetTime{.server_time = true};
        return;
      case kClientTime: {
        const auto time = decode_time(in);
        decoded.valid &= time.has_value();
        to = core::SetTime{.time = time.value_or(Timestamp{})};
        return;
      }
      default:
        in.reject();
    }
  };
  set_time(set.atime);
  set_time(set.mtime);
  return decoded;
}

}  // namespace stoa::nfs3
