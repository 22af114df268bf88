//===- RuntimeSizesTest.cpp - Functions of run-time size ------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The same module at several values of its parameters: the interpreter against
// plain loops, the reference run on dynamic text, and the validation of both.
//
//===----------------------------------------------------------------------===//

#include "InterpreterTestUtils.h"

#include "streamtensor/Sim/RandomInputs.h"
#include "streamtensor/Sim/Reference.h"
#include "streamtensor/Sim/ValidatePhases.h"
#include "streamtensor/Support/Safetensors.h"

#include "llvm/Support/FileSystem.h"

using namespace streamtensor;

namespace {

class RuntimeSizesTest : public InterpreterTest {
protected:
  std::vector<HostTensor> runAt(const ParameterValues &values,
                                llvm::StringRef text,
                                llvm::ArrayRef<HostTensor> inputs,
                                Recording *recording = nullptr) {
    return run(text, inputs, recording, values);
  }
};

/// Doubles x, of which (past + seq) x 4 elements are there, token by token of 2
/// elements; gives it again by columns of tokens, and in tokens of 4.
const char *kDouble = R"mlir(
!X = !itensor.itensor<1x2xf32, [past max 4 + seq max 3, 2] * [1, 2], (d0, d1) -> (d0, d1)>
!C = !itensor.itensor<1x2xf32, [2, past max 4 + seq max 3] * [2, 1], (d0, d1) -> (d1, d0)>
!W = !itensor.itensor<1x4xf32, [past max 4 + seq max 3] * [1], (d0) -> (d0, 0)>
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @f(%arg0: tensor<7x4xf32> {dataflow.dims = ["past max 4 + seq max 3", ""]})
    -> (tensor<7x4xf32>, tensor<7x4xf32>, tensor<7x4xf32>)
    attributes {dataflow.parameters = {past = array<i64: 0, 4>, seq = array<i64: 0, 3>}} {
  %0:3 = dataflow.kernel "k" (%x: !X = %arg0 : tensor<7x4xf32>) -> (tensor<7x4xf32>, tensor<7x4xf32>, tensor<7x4xf32>) {
    %e = itensor.empty : !X
    %y = dataflow.task "double" inits(%o = %e) : (!X) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %n = dataflow.trip_count "past max 4 + seq max 3"
      %r = scf.for %i = %c0 to %n step %c1 iter_args(%p = %o) -> (!X) {
        %s = scf.for %j = %c0 to %c2 step %c1 iter_args(%q = %p) -> (!X) {
          %b = tensor.empty() : tensor<1x2xf32>
          %t = itensor.read %x init(%b : tensor<1x2xf32>) : !X -> tensor<1x2xf32>
          %u = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%t : tensor<1x2xf32>) outs(%b : tensor<1x2xf32>) {
          ^bb0(%v: f32, %w: f32):
            %d = arith.addf %v, %v : f32
            linalg.yield %d : f32
          } -> tensor<1x2xf32>
          %a = itensor.write %u into %q : tensor<1x2xf32>, !X
          scf.yield %a : !X
        }
        scf.yield %s : !X
      }
      dataflow.yield %r : !X
    }
    %f:3 = itensor.fork %y times 3 : !X
    %c = itensor.converter %f#1 : !X to !C
    %w = itensor.reassociate %f#2 : !X to !W
    dataflow.yield %f#0, %c, %w : !X, !C, !W
  }
  return %0#0, %0#1, %0#2 : tensor<7x4xf32>, tensor<7x4xf32>, tensor<7x4xf32>
}
)mlir";

TEST_F(RuntimeSizesTest, kernelAtSeveralValues) {
  for (int64_t past : {0, 1, 4})
    for (int64_t seq : {0, 2, 3}) {
      SCOPED_TRACE(std::to_string(past) + " + " + std::to_string(seq));
      const int64_t rows = past + seq;
      HostTensor x = counting({rows, 4});
      Recording recording;
      std::vector<HostTensor> results =
          runAt({{"past", past}, {"seq", seq}}, kDouble,
                {placeInCorner(x, {7, 4})}, &recording);
      ASSERT_EQ(results.size(), 3u) << error;
      std::vector<float> expected;
      for (float value : floats(x))
        expected.push_back(2 * value);
      for (const HostTensor &result : results) {
        EXPECT_EQ(result.shape, (std::vector<int64_t>{7, 4}));
        EXPECT_EQ(floats(cutCorner(result, {rows, 4})), expected);
      }
      const TokenRecord *record = recording.findFifo("double_out");
      ASSERT_TRUE(record);
      EXPECT_EQ(record->tokens, 2 * rows);
      EXPECT_EQ(record->order->trips, (std::vector<int64_t>{rows, 2}));
      const TokenRecord *wide = recording.findFifo("reassociate_2");
      ASSERT_TRUE(wide);
      EXPECT_EQ(wide->tokens, rows);
    }
}

