#include "appliance/data_folder/data_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "appliance/daemon/notifier.h"
#include "appliance/data_folder/folder_lock.h"
#include "appliance/data_folder/run_record.h"
#include "appliance/data_folder/secret_file.h"
#include "appliance/data_folder/small_file.h"

namespace stoa::appliance {
namespace {

using testing::HasSubstr;

class DataFolderTest : public testing::Test {
 protected:
  DataFolderTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "stoa-folder-XXXXXX").string();
    folder_.path = mkdtemp(pattern.data());
  }
  ~DataFolderTest() override { std::filesystem::remove_all(folder_.path); }
  DataFolder folder_;
};

unsigned mode_of(const std::string& path) {
  struct stat info{};
  EXPECT_EQ(stat(path.c_str(), &info), 0) << path;
  return info.st_mode & 0777;
}

TEST_F(DataFolderTest, ANewFolderIsPrivateAndItsPathAbsolute) {
  const auto made = make_data_folder(folder_.path + "/a/../b//c/");
  ASSERT_TRUE(made) << describe(made.error());
  EXPECT_EQ(made->path, folder_.path + "/b/c");
  EXPECT_EQ(mode_of(made->path), 0700u);
  std::ofstream(folder_.path + "/file") << "x";
  EXPECT_FALSE(make_data_folder(folder_.path + "/file"));
  EXPECT_FALSE(make_data_folder(folder_.path + "/file/below"));
}

TEST_F(DataFolderTest, ASecretThatEverybodyCanReadIsRefusedWithTheCure) {
  const std::string path = folder_.path + "/secret";
  EXPECT_EQ(read_secret_file(path).error().code, Errc::kNotFound);
  ASSERT_TRUE(write_small_file(path, "hush", 0600));
  for (const unsigned mode : {0600u, 0400u, 0640u}) {
    ASSERT_EQ(chmod(path.c_str(), mode), 0);
    EXPECT_EQ(read_secret_file(path).value(), "hush") << mode;
  }
  for (const unsigned mode : {0644u, 0604u, 0602u, 0666u}) {
    ASSERT_EQ(chmod(path.c_str(), mode), 0);
    const auto refused = read_secret_file(path);
    ASSERT_FALSE(refused) << mode;
    EXPECT_EQ(refused.error().code, Errc::kAccess);
    EXPECT_THAT(refused.error().detail, HasSubstr("chmod 600 " + path));
  }
  EXPECT_EQ(read_secret_file(folder_.path).error().code, Errc::kInvalid);
  ASSERT_TRUE(load_or_make_token(folder_));
  ASSERT_EQ(chmod(folder_.token().c_str(), 0644), 0);
  EXPECT_EQ(load_or_make_token(folder_).error().code, Errc::kAccess);
}

TEST_F(DataFolderTest, TheTokenStaysTheSameAndIsPrivate) {
  const auto first = load_or_make_token(folder_);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->size(), 64u);
  EXPECT_EQ(mode_of(folder_.token()), 0600u);
  EXPECT_EQ(*load_or_make_token(folder_), *first);
  std::ofstream(folder_.token()) << "short\n";
  EXPECT_EQ(load_or_make_token(folder_).error().code, Errc::kCorrupt);
}

TEST_F(DataFolderTest, ALockIsTakenOnceAndItsHolderIsNamed) {
  EXPECT_FALSE(lock_holder(folder_)->has_value());
  {
    const auto lock = FolderLock::take(folder_);
    ASSERT_TRUE(lock) << describe(lock.error());
    EXPECT_EQ(lock_holder(folder_)->value(), getpid());
    const auto second = FolderLock::take(folder_);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Errc::kBusy);
    EXPECT_THAT(second.error().detail, HasSubstr("process " + std::to_string(getpid())));
  }
  EXPECT_FALSE(lock_holder(folder_)->has_value());
  EXPECT_TRUE(FolderLock::take(folder_));
}

TEST_F(DataFolderTest, AKilledProcessLeavesNoLock) {
  int fds[2];
  ASSERT_EQ(pipe(fds), 0);
  const pid_t child = fork();
  if (child == 0) {
    const auto lock = FolderLock::take(folder_);
    static_cast<void>(!write(fds[1], lock ? "y" : "n", 1));
    pause();
    _exit(0);
  }
  char word = 0;
  ASSERT_EQ(read(fds[0], &word, 1), 1);
  EXPECT_EQ(word, 'y');
  EXPECT_EQ(lock_holder(folder_)->value(), child);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_FALSE(lock_holder(folder_)->has_value());
  close(fds[0]);
  close(fds[1]);
}

