// A table of opens, locks and leases that holds nothing: the operations on files only carry it along.
#pragma once

#include "core/api/state.h"

namespace stoa::test {

class FakeStateTable : public core::StateTable {
 public:
  core::HolderId add_holder(core::Protocol, core::HolderEvents*, std::string_view, const core::LeaseTerms&) override {
    return {};
  }
  void mute(const core::HolderEvents&) override {}
  void remove_holder(core::HolderId) override {}
  bool holds_state(core::HolderId) const override { return false; }
  core::HeldCounts held_by(core::HolderId) const override { return {}; }
  core::FileHoldings held_of(core::FileId, std::size_t) const override { return {}; }
  core::HolderState export_holder(core::HolderId) const override { return {}; }
  core::HolderState adopt_holder(core::HolderId, const core::HolderState&) override { return {}; }
  Result<core::OpenId> open(const core::OpenSpec&) override { return fail(Errc::kNotSupported); }
  Status change_open(core::OpenId, std::uint32_t, std::uint32_t) override { return fail(Errc::kNotSupported); }
  Status check_denied(core::FileId, core::OpenId, std::uint32_t) const override { return {}; }
  void close(core::OpenId) override {}
  Result<std::optional<core::HeldLock>> lock(core::FileId, const core::LockOwner&, core::LockRange, bool) override {
    return fail(Errc::kNotSupported);
  }
  Result<std::optional<core::HeldLock>> test_lock(core::FileId, const core::LockOwner&, core::LockRange,
                                                  bool) override {
    return fail(Errc::kNotSupported);
  }
  Status unlock(core::FileId, const core::LockOwner&, core::LockRange) override { return fail(Errc::kNotSupported); }
  void unlock_all(core::FileId, const core::LockOwner&) override {}
  bool has_locks(core::FileId, const core::LockOwner&) const override { return false; }
  Result<std::optional<core::HeldLock>> lock_mandatory(core::OpenId, core::LockRange, bool) override {
    return fail(Errc::kNotSupported);
  }
  Status unlock_mandatory(core::OpenId, core::LockRange) override { return fail(Errc::kNotSupported); }
  Result<bool> lock_or_wait(const core::LockRequest&) override { return fail(Errc::kNotSupported); }
  Result<std::optional<core::HeldLock>> lock_in_turn(const core::LockRequest&,
                                                     const std::optional<core::HandleBytes>&) override {
    return fail(Errc::kNotSupported);
  }
  bool cancel_wait(const core::LockRequest&) override { return false; }
  void retry_waits() override {}
  std::optional<core::GrantedLease> grant_lease(core::FileId, const core::LeaseOwner&,
                                                const core::LeaseRequest&) override {
    return {};
  }
  Status acknowledge(core::LeaseId, std::uint32_t) override { return {}; }
  void return_lease(core::LeaseId) override {}
  void join_opens(core::OpenId, core::OpenId) override {}
  Status set_delete(core::OpenId, core::DeleteWhen) override { return fail(Errc::kNotSupported); }
  bool delete_pending(core::FileId) const override { return false; }
  bool lease_revoked(core::LeaseId) const override { return false; }
  Result<std::optional<core::RecallWait>> when_clear(core::FileId, std::function<void()>) override {
    return std::nullopt;
  }
  void stop_waiting(const core::RecallWait&) override {}
  Status before_read(const core::OpContext&, core::FileId) override { return {}; }
  Status remember_client(core::Protocol, std::string_view) override { return {}; }
  Status remember_writer(core::Protocol, std::string_view) override { return {}; }
  Status forget_client(core::Protocol, std::string_view) override { return {}; }
  bool in_grace() override { return false; }
  bool may_reclaim(core::Protocol, std::string_view) override { return false; }
  void reclaim_done(core::Protocol, std::string_view) override {}
  std::vector<std::string> clients_to_reclaim(core::Protocol) override { return {}; }
  std::uint32_t start_number() const override { return 1; }
};

}  // namespace stoa::test
