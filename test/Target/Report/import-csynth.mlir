// Reports in the format of Vitis HLS 2023.2: of a whole design, of one module,
// and a directory of modules.
// RUN: split-file %s %t
// RUN: streamtensor-opt %t/hls.mlir --st-import-csynth="path=%t/whole.xml target=u280" | FileCheck %t/hls.mlir
// RUN: streamtensor-opt %t/hls.mlir --st-import-csynth="path=%t/reports target=u280" | FileCheck %t/hls.mlir
// RUN: streamtensor-opt %t/hls.mlir --st-import-csynth="path=%t/reports/twice_csynth.xml target=u280" | FileCheck %t/hls.mlir --check-prefix=ONE

//--- hls.mlir

// One module says nothing of the others.
// ONE-LABEL: func.func private @twice
// ONE-SAME: hls.csynth = {bram18 = 0 : i64, dsp = 3 : i64, ff = 400 : i64, latency = 208 : i64, lut = 250 : i64, uram = 0 : i64}
// ONE: hls.csynth = {depth = 9 : i64, ii = 2 : i64}
// ONE-LABEL: func.func private @both
// ONE-NOT: hls.csynth

// CHECK-LABEL: func.func private @twice
// CHECK-SAME: hls.csynth = {bram18 = 0 : i64, dsp = 3 : i64, ff = 400 : i64, latency = 208 : i64, lut = 250 : i64, uram = 0 : i64}
// The loop of one iteration around it has been dropped.
// CHECK: {hls.csynth = {depth = 9 : i64, ii = 2 : i64}, hls.label = "scale"
func.func private @twice(%x: !stream.stream<1xf32, 2>, %y: !stream.stream<1xf32, 2>) attributes {hls.task} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  scf.for %j = %c0 to %c1 step %c1 {
    scf.for %i = %c0 to %c100 step %c1 {
      %t = memref.alloc() : memref<1xf32>
      stream.read %x into %t : !stream.stream<1xf32, 2>, memref<1xf32>
      stream.write %t, %y : memref<1xf32>, !stream.stream<1xf32, 2>
    } {hls.label = "scale", hls.pipeline = #hls.pipeline<ii = 1>}
  } {hls.label = "rows"}
  return
}

