#include "core/inode/ancestry.h"

#include <algorithm>
#include <utility>

namespace stoa::core {
namespace {

// On the path of every request where there are QoS classes of directories: so deep a file costs one allocation.
constexpr std::size_t kUsualDepth = 16;

bool passes(const AncestryRef& from, Ancestry::Kind kind) {
  for (const Ancestry* at = from.get(); at != nullptr; at = at->above.get()) {
    if (at->kind == kind) return true;
  }
  return false;
}

}  // namespace

Ancestry::~Ancestry() {
  while (above != nullptr && above.use_count() == 1) above = AncestryRef(std::move(above->above));
}

AncestryRef find_above(const AncestryRef& from, FileId dir) {
  for (const AncestryRef* at = &from; *at != nullptr; at = &(*at)->above) {
    if ((*at)->dir == dir) return *at;
  }
  return nullptr;
}

bool lies_in(const AncestryRef& from, FileId dir) {
  for (const Ancestry* at = from.get(); at != nullptr; at = at->above.get()) {
    if (at->dir == dir) return true;
  }
  return false;
}

bool lies_in_bin(const AncestryRef& from) {
  return passes(from, Ancestry::Kind::kBin);
}

bool lies_in_upload(const AncestryRef& from) {
  return passes(from, Ancestry::Kind::kUpload);
}

FileId sealed_directory(const AncestryRef& from) {
  for (const Ancestry* at = from.get(); at != nullptr; at = at->above.get()) {
    if (at->sealed.load(std::memory_order_relaxed)) return at->dir;
  }
  return kNoFile;
}

std::uint32_t depth_of(const AncestryRef& from) {
  std::uint32_t depth = 0;
  for (const Ancestry* at = from->above.get(); at != nullptr; at = at->above.get()) ++depth;
  return depth;
}

std::vector<FileId> directories_of(const AncestryRef& from) {
  std::vector<FileId> directories;
  directories.reserve(kUsualDepth);
  for (const Ancestry* at = from.get(); at != nullptr; at = at->above.get()) directories.push_back(at->dir);
  std::ranges::reverse(directories);
  return directories;
}

}  // namespace stoa::core
