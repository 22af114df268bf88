//===- Executable.cpp - Executables of a simulated board ------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// xrt::xclbin. A simulated executable is a text: the line `streamtensor
// simulated xclbin`, then a line `design DIR` per kernel, with the directory of
// a compiled design relative to the file.
//
//===----------------------------------------------------------------------===//

#include "runtime/xrt-sim/Board.h"

#include "runtime/System.h"
#include "streamtensor/Support/Sha256.h"

#include <filesystem>
#include <sstream>
#include <stdexcept>

using namespace streamtensor;
using namespace streamtensor::runtime;
namespace fs = std::filesystem;

namespace {

constexpr const char *kFirstLine = "streamtensor simulated xclbin";
constexpr const char *kDesign = "design ";

/// The banks that connectivity.cfg gives the arguments of a kernel, in lines
/// `sp=INSTANCE.ARGUMENT:HBM[3]`; 0 for those that it does not name. Arguments
/// of the file are variables of the kernel, whose order is that of the design.
std::vector<int> readGroups(const DesignInterface &design) {
  std::vector<int> groups;
  std::istringstream lines(
      readTextFile(design.directory + "/connectivity.cfg"));
  for (std::string line; std::getline(lines, line);) {
    if (line.compare(0, 3, "sp=") != 0)
      continue;
    const size_t bracket = line.find('[');
    if (bracket == std::string::npos)
      throw std::runtime_error("no bank in '" + line + "'");
    groups.push_back(std::stoi(line.substr(bracket + 1)));
  }
  if (groups.empty())
    groups.assign(design.arguments.size(), 0);
  if (groups.size() != design.arguments.size())
    throw std::runtime_error(
        "'" + design.directory + "/connectivity.cfg' names " +
        std::to_string(groups.size()) + " of " +
        std::to_string(design.arguments.size()) + " arguments");
  return groups;
}

/// 128 bits of a text's hash, spelled as a UUID.
xrt::uuid uuidOf(const std::string &text) {
  std::string digits = sha256Hex(text).substr(0, 32);
  for (size_t place : {20, 16, 12, 8})
    digits.insert(place, "-");
  return xrt::uuid(digits);
}

std::shared_ptr<xrt::xclbin_impl> readExecutable(const std::string &path) {
  const std::string text = readTextFile(path);
  std::istringstream lines(text);
  std::string line;
  if (!std::getline(lines, line) || line != kFirstLine)
    throw std::runtime_error("'" + path +
                             "' is no executable of a simulated board");
  auto result = std::make_shared<xrt::xclbin_impl>();
  std::string identity = text;
  while (std::getline(lines, line)) {
    if (line.compare(0, std::string(kDesign).size(), kDesign) != 0)
      throw std::runtime_error("'" + path + "' has a line '" + line + "'");
    const fs::path directory =
        fs::path(path).parent_path() / line.substr(std::string(kDesign).size());
    auto kernel = std::make_shared<xrt::xclbin::kernel_impl>();
    kernel->directory = directory.lexically_normal().string();
    kernel->info = DesignInterface::read(kernel->directory);
    kernel->groups = readGroups(kernel->info);
    identity += kernel->info.kernelSha256;
    result->kernels.push_back(std::move(kernel));
  }
  result->id = uuidOf(identity);
  return result;
}

} // namespace

xrt::xclbin::xclbin(const std::string &filename)
    : detail::pimpl<xclbin_impl>(readExecutable(filename)) {}

std::vector<xrt::xclbin::kernel> xrt::xclbin::get_kernels() const {
  std::vector<kernel> kernels;
  for (const std::shared_ptr<kernel_impl> &kernel : handle->kernels)
    kernels.emplace_back(kernel);
  return kernels;
}

xrt::uuid xrt::xclbin::get_uuid() const { return handle->id; }

std::string xrt::xclbin::kernel::get_name() const {
  return handle->info.function;
}

size_t xrt::xclbin::kernel::get_num_args() const {
  return handle->info.arguments.size() + handle->info.parameters.size();
}
