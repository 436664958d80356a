#include "frontends/s3/xml/reader.h"

#include <expat.h>

#include <memory>

namespace stoa::s3 {
namespace {

struct Builder {
  XML_Parser parser = nullptr;
  std::vector<XmlNode> open;  // the path to the present element; a closed one moves into its parent
  std::optional<XmlNode> root;
  std::size_t nodes = 0;
  bool refused = false;

  void refuse() {
    refused = true;
    XML_StopParser(parser, XML_FALSE);
  }
};

// With namespace processing expat gives "uri\nlocal".
std::string_view local_name(const char* name) {
  const std::string_view whole(name);
  const std::size_t separator = whole.rfind('\n');
  return separator == std::string_view::npos ? whole : whole.substr(separator + 1);
}

void on_start(void* data, const XML_Char* name, const XML_Char** /*attributes*/) {
  auto& builder = *static_cast<Builder*>(data);
  if (builder.refused) return;
  if (builder.open.size() == kXmlDepthMax || ++builder.nodes > kXmlNodesMax) return builder.refuse();
  builder.open.push_back(XmlNode{.name = std::string(local_name(name)), .text = {}});
}

void on_end(void* data, const XML_Char* /*name*/) {
  auto& builder = *static_cast<Builder*>(data);
  if (builder.refused || builder.open.empty()) return;
  XmlNode done = std::move(builder.open.back());
  builder.open.pop_back();
  if (builder.open.empty()) {
    builder.root = std::move(done);
  } else {
    builder.open.back().children.push_back(std::move(done));
  }
}

void on_text(void* data, const XML_Char* text, int length) {
  auto& builder = *static_cast<Builder*>(data);
  if (builder.refused || builder.open.empty()) return;
  builder.open.back().text.append(text, static_cast<std::size_t>(length));
}

void on_doctype(void* data, const XML_Char*, const XML_Char*, const XML_Char*, int) {
  static_cast<Builder*>(data)->refuse();
}

}  // namespace

const XmlNode* XmlNode::child(std::string_view child_name) const {
  for (const XmlNode& candidate : children) {
    if (candidate.name == child_name) return &candidate;
  }
  return nullptr;
}

std::optional<std::string_view> XmlNode::value(std::string_view child_name) const {
  const XmlNode* found = child(child_name);
  if (found == nullptr) return std::nullopt;
  return found->text;
}

std::optional<XmlNode> parse_xml(std::string_view document) {
  if (document.empty() || document.size() > (std::size_t{1} << 30)) return std::nullopt;
  const std::unique_ptr<XML_ParserStruct, decltype(&XML_ParserFree)> parser(XML_ParserCreateNS(nullptr, '\n'),
                                                                            &XML_ParserFree);
  if (!parser) return std::nullopt;
  Builder builder{.parser = parser.get()};
  XML_SetUserData(parser.get(), &builder);
  XML_SetElementHandler(parser.get(), on_start, on_end);
  XML_SetCharacterDataHandler(parser.get(), on_text);
  XML_SetStartDoctypeDeclHandler(parser.get(), on_doctype);
  const XML_Status status = XML_Parse(parser.get(), document.data(), static_cast<int>(document.size()), XML_TRUE);
  if (status != XML_STATUS_OK || builder.refused) return std::nullopt;
  return std::move(builder.root);
}

}  // namespace stoa::s3
