// A client of a folder that has a recycle bin. Each content and each directory is in one place, always: under a name,
// or in the bin, or purged; never in two and never in none.
#include <algorithm>
#include <set>

#include "tests/clients/server_process.h"
#include "tests/crash/worker.h"

namespace stoa::crash {
namespace {

using clients::NfsClient;
using clients::NfsReply;
using clients::S3Client;
using clients::S3Reply;

constexpr std::size_t kLiveMax = 20, kKeptMax = 25;
const std::string kLive = "live/", kBin = "bin/", kGone;

class BinWorker final : public Worker {
 public:
  BinWorker(std::string name, std::uint64_t seed, bool counted) : Worker(std::move(name), seed), counted_(counted) {}

  void verify(const Protocols& protocols) override {
    std::string why;
    const auto client = NfsClient::connect(protocols.nfs, 0, &why);
    if (client == nullptr) return problem("cannot connect: " + why);
    std::map<std::string, std::string> found;
    const NfsReply folder = client->lookup(client->root(), name_);
    if (folder.ok()) {
      if (!collect(*client, folder.handle, kLive, found)) return;
      const NfsReply user_bin = find_user_bin(*client, folder.handle);
      if (user_bin.ok() && !collect(*client, user_bin.handle, kBin, found)) return;
      if (!user_bin.ok() && (user_bin.lost || user_bin.status != NFS3ERR_NOENT))
        return problem("the bin: " + user_bin.text());
    } else if (folder.lost || folder.status != NFS3ERR_NOENT) {
      return problem("the folder: " + folder.text());
    }
    resolve_doubt(found);
    for (const auto& [thing, place] : places_) {
      const auto there = found.find(thing);
      if (there == found.end()) {
        problem(thing + " is in neither, promised was " + place);
      } else if (there->second != place) {
        problem(thing + " is in " + there->second + ", promised was " + place);
      }
    }
    for (const auto& [thing, place] : found) {
      if (!places_.contains(thing)) problem(thing + " appeared from nowhere in " + place);
    }
    // The other protocol sees live files, and nothing of the bin.
    S3Client s3(protocols.s3);
    const clients::S3Listing listing = s3.list_all(name_ + "/");
    if (!listing.reply.ok()) return problem("LIST: " + listing.reply.text());
    std::set<std::string> keys, right;
    keys.insert(listing.keys.begin(), listing.keys.end());
    for (const auto& [thing, place] : places_) {
      if (thing.starts_with("content ") && place.starts_with(kLive))
        right.insert(name_ + "/" + place.substr(kLive.size()));
    }
    if (keys != right)
      problem("S3 lists " + std::to_string(keys.size()) + " keys, " + std::to_string(right.size()) +
              " files are alive");
  }

 private:
  // The place of an item: "live/NAME", "bin/OLD NAME", or nowhere.
  using PathResolver = std::map<std::string, std::string>;

  bool connect(const Protocols& protocols, std::string* why) override {
    client_ = NfsClient::connect(protocols.nfs, 0, why);
    if (client_ == nullptr) return false;
    s3_.emplace(protocols.s3);
    cli_ = protocols.cli;
    NfsReply folder = client_->mkdir(client_->root(), name_);
    if (!folder.ok()) folder = client_->lookup(client_->root(), name_);
    dir_ = folder.handle;
    return folder.ok() && (has_policy_ || set_policy());
  }

  bool set_policy() {
    std::string output;
    has_policy_ =
        run({"recycle", "policy", "/test/" + name_, "--on", "--days", "0", "--counted", counted_ ? "yes" : "no"},
            &output) &&
        declare();
    return has_policy_;
  }

  // Sets the classes counted in the quota of the folder; its limit is never reached. `stoa check` counts again by
  // class.
  bool declare() {
    std::string output;
    const std::string classes =
        random_.pick(std::vector<std::string>{"none", "recycled", "open-but-deleted", "multipart,recycled"});
    if (run({"quota", "set", "/test/" + name_, "--bytes", "1TiB", "--count", classes}, &output)) return true;
    if (client_->getattr(dir_).lost) return false;  // killed meanwhile
    problem("quota set: " + output);
    return true;
  }

  bool step() override {
    const std::uint64_t choice = random_.below(100);
    if (random_.below(200) == 0) return declare();
    const auto live = count(kLive), kept = count(kBin);
    if (live < 3 || (choice < 30 && live < kLiveMax)) return put();
    if (kept > kKeptMax) return purge();
    if (choice < 50) return remove();
    if (choice < 62) return remove_keys();
    if (choice < 75) return rename();
    if (choice < 83) return make_directory();
    if (choice < 90) return remove_directory();
    return choice < 98 ? restore() : purge();
  }

