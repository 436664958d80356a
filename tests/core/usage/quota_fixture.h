// Two users, their group, and short names for their actions and limits. After each test the verifier counts
// again.
#pragma once

#include "tests/core/volume_fixture.h"

namespace stoa::core::test {

inline constexpr std::uint32_t kAnn = 1001, kBob = 1002, kStaff = 500;

template <class Engine>
class QuotaTest : public VolumeTest<Engine> {
 protected:
  ~QuotaTest() override {
    EXPECT_TRUE(this->volume_->flush());
    this->expect_consistent();
  }
  FileId counted(std::string_view name) {
    const FileId dir = this->mkdir(kRootId, name).value();
    EXPECT_TRUE(this->ns().count_owners(this->root_, {dir, true}));
    return dir;
  }
  Status limit(FileId dir, QuotaLimits limits, QuotaOf of = QuotaOf::kDirectory, std::uint32_t id = 0) {
    return this->ns().set_quota(this->root_, {dir, limits, of, id});
  }
  Result<FileId> create_as(FileId dir, std::string_view name, std::uint32_t uid, std::uint32_t gid = kStaff) {
    STOA_TRY(made, this->ns().create(
                       this->root_,
                       {.parent = dir, .name = name, .mode = CreateMode::kGuarded, .set = {.uid = uid, .gid = gid}}));
    return made.attr.id;
  }
  Status chown(FileId id, std::uint32_t uid, std::uint32_t gid = kStaff) {
    STOA_CHECK_OK(this->ns().setattr(this->root_, {.id = id, .set = {.uid = uid, .gid = gid}}));
    return {};
  }
  Status truncate(FileId id, std::uint64_t size) {
    STOA_CHECK_OK(this->ns().setattr(this->root_, {.id = id, .set = {.size = size}}));
    return {};
  }
  Status rename(FileId from, std::string_view name, FileId to, std::string_view to_name) {
    STOA_CHECK_OK(
        this->ns().rename(this->root_, {.from_parent = from, .from_name = name, .to_parent = to, .to_name = to_name}));
    return {};
  }
  Status unlink(FileId dir, std::string_view name) {
    STOA_CHECK_OK(this->ns().unlink(this->root_, {dir, name}));
    return {};
  }
  Usage of_user(FileId dir, std::uint32_t uid) {
    const auto reply = this->ns().usage(this->root_, {dir, QuotaOf::kUser, uid});
    return reply ? reply->usage : Usage{-1, -1, -1};
  }
  Usage of_group(FileId dir, std::uint32_t gid) {
    const auto reply = this->ns().usage(this->root_, {dir, QuotaOf::kGroup, gid});
    return reply ? reply->usage : Usage{-1, -1, -1};
  }
  UsageReply known(FileId dir) { return this->ns().usage(this->root_, {dir}).value(); }
  static std::string text(std::size_t size) { return std::string(size, 'x'); }
};

}  // namespace stoa::core::test
