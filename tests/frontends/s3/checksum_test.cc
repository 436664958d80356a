#include <gtest/gtest.h>

#include "base/crc32c.h"
#include "frontends/s3/checksum/checksum.h"
#include "frontends/s3/checksum/crc.h"
#include "frontends/s3/checksum/digest.h"

namespace stoa::s3 {
namespace {

std::span<const std::byte> bytes(std::string_view text) {
  return std::as_bytes(std::span(text));
}
constexpr std::string_view kCheck = "123456789";  // the check input of the CRC catalogue

TEST(DigestTest, KnowsThePublishedValues) {
  EXPECT_EQ(to_hex(md5(bytes(""))), "d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(to_hex(md5(bytes("message digest"))), "f96b697d7cb7938d525a2f31aaf161d0");  // RFC 1321 A.5
  EXPECT_EQ(to_hex(sha256("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  Sha1 sha1;
  sha1.update(bytes("abc"));
  EXPECT_EQ(to_hex(sha1.finish()), "a9993e364706816aba3e25717850c26c9cd0d89d");
}

TEST(DigestTest, HmacMatchesRfc4231) {
  const std::string key = "Jefe";
  EXPECT_EQ(to_hex(hmac_sha256({reinterpret_cast<const std::uint8_t*>(key.data()), key.size()},
                               "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  const std::vector<std::uint8_t> long_key(131, 0xaa);
  EXPECT_EQ(to_hex(hmac_sha256(long_key, "Test Using Larger Than Block-Size Key - Hash Key First")),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(DigestTest, Base64IsStrict) {
  for (const std::string text : {"", "f", "fo", "foo", "foob", "fooba", "foobar"}) {
    const std::string encoded = to_base64({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
    EXPECT_EQ(from_base64(encoded), text);
  }
  for (const char* bad : {"Zg", "Zg=", "Zh==", "Z===", "====", "Zm9=", "Zg==Zg==", "Zm 9", "Zm9\n"})
    EXPECT_FALSE(from_base64(bad)) << bad;
}

TEST(CrcTest, KnowsTheCatalogueValues) {
  EXPECT_EQ(crc32(bytes(kCheck)), 0xCBF43926u);
  EXPECT_EQ(crc32c(bytes(kCheck)), 0xE3069283u);
  EXPECT_EQ(crc64_nvme(bytes(kCheck)), 0xAE8B14860A799888u);
}

TEST(CrcTest, PiecesGiveTheWholeHoweverTheyAreCut) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text.push_back(static_cast<char>(i * 31 + i / 7));
  for (const std::size_t cut : {std::size_t{0}, std::size_t{1}, std::size_t{15}, std::size_t{16}, std::size_t{17},
                                std::size_t{500}, text.size()}) {
    const auto a = bytes(text).first(cut);
    const auto b = bytes(text).subspan(cut);
    EXPECT_EQ(crc64_nvme(b, crc64_nvme(a)), crc64_nvme(bytes(text)));
    EXPECT_EQ(crc32(b, crc32(a)), crc32(bytes(text)));
    EXPECT_EQ(crc64_nvme_join(crc64_nvme(a), crc64_nvme(b), b.size()), crc64_nvme(bytes(text)));
    EXPECT_EQ(crc32_join(crc32(a), crc32(b), b.size()), crc32(bytes(text)));
    EXPECT_EQ(crc32c_join(crc32c(a), crc32c(b), b.size()), crc32c(bytes(text)));
  }
}

TEST(ChecksumTest, EveryAlgorithmHasItsNamesAndLength) {
  for (const Algorithm algorithm : kAlgorithms) {
    EXPECT_EQ(algorithm_by_name(name_of(algorithm)), algorithm);
    EXPECT_EQ(algorithm_by_header(header_of(algorithm)), algorithm);
    ChecksumStream stream(algorithm);
    stream.update(bytes("x"));
    EXPECT_EQ(stream.finish().size(), bytes_of(algorithm));
  }
  EXPECT_FALSE(algorithm_by_name("MD5"));
  EXPECT_FALSE(algorithm_by_header("x-amz-checksum-type"));
  EXPECT_FALSE(algorithm_by_header("x-amz-checksum-mode"));
}

TEST(ChecksumTest, TextIsBigEndianBase64) {
  ChecksumStream stream(Algorithm::kCrc32);
  stream.update(bytes(kCheck));
  const Checksum checksum{Algorithm::kCrc32, ChecksumType::kFullObject, stream.finish(), 0};
  EXPECT_EQ(checksum.text(), "y/Q5Jg==");
  EXPECT_EQ(parse_checksum(Algorithm::kCrc32, "y/Q5Jg=="), checksum.value);
  EXPECT_FALSE(parse_checksum(Algorithm::kCrc32, "y/Q5JgA="));
  EXPECT_FALSE(parse_checksum(Algorithm::kSha256, "y/Q5Jg=="));
}

TEST(ChecksumTest, FullObjectOfPartsIsThatOfTheWhole) {
  const std::string a(1000, 'a'), b(1, 'b'), c;
  for (const Algorithm algorithm : {Algorithm::kCrc32, Algorithm::kCrc32c, Algorithm::kCrc64Nvme}) {
    std::vector<PartChecksum> parts;
    for (const std::string* text : {&a, &b, &c}) {
      ChecksumStream stream(algorithm);
      stream.update(bytes(*text));
      parts.push_back({stream.finish(), text->size()});
    }
    ChecksumStream whole(algorithm);
    whole.update(bytes(a + b + c));
    const auto joined = join_checksums(algorithm, ChecksumType::kFullObject, parts);
    ASSERT_TRUE(joined);
    EXPECT_EQ(joined->value, whole.finish());
  }
}

TEST(ChecksumTest, TypesAreAllowedAsDocumented) {
  EXPECT_FALSE(join_checksums(Algorithm::kSha1, ChecksumType::kFullObject, {}));
  EXPECT_FALSE(join_checksums(Algorithm::kSha256, ChecksumType::kFullObject, {}));
  EXPECT_FALSE(join_checksums(Algorithm::kCrc64Nvme, ChecksumType::kComposite, {}));
  const std::vector<PartChecksum> parts{{std::string(32, 'x'), 1}, {std::string(32, 'y'), 1}};
  const auto composite = join_checksums(Algorithm::kSha256, ChecksumType::kComposite, parts);
  ASSERT_TRUE(composite);
  EXPECT_TRUE(composite->text().ends_with("=-2"));
}

}  // namespace
}  // namespace stoa::s3
