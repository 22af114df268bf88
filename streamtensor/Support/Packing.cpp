//===- Packing.cpp - Tensors in the order of their tokens -----------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Packing is a copy between two strided views of one loop nest, whose loops may
// run in any order. Contiguous runs are copied as such. Otherwise the loop that
// is contiguous in the source and the one that is contiguous in the target are
// walked in square blocks of one cache line a side through a small local
// buffer: every line of both sides is touched once, whatever the strides (large
// powers of two would thrash a plain loop).
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Support/Packing.h"

#include <algorithm>
#include <cstring>

using namespace streamtensor;

namespace {

/// One loop of the copy; strides in elements.
struct CopyLoop {
  int64_t trip, source, target;
};

/// Drops loops of one trip and merges neighbours that are contiguous on both
/// sides. Returns false when nothing is to be copied.
bool simplify(std::vector<CopyLoop> &loops) {
  std::vector<CopyLoop> result;
  for (const CopyLoop &loop : loops) {
    if (loop.trip == 0)
      return false;
    if (loop.trip == 1)
      continue;
    if (!result.empty() && result.back().source == loop.source * loop.trip &&
        result.back().target == loop.target * loop.trip)
      result.back() = {result.back().trip * loop.trip, loop.source,
                       loop.target};
    else
      result.push_back(loop);
  }
  loops = std::move(result);
  return true;
}

/// Copies a run whose elements lie `loop.source` and `loop.target` apart.
template <size_t Bytes>
void copyRun(const CopyLoop &loop, size_t, const char *source, char *target) {
  for (int64_t i = 0; i < loop.trip; ++i)
    std::memcpy(target + i * loop.target * Bytes,
                source + i * loop.source * Bytes, Bytes);
}

/// Any element size.
template <>
void copyRun<0>(const CopyLoop &loop, size_t bytes, const char *source,
                char *target) {
  const int64_t size = static_cast<int64_t>(bytes);
  for (int64_t i = 0; i < loop.trip; ++i)
    std::memcpy(target + i * loop.target * size,
                source + i * loop.source * size, bytes);
}

/// Copies two loops: `across` is contiguous in the source, `along` in the
/// target.
template <size_t Bytes>
void copyBlocks(const CopyLoop &across, const CopyLoop &along,
                const char *source, char *target) {
  constexpr int64_t side = 64 / Bytes;
  char block[side][side * Bytes];
  for (int64_t a0 = 0; a0 < along.trip; a0 += side) {
    const int64_t rows = std::min(side, along.trip - a0);
    for (int64_t c0 = 0; c0 < across.trip; c0 += side) {
      const int64_t columns = std::min(side, across.trip - c0);
      for (int64_t a = 0; a < rows; ++a)
        std::memcpy(block[a], source + ((a0 + a) * along.source + c0) * Bytes,
                    columns * Bytes);
      for (int64_t c = 0; c < columns; ++c) {
        char *row = target + ((c0 + c) * across.target + a0) * Bytes;
        for (int64_t a = 0; a < rows; ++a)
          std::memcpy(row + a * Bytes, block[a] + c * Bytes, Bytes);
      }
    }
  }
}

/// Calls `body(source offset, target offset)` for every iteration of `loops`.
template <typename Body>
void forEachOffset(const std::vector<CopyLoop> &loops, Body &&body) {
  std::vector<int64_t> index(loops.size(), 0);
  int64_t source = 0, target = 0;
  while (true) {
    body(source, target);
    size_t l = loops.size();
    while (l > 0) {
      const CopyLoop &loop = loops[--l];
      if (++index[l] < loop.trip) {
        source += loop.source;
        target += loop.target;
        break;
      }
      index[l] = 0;
      source -= loop.source * (loop.trip - 1);
      target -= loop.target * (loop.trip - 1);
      if (l == 0)
        return;
    }
    if (loops.empty())
      return;
  }
}

template <size_t Bytes>
void copyLoops(std::vector<CopyLoop> loops, size_t bytes, const char *source,
               char *target) {
  const auto take = [&](auto &&matches) {
    CopyLoop found{1, 1, 1};
    const auto it = std::find_if(loops.begin(), loops.end(), matches);
    if (it != loops.end()) {
      found = *it;
      loops.erase(it);
    }
    return found;
  };
  const int64_t size = static_cast<int64_t>(bytes);
  const CopyLoop run =
      take([](const CopyLoop &l) { return l.source == 1 && l.target == 1; });
  if (run.trip > 1) {
    const size_t length = static_cast<size_t>(run.trip) * bytes;
    forEachOffset(loops, [&](int64_t s, int64_t t) {
      std::memcpy(target + t * size, source + s * size, length);
    });
    return;
  }
  const CopyLoop along = take([](const CopyLoop &l) { return l.target == 1; });
  if constexpr (Bytes != 0) {
    const CopyLoop across =
        take([](const CopyLoop &l) { return l.source == 1; });
    if (across.trip > 1) {
      forEachOffset(loops, [&](int64_t s, int64_t t) {
        copyBlocks<Bytes>(across, along, source + s * size, target + t * size);
      });
      return;
    }
  }
  forEachOffset(loops, [&](int64_t s, int64_t t) {
    copyRun<Bytes>(along, bytes, source + s * size, target + t * size);
  });
}

void copyStrided(std::vector<CopyLoop> loops, size_t bytes, const void *source,
                 void *target) {
  if (!simplify(loops))
    return;
  const char *from = static_cast<const char *>(source);
  char *to = static_cast<char *>(target);
  switch (bytes) {
  case 1:
    return copyLoops<1>(std::move(loops), bytes, from, to);
  case 2:
    return copyLoops<2>(std::move(loops), bytes, from, to);
  case 4:
    return copyLoops<4>(std::move(loops), bytes, from, to);
  case 8:
    return copyLoops<8>(std::move(loops), bytes, from, to);
  default:
    return copyLoops<0>(std::move(loops), bytes, from, to);
  }
}

std::vector<int64_t> rowMajorStrides(const std::vector<int64_t> &shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t dim = shape.size(); dim-- > 1;)
    strides[dim - 1] = strides[dim] * shape[dim];
  return strides;
}

