// One change, as the journal keeps it (family journal). Readers (change notify, audit, replication) come with their issues.
#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/error.h"
#include "core/api/context.h"

namespace stoa::core {

enum class ChangeKind : std::uint8_t {
  kCreate = 1, kRemove = 2, kRename = 3, kLink = 4, kAttributes = 5, kContent = 6, kXattr = 7, kQuota = 8,
  kRestore = 9,  // out of the recycle bin; parent and name: where to
};

struct JournalNote {
  ChangeKind kind;
  FileId id = kNoFile;
  FileId parent = kNoFile;     // where the name is (rename: was)
  std::string_view name{};     // must live until the commit returns
  FileId to_parent = kNoFile;  // rename only
  std::string_view to_name{};
};

struct JournalRecord {
  ChangeKind kind;
  Door door;
  std::uint32_t uid;
  Timestamp time;
  FileId id, parent, to_parent;
  std::string name, to_name, client;

  static Result<JournalRecord> decode(std::string_view value);
};
std::string encode_note(const JournalNote& note, const OpContext& ctx, Timestamp time);

}  // namespace stoa::core
