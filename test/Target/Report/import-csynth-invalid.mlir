// Reports that are malformed or of another design.
// RUN: split-file %s %t
// RUN: not streamtensor-opt %t/hls.mlir --st-import-csynth="path=%t/none.xml target=u280" 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not streamtensor-opt %t/hls.mlir --st-import-csynth="path=%t/cut.xml target=u280" 2>&1 | FileCheck %s --check-prefix=CUT
// RUN: not streamtensor-opt %t/hls.mlir --st-import-csynth="path=%t/other.xml target=u280" 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not streamtensor-opt %t/hls.mlir --st-import-csynth="path=%t/good.xml target=u55c" 2>&1 | FileCheck %s --check-prefix=PART
// RUN: not streamtensor-opt %t/hls.mlir --st-import-csynth="path=%t/clock.xml target=u280" 2>&1 | FileCheck %s --check-prefix=CLOCK
// RUN: not streamtensor-opt %t/hls.mlir --st-import-csynth="path=%t/module.xml target=u280" 2>&1 | FileCheck %s --check-prefix=MODULE
// RUN: not streamtensor-opt %t/hls.mlir --st-import-csynth="path=%t/loop.xml target=u280" 2>&1 | FileCheck %s --check-prefix=LOOP
// RUN: not streamtensor-opt %t/hls.mlir --st-import-csynth="path=%t/trips.xml target=u280" 2>&1 | FileCheck %s --check-prefix=TRIPS
// RUN: not streamtensor-opt %t/hls.mlir --st-import-csynth="path=%t/number.xml target=u280" 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: not streamtensor-opt %t/hls.mlir --st-import-csynth="path=%t/huge.xml target=u280" 2>&1 | FileCheck %s --check-prefix=HUGE
// RUN: not streamtensor-opt %t/hls.mlir --st-import-csynth="path=%t/slow.xml target=u280" 2>&1 | FileCheck %s --check-prefix=SLOW
// RUN: not streamtensor-opt %t/hls.mlir --st-import-csynth="path=%t/reports target=u280" 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not streamtensor-opt %t/hls.mlir --st-import-csynth="path=%t/empty target=u280" 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: streamtensor-opt %t/hls.mlir --st-import-csynth="path=%t/good.xml target=u280" -o /dev/null

// NONE: synthesis reports: cannot read '{{.*}}none.xml': No such file or directory
// CUT: synthesis reports: {{.*}}cut.xml: expected XML but got, in line 2: start-end tags mismatch
// OTHER: synthesis reports: {{.*}}other.xml: expected a synthesis report with <profile> at its root
// PART: expected reports for part 'xcu55c-fsvh2892-2L-e' of target 'u55c' but got 'xcu280-fsvh2892-2L-e'
// CLOCK: expected reports for a clock of 300 MHz (3.33 ns) but got 5.00 ns
// MODULE: report of module 'thrice': expected a function of the design, one of 'twice', 'once'
// LOOP: report of loop 'row': expected one of 'scale'
// TRIPS: report of loop 'scale': expected 100 iterations but got 64; the report is of another design
// NUMBER: {{.*}}number.xml: expected a count in <LUT> of <Resources> but got 'many'
// HUGE: {{.*}}huge.xml: expected at most 1073741824 in <LUT> of <Resources> but got 9223372036854775807
// SLOW: {{.*}}slow.xml: expected at most 1125899906842624 in <Worst-caseLatency> of <SummaryOfOverallLatency> but got 9223372036854775807
// MISSING: expected a report of task 'once' among those of the whole design of 'twice'
// EMPTY: synthesis reports: expected csynth.xml or *_csynth.xml in '{{.*}}empty'

