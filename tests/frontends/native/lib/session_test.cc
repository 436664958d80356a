// Connecting: what is asked for, and what is said when it cannot be.
#include <cerrno>
#include <cstddef>

#include "tests/frontends/native/lib/library_fixture.h"

namespace stoa::test {
namespace {

class LibrarySession : public LibraryTest {
 protected:
  LibrarySession() {
    address_ = url("test");
    wanted_.size = sizeof wanted_;
    wanted_.url = address_.c_str();
    wanted_.key_file = key.c_str();
    wanted_.why = why_;
    wanted_.why_bytes = sizeof why_;
  }
  int result() {
    stoa_fs* made = nullptr;
    const int connected = stoa_connect(&wanted_, &made);
    if (connected == 0) {
      EXPECT_EQ(stoa_disconnect(made), 0);
    }
    return connected;
  }

  std::string address_;
  stoa_options wanted_{};
  char why_[200] = "";
};

TEST_F(LibrarySession, OptionsOfAnOlderOrNewerLibrary) {
  EXPECT_EQ(result(), 0);
  wanted_.size = offsetof(stoa_options, security);  // all that the first one had
  wanted_.security = 77;
  EXPECT_EQ(result(), 0);
  wanted_.security = 0;
  wanted_.size = offsetof(stoa_options, why_bytes);
  EXPECT_EQ(result(), -EINVAL);
  wanted_.size = sizeof wanted_ + 8;
  struct {
    stoa_options known;
    std::uint64_t unknown;
  } newer{wanted_, 0};
  stoa_fs* made = nullptr;
  EXPECT_EQ(stoa_connect(&newer.known, &made), -EINVAL);
  EXPECT_NE(std::string(why_).find("newer"), std::string::npos) << why_;
}

TEST_F(LibrarySession, BadOptionsAreRefused) {
  wanted_.channels = 16;
  EXPECT_EQ(result(), 0);
  wanted_.channels = 17;
  EXPECT_EQ(result(), -EINVAL);
  wanted_.channels = 1;
  wanted_.budget_bytes = (16u << 20) - 1;
  EXPECT_EQ(result(), -EINVAL);
  wanted_.budget_bytes = 16u << 20;
  EXPECT_EQ(result(), 0);
  wanted_.spare = 1;
  EXPECT_EQ(result(), -EINVAL);
}

TEST_F(LibrarySession, EachFailureHasASentence) {
  wanted_.url = "http://nowhere";
  EXPECT_EQ(result(), -EINVAL);
  EXPECT_GT(std::string(why_).size(), 10u);
  const std::string none = url("none");
  wanted_.url = none.c_str();
  EXPECT_EQ(result(), -ENOENT);
  const std::string below = url("test/none");
  wanted_.url = below.c_str();
  EXPECT_EQ(result(), -ENOENT);
  wanted_.url = address_.c_str();
  wanted_.key_file = "/nowhere/key";
  EXPECT_EQ(result(), -ENOENT);
  const std::string open_to_all = key_file("host HOSTKEY host-secret\n", 0644);
  wanted_.key_file = open_to_all.c_str();
  EXPECT_EQ(result(), -EACCES);
  const std::string wrong = key_file("host HOSTKEY wrong\n");
  wanted_.key_file = wrong.c_str();
  EXPECT_EQ(result(), -EACCES);
  EXPECT_EQ(std::string(why_).find("wrong\n"), std::string::npos) << "the secret is not told";
}

TEST_F(LibrarySession, AShortBufferForTheSentenceIsNotOverrun) {
  wanted_.url = "http://nowhere";
  why_[3] = '#';
  wanted_.why_bytes = 3;
  EXPECT_EQ(result(), -EINVAL);
  EXPECT_EQ(std::string(why_).size(), 2u);
  EXPECT_EQ(why_[3], '#');
  wanted_.why = nullptr;
  EXPECT_EQ(result(), -EINVAL);
}

TEST_F(LibrarySession, TheEnvironmentSaysWhatOptionsDoNot) {
  wanted_.url = wanted_.key_file = nullptr;
  ::unsetenv("STOA_NATIVE_URL");
  EXPECT_EQ(result(), -EINVAL);
  ::setenv("STOA_NATIVE_URL", address_.c_str(), 1);
  ::unsetenv("STOA_NATIVE_KEY_FILE");
  EXPECT_EQ(result(), -EINVAL);
  ::setenv("STOA_NATIVE_KEY_FILE", key.c_str(), 1);
  EXPECT_EQ(result(), 0);
  ::unsetenv("STOA_NATIVE_URL");
  ::unsetenv("STOA_NATIVE_KEY_FILE");
}

TEST_F(LibrarySession, TheDirectoryOfTheUrlIsTheTop) {
  ASSERT_EQ(mkdir("a"), 0);
  ASSERT_EQ(mkdir("a/b"), 0);
  put("secret", "above");
  stoa_fs* const below = connect("test/a");
  ASSERT_NE(below, nullptr);
  stoa_attributes found;
  EXPECT_EQ(stoa_stat(below, nullptr, "b", 0, &found), 0);
  EXPECT_EQ(stoa_stat(below, nullptr, "/b", 0, &found), 0);
  EXPECT_EQ(stoa_stat(below, nullptr, "../secret", 0, &found), -ENOENT);
  EXPECT_EQ(stoa_stat(below, nullptr, "b/../../../secret", 0, &found), -ENOENT);
  EXPECT_EQ(stoa_stat(below, nullptr, "../b", 0, &found), 0);
  EXPECT_EQ(stoa_disconnect(below), 0);
}

TEST_F(LibrarySession, ARestartOfTheServerIsAPause) {
  stoa_file* const file = open("f");
  ASSERT_EQ(stoa_pwrite(file, "kept", 4, 0), 4);
  restart();
  char back[5] = "";
  EXPECT_EQ(stoa_pread(file, back, 4, 0), 4);
  EXPECT_STREQ(back, "kept");
  EXPECT_EQ(stoa_fsync(file), 0);
  EXPECT_EQ(stoa_close(file), 0);
}

}  // namespace
}  // namespace stoa::test
