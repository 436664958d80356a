#include <cstdlib>
#include <cstring>

#include "frontends/s3/http/date.h"
#include "frontends/s3/http/range.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stoa::s3;
  std::uint64_t length = 0;
  if (size < sizeof length) return 0;
  std::memcpy(&length, data, sizeof length);
  length >>= 1;
  const std::string_view text(reinterpret_cast<const char*>(data) + sizeof length, size - sizeof length);
  const auto check = [&](const ByteRange& range) {
    if (range.length == 0 || range.offset >= length || range.length > length - range.offset) std::abort();
  };
  if (const auto range = parse_range(text, length); range && *range) check(**range);
  if (const auto range = parse_copy_range(text, length)) check(*range);
  (void)parse_http_date(text);
  (void)parse_amz_date(text);
  return 0;
}
