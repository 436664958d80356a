#include "frontends/native/client/ticket_client_proof.h"

#include "frontends/native/protocol/login.h"
#include "frontends/native/protocol/message.h"

namespace stoa::native {

Result<Bytes> TicketClientProof::make(std::initializer_list<std::span<const std::byte>> said,
                                      std::span<const std::byte> binding) {
  const Digest bound = digest(ProofOf::kClient, said, binding);
  auto token = context_.begin("stoa", host_, bound);
  if (!token && token.error().code == Errc::kNotFound) token = context_.begin("nfs", host_, bound);
  if (!token && token.error().code == Errc::kNotFound)
    return fail(Errc::kNotFound, "the Kerberos realm knows the server neither as stoa/" + host_ + " nor as nfs/" +
                                     host_ + "; name it in the URL as its keytab does, or have the principal made");
  if (!token) return fail(token.error());
  if (token->size() > kTokenBytesMax)
    return fail(Errc::kTooLarge, "the Kerberos ticket is larger than servers take; it is in too many groups");
  Bytes record;
  append_record(record, 0, TicketProof{.token = as_text(*token)});
  return record;
}

Status TicketClientProof::verify(const RecordView& shown, std::initializer_list<std::span<const std::byte>> said,
                                 std::span<const std::byte> binding) {
  TicketProof proof;
  if (!read_record(shown, proof) || proof.token.size() > kTokenBytesMax)
    return fail(Errc::kCorrupt, "the server's answer is damaged");
  STOA_CHECK_OK(context_.finish(as_bytes(proof.token)));
  const Bytes signed_bytes = to_sign(digest(ProofOf::kServer, said, binding), as_bytes(proof.token));
  if (context_.verify_mic(signed_bytes, as_bytes(proof.mic))) return {};
  return fail(Errc::kAccess, "what the server has heard of the log-in was changed on the way");
}

}  // namespace stoa::native
