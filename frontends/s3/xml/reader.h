// A reader of the small XML documents in requests: makes a tree, within bounds and without document types, so that no
// entity can grow or fetch anything.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stoa::s3 {

struct XmlNode {
  std::string name;  // without a prefix
  std::string text;
  std::vector<XmlNode> children{};

  const XmlNode* child(std::string_view child_name) const;
  // The text of the child, absent when there is none.
  std::optional<std::string_view> value(std::string_view child_name) const;
};

inline constexpr std::size_t kXmlDepthMax = 16;
inline constexpr std::size_t kXmlNodesMax = 200'000;

// Absent: not well-formed, has a document type, or exceeds a bound.
std::optional<XmlNode> parse_xml(std::string_view document);

}  // namespace stoa::s3
