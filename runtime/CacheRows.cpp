//===- CacheRows.cpp - Rows of a key-value cache --------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Offsets of rows, and copies of them.
//
//===----------------------------------------------------------------------===//

#include "runtime/CacheRows.h"

#include "runtime/Error.h"
#include "runtime/TensorTransfer.h"

using namespace streamtensor;
using namespace streamtensor::runtime;

CacheRows::CacheRows(const ArgumentInfo &cache, const ArgumentInfo &result,
                     size_t axis, int64_t tokens, int64_t maxLength,
                     const std::string &design)
    : result(result), axis(axis) {
  auto fail = [&](const std::string &text) {
    throw Error("cache '" + cache.name + "' of design '" + design + "' " +
                text);
  };
  const std::vector<int64_t> &shape = cache.shape;
  if (axis >= shape.size())
    fail("expected an axis below its rank " + std::to_string(shape.size()) +
         " but got " + std::to_string(axis));
  if (cache.packing)
    fail("expected row-major memory but got a packed order; rows cannot be "
         "appended there");
  std::vector<int64_t> newRows = shape, buffer = shape;
  newRows[axis] = tokens;
  if (result.shape != newRows || result.dtype != cache.dtype)
    fail("expected new rows '" + result.name + "' of " + shapeString(newRows) +
         " " + dtypeName(cache.dtype) + " but got " +
         shapeString(result.shape) + " " + dtypeName(result.dtype));
  buffer[axis] = cache.bufferShape[axis];
  if (cache.bufferShape != buffer || buffer[axis] < maxLength)
    fail("expected memory with at least " + std::to_string(maxLength) +
         " rows along dimension " + std::to_string(axis) + " of " +
         shapeString(shape) + " but got " + shapeString(cache.bufferShape));
  outer = elementCount({shape.begin(), shape.begin() + axis});
  inner = elementCount({shape.begin() + axis + 1, shape.end()}) *
          dtypeBytes(cache.dtype);
  stride = inner * static_cast<uint64_t>(buffer[axis]);
}

std::vector<int64_t> CacheRows::rowShape() const {
  std::vector<int64_t> shape = result.shape;
  shape[axis] = 1;
  return shape;
}

void CacheRows::append(Device &device, const BufferView &cache,
                       const BufferView &rows, int64_t position,
                       const ParameterValues &values) const {
  const uint64_t first = cache.offset + position * inner;
  const ArgumentInfo result = this->result.at(values);
  const int64_t count = result.shape[axis];
  if (result.packing) {
    const std::vector<char> tensor = readTensor(device, rows, result);
    const uint64_t tensorStride = tensor.size() / outer;
    for (uint64_t i = 0; i < outer; ++i)
      device.write(*cache.buffer, i * stride + first,
                   tensor.data() + i * tensorStride, count * inner);
    return;
  }
  const uint64_t resultStride =
      inner * static_cast<uint64_t>(result.bufferShape[axis]);
  for (uint64_t i = 0; i < outer; ++i)
    device.copy(*cache.buffer, i * stride + first, *rows.buffer,
                rows.offset + i * resultStride, count * inner);
}

void CacheRows::write(Device &device, const BufferView &cache, int64_t row,
                      const void *data) const {
  for (uint64_t i = 0; i < outer; ++i)
    device.write(*cache.buffer, cache.offset + i * stride + row * inner,
                 static_cast<const char *>(data) + i * inner, inner);
}

std::vector<char> CacheRows::read(Device &device, const BufferView &cache,
                                  int64_t row) const {
  std::vector<char> data(rowBytes());
  for (uint64_t i = 0; i < outer; ++i)
    device.read(*cache.buffer, cache.offset + i * stride + row * inner,
                data.data() + i * inner, inner);
  return data;
}