TEST_F(RuntimeSizesTest, valuesAreChecked) {
  HostTensor x = counting({7, 4});
  EXPECT_TRUE(runAt({{"past", 1}}, kDouble, {x}).empty());
  EXPECT_EQ(error,
            "cannot interpret 'dataflow.kernel' at -:9: expected a value of "
            "the run-time parameter 'seq' but got none");
  EXPECT_TRUE(runAt({{"past", 1}, {"seq", 4}}, kDouble, {x}).empty());
  EXPECT_EQ(error,
            "cannot interpret 'dataflow.kernel' at -:9: expected a value of 0 "
            "to 3 of the run-time parameter 'seq' but got 4");
}

TEST_F(RuntimeSizesTest, wrongTripCount) {
  std::string broken =
      replaced(kDouble, "trip_count \"past max 4 + seq max 3\"",
               "trip_count \"past max 4 + 1\"");
  EXPECT_TRUE(runAt({{"past", 1}, {"seq", 3}}, broken,
                    {placeInCorner(counting({4, 4}), {7, 4})})
                  .empty());
  EXPECT_NE(error.find("'double"), std::string::npos) << error;
}

/// x by halves of its rows into y, at phase hls: seq and half of it arrive as
/// arguments of the tasks.
const char *kHLS = R"mlir(
!A = !stream.stream<4xf32, 2>
func.func private @load(%m: memref<6x4xf32>, %s: !A, %n: index) attributes {hls.task, kind = "dma_in"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.subview %m[%i, 0] [1, 4] [1, 1] : memref<6x4xf32> to memref<4xf32, strided<[1], offset: ?>>
    %t = memref.alloc() : memref<4xf32>
    memref.copy %v, %t : memref<4xf32, strided<[1], offset: ?>> to memref<4xf32>
    stream.write %t, %s : memref<4xf32>, !A
  }
  return
}
func.func private @store(%s: !A, %m: memref<6x4xf32>, %n: index) attributes {hls.task, kind = "dma_out"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %a = arith.addi %n, %c1 : index
  %half = arith.divui %a, %c2 : index
  scf.for %i = %c0 to %half step %c1 {
    scf.for %j = %c0 to %c2 step %c1 {
      %k = arith.muli %i, %c2 : index
      %row = arith.addi %k, %j : index
      %in = arith.cmpi slt, %row, %n : index
      scf.if %in {
        %t = memref.alloc() : memref<4xf32>
        stream.read %s into %t : !A, memref<4xf32>
        %v = memref.subview %m[%row, 0] [1, 4] [1, 1] : memref<6x4xf32> to memref<4xf32, strided<[1], offset: ?>>
        memref.copy %t, %v : memref<4xf32> to memref<4xf32, strided<[1], offset: ?>>
      }
    }
  }
  return
}
func.func private @group(%x: memref<6x4xf32>, %y: memref<6x4xf32>, %seq: index) {
  %a = stream.stream "load_out" tokens 6 : !A
  hls.task @load(%x, %a, %seq) : memref<6x4xf32>, !A, index
  hls.task @store(%a, %y, %seq) : !A, memref<6x4xf32>, index
  hls.join
  return
}
func.func @f(%x: memref<6x4xf32> {dataflow.role = "input", dataflow.dims = ["seq max 6", ""]},
             %y: memref<6x4xf32> {dataflow.role = "output", dataflow.dims = ["seq max 6", ""]},
             %seq: index {hls.name = "seq", dataflow.parameter = "seq"})
    attributes {hls.top, dataflow.parameters = {seq = array<i64: 0, 6>}} {
  func.call @group(%x, %y, %seq) : (memref<6x4xf32>, memref<6x4xf32>, index) -> ()
  return
}
)mlir";

