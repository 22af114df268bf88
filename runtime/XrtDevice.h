//===- XrtDevice.h - A device on a board ------------------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs designs on a board through XRT (docs/boards.md). Its executable is
// looked for in this order: the file that the options name, `DIR/FUNCTION
// .xclbin` of the design, `model.xclbin` beside the design's directory. A board
// holds one executable; designs that run together are kernels of one. FILE
// .kernels beside an executable, where there is one, says of which kernel.cpp
// each kernel was made.
//
// XRT allocates a buffer in a bank of memory, which it knows by the kernel's
// argument (`group_id`), while a buffer of this interface exists before it is
// an argument of anything. So a buffer has memory on the host, and on the board
// one copy per bank in which it has been an argument. What is written goes to
// the host and to all copies that are current; a kernel that writes leaves one
// copy current. Copies are brought up to date before a launch.
//
// XRT does not support buffers of 4 GB and more (UG1393, XRT issue 6131). A
// larger one is split into pieces below that; an argument must lie in one.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_RUNTIME_XRTDEVICE_H
#define STREAMTENSOR_RUNTIME_XRTDEVICE_H

#include "runtime/Device.h"

#include <chrono>
#include <functional>

namespace streamtensor::runtime {

struct XrtOptions {
  /// Which board, as XRT counts them.
  unsigned board = 0;
  /// How long one run may take; 0 waits for ever.
  std::chrono::milliseconds timeout = std::chrono::minutes(1);
  /// The executable; empty looks for it as said above.
  std::string xclbin;
  /// Largest piece of a buffer in bytes, a multiple of 4096 below 4 GB.
  uint64_t pieceBytes = (uint64_t(1) << 32) - 4096;

  /// The board and the timeout that the variables STREAMTENSOR_XRT_BOARD and
  /// STREAMTENSOR_XRT_TIMEOUT_MS name. Throws Error for what is no number.
  static XrtOptions fromEnvironment();
};

/// Opens the board. Throws Error when there is none, saying what XRT said and
/// what to do. What a run counts is empty: a board counts no tokens.
/// `progress` is told in a few words what takes long (loading the executable);
/// it may be empty.
std::unique_ptr<Device>
makeXrtDevice(const XrtOptions &options = {},
              std::function<void(const std::string &)> progress = {});

} // namespace streamtensor::runtime

#endif // STREAMTENSOR_RUNTIME_XRTDEVICE_H
