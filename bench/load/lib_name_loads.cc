#include <array>
#include <memory>

#include "bench/load/block_stamp.h"
#include "bench/load/file_names.h"
#include "bench/load/lib_loads.h"
#include "bench/load/threads.h"

namespace stoa::bench {
namespace {

constexpr std::size_t kSmallBytes = 4096;
using Content = std::array<char, kSmallBytes>;

// Which of the prepared files: operation `index` of a thread.
std::uint64_t chosen(const LibOptions& options, unsigned thread, std::uint64_t index) {
  return mix(options.seed + (std::uint64_t{thread} << 40) + index) % options.files;
}

// Calls of so many operations each.
ThreadPlan plan_of(const LibOptions& options, unsigned each) {
  return {
      .threads = options.connections, .calls = options.count / options.connections / each, .seconds = options.seconds};
}

std::vector<std::string> all_names(const LibOptions& options) {
  std::vector<std::string> names;
  for (std::uint64_t i = 0; i < options.files; ++i) names.push_back(small_file_name(i));
  return names;
}

Tried check_content(const char* content, std::int64_t result, const char* call) {
  if (result < 0) return std::unexpected(lib_failure(call, result));
  if (result != static_cast<std::int64_t>(kSmallBytes)) return std::unexpected("wrong size");
  if (!is_stamped(content, kSmallBytes, 0)) return std::unexpected("wrong bytes");
  return Finished{};
}

// A ring of each thread that is kept full: a call takes what is done, at least one, and starts as many again.
class RingThreads {
 public:
  // Prepares operation `index` of the thread in a place of the ring, or tells what was wrong with its result.
  using Prepare = std::function<int(unsigned thread, stoa_ring* ring, unsigned place, std::uint64_t index)>;
  using Check = std::function<Tried(unsigned thread, unsigned place, std::int64_t result)>;

  RingThreads(const LibOptions& options, const LibSession& session, Prepare prepare, Check check)
      : prepare_(std::move(prepare)), check_(std::move(check)) {
    for (unsigned i = 0; i < options.connections; ++i) {
      seats_.push_back({.ring = session.ring(options.inflight), .free = {}, .next = 0});
      for (unsigned place = 0; place < options.inflight; ++place) seats_.back().free.push_back(place);
    }
  }

  Tried turn(unsigned thread) {
    Seat& seat = seats_[thread];
    for (const unsigned place : seat.free) {
      if (const int result = prepare_(thread, seat.ring.get(), place, seat.next++); result != 0)
        return std::unexpected(lib_failure("stoa_ring_prepare", result));
    }
    seat.free.clear();
    if (const int result = stoa_ring_submit(seat.ring.get()); result < 0)
      return std::unexpected(lib_failure("stoa_ring_submit", result));
    std::array<stoa_completion, 64> done;
    const int got = stoa_ring_wait(seat.ring.get(), done.data(), done.size(), 1, -1);
    if (got < 0) return std::unexpected(lib_failure("stoa_ring_wait", got));
    Tried tried = Finished{.operations = static_cast<std::uint64_t>(got)};
    for (int i = 0; i < got; ++i) {
      const auto place = static_cast<unsigned>(done[i].tag);
      seat.free.push_back(place);
      if (const Tried one = check_(thread, place, done[i].result); !one) tried = one;
    }
    return tried;
  }

