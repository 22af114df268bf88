//===- UnregisteredOpsTest.cpp - operations of unknown dialects -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The scan of a module's text for operations that cannot be parsed.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Transforms/Linalg/Passes.h"

#include <gtest/gtest.h>

using streamtensor::findUnregisteredOps;

namespace {

/// True if `message` contains `part`.
bool says(const std::optional<std::string> &message, const char *part) {
  return message && message->find(part) != std::string::npos;
}

TEST(UnregisteredOps, AcceptsWhatTheCompilerHas) {
  EXPECT_FALSE(findUnregisteredOps(R"(
// tm_tensor.scan in a comment
#map = affine_map<(d0) -> (d0)>
module attributes {torch.debug_module_name = "M"} {
  ml_program.global private mutable @seed(dense<0> : tensor<i64>) : tensor<i64>
  func.func @f(%arg0: tensor<4xf32> {st.name = "x.y"}) -> tensor<4xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<4xf32>
    %1:2, %2 = "linalg.fill"(%cst, %0) : (f32, tensor<4xf32>) -> tensor<4xf32>
    %3 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"], doc = "tm_tensor.sort"}
        ins(%1 : tensor<4xf32>) outs(%0 : tensor<4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4xf32>
    return %3 : tensor<4xf32>
  }
}
)"));
  EXPECT_FALSE(findUnregisteredOps(""));
}

// The text that torch-mlir prints with locations: the scan's own location
// stands behind its region.
TEST(UnregisteredOps, FindsScanWithItsModelLine) {
  auto message = findUnregisteredOps(R"(
#loc3 = loc("model.py":8:0)
module {
  func.func @f(%3: tensor<4x8xf32> loc("model.py":7:0)) -> tensor<4x8xf32> {
    %6:2 = tm_tensor.scan dimension(1) inclusive(true) ins(%3 : tensor<4x8xf32>) outs(%2, %5 : tensor<4x8xf32>, tensor<4xf32>) {
    ^bb0(%arg2: f32 loc("model.py":1:0), %arg3: f32 loc("model.py":2:0)):
      %18 = arith.addf %arg2, %arg3 : f32 loc(#loc9)
      tm_tensor.yield %18 : f32 loc(#loc9)
    } -> tensor<4x8xf32>, tensor<4xf32> loc(#loc3)
  } loc(#loc)
} loc(#loc)
#loc = loc(unknown)
#loc9 = loc("model.py":99:0)
)");
  ASSERT_TRUE(message);
  EXPECT_TRUE(says(message, "1 operation of dialects"));
  EXPECT_TRUE(says(message,
                   "unsupported operation 'tm_tensor.scan' at model.py:8 "
                   "(line 5 of the text)"))
      << *message;
  EXPECT_TRUE(says(message, "avoid cumsum"));
  EXPECT_FALSE(says(message, "yield"));
}

// Of a call stack the innermost frame outside PyTorch counts.
TEST(UnregisteredOps, PrefersTheModelOverPyTorch) {
  auto message = findUnregisteredOps(R"(
#loc1 = loc("lib/torch/nn/functional.py":100:0)
#loc2 = loc("model.py":12:0)
#loc3 = loc(callsite(#loc1 at #loc2))
%0 = tm_tensor.topk ins(%a : tensor<4xf32>) loc(#loc3)
%1 = torch.aten.relu %0 : !torch.vtensor<[4],f32> loc(#loc1)
)");
  ASSERT_TRUE(message);
  EXPECT_TRUE(says(message, "2 operations of dialects")) << *message;
  EXPECT_TRUE(says(message, "'tm_tensor.topk' at model.py:12")) << *message;
  EXPECT_TRUE(says(message, "sample on the host"));
  // Nothing else is known about this one.
  EXPECT_TRUE(
      says(message, "'torch.aten.relu' at lib/torch/nn/functional.py:100"))
      << *message;
}

TEST(UnregisteredOps, FindsGenericFormAndOperationsWithoutResults) {
  auto message =
      findUnregisteredOps("\n"
                          "%0 = \"tm_tensor.sort\"(%a) : (i32) -> i32\n"
                          "  torch.overwrite %0\n");
  ASSERT_TRUE(message);
  EXPECT_TRUE(says(message, "'tm_tensor.sort' (line 2 of the text)"))
      << *message;
  EXPECT_TRUE(says(message, "'torch.overwrite' (line 3 of the text)"))
      << *message;
}

// Text that ends in the middle must not be read beyond its end.
TEST(UnregisteredOps, SurvivesBrokenText) {
  for (const char *text :
       {"%0 = tm_tensor.scan {", "\"tm_tensor.sort", "\"abc\\", "%",
        "#loc = ", "#loc1 = loc(#loc1)\n%0 = tm_tensor.scan loc(#loc1)"})
    (void)findUnregisteredOps(text);
  EXPECT_TRUE(findUnregisteredOps("%0 = tm_tensor.scan {"));
}

} // namespace
