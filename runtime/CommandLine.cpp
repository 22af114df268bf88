//===- CommandLine.cpp - Options of the runtime programs ------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parsing of options, and the frame around a main.
//
//===----------------------------------------------------------------------===//

#include "runtime/CommandLine.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <iostream>

using namespace streamtensor;
using namespace streamtensor::runtime;

CommandLine::CommandLine(int argc, const char *const *argv,
                         const std::vector<std::string> &options,
                         size_t positionals,
                         const std::vector<std::string> &flags) {
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    if (argument.compare(0, 2, "--") != 0) {
      others.push_back(std::move(argument));
      continue;
    }
    const size_t equals = argument.find('=');
    const std::string name =
        argument.substr(2, equals == std::string::npos ? equals : equals - 2);
    const bool isFlag =
        std::find(flags.begin(), flags.end(), name) != flags.end();
    if (!isFlag &&
        std::find(options.begin(), options.end(), name) == options.end())
      throw UsageError("unknown option '--" + name + "'");
    if (values.count(name))
      throw UsageError("expected '--" + name + "' once but got it twice");
    if (isFlag && equals != std::string::npos)
      throw UsageError("expected no value of '--" + name + "'");
    if (isFlag)
      values[name] = "";
    else if (equals != std::string::npos)
      values[name] = argument.substr(equals + 1);
    else if (i + 1 < argc)
      values[name] = argv[++i];
    else
      throw UsageError("expected a value after '--" + name + "'");
  }
  if (others.size() != positionals)
    throw UsageError("expected " + std::to_string(positionals) +
                     (positionals == 1 ? " argument" : " arguments") +
                     " besides the options but got " +
                     std::to_string(others.size()));
}

const std::string &CommandLine::required(const std::string &option) const {
  auto value = values.find(option);
  if (value == values.end())
    throw UsageError("expected the option '--" + option + "'");
  return value->second;
}

std::string CommandLine::optional(const std::string &option) const {
  auto value = values.find(option);
  return value == values.end() ? "" : value->second;
}

int runtime::runProgram(int argc, const char *const *argv,
                        const std::string &usage,
                        const std::function<void()> &body) {
  const std::string name =
      argc ? std::filesystem::path(argv[0]).filename().string() : "program";
  for (int i = 1; i < argc; ++i)
    if (!std::strcmp(argv[i], "--help") || !std::strcmp(argv[i], "-h")) {
      std::cout << usage;
      return 0;
    }
  try {
    body();
    return 0;
  } catch (const UsageError &error) {
    std::cerr << name << ": error: " << error.what() << "\n" << usage;
    return 2;
  } catch (const std::exception &error) {
    std::cerr << name << ": error: " << error.what() << "\n";
    return 1;
  }
}
