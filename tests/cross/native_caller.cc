#include "tests/cross/native_caller.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace stoa::cross {

using namespace native;  // NOLINT: of this protocol are all names here

namespace {

constexpr std::size_t kPieceBytes = 512u << 10;

template <class Operation>
Attributes attributes_in(const Replies& replies, std::size_t at) {
  if constexpr (requires(typename Operation::Reply reply) { reply.attr; }) return replies.read<Operation>(at).attr;
  return {};
}
Attributes attributes_of(const Replies& replies, U16 code, std::size_t at) {
  switch (code) {
#define STOA_NATIVE_OPERATION(number, name, kind, arguments, reply) \
  case number:                                                      \
    return attributes_in<operations::name>(replies, at);
#include "frontends/native/protocol/operations.def"
    default:
      return {};
  }
}

}  // namespace

std::unique_ptr<NativeCaller> NativeCaller::connect(const clients::ServerProcess& server, std::uint32_t uid) {
  auto client =
      Client::connect({.url = server.value("STOA_NATIVE_URL"), .key_file = server.value("STOA_NATIVE_KEY_FILE")});
  EXPECT_TRUE(client) << describe(client.error());
  if (!client) return nullptr;
  return std::unique_ptr<NativeCaller>(new NativeCaller(std::move(*client), uid));
}

Result<Replies> NativeCaller::send(const Batch& batch) {
  return client_->call(batch, {.as = Identity{.uid = uid_, .gid = uid_}});
}

NativeReply NativeCaller::last_of(const Batch& batch, const Result<Replies>& replies) {
  if (!replies) return {.why = describe(replies.error())};
  const std::size_t last = replies->size() - 1;
  NativeReply reply{.status = replies->status(last)};
  if (!reply.ok()) return reply;
  reply.file = File{replies->file(last)};
  reply.attr = attributes_of(*replies, batch.code(last), last);
  if (batch.code(last) == operations::read::kCode) reply.end = replies->read<operations::read>(last).end_of_file != 0;
  const auto data = replies->data(last);
  reply.data.assign(reinterpret_cast<const char*>(data.data()), data.size());
  return reply;
}

NativeReply NativeCaller::walk(const std::string& path) {
  Batch batch;
  File at = top();
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    if (end > begin) {
      batch.add<operations::lookup>({.parent = at, .name = std::string_view(path).substr(begin, end - begin)});
      at = result_of(batch.size() - 1);
    }
    begin = end + 1;
  }
  return batch.empty() ? getattr(at) : call(batch);
}

NativeReply NativeCaller::put(File parent, std::string_view name, std::string_view content) {
  const std::uint64_t open = new_open();
  Batch first;
  first.add<operations::open>({.parent = parent,
                               .open = open,
                               .disposition = kOpenTruncateOrCreate,
                               .access = kOpenWrite,
                               .set = {.which = kSetMode, .mode = 0644},
                               .name = name});
  const std::string_view piece = content.substr(0, kPieceBytes);
  if (!piece.empty()) first.add_write({.file = result_of(0), .open = open}, bytes(piece));
  if (piece.size() == content.size()) {
    first.add<operations::commit>({.file = result_of(0), .open = open});
    first.add<operations::close>({open});
  }
  const auto replies = send(first);
  NativeReply done = last_of(first, replies);
  if (!replies || replies->file(0) == 0 || replies->size() == 4 - (content.empty() ? 1 : 0)) return done;
  const File file{replies->file(0)};
  for (std::size_t at = piece.size(); done.ok() && at < content.size(); at += kPieceBytes) {
    Batch next;
    next.add_write({.file = file, .open = open, .offset = at}, bytes(content.substr(at, kPieceBytes)));
    done = call(next);
  }
  if (done.ok()) done = run<operations::commit>({.file = file, .open = open});
  const NativeReply closed = run<operations::close>({open});
  return done.ok() ? closed : done;
}

NativeReply NativeCaller::read_all(File file) {
  const std::uint64_t open = new_open();
  NativeReply all = run<operations::open>({.file = file, .open = open, .access = kOpenRead});
  if (!all.ok()) return all;
  for (;;) {
    const NativeReply piece =
        run<operations::read>({.file = file, .open = open, .offset = all.data.size(), .length = kPieceBytes});
    if (!piece.ok()) all.status = piece.status, all.why = piece.why;
    if (!piece.ok() || piece.data.empty()) break;
    all.data += piece.data;
  }
  EXPECT_TRUE(run<operations::close>({open}).ok());
  return all;
}

NativeReply NativeCaller::write(File file, std::uint64_t offset, std::string_view content, bool stable) {
  Batch batch;
  batch.add_write({.file = file, .offset = offset, .stable = stable ? 1u : 0u}, bytes(content));
  return call(batch);
}

std::vector<std::string> NativeCaller::list(File dir) {
  std::vector<std::string> names;
  for (U64 cookie = 0;;) {
    Batch batch;
    batch.add<operations::readdir>({.dir = dir, .cookie = cookie, .entries_max = 1000, .bytes_max = 64u << 10});
    const auto replies = send(batch);
    EXPECT_TRUE(replies && replies->ok()) << last_of(batch, replies).text();
    if (!replies || !replies->ok()) return names;
    const auto page = replies->read<operations::readdir>(0);
    std::span<const std::byte> entries = bytes(page.entries);
    while (!entries.empty()) {
      DirectoryEntry entry;
      EXPECT_TRUE(read_record(*next_record(entries), entry));
      cookie = entry.cookie;
      if (entry.name != "." && entry.name != "..") names.emplace_back(entry.name);
    }
    if (page.end != 0) break;
  }
  std::ranges::sort(names);
  return names;
}

std::uint64_t NativeCaller::bytes_available(File dir) {
  Batch batch;
  batch.add<operations::statfs>({dir});
  const auto replies = send(batch);
  EXPECT_TRUE(replies && replies->ok()) << last_of(batch, replies).text();
  return replies && replies->ok() ? replies->read<operations::statfs>(0).bytes_available : 0;
}

}  // namespace stoa::cross
