// A disk that fills up with small and large files, through every protocol. Growth is refused with an error, nothing
// that was acknowledged is lost, removals work, a start works, and all is well again when there is room.
#include <atomic>
#include <chrono>
#include <set>
#include <thread>

#include "tests/torture/small_disk.h"
#include "tests/torture/together.h"

namespace stoa::torture {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::uint64_t kMiB = 1u << 20;
constexpr std::uint64_t kThingsMax = 1500;  // of one filler

// Makes one kind of object until there is no room, and records those that were acknowledged.
class Filler {
 public:
  enum class Kind : std::uint8_t {
    kSymlinks,
    kEmptyFiles,
    kDirectories,
    kAttributes,
    kSmallFiles,
    kLargeFiles,
    kSmallObjects
  };
  static constexpr Kind kKinds[] = {Kind::kSymlinks,   Kind::kEmptyFiles, Kind::kDirectories, Kind::kAttributes,
                                    Kind::kSmallFiles, Kind::kLargeFiles, Kind::kSmallObjects};

  Filler(Kind kind, std::uint64_t seed) : kind_(kind), random_(seed) {
    version_ = kind == Kind::kSmallObjects ? Version::kS3
               : kind == Kind::kAttributes ? Version::kNfs42
                                           : kVersions[random_.below(4)];
    name_ = "fill" + std::to_string(static_cast<int>(kind)) + "." + std::to_string(random_.below(1000)) + ".";
  }

  // Until it gets *no space*, a few times over, or `over`.
  Status fill(const clients::ServerProcess& server, const std::atomic<bool>& over) {
    const auto protocol = connect(version_, server, name_);
    if (protocol == nullptr) return broken(story() + "the server cannot be reached any more");
    int refused = 0;
    for (std::uint64_t i = 0; i < kThingsMax && refused < 20 && !over; ++i) {
      const std::string name = name_ + std::to_string(made_++);
      const Answer answer = make(*protocol, name);
      switch (answer.said) {
        case Said::kOk:
          there_.insert(name);
          break;
        case Said::kNoRoom:
          ++refused;
          break;
        case Said::kBusy:
          break;
        case Said::kLost:
          return broken(story() + "after " + std::to_string(there_.size()) + " of them the server is gone");
        default:
          return broken(story() + "is answered by " + answer.text);
      }
    }
    return {};
  }

  // Some of them go; each removal must be done.
  Status remove_some(const clients::ServerProcess& server, std::size_t count) {
    const auto protocol = connect(version_, server, name_);
    if (protocol == nullptr) return broken(story() + "the server cannot be reached any more");
    for (; count > 0 && !there_.empty(); --count) {
      const std::string name = *there_.begin();
      const Answer answer = kind_ == Kind::kDirectories ? protocol->remove_directory(name) : protocol->remove(name);
      if (!answer.ok())
        return broken(story() + "on the full disk the removal of " + name + " is answered by " + answer.text);
      there_.erase(name);
    }
    return {};
  }

  // All that were acknowledged are among these names.
  Status verify(const std::set<std::string>& names) const {
    for (const std::string& name : there_) {
      if (!names.contains(name)) return broken(story() + name + " was acknowledged and is gone");
    }
    return {};
  }

