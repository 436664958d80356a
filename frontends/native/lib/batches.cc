// Many small files in few messages.
#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "frontends/native/lib/attributes.h"
#include "frontends/native/lib/c_result.h"
#include "frontends/native/lib/flags.h"
#include "frontends/native/lib/opening.h"
#include "frontends/native/storage/wire_values.h"

namespace stoa::native::lib {
namespace {

// One file of a batch that is still to be asked for.
struct Pending {
  std::size_t index = 0;
  Place place;
};

// Finds the directories of the paths; in most batches it is one, and is looked up once.
class Places {
 public:
  Places(LibraryFileSystem& session, const stoa_dir* at) : session_(session), at_(at) {}

  Result<Place> find(const char* path) {
    if (path == nullptr) return fail_errno(EFAULT, "no path");
    const std::string_view text = path;
    const std::size_t slash = text.rfind('/');
    const std::string_view name = slash == text.npos ? text : text.substr(slash + 1);
    const bool plain = !name.empty() && name != "." && name != "..";
    if (!plain) return find_place(session_, at_, path);
    if (slash == text.npos)
      return Place{.parent = at_ == nullptr ? session_.storage().root() : at_->id, .name = std::string(name)};
    const std::string_view directory = text.substr(0, slash + 1);
    if (text.size() > kPathBytesMax) return fail(Errc::kNameTooLong);
    if (directory != directory_) {
      STOA_TRY(place, find_place(session_, at_, path));
      directory_ = directory;
      parent_ = place.parent;
    }
    return Place{.parent = parent_, .name = std::string(name)};
  }

 private:
  LibraryFileSystem& session_;
  const stoa_dir* at_;
  std::string directory_;
  core::FileId parent_ = core::kNoFile;
};

// Names that messages make past the caches, from before the first of these until behind the last.
class NamesMade {
 public:
  NamesMade(LibraryFileSystem& session, std::span<const Pending> files) : session_(session) {
    changes_.reserve(files.size());
    try {
      for (const Pending& one : files)
        changes_.push_back(session.leases().begin_making(one.place.parent, one.place.name));
    } catch (...) {
      end();
      throw;
    }
  }
  ~NamesMade() { end(); }
  NamesMade(const NamesMade&) = delete;

