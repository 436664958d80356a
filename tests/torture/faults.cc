#include "tests/torture/faults.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

namespace stoa::torture {

Result<std::unique_ptr<Faults>> Faults::make(const std::filesystem::path& page) {
  const int fd = ::open(page.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return fail_errno(errno, page);
  void* mapped = MAP_FAILED;
  if (::ftruncate(fd, sizeof(stoa_faults)) == 0) {
    mapped = ::mmap(nullptr, sizeof(stoa_faults), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  }
  const int error = errno;
  ::close(fd);
  if (mapped == MAP_FAILED) return fail_errno(error, page);
  return std::unique_ptr<Faults>(new Faults(page, static_cast<stoa_faults*>(mapped)));
}

Faults::~Faults() {
  ::munmap(page_, sizeof *page_);
}

void Faults::set(Disk disk, const stoa_disk_faults& faults) {
  stoa_disk_faults& now = page_->disk[static_cast<std::size_t>(disk)];
  const auto store = [](std::uint32_t& field, std::uint32_t value) {
    std::atomic_ref(field).store(value, std::memory_order_relaxed);
  };
  store(now.write_errno, faults.write_errno);
  store(now.sync_errno, faults.sync_errno);
  store(now.read_errno, faults.read_errno);
  store(now.delay_us, faults.delay_us);
}

void Faults::clear() {
  set(Disk::kMetadata, {});
  set(Disk::kContent, {});
}

}  // namespace stoa::torture
