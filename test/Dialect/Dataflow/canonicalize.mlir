// RUN: streamtensor-opt %s --canonicalize | FileCheck %s

!s = !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>

// A task that is nothing but one other task is that task; what only the outer one
// says is kept.
// CHECK-LABEL: func.func @one_inside
// CHECK-SAME: (%[[E:[^:]*]]: !itensor.itensor
func.func @one_inside(%e: !s, %x: f32) -> !s {
  // CHECK-NEXT: %[[Y:.*]] = dataflow.task "inner" inits(%[[O:.*]] = %[[E]]) : {{.*}} attributes {kind = "compute", source = "model.py:1"} {
  // CHECK-NEXT: %[[W:.*]] = itensor.write %{{.*}} into %[[O]]
  // CHECK-NEXT: dataflow.yield %[[W]]
  // CHECK-NEXT: }
  // CHECK-NEXT: return %[[Y]]
  %y = dataflow.task "outer" inits(%o = %e) : (!s) attributes {kind = "join", source = "model.py:1"} {
    %i = dataflow.task "inner" inits(%p = %o) : (!s) attributes {kind = "compute"} {
      %w = itensor.write %x into %p : f32, !s
      dataflow.yield %w : !s
    }
    dataflow.yield %i : !s
  }
  return %y : !s
}

// Two tasks are a hierarchy, and so is a task beside an access.
// CHECK-LABEL: func.func @hierarchy
func.func @hierarchy(%e: !s, %x: f32) -> (!s, !s) {
  // CHECK: dataflow.task "two"
  // CHECK: dataflow.task "a"
  // CHECK: dataflow.task "b"
  %y = dataflow.task "two" inits(%o = %e) : (!s) {
    %i = itensor.empty : !s
    %a = dataflow.task "a" inits(%p = %i) : (!s) {
      %w = itensor.write %x into %p : f32, !s
      dataflow.yield %w : !s
    }
    %b = dataflow.task "b" inits(%p = %o) : (!s) {
      %v = itensor.read %a : !s -> f32
      %w = itensor.write %v into %p : f32, !s
      dataflow.yield %w : !s
    }
    dataflow.yield %b : !s
  }
  // CHECK: dataflow.task "beside"
  // CHECK: dataflow.task "c"
  %z = dataflow.task "beside" inits(%o = %e) : (!s) {
    %v = itensor.read %y : !s -> f32
    %c = dataflow.task "c" inits(%p = %o) : (!s) {
      %w = itensor.write %v into %p : f32, !s
      dataflow.yield %w : !s
    }
    dataflow.yield %c : !s
  }
  return %y, %z : !s, !s
}
