// Directories made for a request that may yet be refused.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/api/namespace.h"

namespace stoa::admin {

// Removes its directories again, unless they were kept.
class NewDirectory {
 public:
  struct Wanted {
    bool create = false;
    std::uint32_t mode = 0755;
    std::uint32_t uid = 0;
    std::uint32_t gid = 0;
  };

  NewDirectory(core::Namespace& ns, const core::OpContext& ctx) : ns_(ns), ctx_(ctx) {}
  ~NewDirectory();
  NewDirectory(const NewDirectory&) = delete;
  NewDirectory& operator=(const NewDirectory&) = delete;

  // The directory at the path. When `wanted` says so, makes missing directories; only the last one gets the wanted
  // owner and mode. kNotFound, kNotDirectory, and those of mkdir.
  Result<core::FileId> find_or_make(const std::string& path, const Wanted& wanted);
  void keep() { made_.clear(); }

 private:
  core::Namespace& ns_;
  const core::OpContext ctx_;
  std::vector<std::pair<core::FileId, std::string>> made_;  // parent and name, from the top
};

}  // namespace stoa::admin
