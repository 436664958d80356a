/* libstoa: files of a Stoa server, without a mount. C89 and later; <stoa.hpp> is the same for C++17.
 *
 * Results. A call returns 0, or a count of bytes where its contract says so. A failure is a negative errno: -ENOENT,
 * never -1. Nothing is kept behind the program's back: errno is not touched.
 *
 * Errors that any call may return, besides those it lists:
 *   -EACCES, -EPERM  the server's permissions refuse it          -EROFS   the export or the directory is read-only
 *   -ENOMEM          no memory                                   -ESTALE  the file is gone, or its open was lost
 *   -EIO             the server or the network failed            -ETIMEDOUT  only with stoa_options.soft_ms: no answer
 *                                                                in time; what was asked may be done or not
 *   -EFAULT          a path that is NULL                         -EINVAL  a flag, or a value, that has no meaning
 *
 * Blocking. Calls block until the server has answered; a server that is gone is waited for, for ever unless soft_ms is
 * set. A signal does not end a call. Calls of a ring do not block, but where it is said.
 *
 * Caches. What the server grants a lease for is answered from the memory of the program; others see what is written as
 * soon as they ask for it. Writes are buffered: those of a program that dies before stoa_fsync, stoa_disconnect or the
 * 50 ms that they wait may be lost, and a host that dies loses what was not synced.
 *
 * Threads. All calls on one handle may run at the same time, but for its close or disconnect, which comes last, and the
 * calls of a ring: one thread at a time prepares and submits. Threads of the library block all signals.
 *
 * fork. The child uses its handles as before, and opens a session of its own at its first call; the parent's is not
 * touched. The child has no locks, no rings (-EBADF), nothing of what the parent has written and not synced, and
 * positions of its own. Files are opened again by their id, with permissions as they are then.
 *
 * Paths. `at` is the directory that a relative path begins at; NULL: the directory of the URL, where absolute paths
 * begin, too, and those in symbolic links. ".." does not lead above it. A path has at most 4095 bytes (-ENAMETOOLONG),
 * a name 255; at most 40 symbolic links are followed (-ELOOP). -ENOENT, -ENOTDIR as in path_resolution(7). Names are
 * bytes. With STOA_NOFOLLOW a symbolic link at the end of the path is meant itself. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct stoa_fs stoa_fs;     /* a session with an export */
typedef struct stoa_file stoa_file; /* an open file */
typedef struct stoa_dir stoa_dir;   /* an open directory */
typedef struct stoa_ring stoa_ring; /* operations under way */

/* --- session ---------------------------------------------------------------------------------------------------- */

/* Log in by Kerberos: the program acts as the user of its principal, and key_file is NULL. Tickets are those that
 * KRB5CCNAME and KRB5_CLIENT_KTNAME name, or krb5.conf. Each connection takes one; with none, or an expired one, calls
 * wait as for a server that is gone. */
#define STOA_KERBEROS 1u

/* Set all to zero, then `size`. */
typedef struct stoa_options {
  uint32_t size;         /* sizeof(stoa_options): tells the library which members there are */
  uint32_t channels;     /* connections, 1 to 16; 0: 2 */
  const char* url;       /* stoa://[user@]host[:port]/export[/path]; NULL: $STOA_NATIVE_URL */
  const char* key_file;  /* of mode 0600; NULL: $STOA_NATIVE_KEY_FILE */
  uint32_t soft_ms;      /* milliseconds until a call fails with -ETIMEDOUT; 0: never */
  uint32_t spare;        /* 0 */
  char* why;             /* NULL, or where stoa_connect writes a sentence for people when it fails */
  size_t why_bytes;      /* of `why`, with its NUL */
  uint64_t budget_bytes; /* of memory for caches and what is written and not sent; 16 MiB and more; 0: 256 MiB */
  uint32_t security;     /* 0: the key of key_file; or STOA_KERBEROS */
  uint32_t spare2;       /* 0 */
} stoa_options;

/* Connects and logs in. With a host's key, calls are for the effective uid, gid and groups of the process now (in a
 * child: at its first call). -EINVAL: options, URL or key file; -ENOENT: no such key file, export or path; -EACCES:
 * wrong key, no Kerberos ticket or no user of its principal, no rule for this host, a key file that others may read;
 * -EOPNOTSUPP: no common version, no Kerberos there. */
