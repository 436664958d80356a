#include "backends/kv/rocksdb/log_gate.h"

#include <gtest/gtest.h>

namespace stoa::kv {
namespace {

using State = LogGate::State;

TEST(LogGateTest, AfterAnErrorNobodyTouchesTheLogBeforeItHasRecovered) {
  LogGate gate;
  EXPECT_EQ(gate.run([] { return State::kSound; }), State::kSound);
  EXPECT_EQ(gate.run([] { return State::kNoRoom; }), State::kNoRoom);
  bool touched = false;
  EXPECT_EQ(gate.run([&] { return touched = true, State::kSound; }), State::kNoRoom);
  EXPECT_FALSE(touched);
  gate.recovered();
  EXPECT_EQ(gate.run([&] { return touched = true, State::kSound; }), State::kSound);
  EXPECT_TRUE(touched);
}

TEST(LogGateTest, WhatFailsBesideAWriteThatSucceedsIsNotForgotten) {
  LogGate gate;
  EXPECT_EQ(gate.run([&] { return gate.failed(State::kNoRoom), State::kSound; }), State::kNoRoom);
}

TEST(LogGateTest, ABrokenLogStaysBroken) {
  LogGate gate;
  gate.failed(State::kBroken);
  gate.failed(State::kNoRoom);
  gate.recovered();
  EXPECT_EQ(gate.state(), State::kBroken);
}

}  // namespace
}  // namespace stoa::kv
