// Operations on open directories.
#include <algorithm>

#include "frontends/native/fuse/attributes.h"
#include "frontends/native/fuse/operations.h"

namespace stoa::native::fuse {
namespace {

// Packs entries as fuse_dirent, or as fuse_direntplus with their attributes.
class PackedEntries : public EntrySink {
 public:
  PackedEntries(const Exchange& x, std::span<std::byte> into, bool attributes)
      : x_(x), into_(into), attributes_(attributes) {}

  bool add(const core::DirectoryEntry& entry, const Validity& valid) override {
    const std::size_t prefix = attributes_ ? sizeof(fuse_entry_out) : 0;
    const std::size_t length = FUSE_DIRENT_ALIGN(prefix + FUSE_NAME_OFFSET + entry.name.size());
    if (length > into_.size() - used_) return false;
    std::byte* at = into_.data() + used_;
    std::memset(at, 0, length);
    if (attributes_) put_attributes(at, entry, valid);
    fuse_dirent head{};
    head.ino = static_cast<std::uint64_t>(entry.id);
    head.off = entry.cookie;
    head.namelen = static_cast<std::uint32_t>(entry.name.size());
    head.type = type_bits(entry.type) >> 12;
    std::memcpy(at + prefix, &head, FUSE_NAME_OFFSET);
    std::memcpy(at + prefix + FUSE_NAME_OFFSET, entry.name.data(), entry.name.size());
    used_ += length;
    return true;
  }
  std::size_t used() const { return used_; }

 private:
  // Node 0 tells the kernel that there are no attributes; "." and ".." must have none.
  void put_attributes(std::byte* at, const core::DirectoryEntry& entry, const Validity& valid) const {
    if (!entry.attr || entry.name == "." || entry.name == "..") return;
    const fuse_entry_out out = entry_out(x_, *entry.attr, valid);
    std::memcpy(at, &out, sizeof(out));
  }

  const Exchange& x_;
  const std::span<std::byte> into_;
  const bool attributes_;
  std::size_t used_ = 0;
};

Answer list(Exchange& x, bool attributes) {
  const auto in = x.in.take<fuse_read_in>();
  if (!in) return x.malformed();
  const auto into = x.space.first(std::min<std::size_t>(in->size, x.space.size()));
  PackedEntries packed(x, into, attributes);
  const Status listed = x.fs.readdir(x.call, x.open_file(in->fh), in->offset, attributes, packed);
  // What was packed is given first; the error comes again with the next call.
  if (!listed && packed.used() == 0) return x.failed(listed.error());
  return {.body = into.first(packed.used())};
}

}  // namespace

Answer handle_opendir(Exchange& x) {
  const auto in = x.in.take<fuse_open_in>();
  if (!in) return x.malformed();
  const auto opened = x.fs.opendir(x.call, x.id());
  if (!opened) return x.failed(opened.error());
  fuse_open_out out{};
  out.fh = static_cast<std::uint64_t>(opened->handle);
  if (opened->keep_cache) out.open_flags = FOPEN_KEEP_CACHE | FOPEN_CACHE_DIR;
  return x.with(out);
}

Answer handle_readdir(Exchange& x) {
  return list(x, false);
}

Answer handle_readdirplus(Exchange& x) {
  return list(x, true);
}

Answer handle_releasedir(Exchange& x) {
  const auto in = x.in.take<fuse_release_in>();
  if (!in) return x.malformed();
  x.fs.releasedir(x.call, x.open_file(in->fh));
  return {};
}

// Changes of names are durable before they are answered.
Answer handle_fsyncdir(Exchange& x) {
  if (!x.in.take<fuse_fsync_in>()) return x.malformed();
  return {};
}

}  // namespace stoa::native::fuse
