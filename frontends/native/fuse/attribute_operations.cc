// Operations on attributes, extended ones included.
#include <linux/xattr.h>

#include <algorithm>

#include "frontends/native/fuse/attributes.h"
#include "frontends/native/fuse/operations.h"

namespace stoa::native::fuse {
namespace {

// Times in the kernel's two fields.
void put(std::chrono::nanoseconds time, std::uint64_t& seconds, std::uint32_t& nanoseconds) {
  constexpr std::int64_t kPerSecond = 1'000'000'000;
  const std::int64_t count = std::max<std::int64_t>(time.count(), 0);
  seconds = static_cast<std::uint64_t>(count / kPerSecond);
  nanoseconds = static_cast<std::uint32_t>(count % kPerSecond);
}

Answer attr_answer(Exchange& x, const Result<TimedAttributes>& found) {
  if (!found) return x.failed(found.error());
  fuse_attr_out out{};
  put(found->valid, out.attr_valid, out.attr_valid_nsec);
  out.attr = to_kernel(found->attr);
  return x.with(out);
}

std::uint32_t clamp_32(std::uint64_t value) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(value, ~std::uint32_t{0}));
}

// A value or list of `length` bytes: its size alone when the caller asks with a size of 0.
Answer sized_text(Exchange& x, std::string_view bytes, std::uint32_t size) {
  if (size != 0) return x.text(bytes, size);
  return x.with(fuse_getxattr_out{.size = clamp_32(bytes.size()), .padding = 0});
}

}  // namespace

fuse_entry_out entry_out(const Exchange& x, const core::Attributes& attr, const Validity& valid) {
  fuse_entry_out out{};
  put(valid.entry, out.entry_valid, out.entry_valid_nsec);
  put(valid.attr, out.attr_valid, out.attr_valid_nsec);
  out.nodeid = x.node_of(attr.id);
  out.generation = attr.generation;
  out.attr = to_kernel(attr);
  return out;
}

Answer entry_answer(Exchange& x, const Result<Entry>& found) {
  if (!found) return x.failed(found.error());
  if (found->attr.id != core::kNoFile) return x.with(entry_out(x, found->attr, found->valid));
  // Node 0 is a name that is not there. Without a time the errno says it in fewer bytes.
  if (found->valid.entry.count() <= 0) return {.error = ENOENT};
  fuse_entry_out out{};
  put(found->valid.entry, out.entry_valid, out.entry_valid_nsec);
  return x.with(out);
}

Answer handle_lookup(Exchange& x) {
  int error = 0;
  const auto name = x.entry_name(error);
  if (error != 0) return {.error = error};
  return entry_answer(x, x.fs.lookup(x.call, x.id(), name));
}

Answer handle_getattr(Exchange& x) {
  const auto in = x.in.take<fuse_getattr_in>();
  if (!in) return x.malformed();
  const std::uint64_t handle = (in->getattr_flags & FUSE_GETATTR_FH) != 0 ? in->fh : 0;
  return attr_answer(x, x.fs.getattr(x.call, x.open_file(handle)));
}

Answer handle_statx(Exchange& x) {
  const auto in = x.in.take<StatxIn>();
  if (!in) return x.malformed();
  const std::uint64_t handle = (in->getattr_flags & FUSE_GETATTR_FH) != 0 ? in->fh : 0;
  const auto found = x.fs.getattr(x.call, x.open_file(handle));
  if (!found) return x.failed(found.error());
  StatxOut out{};
  put(found->valid, out.attr_valid, out.attr_valid_nsec);
  out.stat = to_statx(found->attr);
  return x.with(out);
}

Answer handle_setattr(Exchange& x) {
  const auto in = x.in.take<fuse_setattr_in>();
  if (!in) return x.malformed();
  const std::uint64_t handle = (in->valid & FATTR_FH) != 0 ? in->fh : 0;
  return attr_answer(x, x.fs.setattr(x.call, x.open_file(handle), from_kernel(*in)));
}

Answer handle_access(Exchange& x) {
  const auto in = x.in.take<fuse_access_in>();
  if (!in) return x.malformed();
  return x.done(x.fs.access(x.call, x.id(), in->mask));
}

Answer handle_statfs(Exchange& x) {
  const auto found = x.fs.statfs(x.call, x.id());
  if (!found) return x.failed(found.error());
  constexpr std::uint32_t kUnitBytes = 4096;
  fuse_statfs_out out{};
  out.st.bsize = kUnitBytes;
  out.st.frsize = kUnitBytes;
  out.st.blocks = found->bytes_total / kUnitBytes;
  out.st.bfree = found->bytes_free / kUnitBytes;
  out.st.bavail = found->bytes_available / kUnitBytes;
  out.st.files = found->files_total;
  out.st.ffree = found->files_free;
  out.st.namelen = core::kNameBytesMax;
  return x.with(out);
}

Answer handle_getxattr(Exchange& x) {
  const auto in = x.in.take<fuse_getxattr_in>();
  const auto name = x.in.text();
  if (!in || !name) return x.malformed();
  const auto value = x.fs.get_xattr(x.call, x.id(), *name);
  if (!value) return x.failed(value.error());
  return sized_text(x, *value, in->size);
}

Answer handle_listxattr(Exchange& x) {
  const auto in = x.in.take<fuse_getxattr_in>();
  if (!in) return x.malformed();
  const auto names = x.fs.list_xattrs(x.call, x.id());
  if (!names) return x.failed(names.error());
  std::string list;
  for (const std::string& name : *names) {
    list += name;
    list += '\0';
  }
  // listxattr(2): E2BIG when the list is longer than any buffer may be.
  if (list.size() > XATTR_LIST_MAX) return {.error = E2BIG};
  return sized_text(x, list, in->size);
}

Answer handle_setxattr(Exchange& x) {
  // Without FUSE_SETXATTR_EXT, which is not asked for, the structure is the short one.
  const auto in = x.in.take<std::array<std::uint32_t, FUSE_COMPAT_SETXATTR_IN_SIZE / 4>>();
  const auto name = x.in.text();
  if (!in || !name) return x.malformed();
  const auto value = x.in.bytes((*in)[0]);
  if (!value) return x.malformed();
  const std::uint32_t flags = (*in)[1];
  if ((flags & ~std::uint32_t{XATTR_CREATE | XATTR_REPLACE}) != 0) return x.malformed();
  core::XattrMode mode = core::XattrMode::kSet;
  if ((flags & XATTR_CREATE) != 0) mode = core::XattrMode::kCreate;
  if ((flags & XATTR_REPLACE) != 0) mode = core::XattrMode::kReplace;
  const std::string_view bytes(reinterpret_cast<const char*>(value->data()), value->size());
  return x.done(x.fs.set_xattr(x.call, x.id(), *name, bytes, mode));
}

Answer handle_removexattr(Exchange& x) {
  const auto name = x.in.text();
  if (!name) return x.malformed();
  return x.done(x.fs.remove_xattr(x.call, x.id(), *name));
}

}  // namespace stoa::native::fuse
