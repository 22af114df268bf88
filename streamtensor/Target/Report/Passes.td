//===- Passes.td - Output of a design ----------------------*- tablegen -*-===//
//
// The pass that writes the files of a design.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_TARGET_REPORT_PASSES
#define STREAMTENSOR_TARGET_REPORT_PASSES

include "mlir/Pass/PassBase.td"

def WriteDesign : Pass<"st-write-design", "::mlir::ModuleOp"> {
  let summary = "Write the files of a design from phase `hls`";
  let description = [{
    Writes hls/kernel.cpp, interface.json, report.json, connectivity.cfg and
    Makefile into an existing directory. The module is not changed. Fails when
    an operation has no form in C++, the target is unknown, or a file cannot be
    written.

    ```mlir
    // streamtensor-opt --st-write-design="output-dir=out target=u55c" hls.mlir
    func.func @layer(%x: memref<8xf32> {dataflow.name = "arg0", dataflow.role = "input", ...}) attributes {hls.top} {
      ...
    // out/interface.json: {"schema": 1, "function": "layer", ...}
    ```
  }];
  let options = [
    Option<"outputDir", "output-dir", "std::string", "\".\"",
           "existing directory to write to">,
    Option<"target", "target", "std::string", "\"u55c\"",
           "key of the device">
  ];
}

#endif // STREAMTENSOR_TARGET_REPORT_PASSES
