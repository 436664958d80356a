// Whole comparisons: contents, directories, listings, usage.
#include <unistd.h>

#include "tests/model/driver.h"

namespace stoa::model {
namespace {
constexpr char kUnread = '\xdb';  // as the memory of a reply, which holds anything before it is read into
}

bool Driver::compare_range(FileId id, std::uint64_t offset, std::uint64_t length, bool slices) {
  if (!twin_.exists(id) || twin_.at(id).type != FileType::kRegular) return true;
  length = std::min<std::uint64_t>(length, core::kIoBytesMax);
  const std::string right = twin_.at(id).content.read(offset, length);
  const bool right_end = offset + length >= twin_.at(id).content.size();
  std::string got;
  bool end = false;
  if (slices) {
    const auto reply = ns().read_slices(context(), {id, offset, length});
    if (!reply) return differ("read_slices of " + text(id) + ": " + stoa::describe(reply.error()));
    for (const core::DataSlice& slice : reply->slices) {
      const std::size_t at = got.size();
      got.resize(at + slice.length, kUnread);
      if (slice.fd < 0) {
        if (slice.bytes.size() != slice.length) return differ("a slice of memory has two lengths");
        std::copy_n(reinterpret_cast<const char*>(slice.bytes.data()), slice.length, got.data() + at);
        continue;
      }
      for (std::size_t done = 0; done < slice.length;) {
        const ssize_t count = ::pread(slice.fd, got.data() + at + done, slice.length - done,
                                      static_cast<off_t>(slice.file_offset + done));
        if (count <= 0) return differ("a slice of a host file is shorter than it says");
        done += static_cast<std::size_t>(count);
      }
    }
    if (reply->length != got.size()) return differ("read_slices: length is not that of the slices");
    end = reply->end_of_file;
  } else {
    got.resize(length, kUnread);
    const auto reply = ns().read(context(), {id, offset, std::as_writable_bytes(std::span(got))});
    if (!reply) return differ("read of " + text(id) + ": " + stoa::describe(reply.error()));
    if (reply->length > length) return differ("read more than asked");
    got.resize(reply->length);
    end = reply->end_of_file;
  }
  if (got.size() != right.size()) {
    return differ("read " + std::to_string(got.size()) + " bytes at " + std::to_string(offset) + " of " + text(id) +
                  ", right is " + std::to_string(right.size()));
  }
  if (end != right_end && length > 0) return differ("end_of_file of " + text(id) + " is wrong");
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i] != right[i]) {
      return differ("byte " + std::to_string(offset + i) + " of " + text(id) + " is " +
                    std::to_string(static_cast<unsigned char>(got[i])) + ", right is " +
                    std::to_string(static_cast<unsigned char>(right[i])) + (slices ? " (slices)" : ""));
    }
  }
  return true;
}

