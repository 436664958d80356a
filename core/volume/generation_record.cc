#include "core/volume/generation_record.h"

#include "core/kv/codec.h"
#include "core/kv/keys.h"
#include "core/volume/volume_record.h"

namespace stoa::core {
namespace {
constexpr std::uint8_t kGenerationVersion = 1;
constexpr std::string_view kGenerationKey = "generation";
}  // namespace

Result<std::optional<VolumeInfo>> read_volume_info(KvReader& kv) {
  std::string value;
  STOA_TRY(found, kv.get(Family::kConfig, keys::kVolumeConfig, &value));
  if (!found) return std::optional<VolumeInfo>{};
  STOA_TRY(record, VolumeRecord::decode(value));
  return std::optional(record.info);
}

Result<Generation> read_generation(KvReader& kv) {
  std::string value;
  STOA_TRY(found, kv.get(Family::kConfig, kGenerationKey, &value));
  if (!found) return Generation{};
  const Opened opened = decode_record(value, kGenerationVersion);
  Decoder in(opened.body);
  Generation generation;
  generation.number = in.get<std::uint64_t>();
  generation.nonce = in.get<std::uint64_t>();
  generation.seconds = in.get<std::int64_t>();
  if (opened.version == 0 || !in.ok()) return fail(Errc::kCorrupt, "the record of the generation");
  return generation;
}

Status write_generation(KvStore& kv, const Generation& generation) {
  Encoder out;
  out.put(generation.number).put(generation.nonce).put(generation.seconds);
  WriteBatch batch;
  batch.put(Family::kConfig, kGenerationKey, encode_record(kGenerationVersion, kGenerationVersion, out.bytes()));
  const WriteBatch* const batches[] = {&batch};
  STOA_CHECK_OK(kv.apply(batches));
  return kv.sync();
}

}  // namespace stoa::core
