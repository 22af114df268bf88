//===- Runs.cpp - Kernels and runs that are simulated ---------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// xrt::kernel and xrt::run. The kernel runs when the host waits for it: a host
// that does not wait sees no results. A deadlock, which would occupy a board
// for ever, is a timeout; what the simulation says of it goes to stderr.
//
//===----------------------------------------------------------------------===//

#include "runtime/xrt-sim/Board.h"

#include <cstring>
#include <stdexcept>

using namespace streamtensor;
using namespace streamtensor::runtime;

namespace {

[[noreturn]] void fail(const std::string &text) {
  throw std::runtime_error(text);
}

/// The message of the scheduler when no process can go on begins with it.
bool isDeadlock(const std::string &message) {
  return message.find("deadlock") != std::string::npos;
}

} // namespace

xrt::kernel::kernel(const device &device, const xrt::uuid &id,
                    const std::string &name, cu_access_mode)
    : handle(std::make_shared<kernel_impl>()) {
  handle->device = device.get_handle();
  const std::shared_ptr<xclbin_impl> &loaded = handle->device->loaded;
  if (!loaded || loaded->id != id)
    fail("no executable with uuid '" + id.to_string() + "' is loaded");
  for (const auto &kernel : loaded->kernels)
    if (kernel->info.function == name)
      handle->kernel = kernel;
  if (!handle->kernel)
    fail("no such kernel '" + name + "'");
  handle->design = handle->device->simulation->open(handle->kernel->directory);
}

int xrt::kernel::group_id(int index) const {
  const std::vector<int> &groups = handle->kernel->groups;
  if (index < 0 || static_cast<size_t>(index) >= groups.size())
    fail("argument " + std::to_string(index) + " has no memory");
  return groups[index];
}

xrt::run::run(const kernel &kernel) : handle(std::make_shared<run_impl>()) {
  handle->kernel = kernel.get_handle();
  const DesignInterface &info = handle->kernel->info();
  handle->arguments.resize(info.arguments.size() + info.parameters.size());
}

void xrt::run::set_arg_at_index(int index, const xrt::bo &buffer) {
  const std::vector<int> &groups = handle->kernel->kernel->groups;
  if (index < 0 || static_cast<size_t>(index) >= groups.size())
    fail("argument " + std::to_string(index) + " is no buffer");
  const std::shared_ptr<bo_impl> &value = buffer.get_handle();
  if (value->group != groups[index])
    fail("argument " + std::to_string(index) + " is in memory bank " +
         std::to_string(groups[index]) + " but its buffer in " +
         std::to_string(value->group));
  handle->arguments[index] = value;
}

void xrt::run::set_arg_at_index(int index, const void *value, size_t bytes) {
  const size_t first = handle->kernel->kernel->groups.size();
  if (index < 0 || static_cast<size_t>(index) < first ||
      static_cast<size_t>(index) >= handle->arguments.size())
    fail("argument " + std::to_string(index) + " is no number");
  int32_t number;
  if (bytes != sizeof(number))
    fail("argument " + std::to_string(index) + " has 4 bytes but got " +
         std::to_string(bytes));
  std::memcpy(&number, value, bytes);
  handle->arguments[index] = number;
}

void xrt::run::start() {
  for (size_t i = 0; i < handle->arguments.size(); ++i)
    if (std::holds_alternative<std::monostate>(handle->arguments[i]))
      fail("argument " + std::to_string(i) + " is not set");
  handle->state = ERT_CMD_STATE_RUNNING;
}

ert_cmd_state xrt::run::wait(const std::chrono::milliseconds &) const {
  if (handle->state != ERT_CMD_STATE_RUNNING)
    return handle->state;
  const DesignInterface &info = handle->kernel->info();
  std::vector<BufferView> views;
  ParameterValues values;
  for (size_t i = 0; i < handle->arguments.size(); ++i) {
    if (const auto *buffer = std::get_if<1>(&handle->arguments[i]))
      views.push_back({(*buffer)->board, (*buffer)->offset});
    else
      values[info.parameters[i - info.arguments.size()].name] =
          std::get<int32_t>(handle->arguments[i]);
  }
  try {
    handle->kernel->device->simulation->run(*handle->kernel->design, views,
                                            values);
    handle->state = ERT_CMD_STATE_COMPLETED;
  } catch (const std::exception &error) {
    reportSimulated(error.what());
    handle->state =
        isDeadlock(error.what()) ? ERT_CMD_STATE_TIMEOUT : ERT_CMD_STATE_ERROR;
  }
  return handle->state;
}

ert_cmd_state xrt::run::state() const { return handle->state; }
