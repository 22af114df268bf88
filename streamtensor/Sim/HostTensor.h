//===- HostTensor.h - Tensors outside the IR --------------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tensor in host memory: what the interpreter and the reference run take and
// return, and how a token order packs it.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_SIM_HOSTTENSOR_H
#define STREAMTENSOR_SIM_HOSTTENSOR_H

#include "streamtensor/Support/TokenOrder.h"

#include "mlir/IR/Types.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

namespace streamtensor {

/// Element types that can be interpreted. Integers are signless; `index` is
/// I64; I1 takes one byte that is 0 or 1. Integers of other widths lie in
/// memory as the next wider kind, sign-extended; operations wrap at their own
/// width.
enum class ElementKind : uint8_t { F32, F64, F16, BF16, I1, I8, I16, I32, I64 };

/// The kind of an MLIR element type, or nothing if it cannot be interpreted.
std::optional<ElementKind> getElementKind(mlir::Type type);
/// The MLIR type of a kind (I64 for what was `index`).
mlir::Type getElementType(ElementKind kind, mlir::MLIRContext *context);
/// Bytes of one element in memory.
size_t getElementBytes(ElementKind kind);
bool isFloatKind(ElementKind kind);
/// The dtype's name in safetensors: F32, BOOL, I8 ...
llvm::StringRef getDtypeName(ElementKind kind);

/// A scalar in a register. F32, F16 and BF16 live in `f` (exact values of their
/// type), F64 in `d`, integers in `i`, sign-extended; I1 is 0 or 1.
union Scalar {
  int64_t i;
  float f;
  double d;
};

/// Rounds to the nearest value of the 16-bit type, ties to even.
float roundToHalf(ElementKind kind, float value);
/// The float of a stored F16 or BF16.
float halfToFloat(ElementKind kind, uint16_t bits);
/// The bits of a float that is a value of F16 or BF16 already.
uint16_t floatToHalf(ElementKind kind, float value);

/// Reads the element at `from`.
inline Scalar loadElement(ElementKind kind, const char *from) {
  Scalar value;
  value.i = 0;
  auto as = [from](auto prototype) {
    std::memcpy(&prototype, from, sizeof(prototype));
    return prototype;
  };
  switch (kind) {
  case ElementKind::F32:
    value.f = as(float());
    break;
  case ElementKind::F64:
    value.d = as(double());
    break;
  case ElementKind::F16:
  case ElementKind::BF16:
    value.f = halfToFloat(kind, as(uint16_t()));
    break;
  case ElementKind::I1:
  case ElementKind::I8:
    value.i = as(int8_t());
    break;
  case ElementKind::I16:
    value.i = as(int16_t());
    break;
  case ElementKind::I32:
    value.i = as(int32_t());
    break;
  case ElementKind::I64:
    value.i = as(int64_t());
    break;
  }
  return value;
}

/// Writes `value` as one element to `to`.
inline void storeElement(ElementKind kind, Scalar value, char *to) {
  auto put = [to](auto element) { std::memcpy(to, &element, sizeof(element)); };
  switch (kind) {
  case ElementKind::F32:
    return put(value.f);
  case ElementKind::F64:
    return put(value.d);
  case ElementKind::F16:
  case ElementKind::BF16:
    return put(floatToHalf(kind, value.f));
  case ElementKind::I1:
  case ElementKind::I8:
    return put(static_cast<int8_t>(value.i));
  case ElementKind::I16:
    return put(static_cast<int16_t>(value.i));
  case ElementKind::I32:
    return put(static_cast<int32_t>(value.i));
  case ElementKind::I64:
    return put(value.i);
  }
}

/// The value of an element as a double (exact except for large I64).
double scalarToDouble(ElementKind kind, Scalar value);

/// Fills memory of `count` elements with values that do not pass unnoticed: NaN
/// for floats, the smallest integer for integers (true for I1).
void fillPoison(ElementKind kind, char *data, int64_t count);

/// A row-major tensor in host memory.
struct HostTensor {
  std::vector<int64_t> shape;
  ElementKind kind = ElementKind::F32;
  /// numElements() x getElementBytes(kind) bytes, little-endian.
  std::vector<char> data;

  HostTensor() = default;
  /// A tensor of zeros.
  HostTensor(llvm::ArrayRef<int64_t> shape, ElementKind kind);
  /// An F32 tensor of the given row-major values.
  static HostTensor ofFloats(llvm::ArrayRef<int64_t> shape,
                             llvm::ArrayRef<float> values);

  int64_t numElements() const;
  Scalar get(int64_t index) const {
    return loadElement(kind, data.data() + index * getElementBytes(kind));
  }
  void set(int64_t index, Scalar value) {
    storeElement(kind, value, data.data() + index * getElementBytes(kind));
  }
  double asDouble(int64_t index) const {
    return scalarToDouble(kind, get(index));
  }
  /// The elements as floats; for F32 only.
  llvm::ArrayRef<float> floats() const;
  /// "tensor 4x2 F32".
  std::string describe() const;
};

/// Copies a box of elements between two strided memories. Strides count
/// elements. Contiguous dimensions are merged once, in the constructor.
class BoxCopy {
public:
  BoxCopy() = default;
  BoxCopy(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> fromStrides,
          llvm::ArrayRef<int64_t> toStrides, size_t elementBytes);
  void run(const char *from, char *to) const;

private:
  struct Loop {
    int64_t count, fromBytes, toBytes;
  };
  void runLoop(size_t loop, const char *from, char *to) const;

  llvm::SmallVector<Loop, 4> loops;
  size_t runBytes = 0;
};

/// Row-major strides, in elements.
llvm::SmallVector<int64_t> rowMajorStrides(llvm::ArrayRef<int64_t> shape);

/// Calls `fn(element offset of the token's first element)` for each token of
/// `order` over a tensor with these strides, in elements.
template <typename Fn>
void forEachTokenOffset(const TokenOrder &order,
                        llvm::ArrayRef<int64_t> strides, Fn fn) {
  order.forEachToken([&](const std::vector<int64_t> &offsets) {
    int64_t linear = 0;
    for (size_t dim = 0; dim < offsets.size(); ++dim)
      linear += offsets[dim] * strides[dim];
    fn(linear);
  });
}

/// The tokens of `order` over `tensor`, one after the other. The tensor's
/// elements, row-major, are those of a tensor of shape `shape`, in whose corner
/// the tensor of shape `order.dataExtents()` lies.
std::vector<char> packTokens(const HostTensor &tensor, const TokenOrder &order,
                             llvm::ArrayRef<int64_t> shape);
/// The same, when the order spans the whole tensor.
std::vector<char> packTokens(const HostTensor &tensor, const TokenOrder &order);

/// The inverse of `packTokens`: places tokens into `tensor`, which has as many
/// elements as `shape`. Returns the number of elements that `order` spans and
/// no token covered.
int64_t unpackTokens(const char *tokens, const TokenOrder &order,
                     llvm::ArrayRef<int64_t> shape, HostTensor &tensor);
int64_t unpackTokens(const char *tokens, const TokenOrder &order,
                     HostTensor &tensor);

/// A tensor of shape `shape` in whose corner `tensor` lies; what is outside of
/// it is poison. No size of `tensor` is larger than that of `shape`.
HostTensor placeInCorner(const HostTensor &tensor,
                         llvm::ArrayRef<int64_t> shape);
/// The inverse: the corner of shape `shape`.
HostTensor cutCorner(const HostTensor &tensor, llvm::ArrayRef<int64_t> shape);

} // namespace streamtensor

#endif // STREAMTENSOR_SIM_HOSTTENSOR_H
