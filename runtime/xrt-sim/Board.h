//===- Board.h - A board that is simulated ----------------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What stands behind the classes of XRT's headers in this library. XRT's
// headers name some of these types without saying what they are.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_RUNTIME_XRT_SIM_BOARD_H
#define STREAMTENSOR_RUNTIME_XRT_SIM_BOARD_H

#include "runtime/SimulatedDevice.h"

#include <experimental/xrt_xclbin.h>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <variant>
#include <vector>
#include <xrt/xrt_bo.h>
#include <xrt/xrt_device.h>
#include <xrt/xrt_kernel.h>

/// What happened on the simulated board, on stderr.
void reportSimulated(const std::string &text);

namespace xrt {

/// A kernel of an executable: a compiled design.
class xclbin::kernel_impl {
public:
  std::string directory;
  streamtensor::runtime::DesignInterface info;
  /// The bank of memory of each argument, by connectivity.cfg.
  std::vector<int> groups;
};

class xclbin_impl {
public:
  std::vector<std::shared_ptr<xclbin::kernel_impl>> kernels;
  xrt::uuid id;
};

} // namespace xrt

namespace xrt_core {

/// One board with its loaded executable.
class device : public std::enable_shared_from_this<device> {
public:
  std::unique_ptr<streamtensor::runtime::Device> simulation =
      streamtensor::runtime::makeSimulatedDevice(reportSimulated);
  std::shared_ptr<xrt::xclbin_impl> loaded;
};

} // namespace xrt_core

namespace xrt {

/// A buffer with a side on the host and one on the board.
class bo_impl {
public:
  std::shared_ptr<xrt_core::device> device;
  int group = 0;
  size_t size = 0;
  /// Where it begins in its parent; 0 without one.
  size_t offset = 0;
  std::shared_ptr<std::vector<char>> host;
  streamtensor::runtime::BufferRef board;
};

class kernel_impl {
public:
  std::shared_ptr<xrt_core::device> device;
  std::shared_ptr<xclbin::kernel_impl> kernel;
  streamtensor::runtime::DesignRef design;

  const streamtensor::runtime::DesignInterface &info() const {
    return kernel->info;
  }
};

class run_impl {
public:
  std::shared_ptr<kernel_impl> kernel;
  /// Per argument of the kernel; empty before it is set.
  std::vector<std::variant<std::monostate, std::shared_ptr<bo_impl>, int32_t>>
      arguments;
  ert_cmd_state state = ERT_CMD_STATE_NEW;
};

} // namespace xrt

#endif // STREAMTENSOR_RUNTIME_XRT_SIM_BOARD_H
