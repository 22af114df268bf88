//===- st_dataflow.h - Dataflow macros of the C simulation ------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The dataflow macros of an emitted kernel, for the C simulation: every
// task is a cooperative process, every FIFO is bounded. The version in
// include-plain/ gives the same kernel to Vitis HLS and to AMD's open headers.
//
//===----------------------------------------------------------------------===//

#ifndef ST_DATAFLOW_H
#define ST_DATAFLOW_H

#include "hls_stream.h"

namespace st {
namespace sim {

/// Collects the FIFOs among the arguments of a task, so that the scheduler
/// knows both ends of each.
struct FifoList {
  enum { kMax = 256 };
  Fifo *fifos[kMax];
  size_t size = 0;

  template <typename T>
  void add(hls::stream<T> &stream) {
    if (size < kMax)
      fifos[size++] = &stream.fifo;
  }
  template <typename T, size_t N>
  void add(hls::stream<T> (&streams)[N]) {
    for (hls::stream<T> &stream : streams)
      add(stream);
  }
  template <typename T>
  void add(const T &) {}
};

template <typename Call>
void callTask(void *closure) {
  (*static_cast<Call *>(closure))();
}

template <typename Call, typename... Args>
void spawnTask(const char *name, const Call &call, Args &&...args) {
  static_assert(__is_trivially_copyable(Call),
                "the arguments of a task are streams, pointers and scalars");
  FifoList list;
  const int expand[] = {0, (list.add(args), 0)...};
  (void)expand;
  api->spawn(name, &callTask<Call>, &call, sizeof(Call), list.fifos, list.size);
}

} // namespace sim
} // namespace st

/// A FIFO of `depth_` tokens in the body of a dataflow function.
#define ST_FIFO(type_, name_, depth_)                                          \
  ::hls::stream<type_> name_(#name_, depth_, __func__)
/// A FIFO of `depth_` tokens in front of a loop around a dataflow body: what
/// one iteration writes, the next one reads.
#define ST_FEEDBACK(type_, name_, depth_)                                      \
  ::hls::stream<type_> name_(#name_, depth_, __func__, /*isFeedback=*/true)
/// Starts function_(arguments...) as a process; it runs at ST_JOIN. The
/// arguments must stay alive until then.
#define ST_TASK(function_, ...)                                                \
  ::st::sim::spawnTask(#function_, [&] { function_(__VA_ARGS__); }, __VA_ARGS__)
/// Ends the dataflow body: runs its processes to their end; a token left in one
/// of its FIFOs is an error.
#define ST_JOIN() ::st::sim::api->join()

#endif // ST_DATAFLOW_H
