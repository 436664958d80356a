#include "frontends/native/mount/handed_mount.h"

#include <gtest/gtest.h>

namespace stoa::native::mount {
namespace {

const core::Credentials kUser{.uid = 1, .gid = 2, .groups = {3, 4}};

HandedMount a_mount() {
  HandedMount mount;
  mount.session = {.client_id = std::string("0123\0\xff", 6),
                   .session = ~U64{0},
                   .recovered = 2,
                   .last_number = 3,
                   .root = 4,
                   .volume = 5,
                   .message_bytes_max = 6,
                   .recovery_sequence = 7,
                   .sequences = {8, 9},
                   .held = {.opens = {{.number = 10, .file = 11, .access = 1, .deny = 2, .call = Bytes(3)}},
                            .locks = {{.file = 12, .owner = 13, .offset = 14, .end = 15, .exclusive = true}},
                            .lost = {16}},
                   .losses = {17}};
  mount.buffers = {.opens = {{.number = 18, .file = core::FileId{19}, .access = 3, .cred = kUser, .untold = true}},
                   .faults = {{.file = core::FileId{20}, .cause = Errc::kQuota, .told = true}}};
  mount.local_opens = {{.number = 21, .file = core::FileId{22}, .cred = kUser, .access = 1}};
  mount.files = {.last_handle = 23,
                 .opens = {{.handle = 24, .file = core::FileId{25}, .open = 26, .cred = kUser, .directory = true}},
                 .locks = {{.file = core::FileId{27}, .owner = 28, .handle = 29, .pid = 30}}};
  mount.device = {.negotiated = {.minor = 31, .write_bytes_max = 32, .direct_io = true},
                  .waits = {{.unique = 33,
                             .caller = {.uid = 34, .gid = 35, .pid = 36},
                             .lock = {.file = {core::FileId{37}, fuse::Handle{38}},
                                      .owner = 39,
                                      .range = {.offset = 40, .length = 41},
                                      .exclusive = true,
                                      .flock = true,
                                      .pid = 42},
                             .descriptor = 43}},
                  .over_rings = true,
                  .rings = {.memories = {{.address = 44, .slots = 45}},
                            .entries = {{.queue = 46, .memory = 47, .slot = 48, .fills = true}}}};
  return mount;
}

TEST(HandedMount, ComesBackAsItWas) {
  const Bytes bytes = encode_mount(a_mount());
  const auto back = decode_mount(bytes);
  ASSERT_TRUE(back);
  // All members count: what is written anew is the same.
  EXPECT_EQ(encode_mount(*back), bytes);
  EXPECT_EQ(back->session.client_id, a_mount().session.client_id);
  EXPECT_EQ(back->session.held.opens.at(0).call.size(), 3u);
  EXPECT_EQ(back->buffers.opens.at(0).cred, kUser);
  EXPECT_TRUE(back->buffers.opens.at(0).untold);
  EXPECT_EQ(back->buffers.faults.at(0).cause, Errc::kQuota);
  EXPECT_EQ(back->files.opens.at(0).cred, kUser);
  EXPECT_TRUE(back->files.opens.at(0).directory);
  EXPECT_EQ(back->files.locks.at(0).pid, 30u);
  EXPECT_EQ(back->device.waits.at(0).descriptor, 43u);
  EXPECT_TRUE(back->device.over_rings);
  EXPECT_EQ(back->device.rings.memories.at(0).address, 44u);
  EXPECT_EQ(back->device.rings.entries.at(0).slot, 48u);
  EXPECT_TRUE(back->device.rings.entries.at(0).fills);
  EXPECT_EQ(back->device.waits.at(0).lock.range, (core::LockRange{.offset = 40, .length = 41}));
}

TEST(HandedMount, AnEmptyOneComesBack) {
  const Bytes bytes = encode_mount({});
  const auto back = decode_mount(bytes);
  ASSERT_TRUE(back);
  EXPECT_EQ(encode_mount(*back), bytes);
}

TEST(HandedMount, NoPartAndNothingMoreIsTaken) {
  Bytes bytes = encode_mount(a_mount());
  for (std::size_t length = 0; length < bytes.size(); ++length)
    EXPECT_FALSE(decode_mount(std::span(bytes).first(length))) << length;
  bytes.push_back(std::byte{0});
  EXPECT_FALSE(decode_mount(bytes));
}

// Each byte in turn is the largest: what is a length or a count asks for more than there is.
TEST(HandedMount, WrongLengthsTakeNoMemory) {
  const Bytes sound = encode_mount(a_mount());
  for (std::size_t at = 0; at < sound.size(); ++at) {
    Bytes bytes = sound;
    bytes[at] = std::byte{0xff};
    const auto back = decode_mount(bytes);
    EXPECT_TRUE(back || back.error().code == Errc::kCorrupt) << at;
  }
}

TEST(HandedMount, OptionsComeBackAsTheyWere) {
  const MountOptions options{.url = "stoa://host/export",
                             .key_file = "/key",
                             .directory = "/mnt",
                             .tls = TlsWish::kRequired,
                             .ca_file = "/ca",
                             .soft = std::chrono::seconds(30),
                             .read_only = true,
                             .no_programs = true,
                             .log_file = "/log"};
  const Bytes bytes = encode_options(options);
  const auto back = decode_options(bytes);
  ASSERT_TRUE(back);
  EXPECT_EQ(encode_options(*back), bytes);
  EXPECT_EQ(back->soft, options.soft);
  EXPECT_EQ(back->tls, options.tls);
  EXPECT_EQ(back->log_file, "/log");
  for (std::size_t length = 0; length < bytes.size(); ++length)
    EXPECT_FALSE(decode_options(std::span(bytes).first(length))) << length;
}

}  // namespace
}  // namespace stoa::native::mount
