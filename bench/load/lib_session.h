// A session of libstoa, for lib_load.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "frontends/native/lib/stoa.h"

namespace stoa::bench {

struct LibClose {
  void operator()(stoa_dir* dir) const { (void)stoa_closedir(dir); }
  void operator()(stoa_file* file) const { (void)stoa_close(file); }
  void operator()(stoa_ring* ring) const { (void)stoa_ring_destroy(ring); }
};
using LibDirectory = std::unique_ptr<stoa_dir, LibClose>;
using LibFile = std::unique_ptr<stoa_file, LibClose>;
using LibRing = std::unique_ptr<stoa_ring, LibClose>;

// Failures of its calls end the program.
class LibSession {
 public:
  LibSession(const std::string& url, const std::string& key_file, unsigned channels);
  ~LibSession();
  LibSession(const LibSession&) = delete;
  LibSession& operator=(const LibSession&) = delete;

  stoa_fs* get() const { return fs_; }
  bool has(const std::string& name) const;
  void make_directory(const std::string& name) const;
  LibDirectory directory(const std::string& name) const;
  LibFile file(const std::string& path, int flags) const;
  LibRing ring(unsigned entries) const;
  // A directory with small_file_name(0) to that of `files` - 1, of `bytes` bytes each, made unless it is there.
  LibDirectory prepared_files(std::uint64_t files, std::size_t bytes) const;

 private:
  stoa_fs* fs_ = nullptr;
};

// "stoa_pread: Input/output error"
std::string lib_failure(const char* call, std::int64_t result);

}  // namespace stoa::bench
