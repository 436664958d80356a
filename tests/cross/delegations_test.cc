// Delegations of one client against operations through every other protocol: RFC 8881 10.2 to 10.4. For each kind of
// delegation, protocol and operation: the holder's cached data is written before another client sees or changes the
// file.
#include "tests/cross/delegations_fixture.h"

namespace stoa::clients {

std::vector<Case> DelegationsTest::version3() {
  const auto unchanged = [this](const std::string& was) { EXPECT_EQ(content("f"), was); };
  return {
      {"READ", false,
       [this] {
         const NfsReply read = nfs_->read(v3_, 0, 100);
         seen_ = read.data;
         return done(read);
       },
       [this](const std::string& was) { EXPECT_EQ(seen_, was); }},
      {"GETATTR", false, [this] { return done(nfs_->getattr(v3_)); }, unchanged},
      {"WRITE", true, [this] { return done(nfs_->write(v3_, 8, "xy", FILE_SYNC)); },
       [this](const std::string& was) { EXPECT_EQ(content("f"), was.substr(0, 8) + "xy"); }},
      {"SETATTR of the mode", true, [this] { return done(nfs_->setattr(v3_, {.mode = 0600})); },
       [=, this](const std::string& was) {
         unchanged(was);
         EXPECT_EQ(nfs_->getattr(v3_).attr->mode & 07777, 0600u);
       }},
      {"SETATTR of the size", true, [this] { return done(nfs_->setattr(v3_, {.size = 3})); },
       [this](const std::string& was) { EXPECT_EQ(content("f"), was.substr(0, 3)); }},
      {"LINK", true, [this] { return done(nfs_->link(v3_, dir_, "second")); },
       [this](const std::string& was) { EXPECT_EQ(content("second"), was); }},
      {"REMOVE", true, [this] { return done(nfs_->remove(dir_, "f")); },
       [this](const std::string& was) {
         EXPECT_FALSE(exists("f"));
         EXPECT_EQ(read_by_holder(), was);
       }},
      {"RENAME of it", true, [this] { return done(nfs_->rename(dir_, "f", dir_, "h")); },
       [this](const std::string& was) { EXPECT_EQ(content("h"), was); }},
      {"RENAME over it", true, [this] { return done(nfs_->rename(dir_, "g", dir_, "f")); },
       [this](const std::string& was) {
         EXPECT_EQ(content("f"), "the other one");
         EXPECT_EQ(read_by_holder(), was);
       }},
  };
}

std::vector<Case> DelegationsTest::s3() {
  const auto replaced = [this](const std::string&) {
    EXPECT_EQ(content("f"), kPut);
    EXPECT_EQ(read_by_holder(), kPut) << "the object is the same file";
  };
  const auto removed = [this](const std::string& was) {
    EXPECT_FALSE(exists("f"));
    EXPECT_EQ(read_by_holder(), was);
  };
  return {
      {"GetObject", false,
       [this] {
         const S3Reply got = s3_->get(key("f"));
         seen_ = got.body;
         return done(got);
       },
       [this](const std::string& was) { EXPECT_EQ(seen_, was); }},
      {"HeadObject", false,
       [this] {
         const S3Reply got = s3_->head(key("f"));
         return got.status != 503;
       },
       [this](const std::string& was) { EXPECT_EQ(content("f"), was); }},
      {"CopyObject from it", false,
       [this] { return done(s3_->put(key("copy"), "", {{"x-amz-copy-source", "/test/" + key("f")}})); },
       [this](const std::string& was) { EXPECT_EQ(content("copy"), was); }},
      {"PutObject", true, [this] { return done(s3_->put(key("f"), kPut)); }, replaced},
      {"CopyObject over it", true,
       [this] { return done(s3_->put(key("f"), "", {{"x-amz-copy-source", "/test/" + key("g")}})); },
       [this](const std::string&) { EXPECT_EQ(content("f"), "the other one"); }},
      {"CompleteMultipartUpload over it", true,
       [this] {
         if (upload_.empty()) {
           upload_ = s3_->create_multipart(key("f")).element("UploadId");
           etag_ = s3_->put_part(key("f"), upload_, 1, kPut).headers["etag"];
         }
         if (!done(s3_->complete(key("f"), upload_, {etag_}))) return false;
         upload_.clear();
         return true;
       },
       replaced},
      {"DeleteObject", true, [this] { return done(s3_->remove(key("f"))); }, removed},
      {"DeleteObjects", true,
       [this] {
         const S3Reply reply = s3_->remove_many({key("f")});
         EXPECT_TRUE(reply.ok()) << reply.text();
         return reply.element("Code").empty();
       },
       removed},
  };
}

// `by`: any client of versions 4.0 to 4.2.
std::vector<Case> DelegationsTest::version4(const std::string& who, const std::function<Nfs4Status(const Ops&)>& by) {
  const WireStateid anonymous{};
  const Bytes file = open_.handle, dir = dir4_;
  const auto unchanged = [this](const std::string& was) { EXPECT_EQ(content("f"), was); };
  const std::uint32_t read_op = 25, sequence_ops = who == "minor 0" ? 0 : 1;
  return {
      {"READ", false,
       [=, this] {
         auto result = sequence_ops == 0
                           ? minor0_->send(Ops().putfh(file).op(read_op).stateid(anonymous).u64(0).u32(100))
                           : other_->call(Ops().putfh(file).op(read_op).stateid(anonymous).u64(0).u32(100));
         if (result.ok()) {
           if (sequence_ops != 0) result.skip_sequence();
           result.next(22);
           result.next(read_op);
           result.in.boolean();
           seen_ = result.in.string(100);
         }
         return done(result.status);
       },
       [this](const std::string& was) { EXPECT_EQ(seen_, was); }},
      {"GETATTR", false, [=] { return done(by(Ops().putfh(file).op(9).u32(1).u32(16))); }, unchanged},
      {"WRITE", true, [=] { return done(by(Ops().putfh(file).op(38).stateid(anonymous).u64(8).u32(2).string("xy"))); },
       [this](const std::string& was) { EXPECT_EQ(content("f"), was.substr(0, 8) + "xy"); }},
      {"SETATTR of the mode", true,
       [=] { return done(by(Ops().putfh(file).op(34).stateid(anonymous).u32(2).u32(0).u32(2).u32(4).u32(0600))); },
       unchanged},
      {"SETATTR of the size", true,
       [=] { return done(by(Ops().putfh(file).op(34).stateid(anonymous).u32(1).u32(16).u32(8).u64(3))); },
       [this](const std::string& was) { EXPECT_EQ(content("f"), was.substr(0, 3)); }},
      {"LINK", true, [=] { return done(by(Ops().putfh(file).op(32).putfh(dir).op(11).string("second"))); },
       [this](const std::string& was) { EXPECT_EQ(content("second"), was); }},
      {"REMOVE", true, [=] { return done(by(Ops().putfh(dir).op(28).string("f"))); },
       [this](const std::string& was) {
         EXPECT_FALSE(exists("f"));
         EXPECT_EQ(read_by_holder(), was);
       }},
      {"RENAME of it", true, [=] { return done(by(Ops().putfh(dir).op(32).op(29).string("f").string("h"))); },
       [this](const std::string& was) { EXPECT_EQ(content("h"), was); }},
      {"RENAME over it", true, [=] { return done(by(Ops().putfh(dir).op(32).op(29).string("g").string("f"))); },
       [this](const std::string& was) {
         EXPECT_EQ(content("f"), "the other one");
         EXPECT_EQ(read_by_holder(), was);
       }},
  };
}

// Operations of 4.1 and 4.2, and opens and locks.
std::vector<Case> DelegationsTest::version42() {
  const WireStateid anonymous{};
  const Bytes file = open_.handle, dir = dir4_, g = other_->handle_of({"test", folder_, "g"});
  const auto unchanged = [this](const std::string& was) { EXPECT_EQ(content("f"), was); };
  const auto opened = [=, this](std::uint32_t access) {
    const auto open = other_->open(dir, "f", access | 0x400, 0, false, folder_);
    if (open.status == Nfs4Status::kOk) other_->close(open.handle, open.stateid);
    return done(open.status);
  };
  return {
      {"OPEN for reading", false, [=] { return opened(kRead); }, unchanged},
      {"OPEN for writing", true, [=] { return opened(kBoth); }, unchanged},
      {"LOCKT", true,
       [=, this] {
         return done(by_other(Ops().putfh(file).op(13).u32(2).u64(0).u64(10).u64(other_->client).string("l")));
       },
       unchanged},
      {"READ_PLUS", false,
       [=, this] { return done(by_other(Ops().putfh(file).op(68).stateid(anonymous).u64(0).u32(100))); }, unchanged},
      {"SEEK", false, [=, this] { return done(by_other(Ops().putfh(file).op(69).stateid(anonymous).u64(0).u32(0))); },
       unchanged},
      {"ALLOCATE", true,
       [=, this] { return done(by_other(Ops().putfh(file).op(59).stateid(anonymous).u64(0).u64(12))); },
       [this](const std::string& was) { EXPECT_EQ(content("f"), was + std::string(2, '\0')); }},
      {"DEALLOCATE", true,
       [=, this] { return done(by_other(Ops().putfh(file).op(62).stateid(anonymous).u64(8).u64(1))); },
       [this](const std::string& was) { EXPECT_EQ(content("f"), was.substr(0, 8) + '\0' + was.substr(9)); }},
      {"COPY over it", true,
       [=, this] {
         return done(by_other(Ops()
                                  .putfh(g)
                                  .op(32)
                                  .putfh(file)
                                  .op(60)
                                  .stateid(anonymous)
                                  .stateid(anonymous)
                                  .u64(0)
                                  .u64(0)
                                  .u64(0)
                                  .u32(1)
                                  .u32(1)
                                  .u32(0)));
       },
       [this](const std::string&) { EXPECT_EQ(content("f"), "the other one"); }},
      {"COPY from it", false,
       [=, this] {
         return done(by_other(Ops()
                                  .putfh(file)
                                  .op(32)
                                  .putfh(g)
                                  .op(60)
                                  .stateid(anonymous)
                                  .stateid(anonymous)
                                  .u64(0)
                                  .u64(0)
                                  .u64(10)
                                  .u32(1)
                                  .u32(1)
                                  .u32(0)));
       },
       [this](const std::string& was) { EXPECT_EQ(content("g"), was + "one"); }},
      {"CLONE over it", true,
       [=, this] {
         return done(by_other(
             Ops().putfh(g).op(32).putfh(file).op(71).stateid(anonymous).stateid(anonymous).u64(0).u64(0).u64(0)));
       },
       [this](const std::string&) { EXPECT_EQ(content("f"), "the other one"); }},
      {"CLONE from it", false,
       [=, this] {
         return done(by_other(
             Ops().putfh(file).op(32).putfh(g).op(71).stateid(anonymous).stateid(anonymous).u64(0).u64(0).u64(0)));
       },
       [this](const std::string& was) { EXPECT_EQ(content("g").substr(0, 10), was); }},
      {"SETXATTR", true,
       [=, this] { return done(by_other(Ops().putfh(file).op(73).u32(0).string("color").string("red"))); }, unchanged},
  };
}

TEST_F(AnsweredTest, Version3SeesWhatTheHolderHadCached) {
  all("v3", [this] { return version3(); });
}
TEST_F(AnsweredTest, S3SeesWhatTheHolderHadCached) {
  all("s3", [this] { return s3(); });
}
TEST_F(AnsweredTest, AnotherClientOf41SeesWhatTheHolderHadCached) {
  all("v41", [this] { return version4("minor 1", [this](const Ops& ops) { return by_other(ops); }); });
}
TEST_F(AnsweredTest, AClientOf40SeesWhatTheHolderHadCached) {
  all("v40", [this] { return version4("minor 0", [this](const Ops& ops) { return by_minor0(ops); }); });
}
TEST_F(AnsweredTest, OpensLocksAndWhat42AddedSeeWhatTheHolderHadCached) {
  all("v42", [this] { return version42(); });
}

TEST_F(UnansweredTest, Version3WaitsNoLongerThanTheRecall) {
  all("v3", [this] { return version3(); });
}
TEST_F(UnansweredTest, S3WaitsNoLongerThanTheRecall) {
  all("s3", [this] { return s3(); });
}
TEST_F(UnansweredTest, AnotherClientOf41WaitsNoLongerThanTheRecall) {
  all("v41", [this] { return version4("minor 1", [this](const Ops& ops) { return by_other(ops); }); });
}
TEST_F(UnansweredTest, AClientOf40WaitsNoLongerThanTheRecall) {
  all("v40", [this] { return version4("minor 0", [this](const Ops& ops) { return by_minor0(ops); }); });
}
TEST_F(UnansweredTest, OpensLocksAndWhat42AddedWaitNoLongerThanTheRecall) {
  all("v42", [this] { return version42(); });
}

}  // namespace stoa::clients
