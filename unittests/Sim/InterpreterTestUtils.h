//===- InterpreterTestUtils.h - Modules and data for tests ------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parses modules, runs the interpreter on them and makes input data.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_UNITTESTS_SIM_INTERPRETERTESTUTILS_H
#define STREAMTENSOR_UNITTESTS_SIM_INTERPRETERTESTUTILS_H

#include "streamtensor/Dialect/RegisterDialects.h"
#include "streamtensor/Sim/Interpreter.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

namespace streamtensor {

/// `text` with `to` in the place of the first `from`.
inline std::string replaced(std::string text, const std::string &from,
                            const std::string &to) {
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << "the test's module has no " << from;
  return text.replace(at, from.size(), to);
}

class InterpreterTest : public ::testing::Test {
protected:
  InterpreterTest() {
    mlir::DialectRegistry registry;
    registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  mlir::OwningOpRef<mlir::ModuleOp> parse(llvm::StringRef text) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    EXPECT_TRUE(module) << "the text of the test does not parse";
    return module;
  }

  /// The results, or none after a failure, whose message is in `error`.
  std::vector<HostTensor> run(llvm::StringRef text,
                              llvm::ArrayRef<HostTensor> inputs,
                              Recording *recording = nullptr,
                              const ParameterValues &parameters = {}) {
    module = parse(text);
    error.clear();
    if (!module)
      return {};
    InterpretOptions options;
    options.parameters = parameters;
    options.recording = recording;
    auto results = interpret(*module, "", inputs, options, error);
    return succeeded(results) ? *results : std::vector<HostTensor>();
  }

  /// 1, 2, 3 ... : exact in float, every element different.
  static HostTensor counting(llvm::ArrayRef<int64_t> shape, float first = 1) {
    HostTensor tensor(shape, ElementKind::F32);
    for (int64_t i = 0; i < tensor.numElements(); ++i)
      set(tensor, i, first + static_cast<float>(i));
    return tensor;
  }

  static void set(HostTensor &tensor, int64_t index, float value) {
    Scalar scalar;
    scalar.f = value;
    tensor.set(index, scalar);
  }

  static std::vector<float> floats(const HostTensor &tensor) {
    return std::vector<float>(tensor.floats().begin(), tensor.floats().end());
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string error;
};

} // namespace streamtensor

#endif // STREAMTENSOR_UNITTESTS_SIM_INTERPRETERTESTUTILS_H
