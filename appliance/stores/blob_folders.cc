#include "appliance/stores/blob_folders.h"

#include "appliance/data_folder/small_file.h"

namespace stoa::appliance {
namespace {
std::string file_of(const DataFolder& folder) {
  return folder.path + "/blob_directories";
}
}  // namespace

Result<std::vector<std::string>> load_blob_folders(const DataFolder& folder) {
  std::vector<std::string> folders;
  const auto text = read_small_file(file_of(folder));
  if (!text && text.error().code == Errc::kNotFound) return folders;
  if (!text) return fail(text.error());
  std::string_view rest = *text;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (line.empty()) continue;
    folders.push_back(line.front() == '/' ? std::string(line) : folder.path + "/" + std::string(line));
  }
  return folders;
}

Status save_blob_folders(const DataFolder& folder, const std::vector<std::string>& folders) {
  std::string text;
  for (const std::string& path : folders) {
    text += (path.starts_with(folder.path + "/") ? path.substr(folder.path.size() + 1) : path) + "\n";
  }
  const auto known = read_small_file(file_of(folder));
  if (known && *known == text) return {};
  return write_small_file(file_of(folder), text, 0600);
}

}  // namespace stoa::appliance
