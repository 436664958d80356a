// Delegations of one client against operations of the native protocol.
#include "tests/cross/delegations_fixture.h"

namespace stoa::clients {

std::vector<Case> DelegationsTest::native() {
  const auto unchanged = [this](const std::string& was) { EXPECT_EQ(content("f"), was); };
  return {
      {"read", false,
       [this] {
         const NativeReply read = native_->read(native_f_, 0, 100);
         seen_ = read.data;
         return done(read);
       },
       [this](const std::string& was) { EXPECT_EQ(seen_, was); }},
      {"getattr", false, [this] { return done(native_->getattr(native_f_)); }, unchanged},
      {"write", true, [this] { return done(native_->write(native_f_, 8, "xy")); },
       [this](const std::string& was) { EXPECT_EQ(content("f"), was.substr(0, 8) + "xy"); }},
      {"setattr of the mode", true,
       [this] { return done(native_->set(native_f_, {.which = native::kSetMode, .mode = 0600})); },
       [=, this](const std::string& was) {
         unchanged(was);
         EXPECT_EQ(nfs_->getattr(v3_).attr->mode & 07777, 0600u);
       }},
      {"setattr of the size", true, [this] { return done(native_->resize(native_f_, 3)); },
       [this](const std::string& was) { EXPECT_EQ(content("f"), was.substr(0, 3)); }},
      {"link", true,
       [this] {
         return done(
             native_->run<native::operations::link>({.file = native_f_, .parent = native_dir_, .name = "second"}));
       },
       [this](const std::string& was) { EXPECT_EQ(content("second"), was); }},
      {"unlink", true, [this] { return done(native_->unlink(native_dir_, "f")); },
       [this](const std::string& was) {
         EXPECT_FALSE(exists("f"));
         EXPECT_EQ(read_by_holder(), was);
       }},
      {"rename of it", true, [this] { return done(native_->rename(native_dir_, "f", native_dir_, "h")); },
       [this](const std::string& was) { EXPECT_EQ(content("h"), was); }},
      {"rename over it", true, [this] { return done(native_->rename(native_dir_, "g", native_dir_, "f")); },
       [this](const std::string& was) {
         EXPECT_EQ(content("f"), "the other one");
         EXPECT_EQ(read_by_holder(), was);
       }},
  };
}

// Opens and locks, ranges, and operations that other protocols do not have.
std::vector<Case> DelegationsTest::native_more() {
  const auto unchanged = [this](const std::string& was) { EXPECT_EQ(content("f"), was); };
  const auto with_data = [this](auto add) {
    native::Batch batch;
    add(batch, NativeCaller::bytes("++"));
    return done(native_->call(batch));
  };
  return {
      {"open, read and close", false,
       [this] {
         const NativeReply read = native_->read_all(native_f_);
         seen_ = read.data;
         return done(read);
       },
       [this](const std::string& was) { EXPECT_EQ(seen_, was); }},
      {"open for writing", true,
       [this] {
         const std::uint64_t open = native_->new_open();
         const bool opened = done(
             native_->run<native::operations::open>({.file = native_f_, .open = open, .access = native::kOpenWrite}));
         return done(native_->run<native::operations::close>({open})) && opened;
       },
       unchanged},
      {"open that truncates, write and close", true, [this] { return done(native_->put(native_dir_, "f", kPut)); },
       [this](const std::string&) { EXPECT_EQ(content("f"), kPut); }},
      {"append", true,
       [=, this] {
         return with_data([&](native::Batch& batch, auto data) {
           batch.add_with<native::operations::append>({.file = native_f_, .stable = 1}, data);
         });
       },
       [this](const std::string& was) { EXPECT_EQ(content("f"), was + "++"); }},
      {"exchange", true,
       [this] {
         return done(native_->run<native::operations::exchange>(
             {.from_parent = native_dir_, .to_parent = native_dir_, .from_name = "g", .to_name = "f"}));
       },
       [this](const std::string& was) {
         EXPECT_EQ(content("f"), "the other one");
         EXPECT_EQ(content("g"), was);
       }},
      {"lock", true,
       [this] {
         const bool locked = done(native_->run<native::operations::lock>(
             {.file = native_f_, .owner = 1, .length = native::kLockToEnd, .exclusive = 1}));
         return done(native_->run<native::operations::unlock>(
                    {.file = native_f_, .owner = 1, .length = native::kLockToEnd})) &&
                locked;
       },
       unchanged},
      {"seek", false, [this] { return done(native_->run<native::operations::seek>({.file = native_f_})); }, unchanged},
      {"allocate", true,
       [this] { return done(native_->run<native::operations::allocate>({.file = native_f_, .length = 12})); },
       [this](const std::string& was) { EXPECT_EQ(content("f"), was + std::string(2, '\0')); }},
      {"punch", true,
       [this] { return done(native_->run<native::operations::punch>({.file = native_f_, .offset = 8, .length = 1})); },
       [this](const std::string& was) { EXPECT_EQ(content("f"), was.substr(0, 8) + '\0' + was.substr(9)); }},
      {"zero", true,
       [this] { return done(native_->run<native::operations::zero>({.file = native_f_, .offset = 9, .length = 2})); },
       [this](const std::string& was) { EXPECT_EQ(content("f"), was.substr(0, 9) + std::string(2, '\0')); }},
      {"copy_range over it", true,
       [this] {
         return done(native_->run<native::operations::copy_range>({.from = native_g_, .to = native_f_, .length = 13}));
       },
       [this](const std::string&) { EXPECT_EQ(content("f"), "the other one"); }},
      {"copy_range from it", false,
       [this] {
         return done(native_->run<native::operations::copy_range>({.from = native_f_, .to = native_g_, .length = 10}));
       },
       [this](const std::string& was) { EXPECT_EQ(content("g"), was + "one"); }},
      {"set_xattr", true,
       [this] {
         return done(
             native_->run<native::operations::set_xattr>({.file = native_f_, .name = "user.color", .value = "red"}));
       },
       unchanged},
  };
}

TEST_F(AnsweredTest, NativeSeesWhatTheHolderHadCached) {
  all("native", [this] { return native(); });
}
TEST_F(AnsweredTest, NativeOpensLocksAndRangesSeeWhatTheHolderHadCached) {
  all("native-more", [this] { return native_more(); });
}
TEST_F(UnansweredTest, NativeWaitsNoLongerThanTheRecall) {
  all("native", [this] { return native(); });
}

}  // namespace stoa::clients
