// The handles of stoa.h.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "frontends/native/lib/fork_child.h"
#include "frontends/native/lib/library_file_system.h"
#include "frontends/native/lib/renewable_mutex.h"
#include "frontends/native/lib/stoa.h"

struct stoa_fs final : stoa::native::lib::ForkChild {
  stoa_fs(stoa::native::lib::LibraryOptions wanted, std::unique_ptr<stoa::native::lib::LibraryFileSystem> made)
      : options(std::move(wanted)), session_(made.release()) {}
  ~stoa_fs() override { delete session_.load(); }

  // Connects first, in a child of fork(2).
  stoa::Result<stoa::native::lib::LibraryFileSystem*> session();
  // Null: a child of fork(2) that has not used it.
  stoa::native::lib::LibraryFileSystem* session_here() const { return session_.load(); }
  // The session of the parent has no threads here, and its end would end it for the parent: it is left alone.
  void in_child() override {
    mutex_.renew();
    session_ = nullptr;
  }

  const stoa::native::lib::LibraryOptions options;

 private:
  stoa::native::lib::RenewableMutex mutex_;  // held while a child connects
  std::atomic<stoa::native::lib::LibraryFileSystem*> session_;
};

struct stoa_file final : stoa::native::lib::ForkChild {
  stoa_file(stoa_fs& of, stoa::core::FileId file, stoa::native::OpenNumber number, int open_flags)
      : fs(of), id(file), flags(open_flags), open_(number) {}

  // The server's number for it. In a child of fork(2): opens it again first.
  stoa::Result<stoa::native::OpenNumber> open(stoa::native::lib::LibraryFileSystem& session);
  bool reads() const;
  bool writes() const;
  void in_child() override {
    mutex.renew();
    open_mutex_.renew();
    open_ = 0;
    range_locks = whole_lock = false;
  }
  // What there is to close; 0: nothing was opened in this process.
  stoa::native::OpenNumber open_here() const { return open_; }

  stoa_fs& fs;
  const stoa::core::FileId id;
  const int flags;
  stoa::native::lib::RenewableMutex mutex;  // guards position; held during a read or write that moves it
  std::uint64_t position = 0;
  // Whether it may hold locks: to be given up with the close.
  std::atomic<bool> range_locks{false}, whole_lock{false};

 private:
  stoa::native::lib::RenewableMutex open_mutex_;  // held while a child opens it again
  std::atomic<stoa::native::OpenNumber> open_;
};

struct stoa_dir final : stoa::native::lib::ForkChild {
  struct Piece {
    std::vector<stoa::core::DirectoryEntry> entries;
    std::size_t next = 0;
    bool last = false;  // nothing is behind it
  };
  stoa_dir(stoa_fs& of, stoa::core::FileId directory) : fs(of), id(directory) {}
  void in_child() override {
    mutex.renew();
    (void)piece.release();  // a thread of the parent may have been changing it
  }

  stoa_fs& fs;
  const stoa::core::FileId id;
  stoa::native::lib::RenewableMutex mutex;  // guards all below; held while a piece is fetched
  std::uint64_t cookie = 0;                 // of the last entry that was told
  std::unique_ptr<Piece> piece;
};
