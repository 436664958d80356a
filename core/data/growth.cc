#include "core/data/growth.h"

namespace stoa::core {
namespace {

Usage bytes(std::uint64_t count) { return {.bytes = static_cast<std::int64_t>(count)}; }

}  // namespace

Status begin_growth(Tree& tree, Node& node, std::uint64_t end) {
  Writing& writing = *node.writing;
  const std::uint64_t known = std::max(node.record.size, writing.promised_end);
  if (end > known) {
    STOA_CHECK_OK(tree.ledger.reserve(node.account, bytes(end - known)));
    writing.promised_end = end;
    if (writing.growing == 0) writing.account = node.account;
    // The file was moved while others grow it: keep one account for all that is promised.
    if (writing.account != node.account) {
      tree.ledger.give_back(node.account, bytes(end - known));
      tree.ledger.give_back(writing.account, -bytes(end - known));
    }
  }
  ++writing.growing;
  return {};
}

void end_growth(Tree& tree, Node& node, std::uint64_t end, bool grown) {
  Writing& writing = *node.writing;
  if (grown && end > node.record.size) {
    const Usage delta = bytes(end - node.record.size);
    if (writing.account != nullptr && writing.account != node.account) {
      tree.ledger.give_back(writing.account, delta);
      tree.ledger.give_back(node.account, -delta);
    }
    node.record.size = end;
    node.pending = node.pending + delta;
  }
  if (--writing.growing != 0) return;
  // The record's size was charged, or, of a file that was removed meanwhile, released with it; the rest is ours.
  if (writing.promised_end > node.record.size && writing.account != nullptr) {
    tree.ledger.give_back(writing.account, bytes(writing.promised_end - node.record.size));
  }
  writing.promised_end = 0;
  writing.account.reset();
}

}  // namespace stoa::core
