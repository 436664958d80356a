// cross_tree: moves whole trees in and out through one protocol and compares them with the source through another.
//   cross_tree odd DIR                  makes a folder of odd names on this machine
//   cross_tree put-nfs SOURCE NAME      copies SOURCE over NFS to NAME in the export, many calls in flight
//   cross_tree check-nfs SOURCE NAME    compares NAME over NFS with SOURCE: names, types, bytes, targets of symlinks
//   cross_tree check-s3 SOURCE NAME     compares NAME over S3 with SOURCE: exactly its regular files, in order, byte
//   for byte
// The server is described by the environment that tests/serve prints (STOA_NFS_HOST, ...). Files above 1 MiB and
// other types than files, directories and symlinks are left out of SOURCE.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/clients/nfs_client.h"
#include "tests/clients/s3_client.h"

namespace {

namespace fs = std::filesystem;
using namespace stoa::clients;

constexpr std::uintmax_t kFileMax = 1u << 20;
constexpr std::size_t kInFlight = 64;
constexpr int kThreads = 4;

struct Source {
  char type;  // 'd', 'f', 'l'
  std::string target;
};
using Tree = std::map<std::string, Source>;

std::string variable(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr) {
    std::fprintf(stderr, "cross_tree: %s is not set; run it in the environment that tests/serve prints\n", name);
    std::exit(2);
  }
  return text;
}

NfsTarget nfs_target() {
  return {.host = variable("STOA_NFS_HOST"),
          .nfs_port = std::stoi(variable("STOA_NFS_PORT")),
          .mount_port = std::stoi(variable("STOA_MOUNT_PORT")),
          .export_path = variable("STOA_EXPORT")};
}

S3Target s3_target() {
  return {.url = variable("STOA_S3_URL"),
          .access_key = variable("STOA_S3_ACCESS_KEY"),
          .secret_key = variable("STOA_S3_SECRET_KEY"),
          .bucket = variable("STOA_S3_BUCKET")};
}

void scan(const fs::path& folder, const std::string& prefix, Tree& tree) {
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string path = prefix + it->path().filename().string();
    const fs::file_status status = it->symlink_status();
    if (fs::is_symlink(status)) {
      tree[path] = {'l', fs::read_symlink(it->path()).string()};
    } else if (fs::is_directory(status)) {
      tree[path] = {'d', {}};
      scan(it->path(), path + "/", tree);
    } else if (fs::is_regular_file(status) && it->file_size() <= kFileMax) {
      tree[path] = {'f', {}};
    }
  }
}

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

class Problems {
 public:
  void add(const std::string& what) {
    const std::lock_guard lock(mutex_);
    if (++count_ <= 20) std::fprintf(stderr, "cross_tree: %s\n", what.c_str());
  }
  std::size_t count() const { return count_; }

 private:
  std::mutex mutex_;
  std::size_t count_ = 0;
};

