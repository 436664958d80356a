// The client of the native protocol: a session with one export, its channels, and the calls over it.
//
// Blocking calls on values; thread-safe, with as many calls in flight as the session has slots. A connection that
// breaks is made again, and what was not answered is sent again and runs once, also when the server was killed and
// started anew. Then what the session holds is asked back: opens and locks (see lost()), and writes that were not
// committed are sent again.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/deadline.h"
#include "base/error.h"
#include "frontends/native/client/batch.h"
#include "frontends/native/client/lease_events.h"
#include "frontends/native/client/replies.h"
#include "frontends/native/client/session_state.h"
#include "frontends/native/client/tls_wish.h"

namespace stoa::native {

inline constexpr std::uint16_t kDefaultPort = 2052;

struct ClientOptions {
  // stoa://[user@]host[:port][,host[:port]...]/export[/path]; stoas:// is the same with TLS. The hosts are tried in
  // turn, at each connection.
  std::string url;
  std::string key_file{};      // of mode 0600: one line, "user KEY SECRET" or "host KEY SECRET"
  std::uint32_t channels = 1;  // connections; 1 to 16
  // Zero: a call waits for the server for ever. Else it fails with kTimeout when the server has not answered for so
  // long; what it asked for may be done or not.
  std::chrono::milliseconds soft{0};
  TlsWish tls = TlsWish::kOffered;  // stoas:// in the URL and `ca_file` mean kRequired
  std::string ca_file{};            // PEM; empty: the authorities that the system trusts
  // Logs in by Kerberos, with the tickets that the environment names (KRB5CCNAME, KRB5_CLIENT_KTNAME) at each
  // connection, and acts as the user of their principal. `key_file` is not used.
  bool kerberos = false;
  LeaseEvents* leases = nullptr;  // null: the program asks for none. Outlives the client
  // Not null: the session of another process goes on here (Client::hand_over), of the same export and key.
  std::shared_ptr<const SessionState> resumes{};
};

// For whom a call asks. Only with a host's key; with a user's key or by Kerberos it is that user, and this is left out.
struct Identity {
  std::uint32_t uid = 65534;
  std::uint32_t gid = 65534;
  std::vector<std::uint32_t> groups{};
  bool operator==(const Identity&) const = default;
};

struct CallOptions {
  std::optional<Identity> as{};
  // The call fails with kTimeout when it is not answered by then, as with ClientOptions::soft; the server is told.
  Deadline deadline{};
  // Asked ten times a second while the call waits, for the server or to ask again; true ends it with kTimeout.
  std::function<bool()> interrupted{};
  // The server's *recall pending*, *in grace* and *locked* are in the reply, and not asked again.
  bool asks_once = false;
};

// Facts of the session, as of the last log-in.
struct SessionFacts {
  std::uint64_t root = 0;  // the file id of the directory that the URL names
  std::uint64_t volume = 0;
  std::uint64_t boot_verifier = 0;
  std::uint32_t slots = 0;
  std::uint32_t message_bytes_max = 0;
  bool read_only = false;
};

struct ClientCounts {
  std::uint64_t calls = 0, resent = 0, reconnects = 0, sessions = 0, reclaimed = 0, lost = 0, rewritten = 0;
};

class SessionClient;

class Client {
 public:
  // Connects, logs in and finds the path of the URL. Errors, each with one sentence for people in its detail: kInvalid
  // (the URL, the key file), kAccess (wrong key, no ticket, no rule for this host, a certificate that is not trusted),
  // kNotFound (no such export or path), kNotSupported (no common version, no TLS where it is required), kIo (no
  // server), kTimeout.
  static Result<std::unique_ptr<Client>> connect(const ClientOptions& options);
  // Ends the session and all that it holds. Calls under way fail with kShutdown.
  ~Client();
  Client(const Client&) = delete;

  // Runs a batch. What an operation says is in the reply, errors too; this fails with kTimeout (soft, deadline,
  // interrupted; opens and locks that it turns out to have made are given up when its reply comes), kShutdown,
  // kTooLarge (more than one message takes), and with errors of the message as a whole.
  //
  // Where the server says *recall pending* or *in grace*, and *locked* to a lock that waits, the rest of the batch is
  // asked again until it is not so, unless `asks_once` is set.
  Result<Replies> call(const Batch& batch, const CallOptions& options = {});

  // As call(), without waiting for the reply: `done` is called once, from a thread of the client or from this call, and
  // must not block. Nor does this call: without a free slot the message leaves later.
  void submit(const Batch& batch, const CallOptions& options, std::function<void(Result<Replies>)> done);

  // A number for a lease (LeaseArgs::lease), never given twice, never 0.
  std::uint64_t new_lease();
  // How long leases are to be believed, by CLOCK_BOOTTIME in ns: 20 s from when the last request that was answered was
  // sent. The client keeps it in the future while the server answers. From then on nothing that is cached is to be
  // answered; calls wait for the server. 0: nothing is.
  std::int64_t trusted_until_ns() const;

  // A number for an open: it goes into OpenArgs::open, and names the open in later operations, of the same batch, too.
  // Never given twice, and never 0, which names none.
  std::uint64_t new_open();
  // Whether an open or a lock of the file was lost: the server ended the session, or it could not be asked back. Calls
  // through a lost open fail with kStale.
  bool lost(std::uint64_t open) const;

  // Commits the writes that are kept, waits until no message is under way, and tells the session: another process may
  // go on with it. Calls wait from then on, for take_back(), and nothing is sent any more. kTimeout: nothing has
  // changed.
  Result<SessionState> hand_over(const Deadline& deadline);
  // The other process did not go on with it.
  void take_back();
  // It did: the session does not end with the client. Between hand_over() and the destructor.
  void leave_session();
  // A session of another process (ClientOptions::resumes) is that one's until then: it does not end with this client.
  void take_session();

  SessionFacts facts() const;
  ClientCounts counts() const;
  // Breaks all connections, as a network may. For tests.
  void break_connections();

 private:
  explicit Client(std::unique_ptr<SessionClient> session);
  std::unique_ptr<SessionClient> session_;
};

}  // namespace stoa::native
