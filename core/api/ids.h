// Identities that cross the border between front ends and core, and the limits of the namespace.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace stoa::core {

// Inode number, the same over every protocol: 16 bits shard, 48 bits serial, never reused. 0 is no file.
enum class FileId : std::uint64_t {};
inline constexpr FileId kNoFile{0};
// A part of a volume with its own commit order. A volume on one machine is one shard, 0.
enum class ShardId : std::uint16_t {};
constexpr ShardId shard_of(FileId id) {
  return static_cast<ShardId>(static_cast<std::uint64_t>(id) >> 48);
}
inline constexpr FileId kRootId{1};       // the root of the volume
inline constexpr FileId kMultipartId{2};  // a directory outside the tree that holds S3 multipart uploads
inline constexpr FileId kFirstFreeId{16};

// A staged upload: bytes that have no name yet (upload_begin). Lives until replace, concatenate, discard or restart.
enum class UploadId : std::uint64_t {};

// A position in the commit order of one shard; Namespace::sync() makes everything up to it durable.
enum class CommitTicket : std::uint64_t {};

enum class ExportId : std::uint32_t {};

// A client as its protocol knows it, in the table of opens, locks and leases (state.h). 0: one that holds no state.
enum class HolderId : std::uint64_t {};
inline constexpr HolderId kNoHolder{0};
// An open in the same table. 0: none.
enum class OpenId : std::uint64_t {};
enum class LeaseId : std::uint64_t {};
inline constexpr OpenId kNoOpen{0};
// Access of an open, and access that it denies to others.
enum ShareBits : std::uint32_t {
  kShareNone = 0,
  kShareRead = 1,
  kShareWrite = 2,
  kShareBoth = 3,
  kShareDelete = 4,  // also to rename
  kShareAll = 7,
};
// Both carry the shard of their file, and no other open or lease of the shard ever had the same.
constexpr ShardId shard_of(OpenId id) {
  return static_cast<ShardId>(static_cast<std::uint64_t>(id) >> 48);
}
constexpr ShardId shard_of(LeaseId id) {
  return static_cast<ShardId>(static_cast<std::uint64_t>(id) >> 48);
}
// Distinguishes the leases of one holder (SMB: by client and lease key). Zero: those of the holder itself (NFSv4).
struct LeaseKey {
  std::uint64_t high = 0, low = 0;
  auto operator<=>(const LeaseKey&) const = default;
};

// Version of a file's content: changes with every change of bytes or size, over any protocol.
struct ObjectVersion {
  FileId id = kNoFile;
  std::uint64_t data_version = 0;
  auto operator<=>(const ObjectVersion&) const = default;
};

inline constexpr std::uint32_t kNameBytesMax = 255;  // of a name given by a POSIX protocol
inline constexpr std::uint32_t kKeyBytesMax = 1024;  // of an S3 key, and so of one of its components
inline constexpr std::uint32_t kSymlinkBytesMax = 4095;
inline constexpr std::uint64_t kFileBytesMax = (std::uint64_t{1} << 63) - 1;
inline constexpr std::uint32_t kLinksMax = 65536;        // of a file; a directory may have any number of subdirectories
inline constexpr std::uint32_t kIoBytesMax = 16u << 20;  // of one read or write
inline constexpr std::uint32_t kXattrNameBytesMax = 255;
inline constexpr std::uint32_t kXattrValueBytesMax = 65536;
inline constexpr std::uint32_t kListKeysMax = 1000;
inline constexpr std::uint32_t kConcatenatePartsMax = 10000;

}  // namespace stoa::core
