//===- DataflowDialect.cpp - dataflow dialect -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Registration of the dataflow dialect and its attributes.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Dialect/Dataflow/IR/Dataflow.h"

#include "streamtensor/Dialect/Dataflow/IR/Placement.h"
#include "streamtensor/Dialect/Dataflow/IR/RuntimeSizes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace streamtensor;
using namespace streamtensor::dataflow;

#include "streamtensor/Dialect/Dataflow/IR/DataflowDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "streamtensor/Dialect/Dataflow/IR/DataflowAttrs.cpp.inc"

void DataflowDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "streamtensor/Dialect/Dataflow/IR/DataflowOps.cpp.inc"
      >();
}

void DataflowDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "streamtensor/Dialect/Dataflow/IR/DataflowAttrs.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Sizes and parameters, as attributes of any operation
//===----------------------------------------------------------------------===//

/// Checks the sizes that `dims` says of a tensor of type `type`.
static LogicalResult verifyDims(Operation *op, Type type, Attribute dims) {
  auto emitError = [&] { return op->emitOpError(); };
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || !shaped.hasRank())
    return emitError() << "expected '" << kDimsAttr
                       << "' on a ranked tensor or memory but got " << type;
  return readShape(shaped, dims, emitError);
}

static LogicalResult verifyParameters(Operation *op, Attribute value) {
  auto entries = dyn_cast<DictionaryAttr>(value);
  if (!isa<FunctionOpInterface>(op) || !entries)
    return op->emitOpError() << "expected '" << kParametersAttr
                             << "' to be a dictionary on a function";
  for (NamedAttribute entry : entries) {
    auto range = dyn_cast<DenseI64ArrayAttr>(entry.getValue());
    if (!range || range.size() != 2 || range[0] < 0 || range[1] < range[0])
      return op->emitOpError()
             << "expected the smallest and the largest value of parameter '"
             << entry.getName().getValue() << "' but got " << entry.getValue();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Dies and memories
//===----------------------------------------------------------------------===//

static bool isArrayMemory(StringRef kind) {
  return kind == "lutram" || kind == "bram" || kind == "uram";
}

static LogicalResult verifyDie(Operation *op, Attribute value) {
  auto name = dyn_cast<StringAttr>(value);
  if (!isa<TaskOp, FunctionOpInterface>(op) || !name || name.empty())
    return op->emitOpError()
           << "expected '" << kDieAttr
           << "' to be the name of a die, on a task or its function, but got "
           << value;
  return success();
}

static LogicalResult verifyMemories(Operation *op, Attribute value) {
  auto kinds = dyn_cast<DictionaryAttr>(value);
  if (!isa<TaskOp, FunctionOpInterface>(op) || !kinds)
    return op->emitOpError()
           << "expected '" << kMemoriesAttr
           << "' to be a dictionary on a task or its function but got "
           << value;
  for (NamedAttribute entry : kinds) {
    auto kind = dyn_cast<StringAttr>(entry.getValue());
    if (!kind || !isArrayMemory(kind))
      return op->emitOpError()
             << "expected lutram, bram or uram for array '"
             << entry.getName().getValue() << "' but got " << entry.getValue();
  }
  return success();
}

/// A FIFO before and after the conversion to streams; streams come later than
/// this dialect, so it is known by name.
static bool isFifo(Operation *op) {
  StringRef name = op->getName().getStringRef();
  return name == "itensor.instance" || name == "stream.stream";
}

static LogicalResult verifyFifoMemory(Operation *op, Attribute value) {
  auto kind = dyn_cast<StringAttr>(value);
  if (!isFifo(op) || !kind || !(kind == "srl" || isArrayMemory(kind)))
    return op->emitOpError() << "expected '" << kMemoryAttr
                             << "' to be srl, lutram, bram or uram, on a fifo, "
                                "but got "
                             << value;
  return success();
}

static LogicalResult verifyCrossing(Operation *op, Attribute value) {
  auto stages = dyn_cast<IntegerAttr>(value);
  if (!isFifo(op) || !stages || !stages.getType().isInteger(64) ||
      stages.getInt() < 1 || stages.getInt() > kMostStages)
    return op->emitOpError()
           << "expected '" << kCrossingAttr << "' to be 1 to " << kMostStages
           << " stages, on a fifo, but got " << value;
  return success();
}

LogicalResult DataflowDialect::verifyOperationAttribute(Operation *op,
                                                        NamedAttribute entry) {
  if (entry.getName() == kParametersAttr)
    return verifyParameters(op, entry.getValue());
  if (entry.getName() == kDieAttr)
    return verifyDie(op, entry.getValue());
  if (entry.getName() == kMemoriesAttr)
    return verifyMemories(op, entry.getValue());
  if (entry.getName() == kMemoryAttr)
    return verifyFifoMemory(op, entry.getValue());
  if (entry.getName() == kCrossingAttr)
    return verifyCrossing(op, entry.getValue());
  if (entry.getName() != kDimsAttr)
    return success();
  if (op->getNumResults() != 1)
    return op->emitOpError()
           << "expected one result that '" << kDimsAttr
           << "' says the sizes of but got " << op->getNumResults();
  return verifyDims(op, op->getResult(0).getType(), entry.getValue());
}

LogicalResult DataflowDialect::verifyRegionArgAttribute(Operation *op,
                                                        unsigned region,
                                                        unsigned argument,
                                                        NamedAttribute entry) {
  if (entry.getName() != kDimsAttr)
    return success();
  auto function = cast<FunctionOpInterface>(op);
  return verifyDims(op, function.getArgumentTypes()[argument],
                    entry.getValue());
}

LogicalResult DataflowDialect::verifyRegionResultAttribute(
    Operation *op, unsigned region, unsigned result, NamedAttribute entry) {
  if (entry.getName() != kDimsAttr)
    return success();
  auto function = cast<FunctionOpInterface>(op);
  return verifyDims(op, function.getResultTypes()[result], entry.getValue());
}

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   ArrayRef<int64_t> order,
                                   ArrayRef<int64_t> steps,
                                   ArrayRef<int64_t> tile,
                                   ArrayRef<int64_t> unroll) {
  size_t rank = tile.size();
  if (unroll.size() != rank || (steps.empty() && order.size() != rank))
    return emitError() << "expected order, tile and unroll of one rank but got "
                       << order.size() << ", " << rank << " and "
                       << unroll.size();
  if (!steps.empty() && steps.size() != order.size())
    return emitError() << "expected a step for each of " << order.size()
                       << " loops but got " << steps.size();
  for (size_t dim = 0; dim < rank; ++dim)
    if (tile[dim] < 1 || unroll[dim] < 1)
      return emitError() << "expected positive tile and unroll factors";
  SmallVector<int64_t> innermost(rank, 0);
  for (auto [loop, dim] : llvm::enumerate(order)) {
    if (dim < 0 || dim >= static_cast<int64_t>(rank) ||
        (steps.empty() && innermost[dim] != 0))
      return emitError() << "expected order to be a permutation of 0.."
                         << rank - 1;
    int64_t step = steps.empty() ? tile[dim] : steps[loop];
    if (step < 1 || innermost[dim] % step != 0)
      return emitError() << "expected step " << step << " of loop " << loop
                         << " to divide the step " << innermost[dim]
                         << " outside it";
    innermost[dim] = step;
  }
  for (size_t dim = 0; dim < rank; ++dim)
    if (innermost[dim] != tile[dim])
      return emitError() << "expected the innermost loop of dimension " << dim
                         << " to step by the tile " << tile[dim] << " but got "
                         << innermost[dim];
  for (size_t dim = 0; dim < rank; ++dim) {
    if (tile[dim] % unroll[dim] != 0)
      return emitError() << "expected unroll factor " << unroll[dim]
                         << " to divide tile " << tile[dim] << " of dimension "
                         << dim;
  }
  return success();
}

int64_t ScheduleAttr::getOutermostStep(int64_t dim) const {
  return getStep(llvm::find(getOrder(), dim) - getOrder().begin());
}

SmallVector<int64_t> ScheduleAttr::getInnermostOrder() const {
  SmallVector<int64_t> dims;
  for (int64_t dim : llvm::reverse(getOrder()))
    if (!llvm::is_contained(dims, dim))
      dims.push_back(dim);
  std::reverse(dims.begin(), dims.end());
  return dims;
}
