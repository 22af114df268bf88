//===- CommandLine.h - Options of the runtime programs ----------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The command line of the runtime's programs: named options and positional
// arguments, and the exit codes that all programs share.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_RUNTIME_COMMANDLINE_H
#define STREAMTENSOR_RUNTIME_COMMANDLINE_H

#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace streamtensor::runtime {

/// Wrong usage of a program; ends it with exit code 2.
class UsageError : public std::runtime_error {
public:
  explicit UsageError(const std::string &text) : std::runtime_error(text) {}
};

class CommandLine {
public:
  /// Options are written `--name VALUE` or `--name=VALUE`, flags `--name`, each
  /// at most once. Throws UsageError for one that is not in `options` or
  /// `flags`, and unless there are exactly `positionals` other arguments.
  CommandLine(int argc, const char *const *argv,
              const std::vector<std::string> &options, size_t positionals,
              const std::vector<std::string> &flags = {});

  const std::string &positional(size_t index) const { return others[index]; }
  /// Throws UsageError when the option is missing.
  const std::string &required(const std::string &option) const;
  /// The value, or an empty string.
  std::string optional(const std::string &option) const;
  bool flag(const std::string &name) const { return has(name); }
  /// Whether an option or a flag is given.
  bool has(const std::string &name) const { return values.count(name) != 0; }

private:
  std::map<std::string, std::string> values;
  std::vector<std::string> others;
};

/// Runs `body` and returns the exit code of the program: 0, 1 after any
/// exception (its text goes to stderr), 2 after a UsageError (with `usage`).
/// `--help` prints `usage` to stdout.
int runProgram(int argc, const char *const *argv, const std::string &usage,
               const std::function<void()> &body);

} // namespace streamtensor::runtime

#endif // STREAMTENSOR_RUNTIME_COMMANDLINE_H
