//===- XrtBuffer.h - A buffer on the host and on a board --------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A buffer of XrtDevice: memory of the host in pieces below 4 GB, and of each
// piece a copy per bank of the board's memory in which it has been an argument.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_RUNTIME_XRTBUFFER_H
#define STREAMTENSOR_RUNTIME_XRTBUFFER_H

#include "runtime/Device.h"
#include "runtime/MappedMemory.h"

#include <map>
#include <vector>
#include <xrt/xrt_bo.h>
#include <xrt/xrt_device.h>

namespace streamtensor::runtime {

/// At least one of the host's memory and the copies is current at any time.
class XrtPiece {
public:
  /// `host` stays valid.
  XrtPiece(char *host, uint64_t bytes) : host(host), bytes(bytes) {}

  void write(uint64_t offset, const void *data, uint64_t count);
  void read(uint64_t offset, void *data, uint64_t count);
  void fillZero();
  /// The copy in bank `group`, current, made when there is none yet.
  xrt::bo &bind(const xrt::device &device, int group);
  /// A kernel has written to the copy in bank `group`.
  void markWritten(int group);

private:
  struct Copy {
    xrt::bo buffer;
    bool isCurrent = false;
  };

  /// Brings the host's memory up to date.
  void pull();
  Copy &currentCopy();

  char *host;
  uint64_t bytes;
  bool hostIsCurrent = true;
  std::map<int, Copy> copies;
};

class XrtBuffer final : public Buffer {
public:
  XrtBuffer(MappedMemory memory, uint64_t pieceBytes);

  bool isFile() const { return memory.isFile(); }
  void write(uint64_t offset, const void *data, uint64_t bytes);
  void read(uint64_t offset, void *data, uint64_t bytes) const;
  void fillZero();

  /// Whether bytes [offset, offset + bytes) lie in one piece.
  bool isInOnePiece(uint64_t offset, uint64_t bytes) const;
  /// The piece that holds byte `offset`, which then counts from its begin.
  XrtPiece &pieceAt(uint64_t &offset) const;

private:
  MappedMemory memory;
  uint64_t pieceBytes;
  /// Reading brings the host's memory up to date.
  mutable std::vector<XrtPiece> pieces;
};

} // namespace streamtensor::runtime

#endif // STREAMTENSOR_RUNTIME_XRTBUFFER_H
