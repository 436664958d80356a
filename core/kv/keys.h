// Every key layout of the metadata, in one place. Integers are big-endian, so that a scan follows the tree.
//
//   inode    id                         -> Inode (core/inode/inode.h)
//   inline   id                         -> content bytes and their crc32c
//   entry    parent, name[/]            -> EntryRecord (core/inode/entry.h); a directory's name carries a trailing '/'
//   cookie   parent, cookie             -> CookieRecord
//   fold     parent, folded name, NUL, name[/] -> nothing; of names that are not their own folding
//            (core/inode/name_fold.h)
//   link     id, parent, name[/]        -> nothing
//   xattr    id, name                   -> value; names of front ends begin with a letter, the core's own
//                                          (object meta, the ACL) with kPrivateXattr
//   usage    directory id               -> UsageRecord (core/usage/usage_record.h)
//            directory id, kind u8, id u32 -> UsageRecord of a user (2) or group (3) in a directory that counts owners
//   blob     blob id                    -> BlobRecord (core/blob/blob_record.h)
//   checksum blob id, first block       -> crc32c of blocks
//   state    "open", id                 -> nothing: the file is being written in place (core/data/open_files.h)
//            "orphan", id               -> nothing: the file has no name and lives until its last close
//                                          (core/links/orphan.h)
//            "usage", number            -> charges to directories since their records were written
//                                          (core/usage/usage_log.h)
//            "client", protocol u8, name -> sealed, empty: a client that may reclaim its state
//                                          (core/state/reclaim.h)
//   journal  sequence                   -> change; the engine drops the oldest beyond its cap
//   gc       blob id                    -> nothing: a file stopped using the blob, which may be unused now
//   config   text                       -> volume, exports, users, groups, QoS classes, recycle policies, tokens, audit
//                                          policies
//   trash    "a", directory id          -> RecycleRootRecord: its bin (core/inode/trash_record.h)
//            "i", bin id, serial        -> ItemRecord: a deleted item; serials grow with time
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/assert.h"
#include "core/api/context.h"
#include "core/api/ids.h"
#include "core/api/requests.h"
#include "core/kv/blob_id.h"

namespace stoa::core::keys {

inline void append_be64(std::string& out, std::uint64_t value) {
  for (int shift = 56; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift);
}
inline std::uint64_t read_be64(std::string_view bytes) {
  STOA_ASSERT(bytes.size() >= 8);
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < 8; ++i) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}
inline std::string be64(std::uint64_t value) {
  std::string out;
  append_be64(out, value);
  return out;
}

inline std::string id_key(FileId id) {
  return be64(static_cast<std::uint64_t>(id));
}
inline std::string id_name(FileId id, std::string_view name) {
  std::string out;
  out.reserve(8 + name.size());
  append_be64(out, static_cast<std::uint64_t>(id));
  out.append(name);
  return out;
}
inline FileId id_of(std::string_view key) {
  return FileId{read_be64(key)};
}
inline std::string_view after_id(std::string_view key) {
  return key.substr(8);
}

// The stored name of an entry: directories carry a trailing '/', so that a walk of the keys is S3 order.
inline std::string stored_name(std::string_view name, bool directory) {
  std::string out(name);
  if (directory) out += '/';
  return out;
}

inline std::string cookie_key(FileId dir, std::uint64_t cookie) {
  std::string out = id_key(dir);
  append_be64(out, cookie);
  return out;
}
// All names of a directory with this folding: the part behind the NUL may match by chance, so compare it.
inline std::string folds_of(FileId dir, std::string_view folded) {
  std::string out = id_name(dir, folded);
  out += '\0';
  return out;
}
inline std::string fold_key(FileId dir, std::string_view folded, std::string_view stored) {
  return folds_of(dir, folded).append(stored);
}
inline std::string link_key(FileId id, FileId parent, std::string_view stored) {
  STOA_ASSERT(id != kNoFile && parent != kNoFile);
  std::string out = id_key(id);
  append_be64(out, static_cast<std::uint64_t>(parent));
  out.append(stored);
  return out;
}