  std::size_t count(const std::string& where) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(places_, [&](const auto& one) { return one.second.starts_with(where); }));
  }
  // Any that is alive: the thing, and its name.
  std::optional<std::pair<std::string, std::string>> any_live(const std::string& kind) {
    std::vector<std::pair<std::string, std::string>> all;
    for (const auto& [thing, place] : places_) {
      if (thing.starts_with(kind) && place.starts_with(kLive)) all.emplace_back(thing, place.substr(kLive.size()));
    }
    if (all.empty()) return std::nullopt;
    return random_.pick(all);
  }

  void begin(PathResolver after, bool at_once = true) {
    after_ = std::move(after);
    at_once_ = at_once;
  }
  void done() {
    for (const auto& [thing, place] : after_) move(thing, place);
    after_.clear();
    kept_promise();
  }
  void move(const std::string& thing, const std::string& place) {
    if (place.empty()) {
      places_.erase(thing);
    } else {
      places_[thing] = place;
    }
  }
  template <class Reply>
  bool settle(bool lost, const Reply& reply, const std::string& what) {
    if (lost) return false;
    if (reply.ok()) {
      done();
    } else {
      after_.clear();
      problem(what + " was refused: " + reply.text());
    }
    return true;
  }

  // A new object, or new content of one: then the old content is kept.
  bool put() {
    const std::string thing = "content " + std::to_string(++things_);
    std::string name = "f" + std::to_string(things_);
    PathResolver after;
    if (const auto old = any_live("content "); old && random_.percent(40)) {
      name = old->second;
      after[old->first] = kBin + name;
    }
    after[thing] = kLive + name;
    const std::string bytes = thing + "\n" + any_bytes();
    contents_[thing] = bytes;
    begin(after);
    const S3Reply reply = s3_->put(name_ + "/" + name, bytes);
    return settle(reply.lost(), reply, "PUT of " + name);
  }

  bool remove() {
    const auto victim = any_live("content ");
    if (!victim) return true;
    begin({{victim->first, kBin + victim->second}});
    const NfsReply reply = client_->remove(dir_, victim->second);
    return settle(reply.lost, reply, "REMOVE of " + victim->second);
  }

  bool remove_keys() {
    PathResolver after;
    std::vector<std::string> keys;
    for (std::uint64_t wanted = 1 + random_.below(3); wanted > 0; --wanted) {
      const auto victim = any_live("content ");
      if (!victim || !after.emplace(victim->first, kBin + victim->second).second) continue;
      keys.push_back(name_ + "/" + victim->second);
    }
    if (keys.empty()) return true;
    begin(after, false);
    const S3Reply reply = keys.size() == 1 ? s3_->remove(keys.front()) : s3_->remove_many(keys);
    return settle(reply.lost(), reply, "DELETE");
  }

  bool rename() {
    const auto from = any_live("content "), over = any_live("content ");
    if (!from || !over || from == over) return true;
    begin({{from->first, kLive + over->second}, {over->first, kBin + over->second}});
    const NfsReply reply = client_->rename(dir_, from->second, dir_, over->second);
    return settle(reply.lost, reply, "RENAME of " + from->second + " to " + over->second);
  }

  bool make_directory() {
    const std::string name = "d" + std::to_string(++things_);
    begin({{"directory " + name, kLive + name}});
    const NfsReply reply = client_->mkdir(dir_, name);
    return settle(reply.lost, reply, "MKDIR of " + name);
  }

  bool remove_directory() {
    const auto victim = any_live("directory ");
    if (!victim) return true;
    begin({{victim->first, kBin + victim->second}});
    const NfsReply reply = client_->rmdir(dir_, victim->second);
    return settle(reply.lost, reply, "RMDIR of " + victim->second);
  }

  struct Kept {
    clients::NfsHandle user_bin;
    std::uint64_t bin = 0;
    std::string entry, thing;  // entry: NAME@SERIAL
  };
  // Something in the bin. False: the connection broke.
  bool any_kept(std::optional<Kept>& kept) {
    const NfsReply bin = client_->lookup(dir_, ".recycle");
    const NfsReply user_bin = find_user_bin(*client_, dir_);
    if (bin.lost || user_bin.lost) return false;
    if (!bin.ok() || !user_bin.ok()) return true;
    const NfsReply listing = client_->list(user_bin.handle);
    if (listing.lost) return false;
    if (!listing.ok() || listing.entries.empty()) return true;
    const std::string entry = random_.pick(listing.entries).name;
    const NfsReply found = client_->lookup(user_bin.handle, entry);
    if (found.lost) return false;
    if (!found.ok() || !found.attr || !bin.attr) {
      problem("LOOKUP of " + entry + " in the bin: " + found.text());
      return true;
    }
    std::string thing;
    if (!identify(*client_, found, entry.substr(0, entry.rfind('@')), &thing)) return !client_->broken();
    kept = Kept{user_bin.handle, bin.attr->id, entry, thing};
    return true;
  }

