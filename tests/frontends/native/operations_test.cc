// What operations do, alone and in batches.
#include "tests/frontends/native/native_fixture.h"

namespace stoa::test {
namespace {

class NativeOperations : public NativeTest {
 protected:
  NativeOperations() : client(host_client()), top{client->facts().root} {}
  std::string read_back(U64 file, U32 length = 1000) {
    Batch batch;
    batch.add<operations::read>({.file = File{file}, .length = length});
    const auto replies = client->call(batch, root());
    return replies ? text(replies->data(0)) : "failed";
  }
  std::unique_ptr<Client> client;
  const File top;
};

TEST_F(NativeOperations, AFileIsMadeWrittenAndClosedInOneMessage) {
  const std::uint64_t open = client->new_open();
  Batch batch;
  batch.add<operations::open>({.parent = top,
                               .open = open,
                               .disposition = kOpenCreate,
                               .access = kOpenWrite,
                               .set = {.which = kSetMode, .mode = 0400},
                               .name = "f"});
  batch.add_write({.file = result_of(0), .open = open}, bytes("hello"));
  batch.add<operations::commit>({.file = result_of(0), .open = open});
  batch.add<operations::close>({open});
  const auto replies = client->call(batch, {.as = Identity{.uid = 7, .gid = 7}});
  ASSERT_TRUE(replies);
  ASSERT_TRUE(replies->ok());
  EXPECT_EQ(replies->size(), 4u);
  EXPECT_EQ(client->counts().calls, 1u);
  EXPECT_EQ(read_back(replies->file(0)), "hello");
}

TEST_F(NativeOperations, ABatchEndsAtTheFirstFailure) {
  Batch batch;
  batch.add<operations::mkdir>({.parent = top, .name = "a"});
  batch.add<operations::lookup>({.parent = result_of(0), .name = "none"});
  batch.add<operations::mkdir>({.parent = top, .name = "b"});
  const auto replies = client->call(batch, root());
  ASSERT_TRUE(replies);
  EXPECT_EQ(replies->size(), 2u);
  EXPECT_FALSE(replies->ok());
  EXPECT_EQ(replies->get<operations::lookup>(1).error().code, Errc::kNotFound);
  EXPECT_FALSE(replies->get<operations::mkdir>(2));
  EXPECT_EQ(status<operations::lookup>(*client, {.parent = top, .name = "b"}), WireStatus::not_found);
}

TEST_F(NativeOperations, ADeepPathIsOneMessage) {
  Batch make, find;
  File at = top;
  for (std::size_t i = 0; i < kOperationsMax; ++i) {
    make.add<operations::mkdir>({.parent = at, .set = {.which = kSetMode, .mode = 0755}, .name = "d"});
    find.add<operations::lookup>({.parent = at, .name = "d"});
    at = result_of(i);
  }
  const auto made = client->call(make, root());
  ASSERT_TRUE(made && made->ok());
  const auto found = client->call(find, root());
  ASSERT_TRUE(found && found->ok());
  EXPECT_EQ(found->file(kOperationsMax - 1), made->file(kOperationsMax - 1));
  find.add<operations::lookup>({.parent = top, .name = "d"});
  EXPECT_EQ(client->call(find, root()).error().code, Errc::kTooLarge);
}

TEST_F(NativeOperations, RightsAreLookedAtByOpenOnly) {
  const CallOptions owner{.as = Identity{.uid = 7, .gid = 7}};
  const std::uint64_t open = client->new_open();
  Batch batch;
  batch.add<operations::open>({.parent = top,
                               .open = open,
                               .disposition = kOpenCreate,
                               .access = kOpenRead | kOpenWrite,
                               .set = {.which = kSetMode, .mode = 0666},
                               .name = "f"});
  const auto opened = client->call(batch, owner);
  ASSERT_TRUE(opened && opened->ok());
  const File file{opened->file(0)};
  const CallOptions other{.as = Identity{.uid = 8, .gid = 8}};
  const std::uint64_t theirs = client->new_open();
  ASSERT_EQ(status<operations::open>(*client, {.file = file, .open = theirs, .access = kOpenWrite}, other),
            WireStatus::ok);
  ASSERT_EQ(status<operations::setattr>(*client, {.file = file, .set = {.which = kSetMode, .mode = 0600}}, owner),
            WireStatus::ok);
  Batch write;
  write.add_write({.file = file, .open = theirs}, bytes("x"));
  EXPECT_EQ(client->call(write, other)->status(0), WireStatus::ok);
  Batch without;
  without.add_write({.file = file}, bytes("x"));
  EXPECT_EQ(client->call(without, other)->status(0), WireStatus::access);
  EXPECT_EQ(status<operations::open>(*client, {.file = file, .open = client->new_open(), .access = kOpenRead}, other),
            WireStatus::access);
  EXPECT_EQ(status<operations::setattr>(*client, {.file = file, .open = theirs, .set = {.which = kSetSize}}, other),
            WireStatus::ok);
}

TEST_F(NativeOperations, ReadsEndWhereTheFileDoes) {
  Batch batch;
  batch.add<operations::create>({.parent = top, .name = "f"});
  batch.add_write({.file = result_of(0), .stable = 1}, bytes("abcdef"));
  for (const auto& [offset, length] : {std::pair<U64, U32>{0, 0}, {0, 1}, {5, 1}, {5, 2}, {6, 1}, {7, 9}, {0, 100}})
    batch.add<operations::read>({.file = result_of(0), .offset = offset, .length = length});
  const auto replies = client->call(batch, root());
  ASSERT_TRUE(replies && replies->ok());
  const char* const expected[] = {"", "a", "f", "f", "", "", "abcdef"};
  for (std::size_t i = 0; i < 7; ++i) EXPECT_EQ(text(replies->data(2 + i)), expected[i]) << i;
}

TEST_F(NativeOperations, AMebibyteGoesThereAndBack) {
  std::string content(1 << 20, '.');
  for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>(i * 7 + (i >> 12));
  const auto made = must<operations::create>(*client, {.parent = top, .name = "big"});
  Batch write;
  write.add_write({.file = File{made.attr.id}, .stable = 1}, bytes(content));
  const auto written = client->call(write, root());
  ASSERT_TRUE(written) << describe(written.error());
  ASSERT_TRUE(written->ok());
  EXPECT_TRUE(read_back(made.attr.id, 1 << 20) == content);
  EXPECT_EQ(read_back(made.attr.id, ~0u).size(), content.size());
  write.add_write({.file = File{made.attr.id}}, bytes("x"));
  EXPECT_EQ(client->call(write, root()).error().code, Errc::kTooLarge);
}

TEST_F(NativeOperations, ReadsInAMessageThatChangesSomethingAreCutShort) {
  const auto made = must<operations::create>(*client, {.parent = top, .name = "big"});
  const std::string content(200'000, 'c');
  Batch write;
  write.add_write({.file = File{made.attr.id}, .stable = 1}, bytes(content));
  ASSERT_TRUE(client->call(write, root())->ok());
  const std::uint64_t open = client->new_open();
  Batch batch;
  batch.add<operations::open>({.file = File{made.attr.id}, .open = open, .access = kOpenRead});
  batch.add<operations::read>({.file = result_of(0), .open = open, .length = 200'000});
  batch.add<operations::close>({open});
  const auto replies = client->call(batch, root());
  ASSERT_TRUE(replies && replies->ok());
  EXPECT_GT(replies->data(1).size(), 60'000u);
  EXPECT_LT(replies->data(1).size(), 66'000u);
}

TEST_F(NativeOperations, ADirectoryIsListedInPages) {
  Batch make;
  make.add<operations::mkdir>({.parent = top, .name = "dir"});
  for (int i = 0; i < 200; ++i)
    make.add<operations::create>({.parent = result_of(0), .name = "file" + std::to_string(i)});
  const auto made = client->call(make, root());
  ASSERT_TRUE(made && made->ok());
  U64 cookie = 0;
  std::size_t found = 0;
  for (int pages = 0; pages < 100; ++pages) {
    Batch list;
    list.add<operations::readdir>(
        {.dir = File{made->file(0)}, .cookie = cookie, .entries_max = 1000, .bytes_max = 8192, .want_attributes = 1});
    const auto replies = client->call(list, root());
    ASSERT_TRUE(replies && replies->ok());
    const auto page = *replies->get<operations::readdir>(0);
    std::span<const std::byte> entries = std::as_bytes(std::span(page.entries.data(), page.entries.size()));
    while (!entries.empty()) {
      DirectoryEntry entry;
      ASSERT_TRUE(read_record(*next_record(entries), entry));
      cookie = entry.cookie;
      ++found;
      if (entry.name.starts_with("file")) {
        EXPECT_EQ(entry.attr.id, entry.id);
      }
    }
    if (page.end != 0) break;
  }
  EXPECT_EQ(found, 202u);  // "." and ".." too
}

TEST_F(NativeOperations, XattrsAreKept) {
  const auto made = must<operations::create>(*client, {.parent = top, .name = "f"});
  const File file{made.attr.id};
  EXPECT_EQ(status<operations::set_xattr>(*client, {.file = file, .name = "user.a", .value = "1"}), WireStatus::ok);
  EXPECT_EQ(status<operations::set_xattr>(*client, {.file = file, .mode = kXattrCreate, .name = "user.a"}),
            WireStatus::exists);
  EXPECT_EQ(status<operations::set_xattr>(*client, {.file = file, .mode = kXattrReplace, .name = "user.b"}),
            WireStatus::no_attribute);
  EXPECT_EQ(status<operations::set_xattr>(*client, {.file = file, .mode = 3, .name = "user.b"}), WireStatus::invalid);
  Batch batch;
  batch.add<operations::get_xattr>({.file = file, .name = "user.a"});
  batch.add<operations::list_xattrs>({file});
  batch.add<operations::remove_xattr>({.file = file, .name = "user.a"});
  batch.add<operations::get_xattr>({.file = file, .name = "user.a"});
  const auto replies = client->call(batch, root());
  ASSERT_TRUE(replies);
  EXPECT_EQ(replies->get<operations::get_xattr>(0)->value, "1");
  EXPECT_EQ(replies->get<operations::list_xattrs>(1)->count, 1u);
  EXPECT_EQ(replies->status(3), WireStatus::no_attribute);
}

TEST_F(NativeOperations, RangesAreAllocatedPunchedFoundAndCopied) {
  const auto made = must<operations::create>(*client, {.parent = top, .name = "f"});
  const File file{made.attr.id};
  EXPECT_EQ(must<operations::allocate>(*client, {.file = file, .length = 100'000}).attr.size, 100'000u);
  Batch write;
  write.add_write({.file = file, .stable = 1}, bytes("data"));
  ASSERT_TRUE(client->call(write, root())->ok());
  EXPECT_EQ(must<operations::punch>(*client, {.file = file, .offset = 1, .length = 2}).attr.size, 100'000u);
  EXPECT_EQ(read_back(made.attr.id, 4), std::string("d\0\0a", 4));
  EXPECT_EQ(must<operations::seek>(*client, {.file = file, .hole = 0}).offset, 0u);
  EXPECT_EQ(status<operations::seek>(*client, {.file = file, .offset = 100'000}), WireStatus::no_more_data);
  const auto other = must<operations::create>(*client, {.parent = top, .name = "g"});
  EXPECT_EQ(must<operations::copy_range>(*client, {.from = file, .to = File{other.attr.id}, .length = 4}).length, 4u);
  EXPECT_EQ(read_back(other.attr.id), std::string("d\0\0a", 4));
}

TEST_F(NativeOperations, AReadOnlyExportRefusesEveryChange) {
  publish("fixed", anyone(core::Squash::kNone, true));
  const auto reader = host_client("fixed");
  EXPECT_TRUE(reader->facts().read_only);
  EXPECT_EQ(status<operations::mkdir>(*reader, {.parent = File{reader->facts().root}, .name = "d"}),
            WireStatus::read_only);
  EXPECT_EQ(status<operations::getattr>(*reader, {File{reader->facts().root}}), WireStatus::ok);
}

TEST_F(NativeOperations, TheParentOfTheExportIsItself) {
  EXPECT_EQ(must<operations::lookup>(*client, {.parent = top, .name = ".."}).attr.id, static_cast<U64>(top));
}

}  // namespace
}  // namespace stoa::test
