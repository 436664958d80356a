// One large directory, where versions 3 and 4 create, rename and remove while both list it: no entry is lost, none
// comes twice. STOA_CHURN_FILES (5000) is how many entries remain.
#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <optional>
#include <thread>

#include "tests/frontends/nfs/protocol_fixture.h"
#include "tests/frontends/nfs/v4_protocol/compound_caller.h"

namespace stoa::test {
namespace {

constexpr std::size_t kWriters = 16;

std::size_t files_wanted() {
  const char* wanted = std::getenv("STOA_CHURN_FILES");
  return wanted != nullptr ? std::strtoul(wanted, nullptr, 10) : 5000;
}

// The names that a file may have in the course of time.
constexpr std::array<std::string_view, 3> kSuffixes{"", ".moved", ".new"};
using Variants = std::array<bool, kSuffixes.size()>;

std::string name_of(std::size_t writer, std::size_t number, std::string_view suffix = {}) {
  return std::to_string(writer).append(".").append(std::to_string(number)).append(suffix);
}

struct ParsedName {
  std::size_t writer = 0, number = 0, variant = 0;
};
std::optional<ParsedName> parse(std::string_view name) {
  ParsedName parsed;
  const char* const end = name.data() + name.size();
  const auto writer = std::from_chars(name.data(), end, parsed.writer);
  if (writer.ec != std::errc{} || writer.ptr == end || *writer.ptr != '.' || parsed.writer >= kWriters)
    return std::nullopt;
  const auto number = std::from_chars(writer.ptr + 1, end, parsed.number);
  const auto suffix = std::ranges::find(kSuffixes, std::string_view(number.ptr, end));
  if (number.ec != std::errc{} || suffix == kSuffixes.end()) return std::nullopt;
  parsed.variant = static_cast<std::size_t>(suffix - kSuffixes.begin());
  return parsed;
}

// The fate of number i: it stays, gets another name, goes, or is replaced by another file.
enum class Fate { kStays, kMoves, kGoes, kReplaced };
Fate fate_of(std::size_t number) {
  return static_cast<Fate>(number % 4);
}

class Writer {
 public:
  virtual ~Writer() = default;
  virtual bool create(const std::string& name) = 0;
  virtual bool rename(const std::string& from, const std::string& to) = 0;
  virtual bool remove(const std::string& name) = 0;
};

class Version3 final : public Writer {
 public:
  Version3(std::uint16_t port) : nfs_(port), root_(*nfs_.mount("/test")) {}
  bool create(const std::string& name) override { return nfs_.create_call(root_, name, 1).ok(); }
  bool rename(const std::string& from, const std::string& to) override {
    return nfs_.rename_call(root_, from, root_, to).ok();
  }
  bool remove(const std::string& name) override { return nfs_.named(kRemove, root_, name).ok(); }

 private:
  NfsCaller nfs_;
  const Handle root_;
};

class Version4 final : public Writer {
 public:
  Version4(std::uint16_t port, std::string owner) : nfs_(port, std::move(owner)) {
    nfs_.connect();
    root_ = nfs_.handle_of({"test"});
  }
  bool create(const std::string& name) override {
    Ops ops;
    ops.putfh(root_)
        .op(18)
        .u32(0)
        .u32(3)
        .u32(0)
        .u64(nfs_.client)
        .string("o")
        .u32(1)
        .u32(1)
        .u32(0)
        .u32(0)
        .u32(0)
        .string(name);
    return nfs_.call(ops.op(4).u32(0).u32(1).fixed(Bytes(12))).ok();
  }
  bool rename(const std::string& from, const std::string& to) override {
    return nfs_.call(Ops().putfh(root_).op(32).op(29).string(from).string(to)).ok();
  }
  bool remove(const std::string& name) override { return nfs_.call(Ops().putfh(root_).op(28).string(name)).ok(); }

 private:
  CompoundCaller nfs_;
  Bytes root_;
};

using Names = std::vector<std::string>;

Names list_plus(NfsCaller& nfs, const Handle& root) {
  Names all;
  std::uint64_t cookie = 0, verifier = 0;
  for (;;) {
    const WireListing page = nfs.readdirplus(root, cookie, verifier, 8192, 32768);
    if (page.status != NfsStatus::kOk || (page.entries.empty() && !page.end)) return {"error"};
    for (const WireEntry& entry : page.entries) all.push_back(entry.name);
    if (page.end) return all;
    cookie = page.entries.back().cookie;
    verifier = page.verifier;
  }
}

Names list_v4(CompoundCaller& nfs, const Bytes& root) {
  Names all;
  std::uint64_t cookie = 0, verifier = 0;
  for (;;) {
    // With type and fileid of each entry; too long a reply to be kept for a retry.
    auto page = nfs.send(Ops()
                             .sequence(nfs.session, nfs.sequence++, 0, false)
                             .putfh(root)
                             .op(26)
                             .u64(cookie)
                             .u64(verifier)
                             .u32(8192)
                             .u32(32768)
                             .u32(1)
                             .u32(1 << 1 | 1 << 20));
    if (!page.ok()) return {"error"};
    page.skip_sequence();
    page.next(22);
    page.next(26);
    verifier = page.in.u64();
    bool some = false;
    while (page.in.boolean()) {
      some = true;
      cookie = page.in.u64();
      all.emplace_back(page.in.string(255));
      for (std::uint32_t words = page.in.u32(); words > 0; --words) page.in.u32();
      page.in.opaque(1024);
    }
    if (page.in.boolean()) break;
    if (!some || !page.in.ok()) return {"error"};
  }
  std::erase_if(all, [](const std::string& name) { return name == "." || name == ".."; });
  return all;
}

class ChurnTest : public ProtocolTest {
 protected:
  ChurnTest() : ProtocolTest(Store::kDisk) {
    publish("test", {anyone()});
    start_protocol();
    for (auto& count : done) count = 0;
  }

