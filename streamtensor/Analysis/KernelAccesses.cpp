//===- KernelAccesses.cpp - The process network of a kernel ---------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Walks each task once: loops, branches, reads and writes become nodes; every
// itensor value is mapped to the FIFO that it is a state of.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Analysis/KernelAccesses.h"

#include "streamtensor/Analysis/ConditionBuilder.h"
#include "streamtensor/Dialect/ITensor/IR/ITensor.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace streamtensor;
using streamtensor::itensor::ITensorType;

/// A constant, or a trip count at `values` of the parameters.
static std::optional<int64_t> getConstant(Value value,
                                          const ParameterValues &values) {
  if (auto count = value.getDefiningOp<dataflow::TripCountOp>()) {
    ParameterValues maxima;
    TripCount trip = count.getTripCount(maxima);
    // What stands in both counts from `values`.
    ParameterValues known = values;
    known.insert(maxima.begin(), maxima.end());
    return trip.evaluate(known);
  }
  return integerConstant(value);
}

static bool hasAccesses(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        return isa<itensor::ReadOp, itensor::WriteOp>(inner)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

namespace {

class KernelWalker {
public:
  explicit KernelWalker(const ParameterValues &values)
      : values(values),
        conditions([&values](Value value) -> std::optional<IndexExpr> {
          if (std::optional<int64_t> constant = getConstant(value, values))
            return IndexExpr::constant(*constant);
          return std::nullopt;
        }) {}

  FailureOr<KernelAccesses> run(dataflow::KernelOp kernel);

private:
  LogicalResult declareFifos(dataflow::KernelOp kernel);
  LogicalResult walkTask(dataflow::TaskOp task);
  LogicalResult walkBlock(Block &block, unsigned level,
                          AccessSequence &sequence);
  LogicalResult walkFor(scf::ForOp op, unsigned level,
                        AccessSequence &sequence);
  LogicalResult walkIf(scf::IfOp op, unsigned level, AccessSequence &sequence);
  FailureOr<unsigned> getFifo(Operation *op, Value value, StringRef what);

  const ParameterValues &values;
  KernelAccesses result;
  /// Each itensor value is a state of this FIFO.
  DenseMap<Value, unsigned> fifoOf;
  ConditionBuilder conditions;
};

} // namespace

std::string streamtensor::getFifoName(OpResult result) {
  auto task = cast<dataflow::TaskOp>(result.getOwner());
  const unsigned index = result.getResultNumber();
  if (auto instance =
          task.getInits()[index].getDefiningOp<itensor::InstanceOp>())
    return instance.getSym().str();
  std::string name = (task.getSym() + "_out").str();
  return task.getNumResults() > 1 ? name + std::to_string(index) : name;
}

LogicalResult KernelWalker::declareFifos(dataflow::KernelOp kernel) {
  for (Operation &op : kernel.getBlock()) {
    if (auto task = dyn_cast<dataflow::TaskOp>(op)) {
      result.tasks.push_back(task);
      for (OpResult value : task->getResults()) {
        fifoOf[value] = result.network.addFifo(getFifoName(value));
        result.fifos.push_back(value);
      }
      continue;
    }
    if (isa<itensor::CastOp, itensor::ReassociateOp>(op)) {
      FailureOr<unsigned> fifo = getFifo(&op, op.getOperand(0), "source");
      if (failed(fifo))
        return failure();
      fifoOf[op.getResult(0)] = *fifo;
      continue;
    }
    if (isa<itensor::EmptyOp, itensor::InstanceOp>(op))
      continue;
    for (Value value : op.getResults())
      if (isa<ITensorType>(value.getType()))
        return op.emitOpError("expected converters and forks to be tasks "
                              "before their accesses are analyzed; run "
                              "--st-materialize-streams and "
                              "--st-insert-forks first");
  }
  return success();
}

FailureOr<unsigned> KernelWalker::getFifo(Operation *op, Value value,
                                          StringRef what) {
  if (auto known = fifoOf.find(value); known != fifoOf.end())
    return known->second;
  InFlightDiagnostic diag = op->emitOpError()
                            << "expected the " << what
                            << " to be the result of a task or a destination "
                               "of this one, possibly through casts";
  diag.attachNote(value.getLoc()) << "it is defined here";
  return diag;
}

LogicalResult KernelWalker::walkTask(dataflow::TaskOp task) {
  for (auto [argument, output] :
       llvm::zip_equal(task.getBlock().getArguments(), task.getOutputs()))
    fifoOf[argument] = fifoOf.lookup(output);
  AccessSequence sequence;
  if (failed(walkBlock(task.getBlock(), 0, sequence)))
    return failure();
  for (auto [value, output] :
       llvm::zip_equal(task.getYield()->getOperands(), task.getOutputs())) {
    FailureOr<unsigned> fifo = getFifo(task.getYield(), value, "yielded value");
    if (failed(fifo))
      return failure();
    if (*fifo != fifoOf.lookup(output))
      return task.getYield()->emitOpError()
             << "expected result " << cast<OpResult>(output).getResultNumber()
             << " to be a state of its own init but got one of fifo '"
             << result.network.fifos[*fifo].name << "'";
  }
  result.network.addProcess(task.getSym().str(), std::move(sequence));
  return success();
}

LogicalResult KernelWalker::walkFor(scf::ForOp op, unsigned level,
                                    AccessSequence &sequence) {
  for (auto [argument, init, output] : llvm::zip_equal(
           op.getRegionIterArgs(), op.getInitArgs(), op.getResults())) {
    if (!isa<ITensorType>(init.getType()))
      continue;
    FailureOr<unsigned> fifo = getFifo(op, init, "carried itensor");
    if (failed(fifo))
      return failure();
    fifoOf[argument] = fifoOf[output] = *fifo;
  }
  if (!hasAccesses(op))
    return success();
  std::optional<int64_t> lower = getConstant(op.getLowerBound(), values);
  std::optional<int64_t> upper = getConstant(op.getUpperBound(), values);
  std::optional<int64_t> step = getConstant(op.getStep(), values);
  if (!lower || !upper || !step || *step <= 0)
    return op.emitOpError("expected constant bounds around fifo accesses, and "
                          "a positive step");
  conditions.enter(op, level, *lower, *step);
  AccessSequence body;
  if (failed(walkBlock(*op.getBody(), level + 1, body)))
    return failure();
  const int64_t span = std::max<int64_t>(*upper - *lower, 0);
  sequence.push_back(loop((span + *step - 1) / *step, std::move(body)));
  return success();
}

LogicalResult KernelWalker::walkIf(scf::IfOp op, unsigned level,
                                   AccessSequence &sequence) {
  AccessSequence body, otherwise;
  if (failed(walkBlock(*op.thenBlock(), level, body)))
    return failure();
  if (op.elseBlock() && failed(walkBlock(*op.elseBlock(), level, otherwise)))
    return failure();
  for (auto [index, output] : llvm::enumerate(op.getResults())) {
    if (!isa<ITensorType>(output.getType()))
      continue;
    FailureOr<unsigned> fifo =
        getFifo(op, op.thenYield().getOperand(index), "yielded itensor");
    FailureOr<unsigned> other =
        getFifo(op, op.elseYield().getOperand(index), "yielded itensor");
    if (failed(fifo) || failed(other))
      return failure();
    if (*fifo != *other)
      return op.emitOpError()
             << "expected both branches to yield one fifo but got '"
             << result.network.fifos[*fifo].name << "' and '"
             << result.network.fifos[*other].name << "'";
    fifoOf[output] = *fifo;
  }
  if (!hasAccesses(op))
    return success();
  std::optional<IndexExpr> condition = conditions.build(op.getCondition());
  if (!condition || !condition->isEvaluable())
    return op.emitOpError("expected a condition on induction variables only "
                          "around fifo accesses, because which accesses "
                          "follow each other must not depend on data");
  sequence.push_back(branch(*condition, std::move(body), std::move(otherwise)));
  return success();
}

LogicalResult KernelWalker::walkBlock(Block &block, unsigned level,
                                      AccessSequence &sequence) {
  for (Operation &op : block.without_terminator()) {
    if (auto readOp = dyn_cast<itensor::ReadOp>(op)) {
      FailureOr<unsigned> fifo = getFifo(&op, readOp.getSource(), "source");
      if (failed(fifo))
        return failure();
      sequence.push_back(read(*fifo));
    } else if (auto writeOp = dyn_cast<itensor::WriteOp>(op)) {
      FailureOr<unsigned> fifo = getFifo(&op, writeOp.getDest(), "destination");
      if (failed(fifo))
        return failure();
      fifoOf[writeOp.getResult()] = *fifo;
      sequence.push_back(write(*fifo));
    } else if (isa<itensor::CastOp, itensor::ReassociateOp>(op)) {
      FailureOr<unsigned> fifo = getFifo(&op, op.getOperand(0), "source");
      if (failed(fifo))
        return failure();
      fifoOf[op.getResult(0)] = *fifo;
    } else if (auto forOp = dyn_cast<scf::ForOp>(op)) {
      if (failed(walkFor(forOp, level, sequence)))
        return failure();
    } else if (auto ifOp = dyn_cast<scf::IfOp>(op)) {
      if (failed(walkIf(ifOp, level, sequence)))
        return failure();
    } else if (op.getNumRegions() > 0 && hasAccesses(&op)) {
      return op.emitOpError("expected only scf.for and scf.if around fifo "
                            "accesses");
    }
  }
  return success();
}

FailureOr<KernelAccesses> KernelWalker::run(dataflow::KernelOp kernel) {
  if (failed(declareFifos(kernel)))
    return failure();
  for (dataflow::TaskOp task : result.tasks)
    if (failed(walkTask(task)))
      return failure();
  if (std::optional<NetworkIssue> issue = result.network.connect()) {
    Operation *at = kernel;
    if (issue->process)
      at = result.tasks[*issue->process];
    InFlightDiagnostic diag = at->emitOpError() << issue->message;
    if (issue->other)
      diag.attachNote(result.tasks[*issue->other].getLoc())
          << "the other process is here";
    return diag;
  }
  return std::move(result);
}

FailureOr<KernelAccesses>
streamtensor::analyzeAccesses(dataflow::KernelOp kernel,
                              const ParameterValues &values) {
  return KernelWalker(values).run(kernel);
}

ParameterValues streamtensor::collectMaxima(dataflow::KernelOp kernel) {
  ParameterValues maxima;
  kernel.walk([&](dataflow::TripCountOp op) { op.getTripCount(maxima); });
  return maxima;
}
