//===- InferSizes.cpp - how sizes depend on parameters --------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Walks several versions of one module in step and interpolates their sizes.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Transforms/Linalg/InferSizes.h"

#include "streamtensor/Dialect/Dataflow/IR/RuntimeSizes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace streamtensor;
using dataflow::RuntimeShape;

static int64_t nextPrime(int64_t number) {
  auto isPrime = [](int64_t candidate) {
    for (int64_t divisor = 2; divisor * divisor <= candidate; ++divisor)
      if (candidate % divisor == 0)
        return false;
    return true;
  };
  while (!isPrime(++number))
    ;
  return number;
}

std::vector<ParameterValues>
streamtensor::probeValues(const ParameterValues &maxima) {
  // Primes far apart: neither they nor their sums are what a model has.
  static constexpr int64_t kFirst = 1009, kGrowth = 2;
  ParameterValues base = maxima;
  int64_t next = kFirst;
  for (auto &[name, value] : base) {
    // Not below the maximum: what is decided by the number of terms of a sum
    // (st-narrow-integers) must hold for the longest.
    value = value <= next ? next : nextPrime(value);
    next = nextPrime(value * kGrowth);
  }
  std::vector<ParameterValues> probes{base};
  for (const auto &[name, value] : base)
    probes.emplace_back(base)[name] = value + 1;
  // Different steps, so that no sum of two parameters stays what it was.
  ParameterValues &check = probes.emplace_back(base);
  int64_t step = 1;
  for (auto &[name, value] : check)
    value += step += 2;
  return probes;
}

namespace {

/// Compares the operations of all modules that stand at one place.
class SizeInference {
public:
  SizeInference(ArrayRef<SizedModule> modules, const ParameterValues &maxima)
      : modules(modules), maxima(maxima) {
    values.resize(modules.size());
  }

  LogicalResult run() {
    SmallVector<SmallVector<Operation *>> ops;
    for (const SizedModule &sized : modules) {
      SmallVector<Operation *> &list = ops.emplace_back();
      sized.module->walk<WalkOrder::PreOrder>(
          [&](Operation *op) { list.push_back(op); });
    }
    for (size_t i = 0; i < ops.front().size(); ++i) {
      SmallVector<Operation *> together;
      for (SmallVector<Operation *> &list : ops) {
        if (i >= list.size())
          return refuse(ops.front()[i], "is there or not");
        together.push_back(list[i]);
      }
      if (failed(compare(together)))
        return failure();
    }
    for (SmallVector<Operation *> &list : ops)
      if (list.size() != ops.front().size())
        return refuse(ops.front().back(), "is followed by others or not");
    bool corners = true;
    for (Operation *op : ops.front())
      if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
        corners &= succeeded(keepsCorner(expand, expand.getResult()));
      else if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
        corners &= succeeded(keepsCorner(collapse, collapse.getSrc()));
    if (!corners)
      return failure();
    for (const auto &[value, type] : largest)
      Value(value).setType(type);
    for (Operation *op : ops.front())
      enlarge(op);
    return success();
  }

private:
  /// "past = 256, seq = 128" of module `i`.
  std::string valuesOf(size_t i) const {
    return valuesString(modules[i].values);
  }

  LogicalResult refuse(Operation *op, const Twine &what) {
    return op->emitError()
           << "'" << op->getName() << "' " << what
           << ", depending on the run-time sizes ("
           << valuesString(modules.front().values)
           << " and others were tried); sizes may decide about shapes only: "
              "pass what else depends on them as an input";
  }

  /// A reshape must leave each element where it is in the memory of the largest
  /// size: of the dimensions that one dimension is split into, or made of, the
  /// outermost alone may have a run-time size. `split` is the value with more
  /// dimensions.
  template <typename OpTy>
  LogicalResult keepsCorner(OpTy op, Value split) {
    const RuntimeShape *shape = nullptr;
    if (auto found = shapes.find(split); found != shapes.end())
      shape = &found->second;
    for (const ReassociationIndices &group : op.getReassociationIndices()) {
      bool isFirst = true;
      std::string sizes;
      bool moves = false;
      for (int64_t dim : group) {
        TripCount size =
            shape
                ? shape->sizes[dim]
                : TripCount(
                      cast<RankedTensorType>(split.getType()).getDimSize(dim));
        if (size.isConstant(1))
          continue;
        moves |= !isFirst && !size.isConstant();
        isFirst = false;
        sizes += (sizes.empty() ? "" : " x ") + size.str();
      }
      if (moves)
        return op->emitError()
               << "'" << op->getName() << "' reshapes from or to " << sizes
               << " elements, where an inner dimension has a run-time size; "
                  "only the outermost of dimensions that are joined or split "
                  "can have one, because a tensor lies in the corner of its "
                  "largest size: join other dimensions, concatenate along the "
                  "dimension of run-time size, or export with a fixed size";
    }
    return success();
  }

