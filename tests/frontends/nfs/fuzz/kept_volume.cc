#include "tests/frontends/nfs/fuzz/kept_volume.h"

#include <memory>
#include <string>
#include <vector>

#include "base/assert.h"

namespace stoa::test {
namespace {

constexpr std::uint32_t kInputsMax = 500;
// Limit of blobs left by earlier inputs.
constexpr std::size_t kBlobsMax = 1000;
constexpr std::uint64_t kBytesMax = 64u << 20;

}  // namespace

KeptVolume& KeptVolume::next() {
  static std::unique_ptr<KeptVolume> kept;
  if (kept == nullptr || kept->worn_out()) {
    kept.reset();
    kept.reset(new KeptVolume);
  }
  kept->make_export();
  return *kept;
}

KeptVolume::KeptVolume() {
  STOA_ASSERT(core::Volume::format(kv_, "fuzz"));
  auto opened = core::Volume::open(kv_, blobs_, metrics_, {.cached_inodes_max = 1000, .background = false});
  STOA_ASSERT(opened);
  volume_ = std::move(*opened);
  access_.emplace(volume_->registry());
}

bool KeptVolume::worn_out() {
  std::vector<core::BlobId> blobs;
  blobs_.for_each([&](core::BlobId blob) { blobs.push_back(blob); });
  if (inputs_ >= kInputsMax || blobs.size() > kBlobsMax) return true;
  std::uint64_t bytes = 0;
  for (const core::BlobId blob : blobs) bytes += *blobs_.allocated(blob, blobs_.capacity(blob));
  return bytes > kBytesMax;
}

void KeptVolume::make_export() {
  if (inputs_ > 0) STOA_ASSERT(volume_->registry().remove_export("e"));
  const std::string name = std::to_string(++inputs_);
  const auto root = ns().mkdir({}, {core::kRootId, name, {.mode = 0777}});
  STOA_ASSERT(root);
  root_ = root->attr;
  STOA_ASSERT(volume_->registry().add_export(
      {.name = "e", .root = root_.id, .path = "/" + name, .nfs = true, .clients = {core::ClientRule{}}}));
  access_->refresh();
}

core::HandleBytes KeptVolume::handle_of(const core::Attributes& attr) const {
  return volume_->handles().encode({attr.id, attr.generation, access_->snapshot().find_export("e")->id});
}

}  // namespace stoa::test

// Leaked on purpose: the contents of the volume. Looking for leaks behind every such input takes most of the time; they
// are looked for at the end.
extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {
  static char no_leaks[] = "-detect_leaks=0";
  static std::vector<char*> more(*arguments, *arguments + *count);
  more.insert(more.begin() + 1, no_leaks);
  *count = static_cast<int>(more.size());
  more.push_back(nullptr);
  *arguments = more.data();
  return 0;
}
