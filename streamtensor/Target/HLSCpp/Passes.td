//===- Passes.td - Emission of HLS C++ ---------------------*- tablegen -*-===//
//
// The pass that prints a module as HLS C++.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_TARGET_HLSCPP_PASSES
#define STREAMTENSOR_TARGET_HLSCPP_PASSES

include "mlir/Pass/PassBase.td"

def EmitHLSCpp : Pass<"st-emit-hls-cpp", "::mlir::ModuleOp"> {
  let summary = "Print phase `hls` as HLS C++";
  let description = [{
    Writes the module to a file (`-`: standard output) as C++ for Vitis HLS,
    which is also the text that the simulation compiles. The module is not
    changed. An operation without a form in C++ is an error on that operation;
    nothing is written then.

    ```mlir
    func.func private @load_x(%m: memref<8xf32> {hls.name = "x", hls.direction = "in"}, %s: !stream.stream<1xf32, 2> {hls.name = "out", hls.direction = "out"}) attributes {hls.task} {
      ...
    // prints
    // static void load_x(const float *x, hls::stream<float> &out) {
    // load_x_loop0:
    //   for (int i0 = 0; i0 < 8; ++i0) {
    // #pragma HLS pipeline II=1
    //     out.write(x[i0]);
    //   }
    // }
    ```
  }];
  let options = [Option<"output", "output", "std::string", "\"-\"",
                        "file to write, - for standard output">];
}

#endif // STREAMTENSOR_TARGET_HLSCPP_PASSES