  LogicalResult compare(ArrayRef<Operation *> ops) {
    Operation *first = ops.front();
    for (Operation *op : ops)
      if (op->getName() != first->getName() ||
          op->getNumOperands() != first->getNumOperands() ||
          op->getNumResults() != first->getNumResults() ||
          op->getNumRegions() != first->getNumRegions())
        return refuse(first, "is another operation, '" +
                                 op->getName().getStringRef() + "'");
    if (failed(compareOperands(ops)) || failed(compareAttributes(ops)))
      return failure();
    for (unsigned i = 0; i < first->getNumResults(); ++i) {
      FailureOr<RuntimeShape> shape =
          number(first, llvm::map_to_vector(ops, [&](Operation *op) -> Value {
                   return op->getResult(i);
                 }));
      if (failed(shape))
        return failure();
      if (shape->isStatic())
        continue;
      if (first->getNumResults() != 1)
        return refuse(first, "has several results of run-time size");
      first->setDiscardableAttr(
          dataflow::kDimsAttr, dataflow::dimsAttr(first->getContext(), *shape));
    }
    for (unsigned region = 0; region < first->getNumRegions(); ++region)
      if (failed(compareArguments(ops, region)))
        return failure();
    if (auto terminator = dyn_cast<func::ReturnOp>(first))
      return describeResults(terminator);
    return success();
  }

  LogicalResult compareOperands(ArrayRef<Operation *> ops) {
    for (auto [i, op] : llvm::enumerate(ops))
      for (unsigned operand = 0; operand < op->getNumOperands(); ++operand) {
        // Operands of graph regions aside, definitions come first.
        auto known = values[i].find(op->getOperand(operand));
        auto wanted = values[0].find(ops.front()->getOperand(operand));
        if (known == values[i].end() || wanted == values[0].end() ||
            known->second != wanted->second)
          return refuse(ops.front(), "has another operand " + Twine(operand));
      }
    return success();
  }

  LogicalResult compareArguments(ArrayRef<Operation *> ops, unsigned region) {
    Operation *first = ops.front();
    for (Operation *op : ops)
      if (op->getRegion(region).getBlocks().size() !=
          first->getRegion(region).getBlocks().size())
        return refuse(first, "has other blocks");
    if (first->getRegion(region).empty())
      return success();
    if (!first->getRegion(region).hasOneBlock())
      return refuse(first, "has several blocks, which no normalized form has");
    auto function = dyn_cast<func::FuncOp>(first);
    Block &block = first->getRegion(region).front();
    for (unsigned i = 0; i < block.getNumArguments(); ++i) {
      SmallVector<Value> arguments;
      for (Operation *op : ops) {
        if (op->getRegion(region).front().getNumArguments() !=
            block.getNumArguments())
          return refuse(first, "has other block arguments");
        arguments.push_back(op->getRegion(region).front().getArgument(i));
      }
      FailureOr<RuntimeShape> shape = number(first, arguments);
      if (failed(shape))
        return failure();
      if (shape->isStatic())
        continue;
      if (!function)
        return refuse(first, "has a block argument of run-time size");
      function.setArgAttr(i, dataflow::kDimsAttr,
                          dataflow::dimsAttr(function.getContext(), *shape));
    }
    return success();
  }

  /// The results of the function have the sizes of what it returns.
  LogicalResult describeResults(func::ReturnOp terminator) {
    auto function = terminator->getParentOfType<func::FuncOp>();
    for (OpOperand &operand : terminator->getOpOperands()) {
      if (!isa<RankedTensorType>(operand.get().getType()))
        continue;
      Attribute dims;
      if (Operation *op = operand.get().getDefiningOp())
        dims = op->getDiscardableAttr(dataflow::kDimsAttr);
      else
        dims = function.getArgAttr(
            cast<BlockArgument>(operand.get()).getArgNumber(),
            dataflow::kDimsAttr);
      if (dims)
        function.setResultAttr(operand.getOperandNumber(), dataflow::kDimsAttr,
                               dims);
    }
    return success();
  }

