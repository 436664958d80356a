// Objects cached by a client of another protocol: S3 has no "retry later" for that, so its requests wait for the
// recall.
#include <thread>

#include "tests/core/state/holder_callbacks.h"
#include "tests/frontends/s3/protocol_fixture.h"

namespace stoa::s3::test {
namespace {

template <class Engine>
class LeaseProtocolTest : public ProtocolTest<Engine> {};
TYPED_TEST_SUITE(LeaseProtocolTest, core::test::Engines);

TYPED_TEST(LeaseProtocolTest, WhatAnotherClientHasCachedIsWrittenBackFirst) {
  const std::vector<std::pair<std::string, std::function<bool()>>> requests = {
      {"GET", [&] { return this->client_->get("file").body == "cached"; }},
      {"HEAD", [&] { return this->client_->request("HEAD", "file", {}, "").headers.at("content-length") == "6"; }},
      {"list", [&] { return this->client_->list().reply.element("Size") == "6"; }},
      {"PUT", [&] { return this->client_->put("file", "new").ok() && this->client_->get("file").body == "new"; }},
  };
  for (const auto& [name, request] : requests) {
    SCOPED_TRACE(name);
    const std::string key = "file";
    ASSERT_TRUE(this->client_->request("DELETE", key, {}, "").ok());
    ASSERT_TRUE(this->client_->put(key, "").ok());
    const FileId file = this->ns().lookup_key({}, {this->root_, key})->attr.id;
    core::StateTable& state = this->volume_->state();
    std::thread answer;
    core::OpContext holder;
    holder.holder = state.add_holder(core::Protocol::kNfs, core::test::on_recall([&](const core::LeaseRecall& recall) {
                                       answer = std::thread([&, lease = recall.lease, id = recall.file] {
                                         const std::string_view text = "cached";
                                         const std::span<const std::byte> pieces[] = {std::as_bytes(std::span(text))};
                                         EXPECT_TRUE(this->ns().write(holder, {id, 0, pieces}));
                                         state.return_lease(lease);
                                       });
                                     }));
    ASSERT_TRUE(state.grant_lease(file, {holder.holder}, {core::kReadCaching | core::kWriteCaching}));
    EXPECT_TRUE(request());
    ASSERT_TRUE(answer.joinable());
    answer.join();
    state.remove_holder(holder.holder);
  }
}

}  // namespace
}  // namespace stoa::s3::test
