// Requests and replies of core/api/namespace.h: plain values, without references, functions or pointers to output.
// Names and buffers of a request are views of the caller's memory, valid for the call; ReadRequest::into receives
// content without a copy. A reply owns its data, or shares it (DataSlice, AclRef). Names are the raw bytes of the
// client.
//
// A front end that speaks POSIX gives `name`s (1..255 bytes, no '/' and NUL, not "." or ".."); one that speaks
// keys gives whole S3 keys below a root directory. How keys that are no plain paths look to POSIX protocols:
// core/inode/posix_name.h.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/api/attributes.h"
#include "core/api/ids.h"
#include "core/api/io.h"
#include "core/api/leases.h"

namespace stoa::core {

// --- look-up and attributes ------------------------------------------------------------------------------------------

// `name` may be "." and, below `root`, ".."; ".." of `root` is `root` itself. root = kRootId: the volume.
struct LookupRequest {
  FileId parent;
  std::string_view name;
  FileId root = kRootId;
  bool ignore_case = false;  // if there is no such name: the first one that differs in case only
};
struct LookupReply {
  Attributes attr;
  Attributes parent;
  std::string name{};  // the stored name, where `ignore_case` found another than the one requested
};

struct GetattrRequest {
  FileId id;
};
struct GetattrReply {
  Attributes attr;
};

// The ACL as it decides, never null: made from the mode where none is stored. kAccess without READ_ACL, which the owner
// has.
struct GetAclRequest {
  FileId id;
};
struct GetAclReply {
  AclRef acl;
  bool stored;
  Attributes attr;
};

// Size changes need write access, times need ownership or (server time) write access, mode, ACL and owner need
// ownership, or the right of an ACL. Errors of an ACL: kInvalid when it is malformed, or has inheritance flags on a
// file that is not a directory; kTooLarge. Any call, even with no attribute set, makes a directory permanent that was
// implied by an S3 key. It then stays when the last key below it goes. So it does when it gets a quota or an extended
// attribute.
struct SetattrRequest {
  FileId id;
  SetAttributes set;
  std::optional<Timestamp> guard_ctime{};  // kGuardMismatch unless it is the object's ctime (RFC 1813 3.3.2)
};
struct SetattrReply {
  BeforeAttributes before;
  Attributes attr;
};

struct AccessRequest {
  FileId id;
  std::uint32_t wanted;
};  // AccessBits
struct AccessReply {
  std::uint32_t granted;
  Attributes attr;
  bool read_only = false;
};  // in a recycle bin or a sealed directory nobody changes anything

struct ReadlinkRequest {
  FileId id;
};
struct ReadlinkReply {
  std::string target;
  Attributes attr;
};

// The subject of the limits of a directory.
enum class QuotaOf : std::uint8_t {
  kDirectory,  // all that is below it
  kChildren,   // limits of each directory made in it, or moved into it without limits of its own
  kUser,       // files that a user owns below it
  kGroup,      // files that belong to a group below it
};
// The quota that leaves the least room at the directory, of bytes or of files and directories.
struct TightestQuota {
  std::optional<std::uint64_t> hard{}, soft{};  // both absent: no quota
  std::uint64_t used = 0;       // of that quota, by the classes that it counts; without any, of the directory
  std::uint64_t room = 0;       // until growth is refused; 0 when the time of grace is over
  std::uint64_t soft_room = 0;  // until a soft limit is passed anywhere; `room` where there is none
  Timestamp grace_ends{};       // 0: no soft limit is passed
  bool limited() const { return hard || soft; }
};
// Seen from this file: the tightest quota limits the numbers, those of the asking user and group included, or of
// `owner`.
struct StatfsRequest {
  FileId id;
  std::optional<std::pair<QuotaOf, std::uint32_t>> owner{};  // kUser or kGroup
};
struct StatfsReply {
  std::uint64_t bytes_total, bytes_free, bytes_available;
  std::uint64_t files_total, files_free, files_available;
  Attributes attr;
  TightestQuota bytes_quota{}, files_quota{};
};

// --- making names
// ------------------------------------------------------------------------------------------------------

enum class CreateMode : std::uint8_t {
  kUnchecked,  // an existing file is taken; `set.size` 0 truncates it
  kGuarded,    // kExists when the name is taken
  kExclusive,  // kExists unless the file was made by the same verifier (RFC 1813 3.3.8)
};
struct CreateRequest {
  FileId parent;
  std::string_view name;
  CreateMode mode = CreateMode::kUnchecked;
  SetAttributes set{};         // mode, uid, gid, size, times of a new file
  std::uint64_t verifier = 0;  // kExclusive
  // The content of a new file, made with it in one transaction; at most kIoBytesMax (kTooLarge). An existing file never
  // gets it, so kInvalid with kUnchecked, and with a size.
  std::span<const std::byte> bytes{};
};
// Also of mkdir, symlink, mknod, link. `parent` is the directory after the call.
struct CreateReply {
  bool created;
  Attributes attr;
  BeforeAttributes parent_before;
  Attributes parent;
};

enum class OpenDisposition : std::uint8_t {
  kOpen,    // opens an existing file
  kCreate,  // a new file
  kOpenOrCreate,
  kOverwrite,  // opens an existing file and truncates it
  kOverwriteOrCreate,
  kCreateExclusive,  // a new file, or the one that an earlier request with this verifier has made
  // A new file in `parent` without a name (O_TMPFILE), charged there as an orphan. It goes with its last close, or
  // after a restart unless it is reclaimed by its id; link() gives it a name. Needs the right to add files to `parent`.
  kCreateNameless,
};
// Atomic: the file is found or created, the open enters the table of opens (state.h) for ctx.holder and ctx.lease_key,
// and only then is the file truncated. Execute permission is enough to read, because execution needs the bytes. Append
// permission is enough to write; each write checks its offset. A caller that creates the file gets every access.
struct OpenRequest {
  FileId id = kNoFile;  // the file itself; else a name in a directory
  FileId parent = kNoFile;
  std::string_view name{};
  OpenDisposition disposition = OpenDisposition::kOpen;  // of a file itself: kOpen or kOverwrite
  std::uint32_t access = kShareRead;                     // ShareBits
  std::uint32_t deny = kShareNone;                       // ShareBits
  bool reclaim = false;          // it was open before a restart: permissions were looked at then
  LeaseRequest lease{};          // none: no lease
  bool delete_on_close = false;  // of a name, with kShareDelete (DeleteWhen::kAtClose)
  SetAttributes set{};           // mode, uid, gid, size, times of a new file
  std::uint64_t verifier = 0;    // kCreateExclusive
};
// Errors of create, setattr and StateTable::open. kIsDirectory, kWrongType: no regular file. Error::subject is the file
// where there is one.
struct OpenReply {
  OpenId open = kNoOpen;
  std::optional<GrantedLease> lease{};  // the part of the requested lease that was granted
  bool created = false;
  bool truncated = false;
  Attributes attr{};
  BeforeAttributes parent_before{};  // of a file in a directory
  Attributes parent{};
};

struct MkdirRequest {
  FileId parent;
  std::string_view name;
  SetAttributes set{};
};
struct SymlinkRequest {
  FileId parent;
  std::string_view name;
  std::string_view target;
  SetAttributes set{};
};
struct MknodRequest {
  FileId parent;
  std::string_view name;
  FileType type;
  DeviceNumber device{};
  SetAttributes set{};
};
// A file without a name gets one only if it was made so (kCreateNameless); it is charged to `parent` from then on.
// Others: kNotFound.
struct LinkRequest {
  FileId id;
  FileId parent;
  std::string_view name;
};

// --- removing and moving names
// -----------------------------------------------------------------------------------------

struct RemoveRequest {
  FileId parent;
  std::string_view name;
  FileId file = kNoFile;  // when given: kNotFound, unless it is a name of this file
};  // unlink (kIsDirectory) and rmdir (kNotDirectory)
struct RemoveReply {
  FileId removed;
  BeforeAttributes parent_before;
  Attributes parent;
};

struct RenameRequest {
  FileId from_parent;
  std::string_view from_name;
  FileId to_parent;
  std::string_view to_name;
  bool no_replace = false;  // kExists when the target exists
  // Both names exist (kNotFound) and swap what they name, in one transaction; nothing is replaced or recycled. The
  // caller needs the rights of both renames. A directory and one above it: kInvalid. With `no_replace`: kInvalid.
  bool exchange = false;
};
struct RenameReply {
  FileId moved;
  BeforeAttributes from_before;
  Attributes from;
  BeforeAttributes to_before;
  Attributes to;
};

// --- directories
// -------------------------------------------------------------------------------------------------------

// Cookies are stable for ever. 0 begins; 1 and 2 follow "." and ".."; entries have cookies >= 3, growing.
struct ReaddirRequest {
  FileId dir;
  std::uint64_t cookie = 0;  // continue behind this one
  std::uint32_t entries_max = 1024;
  std::uint32_t name_bytes_max = 1u << 20;  // stop when the names add up to more
  bool want_attributes = false;             // READDIRPLUS
  FileId root = kRootId;                    // ".." of this directory is itself
};
struct DirectoryEntry {
  FileId id;
  FileType type;
  std::uint64_t cookie;
  std::string name;
  std::optional<Attributes> attr{};
};
struct ReaddirReply {
  std::vector<DirectoryEntry> entries;
  bool end;
  Attributes dir;
};

// --- data
// --------------------------------------------------------------------------------------------------------------

// Reads into the caller's memory.
struct ReadRequest {
  FileId id;
  std::uint64_t offset;
  std::span<std::byte> into;
};
struct ReadReply {
  std::uint64_t length;
  bool end_of_file;
  Attributes attr;
};

// Reads without a copy: memory of the store or ranges of host files, verified where a checksum is recorded.
struct ReadSlicesRequest {
  FileId id;
  std::uint64_t offset;
  std::uint64_t length;
};
struct ReadSlicesReply {
  std::vector<DataSlice> slices;
  std::uint64_t length;
  bool end_of_file;
  Attributes attr;
};

struct WriteRequest {
  FileId id;
  std::uint64_t offset;
  ConstBuffers data;
  LentMemory memory{};  // holds the one buffer of `data`, when that may be kept
  // Atomic append: the offset is where the file ends, and `offset` is ignored. Appends never overlap or leave gaps.
  // What could not be made durable (kIo, kNoSpace) may stay appended. With a request key, an append that was answered
  // outlives a kill of the server, and one that was executed before the restart is answered when it is repeated: it is
  // in the file once, at the offset that it had.
  bool append = false;
  // Of appends: only one that was executed before the restart is answered; any other is kBusy.
  bool only_again = false;
};
// `verifier`: of the shard that has the file. While it stays the same, data written without a promise of durability is
// still there (RFC 1813 3.3.7, writeverf3; RFC 8881 18.32).
struct WriteReply {
  std::uint64_t length;
  BeforeAttributes before;
  Attributes attr;
  std::uint64_t verifier = 0;
  std::uint64_t offset = 0;  // of the first byte
};

// length 0: to the end of the file (RFC 1813 3.3.21).
struct CommitRequest {
  FileId id;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};
struct CommitReply {
  BeforeAttributes before;
  Attributes attr;
  std::uint64_t verifier = 0;
};

// allocate: the range has space on the disks, and the file reaches to its end. zero: the same, and all of the range
// reads as zeros; a quota, and space for what has none yet, are asked for before any byte is cleared. punch: the range
// reads as zeros and gives its space back; the size stays.
struct RangeRequest {
  FileId id;
  std::uint64_t offset;
  std::uint64_t length;
  // allocate, zero: the size stays. What lies behind it has space from then on and is not charged; kQuota where the
  // file may not grow so far.
  bool keep_size = false;
};
struct RangeReply {
  BeforeAttributes before;
  Attributes attr;
};

enum class SeekWhat : std::uint8_t { kData, kHole };
struct SeekRequest {
  FileId id;
  std::uint64_t offset;
  SeekWhat what;
};  // kNoMoreData at or past the end
struct SeekReply {
  std::uint64_t offset;
  bool end_of_file;
};

// Copies bytes between files of the volume; `share`: by reference to the same extents, else the store may choose.
// length 0: to the end of the source. Overlapping ranges of one file: kInvalid. A copy that fails after its first bytes
// replies with the length that it copied (RFC 7862, 15.2.3). When a quota has no room for all of it, nothing is copied.
struct CopyRangeRequest {
  FileId from;
  std::uint64_t from_offset;
  FileId to;
  std::uint64_t to_offset;
  std::uint64_t length;
  bool share = false;
};
struct CopyRangeReply {
  std::uint64_t length;
  Attributes attr;
  std::uint64_t verifier = 0;
};

// --- extended attributes
// -----------------------------------------------------------------------------------------------

enum class XattrMode : std::uint8_t { kSet, kCreate, kReplace };
struct GetXattrRequest {
  FileId id;
  std::string_view name;
};
struct GetXattrReply {
  std::string value;
};
struct SetXattrRequest {
  FileId id;
  std::string_view name;
  std::string_view value;
  XattrMode mode = XattrMode::kSet;
};
struct ListXattrsRequest {
  FileId id;
};
struct ListXattrsReply {
  std::vector<std::string> names;
};
struct RemoveXattrRequest {
  FileId id;
  std::string_view name;
};
struct XattrChangeReply {
  BeforeAttributes before;
  Attributes attr;
};

// --- objects: files named by a key below a root directory
// ----------------------------------------------------------------

// Opaque bytes that a key protocol keeps with an object (headers, user metadata, checksums), and the content that they
// describe. If `described` is no longer the object's version, another protocol has written the file since.
struct ObjectMeta {
  std::string bytes;
  ObjectVersion described;
  bool current(const Attributes& attr) const { return described == attr.version(); }
};

struct LookupKeyRequest {
  FileId root;
  std::string_view key;
};
struct LookupKeyReply {
  Attributes attr;
  std::optional<ObjectMeta> meta;
};

// Bytes arriving with no name yet. size_hint 0: unknown.
struct UploadBeginRequest {
  std::uint64_t size_hint = 0;
};
struct UploadWriteRequest {
  UploadId upload;
  ConstBuffers data;
};  // appends
struct UploadDiscardRequest {
  UploadId upload;
};

// Preconditions on the present object of a replace or removal; checked atomically with it.
struct ObjectExpectation {
  bool must_not_exist = false;
  std::optional<ObjectVersion> version{};
};

// Puts a whole object at `key`: swaps the content of an existing file's name or makes a new one, with the directories
// of the key. These are marked as implied by keys, and removed again when the last key below them goes by remove_key.
// Readers see the old or the new content, whole. The upload is consumed on success only.
//
// `multipart`, with the root kMultipartId only (else kInvalid): the directory that the key names is that of a multipart
// upload. If it is made, it and all files created in it belong to this user and group, regardless of the caller. It
// counts with them in `dir`, the directory of the future object, as UsageClass::kMultipart until it is gone, also when
// `dir` moves or goes. No directory is renamed into it or out of it (kInvalid). kStale: `dir` is gone.
struct MultipartOf {
  FileId dir;
  std::uint32_t uid;
  std::uint32_t gid;
};
struct PutKeyRequest {
  FileId root;
  std::string_view key;
  std::optional<UploadId> upload{};    // the content; or
  std::span<const std::byte> bytes{};  // the whole content when there is no upload (small objects)
  std::string_view meta{};
  std::uint32_t mode = 0644;
  std::optional<ObjectExpectation> expect{};  // kPreconditionFailed
  std::optional<Timestamp> mtime{};           // default: now
  std::optional<MultipartOf> multipart{};
};
struct PutKeyReply {
  Attributes attr;
  bool replaced;
};

// A range of a file to join: `length` from `offset`; absent: to its end. kInvalid: they reach behind it.
struct ConcatenatePart {
  FileId id;
  std::optional<std::uint64_t> data_version{};  // version that the caller saw; kStale when it has changed since
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length{};
};

// Joins `parts` into the object at `key` by reference to the same extents, without copying. In the same transaction
// removes `consume_dir` with all its files (the multipart upload's directory; kNoFile: nothing). Parts in `consume_dir`
// must be whole; other files stay, and the caller must be allowed to read them. The object is charged its full size.
// Where the consumed parts count in the same quota, only the difference needs room. kQuota: nothing has changed.
struct ConcatenateRequest {
  FileId root;
  std::string_view key;
  std::vector<ConcatenatePart> parts;
  FileId consume_dir = kNoFile;
  std::string_view meta{};
  std::uint32_t mode = 0644;
  std::optional<ObjectExpectation> expect{};
};

struct RemoveKeyRequest {
  FileId root;
  std::string_view key;
  std::optional<ObjectExpectation> expect{};
};
struct RemoveKeyReply {
  bool removed;
};  // false: there was nothing; not an error

// Replaces the object meta of a file, content untouched (CopyObject onto itself). kStale when the version moved on.
struct SetMetaRequest {
  FileId id;
  std::string_view meta;
  ObjectVersion described;
};

// Keys below `root` in byte order. With a delimiter, keys that contain it behind the prefix are rolled up into one
// prefix each. Only regular files are keys. With delimiter "/", every directory counts as a prefix, empty ones too.
struct ListKeysRequest {
  FileId root;
  std::string_view prefix{};
  std::string_view delimiter{};
  std::string_view
      start_after{};  // only keys that sort behind it; a rolled-up prefix that is a prefix of start_after is skipped
  std::uint32_t limit = kListKeysMax;
  bool want_meta = false;
};
struct ListedKey {
  std::string key;
  Attributes attr;
  std::optional<ObjectMeta> meta;
};
struct ListKeysReply {
  std::vector<ListedKey> keys;        // in order
  std::vector<std::string> prefixes;  // in order; keys + prefixes <= limit
  bool truncated = false;
  std::string next_start_after;  // pass as start_after to go on, when truncated
};

// --- usage and quota
// -----------------------------------------------------------------------------------------------------

// Owners choose the sizes of sparse files, up to 2^63-1 each: their sum needs more than 64 bits.
__extension__ using ByteCount = __int128;
struct Usage {
  ByteCount bytes = 0;           // content bytes of files below (a file with many links counts once, at its first name)
  std::int64_t files = 0;        // files of all types but directories
  std::int64_t directories = 0;  // below, not itself
  bool operator==(const Usage&) const = default;
};
// Saturated to 64 bits: at most 2^64-1.
inline std::uint64_t bytes_of(const Usage& usage) {
  return static_cast<std::uint64_t>(std::clamp<ByteCount>(usage.bytes, 0, std::numeric_limits<std::uint64_t>::max()));
}
// The class of a usage. Persistent: never renumber. An orphan that was recycled counts as recycled, an orphan of an
// upload as multipart. A directory that lies in a bin itself does not make files in it count as recycled.
enum class UsageClass : std::uint8_t {
  kLive,
  kRecycled,   // it lies in a recycle bin, which is one of the directory itself or below it
  kOrphans,    // it has no name any more, and is open
  kMultipart,  // it belongs to a multipart upload that has not ended: parts and record, one file each, and a directory
               // for them
};
// All but live usage, which is the rest.
inline constexpr std::array kClassesButLive{UsageClass::kRecycled, UsageClass::kOrphans, UsageClass::kMultipart};
// The parts of a usage by class.
struct UsageByClass {
  std::array<Usage, kClassesButLive.size()> amounts{};

