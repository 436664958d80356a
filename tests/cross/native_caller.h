// A client of the native protocol for the tables: one call an operation, on files and names.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "frontends/native/client/client.h"
#include "tests/clients/server_process.h"

namespace stoa::cross {

struct NativeReply {
  native::WireStatus status = native::WireStatus::ok;
  std::string why{};          // not empty: the message as a whole failed
  native::File file{};        // looked up, opened or made
  native::Attributes attr{};  // of that file
  std::string data{};         // of reads
  bool end = false;           // behind it the file ends

  bool ok() const { return why.empty() && status == native::WireStatus::ok; }
  std::string text() const { return why.empty() ? std::string(native::to_string(status)) : why; }
};

// Thread-safe, as the client library. A call waits for whatever the server waits for.
class NativeCaller {
 public:
  // With the host's key of tests/serve, for one user. Null, and a failed expectation: the log-in failed.
  static std::unique_ptr<NativeCaller> connect(const clients::ServerProcess& server, std::uint32_t uid);

  native::File top() const { return native::File{client_->facts().root}; }
  std::uint64_t new_open() { return client_->new_open(); }

  template <class Operation>
  NativeReply run(const typename Operation::Arguments& arguments) {
    native::Batch batch;
    batch.add<Operation>(arguments);
    return call(batch);
  }
  // The reply is that of the last operation that was run.
  NativeReply call(const native::Batch& batch) { return last_of(batch, send(batch)); }

  NativeReply walk(const std::string& path);  // from the top
  NativeReply lookup(native::File parent, std::string_view name) {
    return run<native::operations::lookup>({.parent = parent, .name = name});
  }
  NativeReply getattr(native::File file) { return run<native::operations::getattr>({file}); }
  NativeReply set(native::File file, const native::Settings& settings) {
    return run<native::operations::setattr>({.file = file, .set = settings});
  }
  NativeReply resize(native::File file, std::uint64_t size) {
    return set(file, {.which = native::kSetSize, .size = size});
  }
  NativeReply mkdir(native::File parent, std::string_view name) {
    return run<native::operations::mkdir>(
        {.parent = parent, .set = {.which = native::kSetMode, .mode = 0755}, .name = name});
  }
  NativeReply unlink(native::File parent, std::string_view name) {
    return run<native::operations::unlink>({.parent = parent, .name = name});
  }
  NativeReply rename(native::File from, std::string_view name, native::File to, std::string_view to_name) {
    return run<native::operations::rename>(
        {.from_parent = from, .to_parent = to, .from_name = name, .to_name = to_name});
  }
  // Opens, truncates, writes, commits and closes; the file is made when it is missing, with mode 0644. A short content
  // takes one message.
  NativeReply put(native::File parent, std::string_view name, std::string_view content);
  // Opens, reads to the end and closes.
  NativeReply read_all(native::File file);
  // Through no open.
  NativeReply read(native::File file, std::uint64_t offset, std::uint32_t length) {
    return run<native::operations::read>({.file = file, .offset = offset, .length = length});
  }
  NativeReply write(native::File file, std::uint64_t offset, std::string_view content, bool stable = true);
  // Sorted, without "." and "..".
  std::vector<std::string> list(native::File dir);
  std::uint64_t bytes_available(native::File dir);

  static std::span<const std::byte> bytes(std::string_view text) {
    return std::as_bytes(std::span(text.data(), text.size()));
  }

 private:
  NativeCaller(std::unique_ptr<native::Client> client, std::uint32_t uid) : client_(std::move(client)), uid_(uid) {}
  Result<native::Replies> send(const native::Batch& batch);
  static NativeReply last_of(const native::Batch& batch, const Result<native::Replies>& replies);

  std::unique_ptr<native::Client> client_;
  const std::uint32_t uid_;
};

}  // namespace stoa::cross
