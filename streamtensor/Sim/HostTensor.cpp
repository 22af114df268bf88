//===- HostTensor.cpp - Tensors outside the IR ----------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Element types, box copies and packing of host tensors.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Sim/HostTensor.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"

#include <cassert>
#include <limits>

using namespace mlir;
using namespace streamtensor;

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

std::optional<ElementKind> streamtensor::getElementKind(Type type) {
  if (type.isF32())
    return ElementKind::F32;
  if (type.isF64())
    return ElementKind::F64;
  if (type.isF16())
    return ElementKind::F16;
  if (type.isBF16())
    return ElementKind::BF16;
  if (type.isIndex())
    return ElementKind::I64;
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer)
    return std::nullopt;
  const unsigned width = integer.getWidth();
  if (width == 1)
    return ElementKind::I1;
  if (width <= 8)
    return ElementKind::I8;
  if (width <= 16)
    return ElementKind::I16;
  if (width <= 32)
    return ElementKind::I32;
  if (width <= 64)
    return ElementKind::I64;
  return std::nullopt;
}

Type streamtensor::getElementType(ElementKind kind, MLIRContext *context) {
  switch (kind) {
  case ElementKind::F32:
    return Float32Type::get(context);
  case ElementKind::F64:
    return Float64Type::get(context);
  case ElementKind::F16:
    return Float16Type::get(context);
  case ElementKind::BF16:
    return BFloat16Type::get(context);
  case ElementKind::I1:
    return IntegerType::get(context, 1);
  default:
    return IntegerType::get(context, getElementBytes(kind) * 8);
  }
}

size_t streamtensor::getElementBytes(ElementKind kind) {
  switch (kind) {
  case ElementKind::F64:
  case ElementKind::I64:
    return 8;
  case ElementKind::F32:
  case ElementKind::I32:
    return 4;
  case ElementKind::F16:
  case ElementKind::BF16:
  case ElementKind::I16:
    return 2;
  case ElementKind::I1:
  case ElementKind::I8:
    return 1;
  }
  llvm_unreachable("element kind");
}

bool streamtensor::isFloatKind(ElementKind kind) {
  return kind <= ElementKind::BF16;
}

StringRef streamtensor::getDtypeName(ElementKind kind) {
  static constexpr StringRef names[] = {"F32", "F64", "F16", "BF16", "BOOL",
                                        "I8",  "I16", "I32", "I64"};
  return names[static_cast<size_t>(kind)];
}

double streamtensor::scalarToDouble(ElementKind kind, Scalar value) {
  if (kind == ElementKind::F64)
    return value.d;
  return isFloatKind(kind) ? value.f : static_cast<double>(value.i);
}

static const llvm::fltSemantics &getSemantics(ElementKind kind) {
  return kind == ElementKind::BF16 ? llvm::APFloat::BFloat()
                                   : llvm::APFloat::IEEEhalf();
}

uint16_t streamtensor::floatToHalf(ElementKind kind, float value) {
  llvm::APFloat number(value);
  bool lossy;
  number.convert(getSemantics(kind), llvm::APFloat::rmNearestTiesToEven,
                 &lossy);
  return static_cast<uint16_t>(number.bitcastToAPInt().getZExtValue());
}

float streamtensor::halfToFloat(ElementKind kind, uint16_t bits) {
  llvm::APFloat number(getSemantics(kind), llvm::APInt(16, bits));
  bool lossy;
  number.convert(llvm::APFloat::IEEEsingle(),
                 llvm::APFloat::rmNearestTiesToEven, &lossy);
  return number.convertToFloat();
}

float streamtensor::roundToHalf(ElementKind kind, float value) {
  return halfToFloat(kind, floatToHalf(kind, value));
}

void streamtensor::fillPoison(ElementKind kind, char *data, int64_t count) {
  Scalar poison;
  poison.i = 0;
  if (kind == ElementKind::F64)
    poison.d = std::numeric_limits<double>::quiet_NaN();
  else if (isFloatKind(kind))
    poison.f = std::numeric_limits<float>::quiet_NaN();
  else
    poison.i = kind == ElementKind::I1 ? 1
                                       : std::numeric_limits<int64_t>::min() >>
                                             (64 - 8 * getElementBytes(kind));
  const size_t bytes = getElementBytes(kind);
  for (int64_t i = 0; i < count; ++i)
    storeElement(kind, poison, data + i * bytes);
}

//===----------------------------------------------------------------------===//
// HostTensor
//===----------------------------------------------------------------------===//

HostTensor::HostTensor(ArrayRef<int64_t> shape, ElementKind kind)
    : shape(shape.begin(), shape.end()), kind(kind) {
  data.assign(numElements() * getElementBytes(kind), 0);
}

HostTensor HostTensor::ofFloats(ArrayRef<int64_t> shape,
                                ArrayRef<float> values) {
  HostTensor tensor(shape, ElementKind::F32);
  assert(tensor.numElements() == static_cast<int64_t>(values.size()));
  std::memcpy(tensor.data.data(), values.data(), tensor.data.size());
  return tensor;
}

