// The identity of a volume: key "volume" of family config.
#pragma once

#include <algorithm>

#include "base/siphash.h"
#include "core/kv/codec.h"
#include "core/volume/volume.h"

namespace stoa::core {

struct VolumeRecord {
  VolumeInfo info;
  SipKey handle_key{};  // secret: its holder can forge file handles

  std::string encode() const {
    Encoder out;
    out.put(kMagic).put(info.id).put_string(info.name).put(info.created.ns).put(handle_key[0]).put(handle_key[1]);
    return encode_record(kVersion, kVersion, out.bytes());
  }
  // kNotSupported: the volume was made before version 0.1.0, or by a newer version.
  static Result<VolumeRecord> decode(std::string_view value) {
    constexpr std::size_t kEnvelopeBytes = 6;
    Decoder head(value.substr(std::min(value.size(), kEnvelopeBytes)));
    const bool has_magic = head.get<std::uint64_t>() == kMagic;
    const Opened opened = decode_record(value, has_magic ? kVersion : kLastEarlyVersion);
    if (!has_magic && opened.version != 0) return fail(Cause::kVolumeEarly);
    if (opened.version == 0) {
      const bool newer = has_magic && static_cast<std::uint8_t>(value[1]) > kVersion;
      return newer ? fail(Cause::kVolumeNewer) : fail(Errc::kCorrupt, "volume record");
    }
    Decoder in(opened.body);
    in.get<std::uint64_t>();
    VolumeRecord record;
    record.info.id = in.get<std::uint64_t>();
    record.info.name = std::string(in.get_string());
    record.info.created.ns = in.get<std::int64_t>();
    record.handle_key[0] = in.get<std::uint64_t>();
    record.handle_key[1] = in.get<std::uint64_t>();
    if (!in.ok()) return fail(Errc::kCorrupt, "volume record");
    return record;
  }

 private:
  // Development versions before 0.1.0 wrote no magic number, and other records than these; their own record of a volume
  // came to version 3.
  static constexpr std::uint64_t kMagic = 0x314c4f56414f5453;  // "STOAVOL1"
  static constexpr std::uint8_t kVersion = 1;
  static constexpr std::uint8_t kLastEarlyVersion = 3;
};

}  // namespace stoa::core
