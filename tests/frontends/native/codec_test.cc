// Bytes of the native protocol: as they were when it was published, and read by older and newer peers.
#include <string>

#include "frontends/native/protocol/login.h"
#include "tests/frontends/native/native_fixture.h"

namespace stoa::test {
namespace {

Bytes from_hex(std::string_view hex) {
  Bytes out;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    out.push_back(static_cast<std::byte>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  return out;
}

TEST(NativeCodec, AMessageHasTheseBytes) {
  const Bytes record = record_of<operations::lookup>({.parent = File{7}, .name = "abc"});
  const Bytes payload(3, std::byte{'x'});
  Bytes xyz = payload;
  xyz[1] = std::byte{'y'};
  xyz[2] = std::byte{'z'};
  const Bytes frame = encode_message({.version = 1,
                                      .kind = 6,
                                      .session = 0x1122334455667788,
                                      .slot = 3,
                                      .sequence = 9,
                                      .deadline_ms = 1000,
                                      .operation_count = 1},
                                     {}, record, xyz);
  const Bytes golden = from_hex(
      "53544f418300000040000100060000000a4d166d856823258877665544332211030000000900000000000000e80300000000000001000000"
      "00000000180000008000000003000000180000000c00010007000000000000000300000061626300");
  ASSERT_EQ(frame.size(), 139u);
  EXPECT_TRUE(std::equal(golden.begin(), golden.end(), frame.begin()));
  MessageView view;
  ASSERT_EQ(cut_message(std::span(frame).subspan(kFrameHeadBytes), view), Cut::kWhole);
  EXPECT_EQ(view.header.slot, 3u);
  EXPECT_EQ(view.payload.size(), 3u);
}

TEST(NativeCodec, LayoutsHaveTheseLengths) {
  EXPECT_EQ(kHeaderBytes, 64u);
  EXPECT_EQ(fixed_bytes<Attributes>(), 112u);
  EXPECT_EQ(fixed_bytes<Settings>(), 64u);
  EXPECT_EQ(fixed_bytes<Welcome>(), 64u);
  EXPECT_EQ(fixed_bytes<OpenArgs>(), 116u);
}

// Each number different, each text its own.
template <class Layout>
void fill(Layout& layout, U64& next) {
  each_field(layout, [&]<class Field>(Field& field) {
    if constexpr (std::is_same_v<Field, Text>) {
      field = Text("some text of a field").substr(0, 3 + next++ % 9);
    } else if constexpr (std::is_same_v<Field, File>) {
      field = File{next++};
    } else if constexpr (std::is_integral_v<Field>) {
      field = static_cast<Field>(next++);
    } else {
      fill(field, next);
    }
  });
}

// Written as it is, by a newer peer with 24 bytes more, and by an older one without the last bytes.
template <class Layout>
void longer_and_shorter() {
  U64 next = 1;
  Layout layout;
  fill(layout, next);
  Bytes record;
  append_record(record, 5, layout);
  std::span<const std::byte> rest = record;
  const auto whole = next_record(rest);
  ASSERT_TRUE(whole);
  EXPECT_TRUE(rest.empty());
  Layout read;
  ASSERT_TRUE(read_record(*whole, read));
  EXPECT_EQ(read, layout);

  Bytes longer(whole->fixed.begin(), whole->fixed.end());
  longer.resize(longer.size() + 24, std::byte{0xee});
  Layout from_newer;
  ASSERT_TRUE(read_record({5, longer, whole->rest}, from_newer));
  EXPECT_EQ(from_newer, layout);

  for (std::size_t bytes = 0; bytes < whole->fixed.size(); ++bytes) {
    Layout from_older;
    (void)read_record({5, whole->fixed.first(bytes), whole->rest}, from_older);
    Layout from_zeros;
    Bytes padded(whole->fixed.begin(), whole->fixed.begin() + static_cast<std::ptrdiff_t>(bytes));
    padded.resize(whole->fixed.size());
    (void)read_record({5, padded, whole->rest}, from_zeros);
    EXPECT_EQ(from_older, from_zeros) << bytes;
  }
}

TEST(NativeCodec, EachLayoutIsReadLongerAndShorter) {
#define STOA_LAYOUT(name, ...) longer_and_shorter<name>();
#define STOA_FIELD(type, name)
#include "frontends/native/protocol/operations.def"
#undef STOA_FIELD
}

TEST(NativeCodec, ATextThatIsLongerThanItsRecordIsRefused) {
  Bytes record = record_of<operations::lookup>({.parent = File{7}, .name = "abc"});
  store(record.data() + kRecordHeadBytes + 8, U32{5});  // "abc", its padding, and nothing more
  std::span<const std::byte> rest = record;
  NameArgs read;
  EXPECT_FALSE(read_record(*next_record(rest), read));
}

TEST(NativeCodec, RecordsThatCannotBeAreRefused) {
  const Bytes good = record_of<operations::lookup>({.parent = File{7}, .name = "abc"});
  const auto cut = [&](std::size_t at, U32 value) {
    Bytes bad = good;
    store(bad.data() + at, value);
    std::span<const std::byte> rest = bad;
    return next_record(rest).has_value();
  };
  EXPECT_TRUE(cut(0, static_cast<U32>(good.size())));
  for (const U32 length : {0u, 1u, 7u, 8u, 23u, 25u, 32u, 0xffff'fff8u}) EXPECT_FALSE(cut(0, length)) << length;
  std::span<const std::byte> half = std::span(good).first(7);
  EXPECT_FALSE(next_record(half));
}

TEST(NativeCodec, AFlippedBitIsNoticed) {
  const Bytes record = record_of<operations::lookup>({.parent = File{7}, .name = "abc"});
  const Bytes frame = encode_message({.version = 1, .kind = 6, .operation_count = 1}, {}, record, record);
  for (std::size_t i = kFrameHeadBytes; i < frame.size(); ++i) {
    Bytes bad = frame;
    bad[i] ^= std::byte{1};
    MessageView view;
    const Cut cut = cut_message(std::span(bad).subspan(kFrameHeadBytes), view);
    const bool padding = i >= kFrameHeadBytes + kHeaderBytes + record.size() && i < kFrameHeadBytes + 128;
    EXPECT_EQ(cut == Cut::kWhole, padding) << i;
  }
}

TEST(NativeCodec, EachStatusHasOneNumberAndGoesThereAndBack) {
  for (std::uint16_t code = kErrcFirst; code <= kErrcLast; ++code) {
    const WireStatus status = to_status(Errc{code});
    EXPECT_NE(status, WireStatus::ok);
    EXPECT_EQ(to_errc(status), Errc{code}) << code;
  }
}

TEST(NativeCodec, TheProofIsHmacSha256OverAllThatWasSaid) {
  const Bytes one(3, std::byte{1}), two(2, std::byte{2}), both(5, std::byte{1});
  const Mac mac = prove(ProofOf::kClient, "secret", {one, two});
  EXPECT_TRUE(same(mac, as_text(prove(ProofOf::kClient, "secret", {one, two}))));
  EXPECT_FALSE(same(mac, as_text(prove(ProofOf::kServer, "secret", {one, two}))));
  EXPECT_FALSE(same(mac, as_text(prove(ProofOf::kClient, "secreT", {one, two}))));
  EXPECT_FALSE(same(mac, as_text(prove(ProofOf::kClient, "secret", {two, one}))));
  EXPECT_FALSE(same(mac, as_text(mac).substr(1)));
  EXPECT_FALSE(same(mac, ""));
}

}  // namespace
}  // namespace stoa::test
