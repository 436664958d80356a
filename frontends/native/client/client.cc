#include "frontends/native/client/client.h"

#include "frontends/native/client/session_client.h"

namespace stoa::native {

Result<std::unique_ptr<Client>> Client::connect(const ClientOptions& options) {
  STOA_TRY(session, SessionClient::connect(options));
  return std::unique_ptr<Client>(new Client(std::move(session)));
}

Client::Client(std::unique_ptr<SessionClient> session) : session_(std::move(session)) {}
Client::~Client() = default;

Result<Replies> Client::call(const Batch& batch, const CallOptions& options) {
  return session_->call(batch, options);
}
std::uint64_t Client::new_open() {
  return session_->new_number();
}
void Client::submit(const Batch& batch, const CallOptions& options, std::function<void(Result<Replies>)> done) {
  session_->submit(batch, options, std::move(done));
}
std::uint64_t Client::new_lease() {
  return session_->new_number();
}
std::int64_t Client::trusted_until_ns() const {
  return session_->trusted_until_ns();
}
bool Client::lost(std::uint64_t open) const {
  return session_->lost(open);
}
Result<SessionState> Client::hand_over(const Deadline& deadline) {
  return session_->hand_over(deadline);
}
void Client::take_back() {
  session_->take_back();
}
void Client::leave_session() {
  session_->leave_session();
}
void Client::take_session() {
  session_->take_session();
}
SessionFacts Client::facts() const {
  return session_->facts();
}
ClientCounts Client::counts() const {
  return session_->counts();
}
void Client::break_connections() {
  session_->break_connections();
}

}  // namespace stoa::native
