//===- Packing.h - Tensors in the order of their tokens ---------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lays a tensor out in memory exactly as a stream passes it, so that a DMA
// reads it from front to back: the tokens in their order, the elements of a
// token row-major.
//
// Source: StreamTensor (MICRO '25), "pack and widen" of external tensors.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_SUPPORT_PACKING_H
#define STREAMTENSOR_SUPPORT_PACKING_H

#include "streamtensor/Support/TokenOrder.h"

#include <cstddef>

namespace streamtensor {

/// A tensor in memory as packing sees it.
struct TensorLayout {
  /// Sizes per dimension, at most the extents of the order. Where the order
  /// spans more (padding), packed elements outside of the tensor are zero bytes
  /// and unpacking leaves them out.
  std::vector<int64_t> shape;
  /// Distance between neighbours per dimension, in elements; empty for
  /// row-major without gaps.
  std::vector<int64_t> strides = {};
};

/// Bytes of the packed tensor: all tokens of `order`, revisits included.
int64_t packedBytes(const TokenOrder &order, size_t elementBytes);

/// Writes `packedBytes` bytes to `packed`. `order` must hold
/// `TokenOrder::verify`; the memory areas must not overlap. Returns false and
/// the cause in `error` when ranks differ or the tensor exceeds the extents.
bool packTensor(const TokenOrder &order, size_t elementBytes,
                const TensorLayout &layout, const void *tensor, void *packed,
                std::string &error);

/// The inverse of `packTensor`, for checking and for results: scatters the
/// packed tokens into `tensor`.
bool unpackTensor(const TokenOrder &order, size_t elementBytes,
                  const TensorLayout &layout, const void *packed, void *tensor,
                  std::string &error);

} // namespace streamtensor

#endif // STREAMTENSOR_SUPPORT_PACKING_H
