// NFSv4: each operation that has an offset, a count or a size, with values at which arithmetic goes wrong. The answer
// is that of RFC 8881 and 7862; a refused call has changed nothing.
#include "tests/frontends/nfs/awkward_values.h"
#include "tests/frontends/nfs/v4/operation_fixture.h"

namespace stoa::test {
namespace {

constexpr std::uint32_t kReadMax = 1u << 20;
constexpr std::uint64_t kFileMax = kTwo63 - 1;

class Nfs4Awkward : public OperationTest {
 protected:
  Nfs4Awkward() {
    for (std::size_t i = 0; i < 10'007; ++i) content_ += static_cast<char>('a' + i * 7 % 26);
    file_ = make_file("file", content_);
    other_ = make_file("other", content_);
    was_ = attributes(file_);
    at("file");
  }
  void at(std::string_view name) {
    ASSERT_EQ(put_root(), Nfs4Status::kOk);
    ASSERT_EQ(lookup(name), Nfs4Status::kOk);
  }
  static Xdr io(std::uint64_t offset) { return Xdr().raw(good_stateid()).u64(offset); }
  bool untouched() {
    const core::Attributes now = attributes(file_);
    return now.size == was_.size && now.version() == was_.version() && now.ctime == was_.ctime &&
           content(file_) == content_;
  }
  // As much as there was: a file that has grown may be very long.
  std::string head() {
    std::string text(content_.size(), '?');
    EXPECT_TRUE(volume->ns().read({}, {file_, 0, std::as_writable_bytes(std::span(text))}));
    return text;
  }
  // Restores the old state, after a change that was due.
  void restore() {
    ASSERT_TRUE(volume->ns().setattr({}, {.id = file_, .set = {.size = 0}}));
    const std::span<const std::byte> pieces[] = {std::as_bytes(std::span(content_))};
    ASSERT_TRUE(volume->ns().write({}, {file_, 0, pieces}));
    was_ = attributes(file_);
  }
  static bool is_range(std::uint64_t offset, std::uint64_t length) { return length <= ~std::uint64_t{0} - offset; }

  std::string content_;
  core::FileId file_{}, other_{};
  core::Attributes was_;
};

TEST_F(Nfs4Awkward, ReadAndReadPlusGiveWhatIsThereAndNoMore) {
  for (const std::uint64_t offset : kAwkward) {
    for (const std::uint32_t count : kAwkwardCounts) {
      const std::string expected =
          offset >= content_.size() ? std::string() : content_.substr(offset, std::min(count, kReadMax));
      const bool end = offset >= content_.size() || offset + expected.size() == content_.size();
      ASSERT_EQ(run(nfs4::op_read, io(offset).u32(count)), Nfs4Status::kOk) << offset << ' ' << count;
      EXPECT_EQ(in.boolean(), end) << offset << ' ' << count;
      EXPECT_TRUE(in.string(kReadMax) == expected) << offset << ' ' << count;
      EXPECT_TRUE(in.ok() && in.left() == 0);

      ASSERT_EQ(run(nfs4::op_read_plus, io(offset).u32(count)), Nfs4Status::kOk) << offset << ' ' << count;
      EXPECT_EQ(in.boolean(), end) << offset << ' ' << count;
      ASSERT_EQ(in.u32(), expected.empty() ? 0u : 1u);
      if (!expected.empty()) {
        EXPECT_EQ(in.u32(), 0u);
        EXPECT_EQ(in.u64(), offset);
        EXPECT_TRUE(in.string(kReadMax) == expected) << offset << ' ' << count;
      }
      EXPECT_TRUE(in.ok() && in.left() == 0);
    }
  }
  EXPECT_TRUE(untouched());
}

// For any content of the buffer: the read data is in the right place, in fresh memory, too.
TEST_F(Nfs4Awkward, ReadsOfEveryLengthAreWholeInFreshReplyMemory) {
  std::string long_content(70'000, '\0');
  for (std::size_t i = 0; i < long_content.size(); ++i) long_content[i] = static_cast<char>(i * 131 % 255 + 1);
  make_file("long", long_content);
  at("long");
  const auto check = [&](std::uint32_t count, std::uint64_t offset) {
    for (const bool plus : {false, true}) {
      buffer = {};
      ASSERT_EQ(run(plus ? nfs4::op_read_plus : nfs4::op_read, io(offset).u32(count)), Nfs4Status::kOk);
      in.boolean();
      if (plus) in.fixed(4 + 4 + 8);
      ASSERT_TRUE(in.string(kReadMax) == long_content.substr(offset, count))
          << count << " at " << offset << (plus ? " READ_PLUS" : "");
      ASSERT_EQ(in.left(), 0u);
    }
  };
  for (const std::uint32_t border : {4u, 4096u, 13'497u, 16'384u, 16'815u, 21'915u, 65'536u}) {
    for (std::uint32_t count = border < 20 ? 1 : border - 20; count <= border + 20; ++count) {
      for (const std::uint64_t offset : {0u, 1u, 4095u}) check(count, offset);
    }
  }
}

TEST_F(Nfs4Awkward, WriteTakesWhatEndsWithinTheLargestFileAndNothingElse) {
  for (const std::uint64_t offset : kAwkward) {
    for (const std::size_t count : {0u, 1u, 3u, 4097u}) {
      const Nfs4Status status = run(nfs4::op_write, io(offset).u32(2).string(std::string(count, 'Z')));
      const bool fits = offset <= kFileMax && count <= kFileMax - offset;
      EXPECT_EQ(status, fits ? Nfs4Status::kOk : Nfs4Status::kFBig) << offset << ' ' << count;
      if (!fits || count == 0) {
        EXPECT_TRUE(untouched()) << offset << ' ' << count;
        continue;
      }
      EXPECT_EQ(attributes(file_).size, std::max<std::uint64_t>(content_.size(), offset + count));
      restore();
    }
  }
}

TEST_F(Nfs4Awkward, CommitTakesAnyRangeThatEndsBelowTwoToThe64) {
  for (const std::uint64_t offset : kAwkward) {
    for (const std::uint32_t count : kAwkwardCounts) {
      EXPECT_EQ(run(nfs4::op_commit, Xdr().u64(offset).u32(count)),
                is_range(offset, count) ? Nfs4Status::kOk : Nfs4Status::kInval)
          << offset << ' ' << count;
    }
  }
  EXPECT_TRUE(untouched());
}

TEST_F(Nfs4Awkward, ASizeIsSetWithinTheLargestFile) {
  for (const std::uint64_t size : kAwkward) {
    const Nfs4Status status =
        run(nfs4::op_setattr, Xdr().raw(good_stateid()).raw(fattr({Attr::kSize}, Xdr().u64(size))));
    if (size > kFileMax) {
      EXPECT_EQ(status, Nfs4Status::kFBig) << size;
      EXPECT_TRUE(untouched()) << size;
      continue;
    }
    ASSERT_EQ(status, Nfs4Status::kOk) << size;
    EXPECT_EQ(attributes(file_).size, size);
    restore();
  }
}

TEST_F(Nfs4Awkward, AllocateAndDeallocateTakeARangeOfAFileAndNothingElse) {
  for (const std::uint64_t offset : kAwkward) {
    for (const std::uint64_t length : kAwkward) {
      const Nfs4Status allocated = run(nfs4::op_allocate, io(offset).u64(length));
      if (!is_range(offset, length)) {
        EXPECT_EQ(allocated, Nfs4Status::kInval) << offset << ' ' << length;
      } else if (offset > kFileMax || length > kFileMax - offset) {
        EXPECT_EQ(allocated, Nfs4Status::kFBig) << offset << ' ' << length;
      } else if (length == 0) {
        EXPECT_EQ(allocated, Nfs4Status::kInval) << offset;
      } else if (length <= 10'008) {
        EXPECT_EQ(allocated, Nfs4Status::kOk) << offset << ' ' << length;
        EXPECT_EQ(attributes(file_).size, std::max<std::uint64_t>(content_.size(), offset + length));
        EXPECT_TRUE(head() == content_);
        restore();
        continue;
      } else {
        EXPECT_TRUE(allocated == Nfs4Status::kOk || allocated == Nfs4Status::kNoSpc) << offset << ' ' << length;
        if (allocated == Nfs4Status::kOk) restore();
      }
      EXPECT_TRUE(untouched()) << offset << ' ' << length;

      const Nfs4Status punched = run(nfs4::op_deallocate, io(offset).u64(length));
      if (!is_range(offset, length)) {
        EXPECT_EQ(punched, Nfs4Status::kInval) << offset << ' ' << length;
        EXPECT_TRUE(untouched()) << offset << ' ' << length;
      } else if (offset <= kFileMax) {
        EXPECT_EQ(punched, Nfs4Status::kOk) << offset << ' ' << length;
        std::string expected = content_;
        for (std::uint64_t i = offset; i < expected.size() && i - offset < length; ++i) expected[i] = '\0';
        EXPECT_TRUE(content(file_) == expected) << offset << ' ' << length;
        restore();
      } else {
        EXPECT_TRUE(punched == Nfs4Status::kOk || punched == Nfs4Status::kFBig) << offset << ' ' << length;
        EXPECT_TRUE(content(file_) == content_) << offset << ' ' << length;
        restore();
      }
    }
  }
}

TEST_F(Nfs4Awkward, SeekAnswersWithinTheFileAndNowhereElse) {
  for (const std::uint64_t offset : kAwkward) {
    for (const std::uint32_t what : {0u, 1u}) {
      const Nfs4Status status = run(nfs4::op_seek, io(offset).u32(what));
      ASSERT_EQ(status, offset < content_.size() ? Nfs4Status::kOk : Nfs4Status::kNxIo) << offset << ' ' << what;
      if (status != Nfs4Status::kOk) continue;
      in.boolean();
      EXPECT_EQ(in.u64(), what == 0 ? offset : content_.size());
    }
    EXPECT_EQ(run(nfs4::op_seek, io(offset).u32(~0u)), Nfs4Status::kUnionNotSupp);
  }
  EXPECT_TRUE(untouched());
}

TEST_F(Nfs4Awkward, CopyAndCloneTakeRangesOfTheirFilesAndNothingElse) {
  at("other");
  save();
  at("file");
  for (const std::uint64_t from : kAwkward) {
    for (const std::uint64_t to : kAwkward) {
      for (const std::uint64_t count : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{10'007},
                                        std::uint64_t{10'008}, kTwo63 - 1, kTwo63, ~std::uint64_t{0}}) {
        const bool inside = from <= content_.size() && count <= content_.size() - from;
        const std::uint64_t length = count == 0 ? content_.size() - from : count;
        const Nfs4Status expected = !inside                                   ? Nfs4Status::kInval
                                    : to > kFileMax || length > kFileMax - to ? Nfs4Status::kFBig
                                                                              : Nfs4Status::kOk;
        const Xdr arguments = Xdr().raw(good_stateid()).raw(good_stateid()).u64(from).u64(to).u64(count);
        for (const bool clone : {true, false}) {
          const Nfs4Status status = clone ? run(nfs4::op_clone, arguments)
                                          : run(nfs4::op_copy, Xdr().raw(arguments.bytes()).u32(1).u32(1).u32(0));
          ASSERT_EQ(status, expected) << (clone ? "CLONE " : "COPY ") << from << ' ' << to << ' ' << count;
          if (expected != Nfs4Status::kOk) {
            ASSERT_TRUE(untouched()) << from << ' ' << to << ' ' << count;
            continue;
          }
          if (length > 0) {
            EXPECT_EQ(attributes(file_).size, std::max<std::uint64_t>(content_.size(), to + length));
          }
          restore();
        }
      }
    }
  }
  EXPECT_TRUE(content(other_) == content_);
}

TEST_F(Nfs4Awkward, AListingIsNeverLongerThanWasAskedForAndAdviceIsOnlyHeard) {
  ASSERT_EQ(put_root(), Nfs4Status::kOk);
  ASSERT_EQ(run(nfs4::op_readdir, Xdr().u64(0).u64(0).u32(0).u32(65'536).raw(encoded({}))), Nfs4Status::kOk);
  const std::uint64_t verifier = in.u64();
  for (const std::uint64_t cookie : kAwkward) {
    for (const std::uint32_t names : {0u, 1u, 3u, ~0u}) {
      for (const std::uint32_t bytes : {0u, 1u, 15u, 16u, 17u, 100u, 1u << 20, 1u << 31, ~0u}) {
        const Nfs4Status status =
            run(nfs4::op_readdir, Xdr().u64(cookie).u64(verifier).u32(names).u32(bytes).raw(encoded({})));
        const bool known = cookie == 0 || cookie == 3 || cookie == 1ull << 62;  // the last is that of the bin
        if (!known && bytes >= 16) {
          EXPECT_EQ(status, Nfs4Status::kBadCookie) << "1 is reserved, and the others were never given out";
        } else {
          EXPECT_TRUE((status == Nfs4Status::kOk && in.left() <= bytes) ||
                      (bytes < 100 && (status == Nfs4Status::kTooSmall || status == Nfs4Status::kBadCookie)))
              << cookie << ' ' << names << ' ' << bytes << ' ' << static_cast<int>(status);
        }
      }
    }
  }
  at("file");
  for (const std::uint64_t offset : kAwkward) {
    for (const std::uint64_t count : kAwkward)
      EXPECT_EQ(run(nfs4::op_io_advise, io(offset).u64(count).u32(0)), Nfs4Status::kOk);
  }
  EXPECT_TRUE(untouched());
}

}  // namespace
}  // namespace stoa::test
