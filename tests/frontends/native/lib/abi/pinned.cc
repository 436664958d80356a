// What programs that are built already depend on, as it was when it was first installed: sizes, offsets, values, and
// the types of the calls of stoa.h. A line here is never changed; what is appended to the header is appended here. The
// symbols: packaging/debian/libstoa1/symbols.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "frontends/native/lib/stoa.h"

namespace {

// Whether a call has this type.
template <typename Wanted, typename Call>
constexpr bool is(Call*) {
  return std::is_same_v<Wanted, Call>;
}

// Of processors with pointers of 64 bits.
static_assert(sizeof(void*) == 8);
static_assert(sizeof(stoa_options) >= 56);  // programs say which of its members they know
static_assert(offsetof(stoa_options, size) == 0);
static_assert(offsetof(stoa_options, channels) == 4);
static_assert(offsetof(stoa_options, url) == 8);
static_assert(offsetof(stoa_options, key_file) == 16);
static_assert(offsetof(stoa_options, soft_ms) == 24);
static_assert(offsetof(stoa_options, spare) == 28);
static_assert(offsetof(stoa_options, why) == 32);
static_assert(offsetof(stoa_options, why_bytes) == 40);
static_assert(offsetof(stoa_options, budget_bytes) == 48);
static_assert(offsetof(stoa_options, security) == 56);
static_assert(offsetof(stoa_options, spare2) == 60);

static_assert(sizeof(stoa_attributes) == 120);
static_assert(offsetof(stoa_attributes, id) == 0);
static_assert(offsetof(stoa_attributes, size) == 8);
static_assert(offsetof(stoa_attributes, allocated) == 16);
static_assert(offsetof(stoa_attributes, change) == 24);
static_assert(offsetof(stoa_attributes, atime_ns) == 32);
static_assert(offsetof(stoa_attributes, mtime_ns) == 40);
static_assert(offsetof(stoa_attributes, ctime_ns) == 48);
static_assert(offsetof(stoa_attributes, btime_ns) == 56);
static_assert(offsetof(stoa_attributes, mode) == 64);
static_assert(offsetof(stoa_attributes, links) == 68);
static_assert(offsetof(stoa_attributes, uid) == 72);
static_assert(offsetof(stoa_attributes, gid) == 76);
static_assert(offsetof(stoa_attributes, device_major) == 80);
static_assert(offsetof(stoa_attributes, device_minor) == 84);
static_assert(offsetof(stoa_attributes, spare) == 88);

static_assert(sizeof(stoa_space) == 80);
static_assert(offsetof(stoa_space, bytes_total) == 0);
static_assert(offsetof(stoa_space, bytes_free) == 8);
static_assert(offsetof(stoa_space, bytes_available) == 16);
static_assert(offsetof(stoa_space, files_total) == 24);
static_assert(offsetof(stoa_space, files_free) == 32);
static_assert(offsetof(stoa_space, files_available) == 40);
static_assert(offsetof(stoa_space, spare) == 48);

static_assert(sizeof(stoa_entry) == 384);
static_assert(offsetof(stoa_entry, attributes) == 0);
static_assert(offsetof(stoa_entry, cookie) == 120);
static_assert(offsetof(stoa_entry, name) == 128);

static_assert(sizeof(stoa_lock) == 24);
static_assert(offsetof(stoa_lock, offset) == 0);
static_assert(offsetof(stoa_lock, bytes) == 8);
static_assert(offsetof(stoa_lock, exclusive) == 16);
static_assert(offsetof(stoa_lock, spare) == 20);

static_assert(sizeof(stoa_small_read) == 32);
static_assert(offsetof(stoa_small_read, path) == 0);
static_assert(offsetof(stoa_small_read, buffer) == 8);
static_assert(offsetof(stoa_small_read, bytes) == 16);
static_assert(offsetof(stoa_small_read, result) == 24);

static_assert(sizeof(stoa_small_write) == 40);
static_assert(offsetof(stoa_small_write, path) == 0);
static_assert(offsetof(stoa_small_write, data) == 8);
static_assert(offsetof(stoa_small_write, bytes) == 16);
static_assert(offsetof(stoa_small_write, mode) == 24);
static_assert(offsetof(stoa_small_write, spare) == 28);
static_assert(offsetof(stoa_small_write, result) == 32);

static_assert(sizeof(stoa_small_stat) == 136);
static_assert(offsetof(stoa_small_stat, path) == 0);
static_assert(offsetof(stoa_small_stat, result) == 8);
static_assert(offsetof(stoa_small_stat, attributes) == 16);

static_assert(sizeof(stoa_completion) == 24);
static_assert(offsetof(stoa_completion, tag) == 0);
static_assert(offsetof(stoa_completion, result) == 8);
static_assert(offsetof(stoa_completion, file) == 16);

static_assert(STOA_NOFOLLOW == 0x1u);
static_assert(STOA_TIME_NOW == std::numeric_limits<std::int64_t>::max());
static_assert(STOA_TIME_KEEP == std::numeric_limits<std::int64_t>::min());
static_assert(STOA_FOLLOW == 0x2u);
static_assert(STOA_NOREPLACE == 0x4u);
static_assert(STOA_EXCHANGE == 0x8u);
static_assert(STOA_KEEP_SIZE == 0x10u);
static_assert(STOA_XATTR_CREATE == 0x20u);
static_assert(STOA_XATTR_REPLACE == 0x40u);

static_assert(is<int(const stoa_options*, stoa_fs**)>(stoa_connect));
static_assert(is<int(stoa_fs*)>(stoa_disconnect));
static_assert(is<int(stoa_fs*, stoa_dir*, const char*, uint32_t, stoa_attributes*)>(stoa_stat));
static_assert(is<int(stoa_file*, stoa_attributes*)>(stoa_fstat));
static_assert(is<int(stoa_fs*, stoa_dir*, const char*, uint32_t)>(stoa_chmod));
static_assert(is<int(stoa_file*, uint32_t)>(stoa_fchmod));
static_assert(is<int(stoa_fs*, stoa_dir*, const char*, uint32_t, uint32_t, uint32_t)>(stoa_chown));
static_assert(is<int(stoa_file*, uint32_t, uint32_t)>(stoa_fchown));
static_assert(is<int(stoa_fs*, stoa_dir*, const char*, int64_t, int64_t, uint32_t)>(stoa_utimens));
static_assert(is<int(stoa_file*, int64_t, int64_t)>(stoa_futimens));
static_assert(is<int(stoa_fs*, stoa_dir*, const char*, int, uint32_t)>(stoa_access));
static_assert(is<int(stoa_fs*, stoa_dir*, const char*, uint64_t)>(stoa_truncate));
static_assert(is<int(stoa_fs*, stoa_dir*, const char*, stoa_space*)>(stoa_statvfs));
static_assert(is<int(stoa_fs*, stoa_dir*, const char*, uint32_t)>(stoa_mkdir));
static_assert(is<int(stoa_fs*, stoa_dir*, const char*)>(stoa_rmdir));
static_assert(is<int(stoa_fs*, stoa_dir*, const char*)>(stoa_unlink));
static_assert(is<int(stoa_fs*, stoa_dir*, const char*, uint32_t, uint32_t, uint32_t)>(stoa_mknod));
static_assert(is<int(stoa_fs*, const char*, stoa_dir*, const char*)>(stoa_symlink));
static_assert(is<int64_t(stoa_fs*, stoa_dir*, const char*, char*, size_t)>(stoa_readlink));
static_assert(is<int(stoa_fs*, stoa_dir*, const char*, stoa_dir*, const char*, uint32_t)>(stoa_link));
static_assert(is<int(stoa_file*, stoa_dir*, const char*)>(stoa_flink));
static_assert(is<int(stoa_fs*, stoa_dir*, const char*, stoa_dir*, const char*, uint32_t)>(stoa_rename));
static_assert(is<int(stoa_fs*, stoa_dir*, const char*, int, uint32_t, stoa_file**)>(stoa_open));
static_assert(is<int(stoa_file*)>(stoa_close));
static_assert(is<int64_t(stoa_file*, void*, size_t, uint64_t)>(stoa_pread));
static_assert(is<int64_t(stoa_file*, const void*, size_t, uint64_t)>(stoa_pwrite));
static_assert(is<int64_t(stoa_file*, const iovec*, int, uint64_t)>(stoa_preadv));
static_assert(is<int64_t(stoa_file*, const iovec*, int, uint64_t)>(stoa_pwritev));
static_assert(is<int64_t(stoa_file*, void*, size_t)>(stoa_read));
static_assert(is<int64_t(stoa_file*, const void*, size_t)>(stoa_write));
static_assert(is<int64_t(stoa_file*, int64_t, int)>(stoa_lseek));
static_assert(is<int(stoa_file*)>(stoa_fsync));
static_assert(is<int(stoa_file*)>(stoa_fdatasync));
static_assert(is<int(stoa_file*, uint64_t)>(stoa_ftruncate));
static_assert(is<int(stoa_file*, uint64_t, uint64_t, uint32_t)>(stoa_allocate));
static_assert(is<int(stoa_file*, uint64_t, uint64_t, uint32_t)>(stoa_zero));
static_assert(is<int(stoa_file*, uint64_t, uint64_t)>(stoa_punch));
static_assert(is<int64_t(stoa_file*, uint64_t, stoa_file*, uint64_t, uint64_t)>(stoa_copy_range));
static_assert(is<int(stoa_fs*, stoa_dir*, const char*, stoa_dir**)>(stoa_opendir));
static_assert(is<int(stoa_dir*)>(stoa_closedir));
static_assert(is<int(stoa_dir*, stoa_entry*)>(stoa_readdir));
static_assert(is<int(stoa_dir*, uint64_t)>(stoa_seekdir));
static_assert(is<int64_t(stoa_fs*, stoa_dir*, const char*, const char*, void*, size_t, uint32_t)>(stoa_getxattr));
static_assert(is<int(stoa_fs*, stoa_dir*, const char*, const char*, const void*, size_t, uint32_t)>(stoa_setxattr));
static_assert(is<int(stoa_fs*, stoa_dir*, const char*, const char*, uint32_t)>(stoa_removexattr));
static_assert(is<int64_t(stoa_fs*, stoa_dir*, const char*, char*, size_t, uint32_t)>(stoa_listxattr));
static_assert(is<int(stoa_file*, const stoa_lock*, int)>(stoa_lock_set));
static_assert(is<int(stoa_file*, const stoa_lock*, stoa_lock*)>(stoa_lock_test));
static_assert(is<int(stoa_file*, uint64_t, uint64_t)>(stoa_lock_clear));
static_assert(is<int(stoa_file*, int)>(stoa_flock));
static_assert(is<int(stoa_fs*, stoa_dir*, stoa_small_read*, size_t)>(stoa_read_files));
static_assert(is<int(stoa_fs*, stoa_dir*, stoa_small_write*, size_t)>(stoa_write_files));
static_assert(is<int(stoa_fs*, stoa_dir*, stoa_small_stat*, size_t, uint32_t)>(stoa_stat_many));
static_assert(is<int(stoa_fs*, uint32_t, stoa_ring**)>(stoa_ring_create));
static_assert(is<int(stoa_ring*)>(stoa_ring_destroy));
static_assert(is<int(stoa_ring*)>(stoa_ring_fd));
static_assert(is<int(stoa_ring*, const iovec*, uint32_t)>(stoa_ring_register));
static_assert(is<int(stoa_ring*, stoa_file*, void*, size_t, uint64_t, uint64_t)>(stoa_ring_prepare_read));
static_assert(is<int(stoa_ring*, stoa_file*, const void*, size_t, uint64_t, uint64_t)>(stoa_ring_prepare_write));
static_assert(
    is<int(stoa_ring*, stoa_file*, uint32_t, size_t, size_t, uint64_t, uint64_t)>(stoa_ring_prepare_read_registered));
static_assert(
    is<int(stoa_ring*, stoa_file*, uint32_t, size_t, size_t, uint64_t, uint64_t)>(stoa_ring_prepare_write_registered));
static_assert(is<int(stoa_ring*, stoa_file*, uint64_t)>(stoa_ring_prepare_fsync));
static_assert(is<int(stoa_ring*, stoa_dir*, const char*, int, uint32_t, uint64_t)>(stoa_ring_prepare_open));
static_assert(is<int(stoa_ring*, stoa_dir*, const char*, stoa_attributes*, uint64_t)>(stoa_ring_prepare_stat));
static_assert(is<int(stoa_ring*, stoa_dir*, const char*, void*, size_t, uint64_t)>(stoa_ring_prepare_read_file));
static_assert(is<int(stoa_ring*)>(stoa_ring_submit));
static_assert(is<int(stoa_ring*, stoa_completion*, uint32_t, uint32_t, int)>(stoa_ring_wait));
static_assert(is<int(int, char*, size_t)>(stoa_url_of_fd));
static_assert(is<int(stoa_fs*, int, stoa_file**)>(stoa_of_fd));

}  // namespace
