#include <cstdlib>

#include "frontends/s3/meta/upload_record.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stoa::s3;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto record = ObjectRecord::decode(text); record && ObjectRecord::decode(record->encode()) != record)
    std::abort();
  if (const auto record = UploadRecord::decode(text); record && UploadRecord::decode(record->encode()) != record)
    std::abort();
  (void)from_base64(text);
  return 0;
}
