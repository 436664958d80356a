// Paths of files at a place of the journal: what a reader of it needs to tell where a change happened. Learns from the
// records that it is given, in their order; what they do not tell is looked up in the store as it is now. So a path is
// right as of the record where the journal tells, and else as of the moment of asking.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/journal/journal.h"

namespace stoa::core {

struct ResolvedPath {
  std::string path;                 // "/projects/a": names as POSIX protocols see them
  std::vector<FileId> directories;  // from the root down to the directory itself
  bool known = true;                // false: it, or one above it, is gone and nothing tells where it was
};

// Of one reader; not thread-safe. Memory is bounded by `most` names.
class PathResolver {
 public:
  static constexpr std::size_t kPlacesMax = 50'000;
  explicit PathResolver(Journal& journal, std::size_t most = kPlacesMax) : journal_(journal), most_(most) {}

  // The records that come next, before the first of them is asked about: what they remove was still there before.
  void look_ahead(std::span<const JournalRecord> records);
  // Where the record's file is or was: with its name, where it has one. The last of `directories` is the file's own id,
  // so that what is said of a directory holds for the change of itself.
  Result<ResolvedPath> of(const JournalRecord& record);
  // Where it went (rename).
  Result<ResolvedPath> target_of(const JournalRecord& record);
  // After it was asked about: from now on things are as the record says.
  void apply(const JournalRecord& record);

 private:
  Result<std::shared_ptr<const ResolvedPath>> directory(FileId id);
  Result<ResolvedPath> named(FileId parent, std::string_view name, FileId id);
  Result<std::optional<Place>> find(FileId id);

  Journal& journal_;
  const std::size_t most_;
  std::unordered_map<FileId, Place> places_;
  std::unordered_map<FileId, std::shared_ptr<const ResolvedPath>> directories_;  // until one moves or goes
};

}  // namespace stoa::core