  UsageByClass() = default;
  UsageByClass(std::initializer_list<std::pair<UsageClass, Usage>> some) {
    for (const auto& [of, amount] : some) (*this)[of] = amount;
  }
  Usage& operator[](UsageClass of) { return amounts[static_cast<std::size_t>(of) - 1]; }
  const Usage& operator[](UsageClass of) const { return amounts[static_cast<std::size_t>(of) - 1]; }
  bool operator==(const UsageByClass&) const = default;
};
// Classes excluded from limits; live usage is always included.
class ExcludedClasses {
 public:
  constexpr ExcludedClasses() = default;
  constexpr ExcludedClasses(std::initializer_list<UsageClass> classes) {
    for (const UsageClass of : classes) set(of, true);
  }
  // Persistent. Unknown bits of a newer version.
  static constexpr ExcludedClasses from_bits(std::uint8_t bits) {
    ExcludedClasses classes;
    classes.bits_ = bits;
    return classes;
  }
  constexpr std::uint8_t bits() const { return bits_; }

  constexpr bool any() const { return bits_ != 0; }
  constexpr bool has(UsageClass of) const { return (bits_ & bit(of)) != 0; }
  constexpr void set(UsageClass of, bool to) {
    bits_ = static_cast<std::uint8_t>(to ? bits_ | bit(of) : bits_ & ~bit(of));
  }
  bool operator==(const ExcludedClasses&) const = default;

