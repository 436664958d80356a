// The first byte chooses the form and the size of the pieces. However it is cut, the outcome must be the same.
#include <cstdlib>

#include "frontends/s3/auth/aws_chunked.h"

namespace {
class Collect final : public stoa::s3::ByteSink {
 public:
  stoa::s3::Outcome<void> write(std::span<const std::byte> data) override {
    text.append(reinterpret_cast<const char*>(data.data()), data.size());
    return {};
  }
  std::string text;
};

struct Decoded {
  bool ok;
  std::string text;
};
Decoded decode(std::span<const std::uint8_t> body, bool is_signed, bool trailer, std::size_t step) {
  using namespace stoa::s3;
  AwsChunkedDecoder decoder(is_signed ? std::optional<ChunkSigning>(ChunkSigning{}) : std::nullopt, trailer);
  Collect sink;
  bool ok = true;
  for (std::size_t at = 0; ok && at < body.size(); at += step) {
    ok = decoder.feed(std::as_bytes(body.subspan(at, std::min(step, body.size() - at))), sink).has_value();
  }
  ok = ok && decoder.finish().has_value();
  return {ok, ok ? sink.text : std::string()};
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::span body(data + 1, size - 1);
  const bool is_signed = (data[0] & 1) != 0;
  const bool trailer = (data[0] & 2) != 0;
  const Decoded whole = decode(body, is_signed, trailer, body.size() + 1);
  const Decoded pieces = decode(body, is_signed, trailer, 1 + (data[0] >> 2));
  if (whole.ok != pieces.ok || whole.text != pieces.text) std::abort();
  return 0;
}
