// What a volume knows of itself: key "volume" of family config.
#pragma once

#include "base/siphash.h"
#include "core/kv/codec.h"
#include "core/volume/volume.h"

namespace stoa::core {

struct VolumeRecord {
  VolumeInfo info;
  SipKey handle_key{};  // secret: whoever knows it can forge file handles
  // Usage is known by class. A version that did not know of classes would make that untrue: it refuses to open such a
  // volume.
  bool by_class = true;
  // The same of symbolic links, extended attributes and ACLs, which count.
  bool with_attributes = true;

  std::string encode() const {
    Encoder out;
    out.put(info.id).put_string(info.name).put(info.created.ns).put(handle_key[0]).put(handle_key[1]);
    const std::uint8_t version = !by_class ? kWithoutClasses : with_attributes ? kVersion : kWithoutAttributes;
    return seal(version, version, out.bytes());
  }
  static Result<VolumeRecord> decode(std::string_view value) {
    const Opened opened = unseal(value, kVersion);
    if (opened.version == 0) return fail(Errc::kNotSupported, "the volume was written by a newer version of Stoa");
    Decoder in(opened.body);
    VolumeRecord record;
    record.by_class = opened.version > kWithoutClasses;
    record.with_attributes = opened.version > kWithoutAttributes;
    record.info.id = in.get<std::uint64_t>();
    record.info.name = std::string(in.get_string());
    record.info.created.ns = in.get<std::int64_t>();
    record.handle_key[0] = in.get<std::uint64_t>();
    record.handle_key[1] = in.get<std::uint64_t>();
    if (!in.ok()) return fail(Errc::kCorrupt, "volume record");
    return record;
  }

 private:
  static constexpr std::uint8_t kWithoutClasses = 1;
  static constexpr std::uint8_t kWithoutAttributes = 2;
  static constexpr std::uint8_t kVersion = 3;
};

}  // namespace stoa::core
