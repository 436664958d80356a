// Any body: cut, and its records read as the arguments of each operation, as replies, and as the messages of the
// log-in. What was read is written again and is the same. The first byte chooses whether the body has right checksums.
#include <cstring>

#include "base/assert.h"
#include "base/crc32c.h"
#include "frontends/native/client/replies.h"
#include "frontends/native/protocol/message.h"
#include "frontends/native/server/message_weight.h"

namespace {

using namespace stoa::native;

template <class Layout>
void read_again(const RecordView& record) {
  Layout layout;
  if (!read_record(record, layout)) return;
  Bytes written;
  append_record(written, record.code, layout);
  std::span<const std::byte> rest = written;
  const auto again = next_record(rest);
  STOA_ASSERT(again && rest.empty());
  Layout twice;
  STOA_ASSERT(read_record(*again, twice));
  STOA_ASSERT(twice == layout);
}

void read_as_everything(const RecordView& record) {
#define STOA_FIELD(type, name)
#define STOA_LAYOUT(name, ...) read_again<name>(record);
#include "frontends/native/protocol/operations.def"
#undef STOA_FIELD
}

// The same with lengths and checksums that hold, so that the fuzzer gets behind them.
Bytes mended(std::span<const std::byte> body) {
  std::span<const std::byte> rest = body;
  Bytes records;
  U32 count = 0;
  while (count < kOperationsMax) {
    const auto record = next_record(rest);
    if (!record) break;
    ++count;
  }
  records.assign(body.begin(), body.end() - static_cast<std::ptrdiff_t>(rest.size()));
  return encode_message({.version = kVersion, .kind = 6, .operation_count = count}, {}, records, rest);
}

void read_reply(const Bytes& frame, MessageView view) {
  std::vector<U16> codes;
  std::span<const std::byte> rest = view.operations;
  while (const auto record = next_record(rest)) codes.push_back(static_cast<U16>(record->fixed.size() % 68));
  Replies replies;
  auto body = std::make_shared<const Content>(frame.begin() + kFrameHeadBytes, frame.end());
  if (cut_message(*body, view) != Cut::kWhole || !replies.append(body, view, codes)) return;
  for (std::size_t i = 0; i < replies.size(); ++i) (void)replies.data(i);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  if (size < 2 || size > kMessageBytesMax / 2) return 0;
  const auto bytes = std::as_bytes(std::span(data, size));
  if (size > kFrameHeadBytes) (void)body_bytes(bytes.data());
  (void)payload_offset(bytes);
  DecodedMessage message;
  if (data[0] % 2 == 0) {
    if (cut_message(bytes.subspan(1), message.view) == Cut::kWhole) (void)weigh(message);
    return 0;
  }
  const Bytes frame = mended(bytes.subspan(1));
  STOA_ASSERT(cut_message(std::span(frame).subspan(kFrameHeadBytes), message.view) == Cut::kWhole);
  STOA_ASSERT(weigh(message));
  for (const RecordView& record : message.operations) read_as_everything(record);
  read_reply(frame, message.view);
  return 0;
}
