#include "tests/crash/powercut.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <vector>

#include "tests/crash/powercut_format.h"
#include "tests/model/random.h"

namespace stoa::crash {
namespace {

namespace fs = std::filesystem;
using model::Random;

struct Record {
  powercut_record head;
  std::string bytes, bytes2;
};

std::vector<Record> read_journal(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::vector<Record> out;
  for (;;) {
    Record record;
    if (!in.read(reinterpret_cast<char*>(&record.head), sizeof record.head) || record.head.magic != POWERCUT_MAGIC)
      break;
    record.bytes.resize(record.head.length);
    record.bytes2.resize(record.head.length2);
    // A record that was cut short belongs to a change that never began.
    if (!in.read(record.bytes.data(), record.head.length) || !in.read(record.bytes2.data(), record.head.length2)) break;
    out.push_back(std::move(record));
  }
  return out;
}

// The records behind the last sync, oldest first.
std::vector<Record> unsynced(const fs::path& path) {
  std::vector<Record> all = read_journal(path);
  std::uint64_t safe = 0;
  for (const Record& record : all) {
    if (record.head.kind == POWERCUT_SYNCED) safe = std::max<std::uint64_t>(safe, record.head.offset);
  }
  std::erase_if(all, [&](const Record& r) { return r.head.kind == POWERCUT_SYNCED || r.head.sequence < safe; });
  return all;
}

bool put_back(int fd, const Record& record) {
  if (record.head.kind == POWERCUT_SIZE) return ::ftruncate(fd, static_cast<off_t>(record.head.offset)) == 0;
  if (record.head.kind == POWERCUT_BYTES) {
    return ::pwrite(fd, record.bytes.data(), record.bytes.size(), static_cast<off_t>(record.head.offset)) ==
           static_cast<ssize_t>(record.bytes.size());
  }
  return ::fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(record.head.offset),
                     static_cast<off_t>(record.head.length64)) == 0;
}

bool roll_back_all(int fd, const std::vector<Record>& records, PowerCutReport& report) {
  for (auto it = records.rbegin(); it != records.rend(); ++it) {
    if (!put_back(fd, *it)) return false;
    ++report.blocks;
  }
  return true;
}

// Each block goes back to a random state of its own; the size to a random one of its old values.
bool roll_back_random(int fd, const std::vector<Record>& records, Random& random, PowerCutReport& report) {
  std::map<std::uint64_t, std::vector<Record>> blocks;
  std::vector<std::uint64_t> sizes;
  struct stat st{};
  if (::fstat(fd, &st) != 0) return false;
  bool shrinks = false;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const powercut_record& head = records[i].head;
    if (head.kind == POWERCUT_SIZE) {
      shrinks = shrinks || (!sizes.empty() && head.offset < sizes.back());
      sizes.push_back(head.offset);
    } else if (head.kind == POWERCUT_BYTES) {
      blocks[head.offset / POWERCUT_BLOCK].push_back(records[i]);
    } else {
      for (std::uint64_t at = head.offset; at < head.offset + head.length64;) {
        const std::uint64_t end = std::min(head.offset + head.length64, (at / POWERCUT_BLOCK + 1) * POWERCUT_BLOCK);
        Record piece = records[i];
        piece.head.offset = at;
        piece.head.length64 = end - at;
        blocks[at / POWERCUT_BLOCK].push_back(std::move(piece));
        at = end;
      }
    }
  }
  shrinks = shrinks || (!sizes.empty() && static_cast<std::uint64_t>(st.st_size) < sizes.back());
  // When a file shrank, bytes and size are one change of the journalling file system: it happened or it did not.
  if (shrinks) return random.percent(50) || roll_back_all(fd, records, report);
  const unsigned chance = static_cast<unsigned>(random.below(101));
  for (const auto& [block, history] : blocks) {
    if (!random.percent(chance)) continue;
    const std::uint64_t count = random.percent(50) ? history.size() : random.below(history.size() + 1);
    for (std::uint64_t i = 0; i < count; ++i) {
      if (!put_back(fd, history[history.size() - 1 - i])) return false;
      ++report.blocks;
    }
  }
  sizes.push_back(static_cast<std::uint64_t>(st.st_size));
  const std::uint64_t size = random.percent(50) ? sizes[random.below(sizes.size())] : sizes.back();
  return ::ftruncate(fd, static_cast<off_t>(size)) == 0;
}

