// POSIX ACLs as extended attributes: their bytes, and what the server does with them.
#include "frontends/native/server/op/posix_acl_value.h"

#include <linux/posix_acl.h>

#include <thread>

#include "core/api/acl_text.h"
#include "tests/frontends/native/native_fixture.h"

namespace stoa::test {
namespace {

struct Tagged {
  std::uint32_t tag, bits, id = ~0u;
};

std::string value_of(const std::vector<Tagged>& entries, std::uint32_t version = 2) {
  std::string value;
  const auto put = [&](std::uint32_t number, int bytes) {
    for (int i = 0; i < bytes; ++i) value.push_back(static_cast<char>(number >> 8 * i & 0xff));
  };
  put(version, 4);
  for (const auto& [tag, bits, id] : entries) {
    put(tag, 2);
    put(bits, 2);
    put(id, 4);
  }
  return value;
}

constexpr Tagged kOwnerEntry{ACL_USER_OBJ, 6}, kGroupEntry{ACL_GROUP_OBJ, 4}, kMaskEntry{ACL_MASK, 7},
    kOtherEntry{ACL_OTHER, 0};

TEST(PosixAclValue, ASoundOneIsReadAndPrintedAgain) {
  const std::string value = value_of(
      {kOwnerEntry, {ACL_USER, 7, 0}, {ACL_USER, 5, 1000}, kGroupEntry, {ACL_GROUP, 1, 50}, kMaskEntry, kOtherEntry});
  const auto acl = parse_posix_acl(value);
  ASSERT_TRUE(acl && *acl);
  EXPECT_EQ(**acl,
            (core::PosixAcl{
                .owner = 6, .group = 4, .other = 0, .mask = 7, .users = {{0, 7}, {1000, 5}}, .groups = {{50, 1}}}));
  EXPECT_EQ(print_posix_acl(**acl), value);
  EXPECT_EQ(print_posix_acl({.owner = 6, .group = 4}), value_of({kOwnerEntry, kGroupEntry, kOtherEntry}));
  // Ids in any order; a mask alone; ids of entries that have none mean nothing.
  EXPECT_EQ(*parse_posix_acl(value_of({kOwnerEntry,
                                       {ACL_USER, 5, 1000},
                                       {ACL_USER, 7, 0},
                                       kGroupEntry,
                                       {ACL_GROUP, 1, 50},
                                       kMaskEntry,
                                       kOtherEntry})),
            *acl);
  EXPECT_EQ(**parse_posix_acl(value_of({kOwnerEntry, kGroupEntry, kMaskEntry, kOtherEntry})),
            (core::PosixAcl{.owner = 6, .group = 4, .mask = 7}));
  EXPECT_EQ(**parse_posix_acl(value_of({{ACL_USER_OBJ, 6, 5}, kGroupEntry, kOtherEntry})),
            (core::PosixAcl{.owner = 6, .group = 4}));
}

TEST(PosixAclValue, NoEntriesAreNoAcl) {
  EXPECT_EQ(*parse_posix_acl(""), std::nullopt);
  EXPECT_EQ(*parse_posix_acl(value_of({})), std::nullopt);
}

TEST(PosixAclValue, EachMistakeIsRefused) {
  const std::string sound = value_of({kOwnerEntry, {ACL_USER, 7, 5}, kGroupEntry, kMaskEntry, kOtherEntry});
  for (std::size_t length = 1; length < sound.size(); ++length) {
    if (length == 4) continue;  // no entries
    EXPECT_EQ(parse_posix_acl(sound.substr(0, length)).error().code, Errc::kInvalid) << length;
  }
  EXPECT_EQ(parse_posix_acl(sound + "x").error().code, Errc::kInvalid);
  for (const std::uint32_t version : {0u, 1u, 3u, 0x02000000u}) {
    EXPECT_EQ(parse_posix_acl(value_of({kOwnerEntry, kGroupEntry, kOtherEntry}, version)).error().code,
              Errc::kNotSupported)
        << version;
  }
  const std::vector<Tagged> wrong[] = {
      {kGroupEntry, kOtherEntry},                                                               // no owner
      {kOwnerEntry, kOtherEntry},                                                               // no group
      {kOwnerEntry, kGroupEntry},                                                               // no others
      {kOwnerEntry, kOwnerEntry, kGroupEntry, kOtherEntry},                                     // twice
      {kOwnerEntry, kGroupEntry, kGroupEntry, kOtherEntry},                                     //
      {kOwnerEntry, kGroupEntry, kMaskEntry, kMaskEntry, kOtherEntry},                          //
      {kOwnerEntry, kGroupEntry, kOtherEntry, kOtherEntry},                                     //
      {kGroupEntry, kOwnerEntry, kOtherEntry},                                                  // order
      {kOwnerEntry, kGroupEntry, kOtherEntry, kMaskEntry},                                      //
      {kOwnerEntry, kGroupEntry, {ACL_USER, 7, 5}, kMaskEntry, kOtherEntry},                    //
      {kOwnerEntry, {ACL_GROUP, 7, 5}, kGroupEntry, kMaskEntry, kOtherEntry},                   //
      {kOwnerEntry, {ACL_USER, 7, 5}, kGroupEntry, kOtherEntry},                                // no mask
      {kOwnerEntry, kGroupEntry, {ACL_GROUP, 7, 5}, kOtherEntry},                               //
      {kOwnerEntry, {ACL_USER, 7, 5}, {ACL_USER, 1, 5}, kGroupEntry, kMaskEntry, kOtherEntry},  // an id twice
      {kOwnerEntry, {ACL_USER, 7}, kGroupEntry, kMaskEntry, kOtherEntry},                       // no id
      {{ACL_USER_OBJ, 8}, kGroupEntry, kOtherEntry},                                            // bits
      {kOwnerEntry, kGroupEntry, {ACL_OTHER, 0x104}},                                           //
      {{0, 7}, kOwnerEntry, kGroupEntry, kOtherEntry},                                          // tags
      {kOwnerEntry, {3, 7, 5}, kGroupEntry, kOtherEntry},                                       //
      {kOwnerEntry, kGroupEntry, kOtherEntry, {0x40, 7}},                                       //
  };
  for (const auto& entries : wrong)
    EXPECT_EQ(parse_posix_acl(value_of(entries)).error().code, Errc::kInvalid) << &entries - wrong;
}

class NativePosixAcl : public NativeTest {
 protected:
  static constexpr std::uint32_t kAnn = 7;
  NativePosixAcl() : client(host_client()), top{client->facts().root} {
    (void)must<operations::setattr>(*client, {.file = top, .set = {.which = kSetMode, .mode = 0777}});
    file = File{must<operations::create>(
                    *client, {.parent = top,
                              .set = {.which = kSetMode | kSetUid | kSetGid, .mode = 02640, .uid = kAnn, .gid = 5},
                              .name = "f"})
                    .attr.id};
    dir = File{must<operations::mkdir>(*client, {.parent = top, .set = {.which = kSetMode, .mode = 0750}, .name = "d"})
                   .attr.id};
  }
  static CallOptions as(std::uint32_t uid) { return {.as = Identity{.uid = uid, .gid = uid}}; }
  WireStatus set(File of, std::string_view name, std::string_view value, const CallOptions& who = root()) {
    return status<operations::set_xattr>(*client, {.file = of, .name = name, .value = value}, who);
  }
  WireStatus remove(File of, std::string_view name, const CallOptions& who = root()) {
    return status<operations::remove_xattr>(*client, {.file = of, .name = name}, who);
  }
  // The value, or the name of the failure.
  std::string get(File of, std::string_view name, const CallOptions& who = root()) {
    Batch batch;
    batch.add<operations::get_xattr>({.file = of, .name = name});
    const auto replies = client->call(batch, who);
    if (!replies) return "failed";
    if (!replies->ok()) return "status " + std::to_string(static_cast<int>(replies->status(0)));
    return std::string(replies->get<operations::get_xattr>(0)->value);
  }
  static std::string failed(WireStatus status) { return "status " + std::to_string(static_cast<int>(status)); }
  std::uint32_t mode(File of) { return must<operations::getattr>(*client, {of}).attr.mode; }
  std::uint32_t names(File of, const CallOptions& who = root()) {
    Batch batch;
    batch.add<operations::list_xattrs>({of});
    const auto replies = client->call(batch, who);
    return replies && replies->ok() ? replies->get<operations::list_xattrs>(0)->count : ~0u;
  }
  std::string stored(File of) {
    const auto found = volume->ns().get_acl({}, {.id = core::FileId{static_cast<U64>(of)}});
    return found ? core::print_acl(*found->acl) : "failed";
  }

