#include "appliance/cli/explain_remedies.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <utility>

namespace stoa::cli {
namespace {

std::string told(const char* code, Json parameters = Json::object()) {
  return explain_remedy({{"code", code}, {"parameters", std::move(parameters)}, {"what", ""}});
}

Json quota(const Json& user, const Json& group, const char* resource, unsigned recycled, unsigned uploads) {
  return {
      {"path", "/team"},        {"user", user}, {"group", group}, {"resource", resource}, {"recycled_bytes", recycled},
      {"upload_bytes", uploads}};
}

TEST(ExplainRemediesTest, EachCauseOfTheServerHasARemedy) {
  std::ifstream file(STOA_SOURCE_DIR "/frontends/admin/openapi.yaml");
  std::size_t codes = 0;
  for (std::string line; std::getline(file, line);) {
    const std::size_t at = line.find("[no_way, ");
    if (at == std::string::npos) continue;
    std::istringstream words(line.substr(at + 1, line.find(']') - at - 1));
    for (std::string word; std::getline(words >> std::ws, word, ','); ++codes) {
      const std::string text = told(word.c_str());
      EXPECT_NE(text, "") << word;
      EXPECT_FALSE(text.ends_with('.')) << text;
    }
  }
  EXPECT_GT(codes, 20U);
}

TEST(ExplainRemediesTest, WhatAnotherVersionSaysIsNoError) {
  EXPECT_EQ(told("of_a_newer_server"), "");
  EXPECT_EQ(explain_remedy(Json::object()), "");
  EXPECT_EQ(explain_remedy(Json::object({{"code", 7}})), "");
  EXPECT_EQ(explain_remedy(Json::object({{"code", "sealed"}})), "stoa unseal ''");
  EXPECT_EQ(told("sealed", "/x"), "stoa unseal ''");
  EXPECT_EQ(told("limit", {{"limits", 7}}), told("limit"));
}

TEST(ExplainRemediesTest, CommandsCanBePasted) {
  EXPECT_EQ(told("sealed", {{"path", "/a"}}), "stoa unseal /a");
  EXPECT_EQ(told("no_export", {{"path", "/not so plain"}}), "stoa export create NAME --path '/not so plain'");
  EXPECT_EQ(told("no_export", {{"path", "/it's"}}), "stoa export create NAME --path '/it'\\''s'");
  EXPECT_EQ(told("export_read_only", {{"export", "team"}}), "stoa export set team --read-write");
}

TEST(ExplainRemediesTest, RightsAreOfAListOrOfTheMode) {
  Json denied{{"user", "ann"}, {"path", "/team"}, {"list", false}};
  EXPECT_EQ(told("denied", denied),
            "change its mode or owner (chmod, chown), or give it a list: stoa acl set /team FILE; or put the user into "
            "a group that may: stoa user set ann --group GROUP, with all groups that it is to have");
  denied["list"] = true;
  EXPECT_TRUE(told("no_way", denied)
                  .starts_with("see who may with stoa acl get /team, and change it with stoa acl set /team FILE; "));
}

TEST(ExplainRemediesTest, AQuotaIsOfADirectoryOrOfAnOwnerInIt) {
  EXPECT_EQ(told("quota_full", quota(nullptr, nullptr, "bytes", 0, 0)),
            "raise it: stoa quota set /team --bytes MORE; or remove something below it");
  EXPECT_EQ(told("quota_full", quota("ann", nullptr, "files", 0, 0)),
            "raise it: stoa quota set /team --user ann --files MORE; or remove something below it");
  EXPECT_EQ(told("soft_limit", quota(nullptr, "1000", "bytes", 0, 0)),
            "raise it: stoa quota set /team --group 1000 --soft-bytes MORE, or give more time: stoa quota set /team "
            "--group 1000 --grace TIME; or remove something below it");
  EXPECT_EQ(told("quota_full", quota(nullptr, nullptr, "bytes", 100, 7)),
            "raise it: stoa quota set /team --bytes MORE; or remove something below it; its recycle bin alone keeps "
            "100 bytes: stoa recycle purge /team --all; S3 multipart uploads that have not ended take 7 bytes: "
            "complete or abort them");
}

TEST(ExplainRemediesTest, ALimitIsRaisedWhereItIsSet) {
  EXPECT_EQ(told("limit", {{"target", "/team"}, {"limits", Json::array()}}),
            "stoa qos top shows who uses how much; the limit is of a QoS class above this one: stoa qos list");
  EXPECT_EQ(told("limit", {{"target", "/team"}, {"limits", {"metadata_ops", "read_bytes"}}}),
            "stoa qos top shows who uses how much; raise the limit: stoa qos set /team --read MORE or --metadata MORE, "
            "or that of a QoS class above it");
}

}  // namespace
}  // namespace stoa::cli
