// RFC 8881 18.23
#include <algorithm>
#include <utility>

#include "frontends/nfs/v4/attributes.h"
#include "frontends/nfs/v4/operations.h"
#include "frontends/nfs/v4/pseudo_root.h"

namespace stoa::nfs4 {
namespace {

constexpr std::size_t kVerifierBytes = 8;              // the verifier
constexpr std::size_t kTailBytes = 4 + 4;              // no more entries, end of directory
constexpr std::size_t kEntryBytesMin = 4 + 8 + 4 + 4;  // that there is one, its cookie and its name, without attributes
constexpr std::uint64_t kFirstCookie = 3;              // 0 begins; 1 and 2 are reserved, and the core's "." and ".."

struct Request {
  std::uint64_t cookie = 0;
  std::uint64_t verifier = 0;
  std::uint32_t names_max = 0;  // dircount
  std::uint32_t bytes_max = 0;  // maxcount: of READDIR4resok, all of it
  Bitmap wanted{};
};

// Cookies stay valid for ever, so the verifier only has to show that a cookie belongs to this directory; it survives
// restarts.
std::uint64_t cookie_verifier(const Compound& c) {
  const core::FileRef& dir = c.current->ref;
  std::uint64_t mixed = (c.ns.volume_id() ^ static_cast<std::uint64_t>(dir.id)) * 0x9e3779b97f4a7c15;
  mixed ^= mixed >> 32;
  return mixed != 0 ? mixed : 1;  // Clients send zero to begin.
}

// The reply under construction, within the client's limits.
class Listing {
 public:
  Listing(Compound& c, const Request& request) : c_(c), request_(request), begin_(c.out.size()) {
    c.out.u64(cookie_verifier(c));
  }

  enum class Added { kYes, kFull, kFailed };
  Added add(std::uint64_t cookie, std::string_view name, const Subject& subject) {
    const std::size_t before = c_.out.size();
    c_.out.boolean(true);
    c_.out.u64(cookie);
    c_.out.string(name);
    // dircount counts cookies and names; it is a hint, and does not keep the first entry out (18.23.3).
    names_ += c_.out.size() - before;
    status_ = encode_attributes(c_, request_.wanted, subject);
    // An ACL that the caller may not read (18.23.3).
    if (status_ == Nfs4Status::kAccess && request_.wanted.has(Attr::kRdattrError)) encode_error();
    if (status_ != Nfs4Status::kOk) return Added::kFailed;
    const bool long_enough = count_ > 0 && request_.names_max != 0 && names_ > request_.names_max;
    if (c_.out.size() - begin_ + kTailBytes > request_.bytes_max || long_enough) {
      c_.out.truncate(before);
      return Added::kFull;
    }
    ++count_;
    return Added::kYes;
  }

  bool empty() const { return count_ == 0; }
  // `full`: an entry did not fit.
  Nfs4Status finish(bool full, bool end) {
    if (status_ != Nfs4Status::kOk) return status_;
    if (full && count_ == 0) return Nfs4Status::kTooSmall;
    c_.out.boolean(false);
    c_.out.boolean(end && !full);
    return Nfs4Status::kOk;
  }

 private:
  void encode_error() {
    Bitmap{Attr::kRdattrError}.encode(c_.out);
    c_.out.u32(4);
    c_.out.u32(static_cast<std::uint32_t>(std::exchange(status_, Nfs4Status::kOk)));
  }

