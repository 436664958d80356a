#include "appliance/data_folder/volume_mark.h"

#include "appliance/data_folder/small_file.h"

namespace stoa::appliance {
namespace {
constexpr std::string_view kMarkHead = "stoa-volume 1 ";
constexpr std::string_view kMarkBegun = "begun";
}  // namespace

Result<std::optional<VolumeMark>> read_volume_mark(const DataFolder& folder) {
  const auto text = read_small_file(folder.mark());
  if (!text && text.error().code == Errc::kNotFound) return std::optional<VolumeMark>{};
  if (!text) return fail(text.error());
  std::string_view rest = *text;
  while (rest.ends_with('\n')) rest.remove_suffix(1);
  if (!rest.starts_with(kMarkHead) || rest.size() == kMarkHead.size()) {
    return fail(Errc::kCorrupt,
                folder.mark() +
                    " cannot be understood; it was damaged, or written by a newer version. Restore it from a backup");
  }
  rest.remove_prefix(kMarkHead.size());
  return std::optional(VolumeMark{rest == kMarkBegun ? std::string() : std::string(rest)});
}

Status write_volume_mark(const DataFolder& folder, const VolumeMark& mark) {
  return write_small_file(folder.mark(),
                          std::string(kMarkHead) + (mark.id.empty() ? std::string(kMarkBegun) : mark.id) + "\n", 0600);
}

}  // namespace stoa::appliance