TEST_F(DataFolderTest, TheRunRecordSurvivesARoundTrip) {
  EXPECT_EQ(read_run_record(folder_).error().code, Errc::kNotFound);
  ASSERT_TRUE(write_run_record(folder_, {.pid = 7,
                                         .version = "1",
                                         .admin_url = "http://x",
                                         .admin_pin = "sha256//a=",
                                         .admin_socket = "/s=1",
                                         .nfs = "a:1",
                                         .mount = "a:2",
                                         .s3_url = "http://y",
                                         .log_file = ""}));
  const auto record = read_run_record(folder_);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->pid, 7);
  EXPECT_EQ(record->admin_pin, "sha256//a=");
  EXPECT_EQ(record->admin_socket, "/s=1");
  EXPECT_EQ(record->mount, "a:2");
  EXPECT_EQ(record->log_file, "");
  remove_run_record(folder_);
  EXPECT_FALSE(read_run_record(folder_));
}

TEST_F(DataFolderTest, SmallFilesAreReplacedWhole) {
  const std::string path = folder_.path + "/f";
  ASSERT_TRUE(write_small_file(path, "one", 0600));
  std::ofstream(path + ".new") << "left by a crash";
  ASSERT_TRUE(write_small_file(path, "two", 0644));
  EXPECT_EQ(*read_small_file(path), "two");
  EXPECT_FALSE(std::filesystem::exists(path + ".new"));
  EXPECT_FALSE(write_small_file(folder_.path + "/none/f", "x", 0600));
}

TEST(DefaultDataPathTest, FollowsXdgThenHome) {
  setenv("XDG_DATA_HOME", "/xdg", 1);
  EXPECT_EQ(default_data_path(), "/xdg/stoa");
  setenv("XDG_DATA_HOME", "relative", 1);  // the XDG specification: to be ignored
  setenv("HOME", "/home/ann", 1);
  EXPECT_EQ(default_data_path(), "/home/ann/.local/share/stoa");
  unsetenv("XDG_DATA_HOME");
  unsetenv("HOME");
  EXPECT_EQ(default_data_path(), "/var/lib/stoa");
}

// A service manager: a datagram socket that receives the notifications.
class NotifierTest : public DataFolderTest {
 protected:
  NotifierTest() : fd_(socket(AF_UNIX, SOCK_DGRAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path_ = folder_.path + "/notify";
    path_.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  ~NotifierTest() override { close(fd_); }
  std::string heard() const {
    char text[512];
    const ssize_t n = recv(fd_, text, sizeof text, 0);
    return n > 0 ? std::string(text, static_cast<std::size_t>(n)) : std::string();
  }
  int fd_;
  std::string path_;
};

TEST_F(NotifierTest, SpeaksTheProtocolOfTheServiceManager) {
  setenv("NOTIFY_SOCKET", path_.c_str(), 1);
  setenv("WATCHDOG_USEC", "10000000", 1);
  setenv("WATCHDOG_PID", std::to_string(getpid()).c_str(), 1);
  const Notifier notifier;
  EXPECT_EQ(std::getenv("NOTIFY_SOCKET"), nullptr);
  EXPECT_EQ(notifier.watchdog_period(), std::chrono::milliseconds(5000));
  notifier.ready("fine");
  EXPECT_EQ(heard(), "READY=1\nSTATUS=fine\nMAINPID=" + std::to_string(getpid()));
  notifier.reloading();
  EXPECT_THAT(heard(), testing::StartsWith("RELOADING=1\nMONOTONIC_USEC="));
  notifier.alive();
  EXPECT_EQ(heard(), "WATCHDOG=1");
  notifier.stopping();
  EXPECT_EQ(heard(), "STOPPING=1");
}

TEST_F(NotifierTest, AWatchdogOfAnotherProcessIsNotOurs) {
  setenv("WATCHDOG_USEC", "10000000", 1);
  setenv("WATCHDOG_PID", "1", 1);
  EXPECT_FALSE(Notifier().watchdog_period());
}

}  // namespace
}  // namespace stoa::appliance