int64_t HostTensor::numElements() const {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

ArrayRef<float> HostTensor::floats() const {
  assert(kind == ElementKind::F32);
  return ArrayRef(reinterpret_cast<const float *>(data.data()), numElements());
}

std::string HostTensor::describe() const {
  return "tensor " + shapeString(shape) + " " + getDtypeName(kind).str();
}

//===----------------------------------------------------------------------===//
// Box copies and packing
//===----------------------------------------------------------------------===//

SmallVector<int64_t> streamtensor::rowMajorStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t dim = shape.size(); dim-- > 1;)
    strides[dim - 1] = strides[dim] * shape[dim];
  return strides;
}

BoxCopy::BoxCopy(ArrayRef<int64_t> shape, ArrayRef<int64_t> fromStrides,
                 ArrayRef<int64_t> toStrides, size_t elementBytes)
    : runBytes(elementBytes) {
  const auto bytes = static_cast<int64_t>(elementBytes);
  for (size_t dim = shape.size(); dim-- > 0;) {
    Loop loop{shape[dim], fromStrides[dim] * bytes, toStrides[dim] * bytes};
    if (loop.count == 1)
      continue;
    // Innermost dimensions without gaps on both sides are one memcpy.
    if (loops.empty() && loop.fromBytes == static_cast<int64_t>(runBytes) &&
        loop.toBytes == static_cast<int64_t>(runBytes))
      runBytes *= loop.count;
    else
      loops.push_back(loop);
  }
  // Collected innermost first.
  std::reverse(loops.begin(), loops.end());
}

void BoxCopy::runLoop(size_t loop, const char *from, char *to) const {
  if (loop == loops.size()) {
    std::memcpy(to, from, runBytes);
    return;
  }
  const Loop &l = loops[loop];
  if (loop + 1 == loops.size() && runBytes == 4) {
    for (int64_t i = 0; i < l.count; ++i)
      std::memcpy(to + i * l.toBytes, from + i * l.fromBytes, 4);
    return;
  }
  for (int64_t i = 0; i < l.count; ++i)
    runLoop(loop + 1, from + i * l.fromBytes, to + i * l.toBytes);
}

void BoxCopy::run(const char *from, char *to) const { runLoop(0, from, to); }

std::vector<char> streamtensor::packTokens(const HostTensor &tensor,
                                           const TokenOrder &order,
                                           ArrayRef<int64_t> shape) {
  const size_t bytes = getElementBytes(tensor.kind);
  std::vector<int64_t> element = order.elementShape();
  SmallVector<int64_t> strides = rowMajorStrides(shape);
  BoxCopy copy(element, strides, rowMajorStrides(element), bytes);
  const size_t tokenBytes = order.tokenElements() * bytes;
  std::vector<char> tokens(order.numTokens() * tokenBytes);
  char *to = tokens.data();
  forEachTokenOffset(order, strides, [&](int64_t offset) {
    copy.run(tensor.data.data() + offset * bytes, to);
    to += tokenBytes;
  });
  return tokens;
}

std::vector<char> streamtensor::packTokens(const HostTensor &tensor,
                                           const TokenOrder &order) {
  return packTokens(tensor, order, order.dataExtents());
}

int64_t streamtensor::unpackTokens(const char *tokens, const TokenOrder &order,
                                   ArrayRef<int64_t> shape,
                                   HostTensor &tensor) {
  const size_t bytes = getElementBytes(tensor.kind);
  std::vector<int64_t> element = order.elementShape();
  SmallVector<int64_t> inside = rowMajorStrides(element),
                       outside = rowMajorStrides(shape);
  BoxCopy copy(element, inside, outside, bytes);
  // Coverage: the same copy over bytes that are 1.
  BoxCopy mark(element, inside, outside, 1);
  std::vector<char> ones(order.tokenElements(), 1),
      covered(tensor.numElements(), 0);
  const size_t tokenBytes = order.tokenElements() * bytes;
  forEachTokenOffset(order, outside, [&](int64_t offset) {
    copy.run(tokens, tensor.data.data() + offset * bytes);
    mark.run(ones.data(), covered.data() + offset);
    tokens += tokenBytes;
  });
  int64_t spanned = 1;
  for (int64_t extent : order.dataExtents())
    spanned *= extent;
  return spanned - llvm::count(covered, 1);
}

int64_t streamtensor::unpackTokens(const char *tokens, const TokenOrder &order,
                                   HostTensor &tensor) {
  return unpackTokens(tokens, order, order.dataExtents(), tensor);
}

/// Copies the corner of shape `shape` between two row-major tensors.
static void copyCorner(const HostTensor &from, ArrayRef<int64_t> shape,
                       HostTensor &to) {
  if (!llvm::is_contained(shape, 0))
    BoxCopy(shape, rowMajorStrides(from.shape), rowMajorStrides(to.shape),
            getElementBytes(from.kind))
        .run(from.data.data(), to.data.data());
}

HostTensor streamtensor::placeInCorner(const HostTensor &tensor,
                                       ArrayRef<int64_t> shape) {
  HostTensor result(shape, tensor.kind);
  fillPoison(result.kind, result.data.data(), result.numElements());
  copyCorner(tensor, tensor.shape, result);
  return result;
}

HostTensor streamtensor::cutCorner(const HostTensor &tensor,
                                   ArrayRef<int64_t> shape) {
  HostTensor result(shape, tensor.kind);
  copyCorner(tensor, shape, result);
  return result;
}
