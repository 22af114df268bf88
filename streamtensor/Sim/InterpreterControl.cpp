//===- InterpreterControl.cpp - Loops, branches, calls ------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The scf, func and affine dialects.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Sim/InterpreterCompiler.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace streamtensor;
using namespace streamtensor::interp;

//===----------------------------------------------------------------------===//
// Affine
//===----------------------------------------------------------------------===//

std::function<int64_t(const Frame &)>
FunctionCompiler::affineExpr(AffineExpr expr, ArrayRef<IndexValue> dims,
                             ArrayRef<IndexValue> symbols) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return [value = constant.getValue()](const Frame &) { return value; };
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return [value = dims[dim.getPosition()]](const Frame &f) {
      return value.get(f);
    };
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return [value = symbols[symbol.getPosition()]](const Frame &f) {
      return value.get(f);
    };
  auto binary = cast<AffineBinaryOpExpr>(expr);
  auto a = affineExpr(binary.getLHS(), dims, symbols),
       b = affineExpr(binary.getRHS(), dims, symbols);
  switch (binary.getKind()) {
  case AffineExprKind::Add:
    return [=](const Frame &f) { return a(f) + b(f); };
  case AffineExprKind::Mul:
    return [=](const Frame &f) { return a(f) * b(f); };
  // The right side of these is a positive constant in what we build.
  case AffineExprKind::Mod:
    return [=](const Frame &f) { return llvm::mod(a(f), b(f)); };
  case AffineExprKind::FloorDiv:
    return [=](const Frame &f) { return llvm::divideFloorSigned(a(f), b(f)); };
  case AffineExprKind::CeilDiv:
    return [=](const Frame &f) { return llvm::divideCeilSigned(a(f), b(f)); };
  default:
    llvm_unreachable("affine expression kind");
  }
}

LogicalResult FunctionCompiler::compileAffine(Operation *op, Steps &steps) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<affine::AffineApplyOp, affine::AffineMinOp, affine::AffineMaxOp>(
          [&](auto apply) {
            AffineMap map = apply.getMap();
            SmallVector<IndexValue> operands = indices(op->getOperands());
            ArrayRef<IndexValue> all = operands;
            SmallVector<std::function<int64_t(const Frame &)>> values;
            for (AffineExpr expr : map.getResults())
              values.push_back(affineExpr(expr,
                                          all.take_front(map.getNumDims()),
                                          all.drop_front(map.getNumDims())));
            const unsigned r = scalar(op->getResult(0));
            if (values.size() == 1) {
              steps.push_back([r, value = values.front()](Frame &f) {
                f.scalars[r].i = value(f);
              });
              return success();
            }
            const bool isMin = isa<affine::AffineMinOp>(op);
            steps.push_back([=](Frame &f) {
              int64_t best = values.front()(f);
              for (auto &value : values) {
                int64_t next = value(f);
                best = isMin ? std::min(best, next) : std::max(best, next);
              }
              f.scalars[r].i = best;
            });
            return success();
          })
      .Default([&](Operation *) {
        return refuse(op, "the operation is not known to the interpreter");
      });
}

//===----------------------------------------------------------------------===//
// SCF and func
//===----------------------------------------------------------------------===//

LogicalResult FunctionCompiler::compileControl(Operation *op, Steps &steps) {
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    // Each iteration must pass on the itensors that it got.
    for (auto [init, yielded] :
         llvm::zip_equal(loop.getInitArgs(), loop.getYieldedValues()))
      if (isa<itensor::ITensorType>(init.getType()) &&
          channelOf(init) != channelOf(yielded))
        return refuse(op, "expected each iteration to yield its destination");
    const IndexValue lower = index(OpFoldResult(loop.getLowerBound())),
                     upper = index(OpFoldResult(loop.getUpperBound())),
                     step = index(OpFoldResult(loop.getStep()));
    const unsigned iv = scalar(loop.getInductionVar());
    addTransfer(loop.getInitArgs(), loop.getRegionIterArgs(), op, steps);
    Steps body, last;
    if (failed(compileBlock(*loop.getBody(), body)))
      return failure();
    addTransfer(loop.getYieldedValues(), loop.getRegionIterArgs(),
                loop.getBody()->getTerminator(), body);
    steps.push_back([=, body = std::move(body)](Frame &f) {
      const int64_t end = upper.get(f), by = step.get(f);
      if (by <= 0)
        failAt(f, op, "expected a positive step but got " + Twine(by));
      for (int64_t i = lower.get(f); i < end; i += by) {
        f.scalars[iv].i = i;
        runSteps(body, f);
      }
    });
    addTransfer(loop.getRegionIterArgs(), loop.getResults(), op, steps);
    return success();
  }
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    for (Value result : branch.getResults())
      if (isa<itensor::ITensorType>(result.getType()) && !channelOf(result))
        return refuse(op, "expected both branches to yield one destination");
    const unsigned condition = scalar(branch.getCondition());
    Steps onTrue, onFalse;
    auto compileBranch = [&](Region &region, Steps &into) -> LogicalResult {
      if (region.empty())
        return success();
      if (failed(compileBlock(region.front(), into)))
        return failure();
      Operation *yield = region.front().getTerminator();
      addTransfer(yield->getOperands(), branch.getResults(), yield, into);
      return success();
    };
    if (failed(compileBranch(branch.getThenRegion(), onTrue)) ||
        failed(compileBranch(branch.getElseRegion(), onFalse)))
      return failure();
    steps.push_back([=, onTrue = std::move(onTrue),
                     onFalse = std::move(onFalse)](Frame &f) {
      runSteps(f.scalars[condition].i ? onTrue : onFalse, f);
    });
    return success();
  }
  if (auto call = dyn_cast<func::CallOp>(op)) {
    CompiledFunction *callee = program.getFunction(call.getCallee());
    if (!callee)
      return failure();
    SmallVector<Slot> arguments, results;
    for (Value operand : call.getOperands()) {
      if (isa<itensor::ITensorType>(operand.getType()))
        return refuse(op, "expected no itensor operand");
      arguments.push_back(slotOf(operand));
    }
    for (Value result : call.getResults())
      results.push_back(slotOf(result));
    steps.push_back([=](Frame &f) {
      std::unique_ptr<Frame> inner =
          callee->makeFrame(f.machine, f.recording, f.recordLimitBytes);
      copyValues(f, arguments, *inner, callee->arguments);
      runSteps(callee->steps, *inner);
      if (inner->network)
        failAt(f, op, "the callee does not join its tasks");
      copyValues(*inner, callee->results, f, results);
    });
    return success();
  }
  return refuse(op, "the operation is not known to the interpreter");
}
