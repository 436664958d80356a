// with_kdc COMMAND ARGS...: runs a command in a Kerberos realm of its own, and ends as it does. Without the programs of
// Kerberos it says which is missing, and runs the command without a realm.
//
// The command finds in its environment: KRB5_CONFIG; STOA_TEST_KEYTAB, with the key of nfs/localhost;
// STOA_TEST_ANN, a keytab of ann's; STOA_TEST_TICKETS, a folder of caches with tickets of ann and stranger.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "tests/frontends/kerberos/kdc.h"

namespace {

void give_tickets(stoa::test::Kdc& kdc) {
  kdc.add_service("nfs/localhost");
  const auto folder = std::filesystem::path(kdc.keytab()).parent_path() / "tickets";
  std::filesystem::create_directory(folder);
  const auto give = [&](const std::string& name, const std::string& cache) {
    std::filesystem::copy_file(cache.substr(cache.find(':') + 1), folder / name);
  };
  give("ann", kdc.login("ann"));
  give("stranger", kdc.login("stranger"));
  setenv("STOA_TEST_KEYTAB", kdc.keytab().c_str(), 1);
  setenv("STOA_TEST_ANN", kdc.login_keytab("ann").c_str(), 1);
  setenv("STOA_TEST_TICKETS", folder.c_str(), 1);
}

}  // namespace

int main(int count, char** words) {
  if (count < 2) return 2;
  std::unique_ptr<stoa::test::Kdc> kdc;
  if (const std::string missing = stoa::test::Kdc::missing(); missing.empty()) {
    kdc = std::make_unique<stoa::test::Kdc>();
    give_tickets(*kdc);
  } else {
    std::fprintf(stderr, "with_kdc: there is no program %s\n", missing.c_str());
  }
  const pid_t child = fork();
  if (child == 0) {
    execvp(words[1], words + 1);
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  kdc.reset();
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
