// Any request of any caller, against a volume in memory: a byte for method and token (method + 5 * token),
// then "path\nname=value&...\nbody"; a header of the client's own comes on a line before.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "backends/blob/memory/memory_blobs.h"
#include "backends/kv/memory/memory_kv.h"
#include "base/assert.h"
#include "base/log.h"
#include "frontends/admin/authentication.h"
#include "frontends/admin/router.h"

namespace {

using namespace stoa;

struct World {
  kv::MemoryKv kv;
  blob::MemoryBlobs blobs;
  MetricRegistry metrics;
  std::unique_ptr<core::Volume> volume;
  std::unique_ptr<admin::CheckJob> check;
  std::unique_ptr<admin::Service> service;

  World() {
    set_log_level(LogLevel::kError);
    STOA_ASSERT(core::Volume::format(kv, "fuzz").has_value());
    auto opened = core::Volume::open(kv, blobs, metrics, {.background = false});
    STOA_ASSERT(opened.has_value());
    volume = *std::move(opened);
    check = std::make_unique<admin::CheckJob>(*volume);
    service.reset(new admin::Service{
        .volume = *volume,
        .metrics = metrics,
        .check = *check,
        .version = "0",
        .token = "t",
        .data_folder = "/",
        .engine = "memory",
        .started = {},
        .protocols = [] { return std::vector<admin::ProtocolStatus>{}; },
        .data_directories = [] { return std::vector<core::BlobStore::DirectoryHealth>{}; },
        .space = [] { return core::BlobStore::Space{}; },
        .clients = [] { return std::vector<admin::ClientStatus>{{.id = 7, .name = "\xff"}}; },
        .evict_client = [](std::uint64_t id) { return id == 7 ? Status{} : fail(Errc::kNotFound); }});
    const auto home = volume->ns().mkdir({}, {.parent = core::kRootId, .name = "home"});
    STOA_ASSERT(home.has_value());
    for (const core::Role role :
         {core::Role::kOwner, core::Role::kAuditor, core::Role::kOperator, core::Role::kAdmin}) {
      core::Token token{.name = std::string(admin::to_string(role)), .role = role};
      if (role == core::Role::kOwner) token.directory = home->attr.id;
      token.hash = admin::hash_of(token.name);
      STOA_ASSERT(volume->registry().add_token(token).has_value());
    }
  }
};

std::string_view take_line(std::string_view& rest) {
  const std::string_view line = rest.substr(0, rest.find('\n'));
  rest.remove_prefix(std::min(rest.size(), line.size() + 1));
  return line;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static World world;
  if (size == 0) return 0;
  std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  admin::Request request{.method = static_cast<admin::Method>(data[0] % 5)};
  const unsigned who = data[0] / 5 % 7;
  constexpr const char* kTokens[] = {"t", "owner", "auditor", "operator", "admin"};
  if (who < 5) {
    request.authorization = std::string("Bearer ") + kTokens[who];
    request.local = true;
  } else {
    if (who == 5) request.authorization = take_line(rest);
    request.client = "192.0.2.1";
  }
  request.path = take_line(rest);
  for (std::string_view query = take_line(rest); !query.empty();) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), pair.size() + 1));
    const std::size_t equals = std::min(pair.find('='), pair.size());
    request.query[admin::percent_decode(pair.substr(0, equals))] =
        admin::percent_decode(pair.substr(std::min(pair.size(), equals + 1)));
  }
  request.body = rest;
  const bool open = request.path == "/healthz";
  const bool changes = request.method != admin::Method::kGet;
  const admin::Reply reply = admin::dispatch(*world.service, std::move(request));
  STOA_ASSERT(reply.status >= 200);
  STOA_ASSERT(reply.status < 600);
  if (who == 6 && !open) STOA_ASSERT(reply.status >= 400);
  if (who == 2 && changes) STOA_ASSERT(reply.status >= 400);
  return 0;
}
