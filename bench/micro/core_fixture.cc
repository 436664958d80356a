#include "bench/micro/core_fixture.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace stoa::core {
namespace {

template <class T>
T must(Result<T> result, const char* what) {
  if (!result) {
    std::fprintf(stderr, "core_bench: %s: %s\n", what, describe(result.error()).c_str());
    std::exit(1);
  }
  return std::move(*result);
}
void must(const Status& status, const char* what) {
  if (!status) {
    std::fprintf(stderr, "core_bench: %s: %s\n", what, describe(status.error()).c_str());
    std::exit(1);
  }
}

}  // namespace

std::string numbered(std::uint64_t index) {
  char text[32];
  std::snprintf(text, sizeof(text), "f%08llu", static_cast<unsigned long long>(index));
  return text;
}

CoreFixture::CoreFixture(Engine engine, Background background) : background_(background) {
  if (engine == Engine::kMemory) {
    kv_ = std::make_unique<kv::MemoryKv>();
  } else {
    folder_ = scratch_folder("core");
    kv_ = must(kv::open_rocks({.path = folder_, .create = true}), "open");
  }
  must(Volume::format(*kv_, "bench"), "format");
  reopen();
}

void CoreFixture::reopen() {
  volume_.reset();
  volume_ = must(Volume::open(*kv_, blobs_, metrics_, {.background = background_ == Background::kOn}), "volume");
}

CoreFixture::~CoreFixture() {
  volume_.reset();
  kv_.reset();
  std::error_code error;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, error);
}

std::string CoreFixture::scratch_folder(const std::string& what) {
  static std::atomic<int> number{0};
  const char* base = std::getenv("TMPDIR");
  return std::string(base != nullptr ? base : "/var/tmp") + "/stoa-" + what + "-bench." + std::to_string(getpid()) +
         "." + std::to_string(number++);
}

FileId CoreFixture::mkdir(const std::string& name) {
  return must(ns().mkdir({}, {.parent = kRootId, .name = name}), "mkdir").attr.id;
}

FileId CoreFixture::filled_directory(const std::string& name, std::uint64_t files) {
  const FileId dir = mkdir(name);
  OpContext ctx;
  ctx.durability = Durability::kApplied;
  for (std::uint64_t i = 0; i < files; ++i) {
    const std::string file = numbered(i);
    must(ns().create(ctx, {.parent = dir, .name = file}), "create");
  }
  must(volume_->flush(), "flush");
  return dir;
}

}  // namespace stoa::core
