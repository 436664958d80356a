#include "frontends/nfs/v4/attributes.h"

#include <algorithm>
#include <limits>

#include "frontends/nfs/v4/acl_values.h"
#include "frontends/nfs/v4/pseudo_root.h"

namespace stoa::nfs4 {
namespace {

constexpr std::uint32_t kModeBits = 07777;
constexpr std::uint32_t kPermissionBits = 0777;
constexpr std::uint32_t kNanosecondsMax = 1'000'000'000;

constexpr Bitmap kAcls{Attr::kAcl, Attr::kDacl};
constexpr Bitmap kSettable =
    kAcls | Bitmap{Attr::kSize,          Attr::kMode,          Attr::kOwner,         Attr::kOwnerGroup,
                   Attr::kTimeAccessSet, Attr::kTimeModifySet, Attr::kModeSetMasked, Attr::kModeUmask,
                   Attr::kArchive,       Attr::kHidden,        Attr::kSystem,        Attr::kTimeCreate};
constexpr Bitmap kOfFileSystem{Attr::kFilesAvail,     Attr::kFilesFree,      Attr::kFilesTotal,
                               Attr::kQuotaAvailHard, Attr::kQuotaAvailSoft, Attr::kQuotaUsed,
                               Attr::kSpaceAvail,     Attr::kSpaceFree,      Attr::kSpaceTotal};

constexpr Bitmap kSupported40{Attr::kSupportedAttrs,
                              Attr::kType,
                              Attr::kFhExpireType,
                              Attr::kChange,
                              Attr::kSize,
                              Attr::kLinkSupport,
                              Attr::kSymlinkSupport,
                              Attr::kNamedAttr,
                              Attr::kFsid,
                              Attr::kUniqueHandles,
                              Attr::kLeaseTime,
                              Attr::kRdattrError,
                              Attr::kAcl,
                              Attr::kAclSupport,
                              Attr::kArchive,
                              Attr::kCanSetTime,
                              Attr::kCaseInsensitive,
                              Attr::kCasePreserving,
                              Attr::kChownRestricted,
                              Attr::kFilehandle,
                              Attr::kFileId,
                              Attr::kFilesAvail,
                              Attr::kFilesFree,
                              Attr::kFilesTotal,
                              Attr::kHidden,
                              Attr::kHomogeneous,
                              Attr::kMaxFileSize,
                              Attr::kMaxLink,
                              Attr::kMaxName,
                              Attr::kMaxRead,
                              Attr::kMaxWrite,
                              Attr::kMode,
                              Attr::kNoTrunc,
                              Attr::kNumLinks,
                              Attr::kOwner,
                              Attr::kOwnerGroup,
                              Attr::kQuotaAvailHard,
                              Attr::kQuotaAvailSoft,
                              Attr::kQuotaUsed,
                              Attr::kRawDev,
                              Attr::kSpaceAvail,
                              Attr::kSpaceFree,
                              Attr::kSpaceTotal,
                              Attr::kSpaceUsed,
                              Attr::kSystem,
                              Attr::kTimeAccess,
                              Attr::kTimeAccessSet,
                              Attr::kTimeCreate,
                              Attr::kTimeDelta,
                              Attr::kTimeMetadata,
                              Attr::kTimeModify,
                              Attr::kTimeModifySet,
                              Attr::kMountedOnFileId};
constexpr Bitmap kSupported41 =
    kSupported40 | Bitmap{Attr::kDacl, Attr::kModeSetMasked, Attr::kSuppattrExclcreat, Attr::kFsCharsetCap,
                          // RFC 9754 is about 4.2; its content holds in 4.1, and clients that ask for it there know
                          // it.
                          Attr::kOpenArguments};
constexpr Bitmap kSupported42 =
    kSupported41 | Bitmap{Attr::kCloneBlksize, Attr::kChangeAttrType, Attr::kModeUmask, Attr::kXattrSupport};
constexpr std::array<Bitmap, 3> kSupported{kSupported40, kSupported41, kSupported42};
// The verifier of an exclusive create has a field of its own, so it conflicts with no attribute.
constexpr std::array<Bitmap, 3> kExclusiveCreate{kSupported40 & kSettable, kSupported41& kSettable,
                                                 kSupported42& kSettable};

std::size_t index_of(std::uint32_t minor) {
  return std::min<std::size_t>(minor, kSupported.size() - 1);
}

// nfs_ftype4
std::uint32_t to_wire(core::FileType type) {
  switch (type) {
    case core::FileType::kRegular:
      return 1;
    case core::FileType::kDirectory:
      return 2;
    case core::FileType::kBlockDevice:
      return 3;
    case core::FileType::kCharDevice:
      return 4;
    case core::FileType::kSymlink:
      return 5;
    case core::FileType::kSocket:
      return 6;
    case core::FileType::kFifo:
      return 7;
  }
  return 1;
}

void put_time(rpc::XdrWriter& out, Timestamp time) {
  out.u64(static_cast<std::uint64_t>(time.seconds()));
  out.u32(time.nanoseconds());
}

// The arguments that OPEN accepts (RFC 9754 4.1), each a bitmap of its values.
void put_open_arguments(rpc::XdrWriter& out) {
  constexpr std::uint32_t kAccess = 1u << 1 | 1u << 2 | 1u << 3;          // READ, WRITE, BOTH
  constexpr std::uint32_t kDeny = 1u << 0 | 1u << 1 | 1u << 2 | 1u << 3;  // NONE, READ, WRITE, BOTH
  constexpr std::uint32_t kWants = 1u << 3 | 1u << 4 | 1u << 5;           // ANY_DELEG, NO_DELEG, CANCEL
  constexpr std::uint32_t kClaims =
      1u << 0 | 1u << 1 | 1u << 2 | 1u << 4 | 1u << 5;  // all but those of an earlier incarnation
  constexpr std::uint32_t kModes =
      1u << 0 | 1u << 1 | 1u << 2 | 1u << 3;  // UNCHECKED, GUARDED, EXCLUSIVE, EXCLUSIVE4_1
  for (const std::uint32_t values : {kAccess, kDeny, kWants, kClaims, kModes}) {
    out.u32(1);
    out.u32(values);
  }
}

// Values needed beside the attributes of the core.
struct Asked {
  core::StatfsReply fs{};
  core::AclRef acl{};
};

core::AclRef acl_of_pseudo_root() {
  constexpr std::uint32_t kRights = core::kRightListDirectory | core::kRightSearch | core::kRightReadAttributes |
                                    core::kRightReadAcl | core::kRightSynchronize;
  return std::make_shared<const core::Acl>(
      core::Acl{.entries = {{.rights = kRights, .who = core::AclWho::everyone()}}});
}

Nfs4Status ask(Compound& c, const Bitmap& shown, const Subject& subject, Asked& asked) {
  const bool in_export = subject.ref.scope != core::ExportId{};
  if (shown.meets(kOfFileSystem) && in_export) {
    const auto reply = c.ns.statfs(c.ctx, {.id = subject.attr.id});
    if (!reply) return c.status_of(reply.error());
    asked.fs = *reply;
  }
  if (!shown.meets(kAcls)) return Nfs4Status::kOk;
  if (!in_export) {
    asked.acl = acl_of_pseudo_root();
    return Nfs4Status::kOk;
  }
  auto reply = c.ns.get_acl(c.ctx, {.id = subject.attr.id});
  if (!reply) return c.status_of(reply.error());
  asked.acl = std::move(reply->acl);
  return Nfs4Status::kOk;
}

void put_attribute(Compound& c, Attr attribute, const Subject& subject, const Asked& asked) {
  const core::StatfsReply& fs = asked.fs;
  const core::Attributes& attr = subject.attr;
  rpc::XdrWriter& out = c.out;
  switch (attribute) {
    case Attr::kSupportedAttrs:
      return supported_attributes(c.minor).encode(out);
    case Attr::kType:
      return out.u32(to_wire(attr.type));
    case Attr::kFhExpireType:
      return out.u32(0);  // FH4_PERSISTENT
    case Attr::kChange:
      return out.u64(attr.change);
    case Attr::kSize:
      return out.u64(attr.size);
    case Attr::kLinkSupport:
      return out.boolean(true);
    case Attr::kSymlinkSupport:
      return out.boolean(true);
    case Attr::kNamedAttr:
      return out.boolean(false);
    case Attr::kFsid:
      out.u64(subject.fsid.major);
      return out.u64(subject.fsid.minor);
    case Attr::kUniqueHandles:
      return out.boolean(true);
    case Attr::kLeaseTime:
      return out.u32(static_cast<std::uint32_t>(c.env.lease.count()));
    case Attr::kRdattrError:
      return out.u32(static_cast<std::uint32_t>(Nfs4Status::kOk));
    case Attr::kAcl:
      return put_acl(out, AclForm::kAcl, *asked.acl, id_names(c));
    case Attr::kAclSupport:
      return out.u32(3);  // ACL4_SUPPORT_ALLOW_ACL, ACL4_SUPPORT_DENY_ACL
    case Attr::kArchive:
      // TRUE means: archived since the last change (RFC 8881 5.8.2.1), the opposite of the bit in DOS.
      return out.boolean((attr.dos & core::kDosArchive) == 0);
    case Attr::kCanSetTime:
      return out.boolean(true);
    case Attr::kCaseInsensitive:
      return out.boolean(false);
    case Attr::kCasePreserving:
      return out.boolean(true);
    case Attr::kChownRestricted:
      return out.boolean(true);
    case Attr::kFilehandle:
      return out.opaque(c.env.handles.encode(subject.ref));
    case Attr::kFileId:
      return out.u64(static_cast<std::uint64_t>(attr.id));
    case Attr::kFilesAvail:
      return out.u64(fs.files_available);
    case Attr::kFilesFree:
      return out.u64(fs.files_free);
    case Attr::kFilesTotal:
      return out.u64(fs.files_total);
    case Attr::kHidden:
      return out.boolean((attr.dos & core::kDosHidden) != 0);
    case Attr::kHomogeneous:
      return out.boolean(true);
    case Attr::kMaxFileSize:
      return out.u64(core::kFileBytesMax);
    case Attr::kMaxLink:
      return out.u32(core::kLinksMax);
    case Attr::kMaxName:
      return out.u32(core::kNameBytesMax);
    case Attr::kMaxRead:
      return out.u64(kIoBytesMax);
    case Attr::kMaxWrite:
      return out.u64(kIoBytesMax);
    case Attr::kMode:
      return out.u32(attr.mode & kModeBits);
    case Attr::kNoTrunc:
      return out.boolean(true);
    case Attr::kNumLinks:
      return out.u32(attr.links);
    case Attr::kOwner:
      return out.string(user_to_text(id_names(c), attr.uid));
    case Attr::kOwnerGroup:
      return out.string(group_to_text(id_names(c), attr.gid));
    // Of the tightest quota for the caller; without one, of the space of the disks (RFC 8881 5.8.2.28 to 30).
    case Attr::kQuotaAvailHard:
      return out.u64(fs.bytes_available);
    case Attr::kQuotaAvailSoft:
      return out.u64(fs.bytes_quota.limited() ? std::min(fs.bytes_available, fs.bytes_quota.soft_room)
                                              : fs.bytes_available);
    case Attr::kQuotaUsed:
      return out.u64(fs.bytes_quota.limited() ? fs.bytes_quota.used
                                              : fs.bytes_total - std::min(fs.bytes_total, fs.bytes_free));
    case Attr::kRawDev:
      out.u32(attr.device.major);
      return out.u32(attr.device.minor);
    case Attr::kSpaceAvail:
      return out.u64(fs.bytes_available);
    case Attr::kSpaceFree:
      return out.u64(fs.bytes_free);
    case Attr::kSpaceTotal:
      return out.u64(fs.bytes_total);
    case Attr::kSpaceUsed:
      return out.u64(attr.allocated);
    case Attr::kSystem:
      return out.boolean((attr.dos & core::kDosSystem) != 0);
    case Attr::kTimeAccess:
      return put_time(out, attr.atime);
    case Attr::kTimeCreate:
      return put_time(out, attr.btime);
    case Attr::kTimeDelta:
      return put_time(out, Timestamp{1});
    case Attr::kTimeMetadata:
      return put_time(out, attr.ctime);
    case Attr::kTimeModify:
      return put_time(out, attr.mtime);
    case Attr::kMountedOnFileId:
      return out.u64(subject.mounted_on);
    case Attr::kSuppattrExclcreat:
      return exclusive_create_attributes(c.minor).encode(out);
    case Attr::kFsCharsetCap:
      return out.u32(1);  // FSCHARSET_CAP4_CONTAINS_NON_UTF8: names are any bytes
    case Attr::kCloneBlksize:
      return out.u32(1);  // any range of bytes can be shared
    case Attr::kChangeAttrType:
      // NFS4_CHANGE_TYPE_IS_MONOTONIC_INCR; that of the pseudo root is a checksum: NFS4_CHANGE_TYPE_IS_UNDEFINED.
      return out.u32(subject.ref.scope == core::ExportId{} ? 4 : 0);
    case Attr::kDacl:
      return put_acl(out, AclForm::kDacl, *asked.acl, id_names(c));
    case Attr::kOpenArguments:
      return put_open_arguments(out);
    case Attr::kXattrSupport:
      return out.boolean(subject.ref.scope != core::ExportId{});
    case Attr::kTimeAccessSet:
    case Attr::kTimeModifySet:
    case Attr::kModeSetMasked:
    case Attr::kModeUmask:
      return;  // never requested: encode_attributes() leaves them out
  }
}

// The least on the wire.
std::size_t attribute_bytes_min(Attr attribute) {
  switch (attribute) {
    case Attr::kFsid:
      return 16;
    case Attr::kTimeAccess:
    case Attr::kTimeCreate:
    case Attr::kTimeDelta:
    case Attr::kTimeMetadata:
    case Attr::kTimeModify:
      return 12;
    case Attr::kSupportedAttrs:
    case Attr::kSuppattrExclcreat:
    case Attr::kDacl:
    case Attr::kRawDev:
    case Attr::kChange:
    case Attr::kSize:
    case Attr::kFileId:
    case Attr::kMountedOnFileId:
    case Attr::kSpaceUsed:
      return 8;
    default:
      return kOfFileSystem.has(attribute) ? 8 : 4;
  }
}

std::optional<Timestamp> read_time(rpc::XdrReader& in) {
  constexpr std::int64_t kSecondsMax = std::numeric_limits<std::int64_t>::max() / kNanosecondsMax - 1;
  const auto seconds = static_cast<std::int64_t>(in.u64());
  const std::uint32_t nanoseconds = in.u32();
  if (nanoseconds >= kNanosecondsMax || seconds > kSecondsMax || seconds < -kSecondsMax) return std::nullopt;
  return Timestamp::from(seconds, nanoseconds);
}

// Reads the values of one attrlist4.
class ValueReader {
 public:
  ValueReader(rpc::XdrReader in, const IdNames& names, DecodedAttributes& to) : in_(in), names_(names), to_(to) {}

