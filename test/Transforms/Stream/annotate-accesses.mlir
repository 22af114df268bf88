// RUN: split-file %s %t
// RUN: streamtensor-opt --st-annotate-accesses %t/valid.mlir | FileCheck %s
// RUN: streamtensor-opt --st-annotate-accesses --split-input-file --verify-diagnostics %t/invalid.mlir

//--- valid.mlir
!X = !itensor.itensor<1xf32, [12] * [1], (d0) -> (d0)>
!G = !itensor.itensor<1x1xf32, [3, 4] * [1, 1], (d0, d1) -> (d0, d1)>
!H = !itensor.itensor<1x1xf32, [3, 2] * [1, 1], (d0, d1) -> (d0, d1)>

// Casts and reassociations are other names of a FIFO. The slice takes columns
// 1 and 2 of 4; the condition may be spelled in several ways. The loop of 6
// counts from 2 to 14 in steps of 2.
// CHECK-LABEL: func.func @slice
// CHECK: dataflow.task "load_x"{{.*}}dataflow.accesses = "write load_x_out * 12"
// CHECK: dataflow.task "slice"{{.*}}dataflow.accesses = "loop 3 { loop 4 { read load_x_out; if ((1 <= i1) and (i1 < 3)) { write slice_out } } }"
// CHECK: dataflow.task "half"{{.*}}dataflow.accesses = "loop 6 { read slice_out; if ((((i0 * 2) + 2) + -6) u< 4) { write half_out } else { write half_rest } }"
// CHECK: dataflow.task "store"{{.*}}dataflow.accesses = "read half_out * 2; read half_rest * 4"
func.func @slice() {
  dataflow.kernel "group0" () {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c6 = arith.constant 6 : index
    %c12 = arith.constant 12 : index
    %c14 = arith.constant 14 : index
    %ex = itensor.empty : !X
    %eh = itensor.empty : !H
    %x = dataflow.task "load_x" inits(%o = %ex) : (!X) {
      %r = scf.for %i = %c0 to %c12 step %c1 iter_args(%p = %o) -> (!X) {
        %t = tensor.empty() : tensor<1xf32>
        %q = itensor.write %t into %p : tensor<1xf32>, !X
        scf.yield %q : !X
      }
      dataflow.yield %r : !X
    }
    %g = itensor.reassociate %x : !X to !G
    %s = dataflow.task "slice" inits(%o = %eh) : (!H) {
      %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%p = %o) -> (!H) {
        %u = scf.for %j = %c0 to %c4 step %c1 iter_args(%v = %p) -> (!H) {
          %n = tensor.empty() : tensor<1x1xf32>
          %t = itensor.read %g init(%n : tensor<1x1xf32>) : !G -> tensor<1x1xf32>
          %low = arith.cmpi sge, %j, %c1 : index
          %high = arith.cmpi slt, %j, %c3 : index
          %in = arith.andi %low, %high : i1
          %w = scf.if %in -> (!H) {
            %q = itensor.write %t into %v : tensor<1x1xf32>, !H
            scf.yield %q : !H
          } else {
            scf.yield %v : !H
          }
          scf.yield %w : !H
        }
        scf.yield %u : !H
      }
      dataflow.yield %r : !H
    }
    %a = itensor.instance "half_out" depth 2 : !H
    %b = itensor.instance "half_rest" depth 2 : !H
    %h:2 = dataflow.task "half" inits(%o = %a, %o2 = %b) : (!H, !H) {
      %r:2 = scf.for %i = %c2 to %c14 step %c2 iter_args(%p = %o, %p2 = %o2) -> (!H, !H) {
        %n = tensor.empty() : tensor<1x1xf32>
        %t = itensor.read %s init(%n : tensor<1x1xf32>) : !H -> tensor<1x1xf32>
        %offset = affine.apply affine_map<(d0) -> (d0 - 6)>(%i)
        %in = arith.cmpi ult, %offset, %c4 : index
        %w:2 = scf.if %in -> (!H, !H) {
          %q = itensor.write %t into %p : tensor<1x1xf32>, !H
          scf.yield %q, %p2 : !H, !H
        } else {
          %q = itensor.write %t into %p2 : tensor<1x1xf32>, !H
          scf.yield %p, %q : !H, !H
        }
        scf.yield %w#0, %w#1 : !H, !H
      }
      dataflow.yield %r#0, %r#1 : !H, !H
    }
    dataflow.task "store" {
      %n = tensor.empty() : tensor<1x1xf32>
      scf.for %i = %c0 to %c2 step %c1 {
        %t = itensor.read %h#0 init(%n : tensor<1x1xf32>) : !H -> tensor<1x1xf32>
      }
      scf.for %i = %c0 to %c4 step %c1 {
        %t = itensor.read %h#1 init(%n : tensor<1x1xf32>) : !H -> tensor<1x1xf32>
      }
      dataflow.yield
    }
    dataflow.yield
  }
  return
}

