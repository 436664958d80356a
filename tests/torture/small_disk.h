// A small file system of its own: ext4 in a file, mounted where only this process and its children see it.
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
  // A file takes all room but this many bytes, until relieve().
  Status crowd(std::uint64_t leave);
  void relieve();

 private:
  explicit SmallDisk(std::filesystem::path root) : root_(std::move(root)) {}
  const std::filesystem::path root_;
};

}  // namespace stoa::torture
