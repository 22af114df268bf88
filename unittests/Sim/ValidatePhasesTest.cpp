//===- ValidatePhasesTest.cpp - The first phase, task and token -----------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Right phases pass; a mistake planted into one of them is found where it is.
//
//===----------------------------------------------------------------------===//

#include "InterpreterMatVec.h"
#include "InterpreterTestUtils.h"

#include "streamtensor/Sim/ValidatePhases.h"

using namespace streamtensor;

namespace {

class ValidateTest : public InterpreterTest {
protected:
  bool
  validate(const std::string &input,
           const std::vector<std::pair<const char *, std::string>> &phases) {
    std::vector<mlir::OwningOpRef<mlir::ModuleOp>> owned;
    std::vector<PhaseModule> modules;
    for (const auto &[name, text] : phases) {
      owned.push_back(parse(text));
      modules.push_back({name, *owned.back()});
    }
    auto module = parse(input);
    log.clear();
    llvm::raw_string_ostream stream(log);
    return succeeded(
        validatePhases(modules, *module, ValidateOptions(), stream, &report));
  }

  /// The last line.
  std::string message() const {
    llvm::StringRef text = llvm::StringRef(log).rtrim();
    return text.substr(text.rfind('\n') + 1).str();
  }

  std::string log;
  ValidationReport report;
};

const std::string kMatVecInput = R"mlir(
func.func @f(%arg0: tensor<6xf32>, %arg1: tensor<8x6xf32>) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %y = linalg.matvec ins(%arg1, %arg0 : tensor<8x6xf32>, tensor<6xf32>) outs(%i : tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}
)mlir";

const std::string kMatVecNormalized = R"mlir(
#yk = affine_map<(n, k) -> (n)>
#xk = affine_map<(n, k) -> (k)>
#wk = affine_map<(n, k) -> (n, k)>
func.func @f(%arg0: tensor<6xf32>, %arg1: tensor<8x6xf32>) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %y = linalg.generic {indexing_maps = [#xk, #wk, #yk], iterator_types = ["parallel", "reduction"], st.name = "matvec"}
      ins(%arg0, %arg1 : tensor<6xf32>, tensor<8x6xf32>) outs(%i : tensor<8xf32>) {
  ^bb0(%p: f32, %q: f32, %r: f32):
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %r, %m : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %y : tensor<8xf32>
}
)mlir";

TEST_F(ValidateTest, allPhasesAgree) {
  ASSERT_TRUE(validate(kMatVecInput, {{"normalized", kMatVecNormalized},
                                      {"dataflow", matvec::kDataflow},
                                      {"materialized", matvec::kMaterialized},
                                      {"allocated", matvec::kAllocated},
                                      {"stream", matvec::kStream},
                                      {"hls", matvec::kHLS}}))
      << log;
  EXPECT_TRUE(report.ok());
  ASSERT_EQ(report.phases.size(), 6u);
  for (size_t i = 1; i < 6; ++i)
    EXPECT_TRUE(report.phases[i].equalToPrevious) << report.phases[i].name;
  EXPECT_LT(report.phases[5].toleranceRatio, 0.01);
  const llvm::json::Value json = report.toJson();
  EXPECT_EQ(json.getAsObject()->getBoolean("ok"), true);
  EXPECT_EQ(json.getAsObject()->getArray("phases")->size(), 6u);
}

TEST_F(ValidateTest, wrongLoad) {
  // The load of W takes row k of the packed weight from row (k + 1) mod 6.
  std::string broken =
      replaced(matvec::kMaterialized, "%sv = memref.subview %m1[%i, %j, 0, 0]",
               "%i1 = affine.apply affine_map<(d0) -> ((d0 + 1) mod 6)>(%i)\n"
               "%sv = memref.subview %m1[%i1, %j, 0, 0]");
  ASSERT_FALSE(validate(kMatVecInput, {{"dataflow", matvec::kDataflow},
                                       {"materialized", broken}}));
  EXPECT_EQ(message().find("phase 'materialized': task 'load_arg1' token 0 "
                           "element 0: expected "),
            0u)
      << log;
  ASSERT_TRUE(report.phases.back().difference);
  EXPECT_EQ(report.phases.back().difference->fifo, "load_arg1_out");
}

TEST_F(ValidateTest, wrongComputation) {
  // The stream phase drains the accumulator rows in the wrong order.
  std::string broken =
      replaced(matvec::kStream, "%row = memref.subview %acc[%n, 0]",
               "%n1 = arith.subi %c1, %n : index\n"
               "%row = memref.subview %acc[%n1, 0]");
  ASSERT_FALSE(validate(kMatVecInput, {{"dataflow", matvec::kDataflow},
                                       {"materialized", matvec::kMaterialized},
                                       {"allocated", matvec::kAllocated},
                                       {"stream", broken}}));
  EXPECT_EQ(message().find(
                "phase 'stream': task 'matvec' token 0 element 0: expected "),
            0u)
      << log;
}

TEST_F(ValidateTest, wrongOperationBecomesATask) {
  // The dataflow phase subtracts where the operation added.
  std::string broken =
      replaced(matvec::kDataflow, "arith.addf %r, %m", "arith.subf %r, %m");
  broken = replaced(broken, "task \"matvec\"", "task \"matvec_0\"");
  ASSERT_FALSE(validate(
      kMatVecInput, {{"normalized", kMatVecNormalized}, {"dataflow", broken}}));
  EXPECT_EQ(message().find("phase 'dataflow': task 'matvec_0' token 0 element "
                           "0: expected "),
            0u)
      << log;
}

TEST_F(ValidateTest, wrongStore) {
  // Every task is right but the last one: the result itself is named.
  std::string broken =
      replaced(matvec::kMaterialized, "(d0 * 4)", "(4 - d0 * 4)");
  ASSERT_FALSE(validate(kMatVecInput, {{"dataflow", matvec::kDataflow},
                                       {"materialized", broken}}));
  EXPECT_EQ(
      message().find("phase 'materialized': result 0 element 0: expected "), 0u)
      << log;
}

TEST_F(ValidateTest, phaseThatCannotRun) {
  std::string broken = replaced(matvec::kStream, "tokens 12 :", "tokens 13 :");
  ASSERT_FALSE(validate(kMatVecInput, {{"stream", broken}}));
  EXPECT_EQ(message(), "phase 'stream': expected 13 tokens in fifo "
                       "'load_arg1_out' but task 'load_arg1' wrote 12");
  EXPECT_FALSE(report.ok());
}

//===----------------------------------------------------------------------===//
// Converters
//===----------------------------------------------------------------------===//

/// y = -x, where x 4x4 arrives row by row and is negated column by column.
const std::string kNegateTypes = R"mlir(
!R = !itensor.itensor<1x4xf32, [4] * [1], (d0) -> (d0, 0)>
!C = !itensor.itensor<4x1xf32, [4] * [1], (d0) -> (0, d0)>
#id = affine_map<(d0, d1) -> (d0, d1)>
)mlir";

