#include "frontends/native/client/replies.h"

#include <algorithm>
#include <iterator>

#include "frontends/native/client/operation_fields.h"

namespace stoa::native {

std::span<const std::byte> Replies::data(std::size_t operation) const {
  if (operation >= replies_.size() || replies_[operation].code != operations::read::kCode) return {};
  const One& one = replies_[operation];
  if (one.status != WireStatus::ok) return {};
  const auto reply = read<operations::read>(operation);
  return one.payload.subspan(reply.data_at, reply.data_bytes);
}

std::size_t Replies::bytes() const {
  std::size_t all = 0;
  for (const auto& body : bodies_) all += body->size();
  return all;
}

std::shared_ptr<const std::byte[]> Replies::shared_data(std::size_t operation) const {
  const std::span<const std::byte> bytes = data(operation);
  if (bytes.empty()) return nullptr;
  return {bodies_[replies_[operation].body], bytes.data()};
}

Status Replies::append(std::shared_ptr<const Content> body, const MessageView& view, std::span<const U16> codes) {
  std::span<const std::byte> rest = view.operations;
  std::vector<One> brought;
  while (!rest.empty()) {
    const auto record = next_record(rest);
    if (!record || brought.size() == codes.size()) return fail(Errc::kCorrupt);
    One one{.code = codes[brought.size()],
            .status = WireStatus{record->code},
            .record = *record,
            .payload = view.payload,
            .body = bodies_.size()};
    if (!brought.empty() && brought.back().status != WireStatus::ok) return fail(Errc::kCorrupt);
    if (one.status == WireStatus::ok && !file_of_reply(one.code, *record, one.file)) return fail(Errc::kCorrupt);
    if (one.status == WireStatus::ok && one.code == operations::read::kCode) {
      ReadReply read;
      (void)read_record(*record, read);
      if (read.data_at > view.payload.size() || read.data_bytes > view.payload.size() - read.data_at)
        return fail(Errc::kCorrupt);
    }
    brought.push_back(one);
  }
  const bool whole = brought.size() == codes.size() || (!brought.empty() && brought.back().status != WireStatus::ok);
  if (!whole && !codes.empty()) return fail(Errc::kCorrupt);
  replies_.insert(replies_.end(), brought.begin(), brought.end());
  bodies_.push_back(std::move(body));
  return {};
}

void Replies::join(Replies more) {
  for (One& one : more.replies_) one.body += bodies_.size();
  std::ranges::move(more.bodies_, std::back_inserter(bodies_));
  std::ranges::move(more.replies_, std::back_inserter(replies_));
}

}  // namespace stoa::native
