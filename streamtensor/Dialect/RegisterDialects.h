//===- RegisterDialects.h - dialects of a phase -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All dialects that can appear in the text of a phase, in one place.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_DIALECT_REGISTERDIALECTS_H
#define STREAMTENSOR_DIALECT_REGISTERDIALECTS_H

#include "streamtensor/Dialect/Dataflow/IR/Dataflow.h"
#include "streamtensor/Dialect/HLS/IR/HLS.h"
#include "streamtensor/Dialect/ITensor/IR/ITensor.h"
#include "streamtensor/Dialect/Stream/IR/Stream.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectRegistry.h"

namespace streamtensor {

/// Registers our dialects and the upstream ones that they are mixed with.
inline void registerAllDialects(mlir::DialectRegistry &registry) {
  registry.insert<
      itensor::ITensorDialect, dataflow::DataflowDialect, stream::StreamDialect,
      hls::HLSDialect, mlir::affine::AffineDialect, mlir::arith::ArithDialect,
      mlir::bufferization::BufferizationDialect, mlir::cf::ControlFlowDialect,
      mlir::func::FuncDialect, mlir::linalg::LinalgDialect,
      mlir::math::MathDialect, mlir::memref::MemRefDialect,
      mlir::ml_program::MLProgramDialect, mlir::scf::SCFDialect,
      mlir::tensor::TensorDialect>();
}

} // namespace streamtensor

#endif // STREAMTENSOR_DIALECT_REGISTERDIALECTS_H
