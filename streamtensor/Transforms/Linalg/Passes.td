//===- Passes.td - Normalization passes --------------------*- tablegen -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The passes from imported Linalg to the normalized form, in pipeline order.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_TRANSFORMS_LINALG_PASSES
#define STREAMTENSOR_TRANSFORMS_LINALG_PASSES

include "mlir/Pass/PassBase.td"

def SpecializeSizes : Pass<"st-specialize-sizes", "::mlir::func::FuncOp"> {
  let summary = "Give the dynamic dimensions of a function given sizes";
  let description = [{
    The sizes of the arguments' dynamic dimensions are what `dataflow.dims` says
    at the values of the parameters. All that follows from them is folded:
    assertions about sizes, reshapes to computed shapes, and the reads by index
    with which torch-mlir broadcasts a dimension that may have one element.

    ```mlir
    // with values="seq=8"
    func.func @f(%x: tensor<?x64xf32> {dataflow.dims = ["seq max 128", ""]}) -> tensor<?x64xf32>
    // becomes
    func.func @f(%x: tensor<8x64xf32>) -> tensor<8x64xf32>
    ```
  }];
  let options = [Option<"values", "values", "std::string", "\"\"",
                        "a value per parameter: seq=8,past=3">];
  let dependentDialects = ["::mlir::tensor::TensorDialect",
                           "::mlir::linalg::LinalgDialect"];
}

