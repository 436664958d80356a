// Paths of files at a place of the journal, for readers that report the place of a change. Learns from the records that
// it is given, in their order; other places are looked up in the present store. So a path is right as of the record
// where the journal has it, and else as of the moment of asking.
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

  // Takes the next records, before of() is called for the first of them: files that they remove existed before.
  void look_ahead(std::span<const JournalRecord> records);
  // The present or last path of the record's file: with its name, where it has one. The last of `directories` is the
  // file's own id, so that policies of a directory cover changes of the directory itself.
  Result<ResolvedPath> of(const JournalRecord& record);
  // The target (rename).
  Result<ResolvedPath> target_of(const JournalRecord& record);
  // Call after of(): applies the record.
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
