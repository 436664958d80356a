#include "core/usage/usage_log.h"

#include "base/assert.h"
#include "core/kv/codec.h"

namespace stoa::core {
namespace {

constexpr std::uint8_t kLogVersion = 1;

void put_amount(Encoder& out, std::int64_t value) {
  out.put_varint(static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63));
}
std::int64_t get_amount(Decoder& in) {
  const std::uint64_t value = in.get_varint();
  return static_cast<std::int64_t>(value >> 1 ^ (~(value & 1) + 1));
}

UsageClass get_class(Decoder& in, bool& sound) {
  const auto of = in.get<UsageClass>();
  sound = sound && of <= kClassesButLive.back();
  return of;
}

}  // namespace

void UsageLog::add(const Payee& payee, const Usage& delta) {
  Usage& sum = charges_[payee];
  sum = sum + delta;
}

std::string UsageLog::encode() const {
  Encoder out;
  out.put_varint(charges_.size());
  for (const auto& [payee, delta] : charges_) {
    out.put(payee.dir).put(payee.of).put(payee.owner.uid).put(payee.owner.gid);
    out.put(static_cast<std::uint64_t>(delta.bytes)).put(static_cast<std::int64_t>(delta.bytes >> 64));
    put_amount(out, delta.files);
    put_amount(out, delta.directories);
  }
  out.put_varint(gone_.size());
  for (const auto& [dir, gone] : gone_) {
    STOA_ASSERT(gone.child_class <= kClassesButLive.back(), "the log tells a class that its reader knows");
    out.put(dir).put(gone.parent).put(gone.child_class);
  }
  return encode_record(kLogVersion, kLogVersion, out.bytes());
}

Status UsageLog::add(std::string_view record) {
  const Opened opened = decode_record(record, kLogVersion);
  Decoder in(opened.body);
  bool sound = true;
  for (std::uint64_t left = in.get_varint(); left > 0 && in.ok(); --left) {
    Payee payee;
    payee.dir = in.get<FileId>();
    payee.of = get_class(in, sound);
    payee.owner.uid = in.get<std::uint32_t>();
    payee.owner.gid = in.get<std::uint32_t>();
    Usage delta;
    const auto low = in.get<std::uint64_t>();
    delta.bytes = in.get<std::int64_t>() * (ByteCount{1} << 64) + low;
    delta.files = get_amount(in);
    delta.directories = get_amount(in);
    if (in.ok()) add(payee, delta);
  }
  for (std::uint64_t left = in.get_varint(); left > 0 && in.ok(); --left) {
    const auto dir = in.get<FileId>();
    Gone gone;
    gone.parent = in.get<FileId>();
    gone.child_class = get_class(in, sound);
    if (in.ok()) add_gone(dir, gone);
  }
  if (opened.version == 0 || !in.ok() || !sound) return fail(Errc::kCorrupt, "the log of usage");
  return {};
}

}  // namespace stoa::core
