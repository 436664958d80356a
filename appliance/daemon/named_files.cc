#include "appliance/daemon/named_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <string>

#include "appliance/cli/terminal_error.h"
#include "appliance/data_folder/data_folder.h"
#include "appliance/data_folder/secret_file.h"
#include "frontends/http/certificate.h"
#include "frontends/kerberos/keytab_mechanism.h"

namespace stoa::appliance {
namespace {

class Problems {
 public:
  void add(const std::string& key, const std::string& what) {
    text_.append(text_.empty() ? "" : "\n").append(key).append(": ").append(what);
  }
  void add(const std::string& key, const Status& status) {
    if (!status) add(key, cli::terminal_text(status.error()));
  }
  Status status() const { return text_.empty() ? Status{} : fail(Errc::kInvalid, text_); }

 private:
  std::string text_;
};

void look_at_tls(const std::string& section, const std::string& certificate, const std::string& key,
                 Problems& problems) {
  if (certificate.empty()) return;
  if (const Status secret = check_secret_file(key); !secret) return problems.add(section + ".tls_key", secret);
  if (const auto both = http::read_certificate(certificate, key); !both)
    problems.add(section + ".tls_certificate", both.error().detail);
}

void look_at_credentials(const Config& config, Problems& problems) {
  if ((config.nfs.enabled || !config.native.listen.empty()) && !config.nfs.keytab.empty()) {
    const Status secret = check_secret_file(config.nfs.keytab);
    problems.add("nfs.keytab", secret);
    if (secret) {
      if (const auto opened = kerberos::KeytabMechanism::open(config.nfs.keytab); !opened)
        problems.add("nfs.keytab", opened.error().detail);
    }
  }
  if (!config.native.listen.empty())
    look_at_tls("native", config.native.tls_certificate, config.native.tls_key, problems);
  if (config.s3.enabled) look_at_tls("s3", config.s3.tls_certificate, config.s3.tls_key, problems);
  if (!config.admin.listen.empty()) look_at_tls("admin", config.admin.tls_certificate, config.admin.tls_key, problems);
}

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

std::optional<std::string> not_a_writable_folder(const std::string& path) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) return path + ": " + std::strerror(errno);
  if (!S_ISDIR(info.st_mode)) return path + " is no folder";
  if (access(path.c_str(), W_OK | X_OK) != 0) return "this user cannot write in " + path;
  return std::nullopt;
}

// One that is missing is made at the start; then it counts where.
void look_at_data_folder(const Config& config, Problems& problems) {
  std::string path = config.data.empty() ? default_data_path() : config.data;
  struct stat info{};
  while (path != "/" && stat(path.c_str(), &info) != 0 && (errno == ENOENT || errno == ENOTDIR)) path = parent_of(path);
  if (const auto why = not_a_writable_folder(path)) problems.add("data", *why);
}

void look_at_log(const std::string& path, Problems& problems) {
  if (path.empty()) return;
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) {
    if (const auto why = not_a_writable_folder(parent_of(path))) problems.add("log.file", *why);
  } else if (S_ISDIR(info.st_mode)) {
    problems.add("log.file", path + " is a folder");
  } else if (access(path.c_str(), W_OK) != 0) {
    problems.add("log.file", "this user cannot write " + path);
  }
}

void look_at_socket(const std::string& path, Problems& problems) {
  if (path.empty()) return;
  struct stat info{};
  if (stat(path.c_str(), &info) == 0 && !S_ISSOCK(info.st_mode))
    return problems.add("admin.socket", path + " is there, and is no socket");
  const std::string folder = parent_of(path);
  // systemd makes folders in /run when it starts the service, and takes them away when it stops.
  if (folder.starts_with("/run/") && stat(folder.c_str(), &info) != 0) return;
  if (const auto why = not_a_writable_folder(folder)) problems.add("admin.socket", *why);
}

}  // namespace

Status check_credentials(const Config& config) {
  Problems problems;
  look_at_credentials(config, problems);
  return problems.status();
}

Status check_named_files(const Config& config) {
  Problems problems;
  look_at_credentials(config, problems);
  look_at_data_folder(config, problems);
  for (const std::string& path : config.blob_directories) {
    if (const auto why = not_a_writable_folder(path)) problems.add("blob_directories", *why);
  }
  look_at_log(config.log.file, problems);
  look_at_socket(config.admin.socket, problems);
  return problems.status();
}

}  // namespace stoa::appliance
