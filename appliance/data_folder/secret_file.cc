#include "appliance/data_folder/secret_file.h"

#include <sys/stat.h>

#include <cerrno>

#include "appliance/data_folder/small_file.h"

namespace stoa::appliance {

Status check_secret_file(const std::string& path) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) return fail_errno(errno, "cannot read " + path);
  if (S_ISFIFO(info.st_mode)) return {};
  if (!S_ISREG(info.st_mode)) return fail(Errc::kInvalid, path + " is no file");
  // A group may be trusted with it, as Debian's ssl-cert is.
  if ((info.st_mode & (S_IROTH | S_IWOTH)) == 0) return {};
  return fail(Errc::kAccess, path + " holds a secret, and everybody on this machine can " +
                                 ((info.st_mode & S_IROTH) != 0 ? "read" : "change") + " it; chmod 600 " + path +
                                 (((info.st_mode & S_IROTH) != 0) ? ", and think of whether it is known already" : ""));
}

Result<std::string> read_secret_file(const std::string& path) {
  STOA_CHECK_OK(check_secret_file(path));
  return read_small_file(path);
}

}  // namespace stoa::appliance
