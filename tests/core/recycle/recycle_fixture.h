// A volume with an export "team" that has a policy, a file in it, and two users.
#pragma once

#include "tests/core/volume_fixture.h"

namespace stoa::core::test {

template <class Engine>
class RecycleTest : public VolumeTest<Engine> {
 protected:
  void SetUp() override {
    team_ = *this->mkdir(kRootId, "team");
    set_policy({.dir = team_});
  }
  void set_policy(const RecyclePolicy& policy) { ASSERT_TRUE(this->volume_->registry().set_recycle(policy)); }

  static OpContext as(std::uint32_t uid) {
    OpContext ctx;
    ctx.cred = {.uid = uid, .gid = uid};
    ctx.protocol = Protocol::kNfs;
    ctx.client = "10.0.0.7";
    return ctx;
  }
  Result<FileId> find(FileId dir, std::string_view name, const OpContext& ctx = {}) {
    STOA_TRY(found, this->ns().lookup(ctx, {.parent = dir, .name = name}));
    return found.attr.id;
  }
  FileId bin(FileId dir) { return find(dir, kRecycleName).value_or(kNoFile); }
  FileId user_bin(FileId dir, std::string_view uid = "0") { return find(bin(dir), uid).value_or(kNoFile); }
  std::vector<RecycledItem> items(FileId dir = kRootId, const OpContext& ctx = {}) {
    const auto reply = this->ns().list_recycled(ctx, {.dir = dir});
    EXPECT_TRUE(reply) << describe(reply.error());
    return reply ? reply->items : std::vector<RecycledItem>{};
  }
  RecycleItemId item(std::string_view name) {
    for (const RecycledItem& one : items()) {
      if (one.name == name) return one.item;
    }
    ADD_FAILURE() << "no item " << name;
    return {};
  }
  Result<RestoreReply> restore(std::string_view name, const OpContext& ctx = {}, FileId to = kNoFile,
                               std::string_view to_name = {}) {
    return this->ns().restore(ctx, {item(name), to, to_name});
  }
  FileId file_of(FileId dir, std::string_view name, std::string_view text) {
    const FileId id = *this->create(dir, name);
    EXPECT_TRUE(this->write(id, 0, text));
    return id;
  }

  FileId team_{};
};

}  // namespace stoa::core::test
