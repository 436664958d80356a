#include "appliance/stores/metadata_state.h"

#include <filesystem>

#include "appliance/data_folder/small_file.h"

namespace stoa::appliance {
namespace {

// Files that may be in a folder without a database.
bool is_no_database_file(const std::string& name) {
  return name == "lost+found";
}

}  // namespace

Result<MetadataState> look_at_metadata(const std::string& path) {
  std::error_code error;
  std::string newest_manifest;
  bool has_files = false;
  std::filesystem::directory_iterator entry(path, error);
  if (error == std::errc::no_such_file_or_directory) return MetadataState::kNone;
  for (const std::filesystem::directory_iterator end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (is_no_database_file(name)) continue;
    has_files = true;
    if (name.starts_with("MANIFEST-") && name > newest_manifest) newest_manifest = name;
  }
  if (error) return fail_errno(error.value(), "list the metadata folder " + path);
  if (!has_files) return MetadataState::kNone;

  const auto current = read_small_file(path + "/CURRENT");
  if (!current && current.error().code != Errc::kNotFound) return fail(current.error());
  const bool whole = current && current->starts_with("MANIFEST-") && current->ends_with('\n') &&
                     std::filesystem::exists(path + "/" + current->substr(0, current->size() - 1), error);
  if (whole) return MetadataState::kThere;
  std::string words = "the metadata in " + path + " are damaged: the file CURRENT " +
                      (!current           ? "is missing"
                       : current->empty() ? "is empty"
                                          : "names no file that is there") +
                      "; nothing was changed. Restore the metadata and all blob directories from the same backup";
  if (!newest_manifest.empty()) {
    words += "; if nothing but CURRENT was lost, write it anew: echo " + newest_manifest + " > " + path + "/CURRENT";
  }
  return fail(Errc::kCorrupt, words);
}

}  // namespace stoa::appliance