TEST_F(RuntimeSizesTest, parametersAreArgumentsAtHLS) {
  for (int64_t seq : {0, 1, 5, 6}) {
    HostTensor x = counting({seq, 4});
    std::vector<HostTensor> results =
        runAt({{"seq", seq}}, kHLS, {placeInCorner(x, {6, 4})});
    ASSERT_EQ(results.size(), 1u) << error;
    EXPECT_EQ(floats(cutCorner(results[0], {seq, 4})), floats(x));
  }
  EXPECT_TRUE(runAt({}, kHLS, {counting({6, 4})}).empty());
  EXPECT_EQ(error,
            "expected a value of the run-time parameter 'seq' but got none");
}

//===----------------------------------------------------------------------===//
// The reference
//===----------------------------------------------------------------------===//

/// The sum of each row of -concat(cache, x), and the rows; seq is read from x
/// and compared as torch-mlir does.
const char *kInput = R"mlir(
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @f(%x: tensor<?x4xf32> {dataflow.dims = ["seq max 6", ""]},
             %cache: tensor<?x4xf32> {dataflow.dims = ["past max 5", ""]},
             %same: tensor<?x4xf32> {dataflow.dims = ["seq max 6", ""]}) -> tensor<?x4xf32>
    attributes {dataflow.parameters = {past = array<i64: 0, 4>, seq = array<i64: 1, 6>}} {
  %c0 = arith.constant 0 : index
  %a = tensor.dim %x, %c0 : tensor<?x4xf32>
  %b = tensor.dim %same, %c0 : tensor<?x4xf32>
  %equal = arith.cmpi eq, %a, %b : index
  cf.assert %equal, "sizes of x and same"
  %c = tensor.concat dim(0) %cache, %x : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %n = tensor.dim %c, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%c : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) {
  ^bb0(%v: f32, %w: f32):
    %m = arith.negf %v : f32
    linalg.yield %m : f32
  } -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}
)mlir";

TEST_F(RuntimeSizesTest, referenceOfDynamicText) {
  for (auto [past, seq] : {std::pair<int64_t, int64_t>{3, 2}, {0, 1}}) {
    HostTensor x = counting({seq, 4}), cache = counting({past, 4}, 100);
    module = parse(kInput);
    error.clear();
    auto results = runReference(*module, "f", {x, cache, x}, error);
    ASSERT_TRUE(succeeded(results)) << error;
    ASSERT_EQ(results->size(), 1u);
    EXPECT_EQ(results->front().shape, (std::vector<int64_t>{past + seq, 4}));
    std::vector<float> expected;
    for (const HostTensor &part : {cache, x})
      for (float value : floats(part))
        expected.push_back(-value);
    EXPECT_EQ(floats(results->front()), expected);
  }
}

TEST_F(RuntimeSizesTest, assertionThatDoesNotHold) {
  module = parse(kInput);
  auto results = runReference(
      *module, "f", {counting({2, 4}), counting({1, 4}), counting({3, 4})},
      error);
  EXPECT_FALSE(succeeded(results));
  EXPECT_EQ(error.find("reference: 'mlir-runner' failed"), 0u) << error;
  EXPECT_NE(error.find("sizes of x and same"), std::string::npos) << error;
}

//===----------------------------------------------------------------------===//
// Validation
//===----------------------------------------------------------------------===//

const std::string kNormalized = R"mlir(
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @f(%x: tensor<6x4xf32> {dataflow.dims = ["seq max 6", ""]},
             %cache: tensor<5x4xf32> {dataflow.dims = ["past max 5", ""]},
             %same: tensor<6x4xf32> {dataflow.dims = ["seq max 6", ""]})
    -> (tensor<11x4xf32> {dataflow.dims = ["past max 5 + seq max 6", ""]})
    attributes {dataflow.parameters = {past = array<i64: 0, 4>, seq = array<i64: 1, 6>}} {
  %c = tensor.concat dim(0) %cache, %x : (tensor<5x4xf32>, tensor<6x4xf32>) -> tensor<11x4xf32>
  %e = tensor.empty() : tensor<11x4xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%c : tensor<11x4xf32>) outs(%e : tensor<11x4xf32>) {
  ^bb0(%v: f32, %w: f32):
    %m = arith.negf %v : f32
    linalg.yield %m : f32
  } -> tensor<11x4xf32>
  return %y : tensor<11x4xf32>
}
)mlir";

