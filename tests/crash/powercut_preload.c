/* Preloaded into a server, keeps an undo journal of everything that the server changed below the watched folders and has
 * not yet made durable. After a kill -9 the journal says what a power cut would have taken; powercut.cc takes it.
 *
 *   STOA_POWERCUT_ROOTS    folders to watch, separated by ':'
 *   STOA_POWERCUT_JOURNAL  an existing folder on the same file system, outside of them
 *
 * What counts as durable is the least that POSIX promises: the bytes and size of a file after fsync or fdatasync of it; a name
 * after fsync of its directory. O_DIRECT is no sync. Not seen: stdio, mmap and io_uring (RocksDB uses none of them
 * for its files unless told to, except stdio for its LOG). */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tests/crash/powercut_format.h"

#define EXPORT __attribute__((visibility("default")))
#define REAL(name) ((__typeof__(&name))real_function(#name))

static void* real_function(const char* name) { return dlsym(RTLD_NEXT, name); }

struct file {
  struct file* next;
  dev_t dev;
  ino_t ino;
  int journal;         /* descriptor of data/INODE */
  int reader;          /* to read what is about to be overwritten */
  uint64_t sequence;   /* of the next record */
  uint64_t unsynced;   /* records since the last sync */
  pthread_mutex_t mutex; /* held over record and change */
};

enum { kBuckets = 1024 };
static struct file* files[kBuckets];
static pthread_mutex_t files_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t names_mutex = PTHREAD_MUTEX_INITIALIZER; /* held over record and change of names */
static int names_journal = -1;
static uint64_t names_sequence = 1;
static char roots[16][PATH_MAX];
static int root_count;
static char journal_folder[PATH_MAX];
static __thread bool inside; /* our own calls are not watched */

static void die(const char* what) {
  fprintf(stderr, "powercut: %s: %s\n", what, strerror(errno));
  abort();
}