// Latency that the report does not know stays estimated.
// CHECK-LABEL: func.func private @both
// CHECK-SAME: hls.csynth = {bram18 = 4 : i64, dsp = 0 : i64, ff = 10 : i64, lut = 20 : i64, uram = 1 : i64}
// Modules of loops; the outer loop of a flattened one comes first in its name.
// CHECK: {hls.csynth = {depth = 4 : i64, ii = 1 : i64}, hls.label = "inner"
// CHECK: {hls.csynth = {depth = 5 : i64, ii = 1 : i64}, hls.label = "last"
func.func private @both(%x: !stream.stream<1xf32, 2>, %y: !stream.stream<1xf32, 2>) attributes {hls.task} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c10 = arith.constant 10 : index
  scf.for %j = %c0 to %c8 step %c1 {
    scf.for %i = %c0 to %c10 step %c1 {
      %t = memref.alloc() : memref<1xf32>
      stream.read %x into %t : !stream.stream<1xf32, 2>, memref<1xf32>
      stream.write %t, %y : memref<1xf32>, !stream.stream<1xf32, 2>
    } {hls.label = "inner", hls.pipeline = #hls.pipeline<ii = 1>}
  } {hls.label = "outer"}
  scf.for %i = %c0 to %c10 step %c1 {
    %t = memref.alloc() : memref<1xf32>
    stream.read %x into %t : !stream.stream<1xf32, 2>, memref<1xf32>
    stream.write %t, %y : memref<1xf32>, !stream.stream<1xf32, 2>
  } {hls.label = "last", hls.pipeline = #hls.pipeline<ii = 1>}
  return
}

//--- whole.xml
<profile>
<UserAssignments><unit>ns</unit><Part>xcu280-fsvh2892-2L-e</Part><TopModelName>twice</TopModelName><TargetClockPeriod>3.33</TargetClockPeriod></UserAssignments>
<PerformanceEstimates><SummaryOfOverallLatency><Worst-caseLatency>undef</Worst-caseLatency></SummaryOfOverallLatency></PerformanceEstimates>
<AreaEstimates><Resources><BRAM_18K>4</BRAM_18K><DSP>3</DSP><FF>500</FF><LUT>600</LUT><URAM>1</URAM></Resources></AreaEstimates>
<RTLDesignHierarchy><TopModule><ModuleName>twice</ModuleName><InstancesList>
<Instance><InstName>grp_scale</InstName><ModuleName>generic_fmax_float_s</ModuleName></Instance>
</InstancesList></TopModule></RTLDesignHierarchy>
<ModuleInformation>
<Module><Name>generic_fmax_float_s</Name>
<PerformanceEstimates><SummaryOfOverallLatency><Worst-caseLatency>0</Worst-caseLatency></SummaryOfOverallLatency></PerformanceEstimates>
<AreaEstimates><Resources><BRAM_18K>0</BRAM_18K><DSP>0</DSP><FF>0</FF><LUT>373</LUT></Resources></AreaEstimates></Module>
<Module><Name>twice</Name>
<PerformanceEstimates><SummaryOfOverallLatency><Worst-caseLatency>208</Worst-caseLatency></SummaryOfOverallLatency>
<SummaryOfLoopLatency><scale><Name>scale</Name><TripCount>100</TripCount><Latency>206</Latency><PipelineII>2</PipelineII><PipelineDepth>9</PipelineDepth></scale></SummaryOfLoopLatency></PerformanceEstimates>
<AreaEstimates><Resources><BRAM_18K>0</BRAM_18K><DSP>3</DSP><FF>400</FF><LUT>250</LUT><URAM>0</URAM></Resources></AreaEstimates></Module>
<Module><Name>both_Pipeline_outer_inner</Name>
<PerformanceEstimates><SummaryOfOverallLatency><Worst-caseLatency>84</Worst-caseLatency></SummaryOfOverallLatency>
<SummaryOfLoopLatency><outer_inner><Name>outer_inner</Name><TripCount>80</TripCount><PipelineII>1</PipelineII><PipelineDepth>4</PipelineDepth></outer_inner></SummaryOfLoopLatency></PerformanceEstimates>
<AreaEstimates><Resources><BRAM_18K>0</BRAM_18K><DSP>0</DSP><FF>5</FF><LUT>10</LUT></Resources></AreaEstimates></Module>
<Module><Name>both_Pipeline_last</Name>
<PerformanceEstimates><SummaryOfOverallLatency><Worst-caseLatency>16</Worst-caseLatency></SummaryOfOverallLatency>
<SummaryOfLoopLatency><last><Name>last</Name><TripCount><range><min>0</min><max>10</max></range></TripCount><PipelineII>1</PipelineII><PipelineDepth>5</PipelineDepth></last></SummaryOfLoopLatency></PerformanceEstimates>
<AreaEstimates><Resources><BRAM_18K>0</BRAM_18K><DSP>0</DSP><FF>5</FF><LUT>10</LUT></Resources></AreaEstimates></Module>
<Module><Name>both</Name>
<PerformanceEstimates><SummaryOfOverallLatency><Worst-caseLatency>?</Worst-caseLatency></SummaryOfOverallLatency></PerformanceEstimates>
<AreaEstimates><Resources><BRAM_18K>4</BRAM_18K><DSP>0</DSP><FF>10</FF><LUT>20</LUT><URAM>1</URAM></Resources></AreaEstimates></Module>
</ModuleInformation>
</profile>
//--- reports/twice_csynth.xml
<profile>
<UserAssignments><Part>xcu280-fsvh2892-2L-e</Part><TopModelName>twice</TopModelName><TargetClockPeriod>3.33</TargetClockPeriod></UserAssignments>
<PerformanceEstimates><SummaryOfOverallLatency><Worst-caseLatency>208</Worst-caseLatency></SummaryOfOverallLatency>
<SummaryOfLoopLatency><scale><TripCount>100</TripCount><PipelineII>2</PipelineII><PipelineDepth>9</PipelineDepth><InstanceList/></scale></SummaryOfLoopLatency></PerformanceEstimates>
<AreaEstimates><Resources><BRAM_18K>0</BRAM_18K><DSP>3</DSP><FF>400</FF><LUT>250</LUT><URAM>0</URAM></Resources></AreaEstimates>
</profile>
//--- reports/both_csynth.xml
<profile>
<UserAssignments><Part>xcu280-fsvh2892-2L-e</Part><TopModelName>both</TopModelName><TargetClockPeriod>3.33</TargetClockPeriod></UserAssignments>
<PerformanceEstimates><SummaryOfOverallLatency><Worst-caseLatency>undef</Worst-caseLatency></SummaryOfOverallLatency></PerformanceEstimates>
<AreaEstimates><Resources><BRAM_18K>4</BRAM_18K><DSP>0</DSP><FF>10</FF><LUT>20</LUT><URAM>1</URAM></Resources></AreaEstimates>
</profile>
//--- reports/both_Pipeline_outer_inner_csynth.xml
<profile>
<UserAssignments><Part>xcu280-fsvh2892-2L-e</Part><TopModelName>both_Pipeline_outer_inner</TopModelName><TargetClockPeriod>3.33</TargetClockPeriod></UserAssignments>
<PerformanceEstimates><SummaryOfOverallLatency><Worst-caseLatency>84</Worst-caseLatency></SummaryOfOverallLatency>
<SummaryOfLoopLatency><outer_inner><TripCount>80</TripCount><PipelineII>1</PipelineII><PipelineDepth>4</PipelineDepth></outer_inner></SummaryOfLoopLatency></PerformanceEstimates>
<AreaEstimates><Resources><BRAM_18K>0</BRAM_18K><DSP>0</DSP><FF>5</FF><LUT>10</LUT></Resources></AreaEstimates>
</profile>
//--- reports/both_Pipeline_last_csynth.xml
<profile>
<UserAssignments><Part>xcu280-fsvh2892-2L-e</Part><TopModelName>both_Pipeline_last</TopModelName><TargetClockPeriod>3.33</TargetClockPeriod></UserAssignments>
<PerformanceEstimates><SummaryOfOverallLatency><Worst-caseLatency>16</Worst-caseLatency></SummaryOfOverallLatency>
<SummaryOfLoopLatency><last><TripCount>10</TripCount><PipelineII>1</PipelineII><PipelineDepth>5</PipelineDepth></last></SummaryOfLoopLatency></PerformanceEstimates>
<AreaEstimates><Resources><BRAM_18K>0</BRAM_18K><DSP>0</DSP><FF>5</FF><LUT>10</LUT></Resources></AreaEstimates>
</profile>
