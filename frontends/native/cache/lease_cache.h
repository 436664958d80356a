// The leases of a client, and the names and attributes that it keeps under them.
//
// A reply may be kept only when nothing has ended its lease, or changed what it tells, since its request was sent. So
// each request takes a ticket before it is sent, and what it brings is kept only while the ticket is newer than the
// last such event.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "frontends/native/cache/held_lease.h"
#include "frontends/native/cache/kept_directory.h"
#include "frontends/native/cache/lease_calls.h"
#include "frontends/native/storage/storage.h"

namespace stoa::native {

struct LeaseCacheLimits {
  std::size_t leases = 4096;
  std::uint64_t bytes = 64u << 20;          // of memory for names and attributes
  std::chrono::milliseconds pause{10'000};  // without a wish after a refusal or a recall, for each bit
};

struct LeaseCacheCounts {
  std::uint64_t hits = 0, misses = 0, granted = 0, refused = 0, recalls = 0, lost = 0, leases = 0, bytes = 0;
};

// Of one request, from before it is sent.
struct LeaseTicket {
  Moment sent = 0;
  Moment granted = 0;  // of the lease that came in the same message
};

// Of one entry of a directory with a files lease.
struct KnownEntry {
  bool name = false;        // it is still that file
  bool attributes = false;  // getattr() needs no server, and the same lease covers what it says
};

// A part of a lease that is going, for those who have to forget or write back.
struct LeaseGoing {
  HeldLease lease;         // with the bits that it had
  std::uint32_t gone = 0;  // LeaseBits
  std::uint32_t keeps = 0;
  std::vector<core::FileId> files;   // whose attributes were known, when read caching goes
  std::vector<core::FileId> opened;  // that were opened under it
  std::vector<std::string> names;    // that are known, when read caching goes
  bool other_names = false;          // were known, too
};

// Thread-safe. A call waits for pins only where it says so.
class LeaseCache : public LeaseCovers {
 public:
  // `calls` outlives it.
  LeaseCache(LeaseCalls& calls, const LeaseCacheLimits& limits) : calls_(calls), limits_(limits) {}

  // --- leases
  LeaseTicket ticket();
  // Prepares to ask for a lease. Empty: it has these bits already, or asks at this moment, or has to pause.
  std::optional<LeaseWish> wish(core::FileId file, bool of_files, std::uint32_t bits);
  // Every wish ends here, answered or not. The ticket's request was the one with the wish. Whether the lease is to be
  // given back, as the server may think that it is held.
  [[nodiscard]] bool granted(const LeaseWish& wish, LeaseTicket& ticket);
  std::optional<LeasePin> pin(core::FileId file, std::uint32_t bits) override;
  // As pin(), if the lease has not lost anything since the ticket was taken: what was learned in between holds.
  std::optional<LeasePin> pin_since(const LeaseTicket& ticket, core::FileId file, std::uint32_t bits);
  // Of LeaseCovers: nothing is asked for here.
  void want(const core::Credentials&, core::FileId, std::uint32_t) override {}
  // Begins the end of a part of a lease: no new pin gets the bits, and those that exist are waited for. Empty: there is
  // no such lease, or it is still being asked for and will be given back. One thread at a time for each lease.
  std::optional<LeaseGoing> begin_end(std::uint64_t number, std::uint32_t keeps);
  // Forgets what the lease no longer covers.
  void end(const LeaseGoing& going, bool pauses);
  bool knows(std::uint64_t number) const;
  // Frees memory when there is too much: most of what is kept of a large directory is forgotten, and its lease stays.
  // Returns those leases, from the least recently used on, that are still too many, or whose names are.
  std::vector<std::uint64_t> superfluous();
  // Whether leases are asked for; at first they are.
  void set_asking(bool asks) { asks_ = asks; }
  std::vector<std::uint64_t> leases() const;  // also those that are being asked for
  // Whether end() needs all names that were known: no names are forgotten under a lease then.
  void set_needs_names(bool needs);
  std::vector<core::FileId> opened_files() const;
  // The files lease on this directory; 0: there is none.
  std::uint64_t lease_of(core::FileId directory) const;
  // The directory whose files lease covers the file.
  std::optional<core::FileId> directory_of(core::FileId file) const;
  bool trusted() const { return trusted_for() > std::chrono::nanoseconds(0); }
  std::chrono::nanoseconds trusted_for() const;
  LeaseCacheCounts counts() const;

