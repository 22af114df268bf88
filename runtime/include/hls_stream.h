//===- hls_stream.h - hls::stream of the C simulation -----------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// hls::stream as a FIFO of exactly its depth, whose blocking accesses suspend
// the calling process.
//
//===----------------------------------------------------------------------===//

#ifndef ST_HLS_STREAM_H
#define ST_HLS_STREAM_H

#include "st_record.h"
#include "st_sim.h"

namespace st {
namespace sim {

typedef float WideChunk __attribute__((vector_size(32), may_alias));

/// Copies a token. GCC would copy 64 bytes in four parts of 16, which the wider
/// vector loads of a task then have to wait for: several times slower.
template <typename T>
inline void copyToken(T *to, const T *from) {
  const size_t size = sizeof(WideChunk);
  if (sizeof(T) % size == 0 && alignof(T) >= size) {
    for (size_t i = 0; i < sizeof(T) / size; ++i)
      reinterpret_cast<WideChunk *>(to)[i] =
          reinterpret_cast<const WideChunk *>(from)[i];
  } else {
    *to = *from;
  }
}

} // namespace sim
} // namespace st

namespace hls {

/// A FIFO of tokens of type T with one writer and one reader. Tokens are copied
/// as bytes. Must live inside a function that the simulation runs.
template <typename T>
class stream {
  static_assert(__is_trivially_copyable(T), "a stream carries plain values");

public:
  /// `depth` is in tokens (Vitis' default is 2); `scope` is the declaring
  /// function, for messages and statistics; `isFeedback`: tokens may stay in it
  /// from one dataflow body to the next, until it is destroyed.
  explicit stream(const char *name = "stream", size_t depth = 2,
                  const char *scope = "", bool isFeedback = false) {
    st::sim::api->openFifo(&fifo, name, scope, sizeof(T), depth);
    fifo.isFeedback = isFeedback;
  }
  ~stream() { st::sim::api->closeFifo(&fifo); }
  stream(const stream &) = delete;
  stream &operator=(const stream &) = delete;

  /// Blocking read.
  T read() {
    if (__builtin_expect(fifo.readCursor == fifo.readLimit, 0))
      st::sim::api->awaitRead(&fifo);
    const T *slot = reinterpret_cast<const T *>(fifo.readCursor);
    fifo.readCursor = reinterpret_cast<char *>(const_cast<T *>(slot + 1));
    T value;
    st::sim::copyToken(&value, slot);
    ST_RECORD(fifo, false);
    return value;
  }
  void read(T &value) { value = read(); }

  /// Blocking write.
  void write(const T &value) {
    if (__builtin_expect(fifo.writeCursor == fifo.writeLimit, 0))
      st::sim::api->awaitWrite(&fifo);
    T *slot = reinterpret_cast<T *>(fifo.writeCursor);
    st::sim::copyToken(slot, &value);
    fifo.writeCursor = reinterpret_cast<char *>(slot + 1);
    ST_RECORD(fifo, true);
  }

  void operator>>(T &value) { value = read(); }
  void operator<<(const T &value) { write(value); }

  /// The polling accesses let every other process run first, so that a loop
  /// that polls makes progress.
  size_t size() { return st::sim::api->poll(&fifo); }
  bool empty() { return size() == 0; }
  bool full() { return size() == fifo.depth; }
  bool read_nb(T &value) {
    if (empty())
      return false;
    value = read();
    return true;
  }
  bool write_nb(const T &value) {
    if (full())
      return false;
    write(value);
    return true;
  }

  /// The state the scheduler works on.
  st::sim::Fifo fifo;
};

} // namespace hls

#endif // ST_HLS_STREAM_H
