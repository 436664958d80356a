#include "frontends/native/data/write_behind.h"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace stoa::native::data {
namespace {

using std::chrono::steady_clock;
constexpr std::chrono::milliseconds kAsksAgain{100};  // how often a waiting asker is asked whether it gives up

// Waits until `done`, with the lock held. False: the asker has given up.
template <class Done>
bool wait_for(std::condition_variable& changed, std::unique_lock<std::mutex>& lock, const Asker& asker,
              const Done& done) {
  while (!done()) {
    if (!asker.gives_up) {
      changed.wait(lock);
      continue;
    }
    changed.wait_for(lock, kAsksAgain);
    lock.unlock();
    const bool over = asker.gives_up();
    lock.lock();
    if (over) return done();
  }
  return true;
}

}  // namespace

Error WriteBehind::loss_of(const Error& error) {
  if (error.code == Errc::kQuota || error.code == Errc::kNoSpace || error.code == Errc::kFileTooBig) return error;
  return Error{Errc::kIo, 0, "buffered bytes were not written: " + describe(error)};
}

std::uint64_t WriteBehind::unsent_bytes() const {
  const std::lock_guard lock(room_mutex_);
  return unsent_;
}

WriteBehind::~WriteBehind() {
  stopping_ = true;
  {
    const std::lock_guard lock(queue_mutex_);
    aged_.notify_all();
  }
  watcher_.stop();
  senders_.stop();
}

Asker WriteBehind::sender(const core::Credentials& cred) const {
  return {.cred = cred, .gives_up = [this] { return stopping_.load(); }};
}

bool WriteBehind::try_reserve(std::uint64_t bytes) {
  const std::lock_guard lock(room_mutex_);
  // A write that is larger than the limit goes alone.
  if (unsent_ != 0 && unsent_ + bytes > unsent_most_) return false;
  unsent_ += bytes;
  return true;
}

Status WriteBehind::reserve(const Asker& asker, std::uint64_t bytes) {
  if (try_reserve(bytes)) return {};
  hurry();
  std::unique_lock lock(room_mutex_);
  ++waiters_;
  const bool room = wait_for(room_made_, lock, asker, [&] { return unsent_ == 0 || unsent_ + bytes <= unsent_most_; });
  --waiters_;
  if (!room) return fail_errno(EINTR, "interrupted");
  unsent_ += bytes;
  return {};
}

void WriteBehind::settle(std::uint64_t reserved, std::uint64_t bytes) {
  const std::lock_guard lock(room_mutex_);
  unsent_ = unsent_ - reserved + bytes;
  if (waiters_ != 0) room_made_.notify_all();
}

Timestamp WriteBehind::now() const {
  return {wall_now().ns + clock_ahead_ns_};
}

void WriteBehind::added(const File& file, bool full) {
  bool ages = false;
  {
    const std::lock_guard lock(file->mutex);
    ages = !file->aging;
    file->aging = true;
  }
  bool watch = false;
  if (ages) {
    const std::lock_guard lock(queue_mutex_);
    aging_.emplace_back(steady_clock::now() + kAge, file);
    watch = !std::exchange(watching_, true);
  }
  if (watch && !watcher_.post([this] { watch_age(); })) {
    hurry();  // nobody watches the time
    const std::lock_guard lock(queue_mutex_);
    watching_ = false;
  }
  if (waiters_ != 0) {
    const std::lock_guard lock(file->mutex);
    file->sends_all = file->writes.has_waiting();
    full = true;
  }
  if (full) make_ready(file);
}

// All that is half as old goes with what is due, so that many small files share a message.
void WriteBehind::watch_age() {
  std::unique_lock lock(queue_mutex_);
  while (!aging_.empty()) {
    const auto due = aging_.front().first;
    const auto now = steady_clock::now();
    if (!stopping_ && now < due) {
      aged_.wait_until(lock, due);
      continue;
    }
    std::vector<File> files;
    while (!aging_.empty() && (stopping_ || aging_.front().first <= now + kAge / 2)) {
      files.push_back(std::move(aging_.front().second));
      aging_.pop_front();
    }
    lock.unlock();
    make_due(files);
    lock.lock();
  }
  watching_ = false;
}

void WriteBehind::hurry() {
  std::vector<File> files;
  {
    const std::lock_guard lock(queue_mutex_);
    for (auto& [due, file] : aging_) files.push_back(std::move(file));
    aging_.clear();
  }
  make_due(files);
}

