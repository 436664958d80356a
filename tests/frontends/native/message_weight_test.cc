// The file whose QoS classes a message pays.
#include "frontends/native/server/message_weight.h"

#include <gtest/gtest.h>

#include "frontends/native/client/batch.h"

namespace stoa::native {
namespace {

File priced_file(const Batch& batch) {
  const Bytes records = batch.records();
  DecodedMessage message;
  message.view.header.operation_count = static_cast<U32>(batch.size());
  message.view.operations = records;
  EXPECT_TRUE(weigh(message));
  return message.priced_file;
}

TEST(MessageWeight, AnOpenByNamePaysForItsDirectory) {
  Batch batch;
  batch.add<operations::open>({.parent = File{7}, .open = 1, .disposition = kOpenCreate, .name = "f"});
  batch.add<operations::write>({.file = result_of(0), .open = 1});
  EXPECT_EQ(priced_file(batch), File{7});
}

TEST(MessageWeight, AnOpenByIdPaysForItsFile) {
  Batch batch;
  batch.add<operations::open>({.file = File{8}, .parent = File{7}, .open = 1});
  EXPECT_EQ(priced_file(batch), File{8});
}

TEST(MessageWeight, TheNumberOfAnOpenIsNoFile) {
  Batch batch;
  batch.add<operations::close>({5});
  EXPECT_EQ(priced_file(batch), File{});
  batch.add<operations::getattr>({File{9}});
  EXPECT_EQ(priced_file(batch), File{9});
}

}  // namespace
}  // namespace stoa::native
