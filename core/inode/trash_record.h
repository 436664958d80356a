// The records of family trash. Keys: core/kv/keys.h. Golden bytes: tests/core/recycle/trash_record_test.cc.
#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/error.h"
#include "core/api/attributes.h"
#include "core/api/context.h"

namespace stoa::core {

// Of a directory that has a bin.
struct RecycleRootRecord {
  FileId bin = kNoFile;

  std::string encode() const;
  static Result<RecycleRootRecord> decode(std::string_view value);  // kCorrupt: damaged, or of a newer version
};

// A deleted item, kept in the directory of the bin that is named after `uid`.
struct ItemRecord {
  FileId id = kNoFile;
  FileType type = FileType::kRegular;
  std::string name;         // in the bin
  FileId parent = kNoFile;  // its old directory
  std::string raw;          // its raw name there
  // Deleting the last key below directories implied by keys removes these, too: `below` names them, from `base` down,
  // each with a '/' behind it. kNoFile: deleted by a name.
  FileId base = kNoFile;
  std::string below;
  std::uint32_t uid = 0;  // the user who deleted it, the way, the client, and the time
  Protocol protocol = Protocol::kInternal;
  std::string client;
  Timestamp time;
  std::uint64_t bytes = 0;

  std::string encode() const;
  static Result<ItemRecord> decode(std::string_view value);  // kCorrupt: damaged, or of a newer version
};

}  // namespace stoa::core