 private:
  static constexpr unsigned bit(UsageClass of) {
    return of == UsageClass::kLive ? 0 : 1u << (static_cast<unsigned>(of) - 1);
  }
  std::uint8_t bits_ = 0;
};
inline constexpr ExcludedClasses kAllButLive{UsageClass::kRecycled, UsageClass::kOrphans, UsageClass::kMultipart};
inline constexpr std::uint32_t kQuotaGraceDefault = 7 * 24 * 3600;
struct QuotaLimits {
  std::optional<std::uint64_t> bytes{};  // hard: growth beyond it is refused
  std::optional<std::uint64_t> files{};  // hard; files and directories together
  std::optional<std::uint64_t>
      soft_bytes{};  // may be passed for the time of grace; from then on growth is refused as at a
  std::optional<std::uint64_t> soft_files{};  // hard limit, until usage is down to the soft limit again
  std::uint32_t grace_s = kQuotaGraceDefault;
  ExcludedClasses excluded{};  // of a directory, or its new children; they apply to users and groups in it, too

  bool any() const { return bytes || files || soft_bytes || soft_files; }
  bool says_anything() const { return any() || excluded.any(); }
  bool operator==(const QuotaLimits&) const = default;
};
// Since when usage is above a soft limit; 0: it is not.
struct SoftExcess {
  Timestamp bytes{}, files{};
  bool operator==(const SoftExcess&) const = default;
};

// Files and directories of the volume visited so far by the count of users' and groups' usage of a directory.
struct OwnerCountProgress {
  std::uint64_t looked_at = 0, in_all = 0;
};

struct UsageRequest {
  FileId dir;
  QuotaOf of = QuotaOf::kDirectory;  // kUser, kGroup: kNotSupported when the directory does not count owners
  std::uint32_t id = 0;              // uid or gid
};
struct UsageReply {
  Usage usage;
  QuotaLimits limits;
  Attributes attr;
  SoftExcess since{};
  QuotaLimits child_limits{};
  bool counts_owners = false;
  std::optional<OwnerCountProgress> counting{};  // owners are not wholly counted yet: see CountOwnersRequest
  UsageByClass by_class{};
  ExcludedClasses excluded{};  // of the directory, regardless of the user or group asked about
  Usage counted{};             // the usage compared with limits: without excluded classes
};
// No limits: removed. Superuser only. O(1) on a tree of any size, and true at once. kInvalid: a soft limit above the
// hard one; classes for a user or group. kUser, kGroup: kNotSupported when the directory does not count owners.
struct SetQuotaRequest {
  FileId dir;
  QuotaLimits limits;
  QuotaOf of = QuotaOf::kDirectory;
  std::uint32_t id = 0;
};
// Usage by user and by group is counted below the directory from now on (or no more: limits of users and groups go,
// too). Superuser only. O(1) on a tree of any size: existing files are counted in the background, by a scan of all
// files of the volume. It begins anew after a restart. Until that is done, usage of users and groups is preliminary and
// their limits, which may be set at once, refuse nothing; limits of directories bind as ever. Then an event
// "owners_counted" and a change of kind kQuota tell it.
struct CountOwnersRequest {
  FileId dir;
  bool on;
};
struct QuotaRecord {
  FileId dir;
  std::string path;
  QuotaLimits limits;
  Usage usage;
  SoftExcess since{};
  QuotaLimits child_limits{};
  bool counts_owners = false;
  std::optional<OwnerCountProgress> counting{};
  UsageByClass by_class{};
  Usage counted{};
};
struct ListQuotasRequest {
  FileId after = kNoFile;
  std::uint32_t limit = 1000;
};
struct ListQuotasReply {
  std::vector<QuotaRecord> quotas;
  bool truncated;
};
// The users and groups that own something below a directory or have limits there: users first, by uid.
struct OwnerQuota {
  QuotaOf of;
  std::uint32_t id;
  QuotaLimits limits;
  Usage usage;
  SoftExcess since;
  UsageByClass by_class{};
  Usage counted{};
};
struct ListOwnerQuotasRequest {
  FileId dir;
  std::optional<std::pair<QuotaOf, std::uint32_t>> after{};
  std::uint32_t limit = 1000;
};
struct ListOwnerQuotasReply {
  std::vector<OwnerQuota> owners;
  bool truncated;
  std::optional<OwnerCountProgress> counting{};
};

// --- sealed directories

// While a directory is sealed, every change of it and of what is below it is kReadOnly, through every protocol, also
// through opens and by background work; so is a change of a file elsewhere that has a name below it. Quotas and
// policies may be set. O(1) on a tree of any size, and true for every change that begins when it returns. Superuser
// only. Unsealing what lies in a sealed directory leaves it read-only. Setting what is set already: nothing happens.
// kRecallPending: somebody may hold writes that are not here yet, and is asked for them.
struct SetSealedRequest {
  FileId dir;
  bool sealed;
};
struct SealedRequest {
  FileId id;
};
struct SealedReply {
  FileId by = kNoFile;  // the nearest sealed directory that the file is or lies in; kNoFile: none
};

// --- paths, for administrators
// -------------------------------------------------------------------------------------------

// '/'-separated from the root of the volume; symlinks are not followed. Empty or "/" is the root.
struct ResolvePathRequest {
  std::string_view path;
};
struct ResolvePathReply {
  Attributes attr;
};
struct PathOfRequest {
  FileId id;
};  // by its first link
struct PathOfReply {
  std::string path;
};

// The directories above a file, and itself if it is one, from the root down. With a key, of the place below the
// directory `id` that it names, as far as there are directories. Empty: the file is in none. In a multipart upload:
// kMultipartId and the upload's own directory. In a recycle bin: also the directories above the bin.
struct AncestorsRequest {
  FileId id;
  std::string_view key{};
};
struct AncestorsReply {
  std::vector<FileId> directories;
};

}  // namespace stoa::core