std::pair<std::string, std::string> split(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return {"", path};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

std::unique_ptr<NfsClient> connect() {
  std::string why;
  auto client = NfsClient::connect(nfs_target(), 0, &why);
  if (client == nullptr) {
    std::fprintf(stderr, "cross_tree: %s\n", why.c_str());
    std::exit(1);
  }
  return client;
}

int put_nfs(const fs::path& source, const std::string& name) {
  Tree tree;
  scan(source, "", tree);
  const auto client = connect();
  Problems problems;
  std::map<std::string, NfsHandle> folders;
  const NfsReply top = client->mkdir(client->root(), name);
  if (!top.ok()) problems.add("MKDIR " + name + ": " + top.text());
  folders[""] = top.handle;
  // Folders one depth after the other, so that each finds the one above it.
  for (std::ptrdiff_t depth = 0, seen = 1; seen > 0; ++depth) {
    seen = 0;
    for (const auto& [path, entry] : tree) {
      if (entry.type != 'd' || std::count(path.begin(), path.end(), '/') != depth) continue;
      ++seen;
      const auto [parent, last] = split(path);
      client->mkdir_async(folders[parent], last, 0755, [&, p = path](NfsReply reply) {
        if (!reply.ok()) problems.add("MKDIR " + p + ": " + reply.text());
        folders[p] = reply.handle;
      });
      client->drain(kInFlight);
    }
    client->drain();
  }
  std::size_t files = 0, links = 0;
  for (const auto& [path, entry] : tree) {
    const auto [parent, last] = split(path);
    if (entry.type == 'l') {
      ++links;
      client->symlink_async(folders[parent], last, entry.target, [&, p = path](NfsReply reply) {
        if (!reply.ok()) problems.add("SYMLINK " + p + ": " + reply.text());
      });
    } else if (entry.type == 'f') {
      ++files;
      client->create_async(folders[parent], last, NfsCreate::kGuarded, {.mode = 0644}, [&, p = path](NfsReply made) {
        if (!made.ok()) return problems.add("CREATE " + p + ": " + made.text());
        const std::string bytes = read_file(source / p);
        if (bytes.empty()) return;
        client->write_async(made.handle, 0, bytes, UNSTABLE, [&, p, file = made.handle](NfsReply written) {
          if (!written.ok()) return problems.add("WRITE " + p + ": " + written.text());
          client->commit_async(file, [&, p, before = written.verifier](NfsReply committed) {
            if (!committed.ok() || committed.verifier != before) problems.add("COMMIT " + p + ": " + committed.text());
          });
        });
      });
    }
    client->drain(kInFlight);
  }
  client->drain();
  if (client->broken()) problems.add("the connection broke");
  std::printf("put-nfs: %zu files, %zu symlinks, %zu folders, %zu problems\n", files, links, folders.size(),
              problems.count());
  return problems.count() == 0 ? 0 : 1;
}

void walk_nfs(NfsClient& client, const NfsHandle& dir, const std::string& prefix,
              std::map<std::string, std::pair<char, NfsHandle>>& found, Problems& problems) {
  const NfsReply listing = client.list(dir);
  if (!listing.ok()) return problems.add("READDIRPLUS " + prefix + ": " + listing.text());
  for (const NfsEntry& entry : listing.entries) {
    if (!entry.attr || entry.handle.empty()) {
      problems.add("READDIRPLUS gives no attributes or handle of " + prefix + entry.name);
      continue;
    }
    const char type = entry.attr->type == NF3DIR ? 'd' : entry.attr->type == NF3LNK ? 'l' : 'f';
    found[prefix + entry.name] = {type, entry.handle};
    if (type == 'd') walk_nfs(client, entry.handle, prefix + entry.name + "/", found, problems);
  }
}

int check_nfs(const fs::path& source, const std::string& name, bool only_files) {
  Tree tree;
  scan(source, "", tree);
  const auto client = connect();
  Problems problems;
  const NfsReply top = client->walk(name);
  if (!top.ok()) problems.add("LOOKUP " + name + ": " + top.text());
  std::map<std::string, std::pair<char, NfsHandle>> found;
  if (top.ok()) walk_nfs(*client, top.handle, "", found, problems);
  std::size_t compared = 0;
  for (const auto& [path, entry] : tree) {
    if (only_files && entry.type != 'f') continue;
    const auto it = found.find(path);
    if (it == found.end() || it->second.first != entry.type) {
      problems.add(path + (it == found.end() ? " is missing" : " has another type"));
      continue;
    }
    ++compared;
    const NfsHandle handle = it->second.second;
    if (entry.type == 'l') {
      client->readlink_async(handle, [&, p = path, target = entry.target](NfsReply reply) {
        if (!reply.ok() || reply.data != target) problems.add("target of " + p + ": " + reply.text());
      });
    } else if (entry.type == 'f') {
      client->read_async(handle, 0, kFileMax, [&, p = path](NfsReply reply) {
        if (!reply.ok() || !reply.eof || reply.data != read_file(source / p))
          problems.add("bytes of " + p + ": " + reply.text());
      });
    }
    client->drain(kInFlight);
  }
  client->drain();
  for (const auto& [path, entry] : found) {
    if (!tree.contains(path)) problems.add(path + " is not in the source");
  }
  std::printf("check-nfs: %zu of %zu compared, %zu problems\n", compared, tree.size(), problems.count());
  return problems.count() == 0 && compared > 0 ? 0 : 1;
}

int check_s3(const fs::path& source, const std::string& name) {
  Tree tree;
  scan(source, "", tree);
  std::vector<std::string> files;
  for (const auto& [path, entry] : tree) {
    if (entry.type == 'f') files.push_back(path);
  }
  Problems problems;
  S3Client lister(s3_target());
  const S3Listing listing = lister.list_all(name + "/");
  if (!listing.reply.ok()) problems.add("LIST: " + listing.reply.text());
  std::vector<std::string> keys;
  for (const std::string& key : listing.keys) keys.push_back(key.substr(name.size() + 1));
  if (!std::is_sorted(keys.begin(), keys.end())) problems.add("the keys are not listed in byte order");
  std::vector<std::string> sorted = files;  // std::map has byte order already
  if (keys != sorted) {
    for (const std::string& key : keys) {
      if (!tree.contains(key)) problems.add("S3 lists " + key + ", which is no file of the source");
    }
    problems.add("S3 lists " + std::to_string(keys.size()) + " keys, the source has " + std::to_string(files.size()) +
                 " files");
  }
  std::atomic<std::size_t> next = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      S3Client client(s3_target());
      for (std::size_t at; (at = next.fetch_add(1)) < files.size();) {
        const S3Reply got = client.get(name + "/" + files[at]);
        if (!got.ok() || got.body != read_file(source / files[at]))
          problems.add("GET " + files[at] + ": " + got.text());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::printf("check-s3: %zu files compared, %zu problems\n", files.size(), problems.count());
  return problems.count() == 0 && !files.empty() ? 0 : 1;
}

int make_odd(const fs::path& folder) {
  fs::create_directories(folder);
  const std::string names[] = {"new\nline",
                               "-rf",
                               "--help",
                               " leading blank",
                               "trailing blank ",
                               "tab\there",
                               "a+b&c=d?e#f",
                               "100%",
                               "%41",
                               "quote\"'`",
                               "back\\slash",
                               "*[a-z]?",
                               "\xc3\xa4\xc3\xb6\xc3\xbc",
                               "\xf0\x9f\x98\x80",
                               "e\xcc\x81",
                               "\xff\xfe\x80not-utf8",
                               "\x01\x02\x7f",
                               "...",
                               "..a",
                               ".hidden",
                               "CON",
                               "semi;colon",
                               "<xml>&amp;</xml>",
                               "a:b",
                               std::string(255, 'n'),
                               std::string(254, 'u') + "\xc3"};
  int number = 0;
  for (const std::string& name : names) {
    std::ofstream(folder / name, std::ios::binary) << "content of odd name " << number++ << "\n";
    const std::string sub = name.substr(0, 250) + ".dir";
    fs::create_directories(folder / sub);
    std::ofstream(folder / sub / name, std::ios::binary) << "below " << number << "\n";
  }
  std::ofstream(folder / "empty");
  fs::create_directories(folder / "empty directory");
  // Sizes around the border between inline content and extents.
  for (const int size : {1, 4095, 4096, 16383, 16384, 16385, 65536, 1'000'000, 1'048'576}) {
    std::ofstream(folder / ("size-" + std::to_string(size)), std::ios::binary)
        << std::string(static_cast<std::size_t>(size), 's');
  }
  std::error_code error;
  fs::create_symlink("nowhere/at/all", folder / "dangling", error);
  fs::create_symlink("..", folder / "up", error);
  fs::create_symlink(std::string(3000, 'l'), folder / "long target", error);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view verb = argc > 1 ? argv[1] : "";
  if (verb == "odd" && argc == 3) return make_odd(argv[2]);
  if (verb == "put-nfs" && argc == 4) return put_nfs(argv[2], argv[3]);
  if (verb == "check-nfs" && argc == 4) return check_nfs(argv[2], argv[3], false);
  if (verb == "check-nfs-files" && argc == 4) return check_nfs(argv[2], argv[3], true);
  if (verb == "check-s3" && argc == 4) return check_s3(argv[2], argv[3]);
  std::fprintf(stderr, "usage: %s odd DIR | put-nfs|check-nfs|check-nfs-files|check-s3 SOURCE NAME\n", argv[0]);
  return 2;
}
