// A client of a folder with directories that count users and groups, from the middle of their lives on and not always.
// The usage of each owner is exact to the byte, and no limit of it is exceeded, whenever the server reports complete
// counts.
#include <algorithm>

#include <nlohmann/json.hpp>

#include "tests/clients/server_process.h"
#include "tests/crash/worker.h"

namespace stoa::crash {
namespace {

using clients::NfsClient;
using clients::NfsCreate;
using clients::NfsEntry;
using clients::NfsHandle;
using clients::NfsReply;
using Json = nlohmann::json;

const std::vector<std::string> kPlaces{"a", "a/in", "b"};  // a directory comes before those in it
const std::vector<std::uint32_t> kUids{0, 5001, 5002, 5003}, kGids{0, 6001, 6002};
constexpr std::size_t kFilesAtFirst =
    2000;  // of each place: counting them takes pieces of work, so that the server dies between them
constexpr std::uint64_t kFileMax = 200'000;

struct Owned {
  std::uint32_t uid = 0, gid = 0;
  ExpectedFile content{};
};
struct Whose {
  bool group = false;
  std::uint32_t id = 0;
  bool has(const Owned& file) const { return (group ? file.gid : file.uid) == id; }
  std::string text() const { return (group ? "group " : "user ") + std::to_string(id); }
  auto operator<=>(const Whose&) const = default;
};
struct Use {
  std::int64_t bytes = 0, files = 0;
  bool operator==(const Use&) const = default;
};
struct Limit {
  std::optional<std::int64_t> bytes, files;
  bool operator==(const Limit&) const = default;
};
using Owners = std::map<Whose, Use>;
using Limits = std::map<Whose, Limit>;
struct Counting {
  bool on = false;
  bool exact = false;  // as reported by the server
  Limits limits{};
};

bool is_below(const std::string& path, const std::string& place) {
  return path.starts_with(place + "/");
}
Use use_of(const Owned& file) {
  return {static_cast<std::int64_t>(file.content.size_max()), 1};
}
std::string text_of(const Limits& limits) {
  std::string text;
  const auto number = [](const std::optional<std::int64_t>& limit) {
    return limit ? std::to_string(*limit) : "any number of";
  };
  for (const auto& [whose, limit] : limits)
    text += (text.empty() ? " " : ", ") + whose.text() + ": " + number(limit.bytes) + " bytes and " +
            number(limit.files) + " files";
  return text.empty() ? " none" : text;
}
std::string text_of(const Use& use) {
  return std::to_string(use.bytes) + " bytes and " + std::to_string(use.files) + " files";
}

class OwnerWorker final : public Worker {
 public:
  using Worker::Worker;

  void verify(const Protocols& protocols) override {
    std::string why;
    cli_ = protocols.cli;
    client_ = NfsClient::connect(protocols.nfs, 0, &why);
    if (client_ == nullptr) return problem("cannot connect: " + why);
    if (folders_.empty()) return fill();
    std::map<std::string, NfsEntry> there;
    if (!list(there)) return;
    resolve_doubt(there);
    compare_files(there);
    for (const std::string& place : kPlaces) compare_counting(place);
    admin_doubt_.reset();
    // Now and then the next death comes while a restarted count is not done.
    if (!problems().empty() || random_.percent(25)) return;
    for (const std::string& place : kPlaces) {
      while (problems().empty() && counting_[place].on && !counting_[place].exact) look(place);
    }
  }

  std::string summary() const override {
    return name_ + ": died " + std::to_string(died_counting_) + " times while users were counted; limits refused " +
           std::to_string(denials_) + " times; " + std::to_string(looks_) + " exact counts compared";
  }

 private:
  using Files = std::map<std::string, Owned>;
  using Change = std::map<std::string, std::optional<Owned>>;  // nullopt: the name is gone
  struct AdminChange {
    std::string place;
    Counting after;
  };

