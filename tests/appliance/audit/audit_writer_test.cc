// The audit log: its content, and the detection of tampering.
#include "appliance/audit/audit_writer.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <ctime>
#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

#include "core/audit/denial_limit.h"
#include "core/kv/keys.h"
#include "tests/core/volume_fixture.h"

namespace stoa::appliance {
namespace {

using core::FileId;
using core::kRootId;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Json = nlohmann::json;

constexpr core::AuditClasses kChanges = 15;  // write, delete, rename, attributes

class AuditWriterTest : public core::test::VolumeTest<core::test::MemoryEngine> {
 protected:
  AuditWriterTest() { start(); }
  ~AuditWriterTest() override { log_.reset(); }

  void start() {
    auto log = AuditWriter::open(
        {.folder = folder_ + "/audit", .keep_days = keep_days_, .syslog = syslog_, .now = [this] { return now(); }},
        {{volume_.get()}}, metrics_);
    ASSERT_TRUE(log) << describe(log.error());
    log_ = *std::move(log);
  }
  void restart() {
    log_.reset();
    start();
  }
  Timestamp now() const { return {now_.load()}; }
  void next_day() {
    now_ = begin_of_next_day(now()).ns;
    // Changing a policy brings the log up to date.
    audit(kRootId, volume_->registry().snapshot()->audit()->policies().front().classes);
  }
  std::string day() const { return day_of(now()); }
  std::string file() const { return folder_ + "/audit/" + day() + ".jsonl"; }
  void audit(FileId dir, core::AuditClasses classes) {
    const Status set = log_->set_policy({dir, classes});
    ASSERT_TRUE(set) << describe(set.error());
  }
  // "create /a/f" for each record, after all that happened is in the log.
  std::vector<std::string> recorded(const core::AuditQuery& query = {}) {
    const Status there = log_->catch_up();
    EXPECT_TRUE(there) << describe(there.error());
    const auto found = log_->query(query);
    EXPECT_TRUE(found) << describe(found.error());
    std::vector<std::string> all;
    for (const std::string& line : found ? found->lines : std::vector<std::string>{}) {
      const Json json = Json::parse(line);
      std::string text = json["operation"].get<std::string>() + " " + json.value("path", "");
      if (json.contains("to_path")) text += " " + json["to_path"].get<std::string>();
      if (json["result"] != "ok") text += " " + json.value("result", "");
      if (json.contains("count")) text += std::to_string(json["count"].get<int>());
      all.push_back(text);
    }
    return all;
  }
  std::string problem() {
    const auto verdict = log_->verify();
    EXPECT_TRUE(verdict) << describe(verdict.error());
    return verdict ? verdict->problem : "?";
  }
  std::vector<std::string> lines() {
    std::ifstream in(file());
    std::vector<std::string> all;
    for (std::string line; std::getline(in, line);) all.push_back(line);
    return all;
  }
  void write_lines(const std::vector<std::string>& all) {
    std::ofstream out(file());
    for (const std::string& line : all) out << line << "\n";
  }
  std::string end_of_log() {
    std::ifstream in(folder_ + "/audit.end");
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void set_end_of_log(const std::string& text) { std::ofstream(folder_ + "/audit.end") << text; }
  std::size_t cuts() { return log_->query({.operation = "cut"})->lines.size(); }

  std::atomic<std::int64_t> now_ = wall_now().ns;
  std::uint64_t keep_days_ = 90;
  std::string syslog_;
  std::unique_ptr<AuditWriter> log_;
};

TEST_F(AuditWriterTest, RecordsWhatThePolicyOfTheNearestDirectoryWants) {
  const FileId a = *mkdir(kRootId, "a");
  const FileId b = *mkdir(a, "b");
  const FileId other = *mkdir(kRootId, "other");
  EXPECT_THAT(recorded(), IsEmpty()) << "there is no policy";
  audit(a, kChanges);
  EXPECT_TRUE(volume_->registry().audited());
  audit(b, core::bit(core::AuditClass::kDelete));
  ASSERT_TRUE(create(a, "f"));
  ASSERT_TRUE(create(b, "g"));
  ASSERT_TRUE(create(other, "h"));
  ASSERT_TRUE(ns().unlink({}, {.parent = b, .name = "g"}));
  ASSERT_TRUE(ns().rename({}, {.from_parent = other, .from_name = "h", .to_parent = a, .to_name = "h"}));
  ASSERT_TRUE(ns().rename({}, {.from_parent = a, .from_name = "h", .to_parent = other, .to_name = "h"}));
  ASSERT_TRUE(ns().rename({}, {.from_parent = other, .from_name = "h", .to_parent = other, .to_name = "i"}));
  ASSERT_TRUE(ns().setattr({}, {.id = a, .set = {.mode = 0700}}));
  EXPECT_THAT(recorded(), ElementsAre("create /a/f", "remove /a/b/g", "rename /other/h /a/h", "rename /a/h /other/h",
                                      "attributes /a"));
  audit(a, 0);
  ASSERT_TRUE(create(a, "silent"));
  ASSERT_TRUE(log_->remove_policy(a));
  ASSERT_TRUE(log_->remove_policy(b));
  EXPECT_EQ(log_->remove_policy(b).error().code, Errc::kNotFound);
  EXPECT_FALSE(volume_->registry().audited());
  ASSERT_TRUE(create(a, "unseen"));
  audit(kRootId, kChanges);
  ASSERT_TRUE(create(a, "seen"));
  EXPECT_EQ(recorded().back(), "create /a/seen");
  EXPECT_EQ(recorded().size(), 6u);
  EXPECT_EQ(problem(), "");
}

TEST_F(AuditWriterTest, SaysWho) {
  ASSERT_TRUE(volume_->registry().add_user({.name = "ann", .uid = 1000, .gid = 100}));
  const FileId a = *mkdir(kRootId, "a");
  audit(a, kChanges);
  const core::OpContext ann{.protocol = core::Protocol::kNfs, .cred = {.uid = 1000, .gid = 100}, .client = "10.0.0.7"};
  ASSERT_TRUE(ns().create(ann, {.parent = a, .name = "q\"\n\xff"}));
  ASSERT_TRUE(log_->catch_up());
  const Json json = Json::parse(log_->query({})->lines.at(0));
  EXPECT_EQ(json["user"]["uid"], 1000);
  EXPECT_EQ(json["user"]["name"], "ann");
  EXPECT_EQ(json["protocol"], "nfs");
  EXPECT_EQ(json["client"], "10.0.0.7");
  EXPECT_EQ(json["result"], "ok");
  EXPECT_EQ(json["path"], "/a/q\"\n\xEF\xBF\xBD");
  EXPECT_EQ(json["path_base64"], "L2EvcSIK/w==");
  EXPECT_EQ(problem(), "");
  EXPECT_EQ(recorded({.user = "ann"}).size(), 1u);
  EXPECT_EQ(recorded({.user = "1000"}).size(), 1u);
  EXPECT_EQ(recorded({.user = "bob"}).size(), 0u);
}

TEST_F(AuditWriterTest, QueriesFilterAndGoOn) {
  const FileId a = *mkdir(kRootId, "a");
  const FileId b = *mkdir(kRootId, "ab");
  audit(kRootId, kChanges);
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(create(i % 2 == 0 ? a : b, "f" + std::to_string(i)));
  ASSERT_TRUE(ns().unlink({}, {.parent = a, .name = "f0"}));
  EXPECT_EQ(recorded({.path = "/a"}).size(), 6u);
  EXPECT_EQ(recorded({.path = "/a/f0"}).size(), 2u);
  EXPECT_EQ(recorded({.path = "/"}).size(), 11u);
  EXPECT_EQ(recorded({.operation = "remove"}).size(), 1u);
  EXPECT_EQ(recorded({.protocol = "s3"}).size(), 0u);
  EXPECT_EQ(recorded({.result = "denied"}).size(), 0u);
  EXPECT_EQ(recorded({.from = Timestamp{now().ns - 1}, .to = Timestamp{now().ns + 3600'000'000'000}}).size(), 11u);
  EXPECT_EQ(recorded({.from = Timestamp{now().ns + 3600'000'000'000}}).size(), 0u);
  core::AuditQuery query{.limit = 4};
  std::size_t total = 0;
  for (;;) {
    const auto page = log_->query(query);
    ASSERT_TRUE(page);
    EXPECT_LE(page->lines.size(), 4u);
    total += page->lines.size();
    if (!page->next) break;
    query.after = *page->next;
  }
  EXPECT_EQ(total, 11u);
}

TEST_F(AuditWriterTest, GoesOnAfterARestartWithNothingTwiceOrMissing) {
  audit(kRootId, kChanges);
  ASSERT_TRUE(create(kRootId, "a"));
  EXPECT_THAT(recorded(), ElementsAre("create /a"));
  log_.reset();
  ASSERT_TRUE(create(kRootId, "b"));
  start();
  ASSERT_TRUE(create(kRootId, "c"));
  EXPECT_THAT(recorded(), ElementsAre("create /a", "create /b", "create /c"));
  EXPECT_EQ(problem(), "");
}

TEST_F(AuditWriterTest, ALineThatACrashToreIsWrittenAgain) {
  audit(kRootId, kChanges);
  // A crash leaves an older copy of the end.
  const std::string remembered = end_of_log();
  for (const char* name : {"a", "b", "c"}) ASSERT_TRUE(create(kRootId, name));
  EXPECT_EQ(recorded().size(), 3u);
  log_.reset();
  const std::vector<std::string> whole = lines();
  const auto size = std::filesystem::file_size(file());
  for (std::size_t cut = 1; cut < whole.back().size() + whole[whole.size() - 2].size(); cut += 97) {
    SCOPED_TRACE(cut);
    write_lines(whole);
    std::filesystem::resize_file(file(), size - cut);
    set_end_of_log(remembered);
    start();
    EXPECT_THAT(recorded(), ElementsAre("create /a", "create /b", "create /c"));
    EXPECT_EQ(problem(), "");
    log_.reset();
  }
  start();
}

TEST_F(AuditWriterTest, EveryKindOfTamperingIsFound) {
  audit(kRootId, kChanges);
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(create(kRootId, "f" + std::to_string(i)));
  ASSERT_EQ(recorded().size(), 6u);
  const std::vector<std::string> whole = lines();
  ASSERT_EQ(whole.size(), 7u) << "and the first, which begins the log";
  EXPECT_EQ(problem(), "");

  auto changed = whole;
  changed[3].replace(changed[3].find("/f2"), 3, "/xx");
  write_lines(changed);
  EXPECT_THAT(problem(), HasSubstr("line 4: the line was changed"));

  // With its hash made right the next line does not follow.
  std::string previous(chain_of(whole[2])->hash);
  changed[3] = changed[3].substr(0, changed[3].find(",\"hash\""));
  changed[3] += ",\"hash\":\"" + sha256(changed[3]) + "\"}";
  write_lines(changed);
  EXPECT_THAT(problem(), HasSubstr("line 5: a line or a file before it was removed"));

  auto removed = whole;
  removed.erase(removed.begin() + 3);
  write_lines(removed);
  EXPECT_THAT(problem(), HasSubstr("line 4: a line or a file before it was removed"));

  auto swapped = whole;
  std::swap(swapped[3], swapped[4]);
  write_lines(swapped);
  EXPECT_THAT(problem(), HasSubstr("line 4"));

  auto doubled = whole;
  doubled.insert(doubled.begin() + 3, doubled[3]);
  write_lines(doubled);
  EXPECT_THAT(problem(), HasSubstr("line 5"));

  auto foreign = whole;
  foreign.insert(foreign.begin() + 2, "{\"sequence\":3,\"operation\":\"create\"}");
  write_lines(foreign);
  EXPECT_THAT(problem(), HasSubstr("line 3: this is no line of an audit log"));

  write_lines(std::vector(whole.begin(), whole.end() - 1));
  EXPECT_THAT(problem(), HasSubstr("lines at the end were removed"));
  write_lines(std::vector(whole.begin() + 1, whole.end()));
  EXPECT_THAT(problem(), HasSubstr("line 1: a file before it was removed"));
  write_lines(whole);
  EXPECT_EQ(problem(), "");
}

TEST_F(AuditWriterTest, WhatWasCutOffWhileTheServerWasStoppedIsTold) {
  audit(kRootId, kChanges);
  for (const char* name : {"a", "b", "c"}) ASSERT_TRUE(create(kRootId, name));
  EXPECT_EQ(recorded().size(), 3u);
  restart();
  EXPECT_EQ(cuts(), 0u);
  EXPECT_EQ(problem(), "");
  log_.reset();
  auto all = lines();
  all.resize(all.size() - 1);
  write_lines(all);
  start();
  EXPECT_THAT(recorded({.operation = "create"}), ElementsAre("create /a", "create /b", "create /c"))
      << "the journal still has it";
  EXPECT_EQ(cuts(), 1u);
  EXPECT_THAT(problem(), HasSubstr("when the server started, lines that had been before it were gone or changed"));
  restart();
  EXPECT_EQ(cuts(), 1u) << "told once";
  EXPECT_THAT(problem(), HasSubstr("were gone or changed"));
}

TEST_F(AuditWriterTest, ALogThatIsForgedWholeOrGoneIsTold) {
  audit(kRootId, kChanges);
  ASSERT_TRUE(create(kRootId, "a"));
  ASSERT_TRUE(create(kRootId, "b"));
  EXPECT_EQ(recorded().size(), 2u);
  log_.reset();
  // A line is changed, and all hashes are made right.
  std::vector<std::string> forged;
  std::string previous(kNoHash);
  for (std::string line : lines()) {
    if (const auto at = line.find("/a\""); at != std::string::npos) line.replace(at, 3, "/x\"");
    line = line.substr(0, line.find(",\"previous\"")) + ",\"previous\":\"" + previous + "\"";
    previous = sha256(line);
    forged.push_back(line + ",\"hash\":\"" + previous + "\"}");
    ASSERT_TRUE(check_line(forged.back())) << forged.back();
  }
  write_lines(forged);
  start();
  EXPECT_THAT(recorded({.operation = "create"}), ElementsAre("create /x", "create /b"));
  EXPECT_EQ(cuts(), 1u);
  EXPECT_THAT(problem(), HasSubstr("were gone or changed"));

  // The last day is removed; and all days are.
  next_day();
  ASSERT_TRUE(create(kRootId, "c"));
  EXPECT_EQ(recorded({.operation = "create"}).back(), "create /c");
  restart();
  EXPECT_EQ(cuts(), 1u);
  log_.reset();
  std::filesystem::remove(file());
  start();
  EXPECT_EQ(recorded({.operation = "create"}).back(), "create /c");
  EXPECT_EQ(cuts(), 2u);
  log_.reset();
  std::filesystem::remove_all(folder_ + "/audit");
  start();
  ASSERT_TRUE(log_->catch_up());
  EXPECT_EQ(cuts(), 1u);
  EXPECT_THAT(problem(), HasSubstr("were gone or changed"));

  // The copy of the end is damaged.
  log_.reset();
  set_end_of_log("nonsense");
  start();
  EXPECT_EQ(cuts(), 2u);
}

TEST_F(AuditWriterTest, DeleteFindsAllThatRemoves) {
  audit(kRootId, core::kAllAuditClasses);
  ASSERT_TRUE(create(kRootId, "f"));
  ASSERT_TRUE(mkdir(kRootId, "d"));
  ASSERT_TRUE(ns().unlink({}, {.parent = kRootId, .name = "f"}));
  ASSERT_TRUE(ns().rmdir({}, {kRootId, "d"}));
  recorded();
  const auto found = log_->query({.operation = "delete"});
  ASSERT_TRUE(found) << describe(found.error());
  ASSERT_EQ(found->lines.size(), 2u);
  EXPECT_EQ(Json::parse(found->lines[0])["operation"], "remove");
  EXPECT_EQ(Json::parse(found->lines[1])["operation"], "rmdir");
}

TEST_F(AuditWriterTest, DaysHaveFilesOfTheirOwnASummaryAndOneChain) {
  ASSERT_TRUE(volume_->registry().add_user({.name = "ann", .uid = 1000, .gid = 100}));
  audit(kRootId, core::kAllAuditClasses);
  const core::OpContext ann{.protocol = core::Protocol::kNfs, .cred = {.uid = 1000, .gid = 100}, .client = "10.0.0.7"};
  const std::string first = day();
  const FileId open = *mkdir(kRootId, "open");
  const FileId file = *create(open, "f");
  ASSERT_TRUE(write(file, 0, "five!"));
  ASSERT_TRUE(create(kRootId, "b"));
  ASSERT_TRUE(ns().create(ann, {.parent = open, .name = "hers"}));
  ASSERT_TRUE(ns().unlink(ann, {.parent = open, .name = "hers"}));
  EXPECT_EQ(ns().create(ann, {.parent = kRootId, .name = "no"}).error().code, Errc::kAccess);
  recorded();
  next_day();
  ASSERT_TRUE(create(kRootId, "c"));
  recorded();
  ASSERT_NE(first, day());
  EXPECT_EQ(problem(), "");
  EXPECT_EQ(log_->verify()->days, 2u);
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/audit/" + first + ".summary.json"));
  const auto report = log_->report(first);
  ASSERT_TRUE(report) << describe(report.error());
  const Json json = Json::parse(*report);
  EXPECT_EQ(json["day"], first);
  EXPECT_EQ(json["operations"]["create"], 3);
  EXPECT_EQ(json["deletes"]["total"], 1);
  EXPECT_EQ(json["deletes"]["users"][0]["user"]["name"], "ann");
  EXPECT_EQ(json["denials"]["total"], 1);
  EXPECT_EQ(json["growth"]["files"], 2);
  EXPECT_EQ(json["growth"]["bytes"], 5);
  EXPECT_TRUE(log_->report(day()));
  EXPECT_EQ(log_->report("2001-01-01").error().code, Errc::kNotFound);
  EXPECT_EQ(log_->report("../../etc").error().code, Errc::kInvalid);

  // Without the file of the first day the chain has no beginning; without its last line it has a hole.
  const std::string path = folder_ + "/audit/" + first + ".jsonl";
  std::filesystem::rename(path, path + ".away");
  EXPECT_THAT(problem(), HasSubstr("a file before it was removed"));
  std::filesystem::rename(path + ".away", path);
  EXPECT_EQ(problem(), "");
}

TEST_F(AuditWriterTest, OldDaysGoAndTheLogSaysSo) {
  log_.reset();
  keep_days_ = 2;
  start();
  audit(kRootId, kChanges);
  const std::string first = file();
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(create(kRootId, "f" + std::to_string(i)));
    recorded();
    next_day();
  }
  ASSERT_TRUE(create(kRootId, "last"));
  recorded();
  EXPECT_FALSE(std::filesystem::exists(first));
  EXPECT_EQ(log_->verify()->days, 3u);
  EXPECT_EQ(problem(), "");
  restart();
  EXPECT_EQ(problem(), "");
  const LogFolder folder{folder_ + "/audit"};
  std::filesystem::remove(folder.day_file(folder.days()->front()));
  EXPECT_THAT(problem(), HasSubstr("a file before it was removed"));
}

TEST_F(AuditWriterTest, WhatTheJournalDroppedIsALine) {
  audit(kRootId, kChanges);
  ASSERT_TRUE(create(kRootId, "a"));
  EXPECT_EQ(recorded().size(), 1u);
  log_.reset();
  const std::uint64_t at = *volume_->journal().newest();
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(create(kRootId, "f" + std::to_string(i)));
  ASSERT_TRUE(volume_->journal().newest());
  core::WriteBatch batch;
  for (std::uint64_t i = 1; i <= at + 3; ++i) batch.remove(core::Family::kJournal, core::keys::be64(i));
  const core::WriteBatch* const batches[] = {&batch};
  ASSERT_TRUE(kv_->apply(batches));
  start();
  ASSERT_TRUE(log_->catch_up());
  const auto lost = log_->query({.operation = "lost"});
  ASSERT_EQ(lost->lines.size(), 1u);
  EXPECT_EQ(Json::parse(lost->lines[0])["count"], 3);
  EXPECT_THAT(recorded({.operation = "create"}), ElementsAre("create /a", "create /f3", "create /f4"));
  restart();
  ASSERT_TRUE(log_->catch_up());
  EXPECT_EQ(log_->query({.operation = "lost"})->lines.size(), 1u) << "said once";
  EXPECT_EQ(problem(), "");
}

TEST_F(AuditWriterTest, OverAnotherJournalTheLogBeginsAnew) {
  audit(kRootId, kChanges);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(create(kRootId, "f" + std::to_string(i)));
  EXPECT_EQ(recorded().size(), 5u);
  log_.reset();
  volume_.reset();
  kv_ = engine_.open({});
  ASSERT_TRUE(core::Volume::format(*kv_, "test"));
  open();
  start();
  audit(kRootId, kChanges);
  ASSERT_TRUE(create(kRootId, "new"));
  EXPECT_EQ(recorded().back(), "create /new");
  EXPECT_EQ(problem(), "");
}

TEST_F(AuditWriterTest, ALogThatCannotBeWrittenIsTriedAgainAndNothingIsLost) {
  audit(kRootId, kChanges);
  ASSERT_TRUE(create(kRootId, "a"));
  EXPECT_EQ(recorded().size(), 1u);
  // The next day's file cannot be made: a folder has its name.
  now_ = begin_of_next_day(now()).ns;
  std::filesystem::create_directories(file() + "/in-the-way");
  ASSERT_TRUE(create(kRootId, "b"));
  EXPECT_EQ(log_->set_policy({kRootId, core::kAllAuditClasses}).error().code, Errc::kIo);
  EXPECT_EQ(volume_->registry().snapshot()->audit()->policies().front().classes, kChanges)
      << "a policy that cannot be kept is refused";
  std::filesystem::remove_all(file());
  volume_->journal().call();
  EXPECT_THAT(recorded(), ElementsAre("create /a", "create /b"));
  EXPECT_EQ(problem(), "");
}

TEST_F(AuditWriterTest, DenialsReadsAndListingsAreRecorded) {
  const FileId a = *mkdir(kRootId, "a");
  const FileId closed = *mkdir(a, "closed");
  const FileId file = *create(a, "f");
  ASSERT_TRUE(ns().setattr({}, {.id = closed, .set = {.mode = 0700}}));
  ASSERT_TRUE(ns().setattr({}, {.id = file, .set = {.mode = 0644}}));
  ASSERT_TRUE(write(file, 0, "text"));
  audit(a, static_cast<core::AuditClasses>(core::bit(core::AuditClass::kRead) | core::bit(core::AuditClass::kList) |
                                           core::bit(core::AuditClass::kDenied)));
  const core::OpContext ann{.protocol = core::Protocol::kNfs, .cred = {.uid = 1000, .gid = 100}, .client = "10.0.0.7"};
  core::OpContext bob = ann;
  bob.cred.uid = 1001;
  std::byte into[16];
  for (int i = 0; i < 5; ++i) {
    for (const core::OpContext& who : {ann, bob}) {
      ASSERT_TRUE(ns().read(who, {file, 0, into}));
      ASSERT_TRUE(ns().readdir(who, {.dir = a}));
    }
  }
  EXPECT_EQ(ns().write(ann, {file, 0, {}}).error().code, Errc::kAccess);
  EXPECT_EQ(ns().lookup(ann, {.parent = closed, .name = "x"}).error().code, Errc::kAccess);
  EXPECT_EQ(ns().setattr(ann, {.id = file, .set = {.mode = 0777}}).error().code, Errc::kNotOwner);
  core::OpContext reader = ann;
  reader.read_only = true;
  EXPECT_EQ(ns().mkdir(reader, {.parent = a, .name = "d"}).error().code, Errc::kReadOnly);
  ASSERT_TRUE(ns().set_quota({}, {.dir = a, .limits = {.files = 2}}));
  EXPECT_EQ(ns().create({}, {.parent = a, .name = "over"}).error().code, Errc::kQuota);
  EXPECT_EQ(ns().lookup(ann, {.parent = a, .name = "none"}).error().code, Errc::kNotFound);
  EXPECT_EQ(ns().mkdir(ann, {.parent = kRootId, .name = "elsewhere"}).error().code, Errc::kAccess);
  EXPECT_THAT(recorded(), ElementsAre("read /a/f", "list /a", "read /a/f", "list /a", "write /a/f access",
                                      "lookup /a/closed/x access", "attributes /a/f not_owner", "mkdir /a/d read_only",
                                      "create /a/over quota"));
  EXPECT_EQ(recorded({.result = "denied"}).size(), 5u);
  EXPECT_EQ(recorded({.user = "1001"}).size(), 2u);
}

TEST_F(AuditWriterTest, PurgesAndDenialsOfTheRecycleBinNameWhatTheThingWas) {
  const FileId a = *mkdir(kRootId, "a");
  const FileId b = *mkdir(a, "b");
  ASSERT_TRUE(create(a, "f"));
  ASSERT_TRUE(create(b, "deep"));
  ASSERT_TRUE(volume_->registry().set_recycle({.dir = a}));
  ASSERT_TRUE(ns().unlink({}, {.parent = a, .name = "f"}));
  ASSERT_TRUE(ns().unlink({}, {.parent = b, .name = "deep"}));
  ASSERT_TRUE(ns().rmdir({}, {.parent = a, .name = "b"}));
  audit(a, core::kAllAuditClasses);
  const core::OpContext ann{
      .protocol = core::Protocol::kAdmin, .cred = {.uid = 1000, .gid = 100}, .client = "10.0.0.7"};
  const auto items = ns().list_recycled({}, {.dir = kRootId})->items;
  ASSERT_EQ(items.size(), 3u);
  EXPECT_EQ(ns().restore(ann, {.item = items[1].item}).error().code, Errc::kNotOwner);
  EXPECT_EQ(ns().purge(ann, {.dir = a, .items = {items[0].item, items[2].item}}).error().code, Errc::kNotOwner);
  EXPECT_EQ(ns().purge(ann, {.dir = a}).error().code, Errc::kNotOwner);
  EXPECT_EQ(ns().restore({}, {.item = {core::FileId{77}, 77}}).error().code, Errc::kNotFound) << "is no denial";
  EXPECT_THAT(recorded(), ElementsAre("restore /a/b/deep not_owner", "purge /a/f not_owner", "purge /a/b not_owner",
                                      "purge /a not_owner"));
  // A directory that lies in the bin is followed to where it was.
  ASSERT_TRUE(ns().purge({}, {.dir = a, .items = {items[1].item, items[0].item}}));
  ASSERT_TRUE(ns().purge({}, {.dir = a}));
  EXPECT_THAT(recorded({.operation = "purge", .result = "ok"}),
              testing::UnorderedElementsAre("purge /a/f", "purge /a/b/deep", "purge /a/b"));
  EXPECT_EQ(recorded({.path = "/a/b/deep"}).size(), 2u);
  EXPECT_EQ(problem(), "");
}

TEST_F(AuditWriterTest, WhatAProtocolRefusesByItselfIsRecorded) {
  const FileId a = *mkdir(kRootId, "a");
  const core::OpContext stranger{.protocol = core::Protocol::kS3, .client = "10.0.0.9"};
  const core::AuthFailure wrong{
      .request = "GET /a/key", .reason = "SignatureDoesNotMatch", .claimed = "access key X\n", .directory = a};
  ns().refused(stranger, wrong);
  audit(a, core::bit(core::AuditClass::kDenied));
  ns().refused(stranger, wrong);
  ns().refused(stranger, {.request = "GET /none", .reason = "InvalidAccessKeyId"});  // of the root, which has no policy
  ns().refused(stranger, {.request = std::string(100'000, 'x'),
                          .reason = "AccessDenied",
                          .claimed = std::string(100'000, 'y'),
                          .directory = a});
  EXPECT_THAT(recorded(), ElementsAre("refused /a access", "refused /a access"));
  const auto found = log_->query({.result = "denied"});
  const Json json = Json::parse(found->lines.at(0));
  EXPECT_EQ(json["request"], "GET /a/key: SignatureDoesNotMatch");
  EXPECT_EQ(json["claimed"], "access key X\n");
  EXPECT_EQ(json["client"], "10.0.0.9");
  EXPECT_EQ(json["protocol"], "s3");
  EXPECT_FALSE(json.contains("user")) << "nobody has shown who he is";
  EXPECT_LT(found->lines.at(1).size(), 4096u);
  for (int i = 0; i < 100; ++i) ns().refused(stranger, wrong);
  EXPECT_LE(recorded({.operation = "refused"}).size(), 2 * core::DenialLimit::kPerSecond + 2)
      << "a scanner cannot flood the log";
}

TEST_F(AuditWriterTest, TheReportTellsBytesOfUsersAndGrowthOfDirectories) {
  ASSERT_TRUE(volume_->registry().add_user({.name = "ann", .uid = 1000, .gid = 100}));
  const FileId a = *mkdir(kRootId, "a");
  const FileId b = *mkdir(kRootId, "b");
  const FileId c = *mkdir(kRootId, "c");
  const FileId plain = *mkdir(kRootId, "plain");
  for (const FileId dir : {a, b}) ASSERT_TRUE(ns().set_quota({}, {.dir = dir, .limits = {.files = 100}}));
  ASSERT_TRUE(volume_->registry().set_recycle({.dir = c}));
  const FileId before = *create(a, "before");
  ASSERT_TRUE(write(before, 0, "12345678"));
  audit(a, kChanges);
  const core::OpContext ann{.protocol = core::Protocol::kNfs, .cred = {.uid = 1000, .gid = 100}, .client = "10.0.0.7"};
  const auto file = ns().create(ann, {.parent = a, .name = "f", .set = {.mode = 0600}});
  ASSERT_TRUE(file);
  const std::span<const std::byte> pieces[] = {std::as_bytes(std::span("0123456789", 10))};
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(ns().write(ann, {file->attr.id, 0, pieces}));
  std::byte into[4];
  ASSERT_TRUE(ns().read(ann, {file->attr.id, 0, into}));
  ASSERT_TRUE(ns().put_key({.protocol = core::Protocol::kS3}, {.root = b, .key = "key", .bytes = pieces[0]}));
  ASSERT_TRUE(create(plain, "unseen"));
  ASSERT_TRUE(ns().unlink({}, {.parent = a, .name = "before"}));

  const auto check = [&](const std::string& of) {
    const auto report = log_->report(of);
    ASSERT_TRUE(report) << describe(report.error());
    const Json json = Json::parse(*report);
    EXPECT_EQ(json["growth"], (Json{{"bytes", 12}, {"files", 2}})) << "also while the day goes on";
    EXPECT_EQ(json["written"]["total"], 40);
    EXPECT_EQ(json["written"]["users"][0], (Json{{"user", {{"uid", 1000}, {"name", "ann"}}}, {"bytes", 30}}));
    EXPECT_EQ(json["written"]["users"][1], (Json{{"user", {{"uid", 0}, {"name", nullptr}}}, {"bytes", 10}}));
    EXPECT_EQ(json["read"]["total"], 4);
    EXPECT_EQ(json["read"]["users"].size(), 1u);
    const Json& directories = json["directories"];
    EXPECT_EQ(directories["total"], 3);
    EXPECT_EQ(directories["most"][0],
              (Json{{"path", "/b"}, {"bytes", 10}, {"files", 1}, {"growth", {{"bytes", 10}, {"files", 1}}}}));
    EXPECT_EQ(directories["most"][1],
              (Json{{"path", "/a"}, {"bytes", 10}, {"files", 1}, {"growth", {{"bytes", 2}, {"files", 0}}}}));
    EXPECT_EQ(directories["most"][2]["growth"], (Json{{"bytes", 0}, {"files", 0}}));
  };
  recorded();
  const std::string first = day();
  check(first);
  restart();
  check(first);  // neither bytes nor the state at the begin of the day are forgotten
  next_day();
  check(first);

  // A removed directory has shrunk; one without a policy at the begin of the day has no growth.
  ASSERT_TRUE(ns().unlink({}, {.parent = b, .name = "key"}));
  ASSERT_TRUE(ns().rmdir({}, {.parent = kRootId, .name = "b"}));
  ASSERT_TRUE(ns().set_quota({}, {.dir = plain, .limits = {.files = 100}}));
  const auto report = log_->report(day());
  ASSERT_TRUE(report) << describe(report.error());
  const Json json = Json::parse(*report);
  EXPECT_EQ(json["written"]["total"], 0);
  EXPECT_EQ(json["directories"]["total"], 5) << "the root has a policy by now";
  EXPECT_EQ(json["directories"]["most"][0],
            (Json{{"path", "/b"}, {"bytes", 0}, {"files", 0}, {"growth", {{"bytes", -10}, {"files", -1}}}}));
  EXPECT_EQ(json["directories"]["most"][4],
            (Json{{"path", "/plain"}, {"bytes", 0}, {"files", 1}, {"growth", nullptr}}));
  EXPECT_EQ(problem(), "");
}

TEST_F(AuditWriterTest, ADamagedFileOfTheDaysBeginCostsTheGrowthOnly) {
  audit(kRootId, kChanges);
  ASSERT_TRUE(create(kRootId, "f"));
  recorded();
  for (const char* text : {"", "nonsense\n", "{\"day\":\"2001-01-01\"}\n", "{\"day\":\"../..\"}\n{}\n"}) {
    std::ofstream(folder_ + "/audit/directories.lines") << text;
    const auto report = log_->report(day());
    ASSERT_TRUE(report) << describe(report.error());
    EXPECT_TRUE(Json::parse(*report)["directories"].is_null());
  }
}

TEST_F(AuditWriterTest, TimesAreThoseOfTheCalendar) {
  for (const std::int64_t seconds : {0ll, 951'782'399ll, 951'782'400ll, 1'709'164'800ll, 4'102'444'799ll}) {
    const std::time_t time = seconds;
    std::tm utc{};
    gmtime_r(&time, &utc);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc);
    EXPECT_EQ(iso_time(Timestamp::from(seconds, 7)), std::string(text) + ".000000007Z");
    EXPECT_EQ(day_of(Timestamp::from(seconds, 7)), std::string(text, 10));
  }
}

TEST_F(AuditWriterTest, AFloodOfDenialsIsCounted) {
  audit(kRootId, core::bit(core::AuditClass::kDenied));
  const core::OpContext ann{.protocol = core::Protocol::kNfs, .cred = {.uid = 1000, .gid = 100}, .client = "10.0.0.7"};
  constexpr int kTries = 500;
  for (int i = 0; i < kTries; ++i) ASSERT_FALSE(ns().create(ann, {.parent = kRootId, .name = "f"}));
  // The number comes when the second is over. Another record may wake the waits below.
  int said = 0;
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (said < kTries && std::chrono::steady_clock::now() < give_up) {
    volume_->journal().wait(*volume_->journal().newest(), volume_->journal().calls(),
                            std::chrono::steady_clock::now() + std::chrono::milliseconds(200),
                            std::chrono::milliseconds(0), {});
    said = 0;
    for (const std::string& record : recorded()) {
      const std::size_t count = record.find("omitted ");
      said += count == 0 ? std::stoi(record.substr(record.find("denied") + 6)) : 1;
    }
  }
  EXPECT_EQ(said, kTries);
  EXPECT_LT(recorded().size(), static_cast<std::size_t>(kTries));
}

TEST_F(AuditWriterTest, SyslogGetsTheLinesToo) {
  const int server = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(bind(server, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(getsockname(server, reinterpret_cast<sockaddr*>(&address), &size), 0);
  log_.reset();
  syslog_ = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  start();
  audit(kRootId, kChanges);
  ASSERT_TRUE(create(kRootId, "a"));
  ASSERT_TRUE(create(kRootId, "b"));
  for (const char* name : {"/a", "/b"}) {
    char message[4096];
    const ssize_t got = recv(server, message, sizeof message, 0);
    ASSERT_GT(got, 0);
    const std::string text(message, static_cast<std::size_t>(got));
    EXPECT_THAT(text, testing::MatchesRegex("<110>1 [0-9T:.-]*Z [^ ]* stoad [0-9]* audit - [{].*"));
    EXPECT_EQ(Json::parse(text.substr(text.find('{')))["path"], name);
  }
  close(server);
  EXPECT_EQ(
      AuditWriter::open({.folder = folder_ + "/other", .syslog = "nonsense"}, {{volume_.get()}}, metrics_).error().code,
      Errc::kInvalid);
}

// A second volume beside the one of the fixture, and one log of both.
class TwoVolumesLogTest : public AuditWriterTest {
 protected:
  TwoVolumesLogTest() {
    EXPECT_TRUE(core::Volume::format(other_kv_, "other"));
    auto other = core::Volume::open(other_kv_, other_blobs_, other_metrics_, {.background = false});
    EXPECT_TRUE(other);
    other_ = std::move(*other);
    open_both();
  }
  ~TwoVolumesLogTest() override { log_.reset(); }
  void open_both() {
    log_.reset();
    auto log = AuditWriter::open({.folder = folder_ + "/both", .now = [this] { return now(); }},
                                 {{volume_.get(), "a"}, {other_.get(), "b"}}, metrics_);
    ASSERT_TRUE(log) << describe(log.error());
    log_ = *std::move(log);
  }
  core::AuditLog& b() { return log_->of(1); }
  void make(core::Volume& volume, std::string_view name) {
    EXPECT_TRUE(volume.ns().create({}, {.parent = kRootId, .name = name}));
  }
  static std::vector<std::string> created(core::AuditLog& log) {
    EXPECT_TRUE(log.catch_up());
    const auto found = log.query({.operation = "create"});
    EXPECT_TRUE(found);
    std::vector<std::string> all;
    for (const std::string& line : found->lines) {
      const Json json = Json::parse(line);
      all.push_back(json["volume"].get<std::string>() + json["path"].get<std::string>());
    }
    return all;
  }

  kv::MemoryKv other_kv_;
  blob::MemoryBlobs other_blobs_;
  MetricRegistry other_metrics_;
  std::unique_ptr<core::Volume> other_;
};

TEST_F(TwoVolumesLogTest, EachIsReadFromWhereItsLinesEnd) {
  audit(kRootId, kChanges);
  make(*volume_, "first");
  make(*other_, "before its policy");
  EXPECT_THAT(created(*log_), ElementsAre("a/first"));
  ASSERT_TRUE(b().set_policy({kRootId, kChanges}));
  make(*other_, "first");
  make(*volume_, "second");
  EXPECT_THAT(created(b()), ElementsAre("b/first"));
  EXPECT_THAT(created(*log_), ElementsAre("a/first", "a/second"));
  log_.reset();
  make(*other_, "meanwhile");
  make(*volume_, "meanwhile");
  open_both();
  EXPECT_THAT(created(b()), ElementsAre("b/first", "b/meanwhile"));
  EXPECT_THAT(created(*log_), ElementsAre("a/first", "a/second", "a/meanwhile"));
  EXPECT_EQ(problem(), "");
  EXPECT_EQ(b().verify()->records, log_->verify()->records) << "there is one chain";
}

TEST_F(TwoVolumesLogTest, ADayBeginsForBothAndEachHasItsReport) {
  audit(kRootId, kChanges);
  ASSERT_TRUE(b().set_policy({kRootId, kChanges}));
  make(*volume_, "x");
  make(*other_, "y");
  make(*other_, "z");
  EXPECT_EQ(created(*log_).size(), 1u);
  EXPECT_EQ(created(b()).size(), 2u);
  const std::string before = day();
  next_day();
  make(*other_, "next");
  EXPECT_EQ(created(b()).size(), 3u);
  EXPECT_EQ(Json::parse(*log_->report(before))["operations"]["create"], 1);
  EXPECT_EQ(Json::parse(*b().report(before))["operations"]["create"], 2);
  EXPECT_EQ(Json::parse(*log_->report(before))["growth"]["files"], 1);
  EXPECT_EQ(Json::parse(*b().report(before))["growth"]["files"], 2);
  EXPECT_EQ(log_->query({.operation = "day"})->lines.size(), 1u);
  EXPECT_EQ(b().query({.operation = "day"})->lines.size(), 1u);
  EXPECT_EQ(problem(), "");
}

TEST_F(TwoVolumesLogTest, LabelsTellThemApart) {
  for (const char* label : {"", "a", "b/c", "b c"}) {
    EXPECT_EQ(AuditWriter::open({.folder = folder_ + "/third"}, {{volume_.get(), "a"}, {other_.get(), label}}, metrics_)
                  .error()
                  .code,
              Errc::kInvalid)
        << label;
  }
}

}  // namespace
}  // namespace stoa::appliance
