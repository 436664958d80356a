#include "tests/core/faults/fault_world.h"

#include <algorithm>

namespace stoa::core::test {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

std::string text(const Usage& usage) {
  return std::to_string(static_cast<std::int64_t>(usage.bytes)) + " bytes " + std::to_string(usage.files) + " files " +
         std::to_string(usage.directories) + " directories";
}

}  // namespace

FaultWorld::FaultWorld() {
  options_.background = false;
  options_.grace_ms = 0;
  options_.faults = &faults_;
  EXPECT_TRUE(Volume::format(kv_, "test"));
  open();
  fill();
}

void FaultWorld::open() {
  auto volume = Volume::open(kv_, blobs_, metrics_, options_);
  ASSERT_TRUE(volume) << describe(volume.error());
  volume_ = std::move(*volume);
}

void FaultWorld::crash(bool unsynced_is_lost) {
  volume_.reset();  // while every point fails, so nothing of its last flush comes through
  faults_.disarm();
  if (unsynced_is_lost) kv_.lose_unsynced();
  open();
}

void FaultWorld::reopen() {
  faults_.disarm();
  volume_.reset();
  open();
}

FileId FaultWorld::made(const std::string& path, const Result<CreateReply>& reply) {
  EXPECT_TRUE(reply) << path;
  const FileId id = reply ? reply->attr.id : kNoFile;
  ids_[path] = id;
  return id;
}

Status FaultWorld::write(FileId id, std::uint64_t offset, std::string_view text, const OpContext& ctx) {
  const std::span<const std::byte> pieces[] = {bytes_of(text)};
  STOA_CHECK_OK(ns().write(ctx, {id, offset, pieces}));
  return {};
}

