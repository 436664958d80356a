#include "tests/model/driver.h"

namespace stoa::model {

bool Driver::do_put_key() {
  const FileId root = random_.percent(80) ? core::kRootId : any_directory();
  const std::string key = key_in(root);
  const std::string data = random_.percent(5) ? std::string() : random_.bytes(any_length());
  const std::string meta = random_.percent(60) ? random_.bytes(random_.below(60)) : std::string();
  core::OpContext ctx = context();
  ctx.protocol = core::Protocol::kS3;
  core::PutKeyRequest request{.root = root, .key = key, .meta = meta};
  const bool valid_root = twin_.exists(root) && twin_.at(root).is_directory();
  const FileId old = valid_root ? twin_.find_key(root, key) : core::kNoFile;
  std::optional<core::ObjectVersion> present;
  if (old != core::kNoFile) present = seen_[old].version();
  if (random_.percent(10)) request.expect = core::ObjectExpectation{.must_not_exist = true};
  if (random_.percent(10)) {
    request.expect = core::ObjectExpectation{
        .version = random_.percent(70) && present ? *present : core::ObjectVersion{FileId{77}, 3}};
  }
  if (random_.percent(20)) request.mtime = Timestamp{static_cast<std::int64_t>(random_.below(1ull << 60))};
  const bool upload = random_.percent(50);
  describe("put_key " + in_quotes(key) + " below " + text(root) + ", " + std::to_string(data.size()) + " bytes" +
           (upload ? " by upload" : "") + (request.expect ? " with expectation" : ""));
  TwinContent content;
  content.write(0, data);
  const Verdict verdict = twin_.put_key(root, key, content, meta, request.mode, request.expect, present);
  if (upload) {
    const auto begun = ns().upload_begin(ctx, {random_.percent(50) ? data.size() : 0});
    if (!begun) return differ("upload_begin: " + stoa::describe(begun.error()));
    request.upload = *begun;
    for (std::size_t at = 0; at < data.size();) {
      const std::size_t count = 1 + random_.below(data.size() - at);
      const std::span<const std::byte> piece[] = {std::as_bytes(std::span(data)).subspan(at, count)};
      if (auto written = ns().upload_write(ctx, {*begun, piece}); !written) {
        return differ("upload_write: " + stoa::describe(written.error()));
      }
      at += count;
    }
  } else {
    request.bytes = std::as_bytes(std::span(data));
  }
  const auto reply = ns().put_key(ctx, request);
  if (!same_outcome(verdict, reply)) return false;
  if (!reply) {
    if (upload && !ns().upload_discard({}, {*request.upload})) return differ("an upload could not be discarded");
    return forgive_pruned_directories(root) && verify_touched(verdict);
  }
  if (reply->replaced == verdict.created) return differ("`replaced` is wrong");
  if (!verdict.created && reply->attr.id != verdict.subject) return differ("the object got another id");
  if (!learn_new_directories()) return false;
  if (verdict.created && !learn(Twin::kPlaceholder, reply->attr.id)) return false;
  const FileId id = reply->attr.id;
  if (request.mtime && reply->attr.mtime != *request.mtime) return differ("mtime of the object was not set");
  if (!verify_reply(reply->attr, id)) return false;
  if (twin_.at(id).mode != reply->attr.mode) return differ("mode of the object");
  described_[id] = reply->attr.version();
  Verdict touched = verdict;
  if (request.mtime) touched.touched[id] = Touch::kMaybe;
  std::erase_if(touched.touched, [&](const auto& item) { return !twin_.exists(item.first); });
  if (verdict.created && !verify(id, Touch::kNone)) return false;
  return verify_touched(touched) && compare_meta(root, key) && compare_content(id);
}

// A put that fails takes the directories back that it made; those they stood in show that in their time stamps.
bool Driver::forgive_pruned_directories(FileId root) {
  if (!twin_.exists(root)) return true;
  for (const auto& [id, inode] : twin_.inodes) {
    if (inode.is_directory() && twin_.is_below(id, root) && !verify(id, Touch::kMaybe)) return false;
  }
  return true;
}

bool Driver::do_remove_key() {
  const FileId root = random_.percent(80) ? core::kRootId : any_directory();
  const std::string key = key_in(root);
  describe("remove_key " + in_quotes(key) + " below " + text(root));
  core::OpContext ctx = context();
  ctx.protocol = core::Protocol::kS3;
  bool removed = false;
  const std::set<FileId> before = present();
  const Verdict verdict = twin_.remove_key(root, key, &removed);
  const auto reply = ns().remove_key(ctx, {.root = root, .key = key});
  if (reply && reply->removed != removed)
    return differ(reply->removed ? "removed what is no key" : "did not remove the key");
  if (!same_outcome(verdict, reply)) return false;
  return verify_gone(before) && verify_touched(verdict);
}

bool Driver::do_lookup_key() {
  const FileId root = random_.percent(80) ? core::kRootId : any_directory();
  const std::string key = key_in(root);
  describe("lookup_key " + in_quotes(key) + " below " + text(root));
  if (!twin_.exists(root) || !twin_.at(root).is_directory())
    return !ns().lookup_key(context(), {root, key}) || differ("succeeds");
  return compare_meta(root, key);
}

bool Driver::do_set_meta() {
  const FileId id = any_file();
  if (!twin_.exists(id) || twin_.at(id).type != FileType::kRegular) return true;
  const std::string meta = random_.bytes(random_.below(40));
  const bool stale = random_.percent(30);
  core::ObjectVersion version = seen_[id].version();
  if (stale) version.data_version -= 1;
  describe("set_meta of " + text(id) + (stale ? " for an old version" : ""));
  Verdict verdict;
  if (stale) verdict.errors.push_back(Errc::kStale);
  if (twin_.recycled(id)) verdict.errors.push_back(Errc::kReadOnly);
  const auto reply = ns().set_meta(context(), {id, meta, version});
  if (!same_outcome(verdict, reply)) return false;
  if (reply) {
    twin_.at(id).meta = TwinMeta{.bytes = meta};
    described_[id] = version;
    verdict.touched[id] = Touch::kMaybe;
  }
  // The version belongs to the content, which set_meta does not change.
  const auto now = ns().getattr(context(), {id});
  if (!now || now->attr.version() != seen_[id].version()) return differ("set_meta changed the version");
  return verify(id, Touch::kMaybe);
}

bool Driver::do_list_keys() {
  const FileId root = random_.percent(70) ? core::kRootId : any_directory();
  if (!twin_.exists(root) || !twin_.at(root).is_directory()) {
    describe("list_keys below " + text(root));
    return !ns().list_keys(context(), {.root = root}) || differ("list_keys succeeds");
  }
  static const std::string kDelimiters[] = {"/", "", "/", "a", "/a", "b/"};
  const std::string delimiter = random_.pick(kDelimiters);
  const std::string key = key_in(root);
  const std::string prefix = random_.percent(50) ? std::string() : key.substr(0, random_.below(key.size() + 1));
  std::string start = random_.percent(60) ? std::string() : key_in(root);
  if (random_.percent(30)) start = start.substr(0, random_.below(start.size() + 1));
  const auto limit = static_cast<std::uint32_t>(random_.percent(50) ? 1 + random_.below(5) : 1000);
  describe("list_keys below " + text(root) + " prefix " + in_quotes(prefix) + " delimiter " + in_quotes(delimiter) +
           " after " + in_quotes(start) + " limit " + std::to_string(limit));
  return compare_listing(root, prefix, delimiter, start, limit);
}

// As a multipart upload does it: the parts are objects in a directory of their own, outside the tree. It counts in
// one of the tree, or nowhere (those of earlier versions). kNoFile: there is no room.
bool Driver::begin_upload(FileId* dir) {
  const core::OpContext ctx = context();
  const std::string name = "upload" + std::to_string(random_.next());
  const FileId bucket = any_directory();
  const bool fits = twin_.exists(bucket) && twin_.at(bucket).is_directory() && !twin_.recycled(bucket) &&
                    twin_.is_below(bucket, core::kRootId);
  if (!fits || random_.percent(30)) {
    const auto made = ns().mkdir(ctx, {.parent = core::kMultipartId, .name = name, .set = {.mode = 0700}});
    if (!made) return differ("mkdir of an upload: " + stoa::describe(made.error()));
    TwinInode fresh;
    fresh.type = FileType::kDirectory;
    fresh.mode = 0700;
    (void)twin_.make(core::kMultipartId, name, fresh, ctx.cred);
    *dir = made->attr.id;
    return learn(Twin::kPlaceholder, made->attr.id);
  }
  const std::string key = name + "/upload";
  describe("begin of " + name + ", which counts in " + text(bucket));
  const Verdict verdict = twin_.put_key(core::kMultipartId, key, {}, "", 0600, {}, {}, bucket);
  const auto reply = ns().put_key(
      ctx, {.root = core::kMultipartId, .key = key, .mode = 0600, .multipart = core::MultipartOf{bucket, 0, 0}});
  if (!same_outcome(verdict, reply)) return false;
  if (!reply) return forgive_pruned_directories(core::kMultipartId);
  if (!learn_new_directories() || !learn(Twin::kPlaceholder, reply->attr.id)) return false;
  *dir = twin_.at(core::kMultipartId).names.at(name + "/");
  return compare_usage(bucket);
}

bool Driver::do_concatenate() {
  core::ConcatenateRequest request{.root = core::kRootId, .key = {}, .parts = {}};
  const std::string key = key_in(core::kRootId);
  request.key = key;
  core::OpContext ctx = context();
  ctx.protocol = core::Protocol::kS3;
  const std::uint64_t count = 1 + random_.below(4);
  const bool upload = !options_.shared_extents || random_.percent(60);
  std::string parts;
  if (upload) {
    FileId dir = core::kNoFile;
    if (!begin_upload(&dir)) return false;
    if (auto reply = ns().getattr(ctx, {core::kMultipartId})) seen_[core::kMultipartId] = reply->attr;
    if (dir == core::kNoFile) return true;  // there is no room
    request.consume_dir = dir;
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::string data = random_.bytes(any_length());
      const std::string part = std::to_string(i);
      TwinContent content;
      content.write(0, data);
      describe("put of part " + part + " of " + text(dir) + ", " + std::to_string(data.size()) + " bytes");
      const Verdict verdict = twin_.put_key(dir, part, content, "", 0644, {}, {});
      const auto put = ns().put_key(ctx, {.root = dir, .key = part, .bytes = std::as_bytes(std::span(data))});
      if (!same_outcome(verdict, put)) return false;
      if (!put) continue;
      if (!learn(Twin::kPlaceholder, put->attr.id) || !verify(put->attr.id, Touch::kNone)) return false;
      request.parts.push_back({.id = put->attr.id, .data_version = put->attr.version().data_version});
      parts += " " + text(put->attr.id) + ":" + std::to_string(data.size());
    }
    if (!verify(dir, Touch::kMaybe) || !compare_usage(dir)) return false;
    if (request.parts.empty()) return true;
  } else {
    for (std::uint64_t i = 0; i < count; ++i) {
      core::ConcatenatePart part{.id = any_file()};
      const std::uint64_t size = twin_.exists(part.id) ? twin_.at(part.id).size() : 0;
      if (size > 10'000'000) continue;
      if (random_.percent(50)) {
        part.offset = random_.below(size + 1);
        part.length = random_.below(size - part.offset + 1 + (random_.percent(5) ? 1 : 0));
      }
      request.parts.push_back(part);
    }
    for (const core::ConcatenatePart& part : request.parts) {
      parts += " " + text(part.id);
      if (part.length) parts += "[" + std::to_string(part.offset) + "+" + std::to_string(*part.length) + "]";
    }
    if (request.parts.empty()) return true;
  }
  describe("concatenate" + parts + " as " + in_quotes(key) + (upload ? " consuming " + text(request.consume_dir) : ""));
  const FileId old = twin_.find_key(core::kRootId, key);
  std::optional<core::ObjectVersion> present;
  if (old != core::kNoFile) present = seen_[old].version();
  Verdict verdict = twin_.concatenate(request, present);
  const auto reply = ns().concatenate(ctx, request);
  if (!same_outcome(verdict, reply)) return false;
  if (!reply) return forgive_pruned_directories(core::kRootId) && verify_touched(verdict);
  if (!learn_new_directories()) return false;
  if (verdict.created && !learn(Twin::kPlaceholder, reply->attr.id)) return false;
  const FileId id = reply->attr.id;
  if (!verdict.created && id != verdict.subject) return differ("the object got another id");
  described_[id] = reply->attr.version();
  if (!verify_reply(reply->attr, id)) return false;
  if (verdict.created && !verify(id, Touch::kNone)) return false;
  std::erase_if(verdict.touched, [&](const auto& item) { return !twin_.exists(item.first); });
  if (upload && !verify(request.consume_dir, Touch::kNone)) return false;
  return verify_touched(verdict) && compare_content(id) && compare_meta(core::kRootId, key) &&
         compare_usage(core::kRootId) && compare_usage(core::kMultipartId);
}