__attribute__((constructor)) static void start(void) {
  const char* list = getenv("STOA_POWERCUT_ROOTS");
  const char* folder = getenv("STOA_POWERCUT_JOURNAL");
  if (list == NULL || folder == NULL) return;
  inside = true;
  char copy[16 * PATH_MAX];
  snprintf(copy, sizeof copy, "%s", list);
  for (char *state, *root = strtok_r(copy, ":", &state); root != NULL && root_count < 16; root = strtok_r(NULL, ":", &state)) {
    if (realpath(root, roots[root_count]) == NULL) die(root);
    ++root_count;
  }
  if (realpath(folder, journal_folder) == NULL) die(folder);
  char path[PATH_MAX + 16];
  snprintf(path, sizeof path, "%s/data", journal_folder);
  mkdir(path, 0700);
  snprintf(path, sizeof path, "%s/saved", journal_folder);
  mkdir(path, 0700);
  snprintf(path, sizeof path, "%s/names", journal_folder);
  names_journal = REAL(open)(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (names_journal < 0) die(path);
  inside = false;
}

static bool below_roots(const char* path) {
  for (int i = 0; i < root_count; ++i) {
    const size_t length = strlen(roots[i]);
    if (strncmp(path, roots[i], length) == 0 && (path[length] == '/' || path[length] == '\0')) return true;
  }
  return false;
}

/* The absolute path of a name relative to dirfd, with its folder resolved; false when it cannot be below a root. */
static bool absolute(int dirfd, const char* path, char out[PATH_MAX]) {
  if (root_count == 0 || path == NULL || inside) return false;
  char full[2 * PATH_MAX], folder[2 * PATH_MAX];
  if (path[0] == '/') {
    snprintf(full, sizeof full, "%s", path);
  } else {
    char link[64];
    ssize_t length;
    if (dirfd == AT_FDCWD) {
      if (getcwd(folder, PATH_MAX) == NULL) return false;
    } else {
      snprintf(link, sizeof link, "/proc/self/fd/%d", dirfd);
      length = readlink(link, folder, PATH_MAX - 1);
      if (length < 0) return false;
      folder[length] = '\0';
    }
    if ((size_t)snprintf(full, sizeof full, "%.*s/%s", PATH_MAX, folder, path) >= sizeof full) return false;
  }
  size_t length = strlen(full);
  while (length > 1 && full[length - 1] == '/') full[--length] = '\0';
  char* slash = strrchr(full, '/');
  if (slash == NULL) return false;
  char name[NAME_MAX + 2];
  snprintf(name, sizeof name, "%.255s", slash + 1);
  *(slash == full ? slash + 1 : slash) = '\0';
  if (realpath(full, folder) == NULL) return false;
  const size_t folder_length = strlen(folder), name_length = strlen(name);
  if (folder_length + 1 + name_length >= PATH_MAX) return false;
  memcpy(out, folder, folder_length);
  out[folder_length] = '/';
  memcpy(out + folder_length + 1, name, name_length + 1);
  return below_roots(out);
}

static void append(int fd, const struct powercut_record* record, const void* bytes, const void* bytes2) {
  struct iovec parts[3] = {{(void*)record, sizeof *record}, {(void*)bytes, record->length}, {(void*)bytes2, record->length2}};
  const ssize_t wanted = (ssize_t)(sizeof *record + record->length + record->length2);
  if (REAL(writev)(fd, parts, 3) != wanted) die("cannot write the journal");
}

/* --- content ----------------------------------------------------------------------------------------------------------- */

static struct file* find_file(const struct stat* st) {
  for (struct file* f = files[st->st_ino % kBuckets]; f != NULL; f = f->next) {
    if (f->ino == st->st_ino && f->dev == st->st_dev) return f;
  }
  return NULL;
}

static struct file* watched(int fd, struct stat* st) {
  if (root_count == 0 || inside || fstat(fd, st) != 0 || !S_ISREG(st->st_mode)) return NULL;
  pthread_mutex_lock(&files_mutex);
  struct file* f = find_file(st);
  pthread_mutex_unlock(&files_mutex);
  return f;
}

/* From now on changes of this file are seen. */
static void watch(int fd) {
  struct stat st;
  if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) return;
  pthread_mutex_lock(&files_mutex);
  if (find_file(&st) == NULL) {
    struct file* f = calloc(1, sizeof *f);
    char path[PATH_MAX + 64];
    f->dev = st.st_dev;
    f->ino = st.st_ino;
    f->sequence = 1;
    pthread_mutex_init(&f->mutex, NULL);
    snprintf(path, sizeof path, "%s/data/%llu", journal_folder, (unsigned long long)st.st_ino);
    f->journal = REAL(open)(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    f->reader = REAL(open)(path, O_RDONLY | O_CLOEXEC);
    if (f->journal < 0 || f->reader < 0) die("cannot watch a file");
    f->next = files[st.st_ino % kBuckets];
    files[st.st_ino % kBuckets] = f;
  }
  pthread_mutex_unlock(&files_mutex);
}

static void record_data(struct file* f, uint32_t kind, uint64_t offset, uint64_t length64, const void* bytes, uint32_t length) {
  const struct powercut_record record = {.magic = POWERCUT_MAGIC, .kind = kind, .sequence = f->sequence++,
                                         .offset = offset, .length64 = length64, .length = length};
  append(f->journal, &record, bytes, NULL);
  ++f->unsynced;
}

/* Saves [offset, offset + length) as it is now, before it is changed. With the file's mutex held. */
static void save_range(struct file* f, uint64_t size, uint64_t offset, uint64_t length) {
  static const char zeros[POWERCUT_BLOCK];
  const uint64_t end = offset + length;
  uint64_t zero_from = offset; /* zeros that are not recorded yet begin here */
  for (uint64_t at = offset; at < end && at < size;) {
    /* Holes need no look. */
    const off_t data = lseek(f->reader, (off_t)at, SEEK_DATA);
    if (data < 0 || (uint64_t)data >= end) break;
    if ((uint64_t)data > at) {
      at = (uint64_t)data;
    }
    char old[POWERCUT_BLOCK];
    uint64_t count = POWERCUT_BLOCK - at % POWERCUT_BLOCK;
    if (count > end - at) count = end - at;
    const ssize_t got = REAL(pread)(f->reader, old, count, (off_t)at);
    if (got < 0) die("cannot read what is overwritten");
    memset(old + got, 0, count - (size_t)got);
    if (memcmp(old, zeros, count) != 0) {
      if (zero_from < at) record_data(f, POWERCUT_ZEROS, zero_from, at - zero_from, NULL, 0);
      record_data(f, POWERCUT_BYTES, at, count, old, (uint32_t)count);
      zero_from = at + count;
    }
    at += count;
  }
  if (zero_from < end) record_data(f, POWERCUT_ZEROS, zero_from, end - zero_from, NULL, 0);
}

/* Before a write of `length` bytes; returns with the mutex held. */
static void before_write(struct file* f, int fd, uint64_t offset, uint64_t length) {
  struct stat st;
  pthread_mutex_lock(&f->mutex);
  if (length == 0 || fstat(fd, &st) != 0) return;
  /* The size first: it is put back last, and cuts off what the old bytes may have put behind it. */
  if (offset + length > (uint64_t)st.st_size) record_data(f, POWERCUT_SIZE, (uint64_t)st.st_size, 0, NULL, 0);
  save_range(f, (uint64_t)st.st_size, offset, length);
}

static void before_truncate(struct file* f, uint64_t old_size, uint64_t new_size) {
  if (new_size < old_size) save_range(f, old_size, new_size, old_size - new_size);
  record_data(f, POWERCUT_SIZE, old_size, 0, NULL, 0);
}

static uint64_t vector_bytes(const struct iovec* iov, int count) {
  uint64_t total = 0;
  for (int i = 0; i < count; ++i) total += iov[i].iov_len;
  return total;
}

/* Where write(2) will put its bytes. */
static uint64_t current_offset(int fd, const struct stat* st) {
  if ((fcntl(fd, F_GETFL) & O_APPEND) != 0) return (uint64_t)st->st_size;
  const off_t at = lseek(fd, 0, SEEK_CUR);
  return at < 0 ? 0 : (uint64_t)at;
}

#define POSITIONED_WRITE(call, name, bytes)                 \
  struct stat st;                                           \
  struct file* f = watched(fd, &st);                        \
  if (f == NULL) return REAL(name) call;                    \
  before_write(f, fd, (uint64_t)offset, (bytes));           \
  const ssize_t done = REAL(name) call;                     \
  const int error = errno;                                  \
  pthread_mutex_unlock(&f->mutex);                          \
  errno = error;                                            \
  return done

EXPORT ssize_t pwrite(int fd, const void* buf, size_t n, off_t offset) { POSITIONED_WRITE((fd, buf, n, offset), pwrite, n); }
EXPORT ssize_t pwrite64(int fd, const void* buf, size_t n, off64_t offset) { POSITIONED_WRITE((fd, buf, n, offset), pwrite64, n); }
EXPORT ssize_t pwritev(int fd, const struct iovec* iov, int count, off_t offset) {
  POSITIONED_WRITE((fd, iov, count, offset), pwritev, vector_bytes(iov, count));
}
EXPORT ssize_t pwritev64(int fd, const struct iovec* iov, int count, off64_t offset) {
  POSITIONED_WRITE((fd, iov, count, offset), pwritev64, vector_bytes(iov, count));
}
/* RWF_DSYNC is taken for an ordinary write: stricter than the kernel, and no part of Stoa relies on it. */
EXPORT ssize_t pwritev2(int fd, const struct iovec* iov, int count, off_t offset, int flags) {
  struct stat seen;
  if (offset == -1 && watched(fd, &seen) != NULL) return pwritev2(fd, iov, count, (off_t)current_offset(fd, &seen), flags);
  POSITIONED_WRITE((fd, iov, count, offset, flags), pwritev2, vector_bytes(iov, count));
}
EXPORT ssize_t write(int fd, const void* buf, size_t n) {
  struct stat seen;
  if (watched(fd, &seen) == NULL) return REAL(write)(fd, buf, n);
  const uint64_t offset = current_offset(fd, &seen);
  POSITIONED_WRITE((fd, buf, n), write, n);
}
EXPORT ssize_t writev(int fd, const struct iovec* iov, int count) {
  struct stat seen;
  if (watched(fd, &seen) == NULL) return REAL(writev)(fd, iov, count);
  const uint64_t offset = current_offset(fd, &seen);
  POSITIONED_WRITE((fd, iov, count), writev, vector_bytes(iov, count));
}
EXPORT ssize_t sendfile(int fd, int from, off_t* at, size_t n) {
  struct stat seen;
  if (watched(fd, &seen) == NULL) return REAL(sendfile)(fd, from, at, n);
  const uint64_t offset = current_offset(fd, &seen);
  POSITIONED_WRITE((fd, from, at, n), sendfile, n);
}
EXPORT ssize_t copy_file_range(int from, off64_t* from_at, int fd, off64_t* at, size_t n, unsigned flags) {
  struct stat seen;
  if (watched(fd, &seen) == NULL) return REAL(copy_file_range)(from, from_at, fd, at, n, flags);
  const uint64_t offset = at != NULL ? (uint64_t)*at : current_offset(fd, &seen);
  POSITIONED_WRITE((from, from_at, fd, at, n, flags), copy_file_range, n);
}

EXPORT int ftruncate(int fd, off_t size) {
  struct stat st;
  struct file* f = watched(fd, &st);
  if (f == NULL) return REAL(ftruncate)(fd, size);
  pthread_mutex_lock(&f->mutex);
  if (fstat(fd, &st) == 0 && size != st.st_size) before_truncate(f, (uint64_t)st.st_size, (uint64_t)size);
  const int done = REAL(ftruncate)(fd, size);
  const int error = errno;
  pthread_mutex_unlock(&f->mutex);
  errno = error;
  return done;
}
EXPORT int ftruncate64(int fd, off64_t size) { return ftruncate(fd, size); }

EXPORT int fallocate(int fd, int mode, off_t offset, off_t length) {
  struct stat st;
  struct file* f = watched(fd, &st);
  if (f == NULL) return REAL(fallocate)(fd, mode, offset, length);
  if ((mode & (FALLOC_FL_COLLAPSE_RANGE | FALLOC_FL_INSERT_RANGE)) != 0) {
    errno = EOPNOTSUPP;
    return -1;
  }
  pthread_mutex_lock(&f->mutex);
  if (fstat(fd, &st) == 0) {
    if ((mode & (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE)) != 0) {
      const uint64_t end = (uint64_t)(offset + length);
      const uint64_t stop = end < (uint64_t)st.st_size ? end : (uint64_t)st.st_size;
      if ((uint64_t)offset < stop) save_range(f, (uint64_t)st.st_size, (uint64_t)offset, stop - (uint64_t)offset);
    }
    if ((mode & FALLOC_FL_KEEP_SIZE) == 0 && offset + length > st.st_size) {
      record_data(f, POWERCUT_SIZE, (uint64_t)st.st_size, 0, NULL, 0);
    }
  }
  const int done = REAL(fallocate)(fd, mode, offset, length);
  const int error = errno;
  pthread_mutex_unlock(&f->mutex);
  errno = error;
  return done;
}
EXPORT int fallocate64(int fd, int mode, off64_t offset, off64_t length) { return fallocate(fd, mode, offset, length); }
EXPORT int posix_fallocate(int fd, off_t offset, off_t length) { return fallocate(fd, 0, offset, length) == 0 ? 0 : errno; }
EXPORT int posix_fallocate64(int fd, off64_t offset, off64_t length) { return posix_fallocate(fd, offset, length); }

/* --- durability -------------------------------------------------------------------------------------------------------- */

static void names_synced(ino_t directory, uint64_t before) {
  const struct powercut_record record = {.magic = POWERCUT_MAGIC, .kind = POWERCUT_SYNCED, .sequence = 0, .offset = before,
                                         .directory = directory};
  pthread_mutex_lock(&names_mutex);
  append(names_journal, &record, NULL, NULL);
  pthread_mutex_unlock(&names_mutex);
}

static int synced(int fd, int (*sync_call)(int)) {
  struct stat st;
  struct file* f = watched(fd, &st);
  if (f == NULL) {
    const bool directory = root_count > 0 && !inside && fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
    pthread_mutex_lock(&names_mutex);
    const uint64_t before = names_sequence;
    pthread_mutex_unlock(&names_mutex);
    const int done = sync_call(fd);
    if (done == 0 && directory) names_synced(st.st_ino, before);
    return done;
  }
  pthread_mutex_lock(&f->mutex);
  const uint64_t before = f->sequence;
  pthread_mutex_unlock(&f->mutex);
  const int done = sync_call(fd);
  if (done != 0) return done;
  pthread_mutex_lock(&f->mutex);
  if (f->sequence == before) {
    /* Nothing came meanwhile: all of the journal is behind us. */
    if (f->unsynced > 0 && REAL(ftruncate)(f->journal, 0) != 0) die("cannot cut the journal");
    f->unsynced = 0;
  } else {
    const struct powercut_record record = {.magic = POWERCUT_MAGIC, .kind = POWERCUT_SYNCED, .offset = before};
    append(f->journal, &record, NULL, NULL);
  }
  pthread_mutex_unlock(&f->mutex);
  return 0;
}

EXPORT int fsync(int fd) { return synced(fd, REAL(fsync)); }
EXPORT int fdatasync(int fd) { return synced(fd, REAL(fdatasync)); }

/* --- names ------------------------------------------------------------------------------------------------------------- */

static ino_t folder_of(const char* path) {
  char folder[PATH_MAX];
  snprintf(folder, sizeof folder, "%s", path);
  char* slash = strrchr(folder, '/');
  if (slash != NULL) *slash = '\0';
  struct stat st;
  return stat(folder, &st) == 0 ? st.st_ino : 0;
}

/* With names_mutex held. Keeps what stands at `gone` alive under saved/SEQ: it can come back, and its inode number is not
 * given to another file as long as there is a journal under it. */
static void record_name(uint32_t kind, const char* path, const char* path2, const char* gone) {
  const uint64_t sequence = names_sequence++;
  if (gone != NULL) {
    char saved[PATH_MAX + 32];
    snprintf(saved, sizeof saved, "%s/saved/%llu", journal_folder, (unsigned long long)sequence);
    if (REAL(linkat)(AT_FDCWD, gone, AT_FDCWD, saved, 0) != 0 && errno != ENOENT && errno != EPERM) die("cannot save a file (another file system?)");
  }
  const struct powercut_record record = {.magic = POWERCUT_MAGIC, .kind = kind, .sequence = sequence,
                                         .directory = folder_of(path), .directory2 = path2 != NULL ? folder_of(path2) : 0,
                                         .length = (uint32_t)strlen(path), .length2 = path2 != NULL ? (uint32_t)strlen(path2) : 0};
  append(names_journal, &record, path, path2);
}

static int watched_open(int dirfd, const char* path, int flags, mode_t mode) {
  char full[PATH_MAX];
  if (!absolute(dirfd, path, full)) return REAL(openat)(dirfd, path, flags, mode);
  struct stat st;
  const bool present = stat(full, &st) == 0;
  int fd;
  if (present && (flags & O_TRUNC) != 0) {
    fd = REAL(openat)(dirfd, path, flags & ~O_TRUNC, mode);
    if (fd >= 0) {
      watch(fd);
      if (ftruncate(fd, 0) != 0) die("cannot truncate");
    }
  } else if (!present && (flags & O_CREAT) != 0) {
    pthread_mutex_lock(&names_mutex);
    record_name(POWERCUT_CREATE, full, NULL, NULL);
    fd = REAL(openat)(dirfd, path, flags, mode);
    pthread_mutex_unlock(&names_mutex);
  } else {
    fd = REAL(openat)(dirfd, path, flags, mode);
  }
  if (fd >= 0 && (flags & O_ACCMODE) != O_RDONLY) {
    const int error = errno;
    watch(fd);
    errno = error;
  }
  return fd;
}

#define OPEN_MODE                                        \
  mode_t mode = 0;                                       \
  if ((flags & (O_CREAT | __O_TMPFILE)) != 0) {          \
    va_list args;                                        \
    va_start(args, flags);                               \
    mode = va_arg(args, mode_t);                         \
    va_end(args);                                        \
  }
EXPORT int open(const char* path, int flags, ...) { OPEN_MODE return watched_open(AT_FDCWD, path, flags, mode); }
EXPORT int open64(const char* path, int flags, ...) { OPEN_MODE return watched_open(AT_FDCWD, path, flags, mode); }
EXPORT int openat(int dirfd, const char* path, int flags, ...) { OPEN_MODE return watched_open(dirfd, path, flags, mode); }
EXPORT int openat64(int dirfd, const char* path, int flags, ...) { OPEN_MODE return watched_open(dirfd, path, flags, mode); }
EXPORT int creat(const char* path, mode_t mode) { return watched_open(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }
EXPORT int creat64(const char* path, mode_t mode) { return creat(path, mode); }

static int watched_rename(int from_fd, const char* from, int to_fd, const char* to, unsigned flags) {
  char old_path[PATH_MAX], new_path[PATH_MAX];
  const bool from_watched = absolute(from_fd, from, old_path), to_watched = absolute(to_fd, to, new_path);
  if (!from_watched && !to_watched) return REAL(renameat2)(from_fd, from, to_fd, to, flags);
  if (!from_watched || !to_watched || flags == RENAME_EXCHANGE) {
    errno = EXDEV;
    return -1;
  }
  pthread_mutex_lock(&names_mutex);
  if (access(old_path, F_OK) == 0) record_name(POWERCUT_RENAME, old_path, new_path, new_path);
  const int done = REAL(renameat2)(from_fd, from, to_fd, to, flags);
  const int error = errno;
  pthread_mutex_unlock(&names_mutex);
  errno = error;
  return done;
}
EXPORT int rename(const char* from, const char* to) { return watched_rename(AT_FDCWD, from, AT_FDCWD, to, 0); }
EXPORT int renameat(int from_fd, const char* from, int to_fd, const char* to) { return watched_rename(from_fd, from, to_fd, to, 0); }
EXPORT int renameat2(int from_fd, const char* from, int to_fd, const char* to, unsigned flags) {
  return watched_rename(from_fd, from, to_fd, to, flags);
}

static int watched_unlink(int dirfd, const char* path, int flags) {
  char full[PATH_MAX];
  if (!absolute(dirfd, path, full)) return REAL(unlinkat)(dirfd, path, flags);
  pthread_mutex_lock(&names_mutex);
  struct stat st;
  const bool present = lstat(full, &st) == 0;
  if (present) record_name((flags & AT_REMOVEDIR) != 0 ? POWERCUT_RMDIR : POWERCUT_REMOVE, full, NULL,
                           (flags & AT_REMOVEDIR) != 0 ? NULL : full);
  const int done = REAL(unlinkat)(dirfd, path, flags);
  const int error = errno;
  pthread_mutex_unlock(&names_mutex);
  errno = error;
  return done;
}
EXPORT int unlink(const char* path) { return watched_unlink(AT_FDCWD, path, 0); }
EXPORT int unlinkat(int dirfd, const char* path, int flags) { return watched_unlink(dirfd, path, flags); }
EXPORT int rmdir(const char* path) { return watched_unlink(AT_FDCWD, path, AT_REMOVEDIR); }
EXPORT int remove(const char* path) {
  struct stat st;
  return watched_unlink(AT_FDCWD, path, lstat(path, &st) == 0 && S_ISDIR(st.st_mode) ? AT_REMOVEDIR : 0);
}

EXPORT int mkdirat(int dirfd, const char* path, mode_t mode) {
  char full[PATH_MAX];
  if (!absolute(dirfd, path, full) || access(full, F_OK) == 0) return REAL(mkdirat)(dirfd, path, mode);
  pthread_mutex_lock(&names_mutex);
  record_name(POWERCUT_MKDIR, full, NULL, NULL);
  const int done = REAL(mkdirat)(dirfd, path, mode);
  const int error = errno;
  pthread_mutex_unlock(&names_mutex);
  errno = error;
  return done;
}
EXPORT int mkdir(const char* path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }

EXPORT int linkat(int from_fd, const char* from, int to_fd, const char* to, int flags) {
  char full[PATH_MAX];
  if (!absolute(to_fd, to, full) || access(full, F_OK) == 0) return REAL(linkat)(from_fd, from, to_fd, to, flags);
  pthread_mutex_lock(&names_mutex);
  record_name(POWERCUT_CREATE, full, NULL, NULL);
  const int done = REAL(linkat)(from_fd, from, to_fd, to, flags);
  const int error = errno;
  pthread_mutex_unlock(&names_mutex);
  errno = error;
  return done;
}
EXPORT int link(const char* from, const char* to) { return linkat(AT_FDCWD, from, AT_FDCWD, to, 0); }
