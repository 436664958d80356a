// fattr4 for setting: the first word is the minor version, the rest bitmap and values.
#include "base/assert.h"
#include "frontends/nfs/fuzz/empty_namespace.h"
#include "frontends/nfs/v4/acl_values.h"
#include "frontends/nfs/v4/attributes.h"

namespace {

using namespace stoa;

void check_bitmap(const nfs4::Bitmap& map) {
  rpc::ReplyBuffer buffer;
  rpc::XdrWriter out(buffer);
  map.encode(out);
  STOA_ASSERT(buffer.size() == map.encoded_bytes());
  rpc::XdrReader in(buffer.bytes());
  STOA_ASSERT(nfs4::Bitmap::decode(in) == map);
  STOA_ASSERT(in.ok() && in.left() == 0);
}

// An accepted ACL is within the limits, and comes back unchanged.
void check_acl(const core::Acl& acl, const nfs4::IdNames& names) {
  STOA_ASSERT(acl.entries.size() <= core::kAclEntriesMax);
  for (const auto form : {nfs4::AclForm::kAcl, nfs4::AclForm::kDacl}) {
    rpc::ReplyBuffer buffer;
    rpc::XdrWriter out(buffer);
    nfs4::put_acl(out, form, acl, names);
    rpc::XdrReader in(buffer.bytes());
    const nfs4::DecodedAcl again = nfs4::read_acl(in, form, names);
    STOA_ASSERT(in.ok() && in.left() == 0 && again.status == nfs4::Nfs4Status::kOk);
    if (form == nfs4::AclForm::kDacl) STOA_ASSERT(again.acl == acl);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  static const test::OneExport registry;
  rpc::XdrReader words(std::as_bytes(std::span(data, size)));
  const std::uint32_t minor = words.u32() % 3;
  for (const auto purpose : {nfs4::SetPurpose::kSetattr, nfs4::SetPurpose::kCreate}) {
    rpc::XdrReader in = words;
    const nfs4::DecodedAttributes decoded = nfs4::decode_attributes(in, minor, purpose, {registry, "example.org"});
    if (!in.ok() || decoded.status != nfs4::Nfs4Status::kOk) continue;
    STOA_ASSERT(!decoded.given.exceeds(nfs4::exclusive_create_attributes(minor)));
    STOA_ASSERT(!decoded.set.size || *decoded.set.size <= core::kFileBytesMax);
    STOA_ASSERT(!decoded.set.mode || *decoded.set.mode <= 07777);
    if (decoded.set.acl != nullptr) check_acl(*decoded.set.acl, {registry});
    check_bitmap(decoded.given);
  }
  return 0;
}
