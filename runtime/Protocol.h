//===- Protocol.h - The runtime as a process --------------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Serves a language model to another process: each request and each response
// is a line of JSON, followed by the raw little-endian bytes of the tensors it
// lists, in order. docs/architecture.md describes who sends what.
//
//   {"op": "step", "position", "count", "logits", "tensors": [...]}
//     (logits of that many of its last tokens: 0 for none)
//     (with "taps": 1 also the hidden state behind each layer, as "taps")
//   {"op": "stats"} {"op": "reset"} {"op": "quit"}
//   {"op": "write_cache", "layer", "cache", "row", "tensors": [one row]}
//   {"op": "read_cache", "layer", "cache", "row"}
//
// A tensor is {"name", "shape", "bytes"}, in responses also "dtype". Responses
// have "ok": true, or false with "error"; the process then goes on with the
// next request.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_RUNTIME_PROTOCOL_H
#define STREAMTENSOR_RUNTIME_PROTOCOL_H

#include "runtime/LanguageModel.h"

#include <cstdio>

namespace streamtensor::runtime {

/// Answers requests from `in` on `out` until "quit" or the end of `in`. Throws
/// Error when the requests cannot be followed any more: a line that is not
/// JSON, or fewer bytes than announced.
void serve(LanguageModel &model, std::FILE *in, std::FILE *out);

/// Writes the response that reports `error`.
void respondError(std::FILE *out, const std::string &error);

} // namespace streamtensor::runtime

#endif // STREAMTENSOR_RUNTIME_PROTOCOL_H