  Compound& c_;
  const Request& request_;
  const std::size_t begin_;
  std::size_t names_ = 0;
  std::size_t count_ = 0;
  Nfs4Status status_ = Nfs4Status::kOk;
};

// An export's cookie follows from its id, so that it stays when others come and go.
std::uint64_t export_cookie(core::ExportId id) {
  return kFirstCookie + static_cast<std::uint64_t>(id);
}

Nfs4Status list_pseudo_root(Compound& c, const Request& request) {
  std::vector<const core::Export*> shown;
  for (const core::Export& entry : c.access.snapshot().exports()) {
    if (is_visible(c, entry) && export_cookie(entry.id) > request.cookie) shown.push_back(&entry);
  }
  std::ranges::sort(shown, {}, [](const core::Export* entry) { return entry->id; });

  Listing listing(c, request);
  for (const core::Export* entry : shown) {
    // As the root of the export is: it covers the directory that it is mounted on (RFC 8881 11.4.1, 18.23.4).
    const ExportRoot root = enter_export(c, *entry);
    if (root.status == Nfs4Status::kStale) continue;  // its directory was removed
    if (root.status != Nfs4Status::kOk) return root.status;
    switch (listing.add(export_cookie(entry->id), entry->name, subject_in_export(c, root.attr))) {
      case Listing::Added::kYes:
        continue;
      case Listing::Added::kFull:
        return listing.finish(true, false);
      case Listing::Added::kFailed:
        return listing.finish(false, false);
    }
  }
  return listing.finish(false, true);
}

Nfs4Status list_directory(Compound& c, const Request& request) {
  // Attributes that a listing has without reading the files.
  constexpr Bitmap kOfEntries{Attr::kType, Attr::kFileId, Attr::kMountedOnFileId, Attr::kRdattrError, Attr::kFsid};
  const Bitmap wanted = request.wanted & supported_attributes(c.minor);
  const bool want_attributes = wanted.exceeds(kOfEntries);

  // Not more than could fit if all names were as short as can be.
  const std::size_t by_bytes =
      (request.bytes_max - kVerifierBytes - kTailBytes) / (kEntryBytesMin + encoded_bytes_min(wanted, c.minor)) + 1;
  const std::size_t by_names = request.names_max == 0 ? by_bytes : request.names_max / kEntryBytesMin + 1;
  core::ReaddirRequest page{.dir = c.current->ref.id,
                            .cookie = std::max(request.cookie, kFirstCookie - 1),
                            .entries_max = static_cast<std::uint32_t>(std::min(by_bytes, by_names)),
                            .name_bytes_max = request.bytes_max,
                            .want_attributes = want_attributes,
                            .root = c.access.entered().root};
  Listing listing(c, request);
  for (;;) {
    const auto reply = c.ns.readdir(c.ctx, page);
    if (!reply) return c.status_of(reply.error());
    for (const core::DirectoryEntry& entry : reply->entries) {
      page.cookie = entry.cookie;
      if (want_attributes && !entry.attr) continue;  // removed meanwhile
      const core::Attributes known{.id = entry.id, .type = entry.type};
      const core::Attributes& attr = entry.attr ? *entry.attr : known;
      switch (listing.add(entry.cookie, entry.name, subject_in_export(c, attr))) {
        case Listing::Added::kYes:
          continue;
        case Listing::Added::kFull:
          return listing.finish(true, false);
        case Listing::Added::kFailed:
          return listing.finish(false, false);
      }
    }
    // An empty reply that is not the end would make the client repeat the request.
    if (reply->end || !listing.empty()) return listing.finish(false, reply->end);
  }
}

}  // namespace

Nfs4Status op_readdir(Compound& c) {
  Request request{.cookie = c.in.u64(), .verifier = c.in.u64(), .names_max = c.in.u32()};
  request.bytes_max = std::min(c.in.u32(), kListBytesMax);
  request.wanted = Bitmap::decode(c.in);
  if (!c.in.ok()) return Nfs4Status::kBadXdr;
  if (!c.current) return Nfs4Status::kNoFileHandle;
  if (request.wanted.meets(kWriteOnly)) return Nfs4Status::kInval;
  if (request.cookie != 0 && request.cookie < kFirstCookie) return Nfs4Status::kBadCookie;
  if (request.cookie != 0 && request.verifier != cookie_verifier(c)) return Nfs4Status::kNotSame;
  if (request.bytes_max < kVerifierBytes + kTailBytes) return Nfs4Status::kTooSmall;

  return c.current->pseudo_root() ? list_pseudo_root(c, request) : list_directory(c, request);
}

}  // namespace stoa::nfs4