  void read(Attr attribute) {
    switch (attribute) {
      case Attr::kSize:
        to_.set.size = in_.u64();
        if (*to_.set.size > core::kFileBytesMax) refuse(Nfs4Status::kFBig);
        return;
      case Attr::kMode:
        return set_mode(in_.u32());
      case Attr::kOwner:
        to_.set.uid = read_id(user_from_text);
        return;
      case Attr::kOwnerGroup:
        to_.set.gid = read_id(group_from_text);
        return;
      case Attr::kAcl:
        return set_acl(AclForm::kAcl);
      case Attr::kDacl:
        return set_acl(AclForm::kDacl);
      case Attr::kArchive:
        return set_dos(core::kDosArchive, !in_.boolean());
      case Attr::kHidden:
        return set_dos(core::kDosHidden, in_.boolean());
      case Attr::kSystem:
        return set_dos(core::kDosSystem, in_.boolean());
      case Attr::kTimeCreate:
        to_.set.btime = read_plain_time();
        return;
      case Attr::kTimeAccessSet:
        to_.set.atime = read_set_time();
        return;
      case Attr::kTimeModifySet:
        to_.set.mtime = read_set_time();
        return;
      case Attr::kModeSetMasked: {
        const std::uint32_t value = in_.u32();
        const std::uint32_t mask = in_.u32();
        if (((value | mask) & ~kModeBits) != 0) refuse(Nfs4Status::kInval);
        to_.set.mode = value & kModeBits;
        to_.set.mode_mask = mask & kModeBits;
        return;
      }
      case Attr::kModeUmask: {
        set_mode(in_.u32());
        to_.set.umask = in_.u32() & kPermissionBits;
        return;
      }
      default:
        in_.reject();  // not in kSettable
    }
  }
  bool complete() const { return in_.ok() && in_.left() == 0; }

