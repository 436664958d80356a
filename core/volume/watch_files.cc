#include "core/volume/watch_files.h"

#include "base/log.h"
#include "core/kv/keys.h"
#include "core/links/orphan.h"
#include "core/txn/covered.h"
#include "core/txn/operations.h"
#include "core/txn/sealed.h"

namespace stoa::core {
namespace {

class TreeFiles final : public FileWatch {
 public:
  explicit TreeFiles(VolumeContext& volume) : volume_(volume) {}

  Result<bool> orphan(FileId file) override {
    STOA_TRY(node, volume_.nodes.get(file));
    const std::shared_lock lock(node->lock);
    STOA_CHECK_OK(require_live(*node));
    return node->record.links == 0;
  }

  bool quiesced(FileId file) override {
    const auto node = volume_.nodes.get(file);
    if (!node) return false;
    // Content is written and cut under the gate; all else is changed under the node's lock.
    const std::unique_lock gate((*node)->data_gate, std::try_to_lock);
    if (!gate.owns_lock()) return false;
    const std::shared_lock lock((*node)->lock);
    return !(*node)->deleted;
  }

  Result<Place> place(FileId file) override {
    STOA_TRY(node, volume_.nodes.get(file));
    const std::shared_lock lock(node->lock);
    STOA_CHECK_OK(require_live(*node));
    const Inode& record = node->record;
    Place place{.is_directory = record.is_directory()};
    if (place.is_directory || record.links == 0) return place;
    if (record.links == 1) {
      STOA_TRY(directory, covering_directory(volume_, record));
      if (directory != kNoFile) place.directories.push_back(directory);
      return place;
    }
    const std::string lower = keys::id_key(file);
    const auto it = volume_.kv.scan(Family::kLink, lower, keys::behind_prefix(lower));
    for (; it->valid(); it->next()) {
      if (place.directories.size() == kPlacesMax) return fail(Errc::kTooManyLinks);
      place.directories.push_back(keys::id_of(keys::after_id(it->key())));
    }
    STOA_CHECK_OK(it->status());
    return place;
  }

  bool may_cache_writes(FileId file) override {
    const auto node = volume_.nodes.get(file);
    if (!node) return false;
    const auto sealed = [&]() -> Result<bool> {
      const std::shared_lock chain(volume_.tree_lock);
      const std::shared_lock lock((*node)->lock);
      STOA_TRY(by, sealing_directory(volume_, **node));
      return by != kNoFile;
    }();
    return sealed && !*sealed;
  }

  void last_closed(FileId file) override {
    if (const Status deleted = delete_orphan(volume_, file); !deleted) {
      log_warning("namespace", "a file without a name could not be deleted; the next start does it",
                  {{"inode", static_cast<std::uint64_t>(file)}, {"error", describe(deleted.error())}});
    }
  }

  Status delete_name(FileId file, const OpenedName& name) override {
    OpContext ctx;
    ctx.protocol = name.protocol;
    ctx.cred = name.cred;
    ctx.client = name.client;
    ctx.durability = Durability::kApplied;
    const auto gone = unlink(volume_, ctx, {.parent = name.parent, .name = name.name, .file = file});
    volume_.state.send_recalls();
    return gone ? Status{} : fail(gone.error());
  }

 private:
  VolumeContext& volume_;
};

}  // namespace

std::unique_ptr<FileWatch> watch_files(VolumeContext& volume) {
  return std::make_unique<TreeFiles>(volume);
}

}  // namespace stoa::core
