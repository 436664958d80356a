#include "tests/frontends/kerberos/kdc.h"

#include <arpa/inet.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

namespace stoa::test {
namespace {

constexpr const char* kPath = "PATH=/usr/sbin:/usr/bin:/sbin:/bin:$PATH ";

bool run(const std::string& command) {
  return std::system((kPath + command + " > /dev/null 2>&1").c_str()) == 0;
}

void must(const std::string& command) {
  if (run(command)) return;
  std::fprintf(stderr, "failed: %s\n", command.c_str());
  std::exit(1);
}

std::uint16_t free_port() {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof at;
  bind(fd, reinterpret_cast<sockaddr*>(&at), sizeof at);
  getsockname(fd, reinterpret_cast<sockaddr*>(&at), &length);
  close(fd);
  return ntohs(at.sin_port);
}

bool connects(std::uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  to.sin_port = htons(port);
  const bool connected = connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
  close(fd);
  return connected;
}

}  // namespace

std::string Kdc::missing() {
  for (const char* program : {"krb5kdc", "kdb5_util", "kadmin.local", "kinit"}) {
    if (!run(std::string("command -v ") + program)) return program;
  }
  return {};
}

Kdc::Kdc() {
  std::string pattern = (std::filesystem::temp_directory_path() / "stoa-kdc-XXXXXX").string();
  folder_ = mkdtemp(pattern.data());
  setenv("KRB5_CONFIG", (folder_ + "/krb5.conf").c_str(), 1);
  setenv("KRB5_KDC_PROFILE", (folder_ + "/kdc.conf").c_str(), 1);
  setenv("KRB5CCNAME", ("FILE:" + folder_ + "/nobody.ccache").c_str(), 1);
  // Another process may take the port before the KDC has it.
  for (int attempt = 0; attempt < 5 && pid_ < 0; ++attempt) start();
  if (pid_ < 0) {
    std::fprintf(stderr, "the KDC does not start\n");
    std::exit(1);
  }
}

void Kdc::start() {
  port_ = free_port();
  const std::string port = std::to_string(port_);
  // Tickets are refused when they have expired, not five minutes later.
  std::ofstream(folder_ + "/krb5.conf")
      << "[libdefaults]\n default_realm = " << kRealm
      << "\n dns_lookup_realm = false\n dns_lookup_kdc = false\n rdns = false\n"
         " dns_canonicalize_hostname = false\n udp_preference_limit = 1\n clockskew = 1\n"
         "[realms]\n "
      << kRealm << " = {\n  kdc = 127.0.0.1:" << port << "\n }\n";
  std::ofstream(folder_ + "/kdc.conf") << "[kdcdefaults]\n kdc_listen = 127.0.0.1:" << port
                                       << "\n kdc_tcp_listen = 127.0.0.1:" << port << "\n[realms]\n " << kRealm
                                       << " = {\n  database_name = " << folder_
                                       << "/principal\n  key_stash_file = " << folder_
                                       << "/stash\n  acl_file = " << folder_
                                       << "/acl\n  max_life = 10h\n }\n[logging]\n kdc = FILE:" << folder_
                                       << "/kdc.log\n";
  if (!std::filesystem::exists(folder_ + "/principal")) must("kdb5_util create -s -r STOA.TEST -P master");

  const pid_t child = fork();
  if (child == 0) {
    [[maybe_unused]] FILE* const log = freopen((folder_ + "/kdc.out").c_str(), "w", stderr);
    setenv("PATH", "/usr/sbin:/usr/bin:/sbin:/bin", 1);
    execlp("krb5kdc", "krb5kdc", "-n", nullptr);
    _exit(127);
  }
  for (;;) {
    if (connects(port_)) {
      pid_ = child;
      return;
    }
    if (waitpid(child, nullptr, WNOHANG) == child) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

Kdc::~Kdc() {
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  std::filesystem::remove_all(folder_);
}

std::string Kdc::add_service(const std::string& name) {
  must("kadmin.local -q 'addprinc -randkey " + name + "'");
  must("kadmin.local -q 'ktadd -k " + keytab() + " " + name + "'");
  return name;
}

void Kdc::hold(const std::string& cache) {
  const std::string own = folder_ + "/nobody.ccache";
  if (cache.empty()) {
    std::filesystem::remove(own);
    return;
  }
  // In one step: a client may be reading it.
  std::filesystem::copy_file(cache.substr(cache.find(':') + 1), own + ".new",
                             std::filesystem::copy_options::overwrite_existing);
  std::filesystem::rename(own + ".new", own);
}

std::string Kdc::login_keytab(const std::string& name, const std::string& lifetime) const {
  std::string file = name + "." + lifetime;
  for (char& c : file) c = c == '/' ? '_' : c;
  return folder_ + "/" + file + ".keytab";
}

std::string Kdc::login(const std::string& name, const std::string& lifetime) {
  const std::string keys = login_keytab(name, lifetime);
  const std::string cache = "FILE:" + keys.substr(0, keys.rfind('.')) + ".ccache";
  run("kadmin.local -q 'addprinc -randkey " + name + "'");  // it may be there
  must("kadmin.local -q 'ktadd -norandkey -k " + keys + " " + name + "'");
  must("kinit -l " + lifetime + " -k -t " + keys + " -c " + cache + " " + name);
  return cache;
}

}  // namespace stoa::test
