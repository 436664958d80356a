// A file system of its own that is soon full: ext4 in a file, mounted where nobody but this process and its children
// sees it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "base/error.h"

namespace stoa::torture {

class SmallDisk {
 public:
  // kNotSupported: this process may not mount, or a program for it is missing.
  static Result<std::unique_ptr<SmallDisk>> make(const std::filesystem::path& folder, std::uint64_t bytes);
  ~SmallDisk();
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  const std::filesystem::path& root() const { return root_; }
  std::uint64_t free() const;
  // Somebody else's file takes all room but so many bytes, until relieve().
  Status crowd(std::uint64_t leave);
  void relieve();

 private:
  explicit SmallDisk(std::filesystem::path root) : root_(std::move(root)) {}
  const std::filesystem::path root_;
};

}  // namespace stoa::torture
