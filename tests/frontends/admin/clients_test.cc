#include "tests/frontends/admin/admin_fixture.h"

namespace stoa::admin {
namespace {

TEST_F(AdminTest, ClientsAreListedById) {
  EXPECT_EQ(get("/v1/clients").json, (Json{{"clients", Json::array()}, {"truncated", false}}));
  clients_ = {{.id = 1ull << 60, .protocol = "nfs", .version = "nfs4.1", .address = "::1", .name = "a\xff", .opens = 1},
              {.id = 7,
               .protocol = "nfs",
               .version = "nlm",
               .address = "10.0.0.1",
               .name = "alpha",
               .locks = 2,
               .leases = 3,
               .silent_seconds = 4}};
  const Json list = get("/v1/clients").json["clients"];
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0], (Json{{"id", "7"},
                           {"protocol", "nfs"},
                           {"version", "nlm"},
                           {"address", "10.0.0.1"},
                           {"name", "alpha"},
                           {"opens", 0},
                           {"locks", 2},
                           {"leases", 3},
                           {"silent_seconds", 4}}));
  EXPECT_EQ(list[1]["id"], "1152921504606846976");
  EXPECT_EQ(list[1]["name_base64"], "Yf8=");

  EXPECT_EQ(get("/v1/clients?limit=1").json["next_after"], "7");
  EXPECT_EQ(get("/v1/clients?after=7").json["clients"], Json::array({list[1]}));
  EXPECT_EQ(get("/v1/clients?after=0").json["clients"].size(), 2u);
  EXPECT_EQ(get("/v1/clients?after=18446744073709551615").json["clients"].size(), 0u);
  for (const char* const wrong : {"?after=x", "?after=18446744073709551616", "?limit=0", "?all=true"}) {
    EXPECT_EQ(get(std::string("/v1/clients") + wrong).status, 400u) << wrong;
  }
}

TEST_F(AdminTest, AClientIsEvictedByItsId) {
  clients_ = {{.id = 7}, {.id = 8}};
  EXPECT_EQ(call(Method::kDelete, "/v1/clients/7").status, 204u);
  EXPECT_EQ(clients_.size(), 1u);
  EXPECT_EQ(call(Method::kDelete, "/v1/clients/7").status, 404u);
  for (const char* const wrong : {"9", "8x", "-8", "x", "99999999999999999999999", "%2e"}) {
    const Answer answer = call(Method::kDelete, std::string("/v1/clients/") + wrong);
    EXPECT_EQ(answer.status, 404u) << wrong;
    EXPECT_THAT(answer.message(), testing::HasSubstr("there is no client"));
  }
  evict_fails_ = true;
  EXPECT_EQ(call(Method::kDelete, "/v1/clients/8").status, 500u);
  EXPECT_EQ(clients_.size(), 1u);
}

}  // namespace
}  // namespace stoa::admin
