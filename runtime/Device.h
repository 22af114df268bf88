//===- Device.h - Something that runs designs -------------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The interface of a device: it holds buffers and opens and runs designs. The
// simulated device implements it on the CPU, XrtDevice on a board.
//
// Sizes and offsets are in bytes. Every function throws Error with a complete
// text.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_RUNTIME_DEVICE_H
#define STREAMTENSOR_RUNTIME_DEVICE_H

#include "runtime/DesignInterface.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace streamtensor::runtime {

/// A piece of device memory; freed with the last reference.
class Buffer {
public:
  virtual ~Buffer();
  uint64_t bytes() const { return size; }

protected:
  explicit Buffer(uint64_t bytes) : size(bytes) {}

private:
  uint64_t size;
};
using BufferRef = std::shared_ptr<Buffer>;

/// A design that a device has made ready to run.
class Design {
public:
  virtual ~Design();
  const DesignInterface &interface() const { return info; }

protected:
  explicit Design(DesignInterface info) : info(std::move(info)) {}

private:
  DesignInterface info;
};
using DesignRef = std::shared_ptr<Design>;

/// Where an argument of a design begins; the offset is a multiple of 64.
struct BufferView {
  BufferRef buffer;
  uint64_t offset = 0;
};

/// The tokens that went through a FIFO, one behind the other.
struct FifoTokens {
  std::string name;
  uint64_t tokenBytes = 0;
  std::vector<char> bytes;
};

struct FifoCount {
  std::string name, group;
  uint64_t tokens = 0;
  /// Highest fill seen, in tokens; at most `depth`.
  uint64_t peak = 0;
  uint64_t depth = 0;
};

/// What one run of a design did.
struct RunStatistics {
  double seconds = 0;
  /// Whether the device counted tokens; else everything below is empty or 0.
  bool isCounted = false;
  std::vector<FifoCount> fifos;
  /// Multiply-accumulates: tokens counted times constants of the design.
  uint64_t macs = 0;
  /// Bytes moved per entry of `DesignInterface::dma`.
  std::vector<uint64_t> dmaBytes;
  /// Of the FIFOs that were to be recorded, in the order of that list.
  std::vector<FifoTokens> recorded;
};

class Device {
public:
  virtual ~Device();

  /// Zero-filled memory.
  virtual BufferRef allocate(uint64_t bytes) = 0;
  /// The contents of a file, to be read only. The simulated device maps the
  /// file, so that its pages are shared with the system's file cache.
  virtual BufferRef loadFile(const std::string &path) = 0;
  virtual void write(Buffer &buffer, uint64_t offset, const void *data,
                     uint64_t bytes) = 0;
  virtual void read(const Buffer &buffer, uint64_t offset, void *data,
                    uint64_t bytes) = 0;
  /// Copies between two places of device memory that do not overlap.
  virtual void copy(Buffer &to, uint64_t toOffset, const Buffer &from,
                    uint64_t fromOffset, uint64_t bytes) = 0;
  virtual void fillZero(Buffer &buffer) = 0;

  /// Makes the design in `directory` ready to run. May be called from several
  /// threads at once.
  virtual DesignRef open(const std::string &directory) = 0;
  /// The same for several designs, which may share what is prepared for them;
  /// that is kept in `folder`. No two may have the same function name.
  virtual std::vector<DesignRef>
  openTogether(const std::vector<std::string> &directories,
               const std::string &folder) = 0;
  /// Runs a design once, with one view per argument in their order and a value
  /// for each of its parameters, and returns when it has ended. The tokens of
  /// the FIFOs `recorded` are kept, which only a simulation can do. Throws
  /// Error.
  RunStatistics run(Design &design, const std::vector<BufferView> &arguments,
                    const ParameterValues &parameters,
                    const std::vector<std::string> &recorded = {});

private:
  /// The same; arguments and parameters fit the design.
  virtual RunStatistics launch(Design &design,
                               const std::vector<BufferView> &arguments,
                               const ParameterValues &parameters,
                               const std::vector<std::string> &recorded) = 0;
};

/// Throws Error unless bytes [offset, offset + bytes) lie in the buffer;
/// `action` is the verb of the message.
void checkRange(const Buffer &buffer, uint64_t offset, uint64_t bytes,
                const char *action);

/// Throws Error unless there is one view per argument and each is large enough
/// and aligned.
void checkArguments(const DesignInterface &design,
                    const std::vector<BufferView> &arguments);

/// Throws Error unless there is a value in range for each parameter of the
/// design, and no other.
void checkParameters(const DesignInterface &design,
                     const ParameterValues &parameters);

} // namespace streamtensor::runtime

#endif // STREAMTENSOR_RUNTIME_DEVICE_H
