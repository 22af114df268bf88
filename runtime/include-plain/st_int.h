//===- st_int.h - Integers of any width in hardware -------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What stores sums in the bits that they need, for Vitis HLS and AMD's open
// headers. The C simulation has the next wider type of C++ for it.
//
//===----------------------------------------------------------------------===//

#ifndef ST_INT_H
#define ST_INT_H

#include "ap_int.h"

namespace st {

/// A signed integer of `Bits` bits.
template <int Bits>
using sint = ap_int<Bits>;

} // namespace st

#endif // ST_INT_H
