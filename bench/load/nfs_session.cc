#include "bench/load/nfs_session.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include "bench/load/batched_socket.h"
#include "bench/load/die.h"
#include "bench/load/libnfs_raw.h"

namespace stoa::bench {
namespace {

constexpr int kPatienceMs = 60'000;  // a server that answers nothing for so long is taken for dead

void keep(Handle& handle, unsigned size, const char* bytes) {
  if (size > sizeof(handle.bytes)) die("the server gave a file handle above 64 bytes");
  handle.size = size;
  std::memcpy(handle.bytes, bytes, size);
}

struct Reply {
  bool finished = false;
  int status = -1;
  Handle handle;
  std::uint64_t size = 0;
};

}  // namespace

nfs_fh3 to_fh(Handle& handle) {
  nfs_fh3 fh{};
  fh.data.data_len = handle.size;
  fh.data.data_val = handle.bytes;
  return fh;
}

struct NfsSession::Connection {
  rpc_context* rpc = rpc_init_context();
  int fd = -1;
  ~Connection() { rpc_destroy_context(rpc); }
};

void NfsSession::turn(int timeout_ms) {
  std::vector<pollfd> polled(connections_.size());
  for (std::size_t i = 0; i < connections_.size(); ++i) {
    Connection& connection = *connections_[i];
    // Requests queued by callbacks leave in one write, before the wait.
    if ((rpc_which_events(connection.rpc) & POLLOUT) != 0 && connection.fd >= 0) rpc_service(connection.rpc, POLLOUT);
    if (!flush_socket(rpc_get_fd(connection.rpc))) die("the server closed a connection");
    int events = rpc_which_events(connection.rpc);
    if (has_unsent(rpc_get_fd(connection.rpc))) events |= POLLOUT;
    polled[i] = {.fd = rpc_get_fd(connection.rpc), .events = static_cast<short>(events), .revents = 0};
  }
  const int ready = poll(polled.data(), polled.size(), timeout_ms);
  if (ready == 0) die("no answer from the server for a minute");
  for (std::size_t i = 0; i < connections_.size(); ++i) {
    if (polled[i].revents == 0) continue;
    do {
      if (rpc_service(connections_[i]->rpc, polled[i].revents) < 0) {
        die(std::string("connection lost: ") + rpc_get_error(connections_[i]->rpc));
      }
    } while (has_read_ahead(polled[i].fd));
  }
}

template <class Start>
void NfsSession::wait_for(bool& finished, Start start) {
  if (start() != 0) die("libnfs refused a call");
  while (!finished) turn(kPatienceMs);
}

NfsSession::NfsSession(const Target& target, unsigned connections) {
  const auto noted = [](rpc_context* rpc, int status, void*, void* data) {
    if (status != RPC_STATUS_SUCCESS) die(std::string("cannot connect: ") + rpc_get_error(rpc));
    *static_cast<bool*>(data) = true;
  };
  {  // MOUNT has a connection of its own, which ends here.
    connections_.push_back(std::make_unique<Connection>());
    rpc_context* rpc = connections_[0]->rpc;
    bool finished = false;
    wait_for(finished, [&] {
      return rpc_connect_port_async(rpc, target.host.c_str(), target.mount_port, MOUNT_PROGRAM, MOUNT_V3, noted,
                                    &finished);
    });
    Reply reply;
    const auto mounted = [](rpc_context* context, int status, void* data, void* to) {
      auto& out = *static_cast<Reply*>(to);
      if (status != RPC_STATUS_SUCCESS) die(std::string("MNT failed: ") + rpc_get_error(context));
      const auto& res = *static_cast<mountres3*>(data);
      out.status = res.fhs_status;
      if (res.fhs_status == MNT3_OK) {
        const auto& fh = res.mountres3_u.mountinfo.fhandle;
        keep(out.handle, fh.fhandle3_len, fh.fhandle3_val);
      }
      out.finished = true;
    };
    std::string path = target.export_path;
    wait_for(reply.finished, [&] { return rpc_mount3_mnt_async(rpc, mounted, path.data(), &reply); });
    if (reply.status != 0) die("MNT " + path + ": " + mountstat3_to_str(reply.status));
    root_ = reply.handle;
    connections_.clear();
  }
  for (unsigned i = 0; i < connections; ++i) {
    connections_.push_back(std::make_unique<Connection>());
    Connection& connection = *connections_.back();
    bool finished = false;
    wait_for(finished, [&] {
      return rpc_connect_port_async(connection.rpc, target.host.c_str(), target.port, NFS_PROGRAM, NFS_V3, noted,
                                    &finished);
    });
    connection.fd = rpc_get_fd(connection.rpc);
    const int one = 1;
    setsockopt(connection.fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    batch_socket(connection.fd);
  }
}

NfsSession::~NfsSession() = default;

void NfsSession::run(Phase& phase, unsigned inflight, std::uint64_t count, double seconds, Outcome& outcome) {
  std::vector<Slot> slots(connections_.size() * inflight);
  count_ = count;
  next_index_ = 0;
  busy_slots_ = slots.size();
  deadline_ns_ = seconds > 0 ? now_ns() + static_cast<std::uint64_t>(seconds * 1e9) : ~std::uint64_t{0};
  for (std::size_t i = 0; i < slots.size(); ++i) {
    slots[i].rpc = connections_[i % connections_.size()]->rpc;
    slots[i].session = this;
    slots[i].phase = &phase;
    slots[i].outcome = &outcome;
    slots[i].number = static_cast<unsigned>(i);
    next(slots[i]);
  }
  while (busy_slots_ > 0) turn(kPatienceMs);
}

void NfsSession::next(Slot& slot) {
  slot.started_ns = now_ns();
  if (next_index_ >= count_ || slot.started_ns >= deadline_ns_) {
    --busy_slots_;
    return;
  }
  slot.index = next_index_++;
  slot.request_ns = slot.started_ns;
  slot.phase->begin(slot);
}

void NfsSession::done(Slot& slot, std::uint64_t bytes) {
  slot.outcome->succeeded(slot.started_ns, bytes);
  next(slot);
}

void NfsSession::failed(Slot& slot, const std::string& why) {
  slot.outcome->failed(why);
  next(slot);
}

int NfsSession::lookup(const Handle& dir, const std::string& name, Handle* found, std::uint64_t* size) {
  Handle parent = dir;
  std::string word = name;
  LOOKUP3args args{};
  args.what.dir = to_fh(parent);
  args.what.name = word.data();
  Reply reply;
  const auto looked_up = [](rpc_context* rpc, int status, void* data, void* to) {
    auto& out = *static_cast<Reply*>(to);
    if (status != RPC_STATUS_SUCCESS) die(std::string("LOOKUP failed: ") + rpc_get_error(rpc));
    const auto& res = *static_cast<LOOKUP3res*>(data);
    out.status = res.status;
    if (res.status == NFS3_OK) {
      const auto& ok = res.LOOKUP3res_u.resok;
      keep(out.handle, ok.object.data.data_len, ok.object.data.data_val);
      if (ok.obj_attributes.attributes_follow) out.size = ok.obj_attributes.post_op_attr_u.attributes.size;
    }
    out.finished = true;
  };
  wait_for(reply.finished, [&] { return rpc_nfs3_lookup_async(connections_[0]->rpc, looked_up, &args, &reply); });
  if (found != nullptr) *found = reply.handle;
  if (size != nullptr) *size = reply.size;
  return reply.status;
}

int NfsSession::mkdir(const Handle& dir, const std::string& name, Handle* made) {
  Handle parent = dir;
  std::string word = name;
  MKDIR3args args{};
  args.where.dir = to_fh(parent);
  args.where.name = word.data();
  args.attributes.mode.set_it = 1;
  args.attributes.mode.set_mode3_u.mode = 0755;
  Reply reply;
  const auto created = [](rpc_context* rpc, int status, void* data, void* to) {
    auto& out = *static_cast<Reply*>(to);
    if (status != RPC_STATUS_SUCCESS) die(std::string("MKDIR failed: ") + rpc_get_error(rpc));
    out.status = static_cast<MKDIR3res*>(data)->status;
    out.finished = true;
  };
  wait_for(reply.finished, [&] { return rpc_nfs3_mkdir_async(connections_[0]->rpc, created, &args, &reply); });
  return reply.status == NFS3_OK ? lookup(dir, name, made) : reply.status;
}

}  // namespace stoa::bench
