#include "frontends/s3/xml/writer.h"

#include <utility>

namespace stoa::s3 {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// Length of the well-formed UTF-8 sequence at the front (RFC 3629 4); 0 when there is none.
std::size_t sequence_length(std::string_view text) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = at(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xC2 && first <= 0xDF   ? 2
                             : first >= 0xE0 && first <= 0xEF ? 3
                             : first >= 0xF0 && first <= 0xF4 ? 4
                                                              : 0;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((at(i) & 0xC0) != 0x80) return 0;
  }
  if (first == 0xE0 && at(1) < 0xA0) return 0;
  if (first == 0xED && at(1) > 0x9F) return 0;
  if (first == 0xF0 && at(1) < 0x90) return 0;
  if (first == 0xF4 && at(1) > 0x8F) return 0;
  // U+FFFE and U+FFFF are no XML characters.
  if (first == 0xEF && at(1) == 0xBF && at(2) >= 0xBE) return 0;
  return length;
}

}  // namespace

void append_xml_text(std::string& out, std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= 0x80) {
      const std::size_t length = sequence_length(text.substr(i));
      if (length == 0) {
        out += kReplacement;
        ++i;
      } else {
        out.append(text, i, length);
        i += length;
      }
      continue;
    }
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        if (c < 0x20 && c != '\t' && c != '\n' && c != '\r') {
          out += kReplacement;
        } else if (c < 0x20 || c == 0x7f) {
          out += "&#" + std::to_string(c) + ";";
        } else {
          out.push_back(static_cast<char>(c));
        }
    }
    ++i;
  }
}

XmlWriter::XmlWriter(std::string_view root, std::string_view xmlns) : root_(root) {
  out_ = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<";
  out_ += root;
  if (!xmlns.empty()) {
    out_ += " xmlns=\"";
    out_ += xmlns;
    out_ += '"';
  }
  out_ += '>';
}

XmlWriter& XmlWriter::open(std::string_view name) {
  out_ += '<';
  out_ += name;
  out_ += '>';
  return *this;
}

XmlWriter& XmlWriter::close(std::string_view name) {
  out_ += "</";
  out_ += name;
  out_ += '>';
  return *this;
}

XmlWriter& XmlWriter::element(std::string_view name, std::string_view text) {
  open(name);
  append_xml_text(out_, text);
  return close(name);
}

XmlWriter& XmlWriter::element(std::string_view name, std::uint64_t number) {
  return element(name, std::to_string(number));
}

XmlWriter& XmlWriter::raw(std::string_view markup) {
  out_ += markup;
  return *this;
}

std::string XmlWriter::finish() {
  close(root_);
  return std::move(out_);
}

}  // namespace stoa::s3
