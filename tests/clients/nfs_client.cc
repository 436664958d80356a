#include "tests/clients/nfs_client.h"

#include <poll.h>

#include <cstring>

namespace stoa::clients {
namespace {

nfs_fh3 to_fh(const NfsHandle& handle) {
  nfs_fh3 out{};
  out.data.data_len = static_cast<u_int>(handle.size());
  out.data.data_val = const_cast<char*>(handle.data());
  return out;
}

NfsHandle from_fh(const nfs_fh3& handle) {
  return {handle.data.data_val, handle.data.data_len};
}

NfsAttributes from_fattr(const fattr3& a) {
  return {.type = a.type,
          .mode = a.mode,
          .links = a.nlink,
          .uid = a.uid,
          .gid = a.gid,
          .size = a.size,
          .id = a.fileid,
          .mtime_s = a.mtime.seconds,
          .mtime_ns = a.mtime.nseconds};
}

void take_attr(NfsReply& reply, const post_op_attr& attr) {
  if (attr.attributes_follow) reply.attr = from_fattr(attr.post_op_attr_u.attributes);
}

void take_wcc(NfsReply& reply, const wcc_data& wcc) {
  take_attr(reply, wcc.after);
}

sattr3 to_sattr(const NfsSet& set) {
  sattr3 out{};
  if (set.mode) out.mode = {.set_it = 1, .set_mode3_u = {.mode = *set.mode}};
  if (set.uid) out.uid = {.set_it = 1, .set_uid3_u = {.uid = *set.uid}};
  if (set.gid) out.gid = {.set_it = 1, .set_gid3_u = {.gid = *set.gid}};
  if (set.size) out.size = {.set_it = 1, .set_size3_u = {.size = *set.size}};
  if (set.mtime) {
    out.mtime.set_it = SET_TO_CLIENT_TIME;
    out.mtime.set_mtime_u.mtime = {static_cast<u_int>(set.mtime->first), set.mtime->second};
  }
  return out;
}

// CREATE, MKDIR, SYMLINK and MKNOD answer alike.
template <class Ok>
void take_new(NfsReply& reply, const Ok& ok) {
  if (ok.obj.handle_follows) reply.handle = from_fh(ok.obj.post_op_fh3_u.handle);
  take_attr(reply, ok.obj_attributes);
}

constexpr int kPollMs = 100;
constexpr int kConnectRounds = 100;

}  // namespace

std::string NfsReply::text() const {
  if (lost) return "connection lost";
  return nfsstat3_to_str(static_cast<int>(status));
}

struct NfsClient::Call {
  NfsClient* client;
  NfsDone done;
  void (*take)(void* result, NfsReply& reply);
};

void NfsClient::on_answer(struct rpc_context*, int status, void* data, void* private_data) {
  const std::unique_ptr<Call> call(static_cast<Call*>(private_data));
  --call->client->in_flight_;
  NfsReply reply;
  if (status == RPC_STATUS_SUCCESS) {
    call->take(data, reply);
  } else {
    reply.lost = true;
  }
  if (call->done) call->done(std::move(reply));
}

template <class Queue>
void NfsClient::start(NfsDone done, void (*take)(void*, NfsReply&), Queue queue) {
  if (broken_) {
    if (done) done({.lost = true});
    return;
  }
  auto call = std::make_unique<Call>(this, std::move(done), take);
  ++in_flight_;
  if (queue(rpc_, &NfsClient::on_answer, call.get()) != 0) {
    --in_flight_;
    if (call->done) call->done({.lost = true});
    return;
  }
  (void)call.release();  // on_answer() has it now
}

void NfsClient::break_off() {
  if (broken_) return;
  broken_ = true;
  rpc_disconnect(rpc_, "lost");
}

bool NfsClient::poll(int timeout_ms) {
  if (broken_) return false;
  pollfd fd{.fd = rpc_get_fd(rpc_), .events = static_cast<short>(rpc_which_events(rpc_)), .revents = 0};
  if (fd.fd < 0) {
    break_off();
    return false;
  }
  const int ready = ::poll(&fd, 1, timeout_ms);
  if (ready < 0 && errno != EINTR) break_off();
  if (ready > 0 && rpc_service(rpc_, fd.revents) < 0) break_off();
  return !broken_;
}

void NfsClient::drain(std::size_t limit) {
  while (in_flight_ > limit && poll(kPollMs)) {
  }
}

namespace {

struct Step {
  bool finished = false, ok = false;
  std::string data;
};

void on_connected(struct rpc_context*, int status, void*, void* step) {
  static_cast<Step*>(step)->finished = true;
  static_cast<Step*>(step)->ok = status == RPC_STATUS_SUCCESS;
}

void on_mounted(struct rpc_context*, int status, void* data, void* private_data) {
  Step& step = *static_cast<Step*>(private_data);
  step.finished = true;
  if (status != RPC_STATUS_SUCCESS) return;
  const auto* result = static_cast<mountres3*>(data);
  if (result->fhs_status != MNT3_OK) return;
  step.ok = true;
  step.data.assign(result->mountres3_u.mountinfo.fhandle.fhandle3_val,
                   result->mountres3_u.mountinfo.fhandle.fhandle3_len);
}

bool finish(rpc_context* rpc, Step& step) {
  for (int round = 0; !step.finished && round < kConnectRounds; ++round) {
    pollfd fd{.fd = rpc_get_fd(rpc), .events = static_cast<short>(rpc_which_events(rpc)), .revents = 0};
    if (fd.fd < 0 || ::poll(&fd, 1, kPollMs) < 0 || rpc_service(rpc, fd.revents) < 0) return false;
  }
  return step.ok;
}

}  // namespace

std::unique_ptr<NfsClient> NfsClient::connect(const NfsTarget& target, std::uint32_t uid, std::string* why) {
  std::unique_ptr<NfsClient> client(new NfsClient);
  rpc_context* mount = rpc_init_context();
  Step connected, mounted;
  bool ok = rpc_connect_port_async(mount, target.host.c_str(), target.mount_port, MOUNT_PROGRAM, MOUNT_V3, on_connected,
                                   &connected) == 0 &&
            finish(mount, connected);
  if (!ok) *why = "MOUNT: cannot connect to port " + std::to_string(target.mount_port);
  if (ok) {
    rpc_set_uid(mount, static_cast<int>(uid));
    ok = rpc_mount3_mnt_async(mount, on_mounted, const_cast<char*>(target.export_path.c_str()), &mounted) == 0 &&
         finish(mount, mounted);
    if (!ok) *why = "MOUNT refuses " + target.export_path;
  }
  rpc_destroy_context(mount);
  if (!ok) return nullptr;
  client->root_ = mounted.data;
  client->rpc_ = rpc_init_context();
  Step step;
  if (rpc_connect_port_async(client->rpc_, target.host.c_str(), target.nfs_port, NFS_PROGRAM, NFS_V3, on_connected,
                             &step) != 0 ||
      !finish(client->rpc_, step)) {
    *why = "NFS: cannot connect to port " + std::to_string(target.nfs_port);
    return nullptr;
  }
  rpc_set_uid(client->rpc_, static_cast<int>(uid));
  return client;
}

NfsClient::~NfsClient() {
  if (rpc_ != nullptr) {
    if (!broken_) break_off();
    rpc_destroy_context(rpc_);
  }
}

void NfsClient::null_async(NfsDone done) {
  start(
      std::move(done), [](void*, NfsReply&) {},
      [](rpc_context* rpc, rpc_cb cb, void* call) { return rpc_nfs3_null_async(rpc, cb, call); });
}

void NfsClient::getattr_async(const NfsHandle& file, NfsDone done) {
  GETATTR3args args{.object = to_fh(file)};
  start(
      std::move(done),
      [](void* data, NfsReply& reply) {
        const auto& res = *static_cast<GETATTR3res*>(data);
        reply.status = res.status;
        if (res.status == NFS3_OK) reply.attr = from_fattr(res.GETATTR3res_u.resok.obj_attributes);
      },
      [&](rpc_context* rpc, rpc_cb cb, void* call) { return rpc_nfs3_getattr_async(rpc, cb, &args, call); });
}

void NfsClient::setattr_async(const NfsHandle& file, const NfsSet& set, NfsDone done) {
  SETATTR3args args{};
  args.object = to_fh(file);
  args.new_attributes = to_sattr(set);
  start(
      std::move(done),
      [](void* data, NfsReply& reply) {
        const auto& res = *static_cast<SETATTR3res*>(data);
        reply.status = res.status;
        if (res.status == NFS3_OK) take_wcc(reply, res.SETATTR3res_u.resok.obj_wcc);
      },
      [&](rpc_context* rpc, rpc_cb cb, void* call) { return rpc_nfs3_setattr_async(rpc, cb, &args, call); });
}

void NfsClient::lookup_async(const NfsHandle& dir, const std::string& name, NfsDone done) {
  LOOKUP3args args{};
  args.what = {to_fh(dir), const_cast<char*>(name.c_str())};
  start(
      std::move(done),
      [](void* data, NfsReply& reply) {
        const auto& res = *static_cast<LOOKUP3res*>(data);
        reply.status = res.status;
        if (res.status != NFS3_OK) return;
        reply.handle = from_fh(res.LOOKUP3res_u.resok.object);
        take_attr(reply, res.LOOKUP3res_u.resok.obj_attributes);
      },
      [&](rpc_context* rpc, rpc_cb cb, void* call) { return rpc_nfs3_lookup_async(rpc, cb, &args, call); });
}

void NfsClient::readlink_async(const NfsHandle& file, NfsDone done) {
  READLINK3args args{.symlink = to_fh(file)};
  start(
      std::move(done),
      [](void* data, NfsReply& reply) {
        const auto& res = *static_cast<READLINK3res*>(data);
        reply.status = res.status;
        if (res.status == NFS3_OK) reply.data = res.READLINK3res_u.resok.data;
      },
      [&](rpc_context* rpc, rpc_cb cb, void* call) { return rpc_nfs3_readlink_async(rpc, cb, &args, call); });
}

void NfsClient::read_async(const NfsHandle& file, std::uint64_t offset, std::uint32_t count, NfsDone done) {
  READ3args args{.file = to_fh(file), .offset = offset, .count = count};
  start(
      std::move(done),
      [](void* data, NfsReply& reply) {
        const auto& res = *static_cast<READ3res*>(data);
        reply.status = res.status;
        if (res.status != NFS3_OK) return;
        const auto& ok = res.READ3res_u.resok;
        reply.data.assign(ok.data.data_val, ok.data.data_len);
        reply.eof = ok.eof != 0;
        reply.count = ok.count;
        take_attr(reply, ok.file_attributes);
      },
      [&](rpc_context* rpc, rpc_cb cb, void* call) { return rpc_nfs3_read_async(rpc, cb, &args, call); });
}

void NfsClient::write_async(const NfsHandle& file, std::uint64_t offset, std::string_view data, stable_how stable,
                            NfsDone done) {
  WRITE3args args{};
  args.file = to_fh(file);
  args.offset = offset;
  args.count = static_cast<count3>(data.size());
  args.stable = stable;
  args.data.data_len = static_cast<u_int>(data.size());
  args.data.data_val = const_cast<char*>(data.data());
  start(
      std::move(done),
      [](void* result, NfsReply& reply) {
        const auto& res = *static_cast<WRITE3res*>(result);
        reply.status = res.status;
        if (res.status != NFS3_OK) return;
        const auto& ok = res.WRITE3res_u.resok;
        reply.count = ok.count;
        reply.committed = ok.committed;
        reply.verifier.assign(ok.verf, sizeof ok.verf);
        take_wcc(reply, ok.file_wcc);
      },
      [&](rpc_context* rpc, rpc_cb cb, void* call) { return rpc_nfs3_write_async(rpc, cb, &args, call); });
}

void NfsClient::commit_async(const NfsHandle& file, NfsDone done) {
  COMMIT3args args{.file = to_fh(file), .offset = 0, .count = 0};
  start(
      std::move(done),
      [](void* data, NfsReply& reply) {
        const auto& res = *static_cast<COMMIT3res*>(data);
        reply.status = res.status;
        if (res.status != NFS3_OK) return;
        reply.verifier.assign(res.COMMIT3res_u.resok.verf, sizeof res.COMMIT3res_u.resok.verf);
        take_wcc(reply, res.COMMIT3res_u.resok.file_wcc);
      },
      [&](rpc_context* rpc, rpc_cb cb, void* call) { return rpc_nfs3_commit_async(rpc, cb, &args, call); });
}

void NfsClient::create_async(const NfsHandle& dir, const std::string& name, NfsCreate mode, const NfsSet& set,
                             NfsDone done) {
  CREATE3args args{};
  args.where = {to_fh(dir), const_cast<char*>(name.c_str())};
  args.how.mode = mode == NfsCreate::kUnchecked ? UNCHECKED : mode == NfsCreate::kGuarded ? GUARDED : EXCLUSIVE;
  if (mode == NfsCreate::kExclusive) {
    std::memset(args.how.createhow3_u.verf, 7, sizeof args.how.createhow3_u.verf);
  } else {
    args.how.createhow3_u.obj_attributes = to_sattr(set);
  }
  start(
      std::move(done),
      [](void* data, NfsReply& reply) {
        const auto& res = *static_cast<CREATE3res*>(data);
        reply.status = res.status;
        if (res.status == NFS3_OK) take_new(reply, res.CREATE3res_u.resok);
      },
      [&](rpc_context* rpc, rpc_cb cb, void* call) { return rpc_nfs3_create_async(rpc, cb, &args, call); });
}

void NfsClient::mkdir_async(const NfsHandle& dir, const std::string& name, std::uint32_t mode, NfsDone done) {
  MKDIR3args args{};
  args.where = {to_fh(dir), const_cast<char*>(name.c_str())};
  args.attributes = to_sattr({.mode = mode});
  start(
      std::move(done),
      [](void* data, NfsReply& reply) {
        const auto& res = *static_cast<MKDIR3res*>(data);
        reply.status = res.status;
        if (res.status == NFS3_OK) take_new(reply, res.MKDIR3res_u.resok);
      },
      [&](rpc_context* rpc, rpc_cb cb, void* call) { return rpc_nfs3_mkdir_async(rpc, cb, &args, call); });
}

void NfsClient::symlink_async(const NfsHandle& dir, const std::string& name, const std::string& target, NfsDone done) {
  SYMLINK3args args{};
  args.where = {to_fh(dir), const_cast<char*>(name.c_str())};
  args.symlink.symlink_data = const_cast<char*>(target.c_str());
  start(
      std::move(done),
      [](void* data, NfsReply& reply) {
        const auto& res = *static_cast<SYMLINK3res*>(data);
        reply.status = res.status;
        if (res.status == NFS3_OK) take_new(reply, res.SYMLINK3res_u.resok);
      },
      [&](rpc_context* rpc, rpc_cb cb, void* call) { return rpc_nfs3_symlink_async(rpc, cb, &args, call); });
}

void NfsClient::remove_async(const NfsHandle& dir, const std::string& name, NfsDone done) {
  REMOVE3args args{};
  args.object = {to_fh(dir), const_cast<char*>(name.c_str())};
  start(
      std::move(done), [](void* data, NfsReply& reply) { reply.status = static_cast<REMOVE3res*>(data)->status; },
      [&](rpc_context* rpc, rpc_cb cb, void* call) { return rpc_nfs3_remove_async(rpc, cb, &args, call); });
}

void NfsClient::rmdir_async(const NfsHandle& dir, const std::string& name, NfsDone done) {
  RMDIR3args args{};
  args.object = {to_fh(dir), const_cast<char*>(name.c_str())};
  start(
      std::move(done), [](void* data, NfsReply& reply) { reply.status = static_cast<RMDIR3res*>(data)->status; },
      [&](rpc_context* rpc, rpc_cb cb, void* call) { return rpc_nfs3_rmdir_async(rpc, cb, &args, call); });
}

void NfsClient::rename_async(const NfsHandle& from, const std::string& from_name, const NfsHandle& to,
                             const std::string& to_name, NfsDone done) {
  RENAME3args args{};
  args.from = {to_fh(from), const_cast<char*>(from_name.c_str())};
  args.to = {to_fh(to), const_cast<char*>(to_name.c_str())};
  start(
      std::move(done), [](void* data, NfsReply& reply) { reply.status = static_cast<RENAME3res*>(data)->status; },
      [&](rpc_context* rpc, rpc_cb cb, void* call) { return rpc_nfs3_rename_async(rpc, cb, &args, call); });
}

void NfsClient::link_async(const NfsHandle& file, const NfsHandle& dir, const std::string& name, NfsDone done) {
  LINK3args args{};
  args.file = to_fh(file);
  args.link = {to_fh(dir), const_cast<char*>(name.c_str())};
  start(
      std::move(done),
      [](void* data, NfsReply& reply) {
        const auto& res = *static_cast<LINK3res*>(data);
        reply.status = res.status;
        if (res.status == NFS3_OK) take_attr(reply, res.LINK3res_u.resok.file_attributes);
      },
      [&](rpc_context* rpc, rpc_cb cb, void* call) { return rpc_nfs3_link_async(rpc, cb, &args, call); });
}

void NfsClient::readdirplus_async(const NfsHandle& dir, std::uint64_t cookie, const std::string& verifier,
                                  std::uint32_t bytes, NfsDone done) {
  READDIRPLUS3args args{};
  args.dir = to_fh(dir);
  args.cookie = cookie;
  if (verifier.size() == sizeof args.cookieverf) std::memcpy(args.cookieverf, verifier.data(), verifier.size());
  args.dircount = bytes;
  args.maxcount = bytes;
  start(
      std::move(done),
      [](void* data, NfsReply& reply) {
        const auto& res = *static_cast<READDIRPLUS3res*>(data);
        reply.status = res.status;
        if (res.status != NFS3_OK) return;
        const auto& ok = res.READDIRPLUS3res_u.resok;
        reply.verifier.assign(ok.cookieverf, sizeof ok.cookieverf);
        reply.eof = ok.reply.eof != 0;
        for (const entryplus3* entry = ok.reply.entries; entry != nullptr; entry = entry->nextentry) {
          NfsEntry out{.name = entry->name, .id = entry->fileid, .cookie = entry->cookie};
          if (entry->name_attributes.attributes_follow) {
            out.attr = from_fattr(entry->name_attributes.post_op_attr_u.attributes);
          }
          if (entry->name_handle.handle_follows) out.handle = from_fh(entry->name_handle.post_op_fh3_u.handle);
          reply.entries.push_back(std::move(out));
        }
      },
      [&](rpc_context* rpc, rpc_cb cb, void* call) { return rpc_nfs3_readdirplus_async(rpc, cb, &args, call); });
}

void NfsClient::fsstat_async(const NfsHandle& dir, NfsDone done) {
  FSSTAT3args args{.fsroot = to_fh(dir)};
  start(
      std::move(done),
      [](void* data, NfsReply& reply) {
        const auto& res = *static_cast<FSSTAT3res*>(data);
        reply.status = res.status;
        if (res.status != NFS3_OK) return;
        reply.bytes_total = res.FSSTAT3res_u.resok.tbytes;
        reply.bytes_free = res.FSSTAT3res_u.resok.abytes;
      },
      [&](rpc_context* rpc, rpc_cb cb, void* call) { return rpc_nfs3_fsstat_async(rpc, cb, &args, call); });
}

NfsReply NfsClient::list(const NfsHandle& dir) {
  NfsReply all;
  std::uint64_t cookie = 0;
  std::string verifier;
  for (;;) {
    NfsReply page = wait([&](NfsDone done) { readdirplus_async(dir, cookie, verifier, 65536, std::move(done)); });
    if (!page.ok()) return page;
    verifier = page.verifier;
    if (!page.entries.empty()) cookie = page.entries.back().cookie;
    for (NfsEntry& entry : page.entries) {
      if (entry.name != "." && entry.name != "..") all.entries.push_back(std::move(entry));
    }
    if (page.eof || page.entries.empty()) return all;
  }
}

NfsReply NfsClient::read_all(const NfsHandle& file) {
  NfsReply all;
  for (;;) {
    NfsReply piece = read(file, all.data.size(), 1u << 20);
    if (!piece.ok()) return piece;
    all.data += piece.data;
    all.attr = piece.attr;
    if (piece.eof) return all;
    if (piece.data.empty()) return {.status = NFS3ERR_IO};
  }
}

NfsReply NfsClient::walk(const std::string& path) {
  NfsReply at{.handle = root_};
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    if (end > begin) {
      at = lookup(at.handle, path.substr(begin, end - begin));
      if (!at.ok()) return at;
    }
    begin = end + 1;
  }
  return at;
}

}  // namespace stoa::clients
