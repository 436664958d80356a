// Which of the tasks that wait may run.
#include "frontends/nfs/rpc/task_queue.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace stoa::test {
namespace {

class TaskQueueTest : public testing::Test {
 protected:
  ~TaskQueueTest() override { close(wake_fd); }
  void push(bool makes_context) {
    rpc::Task task;
    task.record.makes_context = makes_context;
    queue.push(std::move(task));
  }
  // 'c' makes a context, 't' does not, '-' is none.
  char pop() {
    rpc::Task task;
    if (!queue.pop(task)) return '-';
    return task.makes_context() ? 'c' : 't';
  }
  const int wake_fd = eventfd(0, EFD_NONBLOCK | EFD_SEMAPHORE);
  rpc::TaskQueue queue{wake_fd, 3};
};

TEST_F(TaskQueueTest, NoMoreRunThanMay) {
  for (int i = 0; i < 4; ++i) push(false);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(pop(), 't');
  EXPECT_EQ(pop(), '-');
  EXPECT_TRUE(queue.begin_idle());
  queue.end_idle();
  queue.done();
  EXPECT_EQ(pop(), 't');
  EXPECT_TRUE(queue.empty());
}

TEST_F(TaskQueueTest, ContextsAreMadeOneAtATime) {
  for (int i = 0; i < 3; ++i) push(true);
  push(false);
  EXPECT_EQ(pop(), 'c');
  EXPECT_EQ(pop(), 't') << "others do not wait for it";
  EXPECT_EQ(pop(), '-');
  EXPECT_TRUE(queue.begin_idle()) << "who cannot run one sleeps";
  queue.end_idle();
  queue.context_done();
  EXPECT_FALSE(queue.begin_idle());
  EXPECT_EQ(pop(), 'c');
  queue.context_done();
  EXPECT_EQ(pop(), 'c');
  queue.context_done();
  EXPECT_EQ(pop(), '-');
  EXPECT_TRUE(queue.empty());
}

}  // namespace
}  // namespace stoa::test
