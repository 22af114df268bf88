//===- st_sim.h - Kernel and scheduler interface ----------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a compiled kernel and the scheduler of the simulation share: the state
// of one FIFO, and a table of the scheduler's functions.
//
// The kernel never links the scheduler; whoever loads the kernel sets
// `st::sim::api`. The fast path of a stream (a compare, a copy, an increment)
// is inline in hls_stream.h. Only a process that has used up its part of the
// ring calls through the table.
//
//===----------------------------------------------------------------------===//

#ifndef ST_SIM_H
#define ST_SIM_H

#include <stddef.h>
#include <stdint.h>

namespace st {
namespace sim {

/// Changes whenever Fifo or Api change, so that a cached simulation of another
/// version is refused.
enum : uint32_t { kApiVersion = 2 };

struct Process;

/// A bounded ring of tokens with one writer and one reader. Each side owns a
/// cursor and a limit: the bytes between them can be accessed without asking.
/// Only the scheduler moves limits. Total bytes written = writeBias +
/// writeCursor (as integers), likewise for reading; their difference is the
/// fill.
struct Fifo {
  char *readCursor;
  char *readLimit;
  char *writeCursor;
  char *writeLimit;
  char *begin;
  char *end;
  uintptr_t readBias;
  uintptr_t writeBias;
  Process *waiter;   // the process blocked on this FIFO, or null
  Process *users[2]; // the (at most two) processes that hold an end of it
  Process *reader;   // last process seen reading, or null
  Process *writer;   // last process seen writing, or null
  Process *owner;    // the process in whose body it is declared
  const char *name;
  const char *scope; // the function that declares it
  size_t peakBytes;
  uint32_t tokenBytes;
  uint32_t depth;
  bool isFeedback; // may hold tokens when a body ends, for the next one
};

struct Api {
  uint32_t version;
  void (*openFifo)(Fifo *fifo, const char *name, const char *scope,
                   size_t tokenBytes, size_t depth);
  void (*closeFifo)(Fifo *fifo);
  /// Returns when at least one token can be read at readCursor.
  void (*awaitRead)(Fifo *fifo);
  /// Returns when at least one token can be written at writeCursor.
  void (*awaitWrite)(Fifo *fifo);
  /// Number of tokens in the FIFO; lets the other processes run first.
  size_t (*poll)(Fifo *fifo);
  /// Adds a process that will call entry(copy of closure) when the body joins.
  void (*spawn)(const char *name, void (*entry)(void *), const void *closure,
                size_t closureBytes, Fifo *const *fifos, size_t numFifos);
  /// Runs all processes of the calling body to their end.
  void (*join)();
};

/// Defined by the generated file that wraps a kernel (or by a test).
extern const Api *api;

} // namespace sim
} // namespace st

#endif // ST_SIM_H