 private:
  void end() {
    for (const auto& change : changes_) session_.leases().end_making(change);
  }
  LibraryFileSystem& session_;
  std::vector<std::shared_ptr<NameChange>> changes_;
};

// Whether an operation has to be in the next message, as it was not run, or had no room in the reply.
enum class Taken : std::uint8_t { kDone, kAgain };

// Sends messages until all of `pending` is answered. `add` puts the operations of one file into a message, and is false
// when it has no room. `take` gets the replies to a file whose first operation is this one.
template <class Add, class Take>
Status run_all(LibraryFileSystem& session, std::vector<Pending> pending, std::size_t operations_each, const Add& add,
               const Take& take) {
  while (!pending.empty()) {
    Batch batch;
    std::size_t count = 0;
    while (count < pending.size() && (count + 1) * operations_each <= kOperationsMax && add(batch, pending[count]))
      ++count;
    STOA_TRY(replies, session.client().call(batch, session.call_options()));
    std::vector<Pending> again;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t first = i * operations_each;
      const bool was_run = first < replies.size();
      if (!was_run || take(replies, first, pending[i]) == Taken::kAgain) again.push_back(std::move(pending[i]));
    }
    if (again.size() == count) return fail(Errc::kCorrupt, "a reply without an answer");
    again.insert(again.end(), std::make_move_iterator(pending.begin() + static_cast<std::ptrdiff_t>(count)),
                 std::make_move_iterator(pending.end()));
    pending = std::move(again);
  }
  return {};
}

// Fills in what is known before anything is sent; the rest is to be asked for.
template <class File, class Check>
std::vector<Pending> begin(LibraryFileSystem& session, const stoa_dir* at, std::span<File> files, const Check& check) {
  std::vector<Pending> pending;
  pending.reserve(files.size());
  Places places(session, at);
  for (std::size_t i = 0; i < files.size(); ++i) {
    files[i].result = -EINPROGRESS;
    Result<Place> place = places.find(files[i].path);
    const Status fine = place ? check(files[i], *place) : Status(fail(place.error()));
    if (fine) pending.push_back({i, std::move(*place)});
    if (!fine) files[i].result = negative_errno(fine.error());
  }
  return pending;
}

std::int64_t size_read(const stoa_small_read& file, std::uint64_t size) {
  return size > file.bytes ? -EOVERFLOW : static_cast<std::int64_t>(size);
}

// One whose name is a symbolic link, or that ends with a slash: by itself.
Result<std::int64_t> read_alone(LibraryFileSystem& session, const Place& place, const stoa_small_read& file) {
  STOA_TRY(attr, find_in(session, place, true));
  if (attr.type == core::FileType::kDirectory) return fail(Errc::kIsDirectory);
  STOA_CHECK_OK(may_read(session, attr, O_RDONLY));
  const std::span<std::byte> into(static_cast<std::byte*>(file.buffer), file.bytes);
  std::size_t done = 0;
  while (done < into.size()) {
    STOA_TRY(got, session.storage().read(session.asker(), attr.id, 0, done, into.subspan(done)));
    if (got == 0) break;
    done += got;
  }
  if (done < into.size()) return static_cast<std::int64_t>(done);
  STOA_TRY(now, session.storage().getattr(session.asker(), attr.id));
  return size_read(file, now.size);
}

Taken take_read(LibraryFileSystem& session, const Replies& replies, std::size_t first, const Pending& pending,
                stoa_small_read& file) {
  const auto alone = [&] {
    const auto read = read_alone(session, pending.place, file);
    file.result = read ? *read : negative_errno(read.error());
    return Taken::kDone;
  };
  const auto found = replies.get<operations::lookup>(first);
  if (!found) {
    file.result = negative_errno(found.error());
    return Taken::kDone;
  }
  if (found->attr.type == native::kSymlink) return alone();
  const auto access = replies.get<operations::access>(first + 1);
  const Status may = !access                             ? Status(fail(access.error()))
                     : (access->granted & kMayRead) == 0 ? Status(fail(Errc::kAccess))
                                                         : Status{};
  if (!may) {
    file.result = negative_errno(may.error());
    return Taken::kDone;
  }
  const auto read = replies.get<operations::read>(first + 2);
  if (!read) {
    // The reply had no room left for any of it.
    const bool was_full = first != 0 && read.error().code == Errc::kTooLarge;
    if (was_full) return Taken::kAgain;
    file.result = negative_errno(read.error());
    return Taken::kDone;
  }
  const auto attr = from_wire(read->attr);
  if (!attr) {
    file.result = negative_errno(attr.error());
    return Taken::kDone;
  }
  const auto data = replies.data(first + 2);
  const bool whole = data.size() >= std::min<std::uint64_t>(attr->size, file.bytes);
  if (!whole) return first == 0 ? alone() : Taken::kAgain;
  if (!data.empty()) std::memcpy(file.buffer, data.data(), std::min(data.size(), file.bytes));
  file.result = size_read(file, attr->size);
  return Taken::kDone;
}

Taken take_stat(LibraryFileSystem& session, const Replies& replies, std::size_t first, const Pending& pending,
                bool follow, stoa_small_stat& file) {
  const auto put = [&](const Result<core::Attributes>& attr) {
    file.result = attr ? 0 : negative_errno(attr.error());
    if (attr) file.attributes = to_c(*attr);
    return Taken::kDone;
  };
  const auto found = replies.get<operations::lookup>(first);
  if (!found) return put(fail(found.error()));
  if (found->attr.type == native::kSymlink && follow) return put(find_in(session, pending.place, true));
  const auto attr = from_wire(found->attr);
  return put(attr ? Result<core::Attributes>(session.storage().shown(*attr)) : attr);
}

}  // namespace
}  // namespace stoa::native::lib

using namespace stoa;               // NOLINT: the calls of stoa.h have no namespace of their own
using namespace stoa::native::lib;  // NOLINT

