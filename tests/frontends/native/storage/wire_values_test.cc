#include "frontends/native/storage/wire_values.h"

#include <gtest/gtest.h>

namespace stoa::native {
namespace {

TEST(MountWireValues, AttributesKeepEachOfTheirValues) {
  const native::Attributes wire{.id = 1,
                                .generation = 2,
                                .type = native::kSymlink,
                                .mode = 04755,
                                .links = 3,
                                .uid = 4,
                                .gid = 5,
                                .device_major = 6,
                                .device_minor = 7,
                                .size = 8,
                                .allocated = 9,
                                .atime_ns = static_cast<U64>(std::int64_t{-10}),
                                .mtime_ns = 11,
                                .ctime_ns = 12,
                                .btime_ns = 13,
                                .dos = 14,
                                .change = 15,
                                .data_version = 16};
  const auto attr = from_wire(wire);
  ASSERT_TRUE(attr);
  EXPECT_EQ(attr->id, core::FileId{1});
  EXPECT_EQ(attr->generation, 2u);
  EXPECT_EQ(attr->type, core::FileType::kSymlink);
  EXPECT_EQ(attr->mode, 04755u);
  EXPECT_EQ(attr->links, 3u);
  EXPECT_EQ(attr->uid, 4u);
  EXPECT_EQ(attr->gid, 5u);
  EXPECT_EQ(attr->device, (core::DeviceNumber{6, 7}));
  EXPECT_EQ(attr->size, 8u);
  EXPECT_EQ(attr->allocated, 9u);
  EXPECT_EQ(attr->atime.ns, -10);
  EXPECT_EQ(attr->mtime.ns, 11);
  EXPECT_EQ(attr->ctime.ns, 12);
  EXPECT_EQ(attr->btime.ns, 13);
  EXPECT_EQ(attr->dos, 14u);
  EXPECT_EQ(attr->change, 15u);
  EXPECT_EQ(attr->data_version, 16u);
  for (const U32 type : {U32{0}, U32{8}, ~U32{0}}) {
    EXPECT_FALSE(from_wire({.type = type}));
  }
  EXPECT_TRUE(from_wire({.type = native::kRegularFile, .size = ~U64{0} >> 1}));
  EXPECT_FALSE(from_wire({.type = native::kRegularFile, .size = (~U64{0} >> 1) + 1}));
}

TEST(MountWireValues, SettingsSayWhatIsSetAndNothingElse) {
  EXPECT_EQ(to_settings({}).which, 0u);
  const Settings all = to_settings({.mode = 0644,
                                    .umask = 022,
                                    .uid = 1,
                                    .gid = 2,
                                    .size = 3,
                                    .atime = core::SetTime{.time = {-4}},
                                    .mtime = core::SetTime{.server_time = true}});
  EXPECT_EQ(all.which, std::uint32_t{kSetMode | kSetUmask | kSetUid | kSetGid | kSetSize | kSetAtime | kSetMtimeNow});
  EXPECT_EQ(all.mode, 0644u);
  EXPECT_EQ(all.mode_mask, 07777u);
  EXPECT_EQ(all.umask, 022u);
  EXPECT_EQ(all.uid, 1u);
  EXPECT_EQ(all.gid, 2u);
  EXPECT_EQ(all.size, 3u);
  EXPECT_EQ(all.atime_ns, static_cast<U64>(std::int64_t{-4}));
  EXPECT_EQ(all.mtime_ns, 0u);
}

}  // namespace
}  // namespace stoa::native
