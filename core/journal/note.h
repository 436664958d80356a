// One record of the journal (family journal): a change of the volume, or a request recorded for audit. Written by
// MetaTxn with the change itself, or by Journal::append() beside it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/error.h"
#include "core/api/attributes.h"
#include "core/api/context.h"

namespace stoa::core {

// Persistent: never renumber.
enum class ChangeKind : std::uint8_t {
  kCreate = 1,
  kRemove = 2,
  kRename = 3,
  kLink = 4,
  kAttributes = 5,
  kContent = 6,
  kXattr = 7,
  kQuota = 8,
  kRestore = 9,  // out of the recycle bin; parent and name: where to
  kPurge = 15,   // out of the recycle bin for good; parent and name: its origin, with directories above it that are
                 // gone, too ("a/b")
  // No changes of the volume: only audit reads these.
  kRead = 10,    // content was read or opened for reading
  kList = 11,    // a directory was listed
  kLookup = 12,  // a look-up of a name (only when it was denied)
  kAdmin = 13,   // a request to the admin interface; `name` is its method and path, `id` the directory that it is about
  kOmitted = 14,  // this many denials of this client are not in the journal (`count`)
  kRefused = 16,  // by a front end itself; `name` is the requested name and the reason, `to_name` the claimed identity
                  // of the caller, `id` the directory
};
inline constexpr ChangeKind kLastChangeKind = ChangeKind::kRefused;

// The change in a word: "create", "mkdir", "remove", "write", ... `type`: of the file, where it is known.
std::string_view operation_word(ChangeKind kind, std::optional<FileType> type);
std::string_view protocol_word(Protocol protocol);  // "nfs"

// The bytes that an append has added to its file.
struct Appended {
  std::uint64_t offset = 0, length = 0;
  bool operator==(const Appended&) const = default;
};

struct JournalNote {
  ChangeKind kind;
  FileId id = kNoFile;
  FileId parent = kNoFile;     // the directory of the name (rename: the old one); kNoFile: the change concerns the
                               // file, not a name
  std::string_view name{};     // raw component, or extended attribute; must live until the commit returns
  FileId to_parent = kNoFile;  // rename only
  std::string_view to_name{};
  std::optional<FileType> type{};  // MetaTxn fills it in where a name comes or goes
  std::optional<Errc> result{};    // absent: it was done
  std::uint64_t count = 0;
  std::optional<Appended> appended{};  // kContent of a request that appends
};

struct JournalRecord {
  std::uint64_t sequence = 0;  // its key; 1 is the first ever, and none is left out
  ChangeKind kind{};
  Protocol protocol{};
  std::uint32_t uid = 0;
  Timestamp time;
  FileId id{}, parent{}, to_parent{};
  std::string name, to_name, client;
  std::optional<FileType> type{};
  std::optional<Errc> result{};
  std::uint64_t count = 0;
  std::optional<Appended> appended{};
  RequestKey request{};  // that it was the change of (core/journal/finished_requests.h)

  bool is_change() const { return !result && (kind <= ChangeKind::kRestore || kind == ChangeKind::kPurge); }

  // Strict: kCorrupt unless every byte has its meaning. kNotSupported: written by a newer version that older ones
  // cannot read.
  static Result<JournalRecord> decode(std::string_view value);
};
std::string encode_note(const JournalNote& note, const OpContext& ctx, Timestamp time);

}  // namespace stoa::core
