/* Preloaded into a server, makes its disks fail or be slow as the page says that STOA_TORTURE_FAULTS names. Nothing else
 * is changed: a call that is to fail does nothing, as with a disk that is gone. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "tests/torture/faults_format.h"

#define EXPORT __attribute__((visibility("default")))
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static struct stoa_faults* page;

__attribute__((constructor)) static void start(void) {
  const char* path = getenv("STOA_TORTURE_FAULTS");
  if (path == NULL) return;
  const int fd = open(path, O_RDWR | O_CLOEXEC);
  void* mapped = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (mapped == MAP_FAILED) {
    fprintf(stderr, "faults: %s: %s\n", path, strerror(errno));
    abort();
  }
  close(fd);
  page = mapped;
}

static uint32_t now(const uint32_t* field) { return __atomic_load_n(field, __ATOMIC_RELAXED); }

/* The disk that a file is on, when it is to do something. */
static const struct stoa_disk_faults* disk_of(int fd) {
  static const struct stoa_faults none;
  if (page == NULL || memcmp(page, &none, sizeof none) == 0) return NULL;
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return NULL;
  path[length] = '\0';
  if (strstr(path, "/meta/") != NULL) return &page->disk[STOA_DISK_METADATA];
  if (strstr(path, "/blobs") != NULL) return &page->disk[STOA_DISK_CONTENT];
  return NULL;
}

/* What the call is to answer instead; 0: it is done. */
enum what { kWrite, kSync, kRead };
static int fault(int fd, enum what what) {
  const int before = errno;
  const struct stoa_disk_faults* disk = disk_of(fd);
  int error = 0;
  if (disk != NULL) {
    const uint32_t delay = now(&disk->delay_us);
    const struct timespec time = {delay / 1000000, (long)(delay % 1000000) * 1000};
    if (delay > 0) nanosleep(&time, NULL);
    error = (int)now(what == kWrite ? &disk->write_errno : what == kSync ? &disk->sync_errno : &disk->read_errno);
  }
  errno = error != 0 ? error : before;
  return error;
}

#define ANSWER(fd, what, call) return fault(fd, what) != 0 ? -1 : (call)

EXPORT ssize_t write(int fd, const void* bytes, size_t size) { ANSWER(fd, kWrite, REAL(write)(fd, bytes, size)); }
EXPORT ssize_t writev(int fd, const struct iovec* pieces, int count) { ANSWER(fd, kWrite, REAL(writev)(fd, pieces, count)); }
EXPORT ssize_t pwrite(int fd, const void* bytes, size_t size, off_t at) { ANSWER(fd, kWrite, REAL(pwrite)(fd, bytes, size, at)); }
EXPORT ssize_t pwrite64(int fd, const void* bytes, size_t size, off64_t at) { ANSWER(fd, kWrite, REAL(pwrite64)(fd, bytes, size, at)); }
EXPORT ssize_t pwritev(int fd, const struct iovec* pieces, int count, off_t at) { ANSWER(fd, kWrite, REAL(pwritev)(fd, pieces, count, at)); }
EXPORT ssize_t pwritev64(int fd, const struct iovec* pieces, int count, off64_t at) { ANSWER(fd, kWrite, REAL(pwritev64)(fd, pieces, count, at)); }
EXPORT int fallocate(int fd, int mode, off_t at, off_t size) { ANSWER(fd, kWrite, REAL(fallocate)(fd, mode, at, size)); }
EXPORT int fallocate64(int fd, int mode, off64_t at, off64_t size) { ANSWER(fd, kWrite, REAL(fallocate64)(fd, mode, at, size)); }
EXPORT int fsync(int fd) { ANSWER(fd, kSync, REAL(fsync)(fd)); }
EXPORT int fdatasync(int fd) { ANSWER(fd, kSync, REAL(fdatasync)(fd)); }
EXPORT int sync_file_range(int fd, off64_t at, off64_t size, unsigned flags) { ANSWER(fd, kSync, REAL(sync_file_range)(fd, at, size, flags)); }
EXPORT ssize_t pread(int fd, void* into, size_t size, off_t at) { ANSWER(fd, kRead, REAL(pread)(fd, into, size, at)); }
EXPORT ssize_t pread64(int fd, void* into, size_t size, off64_t at) { ANSWER(fd, kRead, REAL(pread64)(fd, into, size, at)); }
EXPORT ssize_t sendfile(int to, int from, off_t* at, size_t size) { ANSWER(from, kRead, REAL(sendfile)(to, from, at, size)); }
EXPORT ssize_t sendfile64(int to, int from, off64_t* at, size_t size) { ANSWER(from, kRead, REAL(sendfile64)(to, from, at, size)); }
