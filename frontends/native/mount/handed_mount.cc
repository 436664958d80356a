#include "frontends/native/mount/handed_mount.h"

#include <concepts>
#include <type_traits>

namespace stoa::native::mount {
namespace {

// One walk over the members, for both directions: `Pass` is Put or Take.
class Put {
 public:
  static constexpr bool kTakes = false;
  template <std::integral T>
  void number(const T& value) {
    const std::size_t at = bytes_.size();
    bytes_.resize(at + sizeof(T));
    store(bytes_.data() + at, static_cast<std::make_unsigned_t<T>>(value));
  }
  void raw(const std::string& text) {
    number(static_cast<U32>(text.size()));
    const auto bytes = std::as_bytes(std::span(text));
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  void raw(const Bytes& bytes) {
    number(static_cast<U32>(bytes.size()));
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  template <class List>
  std::size_t count(const List& list) {
    number(static_cast<U32>(list.size()));
    return list.size();
  }
  Bytes take() { return std::move(bytes_); }

 private:
  Bytes bytes_;
};

class Take {
 public:
  static constexpr bool kTakes = true;
  explicit Take(std::span<const std::byte> bytes) : rest_(bytes) {}
  template <std::integral T>
  void number(T& value) {
    if (const std::byte* const at = next(sizeof(T))) value = static_cast<T>(load<std::make_unsigned_t<T>>(at));
  }
  template <class Text>
  void raw(Text& text) {
    U32 length = 0;
    number(length);
    const std::byte* const at = next(length);
    if (at == nullptr) return;
    const auto* const first = reinterpret_cast<const typename Text::value_type*>(at);
    text.assign(first, first + length);
  }
  // Each element has at least one byte, so no count makes more than there are bytes.
  template <class List>
  std::size_t count(List& list) {
    U32 count = 0;
    number(count);
    if (count > rest_.size()) sound_ = false;
    list.resize(sound_ ? count : 0);
    return list.size();
  }
  bool whole() const { return sound_ && rest_.empty(); }

 private:
  const std::byte* next(std::size_t length) {
    if (!sound_ || length > rest_.size()) {
      sound_ = false;
      return nullptr;
    }
    const std::byte* const at = rest_.data();
    rest_ = rest_.subspan(length);
    return at;
  }
  std::span<const std::byte> rest_;
  bool sound_ = true;
};

template <class Pass, class T>
void pass_one(Pass& pass, T& value) {
  using Plain = std::remove_const_t<T>;
  if constexpr (std::is_same_v<Plain, bool>) {
    std::uint8_t byte = value ? 1 : 0;
    pass.number(byte);
    if constexpr (Pass::kTakes) value = byte != 0;
  } else if constexpr (std::is_enum_v<Plain>) {
    auto number = static_cast<std::underlying_type_t<Plain>>(value);
    pass.number(number);
    if constexpr (Pass::kTakes) value = static_cast<Plain>(number);
  } else if constexpr (std::is_integral_v<Plain>) {
    pass.number(value);
  } else {
    pass.raw(value);
  }
}

template <class Pass, class... T>
void pass_all(Pass& pass, T&... values) {
  (pass_one(pass, values), ...);
}

template <class Pass, class List, class Each>
void pass_list(Pass& pass, List& list, const Each& each) {
  const std::size_t count = pass.count(list);
  for (std::size_t i = 0; i < count; ++i) each(list[i]);
}

template <class Pass, class Numbers>
void pass_numbers(Pass& pass, Numbers& numbers) {
  pass_list(pass, numbers, [&](auto& one) { pass_one(pass, one); });
}

template <class Pass, class Credentials>
void pass_credentials(Pass& pass, Credentials& cred) {
  pass_all(pass, cred.uid, cred.gid);
  pass_numbers(pass, cred.groups);
}

template <class Pass, class Session>
void pass_session(Pass& pass, Session& session) {
  pass_all(pass, session.client_id, session.session, session.recovered, session.last_number, session.root,
           session.volume, session.message_bytes_max, session.recovery_sequence);
  pass_numbers(pass, session.sequences);
  pass_list(pass, session.held.opens,
            [&](auto& open) { pass_all(pass, open.number, open.file, open.access, open.deny, open.call); });
  pass_list(pass, session.held.locks, [&](auto& lock) {
    pass_all(pass, lock.file, lock.owner, lock.offset, lock.end, lock.exclusive, lock.call);
  });
  pass_numbers(pass, session.held.lost);
  pass_numbers(pass, session.losses);
}

template <class Pass, class Device>
void pass_device(Pass& pass, Device& device) {
  pass_all(pass, device.negotiated.minor, device.negotiated.write_bytes_max, device.negotiated.direct_io);
  pass_list(pass, device.waits, [&](auto& wait) {
    auto& lock = wait.lock;
    pass_all(pass, wait.unique, wait.caller.uid, wait.caller.gid, wait.caller.pid, wait.descriptor);
    pass_all(pass, lock.file.id, lock.file.handle, lock.owner, lock.range.offset, lock.range.length, lock.exclusive,
             lock.flock, lock.pid);
  });
  pass_all(pass, device.over_rings);
  pass_list(pass, device.rings.memories, [&](auto& memory) { pass_all(pass, memory.address, memory.slots); });
  pass_list(pass, device.rings.entries,
            [&](auto& entry) { pass_all(pass, entry.queue, entry.memory, entry.slot, entry.fills); });
}

template <class Pass, class Mount>
void pass_mount(Pass& pass, Mount& mount) {
  pass_session(pass, mount.session);
  pass_list(pass, mount.buffers.opens, [&](auto& open) {
    pass_all(pass, open.number, open.file, open.access, open.size, open.untold);
    pass_credentials(pass, open.cred);
  });
  pass_list(pass, mount.buffers.faults, [&](auto& fault) { pass_all(pass, fault.file, fault.cause, fault.told); });
  pass_list(pass, mount.local_opens, [&](auto& open) {
    pass_all(pass, open.number, open.file, open.access);
    pass_credentials(pass, open.cred);
  });
  pass_all(pass, mount.files.last_handle);
  pass_list(pass, mount.files.opens, [&](auto& open) {
    pass_all(pass, open.handle, open.file, open.open, open.directory);
    pass_credentials(pass, open.cred);
  });
  pass_list(pass, mount.files.locks, [&](auto& lock) { pass_all(pass, lock.file, lock.owner, lock.handle, lock.pid); });
  pass_device(pass, mount.device);
}

template <class Pass, class Options>
void pass_options(Pass& pass, Options& options) {
  pass_all(pass, options.url, options.key_file, options.directory, options.tls, options.ca_file, options.kerberos,
           options.read_only, options.no_programs, options.log_file);
  auto seconds = options.soft.count();
  pass_all(pass, seconds);
  if constexpr (Pass::kTakes) options.soft = std::chrono::seconds(seconds);
}

}  // namespace

Bytes encode_mount(const HandedMount& mount) {
  Put put;
  pass_mount(put, mount);
  return put.take();
}

Result<HandedMount> decode_mount(std::span<const std::byte> bytes) {
  Take take(bytes);
  HandedMount mount;
  pass_mount(take, mount);
  if (!take.whole() || bytes.size() > kHandedBytesMost)
    return fail(Errc::kCorrupt, "what the old process has handed over cannot be read");
  return mount;
}

Bytes encode_options(const MountOptions& options) {
  Put put;
  pass_options(put, options);
  return put.take();
}

Result<MountOptions> decode_options(std::span<const std::byte> bytes) {
  Take take(bytes);
  MountOptions options;
  pass_options(take, options);
  if (!take.whole()) return fail(Errc::kCorrupt, "the options of the old process cannot be read");
  return options;
}

}  // namespace stoa::native::mount