  std::unique_ptr<Client> client;
  const File top;
  File file{}, dir{};
  const std::string listed = value_of({kOwnerEntry, {ACL_USER, 6, 1000}, kGroupEntry, {ACL_MASK, 6}, kOtherEntry});
  const std::string plain = value_of({kOwnerEntry, kGroupEntry, kOtherEntry});
};

TEST_F(NativePosixAcl, AModeIsNone) {
  for (const std::string_view name : {kPosixAclAccess, kPosixAclDefault}) {
    EXPECT_EQ(get(file, name), failed(WireStatus::no_attribute));
    EXPECT_EQ(get(dir, name), failed(WireStatus::no_attribute));
    EXPECT_EQ(remove(file, name), WireStatus::ok);
    EXPECT_EQ(remove(dir, name), WireStatus::ok);
  }
  EXPECT_EQ(names(file), 0u);
  EXPECT_EQ(get(file, "system.posix_acl"), failed(WireStatus::no_attribute));
  EXPECT_EQ(set(file, "system.posix_acl", plain), WireStatus::not_owner);
}

TEST_F(NativePosixAcl, AnAccessAclIsKeptAndGoes) {
  EXPECT_EQ(set(file, kPosixAclAccess, listed), WireStatus::ok);
  EXPECT_EQ(get(file, kPosixAclAccess), listed);
  EXPECT_EQ(get(file, kPosixAclAccess, as(99)), listed) << "everybody may look";
  EXPECT_EQ(mode(file), 02660u);
  EXPECT_EQ(names(file), 1u);
  EXPECT_EQ(status<operations::read>(*client, {.file = file, .length = 1}, as(1000)), WireStatus::ok);
  EXPECT_EQ(status<operations::read>(*client, {.file = file, .length = 1}, as(1001)), WireStatus::access);
  // What is set is there already, or is not: the flags of setxattr(2) mean nothing.
  EXPECT_EQ(status<operations::set_xattr>(
                *client, {.file = file, .mode = kXattrCreate, .name = kPosixAclAccess, .value = listed}),
            WireStatus::ok);
  EXPECT_EQ(status<operations::set_xattr>(*client, {.file = file, .mode = 3, .name = kPosixAclAccess, .value = listed}),
            WireStatus::invalid);
  // Taken away, the mode stays as it was shown.
  EXPECT_EQ(remove(file, kPosixAclAccess), WireStatus::ok);
  EXPECT_EQ(get(file, kPosixAclAccess), failed(WireStatus::no_attribute));
  EXPECT_EQ(mode(file), 02660u);
  EXPECT_EQ(status<operations::read>(*client, {.file = file, .length = 1}, as(1000)), WireStatus::access);
  EXPECT_EQ(set(file, kPosixAclAccess, listed), WireStatus::ok);
  EXPECT_EQ(set(file, kPosixAclAccess, plain), WireStatus::ok);  // what a mode says is a mode
  EXPECT_EQ(names(file), 0u);
  EXPECT_EQ(mode(file), 02640u);
}

TEST_F(NativePosixAcl, ADefaultAclIsOfDirectoriesAlone) {
  EXPECT_EQ(set(file, kPosixAclDefault, plain), WireStatus::access);
  EXPECT_EQ(set(file, kPosixAclDefault, plain, as(99)), WireStatus::access);
  EXPECT_EQ(set(file, kPosixAclDefault, {}), WireStatus::ok);
  EXPECT_EQ(set(dir, kPosixAclDefault, plain), WireStatus::ok);
  EXPECT_EQ(get(dir, kPosixAclDefault), plain);
  EXPECT_EQ(get(dir, kPosixAclAccess), failed(WireStatus::no_attribute));
  EXPECT_EQ(set(dir, kPosixAclDefault, listed), WireStatus::ok);
  EXPECT_EQ(get(dir, kPosixAclDefault), listed);
  EXPECT_EQ(mode(dir), 0750u);
  EXPECT_EQ(set(dir, kPosixAclAccess, listed), WireStatus::ok);
  EXPECT_EQ(names(dir), 2u);
  EXPECT_EQ(set(dir, kPosixAclAccess, {}), WireStatus::ok);
  EXPECT_EQ(get(dir, kPosixAclDefault), listed);
  const auto made = must<operations::create>(
      *client, {.parent = dir, .set = {.which = kSetMode | kSetUmask, .mode = 0666, .umask = 077}, .name = "x"});
  EXPECT_EQ(made.attr.mode, 0660u);
  EXPECT_EQ(get(File{made.attr.id}, kPosixAclAccess), listed);
  EXPECT_EQ(set(dir, kPosixAclDefault, {}), WireStatus::ok);
  EXPECT_EQ(names(dir), 0u);
}

TEST_F(NativePosixAcl, OnlyWhoMayChangesOne) {
  EXPECT_EQ(set(file, kPosixAclAccess, listed, as(99)), WireStatus::not_owner);
  EXPECT_EQ(remove(file, kPosixAclAccess, as(99)), WireStatus::not_owner);
  EXPECT_EQ(set(dir, kPosixAclDefault, listed, as(99)), WireStatus::not_owner);
  EXPECT_EQ(mode(file), 02640u);
  EXPECT_EQ(set(file, kPosixAclAccess, value_of({kOwnerEntry}), as(kAnn)), WireStatus::invalid);
  EXPECT_EQ(set(file, kPosixAclAccess, value_of({kOwnerEntry, kGroupEntry, kOtherEntry}, 1), as(kAnn)),
            WireStatus::not_supported);
  EXPECT_EQ(mode(file), 02640u) << "nothing has changed";
  // The owner is not in the group: as with chmod, set-group-id goes.
  EXPECT_EQ(set(file, kPosixAclAccess, listed, as(kAnn)), WireStatus::ok);
  EXPECT_EQ(mode(file), 0660u);
  const auto link = must<operations::symlink>(*client, {.parent = top, .name = "l", .target = "f"});
  EXPECT_EQ(set(File{link.attr.id}, kPosixAclAccess, listed), WireStatus::not_supported);
  EXPECT_EQ(get(File{link.attr.id}, kPosixAclAccess), failed(WireStatus::not_supported));
  EXPECT_EQ(names(File{link.attr.id}), 0u);
  // An ACL that hides itself.
  core::Acl hidden{.entries = {{.deny = true, .rights = core::kRightReadAcl}, {.rights = core::kAllRights}}};
  ASSERT_TRUE(volume->ns().setattr(
      {}, {.id = core::FileId{static_cast<U64>(file)}, .set = {.acl = std::make_shared<const core::Acl>(hidden)}}));
  EXPECT_EQ(get(file, kPosixAclAccess, as(99)), failed(WireStatus::access));
  EXPECT_EQ(names(file, as(99)), 0u);
  EXPECT_EQ(get(file, kPosixAclAccess, as(kAnn)), failed(WireStatus::no_attribute));
}

TEST_F(NativePosixAcl, WhatNfsv4SetsIsShownAndTheReverse) {
  core::Acl rich{.entries = {{.rights = core::kAllRights, .who = core::AclWho::owner()},
                             {.deny = true, .rights = core::kRightReadData, .who = core::AclWho::user(1001)},
                             {.rights = core::kRightReadData | core::kRightReadAcl, .who = core::AclWho::everyone()}}};
  const core::FileId id{static_cast<U64>(file)};
  ASSERT_TRUE(volume->ns().setattr({}, {.id = id, .set = {.acl = std::make_shared<const core::Acl>(rich)}}));
  EXPECT_EQ(get(file, kPosixAclAccess),
            value_of({{ACL_USER_OBJ, 7}, {ACL_USER, 0, 1001}, kGroupEntry, {ACL_MASK, 4}, {ACL_OTHER, 4}}));
  EXPECT_EQ(set(file, kPosixAclAccess, listed), WireStatus::ok);
  EXPECT_EQ(stored(file),
            "D::OWNER@:x\nA::OWNER@:rwatTnNcCy\nD::1000:xCo\nA::1000:rwatnNcy\nD::1000:x\n"
            "D::GROUP@:xCo\nA::GROUP@:rtncy\nD::GROUP@:waxN\nD::EVERYONE@:rwaxnN\nA::EVERYONE@:tcy\n");
}

// Each of the two is read, changed and written with the other.
TEST_F(NativePosixAcl, ChangesAtOnceLoseNothing) {
  const auto one = host_client(), two = host_client();
  const auto changes = [&](Client& own, std::string_view name, std::uint32_t last) {
    for (std::uint32_t i = 0; i <= last; ++i) {
      const std::string value = value_of({kOwnerEntry, {ACL_USER, 6, i}, kGroupEntry, {ACL_MASK, 6}, kOtherEntry});
      EXPECT_EQ(status<operations::set_xattr>(own, {.file = dir, .name = name, .value = value}), WireStatus::ok);
    }
  };
  std::thread other([&] { changes(*one, kPosixAclDefault, 60); });
  changes(*two, kPosixAclAccess, 70);
  other.join();
  EXPECT_EQ(get(dir, kPosixAclAccess),
            value_of({kOwnerEntry, {ACL_USER, 6, 70}, kGroupEntry, {ACL_MASK, 6}, kOtherEntry}));
  EXPECT_EQ(get(dir, kPosixAclDefault),
            value_of({kOwnerEntry, {ACL_USER, 6, 60}, kGroupEntry, {ACL_MASK, 6}, kOtherEntry}));
}

TEST_F(NativePosixAcl, TooManyEntriesAreRefused) {
  std::vector<Tagged> many{kOwnerEntry};
  for (std::uint32_t id = 0; id < 340; ++id) many.push_back({ACL_USER, 7, id});
  for (const Tagged& entry : {kGroupEntry, kMaskEntry, kOtherEntry}) many.push_back(entry);
  EXPECT_EQ(set(file, kPosixAclAccess, value_of(many)), WireStatus::ok);
  EXPECT_EQ(get(file, kPosixAclAccess), value_of(many));
  for (std::uint32_t id = 340; id < 600; ++id) many.insert(many.end() - 3, {ACL_USER, 7, id});
  EXPECT_EQ(set(file, kPosixAclAccess, value_of(many)), WireStatus::too_large);
  for (std::uint32_t id = 600; id < 7000; ++id) many.insert(many.end() - 3, {ACL_USER, 7, id});
  EXPECT_EQ(set(file, kPosixAclAccess, value_of(many)), WireStatus::too_large);
  EXPECT_EQ(mode(file), 02670u);
}

}  // namespace
}  // namespace stoa::test