 private:
  enum : std::uint32_t { kServerTime = 0, kClientTime = 1 };

  void refuse(Nfs4Status why) {
    if (to_.status == Nfs4Status::kOk) to_.status = why;
  }
  // An empty name is not an unknown user, it is no name (RFC 7530 5.9).
  std::optional<std::uint32_t> read_id(std::optional<std::uint32_t> (*from_text)(const IdNames&, std::string_view)) {
    const auto text = in_.string(kIdNameBytesMax);
    const auto id = from_text(names_, text);
    if (!id) refuse(text.empty() ? Nfs4Status::kInval : Nfs4Status::kBadOwner);
    return id;
  }
  void set_acl(AclForm form) {
    DecodedAcl decoded = read_acl(in_, form, names_);
    if (decoded.status != Nfs4Status::kOk) return refuse(decoded.status);
    to_.set.acl = std::make_shared<const core::Acl>(std::move(decoded.acl));
  }
  // RFC 8881 6.2.4: no other bits.
  void set_mode(std::uint32_t mode) {
    if ((mode & ~kModeBits) != 0) refuse(Nfs4Status::kInval);
    to_.set.mode = mode & kModeBits;
  }
  void set_dos(core::DosAttributes bit, bool to) {
    if (!to_.set.dos) to_.set.dos_mask = 0;
    to_.set.dos_mask |= bit;
    to_.set.dos = static_cast<core::DosAttributes>(to_.set.dos.value_or(0) | (to ? bit : 0));
  }
  Timestamp read_plain_time() {
    const auto time = read_time(in_);
    if (!time) refuse(Nfs4Status::kInval);
    return time.value_or(Timestamp{});
  }
  std::optional<core::SetTime> read_set_time() {
    switch (in_.u32()) {
      case kServerTime:
        return core::SetTime{.server_time = true};
      case kClientTime:
        return core::SetTime{.time = read_plain_time()};
      default:
        in_.reject();
        return std::nullopt;
    }
  }