bool Driver::do_set_quota() {
  const FileId id = any_directory();
  const core::OpContext ctx = context();
  core::SetQuotaRequest request{.dir = id, .limits = {}};
  if (twin_.exists(id) && twin_.at(id).is_directory() && random_.percent(40)) {
    if (random_.percent(40)) {
      for (const core::UsageClass of : core::kClassesButLive) request.limits.excluded.set(of, random_.percent(60));
    }
    const core::Usage usage = twin_.usage_by_class(id).counted(request.limits.excluded);
    if (random_.percent(70)) request.limits.bytes = static_cast<std::uint64_t>(usage.bytes) + random_.below(60'000);
    if (random_.percent(50))
      request.limits.files = static_cast<std::uint64_t>(usage.files + usage.directories) + random_.below(8);
    if (random_.percent(10))
      request.limits.bytes = random_.below(1000);  // Below the present usage: only growth is refused.
  }
  describe("set_quota of " + text(id) + " bytes " +
           (request.limits.bytes ? std::to_string(*request.limits.bytes) : "-") + " files " +
           (request.limits.files ? std::to_string(*request.limits.files) : "-") +
           (request.limits.excluded.has(core::UsageClass::kRecycled) ? " without what is recycled" : "") +
           (request.limits.excluded.has(core::UsageClass::kOrphans) ? " without what has no name" : "") +
           (request.limits.excluded.has(core::UsageClass::kMultipart) ? " without what is of uploads" : ""));
  Verdict verdict;
  if (!twin_.exists(id)) {
    verdict.errors.push_back(Errc::kStale);
  } else if (!twin_.at(id).is_directory()) {
    verdict.errors.push_back(Errc::kNotDirectory);
  } else if (twin_.recycled(id)) {
    verdict.errors.push_back(Errc::kReadOnly);
  }
  if (!same_outcome(verdict, ns().set_quota(ctx, request))) return false;
  if (verdict.ok()) {
    twin_.at(id).limits = request.limits;
    twin_.at(id).implied = false;
  }
  return !verdict.ok() || (compare_usage(id) && verify(id, Touch::kMaybe));
}

bool Driver::do_usage() {
  const FileId id = any_directory();
  describe("usage of " + text(id));
  if (!twin_.exists(id) || !twin_.at(id).is_directory()) {
    return same_outcome(Verdict{.errors = {Errc::kStale, Errc::kNotDirectory}}, ns().usage(context(), {id}));
  }
  return compare_usage(id);
}

bool Driver::do_path() {
  const FileId id = any_inode();
  describe("path_of " + text(id));
  const auto path = ns().path_of(context(), {id});
  if (!twin_.exists(id)) return !path || differ("path of what is gone");
  if (twin_.at(id).orphan()) return same_outcome(Verdict{.errors = {Errc::kStale}}, path);
  if (!path) return differ("path_of: " + stoa::describe(path.error()));
  if (path->path.starts_with("(multipart uploads)")) return true;  // Outside the tree.
  const auto back = ns().resolve_path(context(), {path->path});
  if (!back) {
    // The folder marker has no POSIX name of its own.
    const TwinInode& inode = twin_.at(id);
    const bool marker = !inode.links.empty() && inode.links.begin()->second.empty() && inode.size() == 0;
    return marker || differ("resolve_path of " + in_quotes(path->path) + ": " + stoa::describe(back.error()));
  }
  return back->attr.id == id || differ("path " + in_quotes(path->path) + " leads to " + text(back->attr.id));
}

bool Driver::do_statfs() {
  const FileId id = any_directory();
  describe("statfs of " + text(id));
  const auto reply = ns().statfs(context(), {id});
  if (!twin_.exists(id)) return !reply || differ("statfs of what is gone");
  if (!reply) return differ("statfs: " + stoa::describe(reply.error()));
  if (reply->bytes_free > reply->bytes_total || reply->bytes_available > reply->bytes_free)
    return differ("statfs: free > total");
  if (!twin_.at(id).is_directory()) return true;
  const core::QuotaLimits& limits = twin_.at(id).limits;
  if (limits.bytes && reply->bytes_available > *limits.bytes) return differ("statfs offers more than the quota");
  return true;
}

bool Driver::do_background() {
  const bool flush = random_.percent(50);
  describe(flush ? "flush" : "gc");
  const Status done = flush ? engine_.volume().flush() : engine_.volume().run_gc();
  // Settings of a directory go when it is gone.
  if (!flush) std::erase_if(twin_.policies, [this](const auto& policy) { return !twin_.exists(policy.first); });
  return done || differ("background: " + stoa::describe(done.error()));
}

}  // namespace stoa::model
