//===- ITensorOps.td - itensor operations -------------------*- tablegen -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operations of the itensor dialect (paper section 3).
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_DIALECT_ITENSOR_IR_ITENSOROPS_TD
#define STREAMTENSOR_DIALECT_ITENSOR_IR_ITENSOROPS_TD

include "streamtensor/Dialect/ITensor/IR/ITensorBase.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class ITensor_Op<string mnemonic, list<Trait> traits = []>
    : Op<ITensor_Dialect, mnemonic, traits>;

def ITensor_EmptyOp : ITensor_Op<"empty", [Pure]> {
  let summary = "placeholder for an itensor without tokens";
  let description = [{
    The destination of a task before FIFOs are allocated. It carries no
    identity: two of them may be merged, `itensor.instance` may not.

    ```mlir
    %e = itensor.empty : !itensor.itensor<16xf32, [4] * [16], (d0) -> (d0)>
    ```
  }];
  let results = (outs ITensor_ITensorType:$result);
  let assemblyFormat = "attr-dict `:` qualified(type($result))";
}

def ITensor_InstanceOp
    : ITensor_Op<"instance", [MemoryEffects<[MemAlloc]>]> {
  let summary = "an itensor that becomes a FIFO";
  let description = [{
    `depth` is the capacity of the FIFO in tokens, at least 1; `reason` says
    why it is that deep.

    ```mlir
    %s = itensor.instance "load_x_out" depth 2 : !itensor.itensor<16xf32, [4] * [16], (d0) -> (d0)>
    ```
  }];
  let arguments = (ins StrAttr:$sym, ConfinedAttr<I64Attr, [IntPositive]>:$depth,
                       OptionalAttr<StrAttr>:$reason);
  let results = (outs ITensor_ITensorType:$result);
  let assemblyFormat = [{
    $sym `depth` $depth (`because` $reason^)? attr-dict `:` qualified(type($result))
  }];
}

def ITensor_ReadOp
    : ITensor_Op<"read", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "pull one token";
  let description = [{
    `init` is the destination when the token is a tensor.

    ```mlir
    %w = itensor.read %src init(%buf : tensor<16xf32>) : !itensor.itensor<16xf32, [4] * [16], (d0) -> (d0)> -> tensor<16xf32>
    %x = itensor.read %xs : !itensor.itensor<f32, [64] * [1], (d0) -> (d0)> -> f32
    ```
  }];
  let arguments = (ins ITensor_ITensorType:$source,
                       Optional<AnyRankedTensor>:$init);
  let results = (outs AnyType:$value);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $source (`init` `(` $init^ `:` type($init) `)`)? attr-dict `:`
    qualified(type($source)) `->` type($value)
  }];
}

def ITensor_WriteOp : ITensor_Op<"write", [AllTypesMatch<["dest", "result"]>,
                                           MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "push one token";
  let description = [{
    Destination-carried: the result is the destination with one more token.

    ```mlir
    %t = itensor.write %v into %dst : tensor<16xf32>, !itensor.itensor<16xf32, [4] * [16], (d0) -> (d0)>
    ```
  }];
  let arguments = (ins AnyType:$value, ITensor_ITensorType:$dest);
  let results = (outs ITensor_ITensorType:$result);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $value `into` $dest attr-dict `:` type($value) `,` qualified(type($dest))
  }];
}

class ITensor_TypeChangingOp<string mnemonic, list<Trait> traits = []>
    : ITensor_Op<mnemonic, !listconcat([Pure], traits)> {
  let arguments = (ins ITensor_ITensorType:$source);
  let results = (outs ITensor_ITensorType:$result);
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
  let assemblyFormat = [{
    $source attr-dict `:` qualified(type($source)) `to` qualified(type($result))
  }];
}

def ITensor_CastOp : ITensor_TypeChangingOp<"cast"> {
  let summary = "another spelling of the same token sequence";
  let description = [{
    Both types have the same normal form, so nothing moves.

    ```mlir
    %r = itensor.cast %a : !itensor.itensor<f32, [2, 4] * [4, 1], (d0, d1) -> (d0 + d1)>
                        to !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>
    ```
  }];
}

def ITensor_ReassociateOp : ITensor_TypeChangingOp<"reassociate"> {
  let summary = "the same elements in the same order, grouped differently";
  let description = [{
    From `tensor.expand_shape` and `tensor.collapse_shape` (another tensor
    shape), or another token width (vectors of 4 into vectors of 8). The
    elements keep their order, exactly: counted by their row-major positions,
    both types have the same sequence of them. When the token width changes, a
    width adapter is materialized.

    ```mlir
    %r = itensor.reassociate %a : !itensor.itensor<4xf32, [6] * [4], (d0) -> (d0)>
                               to !itensor.itensor<1x4xf32, [3, 2] * [1, 4], (d0, d1) -> (d0, d1)>
    ```
  }];
}