bool Driver::compare_content(FileId id) {
  if (!twin_.exists(id) || twin_.at(id).type != FileType::kRegular) return true;
  const TwinContent content = twin_.at(id).content;
  if (!compare_range(id, 0, 70'000, random_.percent(50))) return false;
  for (const auto& [offset, length] : content.ranges()) {
    const std::uint64_t begin = offset - std::min<std::uint64_t>(offset, 5000);
    if (!compare_range(id, begin, length + 10'000, random_.percent(50))) return false;
  }
  return compare_range(id, content.size(), 10, false);
}

bool Driver::compare_directory(FileId id) {
  const TwinInode& dir = twin_.at(id);
  SeenDirectory& seen = directories_[id];
  // First the whole directory, in pieces of random size, so that every piece continues from a cookie.
  std::vector<core::DirectoryEntry> entries;
  std::uint64_t cookie = 0;
  const bool attributes = random_.percent(40);
  const bool small = random_.percent(50);
  for (;;) {
    core::ReaddirRequest request{.dir = id, .cookie = cookie, .want_attributes = attributes};
    if (small) request.entries_max = static_cast<std::uint32_t>(1 + random_.below(6));
    if (random_.percent(20)) request.name_bytes_max = static_cast<std::uint32_t>(300 + random_.below(300));
    const auto reply = ns().readdir(context(), request);
    if (!reply) return differ("readdir of " + text(id) + ": " + stoa::describe(reply.error()));
    if (reply->entries.size() > request.entries_max) return differ("readdir: more entries than asked");
    for (const core::DirectoryEntry& entry : reply->entries) {
      if (entry.cookie <= cookie) return differ("readdir: cookies do not grow");
      cookie = entry.cookie;
      entries.push_back(entry);
    }
    if (reply->end) break;
    if (reply->entries.empty()) return differ("readdir: nothing, and not the end");
  }
  std::map<Stored, std::pair<FileId, std::uint64_t>> found;
  if (entries.size() < 2 || entries[0].name != "." || entries[1].name != ".." || entries[0].cookie != 1 ||
      entries[1].cookie != 2 || entries[0].id != id || entries[1].id != dir.parent) {
    return differ("readdir of " + text(id) + ": '.' and '..'");
  }
  entries.erase(entries.begin(), entries.begin() + 2);
  // The top of the visible tree shows its bin, behind all else.
  const bool shows_bin = id == core::kRootId && dir.bin != core::kNoFile;
  if (shows_bin) {
    if (entries.empty() || entries.back().name != core::kRecycleName || entries.back().id != dir.bin)
      return differ("readdir does not show the bin");
    entries.pop_back();
  }
  for (const core::DirectoryEntry& entry : entries) {
    const auto stored = twin_.find(dir, entry.name);
    if (!stored || twin_.hidden(dir, *stored)) {
      return differ("readdir of " + text(id) + ": " + in_quotes(entry.name) + " is not there");
    }
    const FileId right = dir.names.at(*stored);
    if (entry.id != right || entry.type != twin_.at(right).type)
      return differ("readdir: id or type of " + in_quotes(entry.name));
    if (!found.emplace(*stored, std::pair{entry.id, entry.cookie}).second)
      return differ("readdir: " + in_quotes(entry.name) + " twice");
    if (entry.attr && !verify_reply(*entry.attr, right)) return false;
    if (attributes && !entry.attr) return differ("readdir: no attributes");
  }
  for (const auto& [stored, child] : dir.names) {
    if (!twin_.hidden(dir, stored) && !found.contains(stored)) {
      return differ("readdir of " + text(id) + ": " + in_quotes(stored) + " is missing");
    }
  }
  for (const auto& [stored, now] : found) {
    const auto before = seen.cookies.find(stored);
    // The same file under the same name may have been taken away and put back; then the cookie only grows.
    if (before != seen.cookies.end() && before->second.first == now.first) {
      if (now.second < before->second.second)
        return differ("readdir: the cookie of " + in_quotes(stored) + " went back");
      if (now.second != before->second.second && now.second <= seen.highest) {
        return differ("readdir: the cookie of " + in_quotes(stored) + " was changed to an old one");
      }
    } else if (before != seen.cookies.end() && now.second <= seen.highest && now.second != before->second.second) {
      // Another file under the name has its place, or a new one.
      return differ("readdir: a new entry " + in_quotes(stored) + " got an old cookie");
    }
  }
  // Then from a cookie that was given out some time ago, perhaps for an entry that is gone.
  if (!seen.cookies.empty() && !small) {
    auto held = seen.cookies.begin();
    std::advance(held, random_.below(seen.cookies.size()));
    const auto reply = ns().readdir(context(), {.dir = id, .cookie = held->second.second});
    if (!reply) return differ("readdir from a held cookie: " + stoa::describe(reply.error()));
    std::vector<std::uint64_t> right, got;
    for (const core::DirectoryEntry& entry : entries) {
      if (entry.cookie > held->second.second) right.push_back(entry.cookie);
    }
    for (const core::DirectoryEntry& entry : reply->entries) {
      if (!shows_bin || entry.name != core::kRecycleName) got.push_back(entry.cookie);
    }
    if (got != right) return differ("readdir from a held cookie gives other entries");
  }
  seen.cookies = found;
  for (const auto& [stored, now] : found) seen.highest = std::max(seen.highest, now.second);
  return true;
}

bool Driver::compare_listing(FileId root, std::string_view prefix, std::string_view delimiter, std::string start_after,
                             std::uint32_t limit) {
  std::vector<Twin::KeyOrPrefix> right;
  for (auto& item : twin_.list(root, prefix, delimiter)) {
    if (item.text <= start_after) continue;
    if (item.id == core::kNoFile && start_after.starts_with(item.text)) continue;
    right.push_back(std::move(item));
  }
  std::size_t at = 0;
  for (;;) {
    const auto reply = ns().list_keys(context(), {.root = root,
                                                  .prefix = prefix,
                                                  .delimiter = delimiter,
                                                  .start_after = start_after,
                                                  .limit = limit,
                                                  .want_meta = true});
    if (!reply) return differ("list_keys: " + stoa::describe(reply.error()));
    const std::size_t count = reply->keys.size() + reply->prefixes.size();
    if (count > limit) return differ("list_keys: more than the limit");
    if (reply->truncated && count != limit) return differ("list_keys: truncated below the limit");
    std::size_t key = 0, rolled = 0;
    for (std::size_t i = 0; i < count; ++i, ++at) {
      if (at >= right.size())
        return differ("list_keys: more than there is: " +
                      in_quotes(key < reply->keys.size() ? reply->keys[key].key : reply->prefixes[rolled]));
      if (right[at].id == core::kNoFile) {
        if (rolled >= reply->prefixes.size() || reply->prefixes[rolled] != right[at].text) {
          return differ("list_keys: prefix " + in_quotes(right[at].text) + " is missing, got " +
                        in_quotes(rolled < reply->prefixes.size() ? reply->prefixes[rolled] : "nothing"));
        }
        ++rolled;
        continue;
      }
      if (key >= reply->keys.size() || reply->keys[key].key != right[at].text) {
        return differ("list_keys: key " + in_quotes(right[at].text) + " is missing, got " +
                      in_quotes(key < reply->keys.size() ? reply->keys[key].key : "nothing"));
      }
      const core::ListedKey& listed = reply->keys[key];
      if (listed.attr.id != right[at].id) return differ("list_keys: id of " + in_quotes(listed.key));
      if (!verify_reply(listed.attr, listed.attr.id)) return false;
      const auto& meta = twin_.at(right[at].id).meta;
      if (listed.meta && meta && listed.meta->bytes != meta->bytes)
        return differ("list_keys: meta of " + in_quotes(listed.key));
      if (meta && !meta->bytes.empty() && !listed.meta) return differ("list_keys: no meta of " + in_quotes(listed.key));
      ++key;
    }
    if (!reply->truncated) break;
    if (reply->next_start_after <= start_after) return differ("list_keys: next_start_after does not move on");
    start_after = reply->next_start_after;
    limit = static_cast<std::uint32_t>(1 + random_.below(20));
  }
  return at == right.size() || differ("list_keys: " + in_quotes(right[at].text) + " and what follows is missing");
}

bool Driver::compare_usage(FileId id) {
  if (!twin_.exists(id) || !twin_.at(id).is_directory()) return true;
  const TwinUsage by_class = twin_.usage_by_class(id);
  const core::Usage& right = by_class.all;
  const auto reply = ns().usage(context(), {id});
  if (!reply) return differ("usage of " + text(id) + ": " + stoa::describe(reply.error()));
  if (reply->usage != right) {
    return differ("usage of " + text(id) + " is " + std::to_string(bytes_of(reply->usage)) + " bytes " +
                  std::to_string(reply->usage.files) + " files " + std::to_string(reply->usage.directories) +
                  " directories, right is " + std::to_string(bytes_of(right)) + " " + std::to_string(right.files) +
                  " " + std::to_string(right.directories));
  }
  const core::QuotaLimits& limits = twin_.at(id).limits;
  if (reply->by_class != by_class.by_class) return differ("usage of " + text(id) + " by class");
  if (reply->counted != by_class.counted(limits.excluded)) return differ("what counts in the quota of " + text(id));
  return reply->limits == limits || differ("limits of " + text(id));
}

bool Driver::compare_xattrs(FileId id) {
  const auto reply = ns().list_xattrs(context(), {id});
  if (!reply) return differ("list_xattrs of " + text(id) + ": " + stoa::describe(reply.error()));
  const std::set<std::string> names(reply->names.begin(), reply->names.end());
  std::set<std::string> right;
  for (const auto& [name, value] : twin_.at(id).xattrs) right.insert(name);
  return names == right || differ("names of the attributes of " + text(id));
}

bool Driver::compare_meta(FileId root, const std::string& key) {
  if (key.empty()) {
    const auto refused = ns().lookup_key(context(), {root, key});
    return (!refused && refused.error().code == Errc::kInvalid) || differ("the empty key was not refused");
  }
  const FileId right = twin_.find_key(root, key);
  const bool is_key = right != core::kNoFile && twin_.at(right).type == FileType::kRegular;
  const auto reply = ns().lookup_key(context(), {root, key});
  if (!is_key) return !reply || differ("lookup_key finds " + in_quotes(key) + ", which is no key");
  if (!reply) return differ("lookup_key of " + in_quotes(key) + ": " + stoa::describe(reply.error()));
  if (reply->attr.id != right) return differ("lookup_key of " + in_quotes(key) + " finds " + text(reply->attr.id));
  const auto& meta = twin_.at(right).meta;
  if (!verify_reply(reply->attr, right)) return false;
  if (!reply->meta) return !meta || meta->bytes.empty() || differ("meta of " + in_quotes(key) + " is gone");
  if (!meta) return differ("meta of " + in_quotes(key) + " out of nowhere");
  if (reply->meta->bytes != meta->bytes) return differ("meta of " + in_quotes(key));
  // A file that another protocol has written since must never look like the object that the meta describes.
  if (!meta->current && reply->meta->current(reply->attr))
    return differ("meta of " + in_quotes(key) + " seems current");
  if (meta->current && reply->meta->described != described_[right])
    return differ("version described by the meta of " + in_quotes(key));
  return true;
}

bool Driver::compare_all() {
  describe("-- compare everything");
  const auto whole = [&] {
    for (const auto& [id, inode] : std::map(twin_.inodes)) {
      if (!verify(id, Touch::kNone) || !compare_content(id) || !compare_xattrs(id)) return false;
      if (id == core::kMultipartId) continue;
      if (inode.is_directory() && (!compare_directory(id) || !compare_usage(id))) return false;
    }
    for (const std::string_view delimiter : {"", "/", "a"}) {
      if (!compare_listing(core::kRootId, "", delimiter, "", 1000)) return false;
    }
    if (!compare_items(core::kRootId)) return false;
    std::map<FileId, core::QuotaLimits> right, got;
    for (const auto& [id, inode] : twin_.inodes) {
      if (inode.limits.says_anything()) right[id] = inode.limits;
    }
    const auto quotas = ns().list_quotas(context(), {});
    if (!quotas) return differ("list_quotas: " + stoa::describe(quotas.error()));
    for (const core::QuotaRecord& quota : quotas->quotas) got[quota.dir] = quota.limits;
    if (got != right) return differ("list_quotas: other directories or limits");
    const auto report = engine_.volume().check({.read_data = true});
    if (!report) return differ("check: " + stoa::describe(report.error()));
    if (!report->ok()) {
      std::string all = "check found problems:";
      for (const auto& problem : report->problems) all += "\n    " + core::describe(problem);
      return differ(all);
    }
    return true;
  };
  if (!whole()) return false;
  describe("-- reopen");
  engine_.close();
  // Files open before cannot be reclaimed.
  for (const auto& [id, open] : std::exchange(held_, {})) {
    twin_.close(id);
    if (!twin_.exists(id)) gone_.push_back(id);
  }
  if (auto opened = engine_.open(volume_options()); !opened) return differ("reopen: " + stoa::describe(opened.error()));
  reopened_ = true;
  const bool same = whole();
  reopened_ = false;
  return same;
}

}  // namespace stoa::model
