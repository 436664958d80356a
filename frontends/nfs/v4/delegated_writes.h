// Files that clients may write to without telling (write delegations). For other readers of attributes, such a client
// reports size and change by CB_GETATTR (RFC 8881 10.4.3, 20.1; RFC 7530 16.1). The delegation stays where it is.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "core/api/file_handle.h"
#include "frontends/nfs/v4/compound.h"

namespace stoa::nfs4 {

// Thread-safe; nothing here blocks.
class DelegatedWrites : public std::enable_shared_from_this<DelegatedWrites> {
 public:
  using Clock = std::chrono::steady_clock;

  bool none() const { return count_.load(std::memory_order_relaxed) == 0; }
  // `change`: of the file when the delegation was given; the client's answer is compared with it.
  void add(const std::shared_ptr<Client>& client, const core::FileRef& file, const Stateid& stateid,
           const core::HandleBytes& handle, std::uint64_t change);
  void remove(core::FileId file, core::HolderId holder);

  enum class Answer : std::uint8_t {
    kNobody,  // no other client has one, or its client does not answer: the delegation must be recalled
    kLater,   // its client was called
    kKnown,
  };
  struct Told {
    core::HolderId holder = core::kNoHolder;  // the client that answered
    std::optional<std::uint64_t> size{};      // absent: it has changed nothing that it did not write
    bool changed = false;                     // and this is the first that is heard of it
  };
  Answer ask(core::FileId file, core::HolderId by, Clock::time_point now, Told& told);

 private:
  struct Entry {
    std::weak_ptr<Client> client;
    core::HolderId holder;
    Stateid stateid;
    core::HandleBytes handle;
    std::uint64_t given_change;    // of the file, when the delegation was given
    std::uint64_t told_change;     // the last one reported
    std::uint64_t counted_change;  // the last one reported to any client
    std::uint64_t told_size = 0;
    std::optional<Clock::time_point> asked{};  // and no answer yet
    std::optional<Clock::time_point> told{};
    int unused = 0;  // answers in a row that no caller came back for in time
  };
  void take_answer(core::FileId file, const Stateid& about, rpc::XdrReader& in);
  void note_denial(core::FileId file, const Stateid& about);

  std::atomic<std::size_t> count_{0};
  std::mutex mutex_;  // guards the members below; never held while a client is called
  std::unordered_map<core::FileId, Entry> entries_;
};

}  // namespace stoa::nfs4
