// The configuration of stoad, as plain values. The meaning of each key: keys.cc, from which the example file, the flags
// and the man page are made.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stoa::appliance {

struct Config {
  std::string data;  // empty: the user's default folder
  std::vector<std::string> blob_directories;
  std::string engine = "rocksdb";
  std::string volume_name = "stoa";

  struct Log {
    std::string level = "info";
    std::string file;
  } log;

  struct Volume {
    std::uint64_t inline_bytes_max = 16u << 10;
    std::uint64_t cached_inodes_max = 100'000;
    std::uint64_t lazy_attributes_ms = 5000;
    std::uint64_t scrub_bytes_per_second = 32u << 20;
    std::uint64_t block_cache_bytes = 64u << 20;
    std::uint64_t lease_recall_ms = 90'000;
    std::uint64_t grace_ms = 90'000;
    bool grace_is_set = false;  // else it follows nfs.lease_seconds
  } volume;

  struct Nfs {
    bool enabled = true;
    std::string listen = "0.0.0.0:2049";
    std::uint64_t mount_port = 0;
    bool portmapper = false;
    std::uint64_t workers = 0;
    std::uint64_t connections_max = 1024;
    std::uint64_t lease_seconds = 90;
    std::string keytab;
    std::string id_domain;
  } nfs;

  struct Native {
    std::string listen;
    std::string tls = "offered";
    std::string tls_certificate;
    std::string tls_key;
  } native;

  struct S3 {
    bool enabled = true;
    std::string listen = "0.0.0.0:9000";
    std::string region = "us-east-1";
    std::string signature_v2 = "presigned";
    std::string domain;
    std::string tls_certificate;
    std::string tls_key;
    std::string bucket_directory = "/";
    std::uint64_t connections_max = 1024;
  } s3;

  struct Admin {
    std::string listen = "127.0.0.1:9090";
    std::string socket;
    std::string socket_mode = "0660";
    std::string tls_certificate;
    std::string tls_key;
  } admin;

  struct Audit {
    std::uint64_t keep_days = 90;
    std::uint64_t bytes_max = 10ull << 30;
    std::string syslog;
  } audit;
};

}  // namespace stoa::appliance