  rpc::XdrReader in_;
  const IdNames& names_;
  DecodedAttributes& to_;
};

Nfs4Status check_settable(const Bitmap& given, std::uint32_t minor, SetPurpose purpose) {
  if (given.exceeds(supported_attributes(minor))) return Nfs4Status::kAttrNotSupp;
  if (given.exceeds(kSettable)) return Nfs4Status::kInval;
  // Each sets the whole mode (RFC 8881 6.2.5, RFC 8275 4.2).
  const int modes = given.has(Attr::kMode) + given.has(Attr::kModeSetMasked) + given.has(Attr::kModeUmask);
  if (modes > 1) return Nfs4Status::kInval;
  if (given.has(Attr::kAcl) && given.has(Attr::kDacl)) return Nfs4Status::kInval;
  if (given.has(Attr::kModeUmask) && purpose != SetPurpose::kCreate) return Nfs4Status::kInval;
  return Nfs4Status::kOk;
}

}  // namespace

Bitmap Bitmap::decode(rpc::XdrReader& in) {
  Bitmap map;
  const std::uint32_t count = in.u32();
  for (std::uint32_t i = 0; i < count && in.ok(); ++i) {
    const std::uint32_t word = in.u32();
    if (i < kWords) {
      map.words_[i] = word;
    } else {
      map.beyond_ |= word != 0;
    }
  }
  return map;
}

std::size_t Bitmap::encoded_bytes() const {
  std::size_t count = kWords;
  while (count > 0 && words_[count - 1] == 0) --count;
  return 4 + 4 * count;
}

void Bitmap::encode(rpc::XdrWriter& out) const {
  const std::size_t count = encoded_bytes() / 4 - 1;
  out.u32(static_cast<std::uint32_t>(count));
  for (std::size_t i = 0; i < count; ++i) out.u32(words_[i]);
}

const Bitmap& supported_attributes(std::uint32_t minor) {
  return kSupported[index_of(minor)];
}

const Bitmap& exclusive_create_attributes(std::uint32_t minor) {
  return kExclusiveCreate[index_of(minor)];
}

Subject subject_in_export(const Compound& c, const core::Attributes& attr) {
  const core::Export& entered = c.access.entered();
  const auto fileid = static_cast<std::uint64_t>(attr.id);
  return {.attr = attr,
          .ref = {attr.id, attr.generation, entered.id},
          .fsid = {c.ns.volume_id(), static_cast<std::uint64_t>(entered.id)},
          .mounted_on = attr.id == entered.root ? junction_fileid(entered.id) : fileid};
}

Nfs4Status encode_attributes(Compound& c, const Bitmap& wanted, const Subject& subject) {
  const Bitmap shown = (wanted & supported_attributes(c.minor)) - kWriteOnly;
  Asked asked;
  if (const Nfs4Status status = ask(c, shown, subject, asked); status != Nfs4Status::kOk) return status;
  shown.encode(c.out);
  const std::size_t length_at = c.out.size();
  c.out.u32(0);
  shown.for_each([&](Attr attribute) { put_attribute(c, attribute, subject, asked); });
  c.out.patch_u32(length_at, static_cast<std::uint32_t>(c.out.size() - length_at - 4));
  return Nfs4Status::kOk;
}

std::size_t encoded_bytes_min(const Bitmap& wanted, std::uint32_t minor) {
  const Bitmap shown = (wanted & supported_attributes(minor)) - kWriteOnly;
  return shown.encoded_bytes() + 4 + attribute_value_bytes_min(shown);
}

std::size_t attribute_value_bytes_min(const Bitmap& shown) {
  std::size_t bytes = 0;
  shown.for_each([&](Attr attribute) { bytes += attribute_bytes_min(attribute); });
  return bytes;
}

DecodedAttributes decode_attributes(rpc::XdrReader& in, std::uint32_t minor, SetPurpose purpose, const IdNames& names) {
  DecodedAttributes decoded;
  const Bitmap given = Bitmap::decode(in);
  const auto values = in.opaque(~std::uint32_t{0});
  if (!in.ok()) return decoded;
  decoded.status = check_settable(given, minor, purpose);
  if (decoded.status != Nfs4Status::kOk) return decoded;
  decoded.given = given;
  ValueReader reader(rpc::XdrReader(values), names, decoded);
  given.for_each([&](Attr attribute) { reader.read(attribute); });
  if (!reader.complete()) in.reject();
  return decoded;
}

}  // namespace stoa::nfs4
