//===- Buffers.cpp - Boards and buffers that are simulated ----------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// xrt::device and xrt::bo. Both sides of a new buffer hold 0xa5, so that a
// missing write or sync shows.
//
//===----------------------------------------------------------------------===//

#include "runtime/xrt-sim/Board.h"

#include <cstdio>
#include <cstring>
#include <stdexcept>

using namespace streamtensor::runtime;

namespace {

constexpr char kUnwritten = static_cast<char>(0xa5);

/// Where XRT ends.
constexpr size_t kTooLarge = size_t(1) << 32;

[[noreturn]] void fail(const std::string &text) {
  throw std::runtime_error(text);
}

void checkInside(const xrt::bo_impl &buffer, size_t size, size_t offset,
                 const char *action) {
  if (offset > buffer.size || size > buffer.size - offset)
    fail(std::string("attempting to ") + action + " past buffer size");
}

char *hostSide(const xrt::bo_impl &buffer) {
  return buffer.host->data() + buffer.offset;
}

} // namespace

void reportSimulated(const std::string &text) {
  std::fprintf(stderr, "simulated board: %s\n", text.c_str());
}

xrt::device::device(unsigned int index) {
  if (index != 0)
    fail("Could not open device with index '" + std::to_string(index) + "'");
  // Every handle of a process means the same board.
  static std::mutex mutex;
  static std::weak_ptr<xrt_core::device> board;
  const std::lock_guard<std::mutex> lock(mutex);
  handle = board.lock();
  if (!handle)
    board = handle = std::make_shared<xrt_core::device>();
}

xrt::uuid xrt::device::load_xclbin(const xclbin &executable) {
  handle->loaded = executable.get_handle();
  return handle->loaded->id;
}

xrt::uuid xrt::device::load_xclbin(const std::string &path) {
  return load_xclbin(xclbin(path));
}

xrt::device::operator xclDeviceHandle() const { return handle.get(); }

xrt::bo::bo(xclDeviceHandle device, size_t size, bo::flags flags,
            memory_group group)
    : handle(std::make_shared<bo_impl>()) {
  if (!size)
    fail("size must be a positive number");
  if (size >= kTooLarge)
    fail("buffers of 4 GB and more are not supported");
  if (flags != bo::flags::normal)
    fail("a simulated board has normal buffers only");
  handle->device = static_cast<xrt_core::device *>(device)->shared_from_this();
  if (!handle->device->loaded)
    fail("no executable is loaded");
  handle->group = static_cast<int>(group);
  handle->size = size;
  handle->host = std::make_shared<std::vector<char>>(size, kUnwritten);
  handle->board = handle->device->simulation->allocate(size);
  sync(XCL_BO_SYNC_BO_TO_DEVICE);
}

xrt::bo::bo(const bo &parent, size_t size, size_t offset)
    : handle(std::make_shared<bo_impl>(*parent.handle)) {
  if (offset > handle->size || size > handle->size - offset)
    fail("sub buffer size and offset");
  handle->size = size;
  handle->offset += offset;
}

size_t xrt::bo::size() const { return handle->size; }

void *xrt::bo::map() { return hostSide(*handle); }

void xrt::bo::sync(xclBOSyncDirection direction, size_t size, size_t offset) {
  checkInside(*handle, size, offset, "sync");
  char *host = hostSide(*handle) + offset;
  Device &simulation = *handle->device->simulation;
  if (direction == XCL_BO_SYNC_BO_TO_DEVICE)
    simulation.write(*handle->board, handle->offset + offset, host, size);
  else
    simulation.read(*handle->board, handle->offset + offset, host, size);
}

void xrt::bo::write(const void *source, size_t size, size_t offset) {
  checkInside(*handle, size, offset, "write");
  std::memcpy(hostSide(*handle) + offset, source, size);
}

void xrt::bo::read(void *target, size_t size, size_t offset) {
  checkInside(*handle, size, offset, "read");
  std::memcpy(target, hostSide(*handle) + offset, size);
}
