//===- StreamBase.td - stream dialect and type -*- tablegen -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The stream dialect: FIFOs with a depth, what itensors become when they are
// bufferized (paper sections 2 and 3).
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_DIALECT_STREAM_IR_STREAMBASE_TD
#define STREAMTENSOR_DIALECT_STREAM_IR_STREAMBASE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"

def Stream_Dialect : Dialect {
  let name = "stream";
  let cppNamespace = "::streamtensor::stream";
  let summary = "FIFOs with a depth";
  let description = [{
    The token order is gone by now: a stream knows the shape of a token and how
    many of them it holds. All layout decisions are made on itensors before.
  }];
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = [{
    void registerTypes();
  }];
}

def Stream_StreamType : TypeDef<Stream_Dialect, "Stream"> {
  let mnemonic = "stream";
  let summary = "a FIFO of tokens with a depth";
  let description = [{
    ```
    stream ::= `stream` `<` token `,` depth `>`
    ```

    ```mlir
    !stream.stream<16x1xf32, 32>   // 32 tokens of 16 floats
    !stream.stream<f32, 2>         // 2 scalar tokens
    ```
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t">:$tokenShape,
    "::mlir::Type":$elementType,
    "int64_t":$depth
  );
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    bool hasScalarToken() const { return getTokenShape().empty(); }
    /// Number of scalar elements in one token.
    int64_t getTokenElements() const;
    /// Width of one token in bits.
    int64_t getTokenBits() const;
  }];
}

#endif // STREAMTENSOR_DIALECT_STREAM_IR_STREAMBASE_TD
