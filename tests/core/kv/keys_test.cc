// Objects by key: storage, listing, and the view of POSIX protocols.
#include <functional>
#include <set>

#include "tests/core/volume_fixture.h"

namespace stoa::core::test {
namespace {

template <class Engine>
class KeysTest : public VolumeTest<Engine> {
 protected:
  std::vector<std::string> list(const ListKeysRequest& request) {
    std::vector<std::string> all;
    ListKeysRequest page = request;
    std::string after(request.start_after);
    for (int pages = 0; pages < 100; ++pages) {
      page.start_after = after;
      const auto reply = this->ns().list_keys(this->root_, page);
      if (!reply) return {"error: " + describe(reply.error())};
      EXPECT_LE(reply->keys.size() + reply->prefixes.size(), page.limit);
      for (const ListedKey& key : reply->keys) all.push_back(key.key);
      for (const std::string& prefix : reply->prefixes) all.push_back(prefix + "*");
      if (!reply->truncated) break;
      after = reply->next_start_after;
    }
    std::sort(all.begin(), all.end());
    return all;
  }
};
TYPED_TEST_SUITE(KeysTest, Engines);

using Names = std::vector<std::string>;

TYPED_TEST(KeysTest, EveryLegalKeyIsStorableAndListedInByteOrder) {
  const FileId b = *this->mkdir(kRootId, "bucket");
  const std::string longer(600, 'k');
  Names keys = {"a",       "a/b",         "a/b/c",    "a-b",   "a0", "//",   "/x",   "x//y",
                ".",       "..",          "./a",      "../a",  "d/", "e/f/", longer, longer + "/" + "x",
                "%S3-DOT", "a%S3-OBJECT", "\xff\xfe", "sp ace"};
  for (const std::string& key : keys) {
    ASSERT_TRUE(this->put(b, key, "content of " + key)) << key;
  }
  for (const std::string& key : keys) {
    const auto found = this->ns().lookup_key(this->root_, {b, key});
    ASSERT_TRUE(found) << key;
    EXPECT_EQ(this->read(found->attr.id), "content of " + key);
  }
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(this->list({.root = b}), keys);
  EXPECT_EQ(this->list({.root = b, .limit = 1}), keys);
  EXPECT_EQ(this->list({.root = b, .limit = 3}), keys);
  this->expect_consistent();

  // Every one of them is reachable by POSIX names, each name once.
  std::size_t files = 0;
  const std::function<void(FileId)> walk = [&](FileId dir) {
    std::set<std::string> seen;
    for (const std::string& name : this->names(dir)) {
      EXPECT_TRUE(seen.insert(name).second) << name;
      EXPECT_LE(name.size(), 255u);
      const auto found = this->ns().lookup(this->root_, {.parent = dir, .name = name});
      ASSERT_TRUE(found) << name;
      if (found->attr.type == FileType::kDirectory) {
        walk(found->attr.id);
      } else {
        ++files;
      }
    }
  };
  walk(b);
  EXPECT_EQ(files, keys.size());

  for (const std::string& key : keys) {
    const auto removed = this->ns().remove_key(this->root_, {.root = b, .key = key});
    ASSERT_TRUE(removed);
    EXPECT_TRUE(removed->removed) << key;
  }
  EXPECT_EQ(this->list({.root = b}), Names{});
  EXPECT_EQ(this->names(b), Names{});  // implied directories went with their last key
  this->expect_consistent();
}

TYPED_TEST(KeysTest, DelimitersRollUp) {
  const FileId b = *this->mkdir(kRootId, "bucket");
  for (const char* key : {"a", "b/1", "b/2", "b/c/3", "c", "d/4", "dd"}) ASSERT_TRUE(this->put(b, key, "x"));
  EXPECT_EQ(this->list({.root = b, .delimiter = "/"}), (Names{"a", "b/*", "c", "d/*", "dd"}));
  EXPECT_EQ(this->list({.root = b, .delimiter = "/", .limit = 1}), (Names{"a", "b/*", "c", "d/*", "dd"}));
  EXPECT_EQ(this->list({.root = b, .prefix = "b/", .delimiter = "/"}), (Names{"b/1", "b/2", "b/c/*"}));
  EXPECT_EQ(this->list({.root = b, .prefix = "b"}), (Names{"b/1", "b/2", "b/c/3"}));
  EXPECT_EQ(this->list({.root = b, .prefix = "b/c", .delimiter = "/"}), (Names{"b/c/*"}));
  EXPECT_EQ(this->list({.root = b, .delimiter = "/c"}), (Names{"a", "b/1", "b/2", "b/c*", "c", "d/4", "dd"}));
  EXPECT_EQ(this->list({.root = b, .delimiter = "d"}), (Names{"a", "b/1", "b/2", "b/c/3", "c", "d*"}));
  EXPECT_EQ(this->list({.root = b, .delimiter = "d", .limit = 1}), (Names{"a", "b/1", "b/2", "b/c/3", "c", "d*"}));
  EXPECT_EQ(this->list({.root = b, .start_after = "b/2"}), (Names{"b/c/3", "c", "d/4", "dd"}));
  EXPECT_EQ(this->list({.root = b, .delimiter = "/", .start_after = "b/"}), (Names{"c", "d/*", "dd"}));
  EXPECT_EQ(this->list({.root = b, .prefix = "zzz"}), Names{});
}

TYPED_TEST(KeysTest, DirectoriesOfOtherProtocolsArePrefixesAndNotKeys) {
  const FileId b = *this->mkdir(kRootId, "bucket");
  const FileId d = *this->mkdir(b, "dir");
  ASSERT_TRUE(this->mkdir(b, "empty"));
  ASSERT_TRUE(this->create(d, "f"));
  ASSERT_TRUE(this->ns().symlink(this->root_, {.parent = b, .name = "link", .target = "dir"}));
  EXPECT_EQ(this->list({.root = b}), (Names{"dir/f"}));
  EXPECT_EQ(this->list({.root = b, .delimiter = "/"}), (Names{"dir/*", "empty/*"}));
  // Made by another protocol, so not implied by keys: it stays.
  ASSERT_TRUE(this->ns().remove_key(this->root_, {.root = b, .key = "dir/f"})->removed);
  EXPECT_EQ(this->names(b), (Names{"dir", "empty", "link"}));
  EXPECT_FALSE(this->ns().remove_key(this->root_, {.root = b, .key = "link"})->removed);
}

TYPED_TEST(KeysTest, PutKeepsTheFileAndConditionsHold) {
  const FileId b = *this->mkdir(kRootId, "bucket");
  const auto first = this->put(b, "k", "one");
  ASSERT_TRUE(first);
  const auto second = this->put(b, "k", "two!");
  ASSERT_TRUE(second);
  EXPECT_TRUE(second->replaced);
  EXPECT_EQ(second->attr.id, first->attr.id);
  EXPECT_GT(second->attr.data_version, first->attr.data_version);
  PutKeyRequest request{.root = b, .key = "k", .bytes = {}};
  request.expect = ObjectExpectation{.must_not_exist = true};
  EXPECT_EQ(this->ns().put_key(this->root_, request).error().code, Errc::kPreconditionFailed);
  request.expect = ObjectExpectation{.version = first->attr.version()};
  EXPECT_EQ(this->ns().put_key(this->root_, request).error().code, Errc::kPreconditionFailed);
  EXPECT_EQ(this->read(first->attr.id), "two!");
  EXPECT_EQ(this->usage(b), (Usage{4, 1, 0}));
  this->expect_consistent();
}

TYPED_TEST(KeysTest, MetaTellsWhetherItStillDescribesTheContent) {
  const FileId b = *this->mkdir(kRootId, "bucket");
  const auto put = this->ns().put_key(this->root_, {.root = b, .key = "k", .meta = "etag"});
  ASSERT_TRUE(put);
  auto found = this->ns().lookup_key(this->root_, {b, "k"});
  ASSERT_TRUE(found && found->meta);
  EXPECT_EQ(found->meta->bytes, "etag");
  EXPECT_TRUE(found->meta->current(found->attr));
  ASSERT_TRUE(this->write(put->attr.id, 0, "changed by another protocol"));
  found = this->ns().lookup_key(this->root_, {b, "k"});
  ASSERT_TRUE(found && found->meta);
  EXPECT_FALSE(found->meta->current(found->attr));
}

TYPED_TEST(KeysTest, ADirectoryMadeForAKeyStaysWhenSomebodyWantedIt) {
  const FileId b = *this->mkdir(kRootId, "bucket");
  const std::vector<std::function<Status(FileId)>> wishes{
      [&](FileId dir) { return this->ns().set_quota(this->root_, {dir, {.bytes = 1000}}); },
      [&](FileId dir) -> Status {
        STOA_CHECK_OK(this->ns().setattr(this->root_, {.id = dir, .set = {.mode = 0700}}));
        return {};
      },
      [&](FileId dir) -> Status {
        STOA_CHECK_OK(this->ns().setattr(this->root_, {.id = dir}));
        return {};
      },
      [&](FileId dir) -> Status {
        STOA_CHECK_OK(this->ns().set_xattr(this->root_, {dir, "user.a", "x"}));
        return {};
      }};
  for (const auto& wish : wishes) {
    ASSERT_TRUE(this->put(b, "kept/below/k", "x"));
    const FileId kept = this->ns().lookup(this->root_, {b, "kept"})->attr.id;
    ASSERT_TRUE(wish(kept));
    ASSERT_TRUE(this->ns().remove_key(this->root_, {b, "kept/below/k"}));
    const auto still = this->ns().lookup(this->root_, {b, "kept"});
    ASSERT_TRUE(still);
    EXPECT_EQ(still->attr.id, kept);
    EXPECT_EQ(this->ns().lookup(this->root_, {kept, "below"}).error().code, Errc::kNotFound)
        << "nobody wanted that one";
    ASSERT_TRUE(this->ns().rmdir(this->root_, {b, "kept"}));
  }
  this->expect_consistent();
}

TYPED_TEST(KeysTest, ConcatenateJoinsPartsAndConsumesTheUpload) {
  const FileId b = *this->mkdir(kRootId, "bucket");
  const FileId upload = *this->mkdir(kMultipartId, "u1");
  std::vector<ConcatenatePart> parts;
  std::string all;
  for (int i = 0; i < 3; ++i) {
    const std::string text(i == 2 ? 10 : 40000, static_cast<char>('a' + i));
    parts.push_back({this->put(upload, "part" + std::to_string(i), text)->attr.id});
    all += text;
  }
  ASSERT_TRUE(this->put(upload, "meta", "of the upload"));
  ASSERT_TRUE(this->put(b, "x/obj", "old"));
  const auto joined = this->ns().concatenate(
      this->root_, {.root = b, .key = "x/obj", .parts = parts, .consume_dir = upload, .meta = "m"});
  ASSERT_TRUE(joined) << describe(joined.error());
  EXPECT_EQ(this->read(joined->attr.id), all);
  EXPECT_EQ(this->names(kMultipartId), Names{});
  EXPECT_EQ(this->usage(kMultipartId), Usage{});
  EXPECT_EQ(this->usage(b), (Usage{static_cast<std::int64_t>(all.size()), 1, 1}));
  this->expect_consistent();
  this->reopen();
  EXPECT_EQ(this->read(joined->attr.id), all);
  ASSERT_TRUE(this->ns().remove_key(this->root_, {.root = b, .key = "x/obj"}));
  ASSERT_TRUE(this->volume_->run_gc());
  std::size_t left = 0;
  this->blobs_.for_each([&](BlobId) { ++left; });
  EXPECT_EQ(left, 0u);
  this->expect_consistent();
}

}  // namespace
}  // namespace stoa::core::test
