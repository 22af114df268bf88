//===- Passes.td - Output of a design ----------------------*- tablegen -*-===//
//
// Figures of synthesis, and the pass that writes the files of a design.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_TARGET_REPORT_PASSES
#define STREAMTENSOR_TARGET_REPORT_PASSES

include "mlir/Pass/PassBase.td"

def ImportCsynth : Pass<"st-import-csynth", "::mlir::ModuleOp"> {
  let summary = "Take figures of synthesis reports instead of estimates";
  let description = [{
    Reads the reports that Vitis HLS wrote for a design (csynth.xml,
    NAME_csynth.xml, or a directory with them) and sets `hls.csynth` on the
    functions and pipelined loops that they are of. Interval, depth, latency and
    resources in reports and networks are then these. Fails when the reports are
    malformed, for another part or clock than the target, or of another design.

    ```mlir
    // streamtensor-opt --st-import-csynth="path=syn/report target=u280" hls.mlir
    func.func private @scale(...) attributes {hls.task, hls.csynth = {bram18 = 0 : i64, dsp = 3 : i64, ff = 400 : i64, latency = 107 : i64, lut = 250 : i64, uram = 0 : i64}} {
      scf.for %i = %c0 to %c100 step %c1 {
        ...
      } {hls.csynth = {depth = 8 : i64, ii = 1 : i64}, hls.label = "loop0", hls.pipeline = #hls.pipeline<ii = 1>}
    ```
  }];
  let options = [
    Option<"path", "path", "std::string", "\"\"",
           "report, or directory of reports">,
    Option<"target", "target", "std::string", "\"u55c\"",
           "key of the device">
  ];
}

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