void FaultWorld::fill() {
  const OpContext ctx;
  const FileId dir = made("/dir", ns().mkdir(ctx, {.parent = kRootId, .name = "dir"}));
  const FileId other = made("/other", ns().mkdir(ctx, {.parent = kRootId, .name = "other"}));
  made("/dir/empty", ns().mkdir(ctx, {.parent = dir, .name = "empty"}));
  const FileId sub = made("/dir/Sub", ns().mkdir(ctx, {.parent = dir, .name = "Sub"}));
  made("/dir/Sub/deep", ns().create(ctx, {.parent = sub, .name = "deep"}));
  const FileId small = made("/dir/inline", ns().create(ctx, {.parent = dir, .name = "inline"}));
  const FileId big = made("/dir/Big", ns().create(ctx, {.parent = dir, .name = "Big"}));
  made("/dir/sym", ns().symlink(ctx, {.parent = dir, .name = "sym", .target = "Big"}));
  made("/other/link", ns().link(ctx, {.id = small, .parent = other, .name = "link"}));
  EXPECT_TRUE(write(small, 0, "hello", ctx));
  EXPECT_TRUE(write(big, 0, std::string(200'000, 'b'), ctx));
  EXPECT_TRUE(ns().set_xattr(ctx, {.id = big, .name = "user.one", .value = "1"}));
  EXPECT_TRUE(ns().set_quota(ctx, {.dir = dir, .limits = {.bytes = 10'000'000, .files = 1000}}));
  EXPECT_TRUE(ns().put_key(ctx, {.root = other, .key = "Keys/a/b", .bytes = bytes_of("object"), .meta = "meta"}));
  ids_["/other/Keys/a/b"] = ns().lookup_key(ctx, {.root = other, .key = "Keys/a/b"})->attr.id;
  const FileId bin = made("/bin", ns().mkdir(ctx, {.parent = kRootId, .name = "bin"}));
  EXPECT_TRUE(volume_->registry().set_recycle({.dir = bin}));
  made("/bin/kept", ns().create(ctx, {.parent = bin, .name = "kept"}));
  made("/bin/Folder", ns().mkdir(ctx, {.parent = bin, .name = "Folder"}));
  EXPECT_TRUE(write(made("/bin/gone", ns().create(ctx, {.parent = bin, .name = "gone"})), 0, "gone", ctx));
  EXPECT_TRUE(ns().unlink(ctx, {.parent = bin, .name = "gone"}));
  const auto items = ns().list_recycled(ctx, {.dir = bin});
  EXPECT_TRUE(items && items->items.size() == 1);
  deleted_ = items->items.at(0).item;
  EXPECT_TRUE(volume_->flush());
  reopen();  // caches are cold, so operations read
}

void FaultWorld::dump_file(const DirectoryEntry& entry, const std::string& path, std::string& out) {
  const OpContext ctx;
  const Attributes& attr = *entry.attr;
  out += " mode " + std::to_string(attr.mode) + " uid " + std::to_string(attr.uid) + " links " +
         std::to_string(attr.links) + " dos " + std::to_string(attr.dos);
  if (entry.type == FileType::kRegular) {
    std::string content(attr.size, '?');
    const auto got = ns().read(ctx, {attr.id, 0, std::as_writable_bytes(std::span(content))});
    if (!got || got->length != attr.size) ADD_FAILURE() << path << " cannot be read";
    out += " size " + std::to_string(attr.size) + " hash " + std::to_string(std::hash<std::string>{}(content));
  }
  if (entry.type == FileType::kSymlink) out += " to " + ns().readlink(ctx, {attr.id})->target;
  if (const auto names = ns().list_xattrs(ctx, {attr.id})) {
    for (const std::string& name : names->names) {
      out += " " + name + "=" + ns().get_xattr(ctx, {.id = attr.id, .name = name})->value;
    }
  }
  out += '\n';
}

void FaultWorld::dump_directory(FileId dir, const std::string& path, std::string& out) {
  const OpContext ctx;
  auto listing = ns().readdir(ctx, {.dir = dir, .cookie = 2, .want_attributes = true});
  ASSERT_TRUE(listing) << path << ": " << describe(listing.error());
  std::ranges::sort(listing->entries, {}, &DirectoryEntry::name);
  for (const DirectoryEntry& entry : listing->entries) {
    const std::string below = path + "/" + entry.name;
    ASSERT_TRUE(entry.attr) << below;
    out += below;
    dump_file(entry, below, out);
    if (entry.type == FileType::kDirectory) dump_directory(entry.id, below, out);
  }
}

std::string FaultWorld::dump() {
  const OpContext ctx;
  std::string out;
  dump_directory(kRootId, "", out);
  for (const FileId dir : {kRootId, id("/dir"), id("/other"), id("/bin")}) {
    const auto usage = ns().usage(ctx, {dir});
    if (!usage) continue;  // removed
    out += "usage " + text(usage->usage) + " recycled " + text(usage->by_class[UsageClass::kRecycled]) + " limit " +
           std::to_string(usage->limits.bytes.value_or(0)) + "\n";
    if (ns().sealed(ctx, {dir})->by != kNoFile) out += "sealed\n";
  }
  if (const auto owners = ns().list_owner_quotas(ctx, {.dir = id("/dir/empty")})) {
    out += "counts owners\n";
    for (const OwnerQuota& owner : owners->owners)
      out += "owner " + std::to_string(owner.id) + " limit " + std::to_string(owner.limits.bytes.value_or(0)) + "\n";
  }
  if (const auto items = ns().list_recycled(ctx, {.dir = id("/bin")})) {
    for (const RecycledItem& item : items->items) out += "deleted " + item.path + "\n";
  }
  const auto object = ns().lookup_key(ctx, {.root = id("/other"), .key = "Keys/a/b"});
  if (object && object->meta) out += "meta " + object->meta->bytes + "\n";
  return out;
}

void FaultWorld::expect_consistent() {
  const auto report = volume_->check({.read_data = true});
  ASSERT_TRUE(report) << describe(report.error());
  for (const auto& problem : report->problems) ADD_FAILURE() << describe(problem);
}

}  // namespace stoa::core::test
