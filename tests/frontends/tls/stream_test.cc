// One connection, both sides of it in this process.
#include "frontends/tls/stream.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "tests/frontends/tls/certificates.h"

namespace stoa::test {
namespace {

class TlsStreamTest : public testing::Test {
 protected:
  TlsStreamTest() {
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds_), 0);
    const int big = 8 << 20;
    for (const int fd : fds_) setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &big, sizeof big);
    char path[] = "/tmp/stoa-ca-XXXXXX";
    const int fd = mkstemp(path);
    EXPECT_GE(fd, 0);
    EXPECT_EQ(::write(fd, authority_.pem().data(), authority_.pem().size()),
              static_cast<ssize_t>(authority_.pem().size()));
    ::close(fd);
    ca_file_ = path;
  }
  ~TlsStreamTest() override {
    server_.reset();
    client_.reset();
    for (const int fd : fds_) ::close(fd);
    ::unlink(ca_file_.c_str());
  }

  void open(const std::string& name, const std::string& host, bool verify, long seconds = 3600) {
    const TestCertificate shown = authority_.issue(name, seconds);
    const auto served = tls::Context::server(shown.chain, shown.key);
    const auto trust = tls::Context::client(verify, verify ? ca_file_ : "");
    ASSERT_TRUE(served && trust);
    server_ = *tls::Stream::accept(**served, fds_[0]);
    client_ = *tls::Stream::connect(**trust, fds_[1], host);
  }
  static void flush(tls::Stream& stream, int fd, std::span<const std::byte> bytes = {}) {
    std::vector<std::byte> out;
    ASSERT_TRUE(stream.seal(bytes, out));
    ASSERT_EQ(::send(fd, out.data(), out.size(), MSG_NOSIGNAL), static_cast<ssize_t>(out.size()));
  }
  // Whether both sides are established.
  bool shake_hands() {
    for (int i = 0; i < 8 && !(server_->established() && client_->established()); ++i) {
      const ssize_t step = client_->handshake();
      const bool over = step <= 0 && errno != EAGAIN;
      flush(*client_, fds_[1]);
      if (over) return false;
      char byte = 0;
      const iovec part{&byte, 1};
      const ssize_t n = server_->read({&part, 1});
      const bool refused = n >= 0 || errno != EAGAIN;
      flush(*server_, fds_[0]);
      if (refused) return false;
    }
    return server_->established() && client_->established();
  }
  static std::string read(tls::Stream& stream, std::size_t bytes) {
    std::string got(bytes, '\0');
    std::size_t filled = 0;
    while (filled < bytes) {
      const iovec part{got.data() + filled, bytes - filled};
      const ssize_t n = stream.read({&part, 1});
      if (n <= 0) break;
      filled += static_cast<std::size_t>(n);
    }
    got.resize(filled);
    return got;
  }

  const TestAuthority authority_;
  std::string ca_file_;
  int fds_[2] = {-1, -1};
  std::unique_ptr<tls::Stream> server_, client_;
};