def SimplifyConcats : Pass<"st-simplify-concats", "::mlir::func::FuncOp"> {
  let summary = "Let concatenations read known sizes only, and no empty tensors";
  let description = [{
    torch-mlir writes `torch.roll` as a concatenation of slices whose known sizes
    it casts away. The canonicalizer does not find out two unknown sizes from
    their sum; the operands of the casts have them. Operands without elements (a
    dimension of one element rolled by one) are dropped.

    ```mlir
    %c = tensor.cast %a : tensor<1xf32> to tensor<?xf32>
    %d = tensor.cast %b : tensor<4xf32> to tensor<?xf32>
    %y = tensor.concat dim(0) %c, %d : (tensor<?xf32>, tensor<?xf32>) -> tensor<5xf32>
    // becomes
    %y = tensor.concat dim(0) %a, %b : (tensor<1xf32>, tensor<4xf32>) -> tensor<5xf32>
    ```
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def KeepValueNames : Pass<"st-keep-value-names", "::mlir::func::FuncOp"> {
  let summary = "Keep the name of a value where it is complete";
  let description = [{
    The front end names each value of the model in the locations of the operations
    that make it. Those whose result only other operations of the same value read
    lose the name, so that who has it makes the value. Other shapes of a result
    are still that value.

    ```mlir
    %e = linalg.generic ... loc("%softmax"("model.py":7:0))  // exp(x - max)
    %s = linalg.generic ins(%e) ... loc("%softmax"("model.py":7:0))
    %y = linalg.generic ins(%e, %s) ... loc("%softmax"("model.py":7:0))
    return %y
    // becomes
    %e = linalg.generic ... loc("model.py":7:0)
    %s = linalg.generic ins(%e) ... loc("model.py":7:0)
    %y = linalg.generic ins(%e, %s) ... loc("%softmax"("model.py":7:0))
    ```
  }];
}

def RefuseUnsupported : Pass<"st-refuse-unsupported", "::mlir::func::FuncOp"> {
  let summary = "Refuse a function that contains what cannot be compiled";
  let description = [{
    Looks at every operation of the imported function that its results depend
    on, and emits one error per operation that cannot be compiled: the
    operation, the line of the model that it came from, the reason, and what to
    do. All of them are listed before the pass fails. Nothing is changed.

    Accepted are tensors of static shape of f32, f16, bf16 and signless integers
    of 1, 8, 16, 32 and 64 bits, and the f64 tensors inside a function that
    `st-demote-f64` turns into f32. Operations that the results do not depend
    on, like the index half of softmax's maximum, do not count.

    ```mlir
    // error: unsupported operation 'linalg.conv_2d_nchw_fchw' at model.py:12
    %y = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>)
           outs(%init : tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
    ```
  }];
  let options = [Option<"allowF64", "allow-f64", "bool", "true",
                        "accept f64 tensors inside the function">];
}

def InlineResources : Pass<"st-inline-resources", "::mlir::func::FuncOp"> {
  let summary = "Turn constants in resource blobs into dense constants";
  let description = [{
    torch-mlir keeps the literal tensors of a model in `dense_resource` blobs
    beside the module. They become plain `dense` constants, which the other
    passes can look into.

    ```mlir
    %0 = arith.constant dense_resource<slopes> : tensor<2xf32>
    // becomes
    %0 = arith.constant dense<[5.000000e-01, 2.500000e-01]> : tensor<2xf32>
    ```
  }];
}

def DemoteF64 : Pass<"st-demote-f64", "::mlir::func::FuncOp"> {
  let summary = "Compute in f32 what the model computes in f64";
  let description = [{
    torch-mlir computes the variance of a layer norm in f64 and keeps constants
    such as epsilon as f64. Every f64 value and constant inside the function
    becomes f32; the conversions between the two vanish. A remark says how many
    operations were affected, because the result can differ by rounding.

    ```mlir
    %0 = arith.extf %in : f32 to f64
    %1 = arith.addf %0, %out : f64
    // becomes
    %1 = arith.addf %in, %out : f32
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def EraseDeadResults : Pass<"st-erase-dead-results", "::mlir::func::FuncOp"> {
  let summary = "Remove unused operands and results, and assertions in bodies";
  let description = [{
    torch-mlir computes a maximum together with its index; softmax uses only the
    maximum. Unused results, the operands that only they needed, and duplicate
    operands are removed, so that every generic has one result. Assertions about
    values (`x.reciprocal()` asserts that no element is 0) go too: like PyTorch,
    the accelerator computes an infinity.

    ```mlir
    %m:2 = linalg.generic ... outs(%inf, %zero : tensor<4xf32>, tensor<4xi64>)
    // becomes, when %m#1 is unused
    %m = linalg.generic ... outs(%inf : tensor<4xf32>)
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def ConcatenateParts : Pass<"st-concatenate-parts", "::mlir::func::FuncOp"> {
  let summary = "Write insertion as concatenation";
  let description = [{
    The insertion of a part becomes a concatenation of what lies before it, the
    part, and what lies behind it, dimension by dimension.

    ```mlir
    %2 = tensor.insert_slice %part into %1[1] [2] [1] : tensor<2xf32> into tensor<5xf32>
    // becomes
    %a = tensor.extract_slice %1[0] [1] [1] : tensor<5xf32> to tensor<1xf32>
    %b = tensor.extract_slice %1[3] [2] [1] : tensor<5xf32> to tensor<2xf32>
    %2 = tensor.concat dim(0) %a, %part, %b : (tensor<1xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<5xf32>
    ```
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def GeneralizeNamedOps : Pass<"st-generalize-named-ops",
                              "::mlir::func::FuncOp"> {
  let summary = "Turn named Linalg operations except fill into generics";
  let description = [{
    After this pass the rest of the normalization only sees `linalg.generic` and
    `linalg.fill`. A fill stays: it is the start value of a reduction.

    ```mlir
    %1 = linalg.transpose ins(%0 : tensor<4x8xf32>) outs(%e : tensor<8x4xf32>) permutation = [1, 0]
    // becomes
    %1 = linalg.generic {indexing_maps = [(d0, d1) -> (d1, d0), (d0, d1) -> (d0, d1)], ...}
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def NormalizeInits : Pass<"st-normalize-inits", "::mlir::func::FuncOp"> {
  let summary = "Let reductions start from a fill and the rest from nothing";
  let description = [{
    A reduction whose start value is not the same scalar everywhere (a matmul
    into a bias) starts from the neutral element of its combining operation
    instead, and an element-wise generic combines the start value afterwards.
    A generic without reductions that reads its start value gets it as an input;
    one that does not read it starts from `tensor.empty`.

    ```mlir
    %1 = linalg.matmul ins(%x, %w) outs(%bias)
    // becomes
    %0 = linalg.fill ins(%zero) outs(%empty)
    %p = linalg.matmul ins(%x, %w) outs(%0)
    %1 = linalg.generic ins(%p, %bias) outs(%empty) { arith.addf }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def WidenHalfFloats : Pass<"st-widen-half-floats", "::mlir::func::FuncOp"> {
  let summary = "Compute in f32 what the model computes in f16 or bf16";
  let description = [{
    Tensors and streams stay 16 bits wide; what a body computes with them is
    computed in f32 and rounded back, operation by operation, as PyTorch does.
    For sums, products, quotients and roots that is the same number as computed
    in 16 bits directly. A reduction accumulates in f32 and is rounded once, at
    its end, which is what PyTorch's sums do, and more exact than the text of
    the input says.

    ```mlir
    %2 = arith.addf %0, %1 : bf16
    // becomes
    %a = arith.extf %0 : bf16 to f32
    %b = arith.extf %1 : bf16 to f32
    %s = arith.addf %a, %b : f32
    %2 = arith.truncf %s : f32 to bf16
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def ExpandMath : Pass<"st-expand-math", "::mlir::func::FuncOp"> {
  let summary = "Write powers and rare functions with those that tasks have";
  let description = [{
    `math.fpowi` and `math.powf` with a constant exponent become what PyTorch
    evaluates: products for the exponents 1 to 8 (by repeated squaring), square
    roots for 0.5 and -0.5, a division for negative exponents. A larger integer
    exponent becomes `math.powf`. `math.log1p` and `math.expm1` become `math.log`
    and `math.exp` with a correction for small arguments, `math.exp2` becomes
    `math.powf`, `math.log2` and `math.log10` become scaled `math.log`.

    ```mlir
    %c3 = arith.constant 3 : i64
    %1 = math.fpowi %0, %c3 : f32, i64
    // becomes
    %s = arith.mulf %0, %0 : f32
    %1 = arith.mulf %s, %0 : f32
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
}

def UnstrideSlices : Pass<"st-unstride-slices", "::mlir::func::FuncOp"> {
  let summary = "Turn slices with strides into slices of an expanded tensor";
  let description = [{
    A slice of every s-th element (interleaved rotary embeddings take every
    second one) becomes a slice of a tensor whose dimension is split into groups
    of s elements: all groups, one element of each. Where the last group would end
    beyond the tensor, its element is taken alone and concatenated.

    ```mlir
    %1 = tensor.extract_slice %0[0, 1] [4, 8] [1, 2] : tensor<4x16xf32> to tensor<4x8xf32>
    // becomes
    %e = tensor.expand_shape %0 [[0], [1, 2]] output_shape [4, 8, 2] : tensor<4x16xf32> into tensor<4x8x2xf32>
    %s = tensor.extract_slice %e[0, 0, 1] [4, 8, 1] [1, 1, 1] : tensor<4x8x2xf32> to tensor<4x8x1xf32>
    %1 = tensor.collapse_shape %s [[0], [1, 2]] : tensor<4x8x1xf32> into tensor<4x8xf32>
    ```
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def DropUnitDims : Pass<"st-drop-unit-dims", "::mlir::func::FuncOp"> {
  let summary = "Remove dimensions of size one from generics";
  let description = [{
    Loops with one iteration and tensor dimensions of size one vanish from
    generics, slices and concatenations; collapse_shape and expand_shape at the
    function's arguments and results keep its signature. Maps with constant
    results, which torch-mlir uses to broadcast a dimension of size one, become
    projected permutations thereby. Where windows have one position only, what
    they do not read of their source is cut off before.

    ```mlir
    %1 = linalg.generic {indexing_maps = [(d0, d1) -> (d0, 0), ...]} ins(%0 : tensor<4x1xf32>) ...
    // becomes
    %c = tensor.collapse_shape %0 [[0, 1]] : tensor<4x1xf32> into tensor<4xf32>
    %1 = linalg.generic {indexing_maps = [(d0, d1) -> (d0), ...]} ins(%c : tensor<4xf32>) ...
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def AbsorbCopies : Pass<"st-absorb-copies", "::mlir::func::FuncOp"> {
  let summary = "Absorb transposes and broadcasts into indexing maps";
  let description = [{
    A generic that only moves data disappears: its consumers read its source
    through the composed indexing map, or the generic that produces its source
    writes in the new order (when only generics read that source). A copy
    remains where neither is possible (between an argument and a concatenation,
    for example).

    ```mlir
    %t = transpose %w : tensor<16x8xf32> to tensor<8x16xf32>
    %y = linalg.generic {indexing_maps = [..., (m, n, k) -> (k, n), ...]} ins(%x, %t)
    // becomes
    %y = linalg.generic {indexing_maps = [..., (m, n, k) -> (n, k), ...]} ins(%x, %w)
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def SplitSlicedGenerics : Pass<"st-split-sliced-generics",
                               "::mlir::func::FuncOp"> {
  let summary = "Split a generic whose result is only read in disjoint slices";
  let description = [{
    One product for query, key and value (GPT-2) is read in three slices. It
    becomes three generics that compute one slice each from slices of the
    operands, in the end of the weights, where a slice is only a view of memory.
    Nothing is computed twice, because the slices must not overlap.

    ```mlir
    %y = contraction(m, n, k) ins(%x, %w : tensor<4x8xf32>, tensor<6x8xf32>) -> tensor<4x6xf32>
    %a = tensor.extract_slice %y[0, 0] [4, 2] [1, 1] : tensor<4x6xf32> to tensor<4x2xf32>
    %b = tensor.extract_slice %y[0, 2] [4, 4] [1, 1] : tensor<4x6xf32> to tensor<4x4xf32>
    // becomes
    %wa = tensor.extract_slice %w[0, 0] [2, 8] [1, 1] : tensor<6x8xf32> to tensor<2x8xf32>
    %wb = tensor.extract_slice %w[2, 0] [4, 8] [1, 1] : tensor<6x8xf32> to tensor<4x8xf32>
    %a = contraction(m, n, k) ins(%x, %wa) -> tensor<4x2xf32>
    %b = contraction(m, n, k) ins(%x, %wb) -> tensor<4x4xf32>
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def PropagateReshapes : Pass<"st-propagate-reshapes", "::mlir::func::FuncOp"> {
  let summary = "Move reshapes out of the way by giving generics more loops";
  let description = [{
    A generic followed by an expand_shape, or preceded by a collapse_shape, gets
    the loops of the higher-rank tensor; the reshape moves to its other
    operands, in the end to the function's arguments, where it is only another
    view of memory. An expand_shape also moves above concatenations and slices
    along other dimensions. This is what turns "split into heads" into one
    contraction with a head loop.

    ```mlir
    %y = contraction(m, n, k) ins(%x, %w : tensor<4x8xf32>, tensor<6x8xf32>) -> tensor<4x6xf32>
    %e = tensor.expand_shape %y [[0], [1, 2]] : tensor<4x6xf32> into tensor<4x2x3xf32>
    // becomes
    %v = tensor.expand_shape %w [[0, 1], [2]] : tensor<6x8xf32> into tensor<2x3x8xf32>
    %e = contraction(m, h, d, k) ins(%x, %v) -> tensor<4x2x3xf32>
    ```
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def FuseElementwise : Pass<"st-fuse-elementwise", "::mlir::func::FuncOp"> {
  let summary = "Fuse element-wise chains without computing anything twice";
  let description = [{
    An element-wise generic is fused into its consumer when the consumer is its
    only user and reads each of its elements exactly once (the indexing map is a
    permutation of all the consumer's loops). A value that is read again for
    every element of a row, like the reciprocal root of a norm, therefore stays
    a generic of its own. Splat constants and fills become scalars in bodies.
    Integer generics that cost next to nothing (comparisons, positions, sign
    extensions) are fused everywhere, by duplication if need be. Rounding to an
    integer is not cheap: a quantized tensor is computed once.

    ```mlir
    %1 = linalg.generic ins(%0) { arith.negf }
    %2 = linalg.generic ins(%1) { math.exp }
    // becomes
    %2 = linalg.generic ins(%0) { arith.negf, math.exp }
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def ExtractWindows : Pass<"st-extract-windows", "::mlir::func::FuncOp"> {
  let summary = "Make the windows of convolutions and poolings operations";
  let description = [{
    An operand that is read through windows (its map adds loops: `d2 * 2 + d4`)
    becomes the result of a generic that only copies, from the operand by that
    map to a tensor over the loops in it; the operation itself then has projected
    permutations only. The tensor of all windows never exists: its task keeps the
    rows that a window spans and passes each element on as often as it is read.

    Inputs that no body reads are dropped (the window of a pooling).

    ```mlir
    // (f, y, x, c, i, j): filter f, position y x, channel c, offset i j
    ins(%image, %filter : (c, y + i, x + j), (f, c, i, j))
    // becomes
    %windows = copy of %image by (y, x, c, i, j) -> (c, y + i, x + j)
    ins(%windows, %filter : (y, x, c, i, j), (f, c, i, j))
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def NarrowIntegers : Pass<"st-narrow-integers", "::mlir::func::FuncOp"> {
  let summary = "Compute in i32 the i64 sums that need no more";
  let description = [{
    PyTorch adds integers in 64 bits. A sum or product is computed in i32 when
    all its readers truncate it to 32 bits or fewer, or, for a sum, when the
    range of its terms and their number show that it fits: 32 products of two i8
    are 2^19 at most. A generic that extends the sign takes its place; it fuses into
    the readers. Results are the same to the bit.

    ```mlir
    %s = linalg.generic ins(%x : tensor<4x32xi8>) outs(%zero : tensor<4xi64>) {
      %0 = arith.extsi %in : i8 to i64
      %1 = arith.addi %0, %out : i64
    }
    // becomes
    %n = linalg.generic ins(%x : tensor<4x32xi8>) outs(%zero : tensor<4xi32>) {
      %0 = arith.extsi %in : i8 to i32
      %1 = arith.addi %0, %out : i32
    }
    %s = linalg.generic ins(%n) { arith.extsi %in : i32 to i64 }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def BoundReductions : Pass<"st-bound-reductions", "::mlir::func::FuncOp"> {
  let summary = "Find how many bits sums of integers need";
  let description = [{
    Interval analysis: a sum of N terms from a to b, added to what it starts
    with, is between min(0, N a) and max(0, N b) of it, and so is each sum of a
    part of the terms, in whatever order they are added up. The ranges of terms
    follow from their types, from bodies, from what makes the tensors, and from
    the limits that a float is clamped to before it becomes an integer. Sums
    that need fewer bits than their type has get `dataflow.bits`.

    ```mlir
    // 32 products of a code of 0 to 15 and one of -127 to 127: 60,960 at most.
    %s = linalg.generic ... outs(%zero : tensor<4xi32>)
    // becomes
    %s = linalg.generic ... outs(%zero : tensor<4xi32>) attrs = {dataflow.bits = 17 : i64}
    ```
  }];
}

def OrderLoops : Pass<"st-order-loops", "::mlir::func::FuncOp"> {
  let summary = "Order loops as the result's dimensions, reductions last";
  let description = [{
    Interchanges the loops of every generic so that its result map is
    `(d0, .., dn, ...) -> (d0, .., dn)`: parallel loops in the order of the
    result's dimensions, then the reduction loops in their old order.

    ```mlir
    indexing_maps = [(d0, d1, d2) -> (d0, d1), (d0, d1, d2) -> (d1, d2), (d0, d1, d2) -> (d0, d2)],
    iterator_types = ["parallel", "reduction", "parallel"]
    // becomes
    indexing_maps = [(d0, d1, d2) -> (d0, d2), (d0, d1, d2) -> (d2, d1), (d0, d1, d2) -> (d0, d1)],
    iterator_types = ["parallel", "parallel", "reduction"]
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def MaterializeResults : Pass<"st-materialize-results",
                              "::mlir::func::FuncOp"> {
  let summary = "Give every result of the function an operation of its own";
  let description = [{
    A result that is an argument (or a view of one), a constant, or the same
    value as another result is copied by an identity generic, and a fill that
    anything but a reduction's start value reads becomes a generic, so that
    every function result and every streamed tensor has a producing task.
    Canonicalization would remove the identity generics: it must not run after
    this pass.

    ```mlir
    return %arg0, %1, %1
    // becomes
    %c0 = linalg.generic ins(%arg0) { yield %in }
    %c1 = linalg.generic ins(%1) { yield %in }
    return %c0, %1, %c1
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def NameOperations : Pass<"st-name-operations", "::mlir::func::FuncOp"> {
  let summary = "Set the attribute st.name of generics from what they compute";
  let description = [{
    Names serve people: tasks, labels and reports are called by them. A
    contraction is `matmul` (`matvec`, `batch_matmul`), a reduction `sum`,
    `square_sum`, `max` and so on, a copy `copy` or `transpose`, an element-wise
    generic is called by its dominating operation (`exp`, `silu_mul`, `add`).

    ```mlir
    %1 = linalg.generic {...} { math.exp } // gets {st.name = "exp"}
    ```
  }];
}

def VerifyNormalized : Pass<"st-verify-normalized", "::mlir::func::FuncOp"> {
  let summary = "Check the invariant of phase `normalized`";
  let description = [{
    Fails, on the operation, with the reason, unless the function only contains
    static f32 tensors and

    - `linalg.generic` with one result, projected permutations without constants
      as indexing maps, a result map `(d0, .., dn, ...) -> (d0, .., dn)`, and as
      start value `tensor.empty` (no reduction loops, start value not read) or
      `linalg.fill` of a constant (reduction loops, body combines the running
      value with one operation);
    - `linalg.fill`, `tensor.empty`, `tensor.expand_shape`,
      `tensor.collapse_shape`, `tensor.concat`, `tensor.extract_slice` with unit
      strides, `arith.constant` (scalar, or a tensor that is no splat);
    - results that are distinct and do not alias an argument or a constant;
    - sizes known at run time that agree for all values of the parameters.

    ```mlir
    // error: expected unit strides but got stride 2 in dimension 1
    %1 = tensor.extract_slice %0[0, 0] [4, 8] [1, 2] : tensor<4x16xf32> to tensor<4x8xf32>
    ```
  }];
}

#endif // STREAMTENSOR_TRANSFORMS_LINALG_PASSES
