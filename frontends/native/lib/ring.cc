// The calls of a ring.
#include "frontends/native/lib/ring.h"

#include <cerrno>

#include "frontends/native/lib/c_result.h"
#include "frontends/native/lib/open_flags.h"
#include "frontends/native/lib/transfer.h"

namespace stoa::native::lib {
namespace {

constexpr std::uint32_t kRingEntriesMax = 4096;
constexpr std::uint32_t kRegisteredMax = 1024;

Status prepare(stoa_ring& ring, RingOperation operation) {
  if (ring.is_parents) return fail_errno(EBADF, "the ring is the parent's");
  if (operation.bytes > kPayloadBytesMax) return fail(Errc::kTooLarge);
  STOA_CHECK_OK(check_range(operation.offset, operation.bytes));
  if (ring.prepared.size() + ring.completions->in_use() >= ring.entries) return fail_errno(EAGAIN, "the ring is full");
  ring.prepared.push_back(std::move(operation));
  return {};
}

Status prepare_named(stoa_ring& ring, const stoa_dir* at, const char* name, RingOperation operation) {
  if (name == nullptr) return fail_errno(EFAULT, "no name");
  operation.name = name;
  if (operation.name.empty()) return fail(Errc::kNotFound);
  if (operation.name.find('/') != std::string::npos || operation.name == "." || operation.name == "..")
    return fail(Errc::kInvalid);
  if (ring.is_parents) return fail_errno(EBADF, "the ring is the parent's");
  STOA_TRY(session, ring.fs.session());
  operation.parent = at == nullptr ? session->storage().root() : at->id;
  return prepare(ring, std::move(operation));
}

// A part of registered memory; null: there is none.
std::byte* registered_part(const stoa_ring& ring, std::uint32_t index, std::size_t from, std::size_t bytes) {
  if (index >= ring.registered.size()) return nullptr;
  const iovec& memory = ring.registered[index];
  if (from > memory.iov_len || bytes > memory.iov_len - from) return nullptr;
  return static_cast<std::byte*>(memory.iov_base) + from;
}

void close_given_up(stoa_ring& ring) {
  const std::vector<OpenNumber> opens = ring.completions->take_given_up();
  const auto session = ring.fs.session();
  if (opens.empty() || !session) return;
  for (const OpenNumber open : opens) (*session)->storage().close((*session)->asker(), open);
}

}  // namespace
}  // namespace stoa::native::lib

using namespace stoa;               // NOLINT: the calls of stoa.h have no namespace of their own
using namespace stoa::native::lib;  // NOLINT

int stoa_ring_create(stoa_fs* fs, uint32_t entries, stoa_ring** ring) {
  return c_status([&]() -> Status {
    if (entries == 0 || entries > kRingEntriesMax) return fail(Errc::kInvalid);
    STOA_TRY(completions, RingCompletions::make());
    auto made = std::make_unique<stoa_ring>(*fs, entries, std::move(completions));
    made->prepared.reserve(entries);
    *ring = made.release();
    return {};
  });
}

int stoa_ring_destroy(stoa_ring* ring) {
  return c_status([&]() -> Status {
    if (ring->is_parents) return {};  // its memory, too, may be in any state: it stays with the process
    ring->completions->wait_for_all();
    close_given_up(*ring);
    stoa_completion left{};
    while (ring->completions->take({&left, 1}, 0, 0) != 0) {
      if (left.file != nullptr) (void)stoa_close(left.file);
    }
    delete ring;
    return {};
  });
}

int stoa_ring_fd(stoa_ring* ring) {
  return ring->is_parents ? -EBADF : ring->completions->fd();
}

int stoa_ring_register(stoa_ring* ring, const struct iovec* buffers, uint32_t count) {
  return c_status([&]() -> Status {
    if (ring->is_parents) return fail_errno(EBADF, "the ring is the parent's");
    if (count > kRegisteredMax) return fail(Errc::kInvalid);
    if (!ring->prepared.empty() || ring->completions->under_way()) return fail_errno(EBUSY, "operations are under way");
    ring->registered.assign(buffers, buffers + count);
    return {};
  });
}

