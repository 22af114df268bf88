//===- ITensorBase.td - itensor dialect and type ------------*- tablegen -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The itensor dialect and its one type: a tensor that travels through a FIFO
// in a fixed order of tokens (paper section 2).
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_DIALECT_ITENSOR_IR_ITENSORBASE_TD
#define STREAMTENSOR_DIALECT_ITENSOR_IR_ITENSORBASE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"

def ITensor_Dialect : Dialect {
  let name = "itensor";
  let cppNamespace = "::streamtensor::itensor";
  let summary = "Tensors that travel as an ordered sequence of tokens";
  let description = [{
    An itensor is a tensor together with the exact order in which its tokens
    pass through a FIFO. The order is part of the type, so a producer and a
    consumer that disagree do not verify, and every layout change is an
    explicit operation.
  }];
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = [{
    void registerTypes();
  }];
}

class ITensor_Type<string name, string typeMnemonic>
    : TypeDef<ITensor_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def ITensor_ITensorType : ITensor_Type<"ITensor", "itensor"> {
  let summary = "a tensor in a fixed order of tokens";
  let description = [{
    Syntax:

    ```
    itensor ::= `itensor` `<` element `,` trips `*` steps `,` map
                (`,` `overlapping`)? `>`
    trip    ::= term (`+` term)*
    term    ::= integer | (integer `*`)? (parameter | ceildiv)
    parameter ::= name (`max` integer)?
    ceildiv ::= `ceildiv` `(` trip `,` integer `)`
    ```

    `element` is the shape and type of a token (a scalar token is just a type),
    `trips` and `steps` describe the loop nest that enumerates the tokens,
    outermost first, and `map` gives for each data dimension the sum of the loop
    offsets. A loop in no result of the map is a revisit: everything inside it
    is repeated; its step is 1. A result that is the constant 0 is a data
    dimension of one token. `[] * []` is one token.

    ```mlir
    // tensor<8x8xf32> in tiles of 4x2, tile columns outermost:
    // (0,0), (4,0), (0,2), (4,2), ...
    !itensor.itensor<4x2xf32, [4, 2] * [2, 4], (d0, d1) -> (d1, d0)>
    ```

    The verifier checks that each data dimension is covered exactly and without
    overlap by its loops and its element size (docs/itensor.md). Only a type
    marked `overlapping` may pass data more than once along a dimension, as the
    windows of a convolution do; gaps are never allowed.

    ```mlir
    // the windows of 3x3 of an 8x10 image, one row of windows after the other
    !itensor.itensor<f32, [6, 8, 3, 3] * [1, 1, 1, 1], (d0, d1, d2, d3) -> (d0 + d2, d1 + d3), overlapping>
    ```

    A trip count may be an affine expression of run-time parameters, integers
    from 0 to the maximum that stands at their first use. Two types are
    compatible if their tokens are the same for all values.

    ```mlir
    // tensor<?x64xf32>: the rows of a cache and one more, four tokens each
    !itensor.itensor<1x16xf32, [past max 255 + 1, 4] * [1, 16], (d0, d1) -> (d0, d1)>
    ```
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t">:$elementShape,
    "::mlir::Type":$elementType,
    ArrayRefParameter<"int64_t">:$trips,
    ArrayRefParameter<"int64_t">:$steps,
    "::mlir::AffineMap":$map,
    // All trip counts, canonically spelled, when some are known at run time
    // only; `trips` are their upper bounds then. Else null.
    "::mlir::StringAttr":$runtimeTrips,
    "bool":$overlapping
  );
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let builders = [
    TypeBuilderWithInferredContext<(ins "::mlir::Type":$elementType,
                                    "const ::streamtensor::TokenOrder &":$order,
                                    CArg<"bool", "false">:$overlapping)>,
    TypeBuilderWithInferredContext<(ins "::mlir::Type":$elementType,
                                    "const ::streamtensor::SymbolicOrder &":$order,
                                    CArg<"bool", "false">:$overlapping)>
  ];
  let extraClassDeclaration = [{
    /// Whether no trip count depends on a run-time parameter.
    bool isStatic() const { return !getRuntimeTrips(); }
    /// The order of the tokens, as the MLIR-free structure that decides
    /// compatibility (Support/TokenOrder.h). Of a type that is not static: the
    /// order in which each trip count has its upper bound.
    ::streamtensor::TokenOrder getOrder() const;
    /// The order for all values of the parameters (Support/SymbolicOrder.h).
    ::streamtensor::SymbolicOrder getSymbolicOrder() const;
    /// Shape of the tensor that the tokens cover. A tensor of run-time size lies
    /// in the corner of the tensor of its largest size, which this is.
    ::llvm::SmallVector<int64_t> getTensorShape() const;
    /// The tensor type that the tokens cover.
    ::mlir::RankedTensorType getTensorType() const;
    /// Number of scalar elements in one token.
    int64_t getTokenElements() const;
    /// Width of one token in bits.
    int64_t getTokenBits() const;
    /// Number of tokens in one pass, revisits included; the upper bound where it
    /// depends on run-time parameters.
    int64_t getNumTokens() const;
    /// A scalar token has no element shape.
    bool hasScalarToken() const { return getElementShape().empty(); }
    /// What `itensor.read` yields: the element type for a scalar token, else a
    /// tensor of the token's shape (of rank 0 where the data has rank 0).
    ::mlir::Type getTokenType() const;
  }];
}

#endif // STREAMTENSOR_DIALECT_ITENSOR_IR_ITENSORBASE_TD
