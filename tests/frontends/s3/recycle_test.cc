// Deletions and overwrites by S3 clients below a recycle policy; the bin itself is invisible to
// them.
#include "tests/frontends/s3/protocol_fixture.h"

namespace stoa::s3::test {
namespace {

template <class Engine>
class RecycleS3Test : public ProtocolTest<Engine> {
 protected:
  void SetUp() override {
    ProtocolTest<Engine>::SetUp();
    ASSERT_TRUE(this->volume_->registry().set_recycle({.dir = this->root_}));
  }
  std::vector<core::RecycledItem> items() {
    const auto reply = this->ns().list_recycled({}, {.dir = this->root_});
    return reply ? reply->items : std::vector<core::RecycledItem>{};
  }
};
TYPED_TEST_SUITE(RecycleS3Test, core::test::Engines);

TYPED_TEST(RecycleS3Test, OverwrittenAndDeletedObjectsAreKept) {
  ASSERT_TRUE(this->client_->put("a/k", "first").ok());
  ASSERT_TRUE(this->client_->put("a/k", "second").ok());
  ASSERT_TRUE(this->client_->request("DELETE", "a/k", {}, "").ok());
  const auto items = this->items();
  ASSERT_EQ(items.size(), 2u);
  for (const core::RecycledItem& item : items) {
    EXPECT_TRUE(item.path.ends_with("/a/k")) << item.path;
    EXPECT_EQ(item.protocol, core::Protocol::kS3);
    EXPECT_EQ(item.uid, 1000u);
  }
  EXPECT_EQ(this->read(items[0].id), "first");
  EXPECT_EQ(this->read(items[1].id), "second");
  EXPECT_EQ(this->client_->list().reply.body.find("<Key>"), std::string::npos);
  EXPECT_EQ(this->client_->get(".recycle/1000/" + items[0].name).status, 404);
  ASSERT_TRUE(this->ns().restore({}, {items[1].item}));
  EXPECT_EQ(this->client_->get("a/k").body, "second");
}

// "Try again", as for a conflict, would be tried for ever.
TYPED_TEST(RecycleS3Test, TheNameOfTheBinIsDenied) {
  ASSERT_TRUE(this->client_->put("k", "text").ok());
  ASSERT_TRUE(this->client_->request("DELETE", "k", {}, "").ok());
  for (const char* key : {".recycle", ".recycle/x", ".recycle/1000/x", ".recycle/"}) {
    const auto reply = this->client_->put(key, "text");
    EXPECT_EQ(reply.status, 403) << key;
    EXPECT_NE(reply.body.find("<Code>AccessDenied</Code>"), std::string::npos) << key << ": " << reply.body;
  }
  EXPECT_EQ(this->items().size(), 1u);
}

TYPED_TEST(RecycleS3Test, DeleteObjectsKeepsThemAll) {
  for (const char* key : {"x", "y"}) ASSERT_TRUE(this->client_->put(key, "text").ok());
  ASSERT_TRUE(this->client_->remove_many({"x", "y"}).ok());
  EXPECT_EQ(this->items().size(), 2u);
  EXPECT_EQ(this->usage(this->root_), (core::Usage{8, 2, 0}));
}

}  // namespace
}  // namespace stoa::s3::test
