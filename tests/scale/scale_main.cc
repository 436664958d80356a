// scale_test: many objects in one bucket, listed and removed through S3. Needs the environment of tests/serve.
//   scale_test OBJECTS DIRECTORIES [RSS-MIB-MAX]
// Half of the objects lie in one directory (flat/), half in directories of 1000 (nested/); DIRECTORIES more hold one
// object each (wide/). All are made over NFS (many calls in flight) and listed in pages of 1000, flat and with a
// delimiter. Then they are removed by DeleteObjects, flat/ by name, the others as tools empty a bucket: list the first
// page, remove it, until there is none. Times are printed, not judged, except one: tombstones must not slow down later
// listings. The server's memory is read from /proc.
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
constexpr std::size_t kPage = 1000;
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

void expect(const char* what, std::uint64_t got, std::uint64_t right) {
  if (got != right) problem(std::string(what) + ": " + std::to_string(got) + ", right is " + std::to_string(right));
}

// VmRSS: now; VmHWM: the most so far.
std::uint64_t memory_mib(const std::string& field) {
  std::ifstream in("/proc/" + variable("STOA_PID") + "/status");
  for (std::string word; in >> word;) {
    std::uint64_t kib = 0;
    if (word == field + ":" && in >> kib) return kib / 1024;
  }
  return 0;
}

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The times of many like requests.
class Times {
 public:
  template <class Request>
  auto measure(Request request) {
    const double begin = now();
    auto reply = request();
    seconds_.push_back(now() - begin);
    return reply;
  }
  double total() const { return mean_ms(0, seconds_.size()) * static_cast<double>(seconds_.size()) / 1000; }
  std::string text() const {
    const std::size_t all = seconds_.size(), tenth = std::max<std::size_t>(1, all / 10);
    char out[96];
    std::snprintf(out, sizeof out, "%5zu in %6.1f s, ms each: first tenth %.2f, last tenth %.2f", all, total(),
                  mean_ms(0, tenth), mean_ms(all - std::min(all, tenth), all));
    return out;
  }

 private:
  double mean_ms(std::size_t from, std::size_t to) const {
    double sum = 0;
    for (std::size_t i = from; i < to; ++i) sum += seconds_[i];
    return to > from ? sum / static_cast<double>(to - from) * 1000 : 0.0;
  }
  std::vector<double> seconds_;
};

void print(const std::string& what, const Times& times) {
  std::printf("%-34s %s; server %llu MiB\n", what.c_str(), times.text().c_str(),
              static_cast<unsigned long long>(memory_mib("VmRSS")));
  std::fflush(stdout);
}

NfsHandle make_folder(NfsClient& client, const NfsHandle& parent, const std::string& name) {
  const NfsReply made = client.mkdir(parent, name);
  if (!made.ok()) problem("MKDIR " + name + ": " + made.text());
  return made.handle;
}

std::string file_name(std::uint64_t number) {
  char name[32];
  std::snprintf(name, sizeof name, "f%08llu", static_cast<unsigned long long>(number));
  return name;
}

void make_files(NfsClient& client, const NfsHandle& dir, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    client.create_async(dir, file_name(i), NfsCreate::kUnchecked, {.mode = 0644}, [](NfsReply reply) {
      if (!reply.ok()) problem("CREATE: " + reply.text());
    });
    client.drain(kInFlight);
  }
  client.drain();
}

// Lists everything and gives how many keys and prefixes there were.
std::uint64_t list(S3Client& s3, const char* title, const std::string& prefix, const std::string& delimiter) {
  Times pages;
  std::string continuation, last;
  std::uint64_t total = 0;
  for (;;) {
    const S3Listing page = pages.measure([&] { return s3.list(prefix, delimiter, continuation, kPage); });
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
    if (page.keys.size() + page.prefixes.size() != kPage) problem("a truncated page is not full");
    continuation = page.continuation;
  }
  print(std::string("list ") + title, pages);
  return total;
}

void remove_page(S3Client& s3, Times& removals, const std::vector<std::string>& keys) {
  const S3Reply reply = removals.measure([&] { return s3.remove_many(keys); });
  if (!reply.ok() || !reply.elements("Error").empty()) problem("DeleteObjects: " + reply.text());
}

void remove_by_name(S3Client& s3, std::uint64_t count) {
  Times removals;
  std::vector<std::string> keys;
  for (std::uint64_t i = 0; i < count; ++i) {
    keys.push_back("flat/" + file_name(i));
    if (keys.size() < kPage && i + 1 < count) continue;
    remove_page(s3, removals, keys);
    keys.clear();
  }
  print("remove flat/", removals);
}

