//===- Identifiers.h - Names that C++ and HLS tools accept ------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Names of functions, streams and variables in emitted C++.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_DIALECT_HLS_IR_IDENTIFIERS_H
#define STREAMTENSOR_DIALECT_HLS_IR_IDENTIFIERS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"
#include <string>

namespace streamtensor::hls {

/// Whether `name` may stand in emitted C++: letters, digits and single
/// underscores, not beginning with a digit or an underscore, neither a keyword
/// nor a name that the included headers define, and without "fifo" (which
/// floorplanning tools reserve in names of tasks).
bool isIdentifier(llvm::StringRef name);

/// The nearest such name: other characters become underscores, what is reserved
/// gets one at its end, "fifo" becomes "queue".
std::string makeIdentifier(llvm::StringRef name);

/// Hands out identifiers, each once.
class UniqueIdentifiers {
public:
  /// makeIdentifier(name), with a number behind it when it is taken.
  std::string get(llvm::StringRef name);
  /// `name` is out of scope and may be handed out again.
  void release(llvm::StringRef name) { taken.erase(name); }

private:
  llvm::StringSet<> taken;
};

} // namespace streamtensor::hls

#endif // STREAMTENSOR_DIALECT_HLS_IR_IDENTIFIERS_H
