// The QoS classes of directories that a request pays are cached, and always match the present directories above the
// file, after any move and any change of QoS classes.
#include "core/api/qos_table.h"

#include <algorithm>
#include <atomic>
#include <random>
#include <thread>

#include "core/inode/qos_memo.h"
#include "tests/core/volume_fixture.h"

namespace stoa::core::test {
namespace {

using QosClasses = std::vector<qos::QosClass*>;

template <class Engine>
class FindQosClassesTest : public VolumeTest<Engine> {
 protected:
  qos::QosClass* limit(FileId dir) {
    QosEntry entry{{.target = QosTarget::directory(dir)}, std::make_shared<qos::QosClass>()};
    qos::QosClass* const qos_class = entry.qos_class.get();
    table_ = table_.with(std::move(entry));
    return qos_class;
  }
  void free(FileId dir) { table_ = table_.without(QosTarget::directory(dir)); }
  QosClasses found(FileId file) { return found(file, table_); }
  QosClasses found(FileId file, const QosTable& table) {
    QosClasses qos_classes;
    const Status status = this->ns().find_qos_classes({}, file, table, qos_classes);
    EXPECT_TRUE(status) << describe(status.error());
    return qos_classes;
  }
  void rename(FileId from, std::string_view name, FileId to, std::string_view to_name) {
    const auto moved =
        this->ns().rename({}, {.from_parent = from, .from_name = name, .to_parent = to, .to_name = to_name});
    ASSERT_TRUE(moved) << describe(moved.error());
  }

