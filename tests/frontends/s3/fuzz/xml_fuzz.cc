#include "frontends/s3/xml/reader.h"
#include "frontends/s3/xml/writer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)stoa::s3::parse_xml(text);
  std::string out;
  stoa::s3::append_xml_text(out, text);
  return 0;
}
