//===- st_record.h - Which FIFO accesses a simulation made ------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With ST_RECORD_ACCESSES defined (STREAMTENSOR_CXXFLAGS), every access of a
// FIFO goes to the file that the variable ST_RECORD_FILE names, in the order of
// execution: lines `r NAME COUNT` and `w NAME COUNT`, equal neighbours as one.
// A FIFO has one reader and one writer, so these lines hold the order of each
// process. For tests: the timed network of a design must have the same.
//
//===----------------------------------------------------------------------===//

#ifndef ST_RECORD_H
#define ST_RECORD_H

#ifdef ST_RECORD_ACCESSES

#include "st_sim.h"

#include <stdio.h>
#include <stdlib.h>

namespace st {
namespace sim {

class AccessRecorder {
public:
  static AccessRecorder &get() {
    static AccessRecorder recorder;
    return recorder;
  }

  void add(const Fifo &fifo, bool isWrite) {
    if (count > 0 && (&fifo != last || isWrite != lastIsWrite))
      flush();
    last = &fifo;
    lastIsWrite = isWrite;
    name = fifo.name;
    ++count;
  }

private:
  AccessRecorder() {
    const char *path = getenv("ST_RECORD_FILE");
    file = path ? fopen(path, "w") : nullptr;
  }
  ~AccessRecorder() {
    flush();
    if (file)
      fclose(file);
  }
  void flush() {
    if (file && count > 0)
      fprintf(file, "%c %s %zu\n", lastIsWrite ? 'w' : 'r', name, count);
    count = 0;
  }

  FILE *file = nullptr;
  const Fifo *last = nullptr;
  const char *name = "";
  bool lastIsWrite = false;
  size_t count = 0;
};

} // namespace sim
} // namespace st

#define ST_RECORD(fifo_, is_write_)                                            \
  ::st::sim::AccessRecorder::get().add(fifo_, is_write_)
#else
#define ST_RECORD(fifo_, is_write_)
#endif

#endif // ST_RECORD_H
