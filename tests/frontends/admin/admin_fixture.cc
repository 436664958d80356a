#include "tests/frontends/admin/admin_fixture.h"

namespace stoa::admin {

AdminTest::AdminTest(const ThrottleLimits& limits) {
  EXPECT_TRUE(core::Volume::format(kv_, "test"));
  auto volume = core::Volume::open(kv_, blobs_, metrics_, {.background = false});
  EXPECT_TRUE(volume) << describe(volume.error());
  volume_ = *std::move(volume);
  check_ = std::make_unique<CheckJob>(*volume_);
  watch_ = std::make_unique<WatchHub>(*volume_);
  service_.reset(
      new Service{.volume = *volume_,
                  .metrics = metrics_,
                  .check = *check_,
                  .version = "1.2.3",
                  .token = "secret",
                  .data_folder = "/data",
                  .engine = "memory",
                  .started = wall_now(),
                  .protocols = [] { return std::vector<ProtocolStatus>{{"nfs", true, "127.0.0.1:1"}}; },
                  .data_directories = [this] { return blobs_.health(); },
                  .space = [this] { return blobs_.space(); },
                  .clients = [this] { return clients_; },
                  .evict_client = [this](std::uint64_t id) -> Status {
                    if (evict_fails_) return fail(Errc::kIo, "the disk is gone");
                    if (std::erase_if(clients_, [&](const auto& one) { return one.id == id; }) != 0) return {};
                    return fail(Errc::kNotFound);
                  },
                  .record_action = [this](const Request& request,
                                          const AdminAction& action) { note_action(*volume_, request, action); },
                  .throttle = Throttle(limits),
                  .watch = watch_.get()});
}

Answer AdminTest::send(Request request) {
  const Reply reply = dispatch(*service_, std::move(request));
  return {.status = reply.status, .json = Json::parse(reply.body, nullptr, false), .text = reply.body};
}

Answer AdminTest::call(Method method, const std::string& target, const std::string& body) {
  return call_as("secret", method, target, body);
}

Answer AdminTest::call_as(const std::string& secret, Method method, const std::string& target,
                          const std::string& body) {
  Request request{.method = method, .path = target.substr(0, target.find('?')), .body = body};
  request.authorization = "Bearer " + secret;
  request.local = true;
  request.client = "127.0.0.1";
  for (std::size_t at = target.find('?'); at != std::string::npos; at = target.find('&', at + 1)) {
    const std::string pair = target.substr(at + 1, target.find('&', at + 1) - at - 1);
    const std::size_t equals = pair.find('=');
    request.query[pair.substr(0, equals)] = equals == std::string::npos ? "" : percent_decode(pair.substr(equals + 1));
  }
  return send(std::move(request));
}

core::FileId AdminTest::make_directory(const std::string& name) {
  const auto made = volume_->ns().mkdir({}, {.parent = core::kRootId, .name = name});
  EXPECT_TRUE(made) << describe(made.error());
  return made->attr.id;
}

void AdminTest::make_file(core::FileId parent, std::string_view name, std::size_t bytes) {
  const auto made = volume_->ns().create({}, {.parent = parent, .name = name});
  ASSERT_TRUE(made) << describe(made.error());
  const std::vector<std::byte> content(bytes, std::byte{7});
  const std::span<const std::byte> one(content);
  ASSERT_TRUE(volume_->ns().write({}, {.id = made->attr.id, .offset = 0, .data = {&one, 1}}));
}

}  // namespace stoa::admin