int stoa_connect(const stoa_options* options, stoa_fs** fs);
/* Writes back what was written and not synced, then ends the session and its locks. Files, directories and rings of it
 * are closed before. Returns the first error of writing back; the handle is gone in any case. */
int stoa_disconnect(stoa_fs* fs);

/* --- attributes ------------------------------------------------------------------------------------------------- */

#define STOA_NOFOLLOW 0x1u

/* Times are ns since 1970. `spare` is 0. */
typedef struct stoa_attributes {
  uint64_t id;        /* the same number for ever: st_ino of a mount */
  uint64_t size;      /* bytes */
  uint64_t allocated; /* bytes taken in the store */
  uint64_t change;    /* grows with each change of the file */
  int64_t atime_ns, mtime_ns, ctime_ns, btime_ns;
  uint32_t mode; /* as st_mode: type and permissions */
  uint32_t links;
  uint32_t uid, gid;
  uint32_t device_major, device_minor; /* of a device file */
  uint64_t spare[4];
} stoa_attributes;

int stoa_stat(stoa_fs* fs, stoa_dir* at, const char* path, uint32_t flags, stoa_attributes* attributes);
int stoa_fstat(stoa_file* file, stoa_attributes* attributes);
/* Permission bits: 07777. */
int stoa_chmod(stoa_fs* fs, stoa_dir* at, const char* path, uint32_t mode);
int stoa_fchmod(stoa_file* file, uint32_t mode);
/* An id of 0xffffffff stays as it is. */
int stoa_chown(stoa_fs* fs, stoa_dir* at, const char* path, uint32_t uid, uint32_t gid, uint32_t flags);
int stoa_fchown(stoa_file* file, uint32_t uid, uint32_t gid);
#define STOA_TIME_NOW INT64_MAX  /* the server's clock */
#define STOA_TIME_KEEP INT64_MIN /* not changed */
int stoa_utimens(stoa_fs* fs, stoa_dir* at, const char* path, int64_t atime_ns, int64_t mtime_ns, uint32_t flags);
int stoa_futimens(stoa_file* file, int64_t atime_ns, int64_t mtime_ns);
/* `mode`: R_OK, W_OK, X_OK of <unistd.h>, or F_OK. -EACCES: one of them is refused. */
int stoa_access(stoa_fs* fs, stoa_dir* at, const char* path, int mode, uint32_t flags);
int stoa_truncate(stoa_fs* fs, stoa_dir* at, const char* path, uint64_t bytes);

typedef struct stoa_space {
  uint64_t bytes_total, bytes_free, bytes_available; /* of the tightest quota, where one is set */
  uint64_t files_total, files_free, files_available;
  uint64_t spare[4];
} stoa_space;
int stoa_statvfs(stoa_fs* fs, stoa_dir* at, const char* path, stoa_space* space);

/* --- names ------------------------------------------------------------------------------------------------------- */
/* All are durable when they return. `mode` is what a new file gets: the umask of the process is not looked at.
 * -EEXIST, -ENOTEMPTY, -EISDIR, -ENOTDIR, -EXDEV, -EMLINK, -EDQUOT, -ENOSPC as in the system calls of these names. */

int stoa_mkdir(stoa_fs* fs, stoa_dir* at, const char* path, uint32_t mode);
int stoa_rmdir(stoa_fs* fs, stoa_dir* at, const char* path);
int stoa_unlink(stoa_fs* fs, stoa_dir* at, const char* path);
/* `mode` has the type: S_IFREG, S_IFIFO, S_IFSOCK, S_IFCHR, S_IFBLK. */
int stoa_mknod(stoa_fs* fs, stoa_dir* at, const char* path, uint32_t mode, uint32_t major, uint32_t minor);
int stoa_symlink(stoa_fs* fs, const char* target, stoa_dir* at, const char* path);
/* Returns the length of the target, which is not ended by NUL, and cut to `bytes`. -EINVAL: not a symbolic link. */
int64_t stoa_readlink(stoa_fs* fs, stoa_dir* at, const char* path, char* target, size_t bytes);
/* Without STOA_FOLLOW a symbolic link at the end of `path` gets the new name itself. */
#define STOA_FOLLOW 0x2u
int stoa_link(stoa_fs* fs, stoa_dir* at, const char* path, stoa_dir* to_at, const char* to_path, uint32_t flags);
/* Gives a name to a file; for one that was made with O_TMPFILE, its first. */
int stoa_flink(stoa_file* file, stoa_dir* to_at, const char* to_path);
#define STOA_NOREPLACE 0x4u /* -EEXIST when the new name is taken */
#define STOA_EXCHANGE 0x8u  /* both names exist, and swap what they name; not with STOA_NOREPLACE */
int stoa_rename(stoa_fs* fs, stoa_dir* at, const char* path, stoa_dir* to_at, const char* to_path, uint32_t flags);