inline std::string owner_key(FileId dir, QuotaOf of, std::uint32_t id) {
  std::string key = id_key(dir);
  key += static_cast<char>(of);
  for (int shift = 24; shift >= 0; shift -= 8) key += static_cast<char>(id >> shift);
  return key;
}
struct OwnerOfKey {
  QuotaOf of;
  std::uint32_t id;
};
// Of a key of family usage; absent: the directory's own.
inline std::optional<OwnerOfKey> owner_of(std::string_view key) {
  if (key.size() != 13) return std::nullopt;
  std::uint32_t id = 0;
  for (std::size_t i = 9; i < 13; ++i) id = id << 8 | static_cast<unsigned char>(key[i]);
  return OwnerOfKey{static_cast<QuotaOf>(key[8]), id};
}

// The first key behind all that begin with `prefix`; empty when there is none.
inline std::string behind_prefix(std::string prefix) {
  while (!prefix.empty() && static_cast<unsigned char>(prefix.back()) == 0xff) prefix.pop_back();
  if (!prefix.empty()) prefix.back() = static_cast<char>(static_cast<unsigned char>(prefix.back()) + 1);
  return prefix;
}

inline std::string sum_row_key(BlobId blob, std::uint64_t row) {
  std::string key = be64(static_cast<std::uint64_t>(blob));
  append_be64(key, row);
  return key;
}

inline constexpr char kPrivateXattr = '\x01';
inline constexpr std::string_view kMetaXattr = "\x01meta";  // ObjectMeta
inline constexpr std::string_view kAclXattr =
    "\x01"
    "acl";  // core/inode/acl_record.h

inline constexpr std::string_view kOrphanPrefix = "orphan";
inline std::string orphan_key(FileId id) {
  std::string key(kOrphanPrefix);
  append_be64(key, static_cast<std::uint64_t>(id));
  return key;
}
inline constexpr std::string_view kOpenPrefix = "open";
inline std::string open_key(FileId id) {
  std::string key(kOpenPrefix);
  append_be64(key, static_cast<std::uint64_t>(id));
  return key;
}
inline FileId open_file_of(std::string_view key) {
  return id_of(key.substr(kOpenPrefix.size()));
}
inline constexpr std::string_view kUsageLogPrefix = "usage";
inline std::string usage_log_key(std::uint64_t number) {
  return std::string(kUsageLogPrefix) + be64(number);
}
inline constexpr std::string_view kStarts = "starts";  // number of times the volume was opened
inline constexpr std::string_view kClientPrefix = "client";
inline std::string client_key(Protocol protocol, std::string_view name) {
  std::string key(kClientPrefix);
  key += static_cast<char>(protocol);
  key.append(name);
  return key;
}

inline constexpr std::string_view kVolumeConfig = "volume";
inline constexpr std::string_view kIdConfig = "next_id";     // FileIds below it may have been given out
inline constexpr std::string_view kHealthConfig = "health";  // time of the last health check
inline constexpr std::string_view kQuotaPrefix =
    "quota/";  // and a directory id: has limits, excludes classes, or counts owners
inline std::string quota_key(FileId dir) {
  return std::string(kQuotaPrefix) + id_key(dir);
}
inline constexpr std::string_view kCountingPrefix =
    "counting/";  // and a directory id: its usage by user and group is being counted
inline std::string counting_key(FileId dir) {
  return std::string(kCountingPrefix) + id_key(dir);
}
inline constexpr std::string_view kSealedPrefix = "sealed/";  // and a directory id: it is sealed
inline std::string sealed_key(FileId dir) {
  return std::string(kSealedPrefix) + id_key(dir);
}
inline constexpr std::string_view kExportPrefix = "export/";
inline constexpr std::string_view kUserPrefix = "user/";
inline constexpr std::string_view kGroupPrefix = "group/";
inline constexpr std::string_view kQosPrefix = "qos_class/";
inline constexpr std::string_view kRecyclePrefix = "recycle/";

inline constexpr std::string_view kRecycleRootPrefix = "a";
inline std::string recycle_root_key(FileId dir) {
  return std::string(kRecycleRootPrefix) + id_key(dir);
}
inline constexpr std::string_view kItemPrefix = "i";
inline std::string items_of(FileId bin) {
  return std::string(kItemPrefix) + id_key(bin);
}
inline std::string item_key(FileId bin, std::uint64_t serial) {
  return items_of(bin) + be64(serial);
}
inline constexpr std::string_view kTokenPrefix = "token/";
inline constexpr std::string_view kTokenUsePrefix = "token_use/";
inline constexpr std::string_view kAuditPrefix = "audit/";  // and a directory id: its audit policy

}  // namespace stoa::core::keys
