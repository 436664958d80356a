// fattr4 for setting: the first word is the minor version, the rest bitmap and values.
#include "base/assert.h"
#include "frontends/nfs/fuzz/empty_namespace.h"
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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  static const test::OneExport registry;
  rpc::XdrReader words(std::as_bytes(std::span(data, size)));
  const std::uint32_t minor = words.u32() % 3;
  for (const auto purpose : {nfs4::SetPurpose::kSetattr, nfs4::SetPurpose::kCreate}) {
    rpc::XdrReader in = words;
    const nfs4::DecodedAttributes decoded = nfs4::decode_attributes(in, minor, purpose, registry);
    if (!in.ok() || decoded.status != nfs4::Nfs4Status::kOk) continue;
    STOA_ASSERT(!decoded.given.exceeds(nfs4::exclusive_create_attributes(minor)));
    STOA_ASSERT(!decoded.set.size || *decoded.set.size <= core::kFileBytesMax);
    STOA_ASSERT(!decoded.set.mode || *decoded.set.mode <= 07777);
    check_bitmap(decoded.given);
  }
  return 0;
}