/* --- open files -------------------------------------------------------------------------------------------------- */

/* `flags`: O_RDONLY, O_WRONLY or O_RDWR, with O_CREAT, O_EXCL, O_TRUNC, O_APPEND, O_NOFOLLOW, O_SYNC, O_DSYNC,
 * O_CLOEXEC, O_TMPFILE (`path` is a directory); others: -EINVAL. -EISDIR: see stoa_opendir. */
int stoa_open(stoa_fs* fs, stoa_dir* at, const char* path, int flags, uint32_t mode, stoa_file** file);
/* Ends the open and its locks. Returns an error of earlier writes that no call has told yet: each is told once for an
 * open file. What was not synced is safe after stoa_fsync only; it goes on being written. The handle is gone. */
int stoa_close(stoa_file* file);

/* Return the bytes that were read or written; 0: the end of the file. Fewer than asked for: the end of the file, or an
 * error behind them that the next call tells. An offset plus length above INT64_MAX: -EINVAL. -EBADF: not opened for
 * it. Writes: -EDQUOT, -ENOSPC, -EFBIG. With O_APPEND writes go to the end of the file, whatever the offset; a piece of
 * up to 1 MiB is never mixed with others'. */
int64_t stoa_pread(stoa_file* file, void* buffer, size_t bytes, uint64_t offset);
int64_t stoa_pwrite(stoa_file* file, const void* buffer, size_t bytes, uint64_t offset);
int64_t stoa_preadv(stoa_file* file, const struct iovec* buffers, int count, uint64_t offset);
int64_t stoa_pwritev(stoa_file* file, const struct iovec* buffers, int count, uint64_t offset);
/* The same at the position of the file, which they move. */
int64_t stoa_read(stoa_file* file, void* buffer, size_t bytes);
int64_t stoa_write(stoa_file* file, const void* buffer, size_t bytes);
/* `whence`: SEEK_SET, SEEK_CUR, SEEK_END, SEEK_DATA, SEEK_HOLE. Returns the new position. -ENXIO: no data, or no hole,
 * from there on; -EINVAL: the position would be negative. */
int64_t stoa_lseek(stoa_file* file, int64_t offset, int whence);
/* All that was written to the file before is on stable storage. An error is told once for each open file. */
int stoa_fsync(stoa_file* file);
int stoa_fdatasync(stoa_file* file);
int stoa_ftruncate(stoa_file* file, uint64_t bytes);
/* The range has space, and reads as before; the file grows to its end unless STOA_KEEP_SIZE is set. An empty range:
 * -EINVAL. */
#define STOA_KEEP_SIZE 0x10u
int stoa_allocate(stoa_file* file, uint64_t offset, uint64_t bytes, uint32_t flags);
/* The range reads as zeros and has space. */
int stoa_zero(stoa_file* file, uint64_t offset, uint64_t bytes, uint32_t flags);
/* The range reads as zeros and gives its space back; the size stays. */
int stoa_punch(stoa_file* file, uint64_t offset, uint64_t bytes);
/* Copies at the server. Returns the bytes that were copied; 0: `from_offset` is at or past the end. Ranges of one file
 * that overlap: -EINVAL. */
int64_t stoa_copy_range(stoa_file* from, uint64_t from_offset, stoa_file* to, uint64_t to_offset, uint64_t bytes);

/* --- directories -------------------------------------------------------------------------------------------------- */

/* A directory, to read it and as the beginning of paths. -ENOTDIR. */
int stoa_opendir(stoa_fs* fs, stoa_dir* at, const char* path, stoa_dir** dir);
int stoa_closedir(stoa_dir* dir);

typedef struct stoa_entry {
  stoa_attributes attributes;
  uint64_t cookie; /* for stoa_seekdir: behind this entry; good for ever */
  char name[256];  /* ended by NUL */
} stoa_entry;
/* The next entry, with its attributes: those of a symbolic link are its own. 1: there is one, 0: the end. "." and ".."
 * are left out. */