TEST_F(TlsStreamTest, CarriesBytesOfAnySizeBothWays) {
  open("DNS:nas.example", "nas.example", true);
  ASSERT_TRUE(shake_hands());
  for (const std::size_t bytes : {1u, 16383u, 16384u, 16385u, 100'001u, 1u << 20}) {
    const std::string sent(bytes, static_cast<char>('a' + bytes % 26));
    flush(*client_, fds_[1], std::as_bytes(std::span(sent)));
    EXPECT_EQ(read(*server_, bytes), sent);
    flush(*server_, fds_[0], std::as_bytes(std::span(sent)));
    EXPECT_EQ(read(*client_, bytes), sent);
  }
}

TEST_F(TlsStreamTest, BothSidesHaveOneBindingAndNoOtherConnectionHasIt) {
  open("DNS:nas.example", "nas.example", false);
  ASSERT_TRUE(shake_hands());
  EXPECT_EQ(server_->binding(), client_->binding());
  const tls::Binding before = client_->binding();
  EXPECT_NE(before, tls::Binding{});
  open("DNS:nas.example", "nas.example", false);
  ASSERT_TRUE(shake_hands());
  EXPECT_NE(client_->binding(), before);
}

TEST_F(TlsStreamTest, WhatDidNotFitIsToldOf) {
  open("DNS:nas.example", "nas.example", false);
  ASSERT_TRUE(shake_hands());
  const std::string sent(5000, 'x');
  flush(*client_, fds_[1], std::as_bytes(std::span(sent)));
  EXPECT_EQ(read(*server_, 1000).size(), 1000u);
  EXPECT_TRUE(server_->may_hold_more());
  EXPECT_EQ(read(*server_, 5000).size(), 4000u);
  EXPECT_FALSE(server_->may_hold_more());
  EXPECT_FALSE(server_->partial());
}

TEST_F(TlsStreamTest, PartOfARecordIsToldOf) {
  open("DNS:nas.example", "nas.example", false);
  EXPECT_TRUE(server_->partial()) << "the handshake is not over";
  ASSERT_TRUE(shake_hands());
  EXPECT_FALSE(server_->partial());
  std::vector<std::byte> out;
  const std::string sent(100, 'x');
  ASSERT_TRUE(client_->seal(std::as_bytes(std::span(sent)), out));
  ASSERT_EQ(::send(fds_[1], out.data(), 50, 0), 50);
  EXPECT_EQ(read(*server_, 100), "");
  EXPECT_TRUE(server_->partial());
  EXPECT_FALSE(server_->may_hold_more());
  ASSERT_EQ(::send(fds_[1], out.data() + 50, out.size() - 50, 0), static_cast<ssize_t>(out.size() - 50));
  EXPECT_EQ(read(*server_, 100), sent);
}

TEST_F(TlsStreamTest, NothingIsSealedBeforeTheHandshake) {
  open("DNS:nas.example", "nas.example", false);
  std::vector<std::byte> out;
  const std::byte byte{};
  EXPECT_FALSE(server_->seal({&byte, 1}, out));
  EXPECT_TRUE(out.empty());
}

TEST_F(TlsStreamTest, AChangedByteEndsIt) {
  open("DNS:nas.example", "nas.example", false);
  ASSERT_TRUE(shake_hands());
  std::vector<std::byte> out;
  const std::string sent(100, 'x');
  ASSERT_TRUE(client_->seal(std::as_bytes(std::span(sent)), out));
  out[50] ^= std::byte{1};
  ASSERT_EQ(::send(fds_[1], out.data(), out.size(), 0), static_cast<ssize_t>(out.size()));
  char room[100];
  const iovec part{room, sizeof room};
  EXPECT_EQ(server_->read({&part, 1}), -1);
  EXPECT_NE(errno, EAGAIN);
}

TEST_F(TlsStreamTest, AnEndIsAnEnd) {
  open("DNS:nas.example", "nas.example", false);
  ASSERT_TRUE(shake_hands());
  shutdown(fds_[1], SHUT_WR);
  char byte = 0;
  const iovec part{&byte, 1};
  EXPECT_EQ(server_->read({&part, 1}), 0);
}

TEST_F(TlsStreamTest, CertificatesForOthersAreNotTrusted) {
  open("DNS:other.example", "nas.example", true);
  EXPECT_FALSE(shake_hands());
  EXPECT_EQ(client_->failure(), "is for another name");
}

TEST_F(TlsStreamTest, CertificatesForOtherAddressesAreNotTrusted) {
  open("IP:192.0.2.7", "192.0.2.8", true);
  EXPECT_FALSE(shake_hands());
  EXPECT_EQ(client_->failure(), "is for another name");
}

TEST_F(TlsStreamTest, ACertificateForAnAddressIsTrustedThere) {
  open("IP:192.0.2.7", "192.0.2.7", true);
  EXPECT_TRUE(shake_hands());
}

TEST_F(TlsStreamTest, AnExpiredCertificateIsNotTrusted) {
  open("DNS:nas.example", "nas.example", true, -60);
  EXPECT_FALSE(shake_hands());
  EXPECT_EQ(client_->failure(), "is not valid today");
}

TEST_F(TlsStreamTest, AnotherAuthorityIsNotTrusted) {
  const TestAuthority other;
  const TestCertificate shown = other.issue("DNS:nas.example");
  server_ = *tls::Stream::accept(**tls::Context::server(shown.chain, shown.key), fds_[0]);
  client_ = *tls::Stream::connect(**tls::Context::client(true, ca_file_), fds_[1], "nas.example");
  EXPECT_FALSE(shake_hands());
  EXPECT_TRUE(client_->failure().starts_with("is from no authority")) << client_->failure();
}

TEST_F(TlsStreamTest, WhatIsNoTlsEndsTheHandshake) {
  open("DNS:nas.example", "nas.example", false);
  const std::string garbage = "\x16\x03\x01 this is no handshake, whatever its first bytes say; and it goes on";
  ASSERT_EQ(::send(fds_[1], garbage.data(), garbage.size(), 0), static_cast<ssize_t>(garbage.size()));
  ::shutdown(fds_[1], SHUT_WR);
  char byte = 0;
  const iovec part{&byte, 1};
  EXPECT_LE(server_->read({&part, 1}), 0);
  EXPECT_FALSE(server_->established());
}

}  // namespace
}  // namespace stoa::test