  // --- answers. Empty: it has to be asked.
  std::optional<Result<core::Attributes>> lookup(const core::Credentials& cred, core::FileId parent,
                                                 std::string_view name);
  std::optional<core::Attributes> getattr(core::FileId id);
  // All of `wanted` is known.
  std::optional<std::uint32_t> access(const core::Credentials& cred, core::FileId id, std::uint32_t wanted);
  std::optional<std::string> readlink(core::FileId id);
  std::optional<StorageEntries> readdir(const core::Credentials& cred, const core::ReaddirRequest& request);
  Listed listed(const core::Credentials& cred, core::FileId directory, const ListedWish& wish) override;
  std::uint64_t place_in_listing(core::FileId directory, core::FileId file) override;
  // The directory may be searched by everybody, whatever groups they are in.
  bool everybody_searches(core::FileId dir);
  // What is known of an entry that was listed some time ago.
  KnownEntry known_entry(core::FileId dir, std::string_view name, core::FileId file);
  // The file is known to have no capabilities of a program (capabilities(7)).
  bool lacks_capability(core::FileId id);
  // The kernel may have the name from now on, so that the end of the directory's lease tells it. False: there is no
  // such lease.
  bool note_name(core::FileId dir, std::string_view name);
  // The name may be that of a covered file, but is not kept any more.
  bool has_forgotten(core::FileId dir, std::string_view name) const;
  // What the name is known to be, without a look at permissions; kNoFile: unknown, or not there.
  core::FileId file_of(core::FileId parent, std::string_view name) const;

  // --- what was learned
  void learn_lookup(const LeaseTicket& ticket, const core::Credentials& cred, core::FileId parent,
                    std::string_view name, const Result<core::Attributes>& found);
  void learn_attributes(const LeaseTicket& ticket, const core::Attributes& attr);
  void learn_access(const LeaseTicket& ticket, const core::Credentials& cred, core::FileId id, std::uint32_t wanted,
                    std::uint32_t granted);
  void learn_target(const LeaseTicket& ticket, core::FileId id, const std::string& target);
  void learn_entries(const LeaseTicket& ticket, const core::Credentials& cred, const core::ReaddirRequest& request,
                     const StorageEntries& entries);
  void learn_no_capability(const LeaseTicket& ticket, core::FileId id);
  // Whether the directory's names are worth a question: it is leased, they are not known, and it was not asked often.
  bool begin_listing(core::FileId dir);
  // A piece of the directory's listing that is worth a question after one more name was asked for. Empty: not now. Each
  // is ended with the cookie behind which the next begins; 0: there is none.
  struct Piece {
    std::uint64_t cookie = 0;
    std::uint32_t entries = 0;
  };
  std::optional<Piece> begin_look_ahead(core::FileId dir);
  void end_look_ahead(core::FileId dir, std::uint64_t next);
  void note_open(core::FileId id);

  // --- own changes
  // Around a change of a name, from before it is sent. `removes`: what it names until then may lose it, and is covered
  // no longer from the beginning on. Waits for pins.
  std::shared_ptr<NameChange> begin_name_change(core::FileId dir, std::string_view name, bool removes);
  // `now`: what the name is known to be; kNoFile: not there. Empty: unknown. `attr`: of that file.
  void end_name_change(const std::shared_ptr<NameChange>& change, std::optional<KeptName> now,
                       const std::optional<core::Attributes>& attr);
  // After a change of a file that does not touch rights: its reply. Empty: not known.
  void changed(const LeaseTicket& ticket, core::FileId file, const std::optional<core::Attributes>& attr);
  // After a change of a file, whether it failed or not, and whatever its reply was.
  void forget(core::FileId file);
  // The file is covered by a files lease no longer: its links have changed. Tells the lease that it was under.
  std::optional<HeldLease> uncover(core::FileId file);

