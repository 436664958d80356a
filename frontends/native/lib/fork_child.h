// What becomes of handles in the child of a fork(2).
#pragma once

namespace stoa::native::lib {

// A handle that a child of fork(2) has a copy of. The threads of the parent are not in the child, and what they had
// locked is locked there for ever: in_child() puts new things in its place, before fork() returns there.
//
// Handles are made and ended by any thread; a fork waits for that to be over.
class ForkChild {
 public:
  ForkChild();
  virtual ~ForkChild();
  ForkChild(const ForkChild&) = delete;
  ForkChild& operator=(const ForkChild&) = delete;

  // In the child, whose only thread runs it. What other threads may have been changing is left as it is, and never
  // looked at again. Nothing for a handle that another thread was just making or ending: nobody has it here.
  virtual void in_child() {}

 private:
  friend void renew_in_child();
  ForkChild* next_ = nullptr;
  ForkChild* previous_ = nullptr;
};

}  // namespace stoa::native::lib