  // The folders were full before owners were counted in them.
  void fill() {
    NfsReply top = client_->mkdir(client_->root(), name_, 0777);
    if (!top.ok()) return problem("MKDIR: " + top.text());
    for (const std::string& place : kPlaces) {
      const NfsHandle& parent = place == "a/in" ? folders_["a"] : top.handle;
      const NfsReply made = client_->mkdir(parent, place.substr(place.rfind('/') + 1), 0777);
      if (!made.ok()) return problem("MKDIR of " + place + ": " + made.text());
      folders_[place] = made.handle;
    }
    for (std::size_t i = 0; i < kFilesAtFirst * kPlaces.size() && problems().empty(); ++i) {
      const std::string path = new_path();
      const Owned file{random_.pick(kUids), random_.pick(kGids)};
      client_->create_async(folder_of(path), leaf_of(path), NfsCreate::kGuarded,
                            {.mode = 0666, .uid = file.uid, .gid = file.gid}, [this, path, file](NfsReply reply) {
                              if (!reply.ok()) return problem("CREATE of " + path + ": " + reply.text());
                              handles_[path] = reply.handle;
                              owned_[path] = file;
                            });
      client_->drain(64);
    }
    client_->drain();
  }

  bool connect(const Protocols& protocols, std::string* why) override {
    client_ = NfsClient::connect(protocols.nfs, 0, why);
    return client_ != nullptr;
  }

  bool step() override {
    const std::uint64_t choice = random_.below(1000);
    const bool counted = std::ranges::any_of(counting_, [](const auto& one) { return one.second.on; });
    const bool going_on = choice < (counted ? 15 : 100) ? toggle()
                          : choice < 40                 ? set_limit()
                          : choice < 55                 ? look(random_.pick(kPlaces))
                          : choice < 250                ? create()
                          : choice < 550                ? write()
                          : choice < 620                ? cut()
                          : choice < 780                ? give_away()
                          : choice < 880                ? rename()
                                                        : remove();
    if (going_on) return true;
    for (const auto& [place, counting] : counting_) {
      if (!counting.on || counting.exact) continue;
      ++died_counting_;
      break;
    }
    return false;
  }

  // ---- promises
  // ------------------------------------------------------------------------------------------------------

  std::string new_path() { return random_.pick(kPlaces) + "/f" + std::to_string(++names_); }
  const NfsHandle& folder_of(const std::string& path) { return folders_[path.substr(0, path.rfind('/'))]; }
  static std::string leaf_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }
  std::string any_path() {
    auto it = owned_.begin();
    std::advance(it, random_.below(owned_.size()));
    return it->first;
  }

  Owners owners_in(const std::string& place) const {
    Owners owners;
    const auto add = [&](const Owned& file, const Use& use) {
      for (const Whose& whose : {Whose{false, file.uid}, Whose{true, file.gid}}) {
        owners[whose].bytes += use.bytes;
        owners[whose].files += use.files;
      }
    };
    for (const std::string& inner : kPlaces) {
      if (is_below(inner, place)) add({}, {0, 1});
    }
    for (const auto& [path, file] : owned_) {
      if (is_below(path, place)) add(file, use_of(file));
    }
    return owners;
  }