def ITensor_ConverterOp : ITensor_Op<"converter", [Pure]> {
  let summary = "another order of the tokens, through a local buffer";
  let description = [{
    Stands for a ping-pong buffer that is filled in the order of the source and
    drained in the order of the result. `--st-infer-converters` puts on it
    `buffer_shape`, `shared_loops`, `bytes` and `reason` (paper, Algorithm 1).

    ```mlir
    %r = itensor.converter %a : !itensor.itensor<4x2xf32, [4, 2] * [2, 4], (d0, d1) -> (d1, d0)>
                             to !itensor.itensor<4x2xf32, [4, 2, 2] * [2, 1, 4], (d0, d1, d2) -> (d2, d0)>
    ```
  }];
  let arguments = (ins ITensor_ITensorType:$source,
                       OptionalAttr<DenseI64ArrayAttr>:$buffer_shape,
                       OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>:$shared_loops,
                       OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>:$bytes,
                       OptionalAttr<StrAttr>:$reason);
  let results = (outs ITensor_ITensorType:$result);
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
  let assemblyFormat = [{
    $source attr-dict `:` qualified(type($source)) `to` qualified(type($result))
  }];
}

def ITensor_ForkOp : ITensor_Op<"fork", [Pure]> {
  let summary = "duplicate every token to n consumers";
  let description = [{
    All results have the type of the source. After forks are inserted every
    FIFO has one writer and one reader.

    ```mlir
    %a:2 = itensor.fork %s times 2 : !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>
    ```
  }];
  let arguments = (ins ITensor_ITensorType:$source);
  let results = (outs Variadic<ITensor_ITensorType>:$copies);
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
  let hasCustomAssemblyFormat = 1;
}

def ITensor_ChunkOp : ITensor_Op<"chunk", [Pure]> {
  let summary = "split a tensor along one dimension, token by token";
  let description = [{
    From a split or slices of a tensor: the parts lie one behind the other along
    data dimension `dim`. Each token of the source goes to the part that it lies
    in, so every part has the order that the source has there. The sizes of the
    parts are those of the result types and may differ; a part without a reader
    is what a slice leaves out.

    ```mlir
    %p:2 = itensor.chunk %s dim 0 : !itensor.itensor<1x16xf32, [8, 4] * [1, 16], (d0, d1) -> (d0, d1)>
        to !itensor.itensor<1x16xf32, [7, 4] * [1, 16], (d0, d1) -> (d0, d1)>, !itensor.itensor<1x16xf32, [4] * [16], (d0) -> (0, d0)>
    ```
  }];
  let arguments = (ins ITensor_ITensorType:$source,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$dim);
  let results = (outs Variadic<ITensor_ITensorType>:$parts);
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
  let assemblyFormat = [{
    $source `dim` $dim attr-dict `:` qualified(type($source)) `to`
    qualified(type($parts))
  }];
}

def ITensor_ConcatOp : ITensor_Op<"concat", [Pure]> {
  let summary = "join tensors along one dimension, token by token";
  let description = [{
    The inverse of `itensor.chunk`: the tensors of the parts lie one behind the
    other along data dimension `dim` of the result, whose order says from which
    part the next token comes. Each part has the order that the result has there;
    so nothing is buffered.

    ```mlir
    %r = itensor.concat %cache, %row dim 0 : !itensor.itensor<1x16xf32, [7, 4] * [1, 16], (d0, d1) -> (d0, d1)>, !itensor.itensor<1x16xf32, [4] * [16], (d0) -> (0, d0)>
        to !itensor.itensor<1x16xf32, [8, 4] * [1, 16], (d0, d1) -> (d0, d1)>
    ```
  }];
  let arguments = (ins Variadic<ITensor_ITensorType>:$parts,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$dim);
  let results = (outs ITensor_ITensorType:$result);
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizeMethod = 1;
  let assemblyFormat = [{
    $parts `dim` $dim attr-dict `:` qualified(type($parts)) `to`
    qualified(type($result))
  }];
}

def ITensor_JoinOp : ITensor_Op<"join", [Pure]> {
  let summary = "merge streams round-robin";
  let description = [{
    Token `i` of the result is the next token of source `i` modulo the number of
    sources, as parallel workers deliver them. So the innermost loop of the
    result walks over the sources, and each source streams the tensor that is
    left when this loop is taken out.

    ```mlir
    // even and odd tokens
    %r = itensor.join %a, %b : !itensor.itensor<4xf32, [8] * [4], (d0) -> (d0)>, !itensor.itensor<4xf32, [8] * [4], (d0) -> (d0)>
        to !itensor.itensor<4xf32, [16] * [4], (d0) -> (d0)>
    // first and second half, a token of each in turn
    %h = itensor.join %a, %b : !itensor.itensor<4xf32, [8] * [4], (d0) -> (d0)>, !itensor.itensor<4xf32, [8] * [4], (d0) -> (d0)>
        to !itensor.itensor<4xf32, [8, 2] * [4, 32], (d0, d1) -> (d0 + d1)>
    ```
  }];
  let arguments = (ins Variadic<ITensor_ITensorType>:$sources);
  let results = (outs ITensor_ITensorType:$result);
  let hasVerifier = 1;
  let hasFolder = 1;
  let assemblyFormat = [{
    $sources attr-dict `:` qualified(type($sources)) `to`
    qualified(type($result))
  }];
}

#endif // STREAMTENSOR_DIALECT_ITENSOR_IR_ITENSOROPS_TD
