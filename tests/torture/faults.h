// Disks that fail or are slow, for a server started with faults_preload.c.
#pragma once

#include <filesystem>
#include <memory>

#include "base/error.h"
#include "tests/torture/faults_format.h"

namespace stoa::torture {

enum class Disk : std::uint8_t { kMetadata = STOA_DISK_METADATA, kContent = STOA_DISK_CONTENT };

class Faults {
 public:
  static Result<std::unique_ptr<Faults>> make(const std::filesystem::path& page);
  ~Faults();
  Faults(const Faults&) = delete;
  Faults& operator=(const Faults&) = delete;

  const std::filesystem::path& page() const { return path_; }
  // From now on, until the next word.
  void set(Disk disk, const stoa_disk_faults& faults);
  void clear();

 private:
  Faults(std::filesystem::path path, stoa_faults* page) : path_(std::move(path)), page_(page) {}
  const std::filesystem::path path_;
  stoa_faults* const page_;  // shared with the server
};

}  // namespace stoa::torture