const std::string kNegateInput = R"mlir(
func.func @f(%arg0: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %e = tensor.empty() : tensor<4x4xf32>
  %y = linalg.negf ins(%arg0 : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}
)mlir";

/// Negates the rows of %in into %out, named %name.
std::string negateTask(const std::string &name, const std::string &in,
                       const std::string &out, const std::string &type,
                       const std::string &token) {
  return R"mlir(
    %)mlir" +
         out + " = dataflow.task \"" + name + "\" inits(%o = %e" + out +
         ") : (" + type + R"mlir() {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%p = %o) -> ()mlir" +
         type + R"mlir() {
        %b = tensor.empty() : )mlir" +
         token + "\n        %t = itensor.read %" + in + " init(%b : " + token +
         ") : " + type + " -> " + token + R"mlir(
        %u = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%t : )mlir" +
         token + ") outs(%b : " + token + R"mlir() {
        ^bb0(%v: f32, %w: f32):
          %n = arith.negf %v : f32
          linalg.yield %n : f32
        } -> )mlir" +
         token + "\n        %q = itensor.write %u into %p : " + token + ", " +
         type + "\n        scf.yield %q : " + type +
         "\n      }\n      dataflow.yield %r : " + type + "\n    }\n";
}

const std::string kNegateFused = kNegateTypes + R"mlir(
func.func @f(%arg0: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = dataflow.kernel "group0" (%x: !R = %arg0 : tensor<4x4xf32>) -> tensor<4x4xf32> {
    %c = itensor.converter %x : !R to !C
    %ey = itensor.empty : !C
)mlir" + negateTask("negate_0", "c", "y", "!C", "tensor<4x1xf32>") +
                                 R"mlir(
    dataflow.yield %y : !C
  }
  return %0 : tensor<4x4xf32>
}
)mlir";

