//===- Floorplan.cpp - Tasks to dies, for the vendor's placer -------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// floorplan.tcl.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Target/Connectivity/Floorplan.h"

using namespace streamtensor;

void streamtensor::writeFloorplan(llvm::StringRef kernel,
                                  const std::vector<PlacedCell> &cells,
                                  llvm::raw_ostream &os) {
  os << "# Written by streamtensor-compile: the die of each task of '" << kernel
     << "' and of the FIFOs that it\n"
        "# reads. Run by Vivado before opt_design (make link). The assignment "
        "is a plan made\n"
        "# with estimated resources. USER_SLR_ASSIGNMENT (UG912) is a "
        "guideline: the placer\n"
        "# may do otherwise. HLS adds no register stages to its FIFOs.\n\n"
        "proc st_assign {cell die} {\n"
        "  # A process is an instance NAME_U0, a FIFO NAME_U, somewhere in the "
        "kernel.\n"
        "  set cells [get_cells -quiet -hierarchical -filter \\\n"
        "    \"NAME =~ *"
     << kernel
     << "_1/*/$cell && IS_PRIMITIVE == 0\"]\n"
        "  if {[llength $cells] == 0} {\n"
        "    puts \"CRITICAL WARNING: expected an instance named '$cell' for "
        "die $die but found none\"\n"
        "    return\n"
        "  }\n"
        "  set_property USER_SLR_ASSIGNMENT $die $cells\n"
        "}\n\n";
  for (const PlacedCell &cell : cells)
    os << "st_assign " << cell.cell << " " << cell.die << "\n";
}
