// Messages that no client of ours sends: refused, or the connection is closed; nobody else is hurt.
#include "tests/frontends/native/native_fixture.h"

namespace stoa::test {
namespace {

class NativeHostile : public NativeTest {
 protected:
  Bytes getattr(U64 file) { return record_of<operations::getattr>({File{file}}); }
  U64 root_id() { return static_cast<U64>(exported); }
  WireStatus refusal(RawChannel& channel, const Header& header, const Bytes& records) {
    return WireStatus{channel.call(header, records).header.status};
  }
};

TEST_F(NativeHostile, WhatIsNoFrameClosesItsConnectionOnly) {
  auto good = raw();
  const Bytes frame = good.frame({}, getattr(root_id()));
  const auto closes = [&](std::size_t at, U32 value) {
    auto channel = raw();
    Bytes bad = frame;
    store(bad.data() + at, value);
    channel.send(bad);
    return channel.closed();
  };
  EXPECT_TRUE(closes(0, 0x12345678));  // magic
  EXPECT_TRUE(closes(4, 0));           // length
  EXPECT_TRUE(closes(4, 0xffff'ffff));
  EXPECT_TRUE(closes(kFrameHeadBytes + 8, 0));     // checksum of the head
  EXPECT_TRUE(closes(kFrameHeadBytes + 48, ~0u));  // length of the call block
  EXPECT_TRUE(closes(kFrameHeadBytes + 52, ~0u));  // of the operations
  EXPECT_EQ(first_status(good.call({}, getattr(root_id()))), WireStatus::ok);
}

TEST_F(NativeHostile, NothingIsRunBeforeTheLogIn) {
  auto connection = ClientConnection::open("127.0.0.1", port, std::chrono::seconds(10));
  ASSERT_TRUE(connection);
  const Bytes record = getattr(root_id());
  ASSERT_TRUE(
      (*connection)
          ->send(encode_message({.version = 1, .kind = static_cast<U16>(MessageKind::kCall), .operation_count = 1}, {},
                                record, {})));
  EXPECT_EQ((*connection)->receive(std::chrono::seconds(10)).error().code, Errc::kIo);
}

TEST_F(NativeHostile, SlotsAndSequencesThatCannotBeAreRefused) {
  auto channel = raw();
  const U32 slots = channel.welcome->slots;
  EXPECT_EQ(refusal(channel, {.slot = slots}, getattr(root_id())), WireStatus::bad_slot);
  EXPECT_EQ(refusal(channel, {.slot = ~0u}, getattr(root_id())), WireStatus::bad_slot);
  EXPECT_EQ(refusal(channel, {.slot = slots - 1, .sequence = 7}, getattr(root_id())), WireStatus::ok);
  EXPECT_EQ(refusal(channel, {.slot = slots - 1, .sequence = 9}, getattr(root_id())), WireStatus::bad_sequence);
  EXPECT_EQ(refusal(channel, {.slot = slots - 1, .sequence = 6}, getattr(root_id())), WireStatus::bad_sequence);
  EXPECT_EQ(refusal(channel, {.slot = slots - 1, .sequence = 7}, getattr(1)), WireStatus::false_retry);
  EXPECT_EQ(refusal(channel, {.slot = slots - 1, .sequence = 8}, getattr(root_id())), WireStatus::ok);
}

TEST_F(NativeHostile, TheSessionOfSomebodyElseIsRefused) {
  auto other = raw("fedcba9876543210");
  auto channel = raw();
  EXPECT_EQ(refusal(channel, {.session = other.welcome->session}, getattr(root_id())), WireStatus::bad_session);
  EXPECT_EQ(first_status(other.call({}, getattr(root_id()))), WireStatus::ok);
}

TEST_F(NativeHostile, CountsAndRecordsThatCannotBeAreRefused) {
  auto channel = raw();
  EXPECT_EQ(refusal(channel, {.operation_count = 2}, getattr(root_id())), WireStatus::malformed);
  Bytes two = getattr(root_id());
  const Bytes one = two;
  two.insert(two.end(), one.begin(), one.end());
  EXPECT_EQ(refusal(channel, {}, two), WireStatus::malformed);
  Bytes longer = one;
  store(longer.data(), U32{4096});
  EXPECT_EQ(refusal(channel, {}, longer), WireStatus::malformed);
  Bytes unknown = one;
  store(unknown.data() + 6, U16{999});
  EXPECT_EQ(first_status(channel.call({}, unknown)), WireStatus::not_supported);
}

TEST_F(NativeHostile, ATextBeyondItsRecordFailsItsOperationOnly) {
  auto channel = raw();
  Bytes record = record_of<operations::lookup>({.parent = File{root_id()}, .name = "abc"});
  store(record.data() + kRecordHeadBytes + 8, U32{0xffff'ffff});
  EXPECT_EQ(first_status(channel.call({}, record)), WireStatus::malformed);
}

TEST_F(NativeHostile, AnAlteredPayloadIsRefusedAndNothingWritten) {
  auto channel = raw();
  auto made = record_of<operations::create>({.parent = File{root_id()}, .name = "f"});
  ASSERT_EQ(first_status(channel.call({.sequence = 1}, made)), WireStatus::ok);
  const auto file = volume->ns().lookup({}, {.parent = exported, .name = "f"})->attr.id;
  const Bytes record =
      record_of<operations::write>({.file = File{static_cast<U64>(file)}, .data_bytes = 3, .stable = 1});
  Bytes frame = channel.frame({.sequence = 2}, record, bytes("abc"));
  frame.back() ^= std::byte{1};
  channel.send(frame);
  EXPECT_EQ(WireStatus{channel.receive().header.status}, WireStatus::bad_checksum);
  EXPECT_EQ(volume->ns().getattr({}, {.id = file})->attr.size, 0u);
  EXPECT_EQ(first_status(channel.call({.sequence = 2}, record, bytes("abc"))), WireStatus::ok);
}

TEST_F(NativeHostile, APayloadIsNotReadBeyondItsEnd) {
  auto channel = raw();
  ASSERT_EQ(first_status(
                channel.call({.sequence = 1}, record_of<operations::create>({.parent = File{root_id()}, .name = "f"}))),
            WireStatus::ok);
  const U64 file = static_cast<U64>(volume->ns().lookup({}, {.parent = exported, .name = "f"})->attr.id);
  U32 sequence = 1;
  const auto write = [&](U32 at, U32 length) {
    return first_status(channel.call(
        {.sequence = ++sequence},
        record_of<operations::write>({.file = File{file}, .data_at = at, .data_bytes = length, .stable = 1}),
        bytes("abc")));
  };
  EXPECT_EQ(write(0, 4), WireStatus::malformed);
  EXPECT_EQ(write(4, 0), WireStatus::malformed);
  EXPECT_EQ(write(3, 1), WireStatus::malformed);
  EXPECT_EQ(write(~0u, 2), WireStatus::malformed);
  EXPECT_EQ(write(3, 0), WireStatus::ok);
  EXPECT_EQ(write(2, 1), WireStatus::ok);
}

TEST_F(NativeHostile, FilesThatAreNotOfTheExportAreStale) {
  const core::FileId other = publish("other", anyone());
  auto channel = raw();
  U32 sequence = 0;
  const auto ask = [&](U64 file) { return first_status(channel.call({.sequence = ++sequence}, getattr(file))); };
  EXPECT_EQ(ask(static_cast<U64>(other)), WireStatus::stale);
  EXPECT_EQ(ask(static_cast<U64>(core::kRootId)), WireStatus::stale);
  EXPECT_EQ(ask(static_cast<U64>(core::kMultipartId)), WireStatus::stale);
  EXPECT_EQ(ask(0), WireStatus::bad_handle);
  EXPECT_EQ(ask(1u << 30), WireStatus::stale);
  EXPECT_EQ(ask(static_cast<U64>(result_of(0))), WireStatus::bad_handle);
  EXPECT_EQ(ask(static_cast<U64>(result_of(65535))), WireStatus::bad_handle);
  EXPECT_EQ(ask(root_id()), WireStatus::ok);
}

TEST_F(NativeHostile, NamesThatNoFileCanHaveAreRefused) {
  const auto client = host_client();
  const File root{client->facts().root};
  const std::string nul("a\0b", 3);
  const std::string longest(255, 'n');
  const std::string longer(256, 'n');
  const auto make = [&](std::string_view name) {
    return status<operations::mkdir>(*client, {.parent = root, .name = name});
  };
  for (const std::string_view name : {std::string_view(""), std::string_view("."), std::string_view(".."),
                                      std::string_view("a/b"), std::string_view(nul)})
    EXPECT_EQ(make(name), WireStatus::invalid) << name;
  EXPECT_EQ(make(longer), WireStatus::name_too_long);
  EXPECT_EQ(make(longest), WireStatus::ok);
}

TEST_F(NativeHostile, OpensThatTheSessionHasNotAreRefused) {
  const auto client = host_client();
  const auto file = must<operations::create>(*client, {.parent = File{client->facts().root}, .name = "f"});
  EXPECT_EQ(status<operations::read>(*client, {.file = File{file.attr.id}, .open = 4711, .length = 1}),
            WireStatus::bad_open);
  EXPECT_EQ(status<operations::close>(*client, {4711}), WireStatus::bad_open);
  EXPECT_EQ(status<operations::open>(*client, {.file = File{file.attr.id}, .open = 0, .access = kOpenRead}),
            WireStatus::invalid);
  EXPECT_EQ(status<operations::open>(*client, {.file = File{file.attr.id}, .open = 1, .access = 0}),
            WireStatus::invalid);
}

}  // namespace
}  // namespace stoa::test
