#include "frontends/native/fuse/ring_memory.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>

namespace stoa::native::fuse {
namespace {

// Far from programs, heaps, stacks and libraries, so that it is free in the next process, too. A wish: where it cannot
// be had, any address will do.
constexpr std::uint64_t kWish = std::uint64_t{0x2000} << 32;
constexpr int kProtection = PROT_READ | PROT_WRITE;

}  // namespace

Result<std::unique_ptr<RingMemory>> RingMemory::make(std::uint32_t slots) {
  const std::size_t bytes = slots * kSlotBytes;
  OwnedFd fd(::memfd_create("stoa-rings", MFD_CLOEXEC));
  if (!fd || ::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0) {
    return fail_errno(errno, "memory for requests of the kernel");
  }
  void* const at = ::mmap(reinterpret_cast<void*>(kWish), bytes, kProtection, MAP_SHARED | MAP_NORESERVE, fd.get(), 0);
  if (at == MAP_FAILED) return fail(Errc::kNoSpace, "no memory for requests of the kernel");
  return std::unique_ptr<RingMemory>(new RingMemory(std::move(fd), static_cast<std::byte*>(at), slots));
}

Result<std::unique_ptr<RingMemory>> RingMemory::take_over(OwnedFd fd, std::uint64_t address, std::uint32_t slots) {
  struct stat found{};
  if (address == 0 || slots == 0 || slots > kSlotsMost || ::fstat(fd.get(), &found) != 0 ||
      static_cast<std::uint64_t>(found.st_size) < slots * kSlotBytes) {
    return fail(Errc::kInvalid, "the memory of the old process is not what it says");
  }
  void* const wanted = reinterpret_cast<void*>(address);
  const std::size_t bytes = slots * kSlotBytes;
  void* const at = ::mmap(wanted, bytes, kProtection, MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE, fd.get(), 0);
  if (at == MAP_FAILED && errno == EEXIST) {
    return fail(Errc::kBusy, "the addresses of its requests are in use in the new process; try again");
  }
  if (at != wanted) return fail(Errc::kInvalid, "the memory of the old process cannot be mapped");
  return std::unique_ptr<RingMemory>(new RingMemory(std::move(fd), static_cast<std::byte*>(at), slots));
}

RingMemory::~RingMemory() {
  ::munmap(at_, slots_ * kSlotBytes);
}

}  // namespace stoa::native::fuse