const std::string kDataflow = R"mlir(
!S = !itensor.itensor<1x4xf32, [seq max 6] * [1], (d0) -> (d0, 0)>
!P = !itensor.itensor<1x4xf32, [past max 5] * [1], (d0) -> (d0, 0)>
!Y = !itensor.itensor<1x4xf32, [past max 5 + seq max 6] * [1], (d0) -> (d0, 0)>
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @f(%x: tensor<6x4xf32> {dataflow.dims = ["seq max 6", ""]},
             %cache: tensor<5x4xf32> {dataflow.dims = ["past max 5", ""]},
             %same: tensor<6x4xf32> {dataflow.dims = ["seq max 6", ""]})
    -> (tensor<11x4xf32> {dataflow.dims = ["past max 5 + seq max 6", ""]})
    attributes {dataflow.parameters = {past = array<i64: 0, 4>, seq = array<i64: 1, 6>}} {
  %0 = dataflow.kernel "k" (%s: !S = %x : tensor<6x4xf32>, %p: !P = %cache : tensor<5x4xf32>) -> tensor<11x4xf32> {
    %e = itensor.empty : !Y
    %y = dataflow.task "concat" inits(%o = %e) : (!Y) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %np = dataflow.trip_count "past max 5"
      %n = dataflow.trip_count "past max 5 + seq max 6"
      %r = scf.for %i = %c0 to %n step %c1 iter_args(%q = %o) -> (!Y) {
        %b = tensor.empty() : tensor<1x4xf32>
        %old = arith.cmpi slt, %i, %np : index
        %t = scf.if %old -> (tensor<1x4xf32>) {
          %u = itensor.read %p init(%b : tensor<1x4xf32>) : !P -> tensor<1x4xf32>
          scf.yield %u : tensor<1x4xf32>
        } else {
          %u = itensor.read %s init(%b : tensor<1x4xf32>) : !S -> tensor<1x4xf32>
          scf.yield %u : tensor<1x4xf32>
        }
        %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%t : tensor<1x4xf32>) outs(%b : tensor<1x4xf32>) {
        ^bb0(%v: f32, %w: f32):
          %m = arith.negf %v : f32
          linalg.yield %m : f32
        } -> tensor<1x4xf32>
        %a = itensor.write %g into %q : tensor<1x4xf32>, !Y
        scf.yield %a : !Y
      }
      dataflow.yield %r : !Y
    }
    dataflow.yield %y : !Y
  }
  return %0 : tensor<11x4xf32>
}
)mlir";

class RuntimeValidateTest : public RuntimeSizesTest {
protected:
  bool validate(const std::string &normalized, const std::string &dataflow,
                const std::string &data = "") {
    auto input = parse(kInput), first = parse(normalized),
         second = parse(dataflow);
    ValidateOptions options;
    options.data = data;
    log.clear();
    llvm::raw_string_ostream stream(log);
    return succeeded(validatePhases(
        {{"normalized", *first}, {"dataflow", *second}, {"fused", *second}},
        *input, options, stream, &report));
  }

  /// The last line.
  std::string message() const {
    llvm::StringRef text = llvm::StringRef(log).rtrim();
    return text.substr(text.rfind('\n') + 1).str();
  }

  std::string log;
  ValidationReport report;
};

TEST_F(RuntimeValidateTest, severalValues) {
  ASSERT_TRUE(validate(kNormalized, kDataflow)) << log;
  // The memory is for past = 5, which no run has.
  const ParameterValues maxima{{"past", 5}, {"seq", 6}},
      largest{{"past", 4}, {"seq", 6}}, smallest{{"past", 0}, {"seq", 1}};
  ASSERT_EQ(report.phases.size(), 7u) << log;
  EXPECT_EQ(report.phases[0].name, "normalized");
  EXPECT_EQ(report.phases[0].parameters, maxima);
  EXPECT_EQ(report.phases[1].name, "dataflow");
  EXPECT_EQ(report.phases[1].parameters, largest);
  EXPECT_EQ(report.phases[2].name, "fused");
  EXPECT_EQ(report.phases[2].parameters, largest);
  EXPECT_TRUE(report.phases[2].equalToPrevious);
  EXPECT_EQ(report.phases[3].parameters, smallest);
  const ParameterValues between = report.phases[5].parameters;
  EXPECT_GT(between.at("past"), 0);
  EXPECT_LT(between.at("past"), 4);
  EXPECT_GT(between.at("seq"), 1);
  EXPECT_LT(between.at("seq"), 6);
  EXPECT_NE(log.find("reference with past = 0, seq = 1: 1 results"),
            std::string::npos)
      << log;
  EXPECT_NE(log.find("phase 'fused' with past = 4, seq = 6: equal to the "
                     "reference within 0 of the tolerance, bit for bit equal "
                     "to 'dataflow'"),
            std::string::npos)
      << log;
  const llvm::json::Value json = report.toJson();
  const llvm::json::Object *parameters =
      (*json.getAsObject()->getArray("phases"))[3].getAsObject()->getObject(
          "parameters");
  ASSERT_TRUE(parameters);
  EXPECT_EQ(parameters->getInteger("seq"), 1);
  // The same seed, the same values.
  ASSERT_TRUE(validate(kNormalized, kDataflow)) << log;
  EXPECT_EQ(report.phases[5].parameters, between);
}