int stoa_ring_prepare_read(stoa_ring* ring, stoa_file* file, void* buffer, size_t bytes, uint64_t offset,
                           uint64_t tag) {
  return c_status([&]() -> Status {
    if (!file->reads()) return fail_errno(EBADF, "not open for reading");
    return prepare(*ring, {.work = RingWork::kRead,
                           .tag = tag,
                           .file = file,
                           .buffer = static_cast<std::byte*>(buffer),
                           .bytes = bytes,
                           .offset = offset});
  });
}

int stoa_ring_prepare_write(stoa_ring* ring, stoa_file* file, const void* buffer, size_t bytes, uint64_t offset,
                            uint64_t tag) {
  return c_status([&]() -> Status {
    if (!file->writes()) return fail_errno(EBADF, "not open for writing");
    return prepare(*ring, {.work = RingWork::kWrite,
                           .tag = tag,
                           .file = file,
                           .buffer = static_cast<std::byte*>(const_cast<void*>(buffer)),
                           .bytes = bytes,
                           .offset = offset});
  });
}

int stoa_ring_prepare_read_registered(stoa_ring* ring, stoa_file* file, uint32_t index, size_t from, size_t bytes,
                                      uint64_t offset, uint64_t tag) {
  std::byte* const part = registered_part(*ring, index, from, bytes);
  return part == nullptr ? -EINVAL : stoa_ring_prepare_read(ring, file, part, bytes, offset, tag);
}

int stoa_ring_prepare_write_registered(stoa_ring* ring, stoa_file* file, uint32_t index, size_t from, size_t bytes,
                                       uint64_t offset, uint64_t tag) {
  const std::byte* const part = registered_part(*ring, index, from, bytes);
  return part == nullptr ? -EINVAL : stoa_ring_prepare_write(ring, file, part, bytes, offset, tag);
}

int stoa_ring_prepare_fsync(stoa_ring* ring, stoa_file* file, uint64_t tag) {
  return c_status([&] { return prepare(*ring, {.work = RingWork::kSync, .tag = tag, .file = file}); });
}

int stoa_ring_prepare_open(stoa_ring* ring, stoa_dir* at, const char* name, int flags, uint32_t mode, uint64_t tag) {
  return c_status([&]() -> Status {
    STOA_CHECK_OK(check_flags(flags));
    if (is_nameless(flags)) return fail(Errc::kInvalid);
    return prepare_named(*ring, at, name, {.work = RingWork::kOpen, .tag = tag, .flags = flags, .mode = mode});
  });
}

int stoa_ring_prepare_stat(stoa_ring* ring, stoa_dir* at, const char* name, stoa_attributes* attributes, uint64_t tag) {
  return c_status(
      [&] { return prepare_named(*ring, at, name, {.work = RingWork::kStat, .tag = tag, .attributes = attributes}); });
}

int stoa_ring_prepare_read_file(stoa_ring* ring, stoa_dir* at, const char* name, void* buffer, size_t bytes,
                                uint64_t tag) {
  return c_status([&] {
    return prepare_named(
        *ring, at, name,
        {.work = RingWork::kReadFile, .tag = tag, .buffer = static_cast<std::byte*>(buffer), .bytes = bytes});
  });
}

int stoa_ring_submit(stoa_ring* ring) {
  return static_cast<int>(c_number([&]() -> Result<std::size_t> {
    if (ring->is_parents) return fail_errno(EBADF, "the ring is the parent's");
    const std::size_t count = ring->prepared.size();
    start_prepared(*ring);
    return count;
  }));
}

int stoa_ring_wait(stoa_ring* ring, stoa_completion* completions, uint32_t most, uint32_t least, int timeout_ms) {
  return static_cast<int>(c_number([&]() -> Result<std::size_t> {
    if (ring->is_parents) return fail_errno(EBADF, "the ring is the parent's");
    return ring->completions->take({completions, most}, least, timeout_ms);
  }));
}