 private:
  struct Lease {
    std::uint64_t number = 0;
    core::FileId file = core::kNoFile;
    bool of_files = false;
    std::uint32_t bits = 0, going = 0;
    bool asking = false;    // a wish is under way
    bool recalled = false;  // meanwhile
    Moment since = 0;
    std::array<std::uint32_t, 3> pins{};  // of each bit
    KeptDirectory kept;
    std::list<std::uint64_t>::iterator used{};
  };
  using Pause = std::array<std::chrono::steady_clock::time_point, 3>;

  Lease* lease_on(core::FileId file);
  // The lease that covers the file with the bits, trusted or not.
  Lease* cover(core::FileId file, std::uint32_t bits);
  Lease* trusted_cover(core::FileId file, std::uint32_t bits);
  Lease* trusted_directory(core::FileId dir);
  static bool may_keep(const Lease& lease, const LeaseTicket& ticket);
  bool may_tell(const KeptFile& file, const core::Credentials& cred, const ListedWish& wish, const KeptFile* like);
  // Null: nothing is kept of it.
  KeptFile* kept_file(Lease& lease, core::FileId file);
  KeptFile* place_of(const LeaseTicket& ticket, core::FileId file);
  KeptFile& add_file(Lease& lease, core::FileId file);
  void keep_attributes(const LeaseTicket& ticket, const core::Attributes& attr, Lease* parent);
  void drop_file(core::FileId file);
  struct NamePlace {
    std::string_view name;
    bool newest = true;  // false: this client has changed the name since, and knows better
  };
  NamePlace keep_name(Lease& dir, const LeaseTicket& ticket, std::string_view name, core::FileId id);
  void forget_listing(Lease& dir);
  // The bytes that were freed.
  std::uint64_t forget_most(Lease& lease);
  void forget_locked(core::FileId file);
  bool being_removed(core::FileId dir, std::string_view name) const;
  void wait_for_pins(std::unique_lock<std::mutex>& lock, std::uint64_t lease);
  void forget_all(Lease& lease);
  void erase(Lease& lease);
  void add_bytes(Lease& lease, std::int64_t more);
  void cover_by(core::FileId file, Lease& lease);
  LeasePin pin_locked(Lease& lease, std::uint32_t bits);
  void unpin(std::uint64_t number, std::uint32_t bits);
  std::uint32_t identity_of(const core::Credentials& cred);
  bool search_known(Lease& dir, const core::Credentials& cred, std::uint32_t wanted);
  std::uint32_t paused_bits(core::FileId file);
  void pause(core::FileId file, std::uint32_t bits);

  LeaseCalls& calls_;
  const LeaseCacheLimits limits_;
  std::atomic<bool> asks_{true};
  mutable std::mutex mutex_;  // guards all below
  std::condition_variable unpinned_;
  std::uint32_t waiting_ = 0;  // for pins
  Moment now_ = 1;
  Moment forgot_unplaced_ = 0;  // a file was forgotten of which no lease was known
  std::unordered_map<std::uint64_t, Lease> leases_;
  std::unordered_map<core::FileId, std::uint64_t> on_;  // leases by their file
  using Under = std::unordered_map<core::FileId, std::uint64_t>;
  Under under_;                    // files by the files lease that covers them
  std::list<std::uint64_t> used_;  // leases; the most recently used first
  std::vector<std::shared_ptr<NameChange>> changes_;
  std::unordered_map<core::FileId, Pause> pauses_;
  bool needs_names_ = false;
  KnownUsers users_;
  LeaseCacheCounts counts_;
};

}  // namespace stoa::native