 private:
  std::string story() const {
    constexpr const char* kNames[] = {"symlinks",    "empty files", "directories",  "extended attributes",
                                      "small files", "large files", "small objects"};
    return std::string(kNames[static_cast<std::size_t>(kind_)]) + " over " + std::string(name_of(version_)) + ": ";
  }
  std::string any_text(std::size_t length) {
    std::string text = random_.bytes(length);
    for (char& c : text) c = static_cast<char>('a' + (c & 15));
    return text;
  }
  Answer make(Protocol& protocol, const std::string& name) {
    switch (kind_) {
      case Kind::kSymlinks:
        return protocol.make_symlink(
            name, any_text(1000 + random_.below(2500)));  // libnfs encodes a call into 4 KiB, the target included
      case Kind::kEmptyFiles:
        return protocol.make(name);
      case Kind::kDirectories:
        return protocol.make_directory(name);
      case Kind::kSmallObjects:
        return protocol.replace(name, random_.bytes(random_.below(16'000)));
      case Kind::kAttributes: {
        const Answer made = protocol.make(name);
        return made.ok() ? protocol.set_attribute(name, "color", random_.bytes(10'000 + random_.below(20'000))) : made;
      }
      case Kind::kSmallFiles:
      case Kind::kLargeFiles: {
        const Answer made = protocol.make(name);
        const std::uint64_t size =
            kind_ == Kind::kSmallFiles ? 1 + random_.below(16'000) : 1 + random_.below(kCallBytesMax);
        return made.ok() ? protocol.write(name, 0, random_.bytes(size), true) : made;
      }
    }
    return {};
  }

  const Kind kind_;
  model::Random random_;
  Version version_;
  std::string name_;
  std::uint64_t made_ = 0;
  std::set<std::string> there_;
};

Status verify_all(const clients::ServerProcess& server, Together& clients, const std::vector<Filler>& fillers) {
  STOA_CHECK_OK(clients.verify());
  std::string why;
  const auto nfs = clients::NfsClient::connect(server.nfs(), 0, &why);
  if (nfs == nullptr) return broken(why);
  std::set<std::string> names;
  for (const auto& entry : nfs->list(nfs->root()).entries) names.insert(entry.name);
  for (const Filler& filler : fillers) STOA_CHECK_OK(filler.verify(names));
  return {};
}

// All fillers at once, beside clients with other operations.
Status fill_up(const clients::ServerProcess& server, Together& clients, std::vector<Filler>& fillers) {
  std::atomic<bool> over{false};
  std::vector<Status> ended(fillers.size());
  Status worked;
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < fillers.size(); ++i) {
      threads.emplace_back([&, i] {
        ended[i] = fillers[i].fill(server, over);
        if (!ended[i]) over = true;
      });
    }
    worked = clients.work(100);
  }
  for (const Status& status : ended) STOA_CHECK_OK(status);
  return worked;
}

// Writing works again without help, soon.
Status comes_back(Together& clients, const clients::ServerProcess& server) {
  const auto protocol = connect(Version::kNfs41, server, "back");
  if (protocol == nullptr) return broken("the server cannot be reached any more");
  Answer answer;
  for (const auto deadline = Clock::now() + kPatience; !answer.ok() && Clock::now() < deadline;) {
    answer = protocol->make("back");
    if (answer.ok()) answer = protocol->write("back", 0, std::string(100'000, 'x'), true);
  }
  if (!answer.ok()) return broken("there is room again, and a write is still answered by " + answer.text);
  clients.set_disks(Disks::kSound);
  return clients.work(200);
}

}  // namespace

Status full_disk(Run& run) {
  STOA_TRY(disk, SmallDisk::make(run.folder, 768 * kMiB));
  const auto data = disk->root() / "data";
  Together clients(2, run);
  STOA_TRY(server, run.start(data));
  clients.attach(*server);
  STOA_CHECK_OK(clients.work(200));

  STOA_CHECK_OK(disk->crowd((4 + run.random.below(16)) * kMiB));
  clients.set_disks(Disks::kFull);
  std::vector<Filler> fillers;
  // One that eats the metadata's room fast, beside others.
  constexpr Filler::Kind kEaters[] = {Filler::Kind::kSymlinks, Filler::Kind::kAttributes, Filler::Kind::kSmallFiles,
                                      Filler::Kind::kSmallObjects};
  fillers.emplace_back(run.random.pick(kEaters), run.random.next());
  for (int i = 0; i < 2; ++i) fillers.emplace_back(run.random.pick(Filler::kKinds), run.random.next());
  const auto told = [&](const Status& status, const std::string& when) {
    return status ? status
                  : Status(broken(when + ": " + status.error().detail + "\nwhat the server said last:\n" +
                                  run.last_words(data)));
  };
  STOA_CHECK_OK(told(fill_up(*server, clients, fillers), "while the disk fills up"));
  STOA_CHECK_OK(disk->crowd(0));
  STOA_CHECK_OK(told(fill_up(*server, clients, fillers), "when somebody else has taken the last byte"));
  STOA_CHECK_OK(told(verify_all(*server, clients, fillers), "on the full disk"));

  // A start while full, in good order or after a kill.
  if (run.random.percent(50)) {
    server->stop();
  } else {
    server->kill_hard();
    clients.server_died();
  }
  STOA_CHECK_OK(told(run.check(data), "offline, on the full disk"));
  auto again = run.start(data);
  if (!again) return told(fail(again.error()), "on the full disk");
  server = std::move(*again);
  clients.attach(*server);
  STOA_CHECK_OK(told(verify_all(*server, clients, fillers), "after a start on the full disk"));
  for (Filler& filler : fillers) STOA_CHECK_OK(told(filler.remove_some(*server, 50), "on the full disk"));

  disk->relieve();
  STOA_CHECK_OK(told(comes_back(clients, *server), "when there is room again"));
  STOA_CHECK_OK(verify_all(*server, clients, fillers));
  run.operations = clients.operations();
  server->stop();
  return run.check(data);
}

}  // namespace stoa::torture
