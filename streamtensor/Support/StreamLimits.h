//===- StreamLimits.h - What a stream can carry -----------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Limits of the streams that hardware is made of.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_SUPPORT_STREAMLIMITS_H
#define STREAMTENSOR_SUPPORT_STREAMLIMITS_H

#include <cstdint>

namespace streamtensor {

/// The widest token that a stream of Vitis HLS carries, in bits.
inline constexpr int64_t kMaxTokenBits = 4096;

/// What a memory port delivers at a time at most, in bits (UG1399, m_axi).
inline constexpr int64_t kMaxPortBits = 512;

} // namespace streamtensor

#endif // STREAMTENSOR_SUPPORT_STREAMLIMITS_H
