#include "core/data/gc.h"

#include "core/kv/keys.h"

namespace stoa::core {

Status adopt_blobs(Tree& tree) {
  for (const Family family : {Family::kBlob, Family::kGc}) {
    const auto it = tree.kv.scan(family, {}, {});
    for (; it->valid(); it->next()) STOA_CHECK_OK(tree.blobs.adopt(BlobId{keys::read_be64(it->key())}));
    STOA_CHECK_OK(it->status());
  }
  return tree.blobs.finish_adoption();
}

Status collect_garbage(Tree& tree) {
  WriteBatch done;
  const auto it = tree.kv.scan(Family::kGc, {}, {});
  for (; it->valid(); it->next()) {
    STOA_CHECK_OK(tree.blobs.release(BlobId{keys::read_be64(it->key())}));
    done.remove(Family::kGc, it->key());
  }
  STOA_CHECK_OK(it->status());
  if (done.empty()) return {};
  STOA_CHECK_OK(tree.committer.commit({.batch = std::move(done)}));
  return {};
}

Status flush_lazy(Tree&) { return {}; }
Status scrub_all(Tree&) { return {}; }
std::vector<std::string> damage_found(const Tree&) { return {}; }

}  // namespace stoa::core
