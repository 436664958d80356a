#include <gtest/gtest.h>

#include "frontends/s3/xml/reader.h"
#include "frontends/s3/xml/writer.h"

namespace stoa::s3 {
namespace {

std::string text_of(std::string_view text) {
  std::string out;
  append_xml_text(out, text);
  return out;
}

TEST(XmlWriterTest, EscapesMarkupControlsAndBrokenUtf8) {
  EXPECT_EQ(text_of("a<b>&\"c"), "a&lt;b&gt;&amp;&quot;c");
  EXPECT_EQ(text_of("a\nb\t\r\x7f"), "a&#10;b&#9;&#13;&#127;");
  // Characters that XML 1.0 cannot hold, not even by number, would make the whole document
  // unreadable.
  for (const char* bad : {"\x01", "\x0b", "\x1f"}) EXPECT_EQ(text_of(bad), "\xEF\xBF\xBD");
  EXPECT_EQ(text_of("gr\xc3\xbc\xc3\x9f"), "gr\xc3\xbc\xc3\x9f");
  for (const char* bad : {"\xff", "\xc0", "\xed"}) EXPECT_EQ(text_of(bad), "\xEF\xBF\xBD");
  EXPECT_EQ(text_of("\xed\xa0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");  // a surrogate
}

TEST(XmlWriterTest, WhatItWritesCanBeRead) {
  XmlWriter xml("Root");
  xml.open("A").element("B", "x & y").element("N", 7).flag("F", true).close("A");
  const auto read = parse_xml(xml.finish());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->name, "Root");
  ASSERT_NE(read->child("A"), nullptr);
  EXPECT_EQ(read->child("A")->value("B"), "x & y");
  EXPECT_EQ(read->child("A")->value("N"), "7");
  EXPECT_EQ(read->child("A")->value("F"), "true");
}

TEST(XmlReaderTest, RefusesWhatIsNotWellFormedOrTooMuch) {
  for (const char* bad :
       {"", "<a>", "<a></b>", "text", "<a/><b/>", "<a>&undefined;</a>", "<!DOCTYPE a [<!ENTITY x \"y\">]><a>&x;</a>",
        "<!DOCTYPE a SYSTEM \"file:///etc/passwd\"><a/>"})
    EXPECT_FALSE(parse_xml(bad)) << bad;
  std::string deep;
  for (std::size_t i = 0; i <= kXmlDepthMax; ++i) deep += "<a>";
  for (std::size_t i = 0; i <= kXmlDepthMax; ++i) deep += "</a>";
  EXPECT_FALSE(parse_xml(deep));
  std::string wide = "<a>";
  for (std::size_t i = 0; i <= kXmlNodesMax; ++i) wide += "<b/>";
  EXPECT_FALSE(parse_xml(wide + "</a>"));
}

TEST(XmlReaderTest, IgnoresNamespacesAndJoinsText) {
  const auto read = parse_xml("<x:a xmlns:x=\"u\"><x:b>1<![CDATA[<2>]]>&#51;</x:b></x:a>");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->name, "a");
  EXPECT_EQ(read->value("b"), "1<2>3");
}

}  // namespace
}  // namespace stoa::s3
