// fattr4 on the wire (RFC 8881 chapter 5, RFC 7862 12.2, RFC 8275, RFC 8276): the attributes and their encoding. They
// are written for GETATTR, READDIR and VERIFY, and read for SETATTR, CREATE and OPEN.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <initializer_list>
#include <optional>

#include "core/api/attributes.h"
#include "frontends/nfs/v4/compound.h"
#include "frontends/nfs/v4/id_names.h"

namespace stoa::nfs4 {

// The numbers of the attributes that mean something here.
enum class Attr : std::uint32_t {
  kSupportedAttrs = 0,
  kType = 1,
  kFhExpireType = 2,
  kChange = 3,
  kSize = 4,
  kLinkSupport = 5,
  kSymlinkSupport = 6,
  kNamedAttr = 7,
  kFsid = 8,
  kUniqueHandles = 9,
  kLeaseTime = 10,
  kRdattrError = 11,
  kAcl = 12,
  kAclSupport = 13,
  kArchive = 14,
  kCanSetTime = 15,
  kCaseInsensitive = 16,
  kCasePreserving = 17,
  kChownRestricted = 18,
  kFilehandle = 19,
  kFileId = 20,
  kFilesAvail = 21,
  kFilesFree = 22,
  kFilesTotal = 23,
  kHidden = 25,
  kHomogeneous = 26,
  kMaxFileSize = 27,
  kMaxLink = 28,
  kMaxName = 29,
  kMaxRead = 30,
  kMaxWrite = 31,
  kMode = 33,
  kNoTrunc = 34,
  kNumLinks = 35,
  kOwner = 36,
  kOwnerGroup = 37,
  kQuotaAvailHard = 38,
  kQuotaAvailSoft = 39,
  kQuotaUsed = 40,
  kRawDev = 41,
  kSpaceAvail = 42,
  kSpaceFree = 43,
  kSpaceTotal = 44,
  kSpaceUsed = 45,
  kSystem = 46,
  kTimeAccess = 47,
  kTimeAccessSet = 48,
  kTimeCreate = 50,
  kTimeDelta = 51,
  kTimeMetadata = 52,
  kTimeModify = 53,
  kTimeModifySet = 54,
  kMountedOnFileId = 55,
  kDacl = 58,
  kModeSetMasked = 74,
  kSuppattrExclcreat = 75,
  kFsCharsetCap = 76,
  kCloneBlksize = 77,
  kChangeAttrType = 79,
  kModeUmask = 81,
  kXattrSupport = 82,
  kOpenArguments = 86,
};

// bitmap4. Words beyond the known ones only leave a note that they were there.
class Bitmap {
 public:
  static constexpr std::size_t kWords = 3;

  constexpr Bitmap() = default;
  constexpr Bitmap(std::initializer_list<Attr> attributes) {
    for (const Attr attribute : attributes) add(attribute);
  }
  static Bitmap decode(rpc::XdrReader& in);
  void encode(rpc::XdrWriter& out) const;
  std::size_t encoded_bytes() const;  // of encode()

  constexpr void add(Attr attribute) { words_[word(attribute)] |= bit(attribute); }
  constexpr bool has(Attr attribute) const { return (words_[word(attribute)] & bit(attribute)) != 0; }
  // Whether there is any that is not in `other`.
  constexpr bool exceeds(const Bitmap& other) const { return beyond_ || !(*this - other).empty(); }
  constexpr bool meets(const Bitmap& other) const { return !(*this & other).empty(); }
  // No known attribute; unknown ones do not count.
  constexpr bool empty() const { return (words_[0] | words_[1] | words_[2]) == 0; }
  constexpr friend Bitmap operator&(Bitmap a, const Bitmap& b) {
    for (std::size_t i = 0; i < kWords; ++i) a.words_[i] &= b.words_[i];
    a.beyond_ = false;
    return a;
  }
  constexpr friend Bitmap operator|(Bitmap a, const Bitmap& b) {
    for (std::size_t i = 0; i < kWords; ++i) a.words_[i] |= b.words_[i];
    a.beyond_ |= b.beyond_;
    return a;
  }
  constexpr friend Bitmap operator-(Bitmap a, const Bitmap& b) {
    for (std::size_t i = 0; i < kWords; ++i) a.words_[i] &= ~b.words_[i];
    return a;
  }
  // In ascending order, as attrlist4 has them.
  template <class Visit>
  void for_each(Visit visit) const {
    for (std::size_t i = 0; i < kWords; ++i) {
      for (std::uint32_t left = words_[i]; left != 0; left &= left - 1) {
        visit(static_cast<Attr>(i * 32 + static_cast<std::size_t>(std::countr_zero(left))));
      }
    }
  }
  bool operator==(const Bitmap&) const = default;

 private:
  static constexpr std::size_t word(Attr attribute) { return static_cast<std::size_t>(attribute) / 32; }
  static constexpr std::uint32_t bit(Attr attribute) { return 1u << (static_cast<std::uint32_t>(attribute) % 32); }

  std::array<std::uint32_t, kWords> words_{};
  bool beyond_ = false;
};

// The attributes of this minor version (supported_attrs), and those that may be set while a file is made with
// EXCLUSIVE4_1 (suppattr_exclcreat).
const Bitmap& supported_attributes(std::uint32_t minor);
const Bitmap& exclusive_create_attributes(std::uint32_t minor);
// Attributes that can only be set (RFC 8881 5.5): kInval when a client reads one.
inline constexpr Bitmap kWriteOnly{Attr::kTimeAccessSet, Attr::kTimeModifySet, Attr::kModeSetMasked, Attr::kModeUmask};

// --- showing attributes
// --------------------------------------------------------------------------------------------------

struct Fsid {
  std::uint64_t major = 0;
  std::uint64_t minor = 0;
};

// An object as its attributes show it.
struct Subject {
  const core::Attributes& attr;
  core::FileRef ref;
  Fsid fsid;
  std::uint64_t mounted_on = 0;
};
// Of the export entered last.
Subject subject_in_export(const Compound& c, const core::Attributes& attr);

// fattr4 with the supported part of `wanted`. An error (of statfs, or kAccess for an ACL) leaves `c.out` as it was.
Nfs4Status encode_attributes(Compound& c, const Bitmap& wanted, const Subject& subject);
// The least that encode_attributes() writes, and the least that the values among it take.
std::size_t encoded_bytes_min(const Bitmap& wanted, std::uint32_t minor);
std::size_t attribute_value_bytes_min(const Bitmap& shown);

// --- setting attributes
// --------------------------------------------------------------------------------------------------

enum class SetPurpose : std::uint8_t { kSetattr, kCreate };

struct DecodedAttributes {
  // The error of well-formed attributes: kAttrNotSupp, kInval, kBadOwner, kFBig, kNoSpc. Damaged ones make the reader
  // fail.
  Nfs4Status status = Nfs4Status::kOk;
  core::SetAttributes set{};
  Bitmap given{};  // for attrsset of the reply
};
DecodedAttributes decode_attributes(rpc::XdrReader& in, std::uint32_t minor, SetPurpose purpose, const IdNames& names);

}  // namespace stoa::nfs4
