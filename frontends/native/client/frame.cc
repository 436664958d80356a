#include "frontends/native/client/frame.h"

namespace stoa::native {
namespace {

U64 file_written(File operand) {
  return is_result(operand) ? 0 : static_cast<U64>(operand);
}

}  // namespace

Frame Frame::of(const Batch& batch, Header header, std::span<const std::byte> call) {
  Frame frame{.payload = batch.shared_payload()};
  header.operation_count = static_cast<U32>(batch.size());
  frame.head = encode_head(header, call, batch.records(), frame.data());
  frame.written = written_by(batch);
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (batch.code(i) == operations::lease::kCode) frame.leases.push_back(batch.arguments<operations::lease>(i).lease);
  }
  return frame;
}

std::vector<U64> Frame::written_by(const Batch& batch) {
  std::vector<U64> files;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (batch.code(i) == operations::write::kCode) {
      files.push_back(file_written(batch.arguments<operations::write>(i).file));
    } else if (batch.code(i) == operations::append::kCode) {
      files.push_back(file_written(batch.arguments<operations::append>(i).file));
    }
  }
  return files;
}

MessageView Frame::view() const {
  MessageView view;
  const std::span<const std::byte> body = std::span(head).subspan(kFrameHeadBytes);
  const std::byte* at = body.data();
  std::span<const std::byte> no_texts;
  load_fixed(at, no_texts, view.header);
  view.call = body.subspan(view.header.header_bytes, view.header.call_bytes);
  view.operations = body.subspan(view.header.header_bytes + view.header.call_bytes, view.header.operation_bytes);
  view.payload = data();
  return view;
}

}  // namespace stoa::native
