//===- streamtensor-opt.cpp - run single passes -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pass driver: `streamtensor-opt --st-... FILE` runs passes alone, for
// tests and for research.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Conversion/Passes.h"
#include "streamtensor/Dialect/RegisterDialects.h"
#include "streamtensor/Target/HLSCpp/Passes.h"
#include "streamtensor/Target/Report/Passes.h"
#include "streamtensor/Transforms/Dataflow/Passes.h"
#include "streamtensor/Transforms/Linalg/Passes.h"
#include "streamtensor/Transforms/Memory/Passes.h"
#include "streamtensor/Transforms/Stream/Passes.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  streamtensor::registerAllDialects(registry);
  streamtensor::registerLinalgTransformsPasses();
  streamtensor::registerDataflowTransformsPasses();
  streamtensor::registerMemoryTransformsPasses();
  streamtensor::registerStreamTransformsPasses();
  streamtensor::registerConversionPasses();
  streamtensor::registerHLSCppPasses();
  streamtensor::registerReportPasses();
  // canonicalize, cse and the like, to be run between our own.
  mlir::registerTransformsPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "StreamTensor pass driver\n", registry));
}
