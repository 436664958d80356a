// The web console's files, and the requests of its first page.
#include <algorithm>

#include "base/metrics.h"
#include "tests/frontends/admin/admin_fixture.h"

namespace stoa::admin {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;

constexpr ConsoleFile kFiles[] = {
    {.path = "/", .content_type = "text/html; charset=utf-8", .bytes = "<!doctype html>", .etag = "\"page\""},
    {.path = "/assets/index-1a2b.js",
     .content_type = "text/javascript",
     .bytes = "\x1f\x8b script",
     .etag = "\"script\"",
     .gzip = true,
     .immutable = true},
};

class ConsoleTest : public AdminTest {
 protected:
  ConsoleTest() { service_->console = kFiles; }
  Reply ask(const std::string& path, const std::string& if_none_match = {}) {
    return dispatch(*service_,
                    {.method = Method::kGet, .path = path, .if_none_match = if_none_match, .client = "10.1.2.3"});
  }
};

TEST_F(ConsoleTest, ServesThePageToWhoeverAsks) {
  const Reply page = ask("/");
  EXPECT_EQ(page.status, 200u);
  EXPECT_EQ(page.body, "<!doctype html>");
  EXPECT_EQ(page.content_type, "text/html; charset=utf-8");
  EXPECT_THAT(page.headers, Contains(Pair("Cache-Control", "no-cache")));
  EXPECT_THAT(page.headers, Contains(Pair("ETag", "\"page\"")));
  EXPECT_THAT(page.headers, Contains(Pair("Content-Security-Policy", HasSubstr("default-src 'self'"))));
  EXPECT_THAT(page.headers, Not(Contains(Pair("Content-Encoding", "gzip"))));
}

TEST_F(ConsoleTest, AssetsAreCompressedAndKeptForEver) {
  const Reply script = ask("/assets/index-1a2b.js");
  EXPECT_EQ(script.status, 200u);
  EXPECT_EQ(script.body, kFiles[1].bytes);
  EXPECT_THAT(script.headers, Contains(Pair("Content-Encoding", "gzip")));
  EXPECT_THAT(script.headers, Contains(Pair("Cache-Control", HasSubstr("immutable"))));
}

TEST_F(ConsoleTest, WhoHasTheFileDoesNotGetItAgain) {
  for (const char* tag : {"\"page\"", "W/\"page\"", "\"other\", \"page\"", "*"}) {
    const Reply page = ask("/", tag);
    EXPECT_EQ(page.status, 304u) << tag;
    EXPECT_EQ(page.body, "") << tag;
    EXPECT_THAT(page.headers, Contains(Pair("ETag", "\"page\""))) << tag;
  }
  EXPECT_EQ(ask("/", "\"older\"").status, 200u);
}

TEST_F(ConsoleTest, OnlyExactNamesAreServed) {
  for (const char* path :
       {"/assets/", "/assets/index", "/assets/index-1a2b.js/", "/assets/../", "/assets/%69ndex-1a2b.js",
        "/assets/..%2f..%2fetc%2fpasswd", "/assets//index-1a2b.js", "/index.html", "/assets"}) {
    EXPECT_EQ(ask(path).status, 404u) << path;
  }
}

TEST_F(ConsoleTest, NothingIsChangedThere) {
  for (const Method method : {Method::kPost, Method::kPut, Method::kPatch, Method::kDelete}) {
    const Answer answer = call(method, "/");
    EXPECT_EQ(answer.status, 405u);
  }
}

TEST_F(ConsoleTest, WithoutConsoleThereIsNone) {
  service_->console = {};
  EXPECT_EQ(ask("/").status, 404u);
}

TEST_F(ConsoleTest, ActivityNeedsTheToken) {
  EXPECT_EQ(ask("/v1/activity").status, 401u);
  EXPECT_EQ(get("/v1/activity?x=1").status, 400u);
}

TEST_F(ConsoleTest, ActivitySumsWhatTheProtocolsCount) {
  const auto labels = [](const char* procedure, const char* direction = nullptr) {
    Labels all{{"program", "nfs"}, {"procedure", procedure}};
    if (direction != nullptr) all.emplace_back("direction", direction);
    return all;
  };
  metrics_.counter("stoa_nfs_requests_total", "", labels("read")).add(3);
  metrics_.counter("stoa_nfs_requests_total", "", labels("write")).add(4);
  metrics_.counter("stoa_nfs_errors_total", "", labels("write")).add();
  metrics_.counter("stoa_nfs_bytes_total", "", labels("read", "in")).add(10);
  metrics_.counter("stoa_nfs_bytes_total", "", labels("write", "in")).add(100);
  metrics_.counter("stoa_nfs_bytes_total", "", labels("read", "out")).add(5000);
  Histogram& read = metrics_.histogram("stoa_nfs_request_seconds", "", labels("read"));
  Histogram& write = metrics_.histogram("stoa_nfs_request_seconds", "", labels("write"));
  for (int i = 0; i < 98; ++i) read.observe_ns(100'000);    // the bucket from 64 to 128 us
  for (int i = 0; i < 2; ++i) write.observe_ns(3'000'000);  // from 2048 to 4096

  const Json reply = get("/v1/activity").json;
  ASSERT_EQ(reply["protocols"].size(), 1u);
  const Json& nfs = reply["protocols"][0];
  EXPECT_EQ(nfs["name"], "nfs");
  EXPECT_EQ(nfs["operations"], 7);
  EXPECT_EQ(nfs["errors"], 1);
  EXPECT_EQ(nfs["bytes_written"], 110);
  EXPECT_EQ(nfs["bytes_read"], 5000);
  EXPECT_NEAR(nfs["latency"]["p50"].get<double>(), 64 + 64.0 * 50 / 98, 0.01);
  EXPECT_NEAR(nfs["latency"]["p99"].get<double>(), 3072, 0.01);
  EXPECT_EQ(nfs["latency"]["counts"][7], 98);
  EXPECT_EQ(nfs["latency"]["counts"][12], 2);
  const Json& capacity = reply["capacity"];
  EXPECT_EQ(capacity["used"].get<std::uint64_t>() + capacity["free"].get<std::uint64_t>(),
            capacity["total"].get<std::uint64_t>());
}

TEST_F(ConsoleTest, WhatIsFreeIsOfTheDisksAndWhatAQuotaLeavesIsSaidBesideIt) {
  const core::BlobStore::Space disks = blobs_.space();
  EXPECT_EQ(get("/v1/status").json["volume"]["space"],
            (Json{{"total", disks.total}, {"free", disks.free}, {"available", disks.free}}));
  ASSERT_EQ(call(Method::kPut, "/v1/quota?path=/", R"({"bytes": 5000})").status, 200u);
  for (const Json& space : {get("/v1/status").json["volume"]["space"], get("/v1/volume").json["space"],
                            get("/v1/activity").json["capacity"]}) {
    EXPECT_EQ(space["total"], disks.total);
    EXPECT_EQ(space["free"], disks.free);
    EXPECT_EQ(space["available"], 5000);
  }
  EXPECT_EQ(get("/v1/explain?path=/").json["bytes_free"], disks.free);
  ASSERT_EQ(call(Method::kPut, "/v1/quota?path=/", R"({"bytes": 9007199254740993})").status, 200u);
  EXPECT_EQ(get("/v1/activity").json["capacity"]["available"], disks.free);
}

TEST_F(ConsoleTest, BeforeTheFirstRequestThereIsNoLatency) {
  const Json latency = get("/v1/activity").json["protocols"][0]["latency"];
  EXPECT_TRUE(latency["p50"].is_null());
  EXPECT_TRUE(latency["p99"].is_null());
}

TEST_F(ConsoleTest, ClosedProtocolsAreNotListed) {
  service_->protocols = [] {
    return std::vector<ProtocolStatus>{{"nfs", false, ""}, {"s3", true, "http://127.0.0.1:1"}};
  };
  const Json protocols = get("/v1/activity").json["protocols"];
  ASSERT_EQ(protocols.size(), 1u);
  EXPECT_EQ(protocols[0]["name"], "s3");
}

}  // namespace
}  // namespace stoa::admin