int64_t volume(const std::vector<int64_t> &shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

/// The loops of packing from a tensor with `strides`, target = packed.
std::vector<CopyLoop> packLoops(const TokenOrder &order,
                                const std::vector<int64_t> &strides) {
  const TokenOrder scalar = order.scalarOrder();
  const std::vector<int> dims = scalar.loopDims();
  std::vector<CopyLoop> loops(scalar.numLoops());
  int64_t inside = 1;
  for (unsigned l = scalar.numLoops(); l-- > 0;) {
    loops[l] = {scalar.trips[l],
                dims[l] < 0 ? 0 : scalar.steps[l] * strides[dims[l]], inside};
    inside *= scalar.trips[l];
  }
  return loops;
}

/// The loops of copying a box between two layouts.
std::vector<CopyLoop> boxLoops(const std::vector<int64_t> &shape,
                               const std::vector<int64_t> &source,
                               const std::vector<int64_t> &target) {
  std::vector<CopyLoop> loops;
  for (size_t dim = 0; dim < shape.size(); ++dim)
    loops.push_back({shape[dim], source[dim], target[dim]});
  return loops;
}

void swapSides(std::vector<CopyLoop> &loops) {
  for (CopyLoop &loop : loops)
    std::swap(loop.source, loop.target);
}

bool check(const TokenOrder &order, size_t elementBytes,
           const TensorLayout &layout, std::string &error) {
  const std::vector<int64_t> extents = order.dataExtents();
  if (layout.shape.size() != extents.size() ||
      (!layout.strides.empty() && layout.strides.size() != extents.size())) {
    error = "expected a tensor of rank " + std::to_string(extents.size()) +
            " for packing but got shape '" + shapeString(layout.shape) +
            "' with " + std::to_string(layout.strides.size()) + " strides";
    return false;
  }
  for (size_t dim = 0; dim < extents.size(); ++dim)
    if (layout.shape[dim] < 0 || layout.shape[dim] > extents[dim]) {
      error = "expected a tensor of at most '" + shapeString(extents) +
              "' for packing but got '" + shapeString(layout.shape) + "'";
      return false;
    }
  if (elementBytes == 0) {
    error = "expected elements of at least 1 byte but got 0";
    return false;
  }
  return true;
}

std::vector<int64_t> stridesOf(const TensorLayout &layout) {
  return layout.strides.empty() ? rowMajorStrides(layout.shape)
                                : layout.strides;
}

} // namespace

int64_t streamtensor::packedBytes(const TokenOrder &order,
                                  size_t elementBytes) {
  return order.numTokens() * order.tokenElements() *
         static_cast<int64_t>(elementBytes);
}

bool streamtensor::packTensor(const TokenOrder &order, size_t elementBytes,
                              const TensorLayout &layout, const void *tensor,
                              void *packed, std::string &error) {
  if (!check(order, elementBytes, layout, error))
    return false;
  const std::vector<int64_t> strides = stridesOf(layout);
  const std::vector<int64_t> extents = order.dataExtents();
  if (layout.shape == extents) {
    copyStrided(packLoops(order, strides), elementBytes, tensor, packed);
    return true;
  }
  // Padding: through a row-major copy of the padded size.
  const std::vector<int64_t> paddedStrides = rowMajorStrides(extents);
  std::vector<char> padded(static_cast<size_t>(volume(extents)) * elementBytes);
  copyStrided(boxLoops(layout.shape, strides, paddedStrides), elementBytes,
              tensor, padded.data());
  copyStrided(packLoops(order, paddedStrides), elementBytes, padded.data(),
              packed);
  return true;
}

bool streamtensor::unpackTensor(const TokenOrder &order, size_t elementBytes,
                                const TensorLayout &layout, const void *packed,
                                void *tensor, std::string &error) {
  if (!check(order, elementBytes, layout, error))
    return false;
  const std::vector<int64_t> strides = stridesOf(layout);
  const std::vector<int64_t> extents = order.dataExtents();
  const bool whole = layout.shape == extents;
  const std::vector<int64_t> paddedStrides = rowMajorStrides(extents);
  std::vector<CopyLoop> loops =
      packLoops(order, whole ? strides : paddedStrides);
  swapSides(loops);
  if (whole) {
    copyStrided(std::move(loops), elementBytes, packed, tensor);
    return true;
  }
  std::vector<char> padded(static_cast<size_t>(volume(extents)) * elementBytes);
  copyStrided(std::move(loops), elementBytes, packed, padded.data());
  copyStrided(boxLoops(layout.shape, paddedStrides, strides), elementBytes,
              padded.data(), tensor);
  return true;
}