  enum class Fits : std::uint8_t { kYes, kPerhaps, kNo };
  // Whether the limits that were set let the change happen. kPerhaps: other answers may be of a place that is not
  // counted yet.
  Fits fits(const Change& change) const {
    Fits fits = Fits::kYes;
    for (const auto& [place, counting] : counting_) {
      if (counting.limits.empty()) continue;
      const Owners owners = owners_in(place);
      for (const auto& [whose, limit] : counting.limits) {
        Use more;
        for (const auto& [path, after] : change) {
          if (!is_below(path, place)) continue;
          const auto before = owned_.find(path);
          if (before != owned_.end() && whose.has(before->second)) {
            more.bytes -= use_of(before->second).bytes;
            more.files -= 1;
          }
          if (after && whose.has(*after)) {
            more.bytes += use_of(*after).bytes;
            more.files += 1;
          }
        }
        const auto found = owners.find(whose);
        const Use used = found == owners.end() ? Use{} : found->second;
        const bool passes = (more.bytes > 0 && limit.bytes && used.bytes + more.bytes > *limit.bytes) ||
                            (more.files > 0 && limit.files && used.files + more.files > *limit.files);
        if (passes) fits = counting.exact || fits == Fits::kNo ? Fits::kNo : Fits::kPerhaps;
      }
    }
    return fits;
  }
  // The number of bytes that the limits leave to this file; absent: any number.
  std::optional<std::int64_t> room_of(const std::string& path) const {
    std::optional<std::int64_t> room;
    const Owned& file = owned_.at(path);
    for (const auto& [place, counting] : counting_) {
      if (!is_below(path, place) || counting.limits.empty()) continue;
      Owners owners = owners_in(place);
      for (const auto& [whose, limit] : counting.limits) {
        if (!whose.has(file) || !limit.bytes) continue;
        const std::int64_t left = std::max<std::int64_t>(*limit.bytes - owners[whose].bytes, 0);
        room = std::min(room.value_or(left), left);
      }
    }
    return room;
  }

  // One call. `change` is its effect, which may be in doubt; `certain` the effect once it was answered.
  template <class Call>
  bool ask(const std::string& what, const Change& change, const Change& certain, Call call) {
    const Fits expected = fits(certain);
    after_ = change;
    const NfsReply reply = call();
    if (reply.lost) return false;
    after_.clear();
    if (reply.ok()) {
      if (expected == Fits::kNo) problem(what + " passed a limit");
      for (const auto& [path, file] : certain) put(path, file);
      kept_promise();
    } else if (reply.status == NFS3ERR_DQUOT && expected != Fits::kYes) {
      ++denials_;
    } else {
      problem(what + " was refused: " + reply.text());
    }
    return true;
  }
  template <class Call>
  bool ask(const std::string& what, const Change& change, Call call) {
    return ask(what, change, change, call);
  }
  void put(const std::string& path, const std::optional<Owned>& file) {
    if (file) {
      owned_[path] = *file;
    } else {
      owned_.erase(path);
      handles_.erase(path);
    }
  }

  // ---- operations
  // ----------------------------------------------------------------------------------------------------------

  bool create() {
    const std::string path = new_path();
    const Owned file{random_.pick(kUids), random_.pick(kGids)};
    NfsHandle handle;
    const bool going_on = ask("CREATE of " + path, {{path, file}}, [&] {
      NfsReply reply = client_->create(folder_of(path), leaf_of(path), NfsCreate::kGuarded,
                                       {.mode = 0666, .uid = file.uid, .gid = file.gid});
      handle = reply.handle;
      return reply;
    });
    if (owned_.contains(path)) handles_[path] = handle;
    return going_on;
  }