int stoa_read_files(stoa_fs* fs, stoa_dir* at, stoa_small_read* files, size_t count) {
  return c_status([&]() -> Status {
    STOA_TRY(session, fs->session());
    session->storage().send_unsent();
    auto pending =
        begin(*session, at, std::span(files, count), [&](stoa_small_read& file, const Place& place) -> Status {
          if (file.bytes > native::kPayloadBytesMax) return fail(Errc::kTooLarge);
          if (!place.name.empty() && !place.must_be_directory) return {};
          const auto read = read_alone(*session, place, file);
          return fail(read ? Error{.code = Errc::kNotDirectory} : read.error());
        });
    return run_all(
        *session, std::move(pending), 3,
        [&](native::Batch& batch, const Pending& one) {
          const auto found = batch.add<native::operations::lookup>(
              {.parent = native::wire_file(one.place.parent), .name = one.place.name});
          batch.add<native::operations::access>({.file = native::result_of(found), .wanted = native::kMayRead});
          batch.add<native::operations::read>(
              {.file = native::result_of(found), .length = static_cast<native::U32>(files[one.index].bytes)});
          return true;
        },
        [&](const native::Replies& replies, std::size_t first, const Pending& one) {
          return take_read(*session, replies, first, one, files[one.index]);
        });
  });
}

int stoa_write_files(stoa_fs* fs, stoa_dir* at, stoa_small_write* files, size_t count) {
  return c_status([&]() -> Status {
    STOA_TRY(session, fs->session());
    auto pending =
        begin(*session, at, std::span(files, count), [&](stoa_small_write& file, const Place& place) -> Status {
          if (file.bytes > native::kPayloadBytesMax) return fail(Errc::kTooLarge);
          if (file.spare != 0 || (file.mode & ~07777u) != 0) return fail(Errc::kInvalid);
          if (place.name.empty()) return fail(Errc::kExists);
          if (place.must_be_directory) return fail(Errc::kIsDirectory);
          return {};
        });
    const NamesMade made_past(*session, pending);
    return run_all(
        *session, std::move(pending), 1,
        [&](native::Batch& batch, const Pending& one) {
          const stoa_small_write& file = files[one.index];
          if (batch.payload().size() + file.bytes > native::kPayloadBytesMax) return false;
          batch.add_with<native::operations::create_filled>(
              {.parent = native::wire_file(one.place.parent),
               .mode = native::wire_create_mode(core::CreateMode::kGuarded),
               .set = native::to_settings({.mode = file.mode}),
               .name = one.place.name},
              {static_cast<const std::byte*>(file.data), file.bytes});
          return true;
        },
        [&](const native::Replies& replies, std::size_t first, const Pending& one) {
          const auto made = replies.get<native::operations::create_filled>(first);
          files[one.index].result = made ? 0 : negative_errno(made.error());
          return Taken::kDone;
        });
  });
}

int stoa_stat_many(stoa_fs* fs, stoa_dir* at, stoa_small_stat* files, size_t count, uint32_t flags) {
  return c_status([&]() -> Status {
    STOA_CHECK_OK(only(flags, STOA_NOFOLLOW));
    STOA_TRY(session, fs->session());
    auto pending =
        begin(*session, at, std::span(files, count), [&](stoa_small_stat& file, const Place& place) -> Status {
          if (!place.name.empty() && !place.must_be_directory) return {};
          STOA_TRY(attr, find_in(*session, place, true));
          file.attributes = to_c(attr);
          file.result = 0;
          return {};
        });
    // Those that are answered already are asked for no more.
    std::erase_if(pending, [&](const Pending& one) { return files[one.index].result == 0; });
    return run_all(
        *session, std::move(pending), 1,
        [&](native::Batch& batch, const Pending& one) {
          batch.add<native::operations::lookup>(
              {.parent = native::wire_file(one.place.parent), .name = one.place.name});
          return true;
        },
        [&](const native::Replies& replies, std::size_t first, const Pending& one) {
          return take_stat(*session, replies, first, one, follows(flags), files[one.index]);
        });
  });
}
