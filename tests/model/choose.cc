#include "core/inode/posix_name.h"
#include "tests/model/driver.h"

namespace stoa::model {

std::vector<FileId> Driver::all(bool directories, bool files) const {
  std::vector<FileId> out;
  for (const auto& [id, inode] : twin_.inodes) {
    if (inode.is_directory() ? directories && twin_.is_below(id, core::kRootId)
                             : files && inode.type == FileType::kRegular) {
      out.push_back(id);
    }
  }
  return out;
}

FileId Driver::any_directory() {
  if (random_.percent(1)) return any_inode();
  if (random_.percent(30)) return core::kRootId;
  return random_.pick(all(true, false));
}

FileId Driver::any_file() {
  if (random_.percent(1)) return any_inode();
  const auto files = all(false, true);
  return files.empty() ? core::kRootId : random_.pick(files);
}

FileId Driver::any_inode() {
  if (!gone_.empty() && random_.percent(3)) return random_.pick(gone_);
  auto it = twin_.inodes.begin();
  std::advance(it, random_.below(twin_.inodes.size()));
  // No protocol leads to the directories of uploads.
  const bool outside = it->second.is_directory() && !twin_.is_below(it->first, core::kRootId);
  return outside ? core::kRootId : it->first;
}

std::string Driver::new_name() {
  static const std::string kNames[] = {"a", "b", "c", "d", "e", "f", "A", "a b", "-rf", "..."};
  static const std::string kOdd[] = {std::string(255, 'n'),
                                     std::string(256, 'n'),
                                     "a/b",
                                     "new\nline",
                                     "\xff\xfe not UTF-8",
                                     "\xc3\xa4\xe2\x82\xac",
                                     "a%S3-OBJECT",
                                     "b%S3-OBJECT",
                                     "%S3-DOT",
                                     "%S3-DOTDOT",
                                     "%S3-LITERAL-%S3-x",
                                     "%S3-x",
                                     std::string("nul\0byte", 8),
                                     ""};
  return random_.percent(88) ? random_.pick(kNames) : random_.pick(kOdd);
}

std::string Driver::name_in(FileId dir) {
  if (!twin_.exists(dir) || twin_.at(dir).names.empty() || random_.percent(15)) return new_name();
  const TwinInode& inode = twin_.at(dir);
  auto it = inode.names.begin();
  std::advance(it, random_.below(inode.names.size()));
  return twin_.shown(inode, it->first);
}

std::string Driver::key_in(FileId root) {
  if (twin_.exists(root) && twin_.at(root).is_directory() && random_.percent(40)) {
    const auto keys = twin_.list(root, "", "");
    if (!keys.empty()) return random_.pick(keys).text;
  }
  static const std::string kParts[] = {"a", "b", "c", "d", "e", "f"};
  static const std::string kOdd[] = {"",   ".",  "..",   std::string(300, 'k'), "a%S3-OBJECT", "%S3-DOT", "%S3-LONG-0",
                                     "a-", "a0", "\xff", std::string("z\0z", 3)};
  std::string key;
  for (std::uint64_t count = 1 + random_.below(3); count > 0; --count) {
    key += random_.percent(85) ? random_.pick(kParts) : random_.pick(kOdd);
    if (count > 1) key += "/";
  }
  if (random_.percent(8)) key += "/";
  return key;
}

std::uint64_t Driver::any_offset() {
  switch (random_.below(8)) {
    case 0:
      return 0;
    case 1:
      return random_.below(100);
    case 2:
      return 4096 - 2 + random_.below(5);
    case 3:
      return 16384 - 2 + random_.below(5);
    case 4:
      return random_.below(20000);
    case 5:
      return random_.below(200'000);
    case 6:
      return options_.huge_files && random_.percent(20) ? (1ull << 40) + random_.below(10'000)
                                                        : random_.below(3'000'000);
    default:
      return random_.below(16384);
  }
}

std::uint64_t Driver::any_length() {
  switch (random_.below(6)) {
    case 0:
      return random_.below(10);
    case 1:
      return random_.below(5000);
    case 2:
      return 16384 - 2 + random_.below(5);
    case 3:
      return random_.below(40'000);
    case 4:
      return random_.percent(10) ? random_.below(300'000) : 4096;
    default:
      return 1 + random_.below(1000);
  }
}

core::SetAttributes Driver::any_attributes() {
  static constexpr std::uint32_t kModes[] = {0755, 0644, 0600, 0777, 0700, 01777, 0, 0555};
  core::SetAttributes set;
  set.mode = random_.pick(kModes);
  return set;
}

}  // namespace stoa::model
