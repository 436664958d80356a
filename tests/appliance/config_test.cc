#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "appliance/config/byte_size.h"
#include "appliance/config/config_file.h"
#include "appliance/config/endpoint.h"
#include "appliance/config/keys.h"

namespace stoa::appliance {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string refusal(std::string_view text) {
  Config config;
  const Status read = read_config_text(text, "stoad.toml", config);
  EXPECT_FALSE(read) << text;
  return read ? "" : read.error().detail;
}

TEST(ConfigTest, EveryKindOfValueIsRead) {
  Config config;
  const Status read = read_config_text(
      "data = \"/srv/stoa\"\n"
      "blob_directories = [\"/a\", \"/b\"]\n"
      "[log]\nlevel = \"debug\"\n"
      "[volume]\nblock_cache_bytes = \"2GiB\"\ninline_bytes_max = 4096\n"
      "[nfs]\nenabled = false\nworkers = 7\nlisten = \"[::]:2049\"\n",
      "stoad.toml", config);
  ASSERT_TRUE(read) << read.error().detail;
  EXPECT_EQ(config.data, "/srv/stoa");
  EXPECT_THAT(config.blob_directories, ElementsAre("/a", "/b"));
  EXPECT_EQ(config.log.level, "debug");
  EXPECT_EQ(config.volume.block_cache_bytes, 2ull << 30);
  EXPECT_EQ(config.volume.inline_bytes_max, 4096u);
  EXPECT_FALSE(config.nfs.enabled);
  EXPECT_EQ(config.nfs.workers, 7u);
  EXPECT_EQ(config.nfs.listen, "[::]:2049");
  EXPECT_TRUE(check_config(config));
}

TEST(ConfigTest, AnUnknownKeyIsRefusedWithItsLineAndTheKeyThatWasMeant) {
  EXPECT_THAT(refusal("\n[nfs]\nlisen = \"0.0.0.0:1\"\n"),
              HasSubstr("stoad.toml:3: there is no key 'nfs.lisen'; did you mean 'nfs.listen'?"));
  EXPECT_THAT(refusal("level = \"info\"\n"), HasSubstr("did you mean 'log.level'?"));
  EXPECT_THAT(refusal("[smb]\nlisten = 1\n"), HasSubstr("stoad.toml:1: there is no section [smb]"));
  EXPECT_THAT(refusal("[log.deep]\nx = 1\n"), HasSubstr("there is no key 'log.deep'"));
  EXPECT_THAT(refusal("frobnicate = 1\n"), testing::Not(HasSubstr("did you mean")));
}

TEST(ConfigTest, AValueOfTheWrongFormIsRefusedWithItsLine) {
  EXPECT_THAT(refusal("[nfs]\nenabled = \"yes\"\n"), HasSubstr("stoad.toml:2: nfs.enabled: must be true or false"));
  EXPECT_THAT(refusal("[nfs]\nworkers = \"4\"\n"), HasSubstr("must be a whole number"));
  EXPECT_THAT(refusal("[nfs]\nworkers = -4\n"), HasSubstr("must not be negative"));
  EXPECT_THAT(refusal("[nfs]\nworkers = 4000\n"), HasSubstr("between 0 and 1024"));
  EXPECT_THAT(refusal("[nfs]\nlisten = \"2049\"\n"), HasSubstr("it has no port"));
  EXPECT_THAT(refusal("[log]\nlevel = \"loud\"\n"), HasSubstr("debug, info, warning and error"));
  EXPECT_THAT(refusal("[log]\nfile = \"stoad.log\"\n"), HasSubstr("must be an absolute path"));
  EXPECT_THAT(refusal("engine = \"sqlite\"\n"), HasSubstr("rocksdb and memory"));
  EXPECT_THAT(refusal("blob_directories = \"/a\"\n"), HasSubstr("a list of texts"));
  EXPECT_THAT(refusal("blob_directories = [1]\n"), HasSubstr("a list of texts"));
  EXPECT_THAT(refusal("[volume]\nblock_cache_bytes = \"much\"\n"), HasSubstr("is not a size"));
  EXPECT_THAT(refusal("[admin]\nsocket_mode = \"rw\"\n"), HasSubstr("octal digits"));
}

TEST(ConfigTest, TextThatIsNotTomlIsRefusedWithItsLine) {
  EXPECT_THAT(refusal("data = \"/a\"\ndata = \"/b\"\n"), HasSubstr("stoad.toml:2: not TOML"));
  EXPECT_THAT(refusal("[log\n"), HasSubstr("stoad.toml:1: not TOML"));
}

TEST(ConfigTest, AllProblemsOfAFileAreTold) {
  const std::string text = refusal("a1 = 1\n[nfs]\nworkers = -1\n");
  EXPECT_THAT(text, HasSubstr("stoad.toml:1:"));
  EXPECT_THAT(text, HasSubstr("stoad.toml:3:"));
}

TEST(ConfigTest, AMissingFileIsNamed) {
  Config config;
  const Status read = read_config_file("/no/such/file.toml", config);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, Errc::kNotFound);
  EXPECT_THAT(describe(read.error()), HasSubstr("/no/such/file.toml"));
}

