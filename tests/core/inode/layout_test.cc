#include "core/inode/layout.h"

#include <gtest/gtest.h>

#include <random>

namespace stoa::core {
namespace {

std::string hex(std::string_view bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    text += kDigits[static_cast<unsigned char>(c) >> 4];
    text += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return text;
}

TEST(Layout, GoldenBytesOfVersion1) {
  Layout layout;
  layout.extents = {{0, 32768, BlobId{0x4000000000010000}, 0},
                    {65536, 300, BlobId{0x80000000000000ff}, 128, true, 300}};
  Encoder out;
  layout.encode(out);
  EXPECT_EQ(hex(out.bytes()),
            "02"
            "00"
            "808002"
            "0000010000000040"
            "00"
            "00"
            "00"
            "808004"
            "ac02"
            "ff00000000000080"
            "8001"
            "01"
            "ac02");
  Decoder in(out.bytes());
  Layout back;
  ASSERT_TRUE(back.decode(in));
  EXPECT_EQ(back, layout);
}

TEST(Layout, DamagedBytesAreRefused) {
  Layout layout;
  layout.extents = {{0, 100, BlobId{1}, 0}, {100, 100, BlobId{2}, 0}};
  Encoder out;
  layout.encode(out);
  for (std::size_t cut = 0; cut < out.bytes().size(); ++cut) {
    Decoder in(std::string_view(out.bytes()).substr(0, cut));
    Layout back;
    EXPECT_FALSE(back.decode(in)) << cut;
  }
  Layout overlapping;
  overlapping.extents = {{0, 101, BlobId{1}, 0}, {100, 100, BlobId{2}, 0}};
  Encoder bad;
  overlapping.encode(bad);
  Decoder in(bad.bytes());
  Layout back;
  EXPECT_FALSE(back.decode(in));
}

TEST(Layout, WhatNoFileCanHaveIsDamage) {
  const auto is_read = [](std::uint64_t count, BlobId blob) {
    Encoder out;
    out.put_varint(count);
    for (std::uint64_t i = 0; i < count; ++i) {
      out.put_varint(2 * i).put_varint(1).put(blob).put_varint(0).put(std::uint8_t{0}).put_varint(0);
    }
    Decoder in(out.bytes());
    return Layout{}.decode(in);
  };
  EXPECT_TRUE(is_read(kExtentsMax, BlobId{1}));
  EXPECT_FALSE(is_read(kExtentsMax + 1, BlobId{1}));
  EXPECT_FALSE(is_read(1, kNoBlob));
}

TEST(Layout, MapFillsHoles) {
  Layout layout;
  layout.insert({100, 50, BlobId{1}, 7});
  layout.insert({10, 20, BlobId{2}, 0});
  EXPECT_EQ(layout.map(0, 200),
            (std::vector<Piece>{{0, 10}, {10, 20, BlobId{2}, 0}, {30, 70}, {100, 50, BlobId{1}, 7}, {150, 50}}));
  EXPECT_EQ(layout.map(110, 10), (std::vector<Piece>{{110, 10, BlobId{1}, 17}}));
  EXPECT_EQ(layout.map(40, 10), (std::vector<Piece>{{40, 10}}));
  EXPECT_EQ(Layout{}.map(5, 1), (std::vector<Piece>{{5, 1}}));
  for (const std::uint64_t nothing_at : {0, 10, 15, 30, 120, 150})
    EXPECT_TRUE(layout.map(nothing_at, 0).empty()) << nothing_at;
}

TEST(Layout, CutInTheMiddleMakesTwoOfOne) {
  Layout layout;
  layout.insert({0, 100, BlobId{1}, 1000});
  const auto cut = layout.cut(40, 20);
  EXPECT_EQ(layout.extents, (std::vector<Extent>{{0, 40, BlobId{1}, 1000}, {60, 40, BlobId{1}, 1060}}));
  ASSERT_EQ(cut.changes.size(), 1u);
  EXPECT_EQ(cut.changes[0].delta, +1);
  EXPECT_EQ(cut.gone, (std::vector<Piece>{{40, 20, BlobId{1}, 1040}}));
}

TEST(Layout, ACutOfNothingLeavesExtentsWhole) {
  Layout layout;
  layout.insert({0, 100, BlobId{1}, 1000});
  const Layout before = layout;
  for (const std::uint64_t at : {0, 40, 100, 150}) {
    const auto cut = layout.cut(at, 0);
    EXPECT_EQ(layout, before) << at;
    EXPECT_TRUE(cut.changes.empty() && cut.gone.empty()) << at;
  }
}

TEST(Layout, RandomCutsAndInsertsMatchAByteMap) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    Layout layout;
    std::vector<std::uint64_t> bytes(200);  // blob * 1000 + offset in it; 0: hole
    std::map<std::uint64_t, int> references;
    std::uint64_t next = 1;
    for (int step = 0; step < 30; ++step) {
      const std::uint64_t from = random() % 200;
      const std::uint64_t length = random() % (200 - from) + 1;
      for (const auto& change : layout.cut(from, length).changes)
        references[static_cast<std::uint64_t>(change.blob)] += change.delta;
      std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(from), length, 0);
      if (random() % 3 != 0) {
        layout.insert({from, length, BlobId{next}, 0});
        ++references[next];
        for (std::uint64_t i = 0; i < length; ++i) bytes[from + i] = next * 1000 + i;
        ++next;
      }
      for (const Piece& piece : layout.map(0, 200)) {
        for (std::uint64_t i = 0; i < piece.length; ++i) {
          ASSERT_EQ(bytes[piece.file_offset + i],
                    piece.hole() ? 0 : static_cast<std::uint64_t>(piece.blob) * 1000 + piece.blob_offset + i);
        }
      }
      std::map<std::uint64_t, int> counted;
      for (const Extent& extent : layout.extents) ++counted[static_cast<std::uint64_t>(extent.blob)];
      std::erase_if(references, [](const auto& item) { return item.second == 0; });
      ASSERT_EQ(references, counted);
    }
  }
}

}  // namespace
}  // namespace stoa::core
