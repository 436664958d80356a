// The documented examples of chunked uploads, fed whole and byte by byte, and every broken form.
#include <gtest/gtest.h>

#include "frontends/s3/auth/aws_chunked.h"
#include "frontends/s3/auth/sigv4.h"

namespace stoa::s3 {
namespace {

class Collect final : public ByteSink {
 public:
  Outcome<void> write(std::span<const std::byte> data) override {
    text.append(reinterpret_cast<const char*>(data.data()), data.size());
    return {};
  }
  std::string text;
};

ChunkSigning signing(std::string seed) {
  const CredentialScope scope{"AKIAIOSFODNN7EXAMPLE", "20130524", "us-east-1"};
  return {.key = signing_key("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", scope),
          .date_time = "20130524T000000Z",
          .scope = scope.text(),
          .signature = std::move(seed)};
}

Outcome<void> decode(AwsChunkedDecoder& decoder, std::string_view body, std::size_t step, Collect& sink) {
  for (std::size_t at = 0; at < body.size(); at += step) {
    STOA_CHECK_OK(decoder.feed(std::as_bytes(std::span(body.substr(at, step))), sink));
  }
  return decoder.finish();
}

std::string signed_body() {
  return "10000;chunk-signature=ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648\r\n" +
         std::string(65536, 'a') +
         "\r\n400;chunk-signature=0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497\r\n" +
         std::string(1024, 'a') +
         "\r\n0;chunk-signature=b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9\r\n\r\n";
}
constexpr const char* kSeed = "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9";

std::string trailer_body() {
  return "10000;chunk-signature=b474d8862b1487a5145d686f57f013e54db672cee1c953b3010fb58501ef5aa2\r\n" +
         std::string(65536, 'a') +
         "\r\n400;chunk-signature=1c1344b170168f8e65b41376b44b20fe354e373826ccbbe2c1d40a8cae51e5c7\r\n" +
         std::string(1024, 'a') +
         "\r\n0;chunk-signature=2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992\r\n"
         "x-amz-checksum-crc32c:sOO8/Q==\r\n"
         "x-amz-trailer-signature:d81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435\r\n\r\n";
}
constexpr const char* kTrailerSeed = "106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e";

TEST(AwsChunkedTest, DecodesTheDocumentedSignedExample) {
  for (const std::size_t step : {std::size_t{1}, std::size_t{7}, std::size_t{4096}, std::size_t{1} << 20}) {
    AwsChunkedDecoder decoder(signing(kSeed), false);
    Collect sink;
    const auto done = decode(decoder, signed_body(), step, sink);
    ASSERT_TRUE(done) << step << " " << info(done.error().code).name;
    EXPECT_EQ(sink.text, std::string(66560, 'a'));
  }
}

TEST(AwsChunkedTest, DecodesTheDocumentedTrailerExample) {
  for (const std::size_t step : {std::size_t{1}, std::size_t{1} << 20}) {
    AwsChunkedDecoder decoder(signing(kTrailerSeed), true);
    Collect sink;
    const auto done = decode(decoder, trailer_body(), step, sink);
    ASSERT_TRUE(done) << info(done.error().code).name;
    ASSERT_EQ(decoder.trailers().size(), 1u);
    EXPECT_EQ(decoder.trailers()[0].first, "x-amz-checksum-crc32c");
    EXPECT_EQ(decoder.trailers()[0].second, "sOO8/Q==");
  }
}

TEST(AwsChunkedTest, RefusesAChangedByteChunkOrTrailer) {
  const auto code = [](std::string body, const char* seed, bool trailer) {
    AwsChunkedDecoder decoder(signing(seed), trailer);
    Collect sink;
    const auto done = decode(decoder, body, 1 << 20, sink);
    return done ? Code::kNotModified : done.error().code;
  };
  std::string body = signed_body();
  body[200] = 'b';
  EXPECT_EQ(code(body, kSeed, false), Code::kSignatureDoesNotMatch);
  EXPECT_EQ(code(signed_body(), kTrailerSeed, false), Code::kSignatureDoesNotMatch);
  std::string trailer = trailer_body();
  trailer.replace(trailer.find("sOO8"), 4, "AAAA");
  EXPECT_EQ(code(trailer, kTrailerSeed, true), Code::kSignatureDoesNotMatch);
  std::string unsigned_trailer = trailer_body();
  const std::size_t at = unsigned_trailer.find("x-amz-trailer-signature");
  unsigned_trailer.replace(at, std::string::npos, "\r\n");
  EXPECT_EQ(code(unsigned_trailer, kTrailerSeed, true), Code::kMalformedTrailer);
}

TEST(AwsChunkedTest, TellsATruncatedBodyFromABrokenOne) {
  const auto code = [](std::string_view body, bool trailer = false) {
    AwsChunkedDecoder decoder(std::nullopt, trailer);
    Collect sink;
    const auto done = decode(decoder, body, 3, sink);
    return done ? Code::kNotModified : done.error().code;
  };
  EXPECT_EQ(code("3\r\nabc\r\n0\r\n\r\n"), Code::kNotModified);
  EXPECT_EQ(code("3\r\nabc\r\n0\r\nx-amz-checksum-crc32:AAAAAA==\r\n\r\n", true), Code::kNotModified);
  EXPECT_EQ(code("3\r\nabc\r\n0\r\nx-amz-checksum-crc32:AAAAAA==\n\r\n", true), Code::kNotModified);
  EXPECT_EQ(code(""), Code::kIncompleteBody);
  EXPECT_EQ(code("3\r\nab"), Code::kIncompleteBody);
  EXPECT_EQ(code("3\r\nabc\r\n"), Code::kIncompleteBody);
  EXPECT_EQ(code("3\r\nabcd\r\n0\r\n\r\n"), Code::kInvalidRequest);
  EXPECT_EQ(code("x\r\n"), Code::kInvalidRequest);
  EXPECT_EQ(code("\r\n"), Code::kInvalidRequest);
  EXPECT_EQ(code("3\nabc\r\n0\r\n\r\n"), Code::kInvalidRequest);
  EXPECT_EQ(code("fffffffffffffffff\r\n"), Code::kInvalidRequest);
  EXPECT_EQ(code("0\r\nx-amz-checksum-crc32:AAAAAA==\r\n\r\n"), Code::kInvalidRequest);  // no trailer was announced
  EXPECT_EQ(code("0\r\nnothing\r\n\r\n", true), Code::kMalformedTrailer);
  EXPECT_EQ(code("0\r\n\r\nmore"), Code::kInvalidRequest);
  EXPECT_EQ(code(std::string(AwsChunkedDecoder::kLineBytesMax + 1, '1')), Code::kInvalidRequest);
}

TEST(AwsChunkedTest, NeedsASignatureOnEachChunkWhenSigned) {
  AwsChunkedDecoder decoder(signing(kSeed), false);
  Collect sink;
  const auto done = decode(decoder, "3\r\nabc\r\n0\r\n\r\n", 100, sink);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::kInvalidRequest);
}

}  // namespace
}  // namespace stoa::s3