TEST(ConfigTest, KeysThatBelongTogetherAreCheckedTogether) {
  Config config;
  config.s3.tls_key = "/key.pem";
  EXPECT_THAT(check_config(config).error().detail, HasSubstr("belong together"));
  config = {};
  config.admin.tls_certificate = "/chain.pem";
  EXPECT_THAT(check_config(config).error().detail, HasSubstr("belong together"));
  for (std::string Config::Native::* const one : {&Config::Native::tls_certificate, &Config::Native::tls_key}) {
    config = {};
    config.native.*one = "/one.pem";
    EXPECT_THAT(check_config(config).error().detail, HasSubstr("native.tls_key belong together"));
  }
  config = {};
  config.native.tls = "required";
  EXPECT_THAT(check_config(config).error().detail, HasSubstr("native.tls = required needs a certificate"));
  config.native.tls_certificate = "/chain.pem";
  config.native.tls_key = "/key.pem";
  EXPECT_TRUE(check_config(config));
  EXPECT_FALSE(apply_settings({{"native.tls", "sometimes"}}, config));
  for (const char* open : {"0.0.0.0:9090", "192.0.2.1:9090", "[::]:9090", "[2001:db8::1]:0"}) {
    config = {};
    config.admin.listen = open;
    EXPECT_THAT(check_config(config).error().detail, HasSubstr("set admin.tls_certificate and admin.tls_key"));
    config.admin.tls_certificate = "/chain.pem";
    config.admin.tls_key = "/key.pem";
    EXPECT_TRUE(check_config(config));
  }
  for (const char* local : {"127.0.0.1:9090", "127.1.2.3:0", "[::1]:9090"}) {
    config = {};
    config.admin.listen = local;
    EXPECT_TRUE(check_config(config));
  }
  config = {};
  config.admin.listen = "";
  EXPECT_TRUE(check_config(config));  // the socket in the data folder is there in any case
  config.admin.socket = "/" + std::string(200, 'x');
  EXPECT_THAT(check_config(config).error().detail, HasSubstr("107 bytes"));
}

