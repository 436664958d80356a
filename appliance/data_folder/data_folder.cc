#include "appliance/data_folder/data_folder.h"

#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "appliance/data_folder/secret_file.h"
#include "appliance/data_folder/small_file.h"
#include "base/assert.h"

namespace stoa::appliance {

std::string default_data_path() {
  if (const char* xdg = std::getenv("XDG_DATA_HOME"); xdg != nullptr && xdg[0] == '/')
    return std::string(xdg) + "/stoa";
  if (const char* home = std::getenv("HOME"); home != nullptr && home[0] == '/') {
    return std::string(home) + "/.local/share/stoa";
  }
  return "/var/lib/stoa";
}

Result<DataFolder> make_data_folder(const std::string& path) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error).lexically_normal();
  if (error) return fail_errno(error.value(), "data folder " + path);
  std::string text = absolute.string();
  while (text.size() > 1 && text.back() == '/') text.pop_back();

  const bool is_new = !std::filesystem::exists(text, error);
  std::filesystem::create_directories(text, error);
  if (error) return fail_errno(error.value(), "cannot make the data folder " + text);
  if (!std::filesystem::is_directory(text, error)) return fail(Errc::kNotDirectory, text + " is not a folder");
  if (is_new && chmod(text.c_str(), 0700) != 0) return fail_errno(errno, "chmod " + text);
  if (access(text.c_str(), R_OK | W_OK | X_OK) != 0) {
    return fail_errno(errno, "the data folder " + text + " cannot be written by this user");
  }
  return DataFolder{text};
}

Result<std::string> load_token(const DataFolder& folder) {
  STOA_TRY(text, read_secret_file(folder.token()));
  const std::size_t size = text.find_last_not_of(" \n") + 1;  // 0 when there is nothing else
  if (size < 32)
    return fail(Errc::kCorrupt, folder.token() + " holds no token; remove it and restart stoad to get a new one");
  return text.substr(0, size);
}

Result<std::string> load_or_make_token(const DataFolder& folder) {
  auto loaded = load_token(folder);
  if (loaded || loaded.error().code != Errc::kNotFound) return loaded;
  unsigned char random[32];
  STOA_ASSERT(getrandom(random, sizeof random, 0) == sizeof random);  // never short up to 256 bytes (getrandom(2))
  std::string token;
  for (const unsigned char byte : random) {
    constexpr char kHex[] = "0123456789abcdef";
    token += kHex[byte >> 4];
    token += kHex[byte & 15];
  }
  STOA_CHECK_OK(write_small_file(folder.token(), token + "\n", 0600));
  return token;
}

}  // namespace stoa::appliance