//--- invalid.mlir
!X = !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>
func.func @data_dependent() {
  dataflow.kernel "group0" () {
    %zero = arith.constant 0.0 : f32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %e = itensor.empty : !X
    %x = dataflow.task "load_x" inits(%o = %e) : (!X) {
      %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%p = %o) -> (!X) {
        %q = itensor.write %zero into %p : f32, !X
        scf.yield %q : !X
      }
      dataflow.yield %r : !X
    }
    dataflow.task "filter" {
      scf.for %i = %c0 to %c8 step %c1 {
        %t = itensor.read %x : !X -> f32
        %positive = arith.cmpf ogt, %t, %zero : f32
        // expected-error @below {{expected a condition on induction variables only around fifo accesses, because which accesses follow each other must not depend on data}}
        scf.if %positive {
          %u = itensor.read %x : !X -> f32
        }
      }
      dataflow.yield
    }
    dataflow.yield
  }
  return
}

// -----

!X = !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>
func.func @dynamic_bound(%n: index) {
  dataflow.kernel "group0" (%m: index = %n : index) {
    %zero = arith.constant 0.0 : f32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %e = itensor.empty : !X
    %x = dataflow.task "load_x" inits(%o = %e) : (!X) {
      // expected-error @below {{expected constant bounds around fifo accesses, and a positive step}}
      %r = scf.for %i = %c0 to %m step %c1 iter_args(%p = %o) -> (!X) {
        %q = itensor.write %zero into %p : f32, !X
        scf.yield %q : !X
      }
      dataflow.yield %r : !X
    }
    dataflow.yield
  }
  return
}

// -----

!X = !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>
!Y = !itensor.itensor<f32, [2, 8] * [1, 1], (d0, d1) -> (d1)>
func.func @converter_left(%arg: memref<8xf32>) {
  dataflow.kernel "group0" () {
    %zero = arith.constant 0.0 : f32
    %e = itensor.empty : !X
    %x = dataflow.task "load_x" inits(%o = %e) : (!X) {
      dataflow.yield %o : !X
    }
    // expected-error @below {{expected converters and forks to be tasks before their accesses are analyzed}}
    %y = itensor.converter %x : !X to !Y
    dataflow.yield
  }
  return
}

// -----

!X = !itensor.itensor<f32, [1] * [1], (d0) -> (d0)>
func.func @mixed_up() {
  dataflow.kernel "group0" () {
    %zero = arith.constant 0.0 : f32
    %e = itensor.empty : !X
    %x:2 = dataflow.task "load_x" inits(%o = %e, %p = %e) : (!X, !X) {
      // expected-error @below {{expected result 0 to be a state of its own init but got one of fifo 'load_x_out1'}}
      dataflow.yield %p, %o : !X, !X
    }
    dataflow.yield
  }
  return
}

// -----

!X = !itensor.itensor<f32, [1] * [1], (d0) -> (d0)>
func.func @not_a_fifo() {
  dataflow.kernel "group0" () {
    %zero = arith.constant 0.0 : f32
    // expected-note @below {{it is defined here}}
    %e = itensor.empty : !X
    dataflow.task "load_x" {
      // expected-error @below {{expected the destination to be the result of a task or a destination of this one, possibly through casts}}
      %q = itensor.write %zero into %e : f32, !X
      dataflow.yield
    }
    dataflow.yield
  }
  return
}

// -----

!X = !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>
// A branch that goes on with one FIFO or with another.
func.func @two_fifos() {
  dataflow.kernel "group0" () {
    %zero = arith.constant 0.0 : f32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %e = itensor.instance "e_out" depth 2 : !X
    %f = itensor.instance "f_out" depth 2 : !X
    %x:2 = dataflow.task "load" inits(%o = %e, %p = %f) : (!X, !X) {
      %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%a = %o) -> (!X) {
        %first = arith.cmpi slt, %i, %c4 : index
        // expected-error @below {{expected both branches to yield one fifo but got 'e_out' and 'f_out'}}
        %w = scf.if %first -> (!X) {
          %q = itensor.write %zero into %a : f32, !X
          scf.yield %q : !X
        } else {
          %q = itensor.write %zero into %p : f32, !X
          scf.yield %q : !X
        }
        scf.yield %w : !X
      }
      dataflow.yield %r, %p : !X, !X
    }
    dataflow.yield
  }
  return
}

// -----

!X = !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>
// How often a while loop runs depends on data.
func.func @while() {
  dataflow.kernel "group0" () {
    %zero = arith.constant 0.0 : f32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %e = itensor.empty : !X
    %x = dataflow.task "load_x" inits(%o = %e) : (!X) {
      %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%p = %o) -> (!X) {
        %q = itensor.write %zero into %p : f32, !X
        scf.yield %q : !X
      }
      dataflow.yield %r : !X
    }
    dataflow.task "reader" {
      // expected-error @below {{expected only scf.for and scf.if around fifo accesses}}
      %t = scf.while (%v = %zero) : (f32) -> f32 {
        %positive = arith.cmpf oge, %v, %zero : f32
        scf.condition(%positive) %v : f32
      } do {
      ^bb0(%v: f32):
        %u = itensor.read %x : !X -> f32
        scf.yield %u : f32
      }
      dataflow.yield
    }
    dataflow.yield
  }
  return
}
