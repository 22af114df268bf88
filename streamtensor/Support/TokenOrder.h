//===- TokenOrder.h - The token sequence of a stream ------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The meaning of an itensor type without MLIR: which slice of a tensor each
// token of a stream holds, and in which order the tokens pass.
//
// Source: StreamTensor (MICRO '25, doi 10.1145/3725843.3762817), the itensor
// type: element shape, iteration space (trip counts and steps), iteration map.
//
//   !itensor.itensor<4x2xf32, [4, 2] * [2, 4], (d0, d1) -> (d1, d0)>
//   element {4, 2}, trips {4, 2}, steps {2, 4}, map {{1}, {0}}
//
// means: for i0 in 0..4, for i1 in 0..2 (last loop fastest), one token of shape
// 4x2 at offset (i1 * 4, i0 * 2) of an 8x8 tensor.
//
// Everything here is standard C++17, throws nothing, and may be included from
// code compiled without exceptions.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_SUPPORT_TOKENORDER_H
#define STREAMTENSOR_SUPPORT_TOKENORDER_H

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace streamtensor {

/// An ordered sequence of equally shaped slices ("tokens") of one tensor.
///
/// All sizes, steps and offsets count tensor elements. Every member function
/// except `verify` requires an order for which `verify` (with overlap allowed)
/// holds; a wrong one is a programming error, guarded by assertions.
struct TokenOrder {
  /// Shape of one token, one size (>= 1) per data dimension. Empty stands for a
  /// scalar token and equals all ones.
  std::vector<int64_t> element;
  /// Trip count (>= 0) of each loop, outermost first. A trip count of 0 makes
  /// the sequence empty.
  std::vector<int64_t> trips;
  /// Offset step (>= 1) of each loop; 1 for a loop that no data dimension uses
  /// (a revisit: everything inside it passes again).
  std::vector<int64_t> steps;
  /// Per data dimension the loops whose offsets are summed; an empty list is
  /// the constant offset 0. The number of lists is the rank of the tensor. Each
  /// loop appears at most once.
  std::vector<std::vector<unsigned>> map;

  /// The spelling is equal. To ask whether two orders describe the same tokens
  /// use `sameSequence`.
  bool operator==(const TokenOrder &other) const {
    return element == other.element && trips == other.trips &&
           steps == other.steps && map == other.map;
  }
  bool operator!=(const TokenOrder &other) const { return !(*this == other); }

  /// The order that walks a tensor of shape `shape` row by row in tokens of
  /// shape `token` (empty: scalars), one loop per dimension. Every size of
  /// `token` must divide its dimension.
  static TokenOrder rowMajor(const std::vector<int64_t> &shape,
                             const std::vector<int64_t> &token = {});

  /// Rank of the streamed tensor.
  unsigned rank() const { return static_cast<unsigned>(map.size()); }
  unsigned numLoops() const { return static_cast<unsigned>(trips.size()); }

  /// Checks the structure (list lengths, ranges, each loop used once, step 1 of
  /// revisits, token count within 64 bits) and that each data dimension is
  /// covered exactly: sorted by step, the innermost step equals the element
  /// size and each further step equals step x trip count of the one before
  /// (mixed radix; loops of one trip are free). With `allowOverlap` a step may
  /// also be smaller (windows of convolutions), but may still leave no gap.
  /// A data dimension with a loop of zero trips is empty: nothing to cover.
  /// Returns false and describes the first violation in `error`.
  bool verify(std::string &error, bool allowOverlap = false) const;

  /// Number of tokens of the whole sequence, revisits included.
  int64_t numTokens() const;
  /// Number of tensor elements in one token.
  int64_t tokenElements() const;
  /// Shape of one token with exactly one size per data dimension.
  std::vector<int64_t> elementShape() const;
  /// Extent of the streamed tensor per data dimension, as the loops span it; 0
  /// where a loop of the dimension has no trips.
  std::vector<int64_t> dataExtents() const;
  /// The data dimension each loop moves along, or -1 for a revisit.
  std::vector<int> loopDims() const;
  /// Offset (per data dimension) of token `index`, 0 <= index < numTokens().
  std::vector<int64_t> tokenOffsets(int64_t index) const;

  /// Calls `fn(offsets)` for each token in order, with the offset per data
  /// dimension as `const std::vector<int64_t> &`.
  template <typename Fn>
  void forEachToken(Fn &&fn) const;

  /// The shortest loop nest with this token sequence: loops of one trip are
  /// dropped, neighbours that form one contiguous loop (outer step = inner step
  /// x inner trips, or both revisits) are merged, a scalar element is spelled
  /// with ones, an empty sequence is one loop of 0 trips used by no dimension.
  /// Two orders have the same token sequence iff their normal forms are equal:
  /// the innermost loop of a normal form is exactly the longest run of constant
  /// offset difference at the start of the sequence, and so on outwards.
  TokenOrder normalForm() const;

  /// The normal form of the same sequence in scalar tokens: the elements inside
  /// a token pass row-major.
  TokenOrder scalarOrder() const;

  /// `scalarOrder` over the tensor collapsed to one dimension: its offsets are
  /// row-major positions in the tensor of shape `dataExtents()`. Rank 1, also
  /// for a tensor of rank 0. Two orders over different shapes have equal linear
  /// orders iff a reshape carries one into the other without moving an element.
  TokenOrder linearOrder() const;

  /// "4x2, [4, 2] * [2, 4], (d0, d1) -> (d1, d0)"; a scalar token is "scalar".
  std::string str() const;
};

/// Both orders describe the same tokens (shape and offset) in the same order.
/// Decided by normal form, without enumeration.
bool sameSequence(const TokenOrder &a, const TokenOrder &b);

/// Both orders stream the same tensor elements in the same order, although the
/// tokens may differ in size: a width adapter is enough between them.
bool elementOrderEqual(const TokenOrder &a, const TokenOrder &b);

/// Where two token sequences part.
struct TokenDifference {
  enum class Kind {
    Rank,    ///< the tensors have different ranks
    Element, ///< the tokens have different shapes
    Offset,  ///< token `index` lies elsewhere
    Length   ///< one sequence ends before token `index`
  };
  Kind kind;
  /// Index of the first token (or element) that differs; all earlier ones are
  /// equal.
  int64_t index = 0;
  /// Offsets of token `index`; nothing where the sequence has ended, or for
  /// kinds Rank and Element.
  std::optional<std::vector<int64_t>> offsetsA, offsetsB;
  /// `index` counts elements instead of tokens, and each offset lies in the
  /// tensor of its own side (firstElementDifference).
  bool ofElements = false;

  /// "token 3 is at (4, 0) in the source but at (0, 4) in the destination",
  /// naming the sequences `a` and `b` as given.
  std::string describe(const TokenOrder &a, const TokenOrder &b,
                       const std::string &nameA = "source",
                       const std::string &nameB = "destination") const;
};

/// The first difference of two token sequences, or nothing when they are the
/// same. Takes time in the number of loops, not of tokens.
std::optional<TokenDifference> firstDifference(const TokenOrder &a,
                                               const TokenOrder &b);

/// The first difference of two sequences of elements, whatever the tokens and
/// the shapes of the tensors: elements are the same when their row-major
/// positions are. Nothing exactly where a reshape and a width adapter carry one
/// order into the other (equal `linearOrder`). Takes time in the number of
/// loops.
std::optional<TokenDifference> firstElementDifference(const TokenOrder &a,
                                                      const TokenOrder &b);

/// The order over the expanded tensor of shape `shape` that passes the same
/// tensor elements in the same order, in tokens of the same size.
/// `groups[i]` lists the dimensions of `shape` that dimension i of `order`
/// becomes (as in tensor.expand_shape: consecutive, all of them, in order).
/// A loop that crosses a boundary between two new dimensions is split there.
/// Returns nothing, and the cause in `reason`, when sizes do not agree, or no
/// loop nest with box-shaped tokens has this element order. The result is in
/// normal form unless the sequence is empty.
std::optional<TokenOrder>
expandTokenOrder(const TokenOrder &order,
                 const std::vector<std::vector<unsigned>> &groups,
                 const std::vector<int64_t> &shape, std::string &reason);

/// The inverse: the order over the collapsed tensor, whose dimension i is made
/// of the dimensions `groups[i]` of `order` (as in tensor.collapse_shape).
/// Returns nothing, and the cause in `reason`, when the groups do not fit or a
/// token is not contiguous in a collapsed dimension.
std::optional<TokenOrder>
collapseTokenOrder(const TokenOrder &order,
                   const std::vector<std::vector<unsigned>> &groups,
                   std::string &reason);

/// The tokens of `order` that lie in [low, low + size) of data dimension `dim`,
/// in the same order, as an order over that part of the tensor (offsets count
/// from `low`). Returns nothing, and the cause in `reason`, when the range
/// leaves the tensor, a token lies across its ends, tokens overlap along `dim`,
/// or what remains is no loop nest.
std::optional<TokenOrder> sliceTokenOrder(const TokenOrder &order, unsigned dim,
                                          int64_t low, int64_t size,
                                          std::string &reason);

/// Deals the tokens of `order` out to `ways` streams in turn and returns the
/// order that each of them has over its own share of the tensor. The shares are
/// alike because the innermost loop runs through `ways` neighbours: its digit
/// leaves the data dimension that it moves along, which shrinks `ways` times.
/// Returns nothing, and the cause in `reason`, when the innermost loop is a
/// revisit, does not make a multiple of `ways` trips, or its tokens overlap.
std::optional<TokenOrder> dealTokenOrder(const TokenOrder &order, int64_t ways,
                                         std::string &reason);

/// "4x2", or "scalar" for rank 0: the spelling used in messages.
std::string shapeString(const std::vector<int64_t> &shape);

//===----------------------------------------------------------------------===//
// Implementation of templates
//===----------------------------------------------------------------------===//

template <typename Fn>
void TokenOrder::forEachToken(Fn &&fn) const {
  const int64_t count = numTokens();
  const std::vector<int> dims = loopDims();
  std::vector<int64_t> index(trips.size(), 0), offsets(map.size(), 0);
  for (int64_t token = 0; token < count; ++token) {
    fn(static_cast<const std::vector<int64_t> &>(offsets));
    for (size_t l = trips.size(); l-- > 0;) {
      int64_t *offset = dims[l] < 0 ? nullptr : &offsets[dims[l]];
      if (++index[l] < trips[l]) {
        if (offset)
          *offset += steps[l];
        break;
      }
      index[l] = 0;
      if (offset)
        *offset -= steps[l] * (trips[l] - 1);
    }
  }
}

} // namespace streamtensor

#endif // STREAMTENSOR_SUPPORT_TOKENORDER_H
