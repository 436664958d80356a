#include "appliance/data_folder/volume_mark.h"

#include "appliance/data_folder/small_file.h"

namespace stoa::appliance {
namespace {
constexpr std::string_view kHead = "stoa-volume 1 ";
constexpr std::string_view kBegun = "begun";
}  // namespace

Result<std::optional<VolumeMark>> read_volume_mark(const DataFolder& folder) {
  const auto text = read_small_file(folder.mark());
  if (!text && text.error().code == Errc::kNotFound) return std::optional<VolumeMark>{};
  if (!text) return fail(text.error());
  std::string_view rest = *text;
  while (rest.ends_with('\n')) rest.remove_suffix(1);
  if (!rest.starts_with(kHead) || rest.size() == kHead.size()) {
    return fail(Errc::kCorrupt, folder.mark() + " cannot be understood; it was damaged, or written by a newer version. Restore it from a backup");
  }
  rest.remove_prefix(kHead.size());
  return std::optional(VolumeMark{rest == kBegun ? std::string() : std::string(rest)});
}

Status write_volume_mark(const DataFolder& folder, const VolumeMark& mark) {
  return write_small_file(folder.mark(), std::string(kHead) + (mark.id.empty() ? std::string(kBegun) : mark.id) + "\n", 0600);
}

}  // namespace stoa::appliance
