//===- streamtensor-sim.cpp - Cycles of a process network -----------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Simulates a timed process network.
//
//===----------------------------------------------------------------------===//

#include "tools/streamtensor-sim/Command.h"

static const char *const kUsage =
    "usage: streamtensor-sim --network=FILE.json [--json] [options]\n"
    "\n"
    "Simulates a timed process network (docs/process-networks.md) and prints\n"
    "cycles, and what each process and FIFO does. A deadlock exits with 1.\n"
    "  --json             the result as JSON\n"
    "  --explain          in the JSON too: what the time goes to, and what "
    "bounds it\n"
    "  --timeline=N       in the JSON: what each process does in N parts of "
    "the "
    "time\n"
    "  --memory-efficiency=LIST   also the cycles with memory that reaches "
    "these parts\n"
    "                     of its peak: 0.5,0.75,0.924\n"
    "  --invocations=N    runs one behind the other (1)\n"
    "  --values=LIST      run-time parameters: seq=5,past=0 (their maxima)\n"
    "  --depths=FILE      JSON object of depths by name or index of fifo\n"
    "  --unbounded        FIFOs that are never full\n"
    "  --max-events=N     gives up after so many accesses and steps\n"
    "  --accesses         instead of simulating, prints the FIFO accesses of "
    "each\n"
    "                     task in program order\n"
    "  --trace=FILE       writes a trace for ui.perfetto.dev\n";

int main(int argc, char **argv) {
  using namespace streamtensor;
  return runtime::runProgram(argc, argv, kUsage, [&] {
    simulateNetwork(runtime::CommandLine(
        argc, argv,
        {"network", "invocations", "values", "depths", "trace", "max-events",
         "memory-efficiency", "timeline"},
        0, {"json", "unbounded", "accesses", "explain"}));
  });
}
