#include <fcntl.h>

#include "bench/load/block_stamp.h"
#include "bench/load/die.h"
#include "bench/load/lib_loads.h"
#include "bench/load/threads.h"

namespace stoa::bench {
namespace {

constexpr std::size_t kPiece = 1 << 20;

void write_pieces(const LibOptions& options, stoa_file* file, Outcome& outcome) {
  std::vector<char> data(kPiece, 'x');
  const std::uint64_t pieces = options.bytes / kPiece;
  run_threads(
      {.calls = pieces},
      [&](unsigned, std::uint64_t index) -> Tried {
        stamp(data.data(), kPiece, index * kPiece);
        const std::int64_t put = stoa_pwrite(file, data.data(), kPiece, index * kPiece);
        if (put < 0) return std::unexpected(lib_failure("stoa_pwrite", put));
        if (put != static_cast<std::int64_t>(kPiece)) return std::unexpected("short write");
        if (index + 1 == pieces) {
          if (const int result = stoa_fsync(file); result != 0)
            return std::unexpected(lib_failure("stoa_fsync", result));
        }
        return Finished{.bytes = kPiece};
      },
      outcome);
}

}  // namespace

void write_file(const LibOptions& options, const LibSession& session, Outcome& outcome) {
  const LibFile file = session.file("run-lib-" + options.load + "-" + options.tag, O_WRONLY | O_CREAT | O_EXCL);
  outcome.begin();
  write_pieces(options, file.get(), outcome);
  outcome.end();
}

void read_file(const LibOptions& options, const LibSession& session, Outcome& outcome) {
  const std::string name = "prep-lib-data-" + std::to_string(options.bytes);
  if (!session.has(name + "-done")) {
    Outcome made;
    write_pieces(options, session.file(name, O_WRONLY | O_CREAT).get(), made);
    if (made.errors() > 0) die("preparing failed: " + made.first_error());
    session.make_directory(name + "-done");
  }
  const LibFile file = session.file(name, O_RDONLY);
  std::vector<char> data(kPiece);
  outcome.begin();
  run_threads(
      {.calls = options.bytes / kPiece},
      [&](unsigned, std::uint64_t index) -> Tried {
        const std::int64_t got = stoa_pread(file.get(), data.data(), kPiece, index * kPiece);
        if (got < 0) return std::unexpected(lib_failure("stoa_pread", got));
        if (got != static_cast<std::int64_t>(kPiece)) return std::unexpected("short read");
        if (!is_stamped(data.data(), kPiece, index * kPiece)) return std::unexpected("wrong bytes");
        return Finished{.bytes = kPiece};
      },
      outcome);
  outcome.end();
}

}  // namespace stoa::bench
