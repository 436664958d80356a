// The choice of a task to run.
#include "frontends/wire/task_queue.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace stoa::wire {
namespace {

struct ToyTask {
  bool alone = false;
  bool exclusive() const { return alone; }
};

class TaskQueueTest : public testing::Test {
 protected:
  ~TaskQueueTest() override { close(wake_fd); }
  void push(bool exclusive) { queue.push({exclusive}); }
  // 'x' is exclusive, 't' is not, '-' is none.
  char pop() {
    ToyTask task;
    if (!queue.pop(task)) return '-';
    return task.exclusive() ? 'x' : 't';
  }
  const int wake_fd = eventfd(0, EFD_NONBLOCK | EFD_SEMAPHORE);
  TaskQueue<ToyTask> queue{wake_fd, 3};
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

TEST_F(TaskQueueTest, ExclusiveTasksRunOneAtATime) {
  for (int i = 0; i < 3; ++i) push(true);
  push(false);
  EXPECT_EQ(pop(), 'x');
  EXPECT_EQ(pop(), 't') << "others do not wait for it";
  EXPECT_EQ(pop(), '-');
  EXPECT_TRUE(queue.begin_idle()) << "a worker that cannot run one sleeps";
  queue.end_idle();
  queue.exclusive_done();
  EXPECT_FALSE(queue.begin_idle());
  EXPECT_EQ(pop(), 'x');
  queue.exclusive_done();
  EXPECT_EQ(pop(), 'x');
  queue.exclusive_done();
  EXPECT_EQ(pop(), '-');
  EXPECT_TRUE(queue.empty());
}

}  // namespace
}  // namespace stoa::wire
