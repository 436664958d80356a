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

TEST_F(NativeOperations, AppendsFollowEachOther) {
  const auto made = must<operations::create>(*client, {.parent = top, .name = "f"});
  const File file{made.attr.id};
  Batch batch;
  batch.add_with<operations::append>({.file = file}, bytes("ab"));
  batch.add_with<operations::append>({.file = file, .stable = 1}, bytes("c"));
  batch.add_with<operations::append>({.file = file}, {});
  const auto replies = client->call(batch, root());
  ASSERT_TRUE(replies && replies->ok());
  const U64 offsets[] = {0, 2, 3}, lengths[] = {2, 1, 0};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(replies->get<operations::append>(i)->offset, offsets[i]);
    EXPECT_EQ(replies->get<operations::append>(i)->length, lengths[i]);
  }
  const auto other = host_client();
  Batch theirs;
  theirs.add_with<operations::append>({.file = file}, bytes("d"));
  EXPECT_EQ(other->call(theirs, root())->get<operations::append>(0)->offset, 3u);
  EXPECT_EQ(read_back(made.attr.id), "abcd");
  EXPECT_EQ(status<operations::append>(*client, {.file = file, .data_at = 0, .data_bytes = 1}), WireStatus::malformed);
  EXPECT_EQ(status<operations::append>(*client, {.file = file, .open = 99}), WireStatus::bad_open);
}

TEST_F(NativeOperations, NamesAreExchanged) {
  const auto a = must<operations::create>(*client, {.parent = top, .name = "a"});
  const auto dir = must<operations::mkdir>(*client, {.parent = top, .name = "dir"});
  const File below{dir.attr.id};
  const auto b = must<operations::create>(*client, {.parent = below, .name = "b"});
  const auto swap = [&](Text from, Text to) {
    return status<operations::exchange>(*client,
                                        {.from_parent = top, .to_parent = below, .from_name = from, .to_name = to});
  };
  EXPECT_EQ(swap("a", "b"), WireStatus::ok);
  EXPECT_EQ(must<operations::lookup>(*client, {.parent = top, .name = "a"}).attr.id, b.attr.id);
  EXPECT_EQ(must<operations::lookup>(*client, {.parent = below, .name = "b"}).attr.id, a.attr.id);
  EXPECT_EQ(swap("a", "none"), WireStatus::not_found);
  EXPECT_EQ(swap("dir", "b"), WireStatus::invalid);
  EXPECT_EQ(swap("..", "b"), WireStatus::invalid);
}

TEST_F(NativeOperations, SpaceIsReservedAndRangesAreZeroed) {
  const auto made = must<operations::create>(*client, {.parent = top, .name = "f"});
  const File file{made.attr.id};
  Batch write;
  write.add_write({.file = file, .stable = 1}, bytes("abcdef"));
  ASSERT_TRUE(client->call(write, root())->ok());
  EXPECT_EQ(must<operations::reserve>(*client, {.file = file, .length = 100'000}).attr.size, 6u);
  EXPECT_EQ(must<operations::zero>(*client, {.file = file, .offset = 5, .length = 9, .keep_size = 1}).attr.size, 6u);
  EXPECT_EQ(must<operations::zero>(*client, {.file = file, .offset = 1, .length = 2}).attr.size, 6u);
  EXPECT_EQ(must<operations::zero>(*client, {.file = file, .offset = 6, .length = 1}).attr.size, 7u);
  EXPECT_EQ(read_back(made.attr.id), std::string("a\0\0de\0\0", 7));
  EXPECT_EQ(status<operations::zero>(*client, {.file = file, .offset = ~U64{0}, .length = 2}),
            WireStatus::file_too_big);
  EXPECT_EQ(status<operations::reserve>(*client, {.file = file, .offset = ~U64{0}, .length = 2}),
            WireStatus::file_too_big);
}

TEST_F(NativeOperations, AFileWithoutANameIsLinkedOrGoesWithItsClose) {
  const auto open_nameless = [&](U64 open, Text name = {}) {
    return OpenArgs{
        .parent = top, .open = open, .disposition = kOpenNameless, .access = kOpenRead | kOpenWrite, .name = name};
  };
  const U64 linked = client->new_open(), lost = client->new_open();
  Batch batch;
  batch.add<operations::open>(open_nameless(linked));
  batch.add_write({.file = result_of(0), .open = linked}, bytes("text"));
  batch.add<operations::commit>({.file = result_of(0), .open = linked});
  batch.add<operations::link>({.file = result_of(0), .parent = top, .name = "named"});
  batch.add<operations::close>({linked});
  batch.add<operations::open>(open_nameless(lost));
  const auto replies = client->call(batch, root());
  ASSERT_TRUE(replies && replies->ok());
  EXPECT_EQ(replies->get<operations::open>(0)->attr.links, 0u);
  EXPECT_EQ(must<operations::lookup>(*client, {.parent = top, .name = "named"}).attr.id, replies->file(0));
  EXPECT_EQ(read_back(replies->file(0)), "text");
  const File nameless{replies->file(5)};
  // It is asked back after a restart, and may yet get a name.
  restart();
  EXPECT_EQ(must<operations::getattr>(*client, {nameless}).attr.links, 0u);
  EXPECT_FALSE(client->lost(lost));
  EXPECT_EQ(status<operations::close>(*client, {lost}), WireStatus::ok);
  EXPECT_EQ(status<operations::getattr>(*client, {nameless}), WireStatus::stale);
  EXPECT_EQ(status<operations::open>(*client, open_nameless(client->new_open(), "name")), WireStatus::invalid);
}

TEST_F(NativeOperations, AFileIsMadeWithItsContent) {
  const auto fill = [&](CreateFilledArgs arguments, std::string_view content) {
    arguments.parent = top;
    Batch batch;
    batch.add_with<operations::create_filled>(arguments, bytes(content));
    auto replies = client->call(batch, root());
    EXPECT_TRUE(replies) << describe(replies.error());
    return std::move(*replies);
  };
  const std::string large(kPayloadBytesMax, 'l');
  for (const std::string& content : {std::string(), std::string("x"), large}) {
    const std::string name = "f" + std::to_string(content.size());
    const Replies made = fill({.mode = kCreateGuarded, .name = name}, content);
    ASSERT_EQ(made.status(0), WireStatus::ok);
    EXPECT_EQ(made.get<operations::create_filled>(0)->attr.size, content.size());
    EXPECT_TRUE(read_back(made.file(0), ~0u) == content);
  }
  EXPECT_EQ(fill({.mode = kCreateGuarded, .name = "f1"}, "y").status(0), WireStatus::exists);
  EXPECT_EQ(fill({.mode = kCreateUnchecked, .name = "g"}, "y").status(0), WireStatus::invalid);
  const CreateFilledArgs once{.mode = kCreateExclusive, .verifier = 7, .name = "once"};
  const Replies first = fill(once, "first"), second = fill(once, "first");
  EXPECT_EQ(second.status(0), WireStatus::ok);
  EXPECT_EQ(second.file(0), first.file(0));
  EXPECT_EQ(read_back(first.file(0)), "first");
  EXPECT_EQ(status<operations::create_filled>(
                *client, {.parent = top, .mode = kCreateGuarded, .data_at = 1, .data_bytes = ~U32{0}, .name = "h"}),
            WireStatus::malformed);
  restart();
  EXPECT_EQ(read_back(first.file(0)), "first");
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
