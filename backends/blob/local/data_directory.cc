#include "backends/blob/local/data_directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <memory>

#include "backends/blob/local/identity.h"
#include "base/log.h"
#include "base/reason.h"

namespace stoa::blob_local {
namespace {

constexpr unsigned kOwnFolders = 256;
constexpr std::uint64_t kNumbersReservedAtOnce = 1u << 20;
constexpr std::int64_t kBudgetBytesMax = std::int64_t{1} << 30;
constexpr std::uint64_t kReserveFraction = 50;  // at most a fiftieth of a small file system

std::string hex(std::uint64_t value, int digits) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text(static_cast<std::size_t>(digits), '0');
  for (auto it = text.rbegin(); it != text.rend(); ++it, value >>= 4) *it = kDigits[value & 15];
  return text;
}

bool parse_hex(std::string_view text, std::uint64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return error == std::errc{} && end == text.data() + text.size();
}

Status make_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return fail_errno(errno, "mkdir " + path);
  return {};
}

Status sync_folder(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return fail_errno(errno, "open " + path);
  const int synced = ::fsync(fd);
  const int error = errno;
  ::close(fd);
  if (synced != 0) return fail_errno(error, "sync " + path);
  return {};
}

// Visits the names in a folder that are hexadecimal numbers.
Status for_each_number(const std::string& path, const std::function<void(std::uint64_t)>& visit) {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(path.c_str()), ::closedir);
  if (folder == nullptr && errno == ENOENT) return {};  // folders of own files are made when needed
  if (folder == nullptr) return fail_errno(errno, "open " + path);
  while (true) {
    errno = 0;
    const dirent* const entry = ::readdir(folder.get());
    if (entry == nullptr) break;
    std::uint64_t number = 0;
    if (parse_hex(entry->d_name, number)) visit(number);
  }
  if (errno != 0) return fail_errno(errno, "list " + path);
  return {};
}

}  // namespace

DataDirectory::DataDirectory(std::string path, std::uint32_t index, std::uint64_t reserve_bytes)
    : path_(std::move(path)), index_(index), reserve_wanted_(reserve_bytes) {}

DataDirectory::~DataDirectory() {
  if (lock_fd_ >= 0) ::close(lock_fd_);
}

std::string DataDirectory::container_path(unsigned size_class, std::uint64_t number) const {
  return path_ + "/slots/" + std::to_string(size_class) + "/" + hex(number, 9);
}
std::string DataDirectory::own_path(std::uint64_t number) const {
  return path_ + "/own/" + hex(number % kOwnFolders, 2) + "/" + hex(number, 14);
}