bool take_back_name(const Record& record, const fs::path& saved) {
  std::error_code error;
  switch (record.head.kind) {
    case POWERCUT_CREATE:
      fs::remove(record.bytes, error);
      return !error;
    case POWERCUT_MKDIR:
      fs::remove_all(record.bytes, error);
      return !error;
    case POWERCUT_RMDIR:
      fs::create_directory(record.bytes, error);
      return !error;
    case POWERCUT_REMOVE:
      if (fs::exists(saved) && !fs::exists(record.bytes)) fs::create_hard_link(saved, record.bytes, error);
      return !error;
    case POWERCUT_RENAME:
      if (fs::exists(fs::symlink_status(record.bytes2))) fs::rename(record.bytes2, record.bytes, error);
      if (!error && fs::exists(saved)) fs::create_hard_link(saved, record.bytes2, error);
      return !error;
    default:
      return true;
  }
}

// The name changes in directories that were not synced since, oldest first.
std::vector<Record> unsynced_names(const fs::path& path) {
  std::vector<Record> all = read_journal(path);
  std::map<std::uint64_t, std::uint64_t> safe;
  for (const Record& record : all) {
    if (record.head.kind == POWERCUT_SYNCED) {
      std::uint64_t& before = safe[record.head.directory];
      before = std::max<std::uint64_t>(before, record.head.offset);
    }
  }
  const auto is_safe = [&](std::uint64_t directory, std::uint64_t sequence) {
    const auto it = safe.find(directory);
    return it != safe.end() && sequence < it->second;
  };
  std::erase_if(all, [&](const Record& r) {
    return r.head.kind == POWERCUT_SYNCED || is_safe(r.head.directory, r.head.sequence) ||
           (r.head.directory2 != 0 && is_safe(r.head.directory2, r.head.sequence));
  });
  return all;
}

void add_inodes(const fs::path& folder, std::map<std::uint64_t, fs::path>& paths) {
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    struct stat st{};
    if (::lstat(it->path().c_str(), &st) == 0 && S_ISREG(st.st_mode)) paths.try_emplace(st.st_ino, it->path());
  }
}

}  // namespace

Status prepare_power_cut(const std::string& journal) {
  std::error_code error;
  fs::remove_all(fs::path(journal) / "data", error);
  fs::remove_all(fs::path(journal) / "saved", error);
  fs::remove(fs::path(journal) / "names", error);
  fs::create_directories(journal, error);
  if (error) return fail(Errc::kIo, journal + ": " + error.message());
  return {};
}

Result<PowerCutReport> cut_power(const std::string& roots, const std::string& journal, PowerCut how,
                                 std::uint64_t seed) {
  PowerCutReport report;
  if (how == PowerCut::kNothing) {
    STOA_CHECK_OK(prepare_power_cut(journal));
    return report;
  }
  Random random(seed);
  std::map<std::uint64_t, fs::path> paths;
  std::istringstream list(roots);
  for (std::string root; std::getline(list, root, ':');) add_inodes(root, paths);
  add_inodes(fs::path(journal) / "saved", paths);

  std::error_code error;
  std::set<fs::path> journals;  // in a fixed order, so that a seed is a reproduction
  for (fs::directory_iterator it(fs::path(journal) / "data", error), end; !error && it != end; it.increment(error)) {
    journals.insert(it->path());
  }
  for (const fs::path& path : journals) {
    const std::vector<Record> records = unsynced(path);
    const auto file = paths.find(std::stoull(path.filename().string()));
    if (records.empty() || file == paths.end()) continue;
    const int fd = ::open(file->second.c_str(), O_RDWR | O_CLOEXEC);
    if (fd < 0) return fail_errno(errno, file->second.string());
    const bool done = how == PowerCut::kEverything ? roll_back_all(fd, records, report)
                                                   : roll_back_random(fd, records, random, report);
    const int reason = errno;
    ::close(fd);
    if (!done) return fail_errno(reason, "roll back " + file->second.string());
    ++report.files;
  }
  const std::vector<Record> names = unsynced_names(fs::path(journal) / "names");
  const std::uint64_t lost = how == PowerCut::kEverything ? names.size() : random.below(names.size() + 1);
  for (std::uint64_t i = 0; i < lost; ++i) {
    const Record& record = names[names.size() - 1 - i];
    if (!take_back_name(record, fs::path(journal) / "saved" / std::to_string(record.head.sequence))) {
      return fail(Errc::kIo, "cannot take back a change of " + record.bytes);
    }
    ++report.names;
  }
  STOA_CHECK_OK(prepare_power_cut(journal));
  return report;
}

}  // namespace stoa::crash
