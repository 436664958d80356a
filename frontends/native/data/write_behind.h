// Sends what was buffered: full pieces at once, the rest after kAge, or when it is asked for.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>

#include "frontends/native/data/file_table.h"
#include "frontends/native/data/room.h"
#include "frontends/native/data/workers.h"

namespace stoa::native::data {

// Thread-safe. Locks are taken in this order: a file's mutex alone, or the queue's alone.
class WriteBehind {
 public:
  using File = std::shared_ptr<BufferedFile>;
  static constexpr std::uint64_t kUnsentMost = 32 * 1024 * 1024;       // buffered and not at the server
  static constexpr std::uint64_t kUncommittedMost = 32 * 1024 * 1024;  // at the server and not committed
  static constexpr std::size_t kFilesUncommittedMost = 4096;
  static constexpr std::uint64_t kPieceOverhead = 256;
  static constexpr std::uint64_t kSmallSync =
      256 * 1024;  // is durable with its own message; more is sent, then committed
  static constexpr std::chrono::milliseconds kAge{50};

  WriteBehind(Storage& below, Room& room, std::uint64_t unsent_most)
      : below_(below), room_(room), unsent_most_(std::min(unsent_most, kUnsentMost)) {}
  ~WriteBehind();

  // Room for bytes that are to be buffered. reserve() waits for it; EINTR: the asker gives up.
  bool try_reserve(std::uint64_t bytes);
  Status reserve(const Asker& asker, std::uint64_t bytes);
  void release(std::uint64_t bytes) { settle(bytes, 0); }
  bool any_unsent();
  // What was reserved turned out to take `bytes`: less, or, with many small gaps filled, more.
  void settle(std::uint64_t reserved, std::uint64_t bytes);

  // After bytes were added under the file's mutex.
  void added(const File& file, bool full);

  // Waits until all that was buffered before is at the server, or has failed. EINTR: the asker gives up.
  Status flush(const File& file, const Asker& asker);
  // Waits until all that was buffered before is durable. The error is recorded for the open files.
  Status commit(const File& file, const Asker& asker, OpenNumber open);
  // The same of many files. Errors are recorded.
  void flush(const FileTable::Files& files);
  // Flushes and commits many files. Errors are recorded.
  void write_back(const FileTable::Files& files);
  // The bytes that were buffered under a lease and not sent are lost.
  void lose(const File& file, std::uint64_t lease);
  // Bytes were written with the file's mutex free: under no lease, or under one.
  void wrote(const File& file, const core::Credentials& writer, const StorageWritten& written, bool durable);

  // Bytes, with what is kept beside them, that have not been sent yet.
  std::uint64_t unsent_bytes() const;

  // The server's clock behind that of this host; times are told so that they never go back.
  Timestamp now() const;

 private:
  struct Message {
    core::Credentials cred;
    std::vector<std::pair<File, std::shared_ptr<Piece>>> pieces;
    std::vector<StorageWrite> writes;
    std::uint64_t bytes = 0;
    bool durable = false;
  };
  static std::uint64_t cost(const Piece& piece) { return piece.bytes.size() + kPieceOverhead; }
  // What a program is told of bytes that it believes written.
  static Error loss_of(const Error& error);
  Asker sender(const core::Credentials& cred) const;
  void make_ready(std::span<const File> files);
  void make_ready(const File& file) { make_ready(std::span(&file, 1)); }
  void make_due(std::span<const File> files);  // they have waited long enough
  void send_jobs();
  void send_ready();  // until nothing is ready
  Message gather();
  void gather_from(const File& file, Message& message);
  void send(Message& message);
  Result<StorageWritten> send_rest(const Asker& asker, const StorageWrite& write, Result<StorageWritten> begun);
  void sent(const File& file, const std::shared_ptr<Piece>& piece, const Result<StorageWritten>& result,
            const StorageWrite& write);
  void note_written(BufferedFile& file, const core::Credentials& writer, const StorageWritten& written);
  bool sync_small(const File& file, const Asker& asker, Status& synced);
  void hurry();
  void watch_age();
  void commit_old();
  void commit_listed(const FileTable::Files& files);
  void list_uncommitted(const File& file, std::uint64_t bytes);

  Storage& below_;
  Room& room_;
  const std::uint64_t unsent_most_;
  std::atomic<bool> stopping_{false};
  std::atomic<std::int64_t> clock_ahead_ns_{0};  // of the server's clock, at most 0
  std::atomic<std::uint64_t> uncommitted_bytes_{0};

  mutable std::mutex room_mutex_;
  std::condition_variable room_made_;
  std::uint64_t unsent_ = 0;  // guarded by room_mutex_
  std::atomic<std::size_t> waiters_{0};

  std::mutex queue_mutex_;  // guards what follows
  std::condition_variable aged_;
  std::deque<File> ready_;
  std::deque<std::pair<std::chrono::steady_clock::time_point, File>> aging_;
  std::deque<File> uncommitted_;
  bool watching_ = false;

  Workers senders_{4, 64};
  Workers watcher_{1, 1};
};

}  // namespace stoa::native::data