 private:
  struct Seat {
    LibRing ring;
    std::vector<unsigned> free;  // places without an operation
    std::uint64_t next;
  };
  const Prepare prepare_;
  const Check check_;
  std::vector<Seat> seats_;
};

}  // namespace

void stat_by_name(const LibOptions& options, const LibSession& session, Outcome& outcome) {
  const LibDirectory dir = session.prepared_files(options.files, kSmallBytes);
  const auto names = all_names(options);
  outcome.begin();
  run_threads(
      plan_of(options, options.inflight),
      [&](unsigned thread, std::uint64_t index) -> Tried {
        std::vector<stoa_small_stat> files(options.inflight);
        for (unsigned i = 0; i < options.inflight; ++i)
          files[i].path = names[chosen(options, thread, index * options.inflight + i)].c_str();
        if (const int result = stoa_stat_many(session.get(), dir.get(), files.data(), files.size(), 0); result != 0)
          return std::unexpected(lib_failure("stoa_stat_many", result));
        for (const stoa_small_stat& file : files) {
          if (file.result != 0) return std::unexpected(lib_failure("stoa_stat_many", file.result));
          if (file.attributes.size != kSmallBytes) return std::unexpected("wrong size");
        }
        return Finished{.operations = files.size()};
      },
      outcome);
  outcome.end();
}

void stat_by_ring(const LibOptions& options, const LibSession& session, Outcome& outcome) {
  const LibDirectory dir = session.prepared_files(options.files, kSmallBytes);
  const auto names = all_names(options);
  std::vector<std::vector<stoa_attributes>> attributes(options.connections,
                                                       std::vector<stoa_attributes>(options.inflight));
  RingThreads rings(
      options, session,
      [&](unsigned thread, stoa_ring* ring, unsigned place, std::uint64_t index) {
        return stoa_ring_prepare_stat(ring, dir.get(), names[chosen(options, thread, index)].c_str(),
                                      &attributes[thread][place], place);
      },
      [&](unsigned thread, unsigned place, std::int64_t result) -> Tried {
        if (result < 0) return std::unexpected(lib_failure("stoa_ring_prepare_stat", result));
        if (attributes[thread][place].size != kSmallBytes) return std::unexpected("wrong size");
        return Finished{};
      });
  outcome.begin();
  run_threads(
      plan_of(options, options.inflight), [&](unsigned thread, std::uint64_t) { return rings.turn(thread); }, outcome);
  outcome.end();
}

void read_by_ring(const LibOptions& options, const LibSession& session, Outcome& outcome) {
  const LibDirectory dir = session.prepared_files(options.files, kSmallBytes);
  const auto names = all_names(options);
  std::vector<std::vector<Content>> content(options.connections, std::vector<Content>(options.inflight));
  RingThreads rings(
      options, session,
      [&](unsigned thread, stoa_ring* ring, unsigned place, std::uint64_t index) {
        return stoa_ring_prepare_read_file(ring, dir.get(), names[chosen(options, thread, index)].c_str(),
                                           content[thread][place].data(), kSmallBytes, place);
      },
      [&](unsigned thread, unsigned place, std::int64_t result) {
        return check_content(content[thread][place].data(), result, "stoa_ring_prepare_read_file");
      });
  outcome.begin();
  run_threads(
      plan_of(options, options.inflight), [&](unsigned thread, std::uint64_t) { return rings.turn(thread); }, outcome);
  outcome.end();
}

void read_by_name(const LibOptions& options, const LibSession& session, Outcome& outcome) {
  const LibDirectory dir = session.prepared_files(options.files, kSmallBytes);
  const auto names = all_names(options);
  std::vector<std::vector<Content>> content(options.connections, std::vector<Content>(options.inflight));
  outcome.begin();
  run_threads(
      plan_of(options, options.inflight),
      [&](unsigned thread, std::uint64_t index) -> Tried {
        std::vector<stoa_small_read> files(options.inflight);
        for (unsigned i = 0; i < options.inflight; ++i) {
          files[i] = {.path = names[chosen(options, thread, index * options.inflight + i)].c_str(),
                      .buffer = content[thread][i].data(),
                      .bytes = kSmallBytes,
                      .result = 0};
        }
        if (const int result = stoa_read_files(session.get(), dir.get(), files.data(), files.size()); result != 0)
          return std::unexpected(lib_failure("stoa_read_files", result));
        for (unsigned i = 0; i < options.inflight; ++i) {
          const Tried one = check_content(content[thread][i].data(), files[i].result, "stoa_read_files");
          if (!one) return one;
        }
        return Finished{.operations = files.size(), .bytes = files.size() * kSmallBytes};
      },
      outcome);
  outcome.end();
}

void create_durably(const LibOptions& options, const LibSession& session, Outcome& outcome) {
  const std::string name = "run-lib-" + options.load + "-" + options.tag;
  session.make_directory(name);
  const LibDirectory dir = session.directory(name);
  Content content{};
  stamp(content.data(), content.size(), 0);
  outcome.begin();
  run_threads(
      plan_of(options, options.inflight),
      [&](unsigned thread, std::uint64_t index) -> Tried {
        std::vector<std::string> names;
        for (unsigned i = 0; i < options.inflight; ++i)
          names.push_back("t" + std::to_string(thread) + "-" + std::to_string(index * options.inflight + i));
        std::vector<stoa_small_write> files(options.inflight);
        for (unsigned i = 0; i < options.inflight; ++i) {
          files[i] = {.path = names[i].c_str(),
                      .data = content.data(),
                      .bytes = content.size(),
                      .mode = 0644,
                      .spare = 0,
                      .result = 0};
        }
        if (const int result = stoa_write_files(session.get(), dir.get(), files.data(), files.size()); result != 0)
          return std::unexpected(lib_failure("stoa_write_files", result));
        for (const stoa_small_write& file : files) {
          if (file.result != 0) return std::unexpected(lib_failure("stoa_write_files", file.result));
        }
        return Finished{.operations = files.size(), .bytes = files.size() * kSmallBytes};
      },
      outcome);
  outcome.end();
}

}  // namespace stoa::bench
