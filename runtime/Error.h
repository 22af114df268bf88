//===- Error.h - The runtime's exception ------------------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one exception type of the runtime. Its text is complete: what is wrong,
// where, why, and what to do.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_RUNTIME_ERROR_H
#define STREAMTENSOR_RUNTIME_ERROR_H

#include <stdexcept>
#include <string>

namespace streamtensor::runtime {

class Error : public std::runtime_error {
public:
  explicit Error(const std::string &text) : std::runtime_error(text) {}
};

} // namespace streamtensor::runtime

#endif // STREAMTENSOR_RUNTIME_ERROR_H
