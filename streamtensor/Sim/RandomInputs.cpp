//===- RandomInputs.cpp - Random data for validation ----------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One distribution per role.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Sim/RandomInputs.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/InterleavedRange.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace streamtensor;

namespace {

/// SplitMix64 (S. Vigna): the same numbers everywhere.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}

  uint64_t next() {
    uint64_t z = (state += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  /// In [0, 1), a multiple of 2^-24: exact in float.
  float uniform() { return static_cast<float>(next() >> 40) * 0x1p-24f; }
  /// In [-1, 1).
  float symmetric() { return 2 * uniform() - 1; }

private:
  uint64_t state;
};

void setNumber(HostTensor &tensor, int64_t index, float value) {
  Scalar scalar;
  scalar.i = 0;
  if (tensor.kind == ElementKind::F64)
    scalar.d = value;
  else if (tensor.kind == ElementKind::F32)
    scalar.f = value;
  else if (isFloatKind(tensor.kind))
    scalar.f = roundToHalf(tensor.kind, value);
  else
    scalar.i = static_cast<int64_t>(value);
  tensor.set(index, scalar);
}

void fillMask(HostTensor &tensor, Random &random) {
  const bool isFloat = isFloatKind(tensor.kind);
  const float closed = isFloat ? std::numeric_limits<float>::lowest() : 0;
  const float open = isFloat ? 0 : 1;
  const size_t rank = tensor.shape.size();
  const int64_t columns = rank > 0 ? tensor.shape[rank - 1] : 1,
                rows = rank > 1 ? tensor.shape[rank - 2] : 1;
  for (int64_t i = 0; i < tensor.numElements(); ++i) {
    const int64_t column = i % columns, row = i / columns % rows;
    // Row r sees the past and itself: columns up to `last`.
    const int64_t last = std::max<int64_t>(columns - rows, 0) + row;
    const bool hole = random.uniform() < 0.25f;
    const bool isOpen =
        column == std::min(last, columns - 1) || (column < last && !hole);
    setNumber(tensor, i, isOpen ? open : closed);
  }
}

void fill(HostTensor &tensor, StringRef role, Random &random) {
  if (role == "mask")
    return fillMask(tensor, random);
  const size_t rank = tensor.shape.size();
  const bool isFloat = isFloatKind(tensor.kind);
  // A uniform number in [-1, 1) has variance 1/3.
  float scale = std::sqrt(3.0f), offset = 0;
  if (role == "position") {
    scale = 1;
  } else if (role == "weight" && rank == 1) {
    scale = 0.5f;
    offset = 1;
  } else if (rank > 1 && (role == "weight" || (role.empty() && rank == 2))) {
    scale = std::sqrt(3.0f / static_cast<float>(tensor.shape.back()));
  }
  for (int64_t i = 0; i < tensor.numElements(); ++i) {
    if (isFloat)
      setNumber(tensor, i, offset + scale * random.symmetric());
    else if (tensor.kind == ElementKind::I1)
      setNumber(tensor, i, static_cast<float>(random.next() >> 63));
    else
      setNumber(tensor, i,
                std::floor(random.uniform() *
                           (tensor.kind == ElementKind::I8 ? 16 : 8)) -
                    (tensor.kind == ElementKind::I8 ? 8 : 0));
  }
}

} // namespace

FailureOr<std::vector<HostTensor>>
streamtensor::makeRandomInputs(func::FuncOp function,
                               ArrayRef<std::vector<int64_t>> shapes,
                               uint64_t seed, std::string &error) {
  std::vector<HostTensor> inputs;
  for (auto [index, type, shape] :
       llvm::enumerate(function.getArgumentTypes(), shapes)) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    std::optional<ElementKind> kind;
    if (tensor && succeeded(verifyCompatibleShape(shape, tensor.getShape())))
      kind = getElementKind(tensor.getElementType());
    if (!kind) {
      llvm::raw_string_ostream(error)
          << "expected argument " << index << " to be a tensor of sizes ["
          << llvm::interleaved(shape) << "] but got '" << type << "'";
      return failure();
    }
    auto role = function.getArgAttrOfType<StringAttr>(index, "dataflow.role");
    HostTensor input(shape, *kind);
    // An argument's values do not depend on the others.
    Random random(seed * 0x100000001b3ull + index);
    fill(input, role ? role.getValue() : "", random);
    inputs.push_back(std::move(input));
  }
  return inputs;
}

FailureOr<std::vector<HostTensor>>
streamtensor::makeRandomInputs(func::FuncOp function, uint64_t seed,
                               std::string &error) {
  std::vector<std::vector<int64_t>> shapes;
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !tensor.hasStaticShape()) {
      llvm::raw_string_ostream(error)
          << "expected argument " << index << " to be a static tensor but got '"
          << type << "'";
      return failure();
    }
    shapes.emplace_back(tensor.getShape());
  }
  return makeRandomInputs(function, shapes, seed, error);
}

ParameterValues streamtensor::makeRandomParameters(
    ArrayRef<dataflow::ParameterRange> parameters, uint64_t seed) {
  ParameterValues values;
  Random random(seed);
  for (const dataflow::ParameterRange &parameter : parameters) {
    const bool hasInside = parameter.largest - parameter.smallest >= 2;
    const int64_t first = parameter.smallest + hasInside,
                  last = parameter.largest - hasInside;
    values[parameter.name] =
        first + static_cast<int64_t>(random.next() %
                                     static_cast<uint64_t>(last - first + 1));
  }
  return values;
}