TEST_F(RuntimeValidateTest, wrongOnlyBelowTheLargest) {
  // A cache that always counts as full is right as long as it is.
  std::string broken = replaced(
      kDataflow, "%old = arith.cmpi slt, %i, %np",
      "%c4 = arith.constant 4 : index\n%old = arith.cmpi slt, %i, %c4");
  ASSERT_FALSE(validate(kNormalized, broken));
  ASSERT_EQ(report.phases.size(), 4u);
  EXPECT_EQ(message().find("phase 'dataflow' with past = 0, seq = 1: "), 0u)
      << log;
}

TEST_F(RuntimeValidateTest, wrongTokens) {
  std::string broken =
      replaced(kDataflow, "arith.negf %v", "arith.addf %v, %v");
  ASSERT_FALSE(validate(kNormalized, broken));
  EXPECT_EQ(message().find("phase 'dataflow' with past = 4, seq = 6: result 0 "
                           "element 0: expected "),
            0u)
      << log;
}

TEST_F(RuntimeValidateTest, resultWithoutSizes) {
  std::string broken = replaced(
      kDataflow, "{dataflow.dims = [\"past max 5 + seq max 6\", \"\"]}", "");
  ASSERT_FALSE(validate(kNormalized, broken));
  EXPECT_EQ(message(),
            "phase 'dataflow' with past = 4, seq = 6: expected 'dataflow.dims' "
            "of result 0 to say the sizes of a tensor 10x4 F32 but it says "
            "[11, 4]");
}

TEST_F(RuntimeValidateTest, sizesOfAFile) {
  HostTensor x = counting({2, 4}), cache = counting({3, 4}, 100);
  std::vector<float> rows;
  for (const HostTensor &part : {cache, x})
    for (float value : floats(part))
      rows.push_back(-value);
  HostTensor y = HostTensor::ofFloats({5, 4}, rows);
  llvm::SmallString<128> path;
  ASSERT_FALSE(
      llvm::sys::fs::createTemporaryFile("runtime-sizes", "safetensors", path));
  auto save = [&](const HostTensor &same) {
    TensorMap map;
    for (auto [name, tensor] :
         {std::pair<const char *, const HostTensor *>{"arg0", &x},
          {"arg1", &cache},
          {"arg2", &same},
          {"result0", &y}})
      map[name] = {DType::F32, tensor->shape, tensor->data.data(),
                   tensor->data.size()};
    EXPECT_TRUE(writeSafetensors(path.str().str(), map, error)) << error;
  };
  save(x);
  ASSERT_TRUE(validate(kNormalized, kDataflow, path.str().str())) << log;
  ASSERT_EQ(report.phases.size(), 2u);
  EXPECT_EQ(report.phases[0].name, "dataflow");
  EXPECT_EQ(report.phases[0].parameters,
            (ParameterValues{{"past", 3}, {"seq", 2}}));
  EXPECT_NE(log.find("phase 'normalized': not run, it is for past = 5, "
                     "seq = 6 only"),
            std::string::npos)
      << log;
  save(counting({4, 4}));
  ASSERT_FALSE(validate(kNormalized, kDataflow, path.str().str()));
  EXPECT_NE(message().find("expected input 2 to have sizes [seq, 4] but got a "
                           "tensor 4x4 F32"),
            std::string::npos)
      << log;
  llvm::sys::fs::remove(path);
}

} // namespace