void WriteBehind::make_due(std::span<const File> files) {
  for (const File& file : files) {
    const std::lock_guard lock(file->mutex);
    file->aging = false;
    file->sends_all = file->writes.has_waiting();
  }
  make_ready(files);
}

void WriteBehind::make_ready(std::span<const File> files) {
  std::vector<File> more;
  for (const File& file : files) {
    const std::lock_guard lock(file->mutex);
    if (!std::exchange(file->ready, true)) more.push_back(file);
  }
  if (more.empty()) return;
  {
    const std::lock_guard lock(queue_mutex_);
    ready_.insert(ready_.end(), more.begin(), more.end());
  }
  send_jobs();
}

void WriteBehind::send_jobs() {
  if (!senders_.post([this] { send_ready(); })) send_ready();
}

void WriteBehind::send_ready() {
  for (;;) {
    Message message = gather();
    if (message.pieces.empty()) break;
    send(message);
  }
  commit_old();
}

WriteBehind::Message WriteBehind::gather() {
  Message message;
  for (;;) {
    File file;
    {
      const std::lock_guard lock(queue_mutex_);
      if (ready_.empty()) return message;
      file = ready_.front();
    }
    bool durable = false;
    {
      const std::lock_guard lock(file->mutex);
      durable = file->syncs != 0;
    }
    {
      const std::lock_guard lock(queue_mutex_);
      if (ready_.empty() || ready_.front() != file) continue;  // another thread has it
      if (!message.pieces.empty() && message.durable != durable) {
        (void)senders_.post([this] { send_ready(); });  // as below
        return message;
      }
      ready_.pop_front();
    }
    message.durable = durable;
    gather_from(file, message);
    bool more = false;
    {
      const std::lock_guard lock(queue_mutex_);
      more = !ready_.empty();
    }
    if (message.writes.size() < kWritesMost && message.bytes < kWriteBytesMost / 2) continue;
    if (more) (void)senders_.post([this] { send_ready(); });  // this thread does it, too, when there is no other
    return message;
  }
}

void WriteBehind::gather_from(const File& file, Message& message) {
  const auto fits = [&](const Piece& piece) {
    if (message.pieces.empty()) return true;
    return message.writes.size() < kWritesMost && message.bytes + piece.bytes.size() <= kWriteBytesMost &&
           piece.open->cred == message.cred;
  };
  bool again = false;
  {
    const std::lock_guard lock(file->mutex);
    file->ready = false;
    bool refused = false;
    const auto may = [&](const Piece& piece) {
      const bool may_go = fits(piece);
      refused = refused || !may_go;
      return may_go;
    };
    while (const auto piece = file->writes.take(!file->sends_all, may)) {
      OpenFile& open = *piece->open;
      message.cred = open.cred;
      message.bytes += piece->bytes.size();
      // What was closed meanwhile is closed by the message that has its last bytes.
      const bool closes = open.closed && open.unsent == 1 && !open.close_sent;
      open.close_sent = open.close_sent || closes;
      message.pieces.emplace_back(file, piece);
      message.writes.push_back(
          {file->id, open.number, piece->offset, piece->bytes, piece->lease, closes, message.durable});
    }
    if (!file->writes.has_waiting()) file->sends_all = false;
    again = refused;
    file->ready = again;
  }
  if (!again) return;
  const std::lock_guard lock(queue_mutex_);
  ready_.push_front(file);
  message.bytes = std::max<std::uint64_t>(message.bytes, kWriteBytesMost);  // it leaves as it is
}

void WriteBehind::send(Message& message) {
  const Asker asker = sender(message.cred);
  std::vector<Result<StorageWritten>> results;
  if (message.writes.size() == 1 && !message.writes[0].closes) {
    const StorageWrite& one = message.writes[0];
    results.push_back(
        below_.write(asker, one.id, one.open, one.offset, one.data, {.durable = one.durable, .lease = one.lease}));
  } else {
    results = below_.write_all(asker, message.writes);
  }
  for (std::size_t i = 0; i < message.pieces.size(); ++i) {
    const auto& [file, piece] = message.pieces[i];
    sent(file, piece, send_rest(asker, message.writes[i], std::move(results[i])), message.writes[i]);
    const bool last = i + 1 == message.pieces.size() || message.pieces[i + 1].first != file;
    if (!last) continue;
    bool again = false;
    {
      const std::lock_guard lock(file->mutex);
      again = file->writes.has_waiting() && file->sends_all;
      file->changed.notify_all();
    }
    if (again) make_ready(file);
  }
}

