#include "frontends/admin/json_body.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stoa::admin {
namespace {

using testing::ElementsAre;

TEST(JsonBodyTest, WhatIsNoObjectIsRefused) {
  for (const char* text : {"[", "[]", "1", "\"a\"", "null", "{", "{\"a\":}", "{} {}", "\xff"}) {
    const auto body = JsonBody::parse(text);
    ASSERT_FALSE(body) << text;
    EXPECT_EQ(body.error().code, Errc::kInvalid);
  }
  EXPECT_TRUE(JsonBody::parse(""));
  EXPECT_TRUE(JsonBody::parse(" \n"));
}

TEST(JsonBodyTest, AMemberThatIsGivenTwiceIsRefused) {
  for (const char* text : {R"({"a":1,"a":2})", R"({"a":1,"b":[],"a":1})", R"({"a":{"b":1,"b":2}})",
                           R"({"a":[{"b":1},{"c":1,"c":2}]})", R"({"a":1,"\u0061":2})"}) {
    const auto body = JsonBody::parse(text);
    ASSERT_FALSE(body) << text;
    EXPECT_EQ(body.error().code, Errc::kInvalid);
    EXPECT_EQ(body.error().cause, Cause::kMemberTwice);
  }
  for (const char* text :
       {R"({"a":{"a":{"a":1}}})", R"({"a":[{"b":1},{"b":2}],"b":{"a":1}})", R"({"b":{"a":1},"a":{"b":1}})"})
    EXPECT_TRUE(JsonBody::parse(text)) << text;
}

TEST(JsonBodyTest, DeepNestingDoesNotExhaustTheStack) {
  const std::string deep = "{\"a\":" + std::string(500'000, '[') + std::string(500'000, ']') + "}";
  auto body = JsonBody::parse(deep);
  if (body) {
    EXPECT_FALSE(body->finish());
  }
}

TEST(JsonBodyTest, WrongTypesAreNamed) {
  auto body = JsonBody::parse(R"({"t": 1, "f": 1, "n": -1, "i": 4294967296, "l": ["a", 1], "g": [1, -1], "o": [1]})");
  ASSERT_TRUE(body);
  EXPECT_FALSE(body->text("t"));
  EXPECT_FALSE(body->flag("f"));
  EXPECT_FALSE(body->number("n", 10));
  EXPECT_FALSE(body->id("i"));
  EXPECT_FALSE(body->texts("l"));
  EXPECT_FALSE(body->ids("g"));
  EXPECT_FALSE(body->objects("o"));
  EXPECT_THAT(body->finish().error().arguments, ElementsAre("t", "must be a string"));
}

TEST(JsonBodyTest, MembersThatNobodyAskedForAreRefused) {
  auto body = JsonBody::parse(R"({"name": "a", "nmae": "b"})");
  EXPECT_EQ(body->text("name"), "a");
  EXPECT_EQ(body->finish().error().cause, Cause::kMemberUnknown);
  EXPECT_THAT(body->finish().error().arguments, ElementsAre("nmae", "name"));
}

TEST(JsonBodyTest, NestedProblemsTellWhere) {
  auto body = JsonBody::parse(R"({"clients": [{"network": "*"}, {"network": 5}]})");
  auto clients = body->objects("clients");
  ASSERT_TRUE(clients);
  ASSERT_EQ(clients->size(), 2u);
  EXPECT_EQ((*clients)[0].text("network"), "*");
  EXPECT_TRUE((*clients)[0].finish());
  (*clients)[1].text("network");
  EXPECT_EQ((*clients)[1].finish().error().arguments.at(0), "clients[1].network");
}

}  // namespace
}  // namespace stoa::admin