Status DataDirectory::lock() {
  lock_fd_ = ::open((path_ + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock_fd_ < 0) return fail_errno(errno, "open " + path_ + "/lock");
  if (::flock(lock_fd_, LOCK_EX | LOCK_NB) != 0) {
    return fail(Cause::kBlobInUse, path_);
  }
  punches_ = ::fallocate(lock_fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096) == 0;
  return {};
}

Status DataDirectory::open() {
  STOA_CHECK_OK(make_folders());
  STOA_TRY(next, read_small_file(path_ + "/next_own"));
  if (next) {
    std::uint64_t number = 0;
    while (!next->empty() && next->back() == '\n') next->pop_back();
    if (!parse_hex(*next, number)) return fail(Errc::kCorrupt, path_ + "/next_own");
    next_number_ = number_limit_ = first_own_since_open_ = number;
  } else {
    // Made with the first own file. Were it made again, numbers would be given out twice.
    bool used = false;
    STOA_CHECK_OK(for_each_own([&](std::uint64_t) { used = true; }));
    if (used) return fail(Cause::kBlobNumberMissing, path_ + "/next_own");
  }
  STOA_CHECK_OK(find_containers());
  slots.close_present();
  return {};
}

Status DataDirectory::make_folders() {
  // Made once and synced, so that a new file needs only its own folder to be synced.
  if (::access((path_ + "/own").c_str(), F_OK) == 0) return {};
  STOA_CHECK_OK(make_folder(path_ + "/slots"));
  for (unsigned size_class = 0; size_class < kSizeClasses; ++size_class) {
    STOA_CHECK_OK(make_folder(path_ + "/slots/" + std::to_string(size_class)));
  }
  STOA_CHECK_OK(sync_folder(path_ + "/slots"));
  STOA_CHECK_OK(make_folder(path_ + "/own"));
  return sync_folder(path_);
}

Status DataDirectory::make_own_folder(std::uint64_t number) {
  STOA_CHECK_OK(make_folder(path_ + "/own/" + hex(number % kOwnFolders, 2)));
  return sync_folder(path_ + "/own");
}

Status DataDirectory::find_containers() {
  for (unsigned size_class = 0; size_class < kSizeClasses; ++size_class) {
    Status sized;
    STOA_CHECK_OK(for_each_number(path_ + "/slots/" + std::to_string(size_class), [&](std::uint64_t number) {
      struct stat info{};
      if (::stat(container_path(size_class, number).c_str(), &info) != 0) {
        if (sized) sized = fail_errno(errno, "stat " + container_path(size_class, number));
        return;
      }
      const auto slots = static_cast<std::uint32_t>(std::min<std::uint64_t>(
          static_cast<std::uint64_t>(info.st_size) / slot_bytes(size_class), slots_per_container(size_class)));
      this->slots.set_container(size_class, number, slots, false);
    }));
    STOA_CHECK_OK(sized);
  }
  return {};
}

Result<std::uint64_t> DataDirectory::next_own_number() {
  const std::lock_guard lock(number_mutex_);
  if (next_number_ == number_limit_) {
    const std::uint64_t limit = number_limit_ + kNumbersReservedAtOnce;
    STOA_CHECK_OK(write_small_file(path_, "next_own", hex(limit, 14) + "\n"));
    number_limit_ = limit;
  }
  return next_number_++;
}

core::BlobStore::Space DataDirectory::space() const {
  struct statvfs info{};
  if (::statvfs(path_.c_str(), &info) != 0) return {};
  const std::uint64_t total = static_cast<std::uint64_t>(info.f_blocks) * info.f_frsize;
  const std::uint64_t free = static_cast<std::uint64_t>(info.f_bavail) * info.f_frsize;
  const std::uint64_t reserve = std::min(reserve_wanted_, total / kReserveFraction);
  return {total, free > reserve ? free - reserve : 0};
}

bool DataDirectory::has_room(std::uint64_t bytes) {
  const auto wanted = static_cast<std::int64_t>(std::min<std::uint64_t>(bytes, std::uint64_t{1} << 62));
  if (budget_.fetch_sub(wanted, std::memory_order_relaxed) >= wanted) return true;
  const auto free = static_cast<std::int64_t>(space().free);
  if (free < wanted) return false;
  // Others (the metadata store, people) take space, too: never trust an answer for more than an eighth.
  budget_.store(std::min((free - wanted) / 8, kBudgetBytesMax), std::memory_order_relaxed);
  return true;
}

void DataDirectory::note_write_error(const Error& error) {
  const bool sick = error.sys_errno == EIO || error.sys_errno == EROFS || error.sys_errno == ENODEV ||
                    error.sys_errno == ENXIO || error.sys_errno == ESHUTDOWN;
  if (!sick || bad_.exchange(true)) return;
  {
    const std::lock_guard lock(health_mutex_);
    problem_ = reason(error);
  }
  log_error("blob", "a data directory fails; it gets no new data until restart",
            {{"directory", path_}, {"error", describe(error)}});
}

void DataDirectory::note_missing(const std::string& file) {
  const std::lock_guard lock(health_mutex_);
  if (missing_files_++ != 0) return;
  missing_file_ = file;
  log_error("blob", "a file with content is missing", {{"file", file}});
}

std::string DataDirectory::find_problem() const {
  {
    const std::lock_guard lock(health_mutex_);
    if (!problem_.empty()) return problem_;
  }
  const auto identity = read_small_file(path_ + "/identity");
  if (!identity) return "its file identity cannot be read: " + reason(identity.error());
  if (!*identity) return "it is empty: is its disk mounted?";
  for (const char* const folder : {"/slots", "/own"}) {
    const std::unique_ptr<DIR, int (*)(DIR*)> opened(::opendir((path_ + folder).c_str()), ::closedir);
    errno = 0;
    if (opened == nullptr || (::readdir(opened.get()) == nullptr && errno != 0)) {
      return path_ + folder + " cannot be read: " + reason(fail_errno(errno != 0 ? errno : ENOENT, {}).error());
    }
  }
  const std::lock_guard lock(health_mutex_);
  if (missing_files_ == 0) return {};
  return "content is missing: " + missing_file_ +
         (missing_files_ > 1 ? " and " + std::to_string(missing_files_ - 1) + " more" : "");
}

Status DataDirectory::for_each_own(const std::function<void(std::uint64_t)>& visit) const {
  for (unsigned i = 0; i < kOwnFolders; ++i) STOA_CHECK_OK(for_each_number(path_ + "/own/" + hex(i, 2), visit));
  return {};
}

}  // namespace stoa::blob_local
