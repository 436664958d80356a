#include "core/api/file_handle.h"

#include <bit>
#include <cstring>

namespace stoa::core {
namespace {

constexpr std::byte kVersion{1};
constexpr std::size_t kScopeAt = 4;
constexpr std::size_t kVolumeAt = 8;
constexpr std::size_t kIdAt = 16;
constexpr std::size_t kGenerationAt = 24;
constexpr std::size_t kMacAt = 28;
static_assert(kMacAt + 8 == kHandleBytes);
static_assert(std::endian::native == std::endian::little);

template <class T>
void put(HandleBytes& bytes, std::size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

template <class T>
T get(std::span<const std::byte> bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

}  // namespace

HandleBytes HandleCodec::encode(const FileRef& ref) const {
  HandleBytes bytes{};
  bytes[0] = kVersion;
  put(bytes, kScopeAt, ref.scope);
  put(bytes, kVolumeAt, volume_id_);
  put(bytes, kIdAt, ref.id);
  put(bytes, kGenerationAt, ref.generation);
  put(bytes, kMacAt, siphash(key_, std::span(bytes).first(kMacAt)));
  return bytes;
}

Result<FileRef> HandleCodec::decode(std::span<const std::byte> bytes) const {
  if (bytes.size() != kHandleBytes || bytes[0] != kVersion) return fail(Errc::kBadHandle);
  if (get<std::uint64_t>(bytes, kMacAt) != siphash(key_, bytes.first(kMacAt))) return fail(Errc::kBadHandle);
  if (get<std::uint64_t>(bytes, kVolumeAt) != volume_id_) return fail(Errc::kBadHandle);
  return FileRef{get<FileId>(bytes, kIdAt), get<std::uint32_t>(bytes, kGenerationAt), get<ExportId>(bytes, kScopeAt)};
}

}  // namespace stoa::core