  QosTable table_;
};
TYPED_TEST_SUITE(FindQosClassesTest, Engines);

TYPED_TEST(FindQosClassesTest, FollowsQosClassesAndMovesAtOnce) {
  const FileId a = *this->mkdir(kRootId, "a"), b = *this->mkdir(a, "b"), c = *this->mkdir(kRootId, "c");
  const FileId file = *this->create(b, "f");
  EXPECT_EQ(this->found(file), QosClasses{}) << "a table without directories";
  qos::QosClass* const of_c = this->limit(c);
  EXPECT_EQ(this->found(file), QosClasses{});
  qos::QosClass* const of_b = this->limit(b);
  EXPECT_EQ(this->found(file), QosClasses{of_b});
  EXPECT_EQ(this->found(file), QosClasses{of_b}) << "remembered";
  const QosTable before = this->table_;
  qos::QosClass* const of_a = this->limit(a);
  EXPECT_EQ(this->found(file), QosClasses({of_a, of_b}));
  EXPECT_EQ(this->found(file, before), QosClasses{of_b}) << "who still has the table of before pays by that";
  EXPECT_EQ(this->found(file), QosClasses({of_a, of_b}));
  EXPECT_EQ(this->found(b), QosClasses({of_a, of_b}));

  // Its directory moves; and so does the parent.
  this->rename(a, "b", c, "b");
  EXPECT_EQ(this->found(file), QosClasses({of_c, of_b}));
  EXPECT_EQ(this->found(b), QosClasses({of_c, of_b}));
  this->rename(kRootId, "c", a, "c");
  EXPECT_EQ(this->found(file), QosClasses({of_a, of_c, of_b}));
  // The file moves; another name of it carries it; and by its own last name it has the same directories.
  this->rename(b, "f", kRootId, "f");
  EXPECT_EQ(this->found(file), QosClasses{});
  ASSERT_TRUE(this->ns().link({}, {.id = file, .parent = a, .name = "second"}));
  EXPECT_EQ(this->found(file), QosClasses{});
  ASSERT_TRUE(this->ns().unlink({}, {.parent = kRootId, .name = "f"}));
  EXPECT_EQ(this->found(file), QosClasses{of_a});

  qos::QosClass* const of_root = this->limit(kRootId);
  EXPECT_EQ(this->found(file), QosClasses({of_root, of_a}));
  this->free(a);
  EXPECT_EQ(this->found(file), QosClasses{of_root});
  this->reopen();
  if (!TypeParam::kDurable) return;
  EXPECT_EQ(this->found(file), QosClasses{of_root});
  EXPECT_EQ(this->found(b), QosClasses({of_root, of_c, of_b}));
}

TYPED_TEST(FindQosClassesTest, OfMoreDirectoriesThanAreRemembered) {
  FileId dir = kRootId;
  QosClasses wanted;
  for (std::size_t depth = 0; depth < 2 * QosMemo::kQosClassesMax; ++depth) {
    dir = *this->mkdir(dir, "d");
    wanted.push_back(this->limit(dir));
    for (int time = 0; time < 2; ++time) EXPECT_EQ(this->found(dir), wanted);
  }
}

TYPED_TEST(FindQosClassesTest, AppendsNothingForWhatIsGone) {
  const FileId a = *this->mkdir(kRootId, "a"), file = *this->create(a, "f");
  this->limit(a);
  EXPECT_EQ(this->found(file).size(), 1u);
  ASSERT_TRUE(this->ns().unlink({}, {.parent = a, .name = "f"}));
  ASSERT_TRUE(this->ns().rmdir({}, {.parent = kRootId, .name = "a"}));
  for (const FileId gone : {file, a, FileId{1u << 20}}) {
    QosClasses qos_classes;
    EXPECT_EQ(this->ns().find_qos_classes({}, gone, this->table_, qos_classes).error().code, Errc::kStale);
    EXPECT_TRUE(qos_classes.empty());
  }
}

// Against ancestors(), which caches nothing.
TYPED_TEST(FindQosClassesTest, RandomMovesLinksAndQosClasses) {
  std::mt19937_64 random(20261122);
  const auto below = [&](std::size_t n) { return random() % n; };
  std::vector<FileId> directories{kRootId}, files;
  for (int i = 0; i < 12; ++i)
    directories.push_back(*this->mkdir(directories[below(directories.size())], "d" + std::to_string(i)));
  for (int i = 0; i < 12; ++i)
    files.push_back(*this->create(directories[below(directories.size())], "f" + std::to_string(i)));
  const auto any = [&] { return directories[below(directories.size())]; };
  std::vector<QosTable> tables{this->table_};  // those of before, and so the QoS classes that they name, live on
  for (int step = 0; step < 3000; ++step) {
    const FileId from = any(), to = any();
    const auto listing = this->ns().readdir({}, {.dir = from, .cookie = 2});
    ASSERT_TRUE(listing);
    if (!listing->entries.empty()) {
      const DirectoryEntry& entry = listing->entries[below(listing->entries.size())];
      // A name of its own each time, so that nothing is replaced. Below itself a directory cannot move, and a directory
      // has no second name.
      const std::string name = "n" + std::to_string(step);
      switch (below(8)) {
        case 0:
          (void)this->ns().link({}, {.id = entry.id, .parent = to, .name = name});
          break;
        case 1:
          if (const auto known = this->ns().getattr({}, {entry.id});
              known->attr.links > 1 && entry.type == FileType::kRegular)
            (void)this->ns().unlink({}, {.parent = from, .name = entry.name});
          break;
        default:
          (void)this->ns().rename({}, {.from_parent = from, .from_name = entry.name, .to_parent = to, .to_name = name});
      }
    }
    if (below(3) == 0) {
      const FileId dir = any();
      if (this->table_.find(QosTarget::directory(dir)) != nullptr) {
        this->free(dir);
      } else {
        this->limit(dir);
      }
      tables.push_back(this->table_);
    }
    for (const std::vector<FileId>& all : {directories, files}) {
      for (const FileId id : all) {
        const QosTable& table = below(8) == 0 ? tables[below(tables.size())] : this->table_;
        QosClasses wanted;
        table.find_directories(this->ns().ancestors({}, {.id = id})->directories, wanted);
        ASSERT_EQ(this->found(id, table), wanted) << step;
      }
    }
  }
}

// One moves, and looks at once; others look all the time, and find one or the other.
TYPED_TEST(FindQosClassesTest, WhoMovesFindsTheNewPlaceWhileOthersLook) {
  const FileId a = *this->mkdir(kRootId, "a"), b = *this->mkdir(kRootId, "b"), dir = *this->mkdir(a, "dir");
  const FileId in_dir = *this->create(dir, "f"), alone = *this->create(a, "alone");
  const QosClasses of_a{this->limit(a)}, of_b{this->limit(b)};
  std::atomic<bool> done{false};
  std::vector<std::jthread> others;
  for (int other = 0; other < 2; ++other) {
    others.emplace_back([&] {
      while (!done.load()) {
        for (const FileId id : {dir, in_dir, alone}) {
          const QosClasses qos_classes = this->found(id);
          EXPECT_TRUE(qos_classes == of_a || qos_classes == of_b);
        }
      }
    });
  }
  for (int turn = 0; turn < 300; ++turn) {
    const bool back = turn % 2 != 0;
    this->rename(back ? b : a, "dir", back ? a : b, "dir");
    this->rename(back ? b : a, "alone", back ? a : b, "alone");
    for (const FileId id : {dir, in_dir, alone}) EXPECT_EQ(this->found(id), back ? of_a : of_b);
  }
  done.store(true);
}

}  // namespace
}  // namespace stoa::core::test