  /// Gives the values of one place the same number, and infers their sizes.
  FailureOr<RuntimeShape> number(Operation *op, ArrayRef<Value> together) {
    unsigned next = values.front().size();
    for (auto [i, value] : llvm::enumerate(together))
      values[i][value] = next;
    RuntimeShape shape;
    auto type = dyn_cast<RankedTensorType>(together.front().getType());
    for (Value value : together) {
      auto other = dyn_cast<RankedTensorType>(value.getType());
      if (type ? !other || other.getRank() != type.getRank() ||
                     other.getElementType() != type.getElementType()
               : value.getType() != together.front().getType())
        return refuse(op, "has results of other types");
    }
    if (!type)
      return shape;
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      SmallVector<int64_t> sizes;
      for (Value value : together)
        sizes.push_back(
            cast<RankedTensorType>(value.getType()).getDimSize(dim));
      std::optional<TripCount> size = interpolate(sizes);
      if (!size) {
        std::string text;
        for (auto [i, found] : llvm::enumerate(sizes))
          text +=
              (i ? ", " : "") + std::to_string(found) + " with " + valuesOf(i);
        return op->emitError()
               << "dimension " << dim << " of the result of '" << op->getName()
               << "' is no sum of multiples of the run-time sizes; keep "
                  "dimensions apart whose sizes are multiplied or divided, or "
                  "export with a fixed size: "
               << text;
      }
      if (size->lowest(maxima) < 0)
        return op->emitError()
               << "dimension " << dim << " of the result of '" << op->getName()
               << "' has size '" << size->str()
               << "', which is below 0 for sizes of 0; name the size of the "
                  "result instead and say of the larger tensor that it has "
                  "more, like 'n + 1'";
      ParameterValues used;
      size->collectParameters(used);
      for (const auto &[name, unused] : used)
        shape.maxima[name] = maxima.at(name);
      shape.sizes.push_back(*size);
    }
    if (!shape.isStatic()) {
      largest.emplace_back(
          together.front(),
          type.clone(llvm::map_to_vector(shape.sizes, [&](TripCount size) {
            return size.evaluate(maxima);
          })));
      shapes[together.front()] = shape;
    }
    return shape;
  }

  /// The affine expression with these values in the modules.
  std::optional<TripCount> interpolate(ArrayRef<int64_t> sizes) {
    const ParameterValues &base = modules.front().values;
    TripCount size;
    int64_t constant = sizes.front();
    size_t probe = 0;
    for (const auto &[name, value] : base) {
      int64_t slope = sizes[++probe] - sizes.front();
      if (slope == 0)
        continue;
      size = size + TripCount::parameter(name) * slope;
      constant -= slope * value;
    }
    size = size + TripCount(constant);
    if (size.evaluate(modules.back().values) != sizes.back())
      return std::nullopt;
    return size;
  }

  LogicalResult compareAttributes(ArrayRef<Operation *> ops) {
    Operation *first = ops.front();
    SmallVector<NamedAttribute> expected = attributesOf(first);
    for (Operation *op : ops.drop_front()) {
      SmallVector<NamedAttribute> found = attributesOf(op);
      if (found.size() != expected.size())
        return refuse(first, "has other attributes");
      for (auto [a, b] : llvm::zip_equal(expected, found))
        if (a.getName() != b.getName() ||
            !sameButForSizes(a.getValue(), b.getValue()))
          return refuse(first, "has another attribute '" +
                                   a.getName().getValue() + "'");
    }
    return success();
  }

  /// All attributes but those that the types of operands and results repeat.
  static SmallVector<NamedAttribute> attributesOf(Operation *op) {
    SmallVector<NamedAttribute> attributes;
    for (NamedAttribute attribute : op->getAttrs()) {
      StringRef name = attribute.getName();
      if (isa<func::FuncOp>(op) ||
          (name == "static_sizes" && isa<tensor::ExtractSliceOp>(op)) ||
          (name == "static_output_shape" && isa<tensor::ExpandShapeOp>(op)))
        continue;
      attributes.push_back(attribute);
    }
    return attributes;
  }

  /// Equal, or constants that are one value everywhere.
  static bool sameButForSizes(Attribute a, Attribute b) {
    if (a == b)
      return true;
    auto left = dyn_cast<SplatElementsAttr>(a);
    auto right = dyn_cast<SplatElementsAttr>(b);
    return left && right &&
           left.getSplatValue<Attribute>() == right.getSplatValue<Attribute>();
  }

  /// Repeats the new types where attributes do.
  static void enlarge(Operation *op) {
    if (auto function = dyn_cast<func::FuncOp>(op)) {
      Operation *terminator = function.getBody().front().getTerminator();
      function.setType(FunctionType::get(
          op->getContext(),
          SmallVector<Type>(function.getBody().front().getArgumentTypes()),
          SmallVector<Type>(terminator->getOperandTypes())));
      return;
    }
    if (!op->hasAttr(dataflow::kDimsAttr))
      return;
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
      slice.setStaticSizes(type.getShape());
    else if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
      expand.setStaticOutputShape(type.getShape());
    else if (auto constant = dyn_cast<arith::ConstantOp>(op))
      constant.setValueAttr(SplatElementsAttr::get(
          type, cast<SplatElementsAttr>(constant.getValue())
                    .getSplatValue<Attribute>()));
  }

  ArrayRef<SizedModule> modules;
  const ParameterValues &maxima;
  /// The types of the first module's values of run-time size at `maxima`.
  std::vector<std::pair<Value, RankedTensorType>> largest;
  /// The sizes of those.
  DenseMap<Value, RuntimeShape> shapes;
  /// Per module the number of each value.
  std::vector<DenseMap<Value, unsigned>> values;
};

} // namespace

LogicalResult streamtensor::inferSizes(ArrayRef<SizedModule> modules,
                                       const ParameterValues &maxima) {
  return SizeInference(modules, maxima).run();
}
