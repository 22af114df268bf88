//===- st_dataflow.h - Dataflow macros as plain calls -----------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The dataflow macros of an emitted kernel, for Vitis HLS and for AMD's
// open C++ headers: a task is a plain call, a FIFO a stream with a depth
// pragma.
//
//===----------------------------------------------------------------------===//

#ifndef ST_DATAFLOW_H
#define ST_DATAFLOW_H

#include "hls_stream.h"

#define ST_PRAGMA_(text_) _Pragma(#text_)
#define ST_PRAGMA(text_) ST_PRAGMA_(text_)

/// A FIFO of `depth_` tokens in the body of a dataflow function.
#define ST_FIFO(type_, name_, depth_)                                          \
  hls::stream<type_> name_(#name_);                                            \
  ST_PRAGMA(HLS stream variable = name_ type = fifo depth = depth_)
/// A FIFO of `depth_` tokens in front of a loop around a dataflow body: what
/// one iteration writes, the next one reads.
#define ST_FEEDBACK(type_, name_, depth_) ST_FIFO(type_, name_, depth_)
/// One process of the dataflow body; run in order by C simulation, concurrently
/// by hardware.
#define ST_TASK(function_, ...) function_(__VA_ARGS__)
/// Ends the dataflow body.
#define ST_JOIN()

#endif // ST_DATAFLOW_H
