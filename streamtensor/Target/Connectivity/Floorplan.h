//===- Floorplan.h - Tasks to dies, for the vendor's placer -----*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One kernel is one instance for the linker, so its configuration can put it on
// one die only. Tasks inside are told to the placer: a script that it runs
// before it begins.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_TARGET_CONNECTIVITY_FLOORPLAN_H
#define STREAMTENSOR_TARGET_CONNECTIVITY_FLOORPLAN_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <string>
#include <vector>

namespace streamtensor {

/// A process or FIFO of the kernel, and its die.
struct PlacedCell {
  std::string cell; ///< the instance that HLS makes of it
  std::string die;
};

/// Writes a Tcl script for Vivado with the property USER_SLR_ASSIGNMENT (UG912:
/// a guideline for the placer, of hierarchical cells) of each cell. It warns of
/// instances that are not found: names are the tool's, and differ by release.
void writeFloorplan(llvm::StringRef kernel,
                    const std::vector<PlacedCell> &cells,
                    llvm::raw_ostream &os);

} // namespace streamtensor

#endif // STREAMTENSOR_TARGET_CONNECTIVITY_FLOORPLAN_H
