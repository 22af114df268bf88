//===- HLSBase.td - hls dialect and attributes -*- tablegen -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The hls dialect: what a synthesis tool is told about loops, arrays and
// ports (Vitis HLS user guide UG1399). Emission only prints these.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_DIALECT_HLS_IR_HLSBASE_TD
#define STREAMTENSOR_DIALECT_HLS_IR_HLSBASE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"

def HLS_Dialect : Dialect {
  let name = "hls";
  let cppNamespace = "::streamtensor::hls";
  let summary = "Pragmas of high-level synthesis, and the calls of a dataflow region";
  let description = [{
    Attributes stand on loops (`hls.pipeline`, `hls.unroll`, `hls.trip_count`,
    `hls.label`), on allocations (`hls.partition`, `hls.storage`, `hls.name`)
    and on the arguments of the top function (`hls.interface`).
  }];
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
  }];
}

class HLS_Attr<string name, string attrMnemonic> : AttrDef<HLS_Dialect, name> {
  let mnemonic = attrMnemonic;
}

def HLS_PipelineAttr : HLS_Attr<"Pipeline", "pipeline"> {
  let summary = "the loop is pipelined with this initiation interval";
  let description = [{
    ```mlir
    #hls.pipeline<ii = 1>
    ```
  }];
  let parameters = (ins "int64_t":$ii);
  let assemblyFormat = "`<` `ii` `=` $ii `>`";
}

def HLS_UnrollAttr : HLS_Attr<"Unroll", "unroll"> {
  let summary = "the loop is unrolled by this factor; 0 means completely";
  let description = [{
    ```mlir
    #hls.unroll<factor = 0>
    ```
  }];
  let parameters = (ins "int64_t":$factor);
  let assemblyFormat = "`<` `factor` `=` $factor `>`";
}

def HLS_TripCountAttr : HLS_Attr<"TripCount", "trip_count"> {
  let summary = "bounds of the trip count of a loop that runs to a run-time count";
  let description = [{
    Least and largest number of iterations. On every `scf.for` whose upper bound
    is no constant; it says to reports how long the loop can be, and changes
    nothing in the hardware.

    ```mlir
    #hls.trip_count<min = 1, max = 128>
    ```
  }];
  let parameters = (ins "int64_t":$min, "int64_t":$max);
  let assemblyFormat = "`<` `min` `=` $min `,` `max` `=` $max `>`";
}

def HLS_PartitionAttr : HLS_Attr<"Partition", "partition"> {
  let summary = "the array is split into banks along one dimension";
  let description = [{
    `kind` is `complete`, `cyclic` or `block`; `dim` counts from 1 as in the
    pragma; `factor` is 0 for `complete`.

    ```mlir
    #hls.partition<kind = "cyclic", factor = 16, dim = 2>
    ```
  }];
  let parameters = (ins StringRefParameter<"kind">:$kind, "int64_t":$factor,
                        "int64_t":$dim);
  let assemblyFormat = [{
    `<` `kind` `=` $kind `,` `factor` `=` $factor `,` `dim` `=` $dim `>`
  }];
}

def HLS_StorageAttr : HLS_Attr<"Storage", "storage"> {
  let summary = "which memory holds the array";
  let description = [{
    `type` is `ram_2p`, `ram_s2p` ...; `memory` is `lutram`, `bram` or `uram`.

    ```mlir
    #hls.storage<type = "ram_2p", impl = "bram">
    ```
  }];
  let parameters = (ins StringRefParameter<"type">:$type,
                        StringRefParameter<"memory">:$memory);
  let assemblyFormat = "`<` `type` `=` $type `,` `impl` `=` $memory `>`";
}

def HLS_InterfaceAttr : HLS_Attr<"Interface", "interface"> {
  let summary = "a memory port of the top function";
  let description = [{
    An `m_axi` port in a bundle of its own, with the number of elements behind
    it (`depth`, needed by co-simulation) and the longest burst in beats.

    ```mlir
    #hls.interface<bundle = "gmem0", depth = 576, burst = 64>
    ```
  }];
  let parameters = (ins StringRefParameter<"bundle">:$bundle, "int64_t":$depth,
                        "int64_t":$burst);
  let assemblyFormat = [{
    `<` `bundle` `=` $bundle `,` `depth` `=` $depth `,` `burst` `=` $burst `>`
  }];
}

#endif // STREAMTENSOR_DIALECT_HLS_IR_HLSBASE_TD