  // A move out of the bin.
  bool restore() {
    std::optional<Kept> kept;
    if (!any_kept(kept)) return false;
    if (!kept) return true;
    const bool directory = kept->thing.starts_with("directory ");
    const std::string name =
        directory ? kept->entry.substr(0, kept->entry.rfind('@')) : "r" + std::to_string(++things_);
    begin({{kept->thing, kLive + name}});
    const NfsReply reply = client_->rename(kept->user_bin, kept->entry, dir_, name);
    return settle(reply.lost, reply, "RENAME of " + kept->entry + " out of the bin");
  }

  bool purge() {
    std::optional<Kept> kept;
    if (!any_kept(kept)) return false;
    if (!kept) return true;
    const std::uint64_t serial = std::strtoull(kept->entry.c_str() + kept->entry.rfind('@') + 1, nullptr, 16);
    const std::string item = std::to_string(kept->bin) + "-" + std::to_string(serial);
    begin({{kept->thing, kGone}});
    std::string output;
    if (run({"recycle", "purge", "/test/" + name_, "--item", item}, &output) && output.starts_with("1 removed")) {
      done();
      return true;
    }
    if (client_->getattr(dir_).lost) return false;  // killed meanwhile
    after_.clear();
    problem("purge of " + item + ": " + output);
    return true;
  }

  bool run(std::vector<std::string> arguments, std::string* output) {
    arguments.insert(arguments.begin(), cli_.begin(), cli_.end());
    return clients::run_command(arguments, output) == 0;
  }

  static NfsReply find_user_bin(NfsClient& client, const clients::NfsHandle& dir) {
    const NfsReply bin = client.lookup(dir, ".recycle");
    return bin.ok() ? client.lookup(bin.handle, "0") : bin;
  }

  // The item of this name; a file's content is compared as a whole.
  bool identify(NfsClient& client, const NfsReply& found, const std::string& name, std::string* thing) {
    if (found.attr->type == NF3DIR) {
      *thing = "directory " + name;
      return true;
    }
    const NfsReply content = client.read_all(found.handle);
    if (content.lost) return false;
    *thing = content.data.substr(0, content.data.find('\n'));
    const auto right = contents_.find(*thing);
    if (content.ok() && right != contents_.end() && right->second == content.data) return true;
    problem("READ of " + name + ": " + (content.ok() ? "other bytes than were written" : content.text()));
    return false;
  }

  bool collect(NfsClient& client, const clients::NfsHandle& dir, const std::string& where, PathResolver& found) {
    const NfsReply listing = client.list(dir);
    if (!listing.ok()) {
      problem("READDIRPLUS of " + where + ": " + listing.text());
      return false;
    }
    for (const clients::NfsEntry& entry : listing.entries) {
      const NfsReply there = client.lookup(dir, entry.name);
      if (!there.ok() || !there.attr) {
        problem("LOOKUP of " + where + entry.name + ", which READDIRPLUS shows: " + there.text());
        return false;
      }
      const std::string name = where == kBin ? entry.name.substr(0, entry.name.rfind('@')) : entry.name;
      std::string thing;
      if (!identify(client, there, name, &thing)) return false;
      if (!found.emplace(thing, where + name).second)
        problem(thing + " is in two places: " + where + name + " and " + found[thing]);
    }
    return true;
  }

  // The interrupted operation happened wholly or not at all; of several keys, each for itself.
  void resolve_doubt(const PathResolver& found) {
    if (after_.empty()) return;
    std::size_t happened = 0;
    PathResolver now;
    for (const auto& [thing, place] : after_) {
      const auto there = found.find(thing);
      now[thing] = there == found.end() ? kGone : there->second;
      const auto before = places_.find(thing);
      if (now[thing] == place) {
        ++happened;
      } else if (now[thing] != (before == places_.end() ? kGone : before->second)) {
        problem(thing + " was under way to " + place + " and is in " + now[thing]);
      }
    }
    if (at_once_ && happened != 0 && happened != after_.size()) problem("an operation was done by half");
    for (const auto& [thing, place] : now) move(thing, place);
    after_.clear();
  }

  const bool counted_;
  bool has_policy_ = false;
  std::vector<std::string> cli_;
  std::unique_ptr<NfsClient> client_;
  std::optional<S3Client> s3_;
  clients::NfsHandle dir_;
  PathResolver places_, after_;  // as promised; and after the interrupted operation
  bool at_once_ = true;
  std::map<std::string, std::string> contents_;
  std::uint64_t things_ = 0;
};

}  // namespace

std::unique_ptr<Worker> make_bin_worker(int number, std::uint64_t seed) {
  return std::make_unique<BinWorker>("bin-" + std::to_string(number), seed, number % 2 == 0);
}

}  // namespace stoa::crash
