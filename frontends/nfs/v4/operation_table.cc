#include "frontends/nfs/v4/operation_table.h"

#include <array>

#include "frontends/nfs/v4/operations.h"
#include "frontends/nfs/v4/operations_state.h"

namespace stoa::nfs4 {
namespace {

// SEQUENCE is the loop's own.
Nfs4Status op_sequence_place(Compound&) {
  return Nfs4Status::kServerFault;
}

// Numbers: RFC 7530 16, RFC 8881 18, RFC 7862 15, RFC 8276 8.4. A null function: kNotSupp, as 8881 18 and 7862 15 allow
// it for what is OPTIONAL, and 7530 16.7 for DELEGPURGE without CLAIM_DELEGATE_PREV.
constexpr std::array kOperations{
    OperationEntry{3, "access", 0, 2, op_access},
    OperationEntry{4, "close", 0, 2, op_close},
    OperationEntry{5, "commit", 0, 2, op_commit},
    OperationEntry{6, "create", 0, 2, op_create},
    OperationEntry{7, "delegpurge", 0, 2, nullptr},
    OperationEntry{8, "delegreturn", 0, 2, op_delegreturn},
    OperationEntry{9, "getattr", 0, 2, op_getattr},
    OperationEntry{10, "getfh", 0, 2, op_getfh},
    OperationEntry{11, "link", 0, 2, op_link},
    OperationEntry{12, "lock", 0, 2, op_lock},
    OperationEntry{13, "lockt", 0, 2, op_lockt},
    OperationEntry{14, "locku", 0, 2, op_locku},
    OperationEntry{15, "lookup", 0, 2, op_lookup},
    OperationEntry{16, "lookupp", 0, 2, op_lookupp},
    OperationEntry{17, "nverify", 0, 2, op_nverify},
    OperationEntry{18, "open", 0, 2, op_open},
    OperationEntry{19, "openattr", 0, 2, nullptr},
    OperationEntry{20, "open_confirm", 0, 2, op_open_confirm, Place::kMinor0},
    OperationEntry{21, "open_downgrade", 0, 2, op_open_downgrade},
    OperationEntry{22, "putfh", 0, 2, op_putfh},
    OperationEntry{23, "putpubfh", 0, 2, op_putpubfh},
    OperationEntry{24, "putrootfh", 0, 2, op_putrootfh},
    OperationEntry{25, "read", 0, 2, op_read},
    OperationEntry{26, "readdir", 0, 2, op_readdir},
    OperationEntry{27, "readlink", 0, 2, op_readlink},
    OperationEntry{28, "remove", 0, 2, op_remove},
    OperationEntry{29, "rename", 0, 2, op_rename},
    OperationEntry{30, "renew", 0, 2, op_renew, Place::kMinor0},
    OperationEntry{31, "restorefh", 0, 2, op_restorefh},
    OperationEntry{32, "savefh", 0, 2, op_savefh},
    OperationEntry{33, "secinfo", 0, 2, op_secinfo},
    OperationEntry{34, "setattr", 0, 2, op_setattr},
    OperationEntry{35, "setclientid", 0, 2, op_setclientid, Place::kMinor0},
    OperationEntry{36, "setclientid_confirm", 0, 2, op_setclientid_confirm, Place::kMinor0},
    OperationEntry{37, "verify", 0, 2, op_verify},
    OperationEntry{38, "write", 0, 2, op_write},
    OperationEntry{39, "release_lockowner", 0, 2, op_release_lockowner, Place::kMinor0},
    OperationEntry{40, "backchannel_ctl", 1, 2, op_backchannel_ctl},
    OperationEntry{41, "bind_conn_to_session", 1, 2, op_bind_conn_to_session, Place::kAlone},
    OperationEntry{42, "exchange_id", 1, 2, op_exchange_id, Place::kAlone},
    OperationEntry{43, "create_session", 1, 2, op_create_session, Place::kAlone},
    OperationEntry{44, "destroy_session", 1, 2, op_destroy_session, Place::kAlone},
    OperationEntry{45, "free_stateid", 1, 2, op_free_stateid},
    OperationEntry{46, "get_dir_delegation", 1, 2, nullptr},
    OperationEntry{47, "getdeviceinfo", 1, 2, nullptr},
    OperationEntry{48, "getdevicelist", 1, 2, nullptr},
    OperationEntry{49, "layoutcommit", 1, 2, nullptr},
    OperationEntry{50, "layoutget", 1, 2, nullptr},
    OperationEntry{51, "layoutreturn", 1, 2, nullptr},
    OperationEntry{52, "secinfo_no_name", 1, 2, op_secinfo_no_name},
    OperationEntry{53, "sequence", 1, 2, op_sequence_place, Place::kFirst},
    OperationEntry{54, "set_ssv", 1, 2, nullptr},
    OperationEntry{55, "test_stateid", 1, 2, op_test_stateid},
    OperationEntry{56, "want_delegation", 1, 2, op_want_delegation},
    OperationEntry{57, "destroy_clientid", 1, 2, op_destroy_clientid, Place::kAlone},
    OperationEntry{58, "reclaim_complete", 1, 2, op_reclaim_complete},
    OperationEntry{59, "allocate", 2, 2, op_allocate},
    OperationEntry{60, "copy", 2, 2, op_copy},
    OperationEntry{61, "copy_notify", 2, 2, nullptr},
    OperationEntry{62, "deallocate", 2, 2, op_deallocate},
    OperationEntry{63, "io_advise", 2, 2, op_io_advise},
    OperationEntry{64, "layouterror", 2, 2, nullptr},
    OperationEntry{65, "layoutstats", 2, 2, nullptr},
    OperationEntry{66, "offload_cancel", 2, 2, op_offload_cancel},
    OperationEntry{67, "offload_status", 2, 2, op_offload_status},
    OperationEntry{68, "read_plus", 2, 2, op_read_plus},
    OperationEntry{69, "seek", 2, 2, op_seek},
    OperationEntry{70, "write_same", 2, 2, nullptr},
    OperationEntry{71, "clone", 2, 2, op_clone},
    OperationEntry{72, "getxattr", 2, 2, op_getxattr},
    OperationEntry{73, "setxattr", 2, 2, op_setxattr},
    OperationEntry{74, "listxattrs", 2, 2, op_listxattrs},
    OperationEntry{75, "removexattr", 2, 2, op_removexattr},
};
constexpr std::uint32_t kFirst = kOperations.front().number;
static_assert([] {
  for (std::size_t i = 0; i < kOperations.size(); ++i) {
    if (kOperations[i].number != kFirst + i) return false;
  }
  return true;
}());

}  // namespace

const OperationEntry* find_operation(std::uint32_t number, std::uint32_t minor) {
  if (number < kFirst || number >= kFirst + kOperations.size()) return nullptr;
  const OperationEntry& entry = kOperations[number - kFirst];
  return minor >= entry.minor_low && minor <= entry.minor_high ? &entry : nullptr;
}

}  // namespace stoa::nfs4
