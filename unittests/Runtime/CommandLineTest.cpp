//===- CommandLineTest.cpp - Tests of command lines -----------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Options, exit codes and messages of the runtime programs.
//
//===----------------------------------------------------------------------===//

#include "runtime/CommandLine.h"

#include <gtest/gtest.h>

using namespace streamtensor::runtime;

namespace {

CommandLine parse(std::vector<const char *> arguments) {
  arguments.insert(arguments.begin(), "program");
  return CommandLine(static_cast<int>(arguments.size()), arguments.data(),
                     {"inputs", "json"}, 1);
}

std::string errorOf(const std::vector<const char *> &arguments) {
  try {
    parse(arguments);
  } catch (const UsageError &error) {
    return error.what();
  }
  return "no error";
}

TEST(CommandLine, TakesBothSpellings) {
  const CommandLine line = parse({"--inputs", "a", "dir", "--json=b=c"});
  EXPECT_EQ(line.positional(0), "dir");
  EXPECT_EQ(line.required("inputs"), "a");
  EXPECT_EQ(line.optional("json"), "b=c");
  EXPECT_EQ(parse({"dir"}).optional("json"), "");
}

TEST(CommandLine, RefusesWrongUsage) {
  EXPECT_EQ(errorOf({"dir", "--input", "a"}), "unknown option '--input'");
  EXPECT_EQ(errorOf({"dir", "--inputs"}), "expected a value after '--inputs'");
  EXPECT_EQ(errorOf({"dir", "--json=a", "--json=b"}),
            "expected '--json' once but got it twice");
  EXPECT_EQ(errorOf({"a", "b"}),
            "expected 1 argument besides the options but got 2");
  EXPECT_THROW(parse({"dir"}).required("inputs"), UsageError);
}

TEST(CommandLine, ExitCodes) {
  const char *argv[] = {"path/tool", nullptr};
  auto run = [&](const std::function<void()> &body) {
    return runProgram(1, argv, "usage: tool\n", body);
  };
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(run([] {}), 0);
  EXPECT_EQ(run([] { throw std::runtime_error("broken"); }), 1);
  EXPECT_EQ(run([] { throw UsageError("wrong"); }), 2);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "tool: error: broken\ntool: error: wrong\nusage: tool\n");
}

} // namespace