// Gives how many objects there were.
std::uint64_t empty_the_bucket(S3Client& s3) {
  Times pages, removals;
  std::uint64_t total = 0;
  for (;;) {
    const S3Listing page = pages.measure([&] { return s3.list("", "", "", kPage); });
    if (!page.reply.ok()) problem("list the first page: " + page.reply.text());
    if (page.keys.empty()) break;
    total += page.keys.size();
    remove_page(s3, removals, page.keys);
  }
  print("list the first page of what is left", pages);
  print("remove the first page", removals);
  return total;
}

// The best of several, so that another program's work is not taken for ours.
double best_listing_ms(S3Client& s3) {
  double best = 1e9;
  for (int i = 0; i < 5; ++i) {
    Times one;
    const S3Listing page = one.measure([&] { return s3.list("", "", "", kPage); });
    if (!page.reply.ok() || !page.keys.empty()) problem("listing an empty bucket: " + page.reply.text());
    best = std::min(best, one.total() * 1000);
  }
  return best;
}

void remove_folders(NfsClient& client, const NfsHandle& parent, const std::string& name) {
  const double begin = now();
  const NfsHandle dir = client.walk(name).handle;
  const NfsReply listing = client.list(dir);
  if (!listing.ok()) problem("READDIRPLUS " + name + ": " + listing.text());
  const double listed = now();
  for (const NfsEntry& entry : listing.entries) {
    client.rmdir_async(dir, entry.name, [](NfsReply reply) {
      if (!reply.ok()) problem("RMDIR: " + reply.text());
    });
    client.drain(kInFlight);
  }
  client.drain();
  if (const NfsReply gone = client.rmdir(parent, name); !gone.ok()) problem("RMDIR " + name + ": " + gone.text());
  std::printf("%-34s %zu folders: listed over NFS in %.2f s, removed in %.2f s\n", ("rmdir " + name).c_str(),
              listing.entries.size() + 1, listed - begin, now() - listed);
}

void check(const char* when) {
  const std::string command = "'" + variable("STOA_CLI") + "' --data '" + variable("STOA_DATA") + "' check --quiet";
  std::printf("stoa check %s:\n", when);
  std::fflush(stdout);
  const double begin = now();
  if (std::system(command.c_str()) != 0) problem("stoa check found something");
  std::printf("  in %.1f s; server %llu MiB\n", now() - begin, static_cast<unsigned long long>(memory_mib("VmRSS")));
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
  S3Client s3({.url = variable("STOA_S3_URL"),
               .access_key = variable("STOA_S3_ACCESS_KEY"),
               .secret_key = variable("STOA_S3_SECRET_KEY"),
               .bucket = variable("STOA_S3_BUCKET")});
  const double empty_ms = best_listing_ms(s3);

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

  expect("keys in all", list(s3, "everything", "", ""), objects + directories);
  expect("keys of one directory", list(s3, "flat/", "flat/", ""), objects / 2);
  expect("keys in directories of 1000", list(s3, "nested/", "nested/", ""), objects - objects / 2);
  expect("keys in directories of one", list(s3, "wide/", "wide/", ""), directories);
  expect("directories by delimiter", list(s3, "wide/ by delimiter", "wide/", "/"), directories);
  expect("top by delimiter", list(s3, "top by delimiter", "", "/"), 3);
  expect("nothing", list(s3, "behind everything", "zzz", ""), 0);

  const std::uint64_t peak = memory_mib("VmHWM");
  std::printf("the server took at most %llu MiB so far\n", static_cast<unsigned long long>(peak));
  if (peak > rss_max) problem("the server took " + std::to_string(peak) + " MiB");
  check("with all objects");

  remove_by_name(s3, objects / 2);
  expect("flat/ when empty", list(s3, "flat/ when empty", "flat/", ""), 0);
  expect("objects behind flat/", empty_the_bucket(s3), objects - objects / 2 + directories);
  for (const char* name : {"flat", "nested", "wide"}) remove_folders(*client, client->root(), name);
  const double emptied_ms = best_listing_ms(s3);
  std::printf("list the empty bucket: %.2f ms before all, %.2f ms after\n", empty_ms, emptied_ms);
  if (emptied_ms > 20 * empty_ms + 20) problem("what was removed is in the way of listings");
  check("after all");
  std::printf("the server took at most %llu MiB in all\n", static_cast<unsigned long long>(memory_mib("VmHWM")));
  return problems == 0 ? 0 : 1;
}
