#include "bench/load/lib_session.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "bench/load/block_stamp.h"
#include "bench/load/die.h"
#include "bench/load/file_names.h"

namespace stoa::bench {
namespace {

constexpr std::uint64_t kFilesPerCall = 64;

void must(std::int64_t result, const char* call, const std::string& what) {
  if (result < 0) die(what + ": " + lib_failure(call, result));
}

}  // namespace

std::string lib_failure(const char* call, std::int64_t result) {
  return std::string(call) + ": " + std::strerror(static_cast<int>(-result));
}

LibSession::LibSession(const std::string& url, const std::string& key_file, unsigned channels) {
  std::array<char, 512> why{};
  stoa_options options{};
  options.size = sizeof options;
  options.channels = channels;
  options.url = url.c_str();
  options.key_file = key_file.c_str();
  options.why = why.data();
  options.why_bytes = why.size();
  if (stoa_connect(&options, &fs_) != 0) die(std::string("stoa_connect: ") + why.data());
}

LibSession::~LibSession() {
  if (const int result = stoa_disconnect(fs_); result != 0) die(lib_failure("stoa_disconnect", result));
}

bool LibSession::has(const std::string& name) const {
  stoa_attributes attributes{};
  return stoa_stat(fs_, nullptr, name.c_str(), 0, &attributes) == 0;
}

void LibSession::make_directory(const std::string& name) const {
  must(stoa_mkdir(fs_, nullptr, name.c_str(), 0755), "stoa_mkdir", name);
}

LibDirectory LibSession::directory(const std::string& name) const {
  stoa_dir* dir = nullptr;
  must(stoa_opendir(fs_, nullptr, name.c_str(), &dir), "stoa_opendir", name);
  return LibDirectory(dir);
}

LibFile LibSession::file(const std::string& path, int flags) const {
  stoa_file* file = nullptr;
  must(stoa_open(fs_, nullptr, path.c_str(), flags, 0644, &file), "stoa_open", path);
  return LibFile(file);
}

LibRing LibSession::ring(unsigned entries) const {
  stoa_ring* ring = nullptr;
  must(stoa_ring_create(fs_, entries, &ring), "stoa_ring_create", "a ring");
  return LibRing(ring);
}

LibDirectory LibSession::prepared_files(std::uint64_t files, std::size_t bytes) const {
  const std::string name = "prep-lib-" + std::to_string(files) + "-" + std::to_string(bytes);
  if (!has(name + "-done")) {
    make_directory(name);
    const LibDirectory dir = directory(name);
    std::vector<char> content(bytes, 'x');
    stamp(content.data(), bytes, 0);
    for (std::uint64_t first = 0; first < files; first += kFilesPerCall) {
      const std::uint64_t count = std::min(kFilesPerCall, files - first);
      std::vector<std::string> names;
      for (std::uint64_t i = 0; i < count; ++i) names.push_back(small_file_name(first + i));
      std::vector<stoa_small_write> writes(count);
      for (std::uint64_t i = 0; i < count; ++i) {
        writes[i] = {
            .path = names[i].c_str(), .data = content.data(), .bytes = bytes, .mode = 0644, .spare = 0, .result = 0};
      }
      must(stoa_write_files(fs_, dir.get(), writes.data(), count), "stoa_write_files", name);
      for (const stoa_small_write& write : writes) must(write.result, "stoa_write_files", write.path);
    }
    make_directory(name + "-done");
  }
  return directory(name);
}

}  // namespace stoa::bench
