// The attributes of a file, as every protocol sees them.
#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "core/api/acl.h"
#include "core/api/ids.h"

namespace stoa::core {

enum class FileType : std::uint8_t {
  kRegular = 1,
  kDirectory = 2,
  kSymlink = 3,
  kBlockDevice = 4,
  kCharDevice = 5,
  kSocket = 6,
  kFifo = 7,
};

struct DeviceNumber {
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
  bool operator==(const DeviceNumber&) const = default;
};

// The attributes of a file in DOS and Windows, with the bits of MS-FSCC 2.6. Stored for protocols; only kDosArchive
// changes by itself: a change of a file's content sets it.
using DosAttributes = std::uint16_t;
inline constexpr DosAttributes kDosReadOnly = 0x0001;
inline constexpr DosAttributes kDosHidden = 0x0002;
inline constexpr DosAttributes kDosSystem = 0x0004;
inline constexpr DosAttributes kDosArchive = 0x0020;
inline constexpr DosAttributes kDosOffline = 0x1000;
inline constexpr DosAttributes kDosNotIndexed = 0x2000;
inline constexpr DosAttributes kAllDosAttributes =
    kDosReadOnly | kDosHidden | kDosSystem | kDosArchive | kDosOffline | kDosNotIndexed;

struct Attributes {
  FileId id = kNoFile;
  std::uint32_t generation = 0;
  FileType type = FileType::kRegular;
  std::uint32_t mode = 0;  // the 12 permission bits, no type bits
  std::uint32_t links = 0;
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  DeviceNumber device{};
  std::uint64_t size = 0;       // bytes
  std::uint64_t allocated = 0;  // bytes taken in the store
  Timestamp atime, mtime, ctime, btime;
  DosAttributes dos = 0;
  bool has_acl = false;            // access is decided by an ACL, of which `mode` shows a part
  std::uint64_t change = 0;        // grows with every change of the object (RFC 8881 5.8.1.4)
  std::uint64_t data_version = 0;  // grows with every change of content; see ObjectVersion

  ObjectVersion version() const { return {id, data_version}; }
};

// Attributes of an object just before an operation: pre_op_attr of RFC 1813 2.6, atomic with the operation.
struct BeforeAttributes {
  std::uint64_t size = 0;
  Timestamp mtime, ctime;
  std::uint64_t change = 0;
};

// A time to set: one given by the client, or the server's clock.
struct SetTime {
  bool server_time = false;
  Timestamp time{};
};

// Attributes to change; absent members keep their values.
struct SetAttributes {
  std::optional<std::uint32_t> mode;
  std::uint32_t mode_mask = 07777;  // the bits of `mode` that are set; the others stay, a new object has none of them
  std::optional<std::uint32_t> umask;  // of a new object: taken off `mode`, unless it inherits an ACL (RFC 8275)
  std::optional<std::uint32_t> uid;
  std::optional<std::uint32_t> gid;
  std::optional<std::uint64_t> size;
  std::optional<SetTime> atime;
  std::optional<SetTime> mtime;
  std::optional<Timestamp> btime;
  std::optional<DosAttributes> dos;            // others than kAllDosAttributes: kInvalid
  DosAttributes dos_mask = kAllDosAttributes;  // the bits of `dos` that are set; the others stay
  // The whole ACL, after the mode, which follows it. Its chmod policy does not count: the next member is for that.
  AclRef acl;
  std::optional<ChmodPolicy> chmod_policy;  // directories only: kNotDirectory
};

// Rights for access(), as in RFC 1813 3.3.4 and RFC 8276 8.5.
enum AccessBits : std::uint32_t {
  kAccessRead = 0x01,
  kAccessLookup = 0x02,
  kAccessModify = 0x04,
  kAccessExtend = 0x08,
  kAccessDelete = 0x10,
  kAccessExecute = 0x20,
  kAccessReadXattrs = 0x40,
  kAccessWriteXattrs = 0x80,
  kAccessListXattrs = 0x100,
};

}  // namespace stoa::core
