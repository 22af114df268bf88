//===- ConverterInference.h - Buffers between two token orders --*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Infers the stream layout converter between a producer's and a consumer's
// token order: the smallest ping-pong buffer, and the loops around it.
//
// Source: StreamTensor (MICRO '25), Algorithm 1, read as its own example reads
// it (each data dimension on its own), plus the three extensions below.
//
// A converter cuts both sequences into the same number K of equal, consecutive
// segments such that segment k of the source touches exactly the data that
// segment k of the destination touches. It fills a buffer with one segment,
// then drains it in the destination's order; with two such buffers (ping-pong)
// segment k + 1 fills while segment k drains. Segments come from a prefix of
// the loops of both sides, whose last loop may be split: hence K determines the
// cut, K must divide both token counts, and only few K have to be tried. The
// buffer is the bounding box of one segment.
//
//  - Revisit loops at the same level of both sides are shared like others.
//  - A loop may be split: elements of 4 and 6 on one dimension share segments
//    of 12 instead of the whole dimension.
//  - Revisits of the destination inside a segment replay out of the buffer.
//
// Where the tokens of the destination overlap (windows of a convolution), the
// segments of the two sides never touch the same data. Inside the shared loops,
// a window of w rows that moves by s < w rows is served by a line buffer: a
// ring of as many rows as are between the newest that was filled and the oldest
// that is still needed; w rows when the source delivers them one by one.
//
// The paper's answer is always one of these cuts, so the default is never
// larger.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_SUPPORT_CONVERTERINFERENCE_H
#define STREAMTENSOR_SUPPORT_CONVERTERINFERENCE_H

#include "streamtensor/Support/SymbolicOrder.h"

namespace streamtensor {

enum class ConverterAlgorithm {
  /// The smallest allocation over all cuts; among equals the most segments.
  Default,
  /// Algorithm 1 of the paper on the loops as they are spelled.
  Paper
};

/// A loop around both halves of a converter.
struct SharedLoop {
  int64_t trip;
  /// Offset step per data dimension of the tensor; all 0 for a revisit.
  std::vector<int64_t> steps;
};

/// How the window of a line buffer moves along one data dimension ("rows").
struct SlidingWindow {
  unsigned dim;
  /// Number of windows in one segment, and by how many rows each is further on.
  int64_t trips, step;
  /// Rows of one window; more than `step`.
  int64_t rows;
  /// Rows that one pass of `fill` delivers.
  int64_t fillRows;
};

/// How to convert one token order into another.
///
///   for each iteration of `shared`:          segment base += trip x steps
///     fill:  for each token of `fill`, pull it, store it at its offset
///     drain: for each token of `drain`, load it from its offset, push it
///
/// Offsets of `fill` and `drain` are relative to the buffer. A line buffer,
/// with `window` set, runs inside the shared loops, row r of a segment being
/// kept in row r modulo bufferShape[dim]:
///
///   filled = 0
///   for i in 0..window.trips:
///     while filled < i x step + rows: fill at row `filled`; filled += fillRows
///     drain at row i x step
struct ConverterPlan {
  enum class Kind {
    None,         ///< the sequences are identical: a plain FIFO does
    WidthAdapter, ///< same element order: a `reassociate` does; the buffer
                  ///< below is what a converter would need instead
    Converter,
    LineBuffer ///< a ring of rows under a sliding window
  };
  Kind kind = Kind::Converter;

  /// Shape of one buffer (one half of a ping-pong), in tensor elements.
  std::vector<int64_t> bufferShape;
  /// The shared loops, outermost first: the first loops of `source` and of
  /// `destination` alike.
  std::vector<SharedLoop> shared;
  /// K: the number of times that a buffer is filled; 1 without shared loops, or
  /// when an order is empty.
  int64_t segments = 1;
  /// The loops inside the shared ones; they span exactly `bufferShape`, except
  /// that those of a line buffer span `fillRows` and `rows` of it.
  TokenOrder fill, drain;
  /// Only for a line buffer.
  std::optional<SlidingWindow> window;
  /// The two orders with the shared loops first. Each has the same token
  /// sequence as the order that was given, but its loops may have been split or
  /// merged to reach the cut: `sourceSplit`, `destinationSplit` say so.
  TokenOrder source, destination;
  bool sourceSplit = false, destinationSplit = false;
  /// Why the buffer has this size: one sentence for reports.
  std::string reason;

  /// Number of outer loops of `source` that are shared.
  unsigned sharedLoops() const { return static_cast<unsigned>(shared.size()); }
  /// Whether two buffers are allocated.
  bool pingPong() const {
    return kind != Kind::None && kind != Kind::LineBuffer && segments > 1;
  }
  /// Tensor elements of one buffer.
  int64_t bufferElements() const;
  /// Tensor elements allocated: both halves of a ping-pong; 0 when no converter
  /// is needed.
  int64_t allocatedElements() const;
  /// What is allocated, given the bytes of one tensor element.
  int64_t bytes(int64_t elementBytes) const {
    return allocatedElements() * elementBytes;
  }
};

/// Infers the converter from `source` to `destination`. Both orders must hold
/// `TokenOrder::verify`. Returns nothing, and the cause in `error`, when they
/// do not stream the same tensor shape.
std::optional<ConverterPlan>
inferConverter(const TokenOrder &source, const TokenOrder &destination,
               std::string &error,
               ConverterAlgorithm algorithm = ConverterAlgorithm::Default);

/// A converter between orders of run-time size; see ConverterPlan.
struct SymbolicConverterPlan {
  ConverterPlan::Kind kind = ConverterPlan::Kind::Converter;
  /// Whether two buffers are allocated.
  bool pingPong = false;
  /// Shape of one buffer at the largest sizes.
  std::vector<int64_t> bufferShape;
  /// Trip counts of the shared loops.
  std::vector<TripCount> shared;
  SymbolicOrder fill, drain;
  std::string reason;

  /// Tensor elements allocated, and their bytes, as in ConverterPlan.
  int64_t allocatedElements() const;
  int64_t bytes(int64_t elementBytes) const {
    return allocatedElements() * elementBytes;
  }
};

/// The same for orders whose trip counts may depend on parameters: one
/// converter for all of their values. Returns nothing, and the cause in
/// `error`, also where there is none with constant steps.
std::optional<SymbolicConverterPlan>
inferConverter(const SymbolicOrder &source, const SymbolicOrder &destination,
               std::string &error,
               ConverterAlgorithm algorithm = ConverterAlgorithm::Default);

} // namespace streamtensor

#endif // STREAMTENSOR_SUPPORT_CONVERTERINFERENCE_H
