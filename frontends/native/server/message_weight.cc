#include "frontends/native/server/message_weight.h"

#include <algorithm>

namespace stoa::native {
namespace {

using wire::CostClass;

constexpr std::uint64_t kHeavyBytes = 64u << 10;

struct Weight {
  std::uint64_t read = 0, written = 0;
  bool metadata = false, unstable = false, stable = false, commits = false;
};

std::optional<OperationKind> kind_of(U16 code) {
  switch (code) {
#define STOA_NATIVE_OPERATION(number, name, kind, arguments, reply) \
  case number:                                                      \
    return OperationKind::k##kind;
#include "frontends/native/protocol/operations.def"
    default:
      return std::nullopt;
  }
}

// The file that arguments are about: their first field, if it is one.
File file_of(const RecordView& record) {
  if (record.code == operations::close::kCode) return {};
  if (record.code == operations::open::kCode) {
    OpenArgs arguments;
    (void)read_record(record, arguments);
    return arguments.file != File{} ? arguments.file : arguments.parent;
  }
  return record.fixed.size() < sizeof(U64) ? File{} : File{load<U64>(record.fixed.data())};
}

template <class Operation>
void weigh_data(const RecordView& record, DecodedMessage& message, Weight& weight) {
  typename Operation::Arguments arguments;
  (void)read_record(record, arguments);
  const std::uint64_t bytes = std::min<std::uint64_t>(arguments.data_bytes, kPayloadBytesMax);
  weight.written += bytes;
  message.price += qos::Price::write(bytes);
  if constexpr (requires { arguments.stable; }) (arguments.stable != 0 ? weight.stable : weight.unstable) = true;
}

void weigh_one(const RecordView& record, DecodedMessage& message, Weight& weight) {
  const auto kind = kind_of(record.code);
  if (kind && *kind != OperationKind::kReads) message.changes = true;
  if (record.code == operations::read::kCode) {
    ReadArgs arguments;
    (void)read_record(record, arguments);
    const std::uint64_t bytes = std::min<std::uint64_t>(arguments.length, kPayloadBytesMax);
    weight.read += bytes;
    message.price += qos::Price::read(bytes);
    return;
  }
  if (record.code == operations::write::kCode) return weigh_data<operations::write>(record, message, weight);
  if (record.code == operations::append::kCode) return weigh_data<operations::append>(record, message, weight);
  if (record.code == operations::create_filled::kCode) weigh_data<operations::create_filled>(record, message, weight);
  message.price += qos::Price::metadata();
  if (record.code == operations::commit::kCode) weight.commits = true;
  // A lease may have to be on record first, which waits for the disk.
  const bool changes = kind && *kind != OperationKind::kReads;
  if (changes || record.code == operations::lease::kCode) weight.metadata = true;
}

CostClass class_of(const Weight& weight) {
  if (weight.read + weight.written > kHeavyBytes) return CostClass::kHeavy;
  if (weight.commits || weight.stable) return CostClass::kSync;
  if (weight.metadata) return CostClass::kChange;
  // A write that need not be durable has nothing to wait for, yet its reply is to be kept.
  return weight.read + weight.written > 0 || weight.unstable ? CostClass::kData : CostClass::kMemory;
}

}  // namespace

bool weigh(DecodedMessage& message) {
  message.operations.clear();
  std::span<const std::byte> rest = message.view.operations;
  Weight weight;
  while (!rest.empty()) {
    const auto record = next_record(rest);
    if (!record || message.operations.size() == message.view.header.operation_count) return false;
    weigh_one(*record, message, weight);
    if (message.priced_file == File{}) message.priced_file = file_of(*record);
    message.operations.push_back(*record);
  }
  message.cost_class = class_of(weight);
  return message.operations.size() == message.view.header.operation_count;
}

}  // namespace stoa::native
