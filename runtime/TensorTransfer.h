//===- TensorTransfer.h - Tensors to and from a device ----------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Moves whole row-major tensors to and from device memory, which may hold them
// in a packed order or as the first part of a larger tensor.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_RUNTIME_TENSORTRANSFER_H
#define STREAMTENSOR_RUNTIME_TENSORTRANSFER_H

#include "runtime/Device.h"

#include <vector>

namespace streamtensor::runtime {

/// Writes the row-major tensor `data` of shape `argument.shape` to where the
/// design expects it. Memory outside the tensor keeps its contents; packed, it
/// is filled with zeros.
void writeTensor(Device &device, const BufferView &view,
                 const ArgumentInfo &argument, const void *data);

/// The row-major tensor of shape `argument.shape` that lies in `view`.
std::vector<char> readTensor(Device &device, const BufferView &view,
                             const ArgumentInfo &argument);

/// The packed form of a row-major tensor of shape `argument.shape`; `argument`
/// must have a packing.
std::vector<char> packArgument(const ArgumentInfo &argument, const void *data);

/// Bytes of the row-major tensor itself.
uint64_t tensorBytes(const ArgumentInfo &argument);

/// Both arguments lie in memory in the same way.
bool sameLayout(const ArgumentInfo &a, const ArgumentInfo &b);

} // namespace streamtensor::runtime

#endif // STREAMTENSOR_RUNTIME_TENSORTRANSFER_H
