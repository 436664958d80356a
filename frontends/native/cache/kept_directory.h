// What is kept under one lease.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/api/attributes.h"
#include "core/api/credentials.h"
#include "frontends/native/cache/file_rights.h"
#include "frontends/native/cache/held_lease.h"
#include "frontends/native/cache/memory_taken.h"

namespace stoa::native {

// Counts the events of a cache: grants, ends, changes.
using Moment = std::uint64_t;

struct KeptName {
  core::FileId id = core::kNoFile;  // kNoFile: there is no such name
  Moment since = 0;                 // this client's last change: what was sent before tells nothing about it
  bool known = true;                // false: it has to be asked for; the kernel may have it
};

// AccessBits that every user has, whatever groups it is in and whoever it is taken for. To change something depends on
// more.
std::uint32_t rights_of_everybody(const core::Attributes& attr);

struct KeptFile {
  std::optional<core::Attributes> attr;
  std::unique_ptr<const std::string> target;
  FileRights rights;
  Moment since = 0;                // what was sent before is not kept
  Moment used = 0;                 // when it was of use for the last time
  std::uint32_t of_everybody = 0;  // AccessBits that every user has
  bool opened = false;             // under the lease
  bool no_capability = false;

  void forget(Moment now) {
    attr.reset();
    rights.clear();
    of_everybody = 0;
    no_capability = false;
    since = now;
  }
  // Memory beside the object itself.
  std::int64_t bytes_beside() const {
    return rights.bytes_beside() + (target ? bytes_allocated(sizeof(*target)) + bytes_of_text(*target) : 0);
  }
};

// A name that is being changed by this client.
struct NameChange {
  core::FileId dir = core::kNoFile;
  std::string name;
  Moment sent = 0;
  bool removes = false;
  HeldLease lease{};  // of the directory, when it has one
  std::vector<core::FileId>
      uncovered{};     // what the name was known to be; if it was not known, all files of the directory
  bool known = false;  // what the name was
  bool alone = true;   // no other change of the name was under way at the same time
};

struct ListedEntry {
  std::uint64_t cookie = 0;
  core::FileId id = core::kNoFile;
  std::string_view name;  // of KeptDirectory::names
  core::FileType type{};
};

// A listing, or the beginning of one.
struct KeptListing {
  std::vector<ListedEntry> entries;
  Moment sent = 0;  // the first request; 0: there is none
  bool whole = false;
  std::int64_t bytes() const { return static_cast<std::int64_t>(entries.capacity() * sizeof(ListedEntry)); }
};

struct NameHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view name) const { return std::hash<std::string_view>{}(name); }
};

// How a directory is listed ahead of look-ups.
struct LookAhead {
  static constexpr std::uint32_t kAsksFirst = 8, kEntriesFirst = 128, kEntriesMost = 1024;
  std::uint32_t asked = 0;                // names, of the server, since the last piece
  std::uint32_t found = 0;                // names, here, since then
  std::uint32_t entries = kEntriesFirst;  // of the next piece
  std::uint64_t cookie = 0;               // behind which it begins
  bool begun = false, under_way = false, ended = false;

  // As a piece costs as much as some questions: when the last one was of use, or after as many questions.
  bool is_due() const {
    if (under_way || ended) return false;
    return asked >= kAsksFirst && (!begun || found >= entries / 4 || asked >= entries / 64);
  }
};

struct KeptDirectory {
  using Names = std::unordered_map<std::string, KeptName, NameHash, std::equal_to<>>;
  using Files = std::unordered_map<core::FileId, KeptFile>;
  Names names;
  Files files;
  KeptListing listing;
  bool complete = false;   // a name that is not in `names` does not exist
  int listings_tried = 0;  // to become so
  LookAhead ahead;
  Moment names_since = 0;   // names of what was sent before are not kept, nor is that others are not there
  Moment listed_since = 0;  // listings that were begun before are not kept
  std::int64_t bytes = 0;   // of memory that all of it takes, with its part of what the cache keeps of all files

  // Files of which nothing is kept, while the kernel may know them; they may be in several of these.
  std::vector<core::FileId> bare;         // covered, unless they have left since; sorted
  std::vector<core::FileId> bare_opened;  // of them, those that were opened; sorted
  std::vector<core::FileId> left;         // covered no longer, as far as is known here
  std::int64_t bare_bytes() const {
    return static_cast<std::int64_t>((bare.capacity() + bare_opened.capacity() + left.capacity()) *
                                     sizeof(core::FileId));
  }
  void add_left(core::FileId file);

  // Forgets what was used least of late, three files of four and all names but those of the others, and makes them
  // bare. `self`, the directory's own, stays.
  void forget_most(core::FileId self, Moment now);

  static constexpr std::int64_t kFileBytes = bytes_of_element<Files>(false);
  static std::int64_t bytes_of_name(std::string_view name) {
    return bytes_of_element<Names>(true) + bytes_of_text(name);
  }
};

// Users by small numbers, which are never given twice. Bounded: when there are too many, all are forgotten.
class KnownUsers {
 public:
  std::uint32_t number_of(const core::Credentials& cred);

 private:
  static constexpr std::size_t kUsersMost = 1024;
  struct Hash {
    std::size_t operator()(const core::Credentials& cred) const;
  };
  std::unordered_map<core::Credentials, std::uint32_t, Hash> numbers_;
  std::uint32_t last_ = 0;
};

}  // namespace stoa::native
