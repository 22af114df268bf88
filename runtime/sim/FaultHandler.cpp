//===- FaultHandler.cpp - Crashes of a simulated kernel -------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The handler runs on a stack of its own, because the one of the process may
// be what is used up. It calls only what is safe in a signal handler.
//
//===----------------------------------------------------------------------===//

#include "runtime/sim/FaultHandler.h"

#include "runtime/sim/Scheduler.h"

#include <csignal>
#include <cstring>
#include <unistd.h>

using namespace streamtensor::sim;

static void print(const char *text) {
  // Nothing can be done here when stderr is closed.
  [[maybe_unused]] const ssize_t written =
      ::write(STDERR_FILENO, text, std::strlen(text));
}

static void handleFault(int signal, siginfo_t *info, void *) {
  const Scheduler::Fault fault = Scheduler::describeFault(info->si_addr);
  if (!fault.process) {
    // Not ours: returning repeats the access, which now crashes.
    std::signal(signal, SIG_DFL);
    return;
  }
  print("error: process '");
  print(fault.process);
  print(fault.isStackOverflow
            ? "' of the simulation needs more than 64 MB for its local arrays; "
              "no card has that much on-chip memory\n"
            : "' of the simulation accessed memory outside of its buffers\n");
  _exit(1);
}

void streamtensor::sim::installFaultHandler() {
  static char memory[1 << 16];
  stack_t stack = {};
  stack.ss_sp = memory;
  stack.ss_size = sizeof(memory);
  sigaltstack(&stack, nullptr);
  struct sigaction action = {};
  action.sa_sigaction = handleFault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (int signal : {SIGSEGV, SIGBUS})
    sigaction(signal, &action, nullptr);
}
