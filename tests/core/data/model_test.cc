// Random operations on a few files, side by side with strings.
#include "tests/core/data/data_fixture.h"

namespace stoa::core::test {
namespace {

template <class Blobs>
class DataModelTest : public DataTest<Blobs> {};
using Stores = ::testing::Types<TwinBlobs, LocalBlobs>;
TYPED_TEST_SUITE(DataModelTest, Stores);

class Twin {
 public:
  void write(std::uint64_t offset, std::string_view bytes) {
    if (bytes.empty()) return;
    if (content.size() < offset + bytes.size()) content.resize(offset + bytes.size());
    content.replace(offset, bytes.size(), bytes);
  }
  std::string content;
};

std::uint64_t some_size(std::mt19937& random) {
  switch (random() % 6) {
    case 0:
      return random() % 100 + 1;
    case 1:
      return random() % 16384 + 1;
    case 2:
      return random() % 70'000 + 1;
    case 3:
      return 4096 * (random() % 16 + 1);
    case 4:
      return (1u << 20) + random() % 5000;
    default:
      return random() % (3u << 20) + 1;
  }
}
std::uint64_t some_offset(std::mt19937& random, std::uint64_t size) {
  switch (random() % 5) {
    case 0:
      return 0;
    case 1:
      return size;
    case 2:
      return size == 0 ? 0 : random() % size;
    case 3:
      return std::uint64_t{random()} % (12u << 20);
    default:
      return 4096 * (random() % 512);
  }
}

TYPED_TEST(DataModelTest, RandomOperationsMatchTheTwin) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  constexpr std::size_t kFiles = 4;
  constexpr int kSteps = 700;
  std::vector<FileId> files;
  std::vector<Twin> twins(kFiles);
  for (std::size_t i = 0; i < kFiles; ++i) files.push_back(this->create("f" + std::to_string(i)));
  for (int step = 0; step < kSteps; ++step) {
    const std::size_t i = random() % kFiles;
    const FileId id = files[i];
    Twin& twin = twins[i];
    const std::uint64_t size = twin.content.size();
    const unsigned what = random() % 100;
    SCOPED_TRACE("step " + std::to_string(step) + " operation " + std::to_string(what) + " file " + std::to_string(i));
    if (what < 45) {
      const std::string bytes = text(some_size(random), random());
      const std::uint64_t offset = some_offset(random, size);
      if (offset == size) {
        const std::span<const std::byte> pieces[] = {std::as_bytes(std::span(bytes))};
        ASSERT_TRUE(this->ns().write(this->lazy_, {.id = id, .offset = 0, .data = pieces, .append = true}));
      } else {
        ASSERT_TRUE(this->write(id, offset, bytes, random() % 4 == 0));
      }
      twin.write(offset, bytes);
    } else if (what < 60) {
      const std::uint64_t to = random() % 3 == 0 ? 0 : some_offset(random, size);
      ASSERT_TRUE(this->truncate(id, to));
      twin.content.resize(to);
    } else if (what < 66) {
      const std::uint64_t offset = some_offset(random, size);
      const std::uint64_t length = some_size(random);
      ASSERT_TRUE(this->ns().punch(this->durable_, {id, offset, length}));
      for (std::uint64_t at = offset; at < std::min<std::uint64_t>(size, offset + length); ++at)
        twin.content[at] = '\0';
    } else if (what < 72) {
      const std::uint64_t offset = some_offset(random, size);
      const std::uint64_t length = some_size(random);
      const RangeRequest request{id, offset, length, random() % 3 == 0};
      const bool zeroes = random() % 2 == 0;
      ASSERT_TRUE(zeroes ? this->ns().zero(this->durable_, request) : this->ns().allocate(this->durable_, request));
      if (!request.keep_size) twin.content.resize(std::max<std::uint64_t>(size, offset + length));
      for (std::uint64_t at = offset; zeroes && at < std::min<std::uint64_t>(twin.content.size(), offset + length);
           ++at)
        twin.content[at] = '\0';
    } else if (what < 80) {
      const std::size_t to = random() % kFiles;
      if (size == 0 || to == i) continue;
      const std::uint64_t from_offset = random() % size;
      const std::uint64_t length = random() % (size - from_offset) + 1;
      const std::uint64_t to_offset = some_offset(random, twins[to].content.size());
      ASSERT_TRUE(
          this->ns().copy_range(this->durable_, {id, from_offset, files[to], to_offset, length, random() % 3 != 0}));
      twins[to].write(to_offset, twin.content.substr(from_offset, length));
    } else if (what < 84) {
      const std::string bytes = text(some_size(random), random());
      ASSERT_TRUE(this->put("f" + std::to_string(i), bytes, random() % 2 ? bytes.size() : 0));
      twin.content = bytes;
    } else if (what < 88) {
      ASSERT_TRUE(this->volume_->run_scrub());
    } else if (what < 91) {
      ASSERT_TRUE(this->volume_->flush());
      ASSERT_TRUE(this->volume_->run_gc());
    } else if (what < 92) {
      this->reopen();
    } else if (what < 96) {
      ASSERT_TRUE(this->ns().commit(this->durable_, {id}));
    }
    const std::uint64_t at = some_offset(random, size);
    const std::size_t length = random() % (1u << 20);
    const std::string expected = at < twin.content.size() ? twin.content.substr(at, length) : "";
    ASSERT_TRUE(this->read(id, at, length) == expected);
    ASSERT_TRUE(this->read_by_slices(id, at, length) == expected);
    ASSERT_EQ(this->attr(id).size, twin.content.size());
    if (step % 100 == 99) {
      this->expect_consistent();
      Usage sum;
      for (const Twin& t : twins) sum.bytes += static_cast<std::int64_t>(t.content.size());
      ASSERT_EQ(this->usage().bytes, sum.bytes);
      for (std::size_t f = 0; f < kFiles; ++f) ASSERT_TRUE(this->read(files[f], 0, 32u << 20) == twins[f].content) << f;
    }
    if (this->HasFailure()) return;
  }
  EXPECT_TRUE(this->volume_->damage().empty());
  for (std::size_t f = 0; f < kFiles; ++f) {
    ASSERT_TRUE(this->ns().unlink(this->durable_, {kRootId, "f" + std::to_string(f)}));
  }
  this->expect_no_garbage();
  EXPECT_EQ(this->blob_count(), 0u);
  EXPECT_EQ(this->usage().bytes, 0);
}

}  // namespace
}  // namespace stoa::core::test