int stoa_readdir(stoa_dir* dir, stoa_entry* entry);
/* Goes on behind an entry; 0: at the beginning, with the names as they are then. */
int stoa_seekdir(stoa_dir* dir, uint64_t cookie);

/* --- extended attributes ------------------------------------------------------------------------------------------ */

/* Names begin with "user.", "trusted." (seen by uid 0) or "security."; "system.posix_acl_access" and
 * "system.posix_acl_default" are the POSIX ACLs of acl(5), as Linux has them in attributes. Others: -EOPNOTSUPP.
 * -ENODATA: no such attribute. Sizes as in getxattr(2): `bytes` 0 asks for the length; -ERANGE: it does not fit. */
int64_t stoa_getxattr(stoa_fs* fs, stoa_dir* at, const char* path, const char* name, void* value, size_t bytes,
                      uint32_t flags);
#define STOA_XATTR_CREATE 0x20u  /* -EEXIST when it is there */
#define STOA_XATTR_REPLACE 0x40u /* -ENODATA when it is not */
int stoa_setxattr(stoa_fs* fs, stoa_dir* at, const char* path, const char* name, const void* value, size_t bytes,
                  uint32_t flags);
int stoa_removexattr(stoa_fs* fs, stoa_dir* at, const char* path, const char* name, uint32_t flags);
/* The names, each ended by NUL. */
int64_t stoa_listxattr(stoa_fs* fs, stoa_dir* at, const char* path, char* names, size_t bytes, uint32_t flags);

/* --- locks ---------------------------------------------------------------------------------------------------------
 */

/* Advisory byte-range locks, which hold against all clients over all protocols. The owner is the open file, as with
 * F_OFD_SETLK of fcntl(2). `bytes` 0: to the end of all offsets. */
typedef struct stoa_lock {
  uint64_t offset, bytes;
  uint32_t exclusive; /* 0: shared */
  uint32_t spare;
} stoa_lock;
/* Waits up to `timeout_ms` ms (0: not; negative: for ever) while another lock is in the way, then: -EAGAIN. -EDEADLK:
 * the wait would never end; -EBADF: the file is not open for reading (shared) or writing (exclusive); -ENOLCK: too
 * many. */
int stoa_lock_set(stoa_file* file, const stoa_lock* lock, int timeout_ms);
/* 0: `lock` would be granted. 1: `in_the_way` is the first that is in the way. */
int stoa_lock_test(stoa_file* file, const stoa_lock* lock, stoa_lock* in_the_way);
int stoa_lock_clear(stoa_file* file, uint64_t offset, uint64_t bytes);
/* The whole file, as flock(2): `operation` is LOCK_SH, LOCK_EX or LOCK_UN of <sys/file.h>, with LOCK_NB. At the server
 * both kinds exclude each other: an open file with both is in its own way. */
int stoa_flock(stoa_file* file, int operation);

/* --- many small files -----------------------------------------------------------------------------------------------
 */
/* One message to the server for many files. Each has its own result, and a failure does not end those behind it. They
 * return 0 when all were asked for; an error means that the results from the first -EINPROGRESS on are not known. */

typedef struct stoa_small_read {
  const char* path; /* from `at` */
  void* buffer;
  size_t bytes;   /* of the buffer, at most 1 MiB: else -E2BIG */
  int64_t result; /* the size of the file, whose content is in the buffer; -EOVERFLOW: it is larger */
} stoa_small_read;
int stoa_read_files(stoa_fs* fs, stoa_dir* at, stoa_small_read* files, size_t count);

typedef struct stoa_small_write {
  const char* path;
  const void* data;
  size_t bytes;   /* at most 1 MiB: else -E2BIG */
  uint32_t mode;  /* permission bits */
  uint32_t spare; /* 0 */
  int64_t result; /* 0; -EEXIST: the name is taken, and keeps its content */
} stoa_small_write;
/* New files, which nobody sees without their content, durable when it returns. */
int stoa_write_files(stoa_fs* fs, stoa_dir* at, stoa_small_write* files, size_t count);

typedef struct stoa_small_stat {
  const char* path;
  int64_t result; /* 0, and `attributes` are set */
  stoa_attributes attributes;
} stoa_small_stat;
int stoa_stat_many(stoa_fs* fs, stoa_dir* at, stoa_small_stat* files, size_t count, uint32_t flags);

/* --- ring: operations under way -------------------------------------------------------------------------------------
 */

