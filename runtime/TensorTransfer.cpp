//===- TensorTransfer.cpp - Tensors to and from a device ------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Packed tensors go through host memory once; row-major ones are copied in the
// longest pieces that are contiguous on both sides.
//
//===----------------------------------------------------------------------===//

#include "runtime/TensorTransfer.h"

#include "runtime/Error.h"
#include "streamtensor/Support/Packing.h"

#include <cstring>

using namespace streamtensor;
using namespace streamtensor::runtime;

namespace {

/// Calls fn(offset in the tensor, offset in memory, bytes) for each contiguous
/// piece of a row-major tensor that lies in a larger row-major memory.
template <typename Fn>
void forEachPiece(const ArgumentInfo &argument, Fn &&fn) {
  const std::vector<int64_t> &shape = argument.shape;
  const std::vector<int64_t> &memory = argument.bufferShape;
  // Dimensions from `split` on are contiguous: only the first of them may be
  // smaller than its memory.
  size_t split = shape.size();
  uint64_t piece = dtypeBytes(argument.dtype), memoryPiece = piece;
  while (split > 0 && piece == memoryPiece) {
    --split;
    piece *= static_cast<uint64_t>(shape[split]);
    memoryPiece *= static_cast<uint64_t>(memory[split]);
  }
  const uint64_t pieces = elementCount({shape.begin(), shape.begin() + split});
  if (piece == 0)
    return;
  for (uint64_t i = 0; i < pieces; ++i) {
    uint64_t rest = i, stride = memoryPiece, offset = 0;
    for (size_t d = split; d-- > 0;) {
      offset += rest % static_cast<uint64_t>(shape[d]) * stride;
      rest /= static_cast<uint64_t>(shape[d]);
      stride *= static_cast<uint64_t>(memory[d]);
    }
    fn(i * piece, offset, piece);
  }
}

/// Bytes of the tensor that fills the memory.
uint64_t bufferBytes(const ArgumentInfo &argument) {
  return elementCount(argument.bufferShape) * dtypeBytes(argument.dtype);
}

[[noreturn]] void failPacking(const ArgumentInfo &argument,
                              const std::string &error) {
  throw Error("cannot pack '" + argument.name + "': " + error);
}

} // namespace

uint64_t runtime::tensorBytes(const ArgumentInfo &argument) {
  return elementCount(argument.shape) * dtypeBytes(argument.dtype);
}

bool runtime::sameLayout(const ArgumentInfo &a, const ArgumentInfo &b) {
  return a.dtype == b.dtype && a.bufferShape == b.bufferShape &&
         a.packing == b.packing && a.packedShape == b.packedShape;
}

std::vector<char> runtime::packArgument(const ArgumentInfo &argument,
                                        const void *data) {
  const size_t element = dtypeBytes(argument.dtype);
  std::vector<char> packed(packedBytes(*argument.packing, element));
  std::string error;
  if (!packTensor(*argument.packing, element, {argument.packedShape}, data,
                  packed.data(), error))
    failPacking(argument, error);
  return packed;
}

void runtime::writeTensor(Device &device, const BufferView &view,
                          const ArgumentInfo &argument, const void *data) {
  if (argument.packing) {
    // The packed order is that of the largest tensor.
    std::vector<char> largest;
    if (argument.shape != argument.bufferShape) {
      largest.resize(bufferBytes(argument));
      forEachPiece(argument, [&](uint64_t from, uint64_t to, uint64_t bytes) {
        std::memcpy(largest.data() + to, static_cast<const char *>(data) + from,
                    bytes);
      });
      data = largest.data();
    }
    const std::vector<char> packed = packArgument(argument, data);
    device.write(*view.buffer, view.offset, packed.data(), packed.size());
    return;
  }
  forEachPiece(argument, [&](uint64_t from, uint64_t to, uint64_t bytes) {
    device.write(*view.buffer, view.offset + to,
                 static_cast<const char *>(data) + from, bytes);
  });
}

std::vector<char> runtime::readTensor(Device &device, const BufferView &view,
                                      const ArgumentInfo &argument) {
  std::vector<char> data(tensorBytes(argument));
  if (argument.packing) {
    const size_t element = dtypeBytes(argument.dtype);
    std::vector<char> packed(packedBytes(*argument.packing, element));
    device.read(*view.buffer, view.offset, packed.data(), packed.size());
    std::vector<char> largest(bufferBytes(argument));
    std::string error;
    if (!unpackTensor(*argument.packing, element, {argument.packedShape},
                      packed.data(), largest.data(), error))
      failPacking(argument, error);
    forEachPiece(argument, [&](uint64_t to, uint64_t from, uint64_t bytes) {
      std::memcpy(data.data() + to, largest.data() + from, bytes);
    });
    return data;
  }
  forEachPiece(argument, [&](uint64_t to, uint64_t from, uint64_t bytes) {
    device.read(*view.buffer, view.offset + from, data.data() + to, bytes);
  });
  return data;
}
