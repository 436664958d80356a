// scale_test: many objects in one bucket, listed through S3. Needs the environment of tests/serve.
//   scale_test OBJECTS DIRECTORIES [RSS-MIB-MAX]
// Half of the objects lie in one directory, half in directories of 1000; DIRECTORIES more hold one object each. All are
// made over NFS (many calls in flight) and listed in pages of 1000, flat and with a delimiter; the server's memory is
// read from /proc. Times are printed, not judged.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "tests/clients/nfs_client.h"
#include "tests/clients/s3_client.h"

namespace {

using namespace stoa::clients;

constexpr std::size_t kInFlight = 64;
int problems = 0;

std::string variable(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr) {
    std::fprintf(stderr, "scale_test: %s is not set; run it in the environment that tests/serve prints\n", name);
    std::exit(2);
  }
  return text;
}

void problem(const std::string& what) {
  if (++problems <= 10) std::fprintf(stderr, "scale_test: %s\n", what.c_str());
}

std::uint64_t resident_mib() {
  std::ifstream in("/proc/" + variable("STOA_PID") + "/status");
  for (std::string word; in >> word;) {
    std::uint64_t kib = 0;
    if (word == "VmRSS:" && in >> kib) return kib / 1024;
  }
  return 0;
}

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

NfsHandle make_folder(NfsClient& client, const NfsHandle& parent, const std::string& name) {
  const NfsReply made = client.mkdir(parent, name);
  if (!made.ok()) problem("MKDIR " + name + ": " + made.text());
  return made.handle;
}

void make_files(NfsClient& client, const NfsHandle& dir, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    char name[32];
    std::snprintf(name, sizeof name, "f%08llu", static_cast<unsigned long long>(i));
    client.create_async(dir, name, NfsCreate::kUnchecked, {.mode = 0644}, [](NfsReply reply) {
      if (!reply.ok()) problem("CREATE: " + reply.text());
    });
    client.drain(kInFlight);
  }
  client.drain();
}

// Lists everything and gives how many keys and prefixes there were.
std::uint64_t list(const char* title, const std::string& prefix, const std::string& delimiter) {
  S3Client client({.url = variable("STOA_S3_URL"),
                   .access_key = variable("STOA_S3_ACCESS_KEY"),
                   .secret_key = variable("STOA_S3_SECRET_KEY"),
                   .bucket = variable("STOA_S3_BUCKET")});
  std::vector<double> pages;
  std::string continuation, last;
  std::uint64_t total = 0;
  for (;;) {
    const double begin = now();
    const S3Listing page = client.list(prefix, delimiter, continuation);
    pages.push_back(now() - begin);
    if (!page.reply.ok()) {
      problem(std::string(title) + ": " + page.reply.text());
      break;
    }
    total += page.keys.size() + page.prefixes.size();
    for (const std::string& key : page.keys) {
      if (key <= last) problem("keys are not in order: " + key);
      last = key;
    }
    if (!page.truncated) break;
    if (page.keys.size() + page.prefixes.size() != 1000) problem("a truncated page is not full");
    continuation = page.continuation;
  }
  const auto mean = [&](std::size_t from, std::size_t to) {
    double sum = 0;
    for (std::size_t i = from; i < to; ++i) sum += pages[i];
    return to > from ? sum / static_cast<double>(to - from) * 1000 : 0.0;
  };
  const std::size_t tenth = std::max<std::size_t>(1, pages.size() / 10);
  std::printf("%-28s %9llu entries, %5zu pages; ms a page: first tenth %.2f, last tenth %.2f; server %llu MiB\n", title,
              static_cast<unsigned long long>(total), pages.size(), mean(0, tenth),
              mean(pages.size() - tenth, pages.size()), static_cast<unsigned long long>(resident_mib()));
  return total;
}

void expect(const char* what, std::uint64_t got, std::uint64_t right) {
  if (got != right) problem(std::string(what) + ": " + std::to_string(got) + ", right is " + std::to_string(right));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s OBJECTS DIRECTORIES [RSS-MIB-MAX]\n", argv[0]);
    return 2;
  }
  const std::uint64_t objects = std::strtoull(argv[1], nullptr, 0), directories = std::strtoull(argv[2], nullptr, 0);
  const std::uint64_t rss_max = argc > 3 ? std::strtoull(argv[3], nullptr, 0) : 400;
  std::string why;
  const auto client = NfsClient::connect({.host = variable("STOA_NFS_HOST"),
                                          .nfs_port = std::stoi(variable("STOA_NFS_PORT")),
                                          .mount_port = std::stoi(variable("STOA_MOUNT_PORT")),
                                          .export_path = variable("STOA_EXPORT")},
                                         0, &why);
  if (client == nullptr) {
    std::fprintf(stderr, "scale_test: %s\n", why.c_str());
    return 1;
  }
  double begin = now();
  const NfsHandle flat = make_folder(*client, client->root(), "flat");
  make_files(*client, flat, objects / 2);
  const NfsHandle nested = make_folder(*client, client->root(), "nested");
  for (std::uint64_t left = objects - objects / 2, number = 0; left > 0; ++number) {
    const std::uint64_t count = std::min<std::uint64_t>(left, 1000);
    make_files(*client, make_folder(*client, nested, "d" + std::to_string(number)), count);
    left -= count;
  }
  std::printf("%llu objects made in %.1f s\n", static_cast<unsigned long long>(objects), now() - begin);
  begin = now();
  const NfsHandle wide = make_folder(*client, client->root(), "wide");
  for (std::uint64_t i = 0; i < directories; ++i) {
    client->mkdir_async(wide, "d" + std::to_string(i), 0755, [&](NfsReply made) {
      if (!made.ok()) return problem("MKDIR: " + made.text());
      client->create_async(made.handle, "o", NfsCreate::kUnchecked, {.mode = 0644}, [](NfsReply reply) {
        if (!reply.ok()) problem("CREATE: " + reply.text());
      });
    });
    client->drain(kInFlight);
  }
  client->drain();
  std::printf("%llu directories made in %.1f s\n", static_cast<unsigned long long>(directories), now() - begin);
  expect("keys in all", list("everything", "", ""), objects + directories);
  expect("keys of one directory", list("one directory", "flat/", ""), objects / 2);
  expect("directories by delimiter", list("directories by delimiter", "wide/", "/"), directories);
  expect("top by delimiter", list("top by delimiter", "", "/"), 3);
  expect("nothing", list("behind everything", "zzz", ""), 0);
  if (resident_mib() > rss_max) problem("the server takes " + std::to_string(resident_mib()) + " MiB");
  return problems == 0 ? 0 : 1;
}