TEST(ConfigTest, GraceFollowsTheLeaseUnlessItIsSet) {
  const auto grace = [](std::string_view text) {
    Config config;
    EXPECT_TRUE(read_config_text(text, "stoad.toml", config)) << text;
    return config.volume.grace_ms;
  };
  EXPECT_EQ(grace("[nfs]\nworkers = 1\n"), 90'000u);
  EXPECT_EQ(grace("[nfs]\nlease_seconds = 20\n"), 20'000u);
  EXPECT_EQ(grace("[volume]\ngrace_ms = 0\n[nfs]\nlease_seconds = 20\n"), 0u);
  EXPECT_EQ(grace("[nfs]\nlease_seconds = 20\n[volume]\ngrace_ms = 5\n"), 5u);
  EXPECT_THAT(refusal("[nfs]\nlease_seconds = 0\n"), HasSubstr("between 1 and 3600"));
  EXPECT_THAT(refusal("[nfs]\nlease_seconds = 3601\n"), HasSubstr("between 1 and 3600"));
}

// As all defaults, a folder or an empty file would open NFS and S3 to everywhere.
TEST(ConfigTest, WhatReadsAsNothingIsNoConfiguration) {
  std::string pattern = (std::filesystem::temp_directory_path() / "stoa-config-XXXXXX").string();
  const std::string folder = mkdtemp(pattern.data());
  Config config;
  EXPECT_THAT(read_config_file(folder, config).error().detail, HasSubstr("is no file"));
  EXPECT_THAT(read_config_file("/dev/null", config).error().detail, HasSubstr("is no file"));
  const std::string file = folder + "/stoad.toml";
  std::ofstream(file).flush();
  EXPECT_THAT(read_config_file(file, config).error().detail, HasSubstr("is empty"));
  std::ofstream(file) << "# all defaults, on purpose\n";
  EXPECT_TRUE(read_config_file(file, config));
  std::filesystem::remove_all(folder);
}

TEST(ConfigTest, TwoProtocolsDoNotListenOnOnePort) {
  const auto check = [](const char* nfs, const char* s3, const char* admin) {
    Config config;
    config.nfs.listen = nfs;
    config.s3.listen = s3;
    config.admin.listen = admin;
    return check_config(config);
  };
  EXPECT_THAT(check("0.0.0.0:2049", "127.0.0.1:2049", "").error().detail,
              HasSubstr("nfs.listen and s3.listen are both port 2049"));
  EXPECT_THAT(check("0.0.0.0:2049", "[::1]:9090", "[::1]:9090").error().detail,
              HasSubstr("s3.listen and admin.listen"));
  EXPECT_TRUE(check("192.0.2.1:80", "192.0.2.2:80", "127.0.0.1:80"));
  EXPECT_TRUE(check("127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0"));
  Config config;
  config.s3.listen = config.nfs.listen;
  config.nfs.enabled = false;
  EXPECT_TRUE(check_config(config));
}

TEST(ConfigTest, ASizeMayHaveToHaveItsUnit) {
  EXPECT_EQ(parse_bytes_with_unit("100MB", "x").value(), 100'000'000u);
  EXPECT_EQ(parse_bytes_with_unit("7B", "x").value(), 7u);
  EXPECT_THAT(parse_bytes_with_unit("100", "100MB/s").error().detail,
              HasSubstr("'100' has no unit; write it as 100MB/s"));
  EXPECT_FALSE(parse_bytes_with_unit("", "x"));
  EXPECT_FALSE(parse_bytes_with_unit("MB", "x"));
}

TEST(ConfigTest, FlagsOverrideAndAreCheckedLikeTheFile) {
  Config config;
  ASSERT_TRUE(apply_settings({{"nfs.listen", "127.0.0.1:0"},
                              {"nfs.enabled", "off"},
                              {"volume.block_cache_bytes", "1MiB"},
                              {"blob_directories", "/a,/b"}},
                             config));
  EXPECT_EQ(config.nfs.listen, "127.0.0.1:0");
  EXPECT_FALSE(config.nfs.enabled);
  EXPECT_EQ(config.volume.block_cache_bytes, 1u << 20);
  EXPECT_THAT(config.blob_directories, ElementsAre("/a", "/b"));
  EXPECT_THAT(apply_settings({{"nfs.workers", "x"}}, config).error().detail, HasSubstr("--nfs-workers"));
  EXPECT_FALSE(apply_settings({{"no.such", "x"}}, config));
}

TEST(ConfigTest, TheExampleFileShowsEveryKeyAndIsTheOneInTheRepository) {
  const std::string example = example_config();
  Config config;
  const Status read = read_config_text(example, "example", config);
  ASSERT_TRUE(read) << read.error().detail;
  EXPECT_THAT(changed_keys(Config{}, config, false), ElementsAre());
  EXPECT_THAT(changed_keys(Config{}, config, true), ElementsAre());
  for (const ConfigKey& key : config_keys()) {
    EXPECT_THAT(example, HasSubstr("\n" + std::string(key.name) + " = "));
    EXPECT_FALSE(key.help.empty());
  }

  std::ifstream file(STOA_SOURCE_DIR "/appliance/stoad.example.toml");
  std::ostringstream stored;
  stored << file.rdbuf();
  EXPECT_EQ(stored.str(), example) << "write it again: stoad --print-example-config > appliance/stoad.example.toml";
}

TEST(ConfigTest, FlagNamesAreUnique) {
  std::set<std::string> flags;
  for (const ConfigKey& key : config_keys()) EXPECT_TRUE(flags.insert(key.flag()).second) << key.flag();
}

TEST(ConfigTest, ChangedKeysTellWhatAReloadTakesOverAndWhatNeedsARestart) {
  Config before;
  Config after;
  after.log.level = "debug";
  after.nfs.workers = 3;
  EXPECT_THAT(changed_keys(before, after, true), ElementsAre("log.level"));
  EXPECT_THAT(changed_keys(before, after, false), ElementsAre("nfs.workers"));
}

TEST(ByteSizeTest, UnitsAreReadExactly) {
  EXPECT_EQ(*parse_bytes("0"), 0u);
  EXPECT_EQ(*parse_bytes("17"), 17u);
  EXPECT_EQ(*parse_bytes("4K"), 4096u);
  EXPECT_EQ(*parse_bytes("4KiB"), 4096u);
  EXPECT_EQ(*parse_bytes("4kB"), 4000u);
  EXPECT_EQ(*parse_bytes("2 TB"), 2'000'000'000'000u);
  EXPECT_EQ(*parse_bytes("15E"), 15ull << 60);
  for (const char* bad : {"", "x", "-1", "1.5G", "4KX", "4Ki", "16E", "99999999999999999999"})
    EXPECT_FALSE(parse_bytes(bad)) << bad;
}

TEST(ByteSizeTest, ExactFormsAreReadBack) {
  for (const std::uint64_t n : {0ull, 1ull, 1000ull, 1024ull, 1536ull, 1ull << 20, 3ull << 40, ~0ull}) {
    EXPECT_EQ(*parse_bytes(exact_bytes(n)), n);
  }
}

TEST(ByteSizeTest, RoundFormsHaveThreeDigits) {
  EXPECT_EQ(round_bytes(0), "0 B");
  EXPECT_EQ(round_bytes(1023), "1023 B");
  EXPECT_EQ(round_bytes(1024), "1.00 KiB");
  EXPECT_EQ(round_bytes(1536 << 10), "1.50 MiB");
  EXPECT_EQ(round_bytes(~0ull), "16.0 EiB");
}

TEST(EndpointTest, NumericAddressesAreReadAndOthersRefused) {
  EXPECT_EQ(parse_endpoint("[::1]:99")->host, "::1");
  EXPECT_EQ(parse_endpoint("[::1]:99")->to_text(), "[::1]:99");
  EXPECT_EQ(parse_endpoint("0.0.0.0:0")->port, 0);
  EXPECT_TRUE(parse_endpoint("127.0.0.1:1")->is_loopback());
  EXPECT_FALSE(parse_endpoint("0.0.0.0:1")->is_loopback());
  for (const char* bad : {"", ":", ":80", "localhost:80", "::1:80", "1.2.3.4", "1.2.3.4:", "1.2.3.4:65536",
                          "1.2.3.4:8x", "[1.2.3.4]:8"}) {
    EXPECT_FALSE(parse_endpoint(bad)) << bad;
  }
}

}  // namespace
}  // namespace stoa::appliance
