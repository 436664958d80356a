#include "frontends/native/client/batch.h"

#include "frontends/native/client/operation_fields.h"

namespace stoa::native {

void Batch::append_payload(std::span<const std::byte> data) {
  if (data.empty()) return;
  if (payload_ == nullptr) {
    payload_ = std::make_shared<Content>(data.begin(), data.end());
    return;
  }
  if (payload_.use_count() > 1) payload_ = std::make_shared<Content>(*payload_);
  payload_->insert(payload_->end(), data.begin(), data.end());
}

std::vector<U16> Batch::codes() const {
  std::vector<U16> codes;
  codes.reserve(operations_.size());
  for (const Entry& operation : operations_) codes.push_back(operation.code);
  return codes;
}

Bytes Batch::records() const {
  std::size_t bytes = 0;
  for (const Entry& operation : operations_) bytes += operation.record.size();
  Bytes all;
  all.reserve(bytes);
  for (const Entry& operation : operations_) all.insert(all.end(), operation.record.begin(), operation.record.end());
  return all;
}

bool Batch::fits() const {
  constexpr std::size_t kCallBytesMax = 64 + kGroupsMax * sizeof(U32);  // the block of the call
  std::size_t bytes = kHeaderBytes + kCallBytesMax + kPayloadAlignment + payload().size();
  for (const Entry& operation : operations_) bytes += operation.record.size();
  return operations_.size() <= kOperationsMax && payload().size() <= kPayloadBytesMax && bytes <= kMessageBytesMax;
}

Batch Batch::rest(std::size_t from, std::span<const U64> files) const {
  Batch left;
  left.payload_ = payload_;
  for (std::size_t i = from; i < operations_.size(); ++i) {
    const auto moved = [&](File operand) {
      if (!is_result(operand)) return operand;
      const std::size_t earlier = operation_of(operand);
      return earlier >= from ? result_of(earlier - from) : File{earlier < files.size() ? files[earlier] : 0};
    };
    left.operations_.push_back({operations_[i].code, map_files(operations_[i].code, operations_[i].record, moved)});
  }
  return left;
}

Batch Batch::stable() const {
  Batch stable;
  stable.payload_ = payload_;
  for (std::size_t i = 0; i < operations_.size(); ++i) {
    if (operations_[i].code == operations::write::kCode) {
      stable.add_stable<operations::write>(i, *this);
    } else if (operations_[i].code == operations::append::kCode) {
      stable.add_stable<operations::append>(i, *this);
    } else {
      stable.operations_.push_back(operations_[i]);
    }
  }
  return stable;
}

}  // namespace stoa::native