typedef struct stoa_completion {
  uint64_t tag;    /* of the prepared operation */
  int64_t result;  /* as of the blocking call */
  stoa_file* file; /* of stoa_ring_prepare_open, to be closed; else NULL */
} stoa_completion;

/* At most `entries` operations (1 to 4096) are prepared, under way or done and not taken. */
int stoa_ring_create(stoa_fs* fs, uint32_t entries, stoa_ring** ring);
/* Waits for what is under way; files that were opened and not taken are closed. */
int stoa_ring_destroy(stoa_ring* ring);
/* An eventfd(2), readable while there are completions; for poll(2), and not to be read. */
int stoa_ring_fd(stoa_ring* ring);
/* Memory that operations name by index; at most 1024 pieces, instead of those before. It stays the program's, and stays
 * where it is until the ring is destroyed or others are registered; -EBUSY while operations are under way. Over TCP it
 * saves no copy: the reply is copied into it once. Over RDMA it is what the server will read and write. */
int stoa_ring_register(stoa_ring* ring, const struct iovec* buffers, uint32_t count);

/* Prepare one operation; nothing is sent yet. -EAGAIN: `entries` are in use. Buffers, files and results stay valid
 * until the completion. Reads and writes are of at most 1 MiB (-E2BIG), and may be short. Names are one name in `at`;
 * symbolic links are not followed (-ELOOP for open and read_file). The order of operations under way is not defined. */
int stoa_ring_prepare_read(stoa_ring* ring, stoa_file* file, void* buffer, size_t bytes, uint64_t offset, uint64_t tag);
int stoa_ring_prepare_write(stoa_ring* ring, stoa_file* file, const void* buffer, size_t bytes, uint64_t offset,
                            uint64_t tag);
/* The same with a part of registered memory: from `from` on. -EINVAL: it has no such part. */
int stoa_ring_prepare_read_registered(stoa_ring* ring, stoa_file* file, uint32_t index, size_t from, size_t bytes,
                                      uint64_t offset, uint64_t tag);
int stoa_ring_prepare_write_registered(stoa_ring* ring, stoa_file* file, uint32_t index, size_t from, size_t bytes,
                                       uint64_t offset, uint64_t tag);
int stoa_ring_prepare_fsync(stoa_ring* ring, stoa_file* file, uint64_t tag);
int stoa_ring_prepare_open(stoa_ring* ring, stoa_dir* at, const char* name, int flags, uint32_t mode, uint64_t tag);
int stoa_ring_prepare_stat(stoa_ring* ring, stoa_dir* at, const char* name, stoa_attributes* attributes, uint64_t tag);
/* The whole of a small file; its result as of stoa_small_read. */
int stoa_ring_prepare_read_file(stoa_ring* ring, stoa_dir* at, const char* name, void* buffer, size_t bytes,
                                uint64_t tag);
/* Starts what is prepared, and returns how many. It does not wait for the server: what cannot be sent at once is left
 * to threads of the library, at most eight for all rings. Small reads and questions that are submitted together share
 * messages.
 * Order. Writes and fsyncs of one file that are submitted to one ring are done one after the other, in that order; a
 * read sees the writes of its file that were submitted before it, and may see later ones; an fsync makes durable, and
 * tells the errors of, those before it. Nothing else is ordered: what names a file, or is to follow an open, is
 * submitted when what it depends on is done. */
int stoa_ring_submit(stoa_ring* ring);
/* Takes up to `most` completions, when there are `least` or `timeout_ms` ms are over (0: at once; negative: never), and
 * returns how many. Never waits for more than are under way. */
int stoa_ring_wait(stoa_ring* ring, stoa_completion* completions, uint32_t most, uint32_t least, int timeout_ms);

/* --- files of a mount ------------------------------------------------------------------------------------------------
 */

/* The URL of the mount of `stoa mount` that an open file is on, for stoa_connect; the key file is the caller's, who has
 * to be able to read it. Returns its length. -ENOTTY: it is on no such mount; -ERANGE: it does not fit. */
int stoa_url_of_fd(int fd, char* url, size_t bytes);
/* The file of an open descriptor, opened in `fs` by its number, for what the descriptor is open for. Permissions are
 * those of the session's user. -ENOTTY; -EXDEV: `fs` has not the URL of the mount; -EISDIR. */
int stoa_of_fd(stoa_fs* fs, int fd, stoa_file** file);

#ifdef __cplusplus
}
#endif