//--- empty/readme.txt
nothing
//--- hls.mlir
func.func private @twice(%x: !stream.stream<1xf32, 2>, %y: !stream.stream<1xf32, 2>) attributes {hls.task} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  scf.for %i = %c0 to %c100 step %c1 {
    %t = memref.alloc() : memref<1xf32>
    stream.read %x into %t : !stream.stream<1xf32, 2>, memref<1xf32>
    stream.write %t, %y : memref<1xf32>, !stream.stream<1xf32, 2>
  } {hls.label = "scale", hls.pipeline = #hls.pipeline<ii = 1>}
  return
}
func.func private @once(%x: !stream.stream<1xf32, 2>, %y: !stream.stream<1xf32, 2>) attributes {hls.task} {
  %t = memref.alloc() : memref<1xf32>
  stream.read %x into %t : !stream.stream<1xf32, 2>, memref<1xf32>
  stream.write %t, %y : memref<1xf32>, !stream.stream<1xf32, 2>
  return
}
//--- good.xml
<profile>
<UserAssignments><Part>xcu280-fsvh2892-2L-e</Part><TopModelName>twice</TopModelName><TargetClockPeriod>3.33</TargetClockPeriod></UserAssignments>
<PerformanceEstimates><SummaryOfOverallLatency><Worst-caseLatency>208</Worst-caseLatency></SummaryOfOverallLatency></PerformanceEstimates>
<AreaEstimates><Resources><BRAM_18K>0</BRAM_18K><DSP>3</DSP><FF>400</FF><LUT>250</LUT><URAM>0</URAM></Resources></AreaEstimates>
</profile>
//--- reports/twice_csynth.xml
<profile>
<UserAssignments><Part>xcu280-fsvh2892-2L-e</Part><TopModelName>twice</TopModelName><TargetClockPeriod>3.33</TargetClockPeriod></UserAssignments>
<PerformanceEstimates><SummaryOfOverallLatency><Worst-caseLatency>208</Worst-caseLatency></SummaryOfOverallLatency></PerformanceEstimates>
<AreaEstimates><Resources><BRAM_18K>0</BRAM_18K><DSP>3</DSP><FF>400</FF><LUT>250</LUT><URAM>0</URAM></Resources></AreaEstimates>
</profile>
//--- cut.xml
<profile>
<UserAssignments><Part>xcu280-fsvh2892-2L-e</Part>
//--- other.xml
<project><name>f</name></project>
//--- clock.xml
<profile>
<UserAssignments><Part>xcu280-fsvh2892-2L-e</Part><TopModelName>twice</TopModelName><TargetClockPeriod>5</TargetClockPeriod></UserAssignments>
<PerformanceEstimates><SummaryOfOverallLatency><Worst-caseLatency>208</Worst-caseLatency></SummaryOfOverallLatency></PerformanceEstimates>
<AreaEstimates><Resources><BRAM_18K>0</BRAM_18K><DSP>3</DSP><FF>400</FF><LUT>250</LUT></Resources></AreaEstimates>
</profile>
//--- module.xml
<profile>
<UserAssignments><Part>xcu280-fsvh2892-2L-e</Part><TopModelName>thrice</TopModelName><TargetClockPeriod>3.33</TargetClockPeriod></UserAssignments>
<PerformanceEstimates><SummaryOfOverallLatency><Worst-caseLatency>208</Worst-caseLatency></SummaryOfOverallLatency></PerformanceEstimates>
<AreaEstimates><Resources><BRAM_18K>0</BRAM_18K><DSP>3</DSP><FF>400</FF><LUT>250</LUT></Resources></AreaEstimates>
</profile>
//--- loop.xml
<profile>
<UserAssignments><Part>xcu280-fsvh2892-2L-e</Part><TopModelName>twice</TopModelName><TargetClockPeriod>3.33</TargetClockPeriod></UserAssignments>
<PerformanceEstimates><SummaryOfOverallLatency><Worst-caseLatency>208</Worst-caseLatency></SummaryOfOverallLatency>
<SummaryOfLoopLatency><row><TripCount>100</TripCount><PipelineII>2</PipelineII><PipelineDepth>9</PipelineDepth></row></SummaryOfLoopLatency></PerformanceEstimates>
<AreaEstimates><Resources><BRAM_18K>0</BRAM_18K><DSP>3</DSP><FF>400</FF><LUT>250</LUT></Resources></AreaEstimates>
</profile>
//--- trips.xml
<profile>
<UserAssignments><Part>xcu280-fsvh2892-2L-e</Part><TopModelName>twice</TopModelName><TargetClockPeriod>3.33</TargetClockPeriod></UserAssignments>
<PerformanceEstimates><SummaryOfOverallLatency><Worst-caseLatency>208</Worst-caseLatency></SummaryOfOverallLatency>
<SummaryOfLoopLatency><scale><TripCount>64</TripCount><PipelineII>2</PipelineII><PipelineDepth>9</PipelineDepth></scale></SummaryOfLoopLatency></PerformanceEstimates>
<AreaEstimates><Resources><BRAM_18K>0</BRAM_18K><DSP>3</DSP><FF>400</FF><LUT>250</LUT></Resources></AreaEstimates>
</profile>
//--- number.xml
<profile>
<UserAssignments><Part>xcu280-fsvh2892-2L-e</Part><TopModelName>twice</TopModelName><TargetClockPeriod>3.33</TargetClockPeriod></UserAssignments>
<PerformanceEstimates><SummaryOfOverallLatency><Worst-caseLatency>208</Worst-caseLatency></SummaryOfOverallLatency></PerformanceEstimates>
<AreaEstimates><Resources><BRAM_18K>0</BRAM_18K><DSP>3</DSP><FF>400</FF><LUT>many</LUT></Resources></AreaEstimates>
</profile>
//--- huge.xml
<profile>
<UserAssignments><Part>xcu280-fsvh2892-2L-e</Part><TopModelName>twice</TopModelName><TargetClockPeriod>3.33</TargetClockPeriod></UserAssignments>
<PerformanceEstimates><SummaryOfOverallLatency><Worst-caseLatency>208</Worst-caseLatency></SummaryOfOverallLatency></PerformanceEstimates>
<AreaEstimates><Resources><BRAM_18K>0</BRAM_18K><DSP>3</DSP><FF>400</FF><LUT>9223372036854775807</LUT></Resources></AreaEstimates>
</profile>
//--- slow.xml
<profile>
<UserAssignments><Part>xcu280-fsvh2892-2L-e</Part><TopModelName>twice</TopModelName><TargetClockPeriod>3.33</TargetClockPeriod></UserAssignments>
<PerformanceEstimates><SummaryOfOverallLatency><Worst-caseLatency>9223372036854775807</Worst-caseLatency></SummaryOfOverallLatency></PerformanceEstimates>
<AreaEstimates><Resources><BRAM_18K>0</BRAM_18K><DSP>3</DSP><FF>400</FF><LUT>250</LUT></Resources></AreaEstimates>
</profile>
