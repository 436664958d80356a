#include "frontends/native/fuse/dispatcher.h"

#include "frontends/native/fuse/operations.h"

namespace stoa::native::fuse {
namespace {

using Handler = Answer (*)(Exchange&);

Handler handler_of(std::uint32_t opcode) {
  switch (opcode) {
    case FUSE_LOOKUP:
      return handle_lookup;
    case FUSE_GETATTR:
      return handle_getattr;
    case kOpStatx:
      return handle_statx;
    case FUSE_SETATTR:
      return handle_setattr;
    case FUSE_READLINK:
      return handle_readlink;
    case FUSE_SYMLINK:
      return handle_symlink;
    case FUSE_MKNOD:
      return handle_mknod;
    case FUSE_MKDIR:
      return handle_mkdir;
    case FUSE_UNLINK:
      return handle_unlink;
    case FUSE_RMDIR:
      return handle_rmdir;
    case FUSE_RENAME:
      return handle_rename;
    case FUSE_RENAME2:
      return handle_rename2;
    case FUSE_LINK:
      return handle_link;
    case FUSE_OPEN:
      return handle_open;
    case FUSE_CREATE:
      return handle_create;
    case FUSE_TMPFILE:
      return handle_tmpfile;
    case FUSE_READ:
      return handle_read;
    case FUSE_WRITE:
      return handle_write;
    case FUSE_STATFS:
      return handle_statfs;
    case FUSE_RELEASE:
      return handle_release;
    case FUSE_FSYNC:
      return handle_fsync;
    case FUSE_FLUSH:
      return handle_flush;
    case FUSE_GETXATTR:
      return handle_getxattr;
    case FUSE_LISTXATTR:
      return handle_listxattr;
    case FUSE_SETXATTR:
      return handle_setxattr;
    case FUSE_REMOVEXATTR:
      return handle_removexattr;
    case FUSE_OPENDIR:
      return handle_opendir;
    case FUSE_READDIR:
      return handle_readdir;
    case FUSE_READDIRPLUS:
      return handle_readdirplus;
    case FUSE_RELEASEDIR:
      return handle_releasedir;
    case FUSE_FSYNCDIR:
      return handle_fsyncdir;
    case FUSE_GETLK:
      return handle_getlk;
    case FUSE_SETLK:
      return handle_setlk;
    case FUSE_ACCESS:
      return handle_access;
    case FUSE_LSEEK:
      return handle_lseek;
    case FUSE_FALLOCATE:
      return handle_fallocate;
    case FUSE_COPY_FILE_RANGE:
      return handle_copy_file_range;
    default:
      return nullptr;  // ENOSYS: the kernel does without
  }
}

// What may set a lock free.
bool may_free_a_lock(std::uint32_t opcode) {
  return opcode == FUSE_SETLK || opcode == FUSE_SETLKW || opcode == FUSE_FLUSH || opcode == FUSE_RELEASE;
}

}  // namespace

bool Dispatcher::handle(std::span<const std::byte> bytes, std::span<std::byte> space, ReplyChannel& channel) {
  auto request = parse_request(bytes);
  if (!request) return false;
  const fuse_in_header& header = request->header;
  switch (header.opcode) {
    case FUSE_FORGET:
    case FUSE_BATCH_FORGET:
      return true;  // node ids are file ids: there is nothing to forget
    case FUSE_INTERRUPT:
      if (const auto in = request->arguments.take<fuse_interrupt_in>()) {
        in_flight_.interrupt(in->unique);
        lock_waits_.interrupt(in->unique);
      }
      return true;
    case FUSE_DESTROY:
      channel.reply(header.unique, 0, {});
      return true;
    default:
      // A request that reaches into the space for its reply has none.
      answer(*request, bytes.size() <= kRequestHeadBytes ? space : std::span<std::byte>{}, channel);
      return true;
  }
}

void Dispatcher::answer(Request& request, std::span<std::byte> space, ReplyChannel& channel) {
  const fuse_in_header header = request.header;
  Call call({.uid = header.uid, .gid = header.gid, .pid = header.pid});
  Exchange exchange(fs_, negotiated_, call, request, space);
  in_flight_.begin(header.unique, call);
  if (header.opcode == FUSE_SETLKW) {
    wait_for_lock(exchange, channel);
  } else if (const Handler handler = handler_of(header.opcode)) {
    const Answer answer = handler(exchange);
    channel.reply(header.unique, answer.error, answer.error == 0 ? answer.body : std::span<const std::byte>{});
  } else {
    channel.reply(header.unique, ENOSYS, {});
  }
  if (call.holds() && header.opcode != FUSE_SETLKW) channel.deliver();
  in_flight_.end(header.unique);
  if (may_free_a_lock(header.opcode)) lock_waits_.retry_now(exchange.id());
}

void Dispatcher::wait_for_lock(Exchange& x, ReplyChannel& channel) {
  const std::uint64_t unique = x.header.unique;
  const auto wish = parse_lock(x);
  if (!wish) return channel.reply(unique, EINVAL, {});
  if (wish->unlock) return channel.reply(unique, x.done(x.fs.unlock(x.call, wish->lock)).error, {});
  const auto granted = x.fs.set_lock(x.call, wish->lock, true);
  if (!granted) return channel.reply(unique, errno_of(granted.error()), {});
  if (*granted) return channel.reply(unique, 0, {});
  if (!channel.may_reply_later()) return channel.reply(unique, ENOLCK, {});
  if (!lock_waits_.add(unique, x.call.caller(), wish->lock, channel)) return channel.reply(unique, ENOLCK, {});
  // An INTERRUPT between the first question and the queue has found only the call.
  if (x.call.interrupted()) lock_waits_.interrupt(unique);
}

}  // namespace stoa::native::fuse