  // Changes before the listing began must show in it; later ones may.
  void check(const Names& listed, const std::array<std::size_t, kWriters>& before) {
    const auto wrong = [this](std::string_view name, std::string_view what) {
      ADD_FAILURE() << name << what;
      failed = true;
    };
    if (listed == Names{"error"}) return wrong("the directory", " cannot be listed");
    std::array<std::vector<Variants>, kWriters> seen;
    for (auto& variants : seen) variants.resize(each);
    for (const std::string& name : listed) {
      if (name == "." || name == "..") continue;
      const auto parsed = parse(name);
      if (!parsed || parsed->number >= each) return wrong(name, " was never made");
      bool& here = seen[parsed->writer][parsed->number][parsed->variant];
      if (here) return wrong(name, " comes twice");
      here = true;
    }
    for (std::size_t writer = 0; writer < kWriters; ++writer) {
      for (std::size_t i = 0; i < before[writer]; ++i) {
        const Fate fate = fate_of(i);
        const Variants wanted{fate == Fate::kStays || fate == Fate::kReplaced, fate == Fate::kMoves, false};
        for (std::size_t variant = 0; variant < wanted.size(); ++variant) {
          if (seen[writer][i][variant] == wanted[variant]) continue;
          return wrong(name_of(writer, i, kSuffixes[variant]), wanted[variant] ? " is lost" : " is back");
        }
      }
    }
  }
  std::array<std::size_t, kWriters> progress() const {
    std::array<std::size_t, kWriters> now;
    for (std::size_t i = 0; i < kWriters; ++i) now[i] = done[i].load(std::memory_order_acquire);
    return now;
  }

  void write(Writer& writer, std::size_t number) {
    for (std::size_t i = 0; i < each && !failed; ++i) {
      const std::string name = name_of(number, i);
      bool good = writer.create(name);
      switch (fate_of(i)) {
        case Fate::kStays:
          break;
        case Fate::kMoves:
          good = good && writer.rename(name, name_of(number, i, ".moved"));
          break;
        case Fate::kGoes:
          good = good && writer.remove(name);
          break;
        case Fate::kReplaced: {
          const std::string other = name_of(number, i, ".new");
          good = good && writer.create(other) && writer.rename(other, name);
          break;
        }
      }
      EXPECT_TRUE(good) << name;
      if (!good) failed = true;
      done[number].store(i + 1, std::memory_order_release);
    }
  }
  // Again and again, but rarely enough that the writers make progress in a large directory: a hundred times in all.
  void read(const std::function<Names()>& list) {
    const auto sum = [](const std::array<std::size_t, kWriters>& counts) {
      return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
    };
    const std::size_t step = each * kWriters / 100;
    do {
      const auto before = progress();
      check(list(), before);
      while (writing > 0 && !failed && sum(progress()) < sum(before) + step) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    } while (writing > 0 && !failed);
  }

  // A quarter of all goes.
  const std::size_t each = files_wanted() * 4 / 3 / kWriters + 1;
  std::array<std::atomic<std::size_t>, kWriters> done;
  std::atomic<std::size_t> writing{kWriters};
  std::atomic<bool> failed{false};
};

TEST_F(ChurnTest, NoEntryIsLostOrComesTwice) {
  NfsCaller by_readdir(port), by_readdirplus(port);
  const Handle root = *by_readdir.mount("/test");
  CompoundCaller by_v4(port, "reader");
  by_v4.connect();
  const Bytes root_v4 = by_v4.handle_of({"test"});
  const std::vector<std::function<Names()>> lists = {[&] { return by_readdir.names(root); },
                                                     [&] { return list_plus(by_readdirplus, root); },
                                                     [&] { return list_v4(by_v4, root_v4); }};
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < kWriters; ++i) {
      threads.emplace_back([this, i] {
        std::unique_ptr<Writer> writer;
        if (i % 2 == 0) {
          writer = std::make_unique<Version3>(port);
        } else {
          writer = std::make_unique<Version4>(port, "writer " + std::to_string(i));
        }
        write(*writer, i);
        --writing;
      });
    }
    for (const auto& list : lists) threads.emplace_back([this, &list] { read(list); });
  }
  for (const auto& list : lists) {
    Names names = list();
    std::erase_if(names, [](const std::string& name) { return name == "." || name == ".."; });
    check(names, progress());
    EXPECT_EQ(names.size(), kWriters * (each - (each + 1) / 4));
  }
  const auto report = volume->check({});
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->ok()) << (report->problems.empty() ? "" : describe(report->problems.front()));
}

}  // namespace
}  // namespace stoa::test