// The server may take less than it was given. An open that was closed behind its write is gone by then.
Result<StorageWritten> WriteBehind::send_rest(const Asker& asker, const StorageWrite& write,
                                              Result<StorageWritten> begun) {
  Result<StorageWritten> result = std::move(begun);
  std::size_t done = result ? result->length : write.data.size();
  while (done < write.data.size()) {
    result = below_.write(asker, write.id, write.closes ? 0 : write.open, write.offset + done, write.data.subspan(done),
                          {.durable = write.durable, .lease = write.lease});
    if (!result) break;
    if (result->length == 0) return fail(Errc::kIo, "the server takes no bytes");
    done += result->length;
  }
  return result;
}

void WriteBehind::sent(const File& file, const std::shared_ptr<Piece>& piece, const Result<StorageWritten>& result,
                       const StorageWrite& write) {
  OpenFile& open = *piece->open;
  bool closes_now = false;
  {
    const std::lock_guard lock(file->mutex);
    if (result) {
      const bool before = file->uncommitted;
      note_written(*file, open.cred, *result);
      if (write.durable) file->uncommitted = before;
    } else {
      file->record(loss_of(result.error()));
      const bool no_room = result.error().code == Errc::kQuota || result.error().code == Errc::kNoSpace;
      if (no_room) room_.refused(file->leased);
    }
    file->blocks.spoil(piece->offset, piece->bytes.size());
    file->writes.sent(*piece);
    --open.unsent;
    closes_now = open.closed && open.unsent == 0 && !open.close_sent && !write.closes;
    open.close_sent = open.close_sent || closes_now;
  }
  release(cost(*piece));
  if (result && !write.durable) list_uncommitted(file, piece->bytes.size());
  if (closes_now) below_.close(sender(open.cred), open.number);
}

void WriteBehind::note_written(BufferedFile& file, const core::Credentials& writer, const StorageWritten& written) {
  file.uncommitted = true;
  file.writer = writer;
  if (!written.attr) return;
  if (!file.newest || file.newest->change < written.attr->change) file.newest = written.attr;
  clock_ahead_ns_ = std::min<std::int64_t>(0, written.attr->mtime.ns - wall_now().ns);
}

void WriteBehind::wrote(const File& file, const core::Credentials& writer, const StorageWritten& written,
                        bool durable) {
  {
    const std::lock_guard lock(file->mutex);
    const bool before = file->uncommitted;
    note_written(*file, writer, written);
    if (durable) file->uncommitted = before;
  }
  if (!durable) list_uncommitted(file, written.length);
  commit_old();
}

Status WriteBehind::flush(const File& file, const Asker& asker) {
  std::uint64_t newest = 0;
  {
    const std::lock_guard lock(file->mutex);
    if (file->writes.empty()) return {};
    newest = file->writes.newest();
    file->sends_all = file->writes.has_waiting();
  }
  make_ready(file);
  std::unique_lock lock(file->mutex);
  if (wait_for(file->changed, lock, asker, [&] { return !file->writes.has_until(newest); })) return {};
  return fail_errno(EINTR, "interrupted");
}

bool WriteBehind::any_unsent() {
  const std::lock_guard lock(room_mutex_);
  return unsent_ != 0;
}

void WriteBehind::flush(const FileTable::Files& files) {
  std::vector<File> waiting;
  for (const File& file : files) {
    const std::lock_guard lock(file->mutex);
    if (!file->writes.has_waiting()) continue;
    file->sends_all = true;
    waiting.push_back(file);
  }
  make_ready(waiting);
  for (const File& file : files) (void)flush(file, {});
}

void WriteBehind::lose(const File& file, std::uint64_t lease) {
  std::uint64_t freed = 0;
  std::vector<std::shared_ptr<OpenFile>> closes;
  {
    const std::lock_guard lock(file->mutex);
    file->blocks.clear();
    const auto dropped = file->writes.drop_waiting(lease);
    if (!dropped.empty()) file->record(Error{Errc::kIo, 0, "buffered bytes were lost with their lease"});
    for (const auto& piece : dropped) {
      freed += cost(*piece);
      OpenFile& open = *piece->open;
      --open.unsent;
      if (!open.closed || open.unsent != 0 || open.close_sent) continue;
      open.close_sent = true;
      closes.push_back(piece->open);
    }
    file->changed.notify_all();
  }
  release(freed);
  for (const auto& open : closes) below_.close(sender(open->cred), open->number);
}

}  // namespace stoa::native::data
