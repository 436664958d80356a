// A ledger whose accounts are changed one step at a time.
#pragma once

#include "core/usage/ledger.h"

namespace stoa::core {

class TestLedger : public Ledger {
 public:
  using Ledger::Ledger;
  void set_limits(const AccountRef& account, const QuotaLimits& limits) {
    apply({.account = account, .limits = limits});
  }
  void set_limits(const AccountRef& account, const OwnerKey& owner, const QuotaLimits& limits) {
    apply({.account = account, .owner_limits = std::pair(owner, limits)});
  }
  void set_child_limits(const AccountRef& account, const QuotaLimits& limits) {
    apply({.account = account, .child_limits = limits});
  }
  void count_owners(const AccountRef& account, OwnersCounted to) { apply({.account = account, .owners = to}); }
  void end(const AccountRef& account) { apply({.account = account, .ends = true}); }
};

}  // namespace stoa::core
