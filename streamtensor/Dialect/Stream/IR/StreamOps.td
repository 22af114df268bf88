//===- StreamOps.td - stream operations -*- tablegen -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operations of the stream dialect (paper section 3, stream and buffer ops).
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_DIALECT_STREAM_IR_STREAMOPS_TD
#define STREAMTENSOR_DIALECT_STREAM_IR_STREAMOPS_TD

include "streamtensor/Dialect/Stream/IR/StreamBase.td"
include "streamtensor/Dialect/ITensor/IR/ITensorBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Stream_Op<string mnemonic, list<Trait> traits = []>
    : Op<Stream_Dialect, mnemonic, traits>;

def Stream_StreamOp : Stream_Op<"stream", [MemoryEffects<[MemAlloc]>]> {
  let summary = "a FIFO";
  let description = [{
    `reason` says why it is as deep as it is; `tokens` how many tokens pass in
    one run of the design. One task writes it and one reads it.

    ```mlir
    %s = stream.stream "load_x_out" : !stream.stream<16xf32, 2>
    ```
  }];
  let arguments = (ins StrAttr:$sym, OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>:$tokens,
                       OptionalAttr<StrAttr>:$reason);
  let results = (outs Stream_StreamType:$result);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $sym (`tokens` $tokens^)? (`because` $reason^)? attr-dict `:`
    qualified(type($result))
  }];
}

def Stream_ReadOp : Stream_Op<"read", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "pull one token";
  let description = [{
    A scalar token is the result; a token with a shape is stored into `dest`,
    a memref of the token's shape.

    ```mlir
    %x = stream.read %s : !stream.stream<f32, 2> -> f32
    stream.read %t into %buf : !stream.stream<16xf32, 2>, memref<16xf32>
    ```
  }];
  let arguments = (ins Stream_StreamType:$source, Optional<AnyMemRef>:$dest);
  let results = (outs Optional<AnyType>:$value);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $source (`into` $dest^)? attr-dict `:` qualified(type($source))
    (`,` type($dest)^)? (`->` type($value)^)?
  }];
}

def Stream_WriteOp : Stream_Op<"write", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "push one token";
  let description = [{
    ```mlir
    stream.write %x, %s : f32, !stream.stream<f32, 2>
    stream.write %buf, %t : memref<16xf32>, !stream.stream<16xf32, 2>
    ```
  }];
  let arguments = (ins AnyType:$value, Stream_StreamType:$dest);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $value `,` $dest attr-dict `:` type($value) `,` qualified(type($dest))
  }];
}

def Stream_BufferOp : Stream_Op<"buffer", [MemoryEffects<[MemAlloc]>]> {
  let summary = "an on-chip buffer of a task";
  let description = [{
    A local array that outlives one token: an accumulator, or the buffer of a
    converter. `ping_pong` doubles it in hardware, so that one half is filled
    while the other is drained.

    ```mlir
    %b = stream.buffer "acc" : memref<36x16xf32>
    %c = stream.buffer "tile" ping_pong : memref<8x2xf32>
    ```
  }];
  let arguments = (ins StrAttr:$sym, UnitAttr:$ping_pong);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = "$sym (`ping_pong` $ping_pong^)? attr-dict `:` type($result)";
}

def Stream_CastOp : Stream_Op<"cast", [Pure]> {
  let summary = "the same stream with another shape of its tokens";
  let description = [{
    Tokens keep their elements and the row-major order of them, so nothing
    moves; the two ends of a FIFO only spell its token differently.

    ```mlir
    %t = stream.cast %s : !stream.stream<16xf32, 2> to !stream.stream<1x16xf32, 2>
    ```
  }];
  let arguments = (ins Stream_StreamType:$source);
  let results = (outs Stream_StreamType:$result);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $source attr-dict `:` qualified(type($source)) `to` qualified(type($result))
  }];
}

/// Both sides carry tokens of one element type and one number of elements.
class Stream_Bridge<string mnemonic> : Stream_Op<mnemonic, [Pure]> {
  let hasVerifier = 1;
}

def Stream_FromITensorOp : Stream_Bridge<"from_itensor"> {
  let summary = "itensor_to_stream: gone after bufferization";
  let description = [{
    ```mlir
    %s = stream.from_itensor %a : !itensor.itensor<f32, [8] * [1], (d0) -> (d0)> -> !stream.stream<f32, 2>
    ```
  }];
  let arguments = (ins ITensor_ITensorType:$source);
  let results = (outs Stream_StreamType:$result);
  let assemblyFormat = [{
    $source attr-dict `:` qualified(type($source)) `->` qualified(type($result))
  }];
}

def Stream_ToITensorOp : Stream_Bridge<"to_itensor"> {
  let summary = "stream_to_itensor: gone after bufferization";
  let description = [{
    ```mlir
    %a = stream.to_itensor %s : !stream.stream<f32, 2> -> !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>
    ```
  }];
  let arguments = (ins Stream_StreamType:$source);
  let results = (outs ITensor_ITensorType:$result);
  let assemblyFormat = [{
    $source attr-dict `:` qualified(type($source)) `->` qualified(type($result))
  }];
}

#endif // STREAMTENSOR_DIALECT_STREAM_IR_STREAMOPS_TD