const std::string kNegateMaterialized = kNegateTypes + R"mlir(
func.func @f(%arg0: memref<4x4xf32> {dataflow.name = "arg0", dataflow.role = "input"}, %result0: memref<4x4xf32> {dataflow.name = "result0", dataflow.role = "output"}) {
  dataflow.kernel "group0" (%m0: memref<4x4xf32> = %arg0 : memref<4x4xf32>, %m1: memref<4x4xf32> = %result0 : memref<4x4xf32>) {
    %ex = itensor.empty : !R
    %ec = itensor.empty : !C
    %ey = itensor.empty : !C
    %x = dataflow.task "load_arg0" inits(%o = %ex) : (!R) attributes {kind = "dma_in", argument = "arg0"} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%p = %o) -> (!R) {
        %sv = memref.subview %m0[%i, 0] [1, 4] [1, 1] : memref<4x4xf32> to memref<1x4xf32, strided<[4, 1], offset: ?>>
        %t = bufferization.to_tensor %sv restrict : memref<1x4xf32, strided<[4, 1], offset: ?>> to tensor<1x4xf32>
        %q = itensor.write %t into %p : tensor<1x4xf32>, !R
        scf.yield %q : !R
      }
      dataflow.yield %r : !R
    }
    %c = dataflow.task "converter_0" inits(%o = %ec) : (!C) attributes {kind = "converter"} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %b = tensor.empty() {hls.name = "buffer"} : tensor<4x4xf32>
      %f = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %b) -> (tensor<4x4xf32>) {
        %n = tensor.empty() : tensor<1x4xf32>
        %t = itensor.read %x init(%n : tensor<1x4xf32>) : !R -> tensor<1x4xf32>
        %s = tensor.insert_slice %t into %a[%i, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<4x4xf32>
        scf.yield %s : tensor<4x4xf32>
      }
      %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%p = %o) -> (!C) {
        %t = tensor.extract_slice %f[0, %i] [4, 1] [1, 1] : tensor<4x4xf32> to tensor<4x1xf32>
        %q = itensor.write %t into %p : tensor<4x1xf32>, !C
        scf.yield %q : !C
      }
      dataflow.yield %r : !C
    }
)mlir" + negateTask("negate_0", "c", "y", "!C", "tensor<4x1xf32>") +
                                        R"mlir(
    dataflow.task "store_result0" attributes {kind = "dma_out", argument = "result0"} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      scf.for %i = %c0 to %c4 step %c1 {
        %i0 = tensor.empty() : tensor<4x1xf32>
        %t = itensor.read %y init(%i0 : tensor<4x1xf32>) : !C -> tensor<4x1xf32>
        %sv = memref.subview %m1[0, %i] [4, 1] [1, 1] : memref<4x4xf32> to memref<4x1xf32, strided<[4, 1], offset: ?>>
        bufferization.materialize_in_destination %t in writable %sv : (tensor<4x1xf32>, memref<4x1xf32, strided<[4, 1], offset: ?>>) -> ()
      }
    }
    dataflow.yield
  }
  return
}
)mlir";

TEST_F(ValidateTest, convertersAgree) {
  ASSERT_TRUE(validate(kNegateInput, {{"fused", kNegateFused},
                                      {"materialized", kNegateMaterialized}}))
      << log;
  EXPECT_TRUE(report.phases.back().equalToPrevious);
}

TEST_F(ValidateTest, wrongConverter) {
  // The converter drains columns 0, 1, 3, 2 instead of 0, 1, 2, 3.
  std::string broken = replaced(
      kNegateMaterialized, "%t = tensor.extract_slice %f[0, %i]",
      "%i2 = affine.apply affine_map<(d0) -> (d0 + (d0 floordiv 2) - 2 * (d0 "
      "floordiv 3))>(%i)\n"
      "%t = tensor.extract_slice %f[0, %i2]");
  ASSERT_FALSE(validate(kNegateInput,
                        {{"fused", kNegateFused}, {"materialized", broken}}));
  EXPECT_EQ(message().find("phase 'materialized': task 'converter_0' token 2 "
                           "element 0: expected "),
            0u)
      << log;
  // The values are those of the reference run's input.
  const ValueDifference &difference = *report.phases.back().difference;
  EXPECT_NE(difference.expected, difference.actual);
  EXPECT_EQ(difference.fifo, "converter_0_out");
}

} // namespace
