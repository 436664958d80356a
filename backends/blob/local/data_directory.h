// One data directory of the store: its folders, its free space, its health, the numbers of its own files.
//
//   identity            the directory's identity (identity.h)
//   next_own            own-file numbers below it may have been given out
//   slots/C/NUMBER      containers of size class C
//   own/XX/NUMBER       own files; XX: low byte of the number
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "backends/blob/local/slot_map.h"
#include "base/error.h"
#include "core/blob/blob_store.h"

namespace stoa::blob_local {

class DataDirectory {
 public:
  DataDirectory(std::string path, std::uint32_t index, std::uint64_t reserve_bytes);
  ~DataDirectory();
  DataDirectory(const DataDirectory&) = delete;
  DataDirectory& operator=(const DataDirectory&) = delete;

  // Against a second process: kBusy. Held as long as the object lives.
  Status lock();
  // Makes the folders, finds the containers.
  Status open();

  const std::string& path() const { return path_; }
  std::uint32_t index() const { return index_; }
  std::string container_path(unsigned size_class, std::uint64_t number) const;
  std::string own_path(std::uint64_t number) const;

  // Whether the file system gives back the space of a range in the middle of a file.
  bool punches() const { return punches_; }

  // Own files from this number on were made after open().
  std::uint64_t first_own_since_open() const { return first_own_since_open_; }
  // A number that no file of this directory ever had, also after a crash.
  Result<std::uint64_t> next_own_number();

  // The folder of that file, durable. Made by need: a small volume has few.
  Status make_own_folder(std::uint64_t number);

  // Space beyond the reserve that keeps the host file system (and the metadata beside us) alive.
  core::BlobStore::Space space() const;
  // Whether this much more may be taken. Asks the file system only now and then.
  bool has_room(std::uint64_t bytes);

  // A failure of writing. EIO and the like mark the directory: no new blobs until restart.
  void note_write_error(const Error& error);
  bool ok() const { return !bad_.load(std::memory_order_acquire); }
  // Reports that the file of a blob in use is missing.
  void note_missing(const std::string& file);
  // The present fault of the directory, ok() and missing files included; looks at the folder, which may have gone
  // (a disk that was unmounted).
  std::string find_problem() const;

  // Visits the numbers of the own files that are there.
  Status for_each_own(const std::function<void(std::uint64_t)>& visit) const;

  std::mutex mutex;  // guards slots
  SlotMap slots;
  std::mutex grow_mutex;                   // held while containers grow, come and go; before `mutex`
  std::vector<std::uint64_t> adopted_own;  // only between open and the end of adoption; guarded by `mutex`
  std::atomic<bool> direct{true};

 private:
  Status make_folders();
  Status find_containers();

  const std::string path_;
  const std::uint32_t index_;
  const std::uint64_t reserve_wanted_;
  int lock_fd_ = -1;
  bool punches_ = false;
  std::uint64_t first_own_since_open_ = 1;
  std::atomic<std::int64_t> budget_{0};  // may be taken before the file system is queried again
  std::atomic<bool> bad_{false};
  mutable std::mutex health_mutex_;  // guards the members below up to missing_files_
  std::string problem_;
  std::string missing_file_;  // the first of them
  std::uint64_t missing_files_ = 0;
  std::mutex number_mutex_;  // guards the members below
  std::uint64_t next_number_ = 1;
  std::uint64_t number_limit_ = 1;
};

}  // namespace stoa::blob_local
