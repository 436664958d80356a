// The journal as its readers see it.
#include "core/journal/journal.h"

#include <map>
#include <thread>

#include "core/journal/path_resolver.h"
#include "core/kv/keys.h"
#include "tests/core/volume_fixture.h"

namespace stoa::core::test {
namespace {

template <class Engine>
class JournalTest : public VolumeTest<Engine> {
 protected:
  Journal& journal() { return this->volume_->journal(); }
  std::uint64_t newest() {
    const auto reply = journal().newest();
    EXPECT_TRUE(reply) << describe(reply.error());
    return reply ? *reply : 0;
  }
  Journal::Page read(std::uint64_t after, std::size_t limit = 1000) {
    auto page = journal().read(after, limit);
    EXPECT_TRUE(page) << describe(page.error());
    return page ? *std::move(page) : Journal::Page{};
  }
  // "create a", "rename a", ...
  std::vector<std::string> words(const Journal::Page& page) {
    std::vector<std::string> all;
    for (const JournalRecord& record : page.records)
      all.push_back(std::string(operation_word(record.kind, record.type)) + " " + record.name);
    return all;
  }
  // As the engine does for its cap.
  void drop_before(std::uint64_t sequence) {
    WriteBatch batch;
    for (std::uint64_t i = 1; i < sequence; ++i) batch.remove(Family::kJournal, keys::be64(i));
    const WriteBatch* const batches[] = {&batch};
    ASSERT_TRUE(this->kv_->apply(batches));
  }
};
TYPED_TEST_SUITE(JournalTest, Engines);

// For watchers of a directory: each change of content and attributes has one name of the file.
TYPED_TEST(JournalTest, AChangeOfAFileTellsItsName) {
  const FileId dir = *this->mkdir(kRootId, "d"), old = *this->create(dir, "old");
  ASSERT_TRUE(this->write(old, 0, std::string(100'000, 'x')));
  this->reopen();  // nothing is in memory any more
  const std::uint64_t begin = this->newest();
  const auto last = [&] {
    EXPECT_TRUE(this->volume_->flush());
    const JournalRecord record = this->read(begin).records.back();
    const std::string kind(operation_word(record.kind, record.type));
    return kind + " " + std::to_string(static_cast<std::uint64_t>(record.parent)) + "/" + record.name;
  };
  const std::string in_dir = std::to_string(static_cast<std::uint64_t>(dir)) + "/", in_root = "1/";
  ASSERT_TRUE(this->write(old, 5, "y"));
  EXPECT_EQ(last(), "write " + in_dir + "old") << "flushed";
  const FileId made = *this->create(dir, "new");
  ASSERT_TRUE(this->write(made, 0, "y"));
  EXPECT_EQ(last(), "write " + in_dir + "new") << "inline";
  ASSERT_TRUE(this->ns().rename(this->root_,
                                {.from_parent = dir, .from_name = "new", .to_parent = kRootId, .to_name = "moved"}));
  ASSERT_TRUE(this->write(made, 0, "z"));
  EXPECT_EQ(last(), "write " + in_root + "moved");
  ASSERT_TRUE(this->ns().link(this->root_, {.id = made, .parent = dir, .name = "link"}));
  ASSERT_TRUE(this->ns().unlink(this->root_, {.parent = kRootId, .name = "moved"}));
  ASSERT_TRUE(this->ns().setattr(this->root_, {.id = made, .set = {.mode = 0600}}));
  EXPECT_EQ(last(), "attributes " + in_dir + "link");
  ASSERT_TRUE(this->ns().setattr(this->root_, {.id = made, .set = {.size = 0}}));
  EXPECT_EQ(last(), "write " + in_dir + "link");
  ASSERT_TRUE(this->ns().setattr(this->root_, {.id = dir, .set = {.mode = 0700}}));
  EXPECT_EQ(last(), "attributes " + in_root + "d");
  ASSERT_TRUE(this->ns().allocate(this->root_, {.id = old, .offset = 0, .length = 200'000}));
  EXPECT_EQ(last(), "write " + in_dir + "old");
  ASSERT_TRUE(this->ns().copy_range(
      this->root_, {.from = old, .from_offset = 0, .to = made, .to_offset = 0, .length = 100000, .share = true}));
  EXPECT_EQ(last(), "write " + in_dir + "link") << "clone";
  ASSERT_TRUE(this->put(kRootId, "d/old", "replaced"));
  EXPECT_EQ(last(), "write " + in_dir + "old") << "put over it";
  ASSERT_TRUE(this->ns().setattr(this->root_, {.id = kRootId, .set = {.mode = 0777}}));
  EXPECT_EQ(last(), "attributes 0/") << "the root has no name";
}

TYPED_TEST(JournalTest, AReaderThatWantsNothingLosesNothing) {
  const std::uint64_t begin = this->newest();
  ASSERT_TRUE(this->create(kRootId, "a"));
  ASSERT_TRUE(this->create(kRootId, "b"));
  const Journal::Page none = this->read(begin, 0);
  EXPECT_TRUE(none.records.empty());
  EXPECT_EQ(none.lost, 0u);
  EXPECT_EQ(none.next, begin);
  EXPECT_TRUE(none.more);
  EXPECT_EQ(this->words(this->read(none.next)), (std::vector<std::string>{"create a", "create b"}));
  this->drop_before(begin + 3);
  EXPECT_EQ(this->read(begin, 0).lost, 2u) << "what is gone is gone";
}

TYPED_TEST(JournalTest, TellsWhatHappenedInOrderWithWhoAndWhere) {
  const std::uint64_t begin = this->newest();
  const OpContext ann{.protocol = Protocol::kNfs, .cred = {.uid = 0}, .client = "10.1.2.3"};
  const auto dir = this->ns().mkdir(ann, {.parent = kRootId, .name = "d"});
  ASSERT_TRUE(dir);
  const FileId d = dir->attr.id;
  ASSERT_TRUE(this->ns().create(ann, {.parent = d, .name = "f"}));
  ASSERT_TRUE(this->ns().symlink(ann, {.parent = d, .name = "s", .target = "f"}));
  ASSERT_TRUE(this->ns().rename(ann, {.from_parent = d, .from_name = "f", .to_parent = kRootId, .to_name = "g"}));
  ASSERT_TRUE(this->ns().unlink(ann, {.parent = d, .name = "s"}));
  ASSERT_TRUE(this->ns().rmdir(ann, {.parent = kRootId, .name = "d"}));
  const Journal::Page page = this->read(begin);
  EXPECT_EQ(this->words(page),
            (std::vector<std::string>{"mkdir d", "create f", "symlink s", "rename f", "remove s", "rmdir d"}));
  EXPECT_EQ(page.lost, 0u);
  EXPECT_FALSE(page.more);
  EXPECT_EQ(page.next, begin + 6);
  EXPECT_EQ(page.records[3].to_name, "g");
  std::uint64_t expected = begin;
  for (const JournalRecord& record : page.records) {
    EXPECT_EQ(record.protocol, Protocol::kNfs);
    EXPECT_EQ(record.client, "10.1.2.3");
    EXPECT_EQ(record.sequence, ++expected);
  }
}

TYPED_TEST(JournalTest, IsReadInPagesAndGoesOnAfterARestart) {
  std::uint64_t at = this->newest();
  for (int i = 0; i < 25; ++i) ASSERT_TRUE(this->create(kRootId, "f" + std::to_string(i)));
  std::vector<std::string> names;
  for (bool more = true; more;) {
    const Journal::Page page = this->read(at, 10);
    EXPECT_LE(page.records.size(), 10u);
    for (const JournalRecord& record : page.records) names.push_back(record.name);
    at = page.next;
    more = page.more;
  }
  ASSERT_EQ(names.size(), 25u);
  EXPECT_EQ(names.front(), "f0");
  EXPECT_EQ(names.back(), "f24");
  this->reopen();
  EXPECT_EQ(this->newest(), at);
  ASSERT_TRUE(this->create(kRootId, "later"));
  EXPECT_EQ(this->read(at).records.front().name, "later");
  EXPECT_TRUE(this->read(this->newest()).records.empty());
  EXPECT_EQ(this->journal().read(this->newest() + 1, 1).error().code, Errc::kInvalid);
}

TYPED_TEST(JournalTest, AReaderThatFellBehindLearnsHowMuchItLost) {
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(this->create(kRootId, "f" + std::to_string(i)));
  const std::uint64_t newest = this->newest();
  EXPECT_EQ(*this->journal().oldest(), 1u);
  this->drop_before(11);
  EXPECT_EQ(*this->journal().oldest(), 11u);
  const Journal::Page page = this->read(4);
  EXPECT_EQ(page.lost, 6u) << "5 to 10";
  EXPECT_EQ(page.records.front().sequence, 11u);
  EXPECT_EQ(this->read(10).lost, 0u);
  this->drop_before(newest + 1);
  EXPECT_EQ(*this->journal().oldest(), newest + 1);
  EXPECT_EQ(this->read(15).lost, newest - 15);
  EXPECT_EQ(this->read(15).next, newest);
}

TYPED_TEST(JournalTest, ADamagedRecordCountsAsLostAndHoldsNobodyUp) {
  const std::uint64_t begin = this->newest();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(this->create(kRootId, "f" + std::to_string(i)));
  ASSERT_EQ(this->newest(), begin + 3);
  WriteBatch batch;
  batch.put(Family::kJournal, keys::be64(begin + 2), "\x01\x01nonsense");
  const WriteBatch* const batches[] = {&batch};
  ASSERT_TRUE(this->kv_->apply(batches));
  const Journal::Page page = this->read(begin);
  EXPECT_EQ(this->words(page), (std::vector<std::string>{"create f0", "create f2"}));
  EXPECT_EQ(page.lost, 1u);
  EXPECT_EQ(this->read(begin + 1, 1).next, begin + 3);
}

TYPED_TEST(JournalTest, AWriteThatIsFlushedByTheServerIsTheWriters) {
  this->options_.inline_bytes_max = 16;
  const FileId file = *this->create(kRootId, "f");
  const std::uint64_t begin = this->newest();
  const OpContext ann{
      .protocol = Protocol::kNfs, .cred = {.uid = 0}, .client = "10.0.0.9", .durability = Durability::kApplied};
  const std::string text(40'000, 'x');
  const std::span<const std::byte> pieces[] = {std::as_bytes(std::span(text))};
  ASSERT_TRUE(this->ns().write(ann, {file, 0, pieces}));
  ASSERT_TRUE(this->volume_->flush());
  const Journal::Page page = this->read(begin);
  ASSERT_FALSE(page.records.empty());
  const JournalRecord& last = page.records.back();
  EXPECT_EQ(last.kind, ChangeKind::kContent);
  EXPECT_EQ(last.client, "10.0.0.9");
  EXPECT_EQ(last.protocol, Protocol::kNfs);
}

TYPED_TEST(JournalTest, AWaitingReaderWakesForARecordACallAndTheStop) {
  Journal& journal = this->journal();
  const auto wait = [&](std::uint64_t after, const std::stop_token& stop) {
    journal.wait(after, journal.calls(), Journal::kForever, std::chrono::milliseconds(0), stop);
  };
  const std::uint64_t begin = this->newest();
  std::jthread record([&](const std::stop_token& stop) { wait(begin, stop); });
  ASSERT_TRUE(this->create(kRootId, "f"));
  ASSERT_TRUE(journal.newest());
  record.join();
  const std::uint64_t calls = journal.calls();
  std::jthread call([&](const std::stop_token& stop) {
    journal.wait(Journal::kNothing, calls, Journal::kForever, std::chrono::milliseconds(0), stop);
  });
  journal.call();
  call.join();
  std::jthread stopped([&](const std::stop_token& stop) { wait(Journal::kNothing, stop); });
  stopped.request_stop();
  stopped.join();
}

TYPED_TEST(JournalTest, AnAppendedRecordIsWrittenByTheReaderThatItWakes) {
  Journal& journal = this->journal();
  const std::uint64_t begin = this->newest();
  const std::uint64_t calls = journal.calls();
  std::jthread reader([&](const std::stop_token& stop) {
    journal.wait(begin, calls, Journal::kForever, std::chrono::milliseconds(0), stop);
  });
  ASSERT_TRUE(journal.append({.kind = ChangeKind::kRead, .id = kRootId}, this->root_));
  reader.join();
  // A thread that does not wait for records is not called: that cost a wake-up for each file that was
  // read.
  EXPECT_EQ(journal.calls(), calls);
  const auto page = this->read(begin);
  ASSERT_EQ(page.records.size(), 1u);
  EXPECT_EQ(page.records.back().kind, ChangeKind::kRead);
  // The next one wakes again.
  std::jthread again([&](const std::stop_token& stop) {
    journal.wait(page.next, calls, Journal::kForever, std::chrono::milliseconds(0), stop);
  });
  ASSERT_TRUE(journal.append({.kind = ChangeKind::kList, .id = kRootId}, this->root_));
  again.join();
  EXPECT_EQ(this->read(page.next).records.size(), 1u);
}

TYPED_TEST(JournalTest, ManyWritersOneOrder) {
  constexpr int kThreads = 8;
  constexpr int kEach = 250;
  const std::uint64_t begin = this->newest();
  std::vector<FileId> dirs;
  for (int t = 0; t < kThreads; ++t) dirs.push_back(*this->mkdir(kRootId, "d" + std::to_string(t)));
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < kEach; ++i)
          EXPECT_TRUE(this->create(dirs[static_cast<std::size_t>(t)], "f" + std::to_string(i)));
      });
    }
    // Reads while they write, as watchers do.
    std::map<FileId, int> next;
    std::uint64_t at = begin + kThreads;
    const std::uint64_t end = at + kThreads * kEach;
    while (at < end) {
      this->journal().wait(at, this->journal().calls(), Journal::kForever, std::chrono::milliseconds(1), {});
      const Journal::Page page = this->read(at, 100);
      EXPECT_EQ(page.lost, 0u);
      for (const JournalRecord& record : page.records) {
        EXPECT_EQ(record.sequence, ++at);
        EXPECT_EQ(record.name, "f" + std::to_string(next[record.parent]++)) << "of one thread, in its order";
      }
    }
  }
}

TYPED_TEST(JournalTest, PathsAreThoseOfTheTime) {
  const std::uint64_t begin = this->newest();
  const FileId a = *this->mkdir(kRootId, "a");
  const FileId b = *this->mkdir(a, "b");
  const FileId file = *this->create(b, "f");
  ASSERT_TRUE(this->write(file, 0, "text"));
  ASSERT_TRUE(this->ns().rename({}, {.from_parent = a, .from_name = "b", .to_parent = kRootId, .to_name = "c"}));
  ASSERT_TRUE(this->write(file, 0, "more"));
  ASSERT_TRUE(this->ns().unlink({}, {.parent = b, .name = "f"}));
  ASSERT_TRUE(this->ns().rmdir({}, {.parent = kRootId, .name = "c"}));
  ASSERT_TRUE(this->ns().rmdir({}, {.parent = kRootId, .name = "a"}));
  const Journal::Page page = this->read(begin);
  // A reader that comes when all is gone, and one that has nothing but the records of the end.
  std::vector<std::string> paths;
  PathResolver places(this->journal());
  places.look_ahead(page.records);
  for (const JournalRecord& record : page.records) {
    const auto where = places.of(record);
    ASSERT_TRUE(where);
    EXPECT_TRUE(where->known);
    EXPECT_EQ(where->directories.front(), kRootId);
    paths.push_back(where->path);
    places.apply(record);
  }
  EXPECT_EQ(paths, (std::vector<std::string>{"/a", "/a/b", "/a/b/f", "/a/b/f", "/a/b", "/c/f", "/c/f", "/c", "/a"}));
  PathResolver late(this->journal());
  const auto end = std::span(page.records).last(3);
  late.look_ahead(end);
  EXPECT_EQ(late.of(end[0])->path, "/c/f");
  EXPECT_EQ(late.of(end[0])->directories, (std::vector<FileId>{kRootId, b, file}));
  PathResolver lost(this->journal());
  EXPECT_FALSE(lost.of(end[0])->known);
}

}  // namespace
}  // namespace stoa::core::test
