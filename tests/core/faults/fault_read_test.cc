// Every operation that only reads, failed at each point in turn until it passes untouched.
#include "tests/core/faults/fault_world.h"

namespace stoa::core::test {
namespace {

// Of an operation that only reads: what it answers.
struct Look {
  const char* name;
  Status (*look)(FaultWorld& world, std::string& answer);
};

void PrintTo(const Look& look, std::ostream* out) {
  *out << look.name;
}

std::string text_of(const Attributes& attr) {
  return std::to_string(static_cast<std::uint64_t>(attr.id)) + " mode " + std::to_string(attr.mode) + " size " +
         std::to_string(attr.size) + " links " + std::to_string(attr.links) + "\n";
}

const Look kLooks[] = {
    {"lookup",
     [](FaultWorld& w, std::string& answer) -> Status {
       STOA_TRY(found, w.ns().lookup({}, {.parent = w.id("/dir"), .name = "BIG", .ignore_case = true}));
       answer = text_of(found.attr) + found.name;
       return {};
     }},
    {"getattr",
     [](FaultWorld& w, std::string& answer) -> Status {
       STOA_TRY(found, w.ns().getattr({}, {w.id("/dir/Sub/deep")}));
       answer = text_of(found.attr);
       return {};
     }},
    {"get_acl",
     [](FaultWorld& w, std::string& answer) -> Status {
       STOA_TRY(found, w.ns().get_acl({}, {w.id("/dir/Big")}));
       answer = std::to_string(found.acl->entries.size());
       return {};
     }},
    {"access",
     [](FaultWorld& w, std::string& answer) -> Status {
       STOA_TRY(found, w.ns().access({}, {w.id("/dir/Big"), kAccessRead | kAccessModify}));
       answer = std::to_string(found.granted);
       return {};
     }},
    {"readlink",
     [](FaultWorld& w, std::string& answer) -> Status {
       STOA_TRY(found, w.ns().readlink({}, {w.id("/dir/sym")}));
       answer = found.target;
       return {};
     }},
    {"statfs",
     [](FaultWorld& w, std::string& answer) -> Status {
       STOA_TRY(found, w.ns().statfs({}, {w.id("/dir/Sub")}));
       answer = std::to_string(found.bytes_available) + " " + std::to_string(found.files_available);
       return {};
     }},
    {"readdir",
     [](FaultWorld& w, std::string& answer) -> Status {
       STOA_TRY(found, w.ns().readdir({}, {.dir = w.id("/dir"), .want_attributes = true}));
       for (const DirectoryEntry& entry : found.entries)
         answer += entry.name + " " + (entry.attr ? text_of(*entry.attr) : "unknown\n");
       return {};
     }},
    {"read",
     [](FaultWorld& w, std::string& answer) -> Status {
       for (const char* path : {"/dir/inline", "/dir/Big"}) {
         std::string content(200'000, '?');
         STOA_TRY(got, w.ns().read({}, {w.id(path), 0, std::as_writable_bytes(std::span(content))}));
         answer += content.substr(0, got.length);
       }
       return {};
     }},
    {"seek",
     [](FaultWorld& w, std::string& answer) -> Status {
       STOA_TRY(found, w.ns().seek({}, {w.id("/dir/Big"), 100, SeekWhat::kHole}));
       answer = std::to_string(found.offset);
       return {};
     }},
    {"xattrs",
     [](FaultWorld& w, std::string& answer) -> Status {
       STOA_TRY(names, w.ns().list_xattrs({}, {w.id("/dir/Big")}));
       for (const std::string& name : names.names) {
         STOA_TRY(found, w.ns().get_xattr({}, {.id = w.id("/dir/Big"), .name = name}));
         answer += name + "=" + found.value;
       }
       return {};
     }},
    {"lookup_key",
     [](FaultWorld& w, std::string& answer) -> Status {
       STOA_TRY(found, w.ns().lookup_key({}, {.root = w.id("/other"), .key = "Keys/a/b"}));
       answer = text_of(found.attr) + (found.meta ? found.meta->bytes : "");
       return {};
     }},
    {"list_keys",
     [](FaultWorld& w, std::string& answer) -> Status {
       STOA_TRY(found, w.ns().list_keys({}, {.root = kRootId, .want_meta = true}));
       for (const ListedKey& key : found.keys) answer += key.key + " " + text_of(key.attr);
       return {};
     }},
    {"usage",
     [](FaultWorld& w, std::string& answer) -> Status {
       STOA_TRY(found, w.ns().usage({}, {w.id("/dir")}));
       answer = std::to_string(static_cast<std::int64_t>(found.usage.bytes));
       return {};
     }},
    {"list_quotas",
     [](FaultWorld& w, std::string& answer) -> Status {
       STOA_TRY(found, w.ns().list_quotas({}, {}));
       for (const QuotaRecord& quota : found.quotas) answer += quota.path + "\n";
       return {};
     }},
    {"paths",
     [](FaultWorld& w, std::string& answer) -> Status {
       STOA_TRY(found, w.ns().resolve_path({}, {"/dir/Sub/deep"}));
       STOA_TRY(path, w.ns().path_of({}, {found.attr.id}));
       STOA_TRY(above, w.ns().ancestors({}, {.id = found.attr.id}));
       answer = path.path + " " + std::to_string(above.directories.size());
       return {};
     }},
    {"recycled",
     [](FaultWorld& w, std::string& answer) -> Status {
       STOA_TRY(found, w.ns().list_recycled({}, {.dir = w.id("/bin")}));
       STOA_TRY(status, w.ns().recycle_status({}, {w.id("/bin")}));
       answer = found.items.at(0).path + (status.policy ? " kept" : "");
       return {};
     }},
};

class FaultyLookTest : public ::testing::TestWithParam<Look> {};

// A read that fails says so, and leaves nothing behind that a later one would take for the truth.
TEST_P(FaultyLookTest, AnswersRightOrFails) {
  const Look& look = GetParam();
  FaultWorld world;
  std::string expected;
  ASSERT_TRUE(look.look(world, expected));
  for (std::uint64_t point = 1;; ++point) {
    world.reopen();  // nothing is known in memory
    world.faults().arm(point, FaultPlan::Fault::kError);
    std::string answer;
    const Status done = look.look(world, answer);
    const std::string fired = world.faults().fired();
    world.faults().disarm();
    SCOPED_TRACE("point " + std::to_string(point) + ", " + fired);
    if (done) {
      ASSERT_EQ(answer, expected);
    }
    if (fired.empty()) {
      EXPECT_GT(point, 1u) << "no point was reached";
      break;
    }
    answer.clear();
    const Status again = look.look(world, answer);
    ASSERT_TRUE(again) << describe(again.error());
    ASSERT_EQ(answer, expected);
  }
  world.expect_consistent();
}

INSTANTIATE_TEST_SUITE_P(Operations, FaultyLookTest, ::testing::ValuesIn(kLooks),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace stoa::core::test
