// A writer of the XML of responses into one string.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stoa::s3 {

inline constexpr std::string_view kS3Namespace = "http://s3.amazonaws.com/doc/2006-03-01/";

// Escapes markup. Tabs and line ends become numeric references, because parsers change them otherwise. Other control
// characters, which XML 1.0 cannot hold (2.2) and no parser takes, and invalid UTF-8 become U+FFFD.
void append_xml_text(std::string& out, std::string_view text);

class XmlWriter {
 public:
  // Begins the document with its root element.
  explicit XmlWriter(std::string_view root, std::string_view xmlns = kS3Namespace);

  XmlWriter& open(std::string_view name);
  XmlWriter& close(std::string_view name);
  XmlWriter& element(std::string_view name, std::string_view text);
  XmlWriter& element(std::string_view name, std::uint64_t number);
  XmlWriter& flag(std::string_view name, bool value) { return element(name, value ? "true" : "false"); }
  XmlWriter& raw(std::string_view markup);

  std::string finish();  // closes the root

 private:
  std::string root_;
  std::string out_;
};

}  // namespace stoa::s3
