//===- CacheRows.h - Rows of a key-value cache ------------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Access to the rows of one key-value cache: slices of a row-major tensor
// along one of its dimensions.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_RUNTIME_CACHEROWS_H
#define STREAMTENSOR_RUNTIME_CACHEROWS_H

#include "runtime/Device.h"

#include <vector>

namespace streamtensor::runtime {

class CacheRows {
public:
  /// `cache` is the argument through which a design of up to `tokens` tokens
  /// sees the cache, `result` the rows it returns; rows are counted along
  /// `axis`. The memory must have at least `maxLength` rows. Throws Error,
  /// naming `design`, when the shapes do not fit each other.
  CacheRows(const ArgumentInfo &cache, const ArgumentInfo &result, size_t axis,
            int64_t tokens, int64_t maxLength, const std::string &design);

  /// Type, bytes and shape of one row.
  DType dtype() const { return result.dtype; }
  uint64_t rowBytes() const { return outer * inner; }
  std::vector<int64_t> rowShape() const;

  /// Copies the rows of `result`, as many as it has for these values of the
  /// design's parameters, to rows `position`... of the cache, within device
  /// memory.
  void append(Device &device, const BufferView &cache, const BufferView &result,
              int64_t position, const ParameterValues &values) const;
  void write(Device &device, const BufferView &cache, int64_t row,
             const void *data) const;
  std::vector<char> read(Device &device, const BufferView &cache,
                         int64_t row) const;

private:
  ArgumentInfo result;
  size_t axis;
  uint64_t outer; // product of the dimensions before the axis
  uint64_t inner; // bytes of the dimensions after it
  uint64_t
      stride; // bytes from one slice to the next along the outer dimensions
};

} // namespace streamtensor::runtime

#endif // STREAMTENSOR_RUNTIME_CACHEROWS_H
