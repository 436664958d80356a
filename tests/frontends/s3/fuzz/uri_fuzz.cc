#include <cstdlib>

#include "frontends/s3/http/uri.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stoa::s3;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)parse_target(text);
  // Encoding and decoding give the same text.
  if (percent_decode(uri_encode(text, true), false) != text) std::abort();
  if (percent_decode(uri_encode(text, false), true) != text) std::abort();
  return 0;
}
