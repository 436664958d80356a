#include "frontends/nfs/v4/security.h"

#include <algorithm>

namespace stoa::nfs4 {
namespace {

// 1.2.840.113554.1.2.2 (RFC 4121), as in DER without tag and length
constexpr std::array<unsigned char, 9> kKerberos{0x2a, 0x86, 0x48, 0x86, 0xf7, 0x12, 0x01, 0x02, 0x02};

void put_gss(rpc::XdrWriter& out, rpc::GssService service) {
  out.u32(static_cast<std::uint32_t>(rpc::AuthFlavor::kGss));
  out.opaque(std::as_bytes(std::span(kKerberos)));
  out.u32(0);  // GSS_C_QOP_DEFAULT
  out.u32(static_cast<std::uint32_t>(service));
}

}  // namespace

void answer_security(Compound& c, std::span<const core::SecurityFlavor> flavors) {
  const bool none = std::ranges::find(flavors, core::SecurityFlavor::kSys) != flavors.end();
  c.out.u32(static_cast<std::uint32_t>(flavors.size() + (none ? 1 : 0)));
  for (const core::SecurityFlavor flavor : flavors) {
    switch (flavor) {
      case core::SecurityFlavor::kSys:
        c.out.u32(static_cast<std::uint32_t>(rpc::AuthFlavor::kSys));
        break;
      case core::SecurityFlavor::kKrb5:
        put_gss(c.out, rpc::GssService::kNone);
        break;
      case core::SecurityFlavor::kKrb5i:
        put_gss(c.out, rpc::GssService::kIntegrity);
        break;
      case core::SecurityFlavor::kKrb5p:
        put_gss(c.out, rpc::GssService::kPrivacy);
        break;
    }
  }
  if (none) c.out.u32(static_cast<std::uint32_t>(rpc::AuthFlavor::kNone));
  if (c.minor == 0) return;
  c.current.reset();
  c.has_current_stateid = false;
}

}  // namespace stoa::nfs4
