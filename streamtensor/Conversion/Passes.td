//===- Passes.td - Conversion passes -----------------------*- tablegen -*-===//
//
// The passes from one level of the compiler to the next, in pipeline order.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_CONVERSION_PASSES
#define STREAMTENSOR_CONVERSION_PASSES

include "mlir/Pass/PassBase.td"

def DataflowToStream : Pass<"st-dataflow-to-stream", "::mlir::ModuleOp"> {
  let summary = "Bufferize tasks: itensors become FIFOs, tensors arrays";
  let description = [{
    From phase `allocated` to phase `stream`. Every `itensor.instance` becomes a
    `stream.stream` of its depth, every chain of itensors that is carried
    through loops and tasks one handle of that stream. Tensors inside tasks are
    bufferized in place (one-shot analysis): tokens become small
    `memref.alloc`, accumulators and converter buffers become `stream.buffer` at
    the start of their task. Linalg operations on tiles and copies become
    `scf.for` loops with loads and stores; lanes stand innermost and carry
    `hls.unroll`, loops of one iteration are not created.

    It fails, on the operation, when a tensor larger than a token cannot be
    updated in place, when a token is wider than 4096 bits, when a FIFO does not
    have one writer and one reader, or when a task contains an operation that
    has no meaning on streams.

    ```mlir
    %s = itensor.instance "load_x_out" depth 2 : !X
    %y = dataflow.task "relu" inits(%o = %d) : (!Y) {
      %e = tensor.empty() : tensor<1xf32>
      %t = itensor.read %s init(%e : tensor<1xf32>) : !X -> tensor<1xf32>
      %w = itensor.write %t into %o : tensor<1xf32>, !Y
      dataflow.yield %w : !Y
    }
    // becomes
    %s = stream.stream "load_x_out" tokens 8 : !stream.stream<1xf32, 2>
    dataflow.task "relu" {
      %t = memref.alloc() : memref<1xf32>
      stream.read %s into %t : !stream.stream<1xf32, 2>, memref<1xf32>
      stream.write %t, %d : memref<1xf32>, !stream.stream<1xf32, 2>
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::bufferization::BufferizationDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::streamtensor::hls::HLSDialect", "::streamtensor::stream::StreamDialect"
  ];
}

def StreamToHLS : Pass<"st-stream-to-hls", "::mlir::ModuleOp"> {
  let summary = "Outline tasks to functions and attach directives";
  let description = [{
    From phase `stream` to phase `hls`. Every task becomes a private function
    marked `hls.task`, every kernel a private function marked `hls.dataflow`
    that declares the streams, starts the tasks and joins them, and the public
    function the top function (`hls.top`): memory between kernels becomes an
    argument of it. Directives are decided here, so that printing C++ decides
    nothing: `hls.pipeline` on the innermost loop that is not unrolled, with the
    initiation interval that the distance of a carried sum allows,
    `hls.partition` of the dimensions that unrolled loops index,
    `hls.storage` by size, `hls.interface` with one bundle per argument (shared
    beyond `max-bundles`), names and labels.

    A run-time parameter of the public function (`dataflow.parameters`) becomes
    an argument of type index behind its memory arguments, which groups and those
    tasks get that need it; each `dataflow.trip_count` becomes arithmetic on
    them, and loops up to one get `hls.trip_count`, the bounds for a report. It
    fails for a parameter without a range, or with values beyond its memory.

    ```mlir
    dataflow.kernel "group0" (%m = %arg0 : memref<8xf32>) {
      %s = stream.stream "load_x_out" : !stream.stream<1xf32, 2>
      dataflow.task "load_x" attributes {kind = "dma_in"} { ... }
    }
    // becomes
    func.func private @load_x(%m: memref<8xf32>, %out: !stream.stream<1xf32, 2>) attributes {hls.task, kind = "dma_in"}
    func.func private @group0(%m: memref<8xf32>) attributes {hls.dataflow} {
      %s = stream.stream "load_x_out" : !stream.stream<1xf32, 2>
      hls.task @load_x(%m, %s) : memref<8xf32>, !stream.stream<1xf32, 2>
      hls.join
      return
    }
    ```
  }];
  let options = [
    Option<"maxBundles", "max-bundles", "unsigned", "31",
           "AXI ports of the top function; further arguments share them">,
    Option<"burst", "burst-beats", "unsigned", "64",
           "longest burst of a port in beats">
  ];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::func::FuncDialect",
    "::streamtensor::hls::HLSDialect", "::streamtensor::stream::StreamDialect"
  ];
}

def SplitConverters : Pass<"st-split-converters", "::mlir::ModuleOp"> {
  let summary = "Let converters fill one half of their buffer while they drain the other";
  let description = [{
    Within phase `hls`. A task function with a ping-pong buffer runs a loop over
    segments whose body fills the buffer and then drains it. Both halves of the
    body become functions (`hls.stage`) and the loop a dataflow loop
    (`hls.dataflow`) around the buffer, which a synthesis tool doubles. Run in
    order, nothing changes. A task of another form, also one whose segments are
    in two nested loops (of sizes that are known at run time only), stays as it
    is: it is correct, and filling waits for draining.

    ```mlir
    scf.for %segment = %c0 to %c4 step %c1 {
      ... memref.store ... %buffer
      ... memref.load ... %buffer
    }
    // becomes
    scf.for %segment = %c0 to %c4 step %c1 {
      %buffer = stream.buffer "buffer" ping_pong : memref<8xf32>
      func.call @converter_0_fill(%in, %buffer) : (!stream.stream<8xf32, 2>, memref<8xf32>) -> ()
      func.call @converter_0_drain(%buffer, %out) : (memref<8xf32>, !stream.stream<1xf32, 2>) -> ()
    } {hls.dataflow}
    ```
  }];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

def NarrowStorage : Pass<"st-narrow-storage", "::mlir::ModuleOp"> {
  let summary = "Store sums of integers in the bits that they need";
  let description = [{
    Within phase `hls`, for tasks with `dataflow.bits`: their accumulators, the
    FIFO that they write, and what forks and converters keep of it get elements
    of as many bits. What is stored is truncated, what is loaded extended.
    Nothing changes where another task writes to the same FIFO without a bound.

    ```mlir
    func.func private @sum(%in: !stream.stream<16xi8, 2>, %out: !stream.stream<i32, 2>)
        attributes {dataflow.bits = 17 : i64}
    // becomes
    func.func private @sum(%in: !stream.stream<16xi8, 2>, %out: !stream.stream<i17, 2>)
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def RepeatLayers : Pass<"st-repeat-layers", "::mlir::ModuleOp"> {
  let summary = "Run one layer after the other in one launch";
  let description = [{
    Within phase `hls`, for a top function with `dataflow.repeat`: its design is
    one layer of a model, and becomes one that runs 1 to `count` of them.

    - The top function gets the parameter, a run-time size. The body of the
      dataflow function is repeated as often (`hls.repeat`); its tasks are told
      the layer (`hls.iteration`) where they need it.
    - Memory arguments get an outermost dimension over the layers, but for the
      hidden state and those in `shared`, which all layers use.
    - The hidden state of the first layer comes from memory, that of each other
      one through a stream from the end of the layer before (`hls.feedback`),
      which holds a whole one. The result in memory has those of all layers.

    It fails where the design has more than one dataflow function, which device
    memory connects, or where the hidden state does not leave a layer row by
    row, as it enters one.

    ```mlir
    func.func @layer(...) attributes {dataflow.repeat = {
        parameter = "layers", count = 30 : i64, argument = "arg9",
        result = "result0", shared = ["arg11"]}}
    ```
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::streamtensor::hls::HLSDialect", "::streamtensor::stream::StreamDialect"
  ];
}

#endif // STREAMTENSOR_CONVERSION_PASSES