  bool write() {
    const std::string path = any_path();
    const Owned& file = owned_[path];
    const std::uint64_t size = file.content.size_max();
    std::uint64_t offset = random_.percent(60) ? size : random_.below(size + 1), count = 1 + random_.below(30'000);
    // To the last byte of a limit, and one beyond.
    if (const auto room = room_of(path); room && static_cast<std::uint64_t>(*room) < kFileMax && random_.percent(60)) {
      offset = size;
      count = static_cast<std::uint64_t>(*room) + (*room == 0 || random_.percent(50) ? 1 : 0);
    }
    if (offset + count > kFileMax) return cut();
    const std::string bytes = random_.bytes(count);
    Owned perhaps = file, after = file;
    perhaps.content.write_perhaps(offset, bytes);
    after.content.write_durably(offset, bytes);
    return ask("WRITE of " + std::to_string(count) + " bytes to " + path, {{path, perhaps}}, {{path, after}},
               [&] { return client_->write(handles_[path], offset, bytes, FILE_SYNC); });
  }

  bool cut() {
    const std::string path = any_path();
    Owned after = owned_[path];
    const std::uint64_t size = random_.below(after.content.size_max() * 5 / 4 + 10);
    after.content.truncate(size);
    return ask("SETATTR of the size of " + path, {{path, after}},
               [&] { return client_->setattr(handles_[path], {.size = size}); });
  }

  bool give_away() {
    const std::string path = any_path();
    Owned after = owned_[path];
    clients::NfsSet set;
    if (random_.percent(70)) set.uid = after.uid = random_.pick(kUids);
    if (!set.uid || random_.percent(50)) set.gid = after.gid = random_.pick(kGids);
    return ask("SETATTR of the owner of " + path, {{path, after}},
               [&] { return client_->setattr(handles_[path], set); });
  }

  bool rename() {
    const std::string from = any_path(), to = random_.percent(30) ? any_path() : new_path();
    if (from == to) return true;
    const NfsHandle handle = handles_[from];
    const bool going_on = ask("RENAME of " + from + " to " + to, {{from, std::nullopt}, {to, owned_[from]}}, [&] {
      return client_->rename(folder_of(from), leaf_of(from), folder_of(to), leaf_of(to));
    });
    if (!owned_.contains(from)) handles_[to] = handle;
    return going_on;
  }

  bool remove() {
    const std::string path = any_path();
    return ask("REMOVE of " + path, {{path, std::nullopt}},
               [&] { return client_->remove(folder_of(path), leaf_of(path)); });
  }

  bool toggle() {
    const std::string place = random_.pick(kPlaces);
    const bool on = !counting_[place].on;
    std::vector<std::string> command{"quota", "count-owners", path_of(place)};
    if (!on) command.emplace_back("--off");
    return administer(command, {place, {.on = on, .exact = false, .limits = {}}});
  }

  bool set_limit() {
    const std::string place = random_.pick(kPlaces);
    Counting after = counting_[place];
    if (!after.on) return true;
    const Whose whose =
        random_.percent(60) ? Whose{false, kUids[1 + random_.below(3)]} : Whose{true, kGids[1 + random_.below(2)]};
    const Use used = owners_in(place)[whose];
    Limit limit;
    if (random_.percent(80))
      limit.bytes =
          random_.percent(15) ? used.bytes / 2 : used.bytes + static_cast<std::int64_t>(random_.below(100'000));
    if (!limit.bytes || random_.percent(30))
      limit.files = std::max<std::int64_t>(used.files - 2 + static_cast<std::int64_t>(random_.below(20)), 1);
    after.limits[whose] = limit;
    const auto word = [](const std::optional<std::int64_t>& number) {
      return number ? std::to_string(*number) : "none";
    };
    return administer({"quota", "set", path_of(place), whose.group ? "--group" : "--user", std::to_string(whose.id),
                       "--bytes", word(limit.bytes), "--files", word(limit.files)},
                      {place, after});
  }

  std::string path_of(const std::string& place) const { return "/test/" + name_ + "/" + place; }

  bool administer(const std::vector<std::string>& arguments, AdminChange change) {
    admin_doubt_ = std::move(change);
    Json answer;
    if (!run(arguments, &answer)) return false;
    counting_[admin_doubt_->place] = std::move(admin_doubt_->after);
    admin_doubt_.reset();
    kept_promise();
    return true;
  }

  // False: the server is gone, or there is a problem.
  bool run(std::vector<std::string> arguments, Json* answer) {
    arguments.insert(arguments.begin(), "--json");
    arguments.insert(arguments.begin(), cli_.begin(), cli_.end());
    std::string output;
    const int code = clients::run_command(arguments, &output);
    *answer = Json::parse(output, nullptr, false);
    if (code == 0 && !answer->is_discarded()) return true;
    if (client_->getattr(client_->root()).lost) return false;  // killed meanwhile
    std::string command;
    for (const std::string& argument : arguments) command += " " + argument;
    problem(command + " answers " + std::to_string(code) + ": " + output);
    return false;
  }

  // Reads the usage of each owner in a place. False as run().
  bool look(const std::string& place) {
    Counting& counting = counting_[place];
    if (!counting.on) return true;
    Json answer;
    if (!run({"quota", "owners", path_of(place)}, &answer)) return false;
    const bool exact = answer["counting"].is_null();
    if (counting.exact && !exact) problem("the users in " + place + " were counted, and are not any more");
    counting.exact = exact;
    if (exact) ++looks_;
    Owners found;
    Limits limits;
    for (const Json& owner : answer["owners"]) {
      const Whose whose{owner.contains("gid"), owner[owner.contains("gid") ? "gid" : "uid"].get<std::uint32_t>()};
      const Json& usage = owner["usage"];
      const Use use{usage["bytes"].get<std::int64_t>(),
                    usage["files"].get<std::int64_t>() + usage["directories"].get<std::int64_t>()};
      if (use != Use{}) found[whose] = use;
      const auto number = [&](const char* name) {
        const Json& value = owner["limits"][name];
        return value.is_null() ? std::nullopt : std::optional(value.get<std::int64_t>());
      };
      const Limit limit{number("bytes"), number("files")};
      if (limit != Limit{}) limits[whose] = limit;
    }
    if (limits != counting.limits)
      problem("the limits in " + place + " are" + text_of(limits) + ", and set were" + text_of(counting.limits));
    Owners right = owners_in(place);
    std::erase_if(right, [](const auto& one) { return one.second == Use{}; });
    for (const auto& [whose, use] : found) {
      const Use& all = right[whose];
      if (exact ? use != all : use.bytes < 0 || use.files < 0 || use.bytes > all.bytes || use.files > all.files)
        problem(whose.text() + " owns " + text_of(all) + " in " + place + ", and " + text_of(use) +
                (exact ? " are" : " were so far") + " counted");
    }
    if (exact && found.size() != right.size()) problem("not all users and groups in " + place + " were counted");
    return problems().empty();
  }

  // ---- state after a crash
  // -------------------------------------------------------------------------------------------

  bool list(std::map<std::string, NfsEntry>& there) {
    for (const std::string& place : kPlaces) {
      NfsReply listing = client_->list(folders_[place]);
      if (!listing.ok()) {
        problem("READDIRPLUS of " + place + ": " + listing.text());
        return false;
      }
      for (NfsEntry& entry : listing.entries) {
        const std::string path = place + "/" + entry.name;
        if (folders_.contains(path)) continue;
        if (!entry.attr) {
          problem("READDIRPLUS of " + path + " gives no attributes");
          return false;
        }
        there[path] = std::move(entry);
      }
    }
    return true;
  }

  // Empty: the name is as in `right`.
  std::string difference(const std::string& path, const Owned* right, const std::map<std::string, NfsEntry>& there) {
    const auto found = there.find(path);
    if (right == nullptr) return found == there.end() ? "" : path + " is there, and should not be";
    if (found == there.end()) return path + " is lost";
    const clients::NfsAttributes& attr = *found->second.attr;
    if (attr.uid != right->uid || attr.gid != right->gid) {
      return path + " is of " + std::to_string(attr.uid) + ":" + std::to_string(attr.gid) + ", and should be of " +
             std::to_string(right->uid) + ":" + std::to_string(right->gid);
    }
    if (attr.size == 0 && right->content.size_max() == 0) return {};
    const NfsReply content = client_->read_all(found->second.handle);
    if (!content.ok()) return "READ of " + path + ": " + content.text();
    const std::string different = right->content.difference(content.data);
    return different.empty() ? "" : path + ": " + different;
  }
  const Owned* promised_at(const std::string& path) const {
    const auto it = owned_.find(path);
    return it == owned_.end() ? nullptr : &it->second;
  }

  // The interrupted call happened wholly or not at all.
  void resolve_doubt(const std::map<std::string, NfsEntry>& there) {
    std::string before_why, after_why;
    for (const auto& [path, after] : after_) {
      if (before_why.empty()) before_why = difference(path, promised_at(path), there);
      if (after_why.empty()) after_why = difference(path, after ? &*after : nullptr, there);
    }
    if (!before_why.empty() && !after_why.empty())
      problem("an operation was done by half: neither the state before (" + before_why + ") nor after (" + after_why +
              ")");
    if (before_why.empty()) return after_.clear();
    for (auto& [path, after] : after_) {
      const auto found = there.find(path);
      if (after && !after->content.certain() && found != there.end()) {
        after->content = ExpectedFile(client_->read_all(found->second.handle).data);
      }
      put(path, after);
      if (after && found != there.end()) handles_[path] = found->second.handle;
    }
    after_.clear();
  }

  void compare_files(const std::map<std::string, NfsEntry>& there) {
    for (const auto& [path, file] : owned_) {
      const std::string different = difference(path, &file, there);
      if (!different.empty()) {
        problem(different);
      } else if (there.at(path).handle != handles_[path]) {
        problem(path + " has another handle than before");
      }
    }
    for (const auto& [path, entry] : there) {
      if (!owned_.contains(path)) problem(path + " appeared from nowhere");
    }
  }

  void compare_counting(const std::string& place) {
    Json quota;
    if (!run({"quota", "get", path_of(place)}, &quota)) return problem("the server does not answer");
    Use right{0, 0};
    for (const auto& [path, file] : owned_) {
      if (!is_below(path, place)) continue;
      right.bytes += use_of(file).bytes;
      right.files += 1;
    }
    const Use used{quota["usage"]["bytes"].get<std::int64_t>(), quota["usage"]["files"].get<std::int64_t>()};
    if (used != right) problem(place + " holds " + text_of(right) + ", and " + text_of(used) + " are counted");
    Counting& counting = counting_[place];
    const bool on = quota["counts_owners"].get<bool>();
    const bool may_be_done = admin_doubt_ && admin_doubt_->place == place && admin_doubt_->after.on == on;
    if (may_be_done && on != counting.on) counting = admin_doubt_->after;
    if (on != counting.on) problem(place + (on ? " counts users, and should not" : " does not count users any more"));
    counting.exact = false;
    if (!on) return;
    if (may_be_done && limits_are(place, admin_doubt_->after.limits)) counting.limits = admin_doubt_->after.limits;
    look(place);
  }

  bool limits_are(const std::string& place, const Limits& wanted) {
    for (const auto& [whose, limit] : wanted) {
      Json quota;
      if (!run({"quota", "get", path_of(place), whose.group ? "--group" : "--user", std::to_string(whose.id)}, &quota))
        return false;
      const auto is = [&](const char* name, const std::optional<std::int64_t>& number) {
        const Json& value = quota["limits"][name];
        return number ? value == *number : value.is_null();
      };
      if (!is("bytes", limit.bytes) || !is("files", limit.files)) return false;
    }
    return true;
  }

  std::vector<std::string> cli_;
  std::unique_ptr<NfsClient> client_;
  std::map<std::string, NfsHandle> folders_;
  Files owned_;
  Change after_;  // effect of the call in progress
  std::map<std::string, Counting> counting_;
  std::optional<AdminChange> admin_doubt_;
  std::uint64_t names_ = 0, died_counting_ = 0, denials_ = 0, looks_ = 0;
};

}  // namespace

std::unique_ptr<Worker> make_owner_worker(int number, std::uint64_t seed) {
  return std::make_unique<OwnerWorker>("owners-" + std::to_string(number), seed);
}

}  // namespace stoa::crash
