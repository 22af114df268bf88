//===- RunCommand.cpp - The command streamtensor-run ----------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One design on files, or a list of designs.
//
//===----------------------------------------------------------------------===//

#include "runtime/RunCommand.h"

#include "runtime/CommandLine.h"
#include "runtime/MakeDevice.h"
#include "runtime/RunDesign.h"

#include <iostream>

using namespace streamtensor::runtime;

const char *const streamtensor::runtime::kRunUsage =
    "usage: streamtensor-run DIR --inputs IN.safetensors --outputs "
    "OUT.safetensors [--json FILE]\n"
    "                        [--values FILE] [--weights FILE] [--device "
    "csim|xrt] [--xclbin "
    "FILE]\n"
    "       streamtensor-run --batch LIST --build-dir BUILD\n"
    "\n"
    "Runs the design in DIR (an output directory of streamtensor-compile) "
    "once:\n"
    "by C simulation, which is built on first use and kept in DIR/csim, or on "
    "a board.\n"
    "  --inputs FILE   one tensor per argument: arg0, arg1, ...\n"
    "  --outputs FILE  where to write the results: result0, result1, ...\n"
    "  --json FILE     where to write counts of FIFOs, DMAs and MACs\n"
    "  --values FILE   where to write the values of the model that FIFOs have "
    "carried,\n"
    "                  a tensor per FIFO\n"
    "  --weights FILE  packed weights that are not in DIR: "
    "{\"weights\": {\"arg0\": FILE}}\n"
    "  --device NAME   csim (default), or xrt: the board of "
    "STREAMTENSOR_XRT_BOARD (0)\n"
    "  --xclbin FILE   what a board runs (default: DIR/FUNCTION.xclbin)\n"
    "  --batch LIST    many designs, built as one simulation in BUILD: a line\n"
    "                  {\"design\", \"inputs\", \"outputs\"} of JSON for "
    "each,\n"
    "                  answered by a line {\"design\", \"error\"}\n"
    "STREAMTENSOR_CXX and STREAMTENSOR_CXXFLAGS: compiler of the simulation.\n";

void streamtensor::runtime::runCommand(int argc, char **argv) {
  const std::string name = "streamtensor-run";
  if (argc > 1 && std::string(argv[1]).compare(0, 7, "--batch") == 0) {
    const CommandLine line(argc, argv, {"batch", "build-dir"}, 0);
    return runDesigns(*makeDevice(line, name),
                      readRunList(line.required("batch")),
                      line.required("build-dir"), std::cout);
  }
  const CommandLine line(
      argc, argv,
      {"inputs", "outputs", "json", "values", "weights", "device", "xclbin"},
      1);
  runDesign(*makeDevice(line, name),
            {line.positional(0), line.required("inputs"),
             line.required("outputs"), line.optional("json"),
             line.optional("values"), line.optional("weights")});
}
