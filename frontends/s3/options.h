// Options that the administrator sets for the S3 server, and its limits, each with a name.
#pragma once

#include <cstdint>
#include <string>

namespace stoa::qos {
class Scheduler;
}

namespace stoa::s3 {

struct Limits {
  std::uint32_t connections_max = 1024;
  std::uint32_t connections_per_address_max = 512;
  std::uint32_t requests_max = 768;  // in flight; more get SlowDown
  std::uint32_t uploads_max = 256;   // PutObject and UploadPart in flight; more get SlowDown
  std::uint32_t slow_requests_max =
      128;  // in flight that QoS classes made wait, of each kind; the share of each QoS class: slow_requests.h
  std::uint32_t header_bytes_max = 49152;  // request line and headers together
  std::uint32_t header_timeout_s = 30;     // from the first byte of a request to the end of its headers
  std::uint32_t idle_timeout_s = 75;       // of a connection between requests, or without any progress
  std::uint32_t body_timeout_s = 60;       // in which at least body_bytes_min of a body must arrive
  std::uint32_t body_bytes_min = 65536;
  std::uint32_t send_bytes_per_second_min = 4096;  // a reader slower than this, over a whole response, is cut off
  std::uint64_t object_bytes_max = std::uint64_t{5} << 30;  // of one PUT or part, and of a copy that has to be read
  std::uint32_t part_bytes_min = 5u << 20;                  // of all parts but the last
  std::uint32_t xml_bytes_max = 4u << 20;                   // of an XML body
  std::uint32_t uploads_per_bucket_max = 10'000;            // multipart uploads begun and not ended
  std::uint32_t metadata_bytes_max = 2048;                  // names and values of x-amz-meta-*
  std::uint32_t discard_bytes_max = 16u << 20;              // of a body that is read only in order to answer
};

// Policy for requests with Signature Version 2.
enum class SignatureV2 : std::uint8_t { kOff, kPresigned, kAll };

struct ServerOptions {
  std::string address = "0.0.0.0";   // IPv4 or IPv6 ("::" is both)
  std::uint16_t port = 0;            // 0: any free one
  std::string domain{};              // "s3.example.org": BUCKET.s3.example.org is that bucket; empty: path style only
  std::string region = "us-east-1";  // region of the buckets, for which requests must be signed
  SignatureV2 signature_v2 = SignatureV2::kPresigned;
  std::string bucket_directory = "/";  // of the volume: CreateBucket makes directories here
  std::string tls_certificate_file{};  // PEM, with the chain; both files or none
  std::string tls_key_file{};
  std::uint32_t inline_bytes_max = 16384;  // objects up to this size go to the core in one piece
  Limits limits{};
  qos::Scheduler* scheduler = nullptr;  // of the registry's QoS classes; null: no request is held back. Must outlive
                                        // the server
};

}  // namespace stoa::s3
