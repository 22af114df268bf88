// RUN: split-file %s %t
// RUN: streamtensor-opt --st-allocate-fifos %t/valid.mlir | FileCheck %s
// RUN: streamtensor-opt --st-allocate-fifos="base-depth=4 load-depth=16" %t/valid.mlir | FileCheck %s --check-prefix=OPTIONS
// RUN: streamtensor-opt --st-allocate-fifos="strategy=conservative" %t/valid.mlir | FileCheck %s --check-prefix=CONSERVATIVE
// RUN: streamtensor-opt --st-allocate-fifos="strategy=min" %t/valid.mlir | FileCheck %s --check-prefix=MIN
// RUN: not streamtensor-opt --st-allocate-fifos="strategy=deep" %t/valid.mlir 2>&1 | FileCheck %s --check-prefix=STRATEGY
// RUN: streamtensor-opt --st-allocate-fifos --split-input-file --verify-diagnostics %t/invalid.mlir
// RUN: not streamtensor-opt --st-allocate-fifos="base-depth=0" %t/valid.mlir 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not streamtensor-opt --st-allocate-fifos="load-depth=65" %t/valid.mlir 2>&1 | FileCheck %s --check-prefix=DEEP

// ZERO: error: expected base-depth and load-depth from 1 to 64 but got 0 and 32
// STRATEGY: error: expected strategy normal, conservative, min but got 'deep'
// DEEP: error: expected base-depth and load-depth from 1 to 64 but got 2 and 65

//--- valid.mlir
// 96 tokens from memory to a computation: the load runs ahead.
!X = !itensor.itensor<1xf32, [96] * [1], (d0) -> (d0)>

// CHECK-LABEL: func.func @chain
// CHECK: itensor.instance "load_x_out" depth 32 because "base depth" {tokens = 96 : i64}
// CHECK-NEXT: dataflow.task "load_x"
// CHECK: itensor.instance "relu_out" depth 2 because "base depth" {tokens = 96 : i64}
// CHECK-NEXT: dataflow.task "relu"
// CHECK-NOT: itensor.empty
// CONSERVATIVE-LABEL: func.func @chain
// CONSERVATIVE: itensor.instance "load_x_out" depth 2
// CONSERVATIVE: itensor.instance "relu_out" depth 2
// MIN-LABEL: func.func @chain
// MIN: itensor.instance "load_x_out" depth 1
// MIN: itensor.instance "relu_out" depth 1
// OPTIONS-LABEL: func.func @chain
// OPTIONS: itensor.instance "load_x_out" depth 16
// OPTIONS: itensor.instance "relu_out" depth 4
func.func @chain(%arg0: memref<96xf32>, %arg1: memref<96xf32>) {
  dataflow.kernel "group0" (%m0: memref<96xf32> = %arg0 : memref<96xf32>, %m1: memref<96xf32> = %arg1 : memref<96xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c96 = arith.constant 96 : index
    %e = itensor.empty : !X
    %x = dataflow.task "load_x" inits(%o = %e) : (!X) attributes {kind = "dma_in"} {
      %r = scf.for %i = %c0 to %c96 step %c1 iter_args(%p = %o) -> (!X) {
        %t = tensor.empty() : tensor<1xf32>
        %q = itensor.write %t into %p : tensor<1xf32>, !X
        scf.yield %q : !X
      }
      dataflow.yield %r : !X
    }
    // Two tasks may share a placeholder; each gets its own FIFO.
    %y = dataflow.task "relu" inits(%o = %e) : (!X) attributes {kind = "compute"} {
      %r = scf.for %i = %c0 to %c96 step %c1 iter_args(%p = %o) -> (!X) {
        %n = tensor.empty() : tensor<1xf32>
        %t = itensor.read %x init(%n : tensor<1xf32>) : !X -> tensor<1xf32>
        %q = itensor.write %t into %p : tensor<1xf32>, !X
        scf.yield %q : !X
      }
      dataflow.yield %r : !X
    }
    dataflow.task "store_y" attributes {kind = "dma_out"} {
      scf.for %i = %c0 to %c96 step %c1 {
        %n = tensor.empty() : tensor<1xf32>
        %t = itensor.read %y init(%n : tensor<1xf32>) : !X -> tensor<1xf32>
      }
      dataflow.yield
    }
    dataflow.yield
  }
  return
}

!R = !itensor.itensor<1x1xf32, [4, 8] * [1, 1], (d0, d1) -> (d0, d1)>
!M = !itensor.itensor<1xf32, [4] * [1], (d0) -> (d0)>

// Softmax: exp needs the maximum of a row of 8 before the row. The fork writes
// the copy for max first, so when max_out of the row needs fork_out0[7], 7 tokens
// of fork_out1 are written and exp has read none. 32 tokens do not run ahead.
// CHECK-LABEL: func.func @softmax
// CHECK: itensor.instance "load_x_out_1" depth 2 because "base depth" {tokens = 32 : i64}
// CHECK: itensor.instance "fork_out0" depth 2 because "base depth" {tokens = 32 : i64}
// CHECK: itensor.instance "fork_out1" depth 7 because "holds 7 of 32 tokens while 'exp' waits to read 'max_out'; one less deadlocks:
// CHECK-SAME: 'fork' waits to write full fifo 'fork_out1' (6/6), 'exp' waits to read empty fifo 'max_out' (0/2), 'max' waits to read empty fifo 'fork_out0' (0/2)" {tokens = 32 : i64}
// CHECK-NEXT: dataflow.task "fork"
// CHECK: itensor.instance "max_out" depth 2 because "base depth" {tokens = 4 : i64}
// CHECK: itensor.instance "exp_out" depth 2
// With a base depth of 4 of every FIFO, max_out alone grows no more: 4 tokens.
// What is needed is needed under all strategies: the copy of a row of 8 waits
// until the fork has given the last token to the maximum. With room for one token
// less before the maximum, the copy is still at 7 of 8.
// CONSERVATIVE-LABEL: func.func @softmax
// CONSERVATIVE: itensor.instance "fork_out1" depth 7
// MIN-LABEL: func.func @softmax
// MIN: itensor.instance "fork_out0" depth 1
// MIN: itensor.instance "fork_out1" depth 7
// MIN: itensor.instance "max_out" depth 1
// OPTIONS-LABEL: func.func @softmax
// OPTIONS: itensor.instance "fork_out1" depth 7
// OPTIONS: itensor.instance "max_out" depth 4
func.func @softmax(%arg0: memref<4x8xf32>, %arg1: memref<4x8xf32>) {
  dataflow.kernel "group1" (%m0: memref<4x8xf32> = %arg0 : memref<4x8xf32>, %m1: memref<4x8xf32> = %arg1 : memref<4x8xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %e = itensor.empty : !R
    %em = itensor.empty : !M
    %x = dataflow.task "load_x" inits(%o = %e) : (!R) attributes {kind = "dma_in"} {
      %r = scf.for %i = %c0 to %c32 step %c1 iter_args(%p = %o) -> (!R) {
        %t = tensor.empty() : tensor<1x1xf32>
        %q = itensor.write %t into %p : tensor<1x1xf32>, !R
        scf.yield %q : !R
      }
      dataflow.yield %r : !R
    }
    %f:2 = dataflow.task "fork" inits(%o = %e, %o2 = %e) : (!R, !R) attributes {kind = "fork"} {
      %r:2 = scf.for %i = %c0 to %c32 step %c1 iter_args(%p = %o, %p2 = %o2) -> (!R, !R) {
        %n = tensor.empty() : tensor<1x1xf32>
        %t = itensor.read %x init(%n : tensor<1x1xf32>) : !R -> tensor<1x1xf32>
        %q = itensor.write %t into %p : tensor<1x1xf32>, !R
        %q2 = itensor.write %t into %p2 : tensor<1x1xf32>, !R
        scf.yield %q, %q2 : !R, !R
      }
      dataflow.yield %r#0, %r#1 : !R, !R
    }
    %max = dataflow.task "max" inits(%o = %em) : (!M) {
      %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%p = %o) -> (!M) {
        scf.for %j = %c0 to %c8 step %c1 {
          %n = tensor.empty() : tensor<1x1xf32>
          %t = itensor.read %f#0 init(%n : tensor<1x1xf32>) : !R -> tensor<1x1xf32>
        }
        %t = tensor.empty() : tensor<1xf32>
        %q = itensor.write %t into %p : tensor<1xf32>, !M
        scf.yield %q : !M
      }
      dataflow.yield %r : !M
    }
    %exp = dataflow.task "exp" inits(%o = %e) : (!R) {
      %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%p = %o) -> (!R) {
        %nm = tensor.empty() : tensor<1xf32>
        %m = itensor.read %max init(%nm : tensor<1xf32>) : !M -> tensor<1xf32>
        %s = scf.for %j = %c0 to %c8 step %c1 iter_args(%b = %p) -> (!R) {
          %n = tensor.empty() : tensor<1x1xf32>
          %t = itensor.read %f#1 init(%n : tensor<1x1xf32>) : !R -> tensor<1x1xf32>
          %q = itensor.write %t into %b : tensor<1x1xf32>, !R
          scf.yield %q : !R
        }
        scf.yield %s : !R
      }
      dataflow.yield %r : !R
    }
    dataflow.task "store_y" attributes {kind = "dma_out"} {
      scf.for %i = %c0 to %c32 step %c1 {
        %n = tensor.empty() : tensor<1x1xf32>
        %t = itensor.read %exp init(%n : tensor<1x1xf32>) : !R -> tensor<1x1xf32>
      }
      dataflow.yield
    }
    dataflow.yield
  }
  return
}

!S = !itensor.itensor<1xf32, [1] * [1], (d0) -> (d0)>

// One token: depth 1.
// CHECK-LABEL: func.func @one_token
// CHECK: itensor.instance "load_one_out" depth 1 because "all its tokens, fewer than the base depth" {tokens = 1 : i64}
func.func @one_token() {
  dataflow.kernel "group2" () {
    %e = itensor.empty : !S
    %x = dataflow.task "load_one" inits(%o = %e) : (!S) attributes {kind = "dma_in"} {
      %t = tensor.empty() : tensor<1xf32>
      %q = itensor.write %t into %o : tensor<1xf32>, !S
      dataflow.yield %q : !S
    }
    dataflow.task "store_one" attributes {kind = "dma_out"} {
      %n = tensor.empty() : tensor<1xf32>
      %t = itensor.read %x init(%n : tensor<1xf32>) : !S -> tensor<1xf32>
      dataflow.yield
    }
    dataflow.yield
  }
  return
}

//--- invalid.mlir
!X = !itensor.itensor<1xf32, [8] * [1], (d0) -> (d0)>
func.func @totals_differ() {
  dataflow.kernel "group0" () {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c7 = arith.constant 7 : index
    %c8 = arith.constant 8 : index
    %e = itensor.empty : !X
    // expected-error @below {{expected as many tokens read as written on fifo 'load_x_out' but got 8 written by 'load_x' and 7 read by 'store_x'}}
    %x = dataflow.task "load_x" inits(%o = %e) : (!X) {
      %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%p = %o) -> (!X) {
        %t = tensor.empty() : tensor<1xf32>
        %q = itensor.write %t into %p : tensor<1xf32>, !X
        scf.yield %q : !X
      }
      dataflow.yield %r : !X
    }
    // expected-note @below {{the other process is here}}
    dataflow.task "store_x" {
      scf.for %i = %c0 to %c7 step %c1 {
        %n = tensor.empty() : tensor<1xf32>
        %t = itensor.read %x init(%n : tensor<1xf32>) : !X -> tensor<1xf32>
      }
      dataflow.yield
    }
    dataflow.yield
  }
  return
}

// -----

!X = !itensor.itensor<1xf32, [1] * [1], (d0) -> (d0)>
func.func @two_readers() {
  dataflow.kernel "group0" () {
    %e = itensor.empty : !X
    %x = dataflow.task "load_x" inits(%o = %e) : (!X) {
      %t = tensor.empty() : tensor<1xf32>
      %q = itensor.write %t into %o : tensor<1xf32>, !X
      dataflow.yield %q : !X
    }
    // expected-note @below {{the other process is here}}
    dataflow.task "a" {
      %n = tensor.empty() : tensor<1xf32>
      %t = itensor.read %x init(%n : tensor<1xf32>) : !X -> tensor<1xf32>
      dataflow.yield
    }
    // expected-error @below {{expected one reader of fifo 'load_x_out' but got 'a' and 'b'; insert an itensor.fork}}
    dataflow.task "b" {
      %n = tensor.empty() : tensor<1xf32>
      %t = itensor.read %x init(%n : tensor<1xf32>) : !X -> tensor<1xf32>
      dataflow.yield
    }
    dataflow.yield
  }
  return
}

// -----

!X = !itensor.itensor<1xf32, [1] * [1], (d0) -> (d0)>
func.func @allocated_twice() {
  dataflow.kernel "group0" () {
    %e = itensor.instance "x" depth 2 : !X
    // expected-error @below {{expected init 0 to be itensor.empty but got itensor.instance; fifos are allocated once}}
    %x = dataflow.task "load_x" inits(%o = %e) : (!X) {
      %t = tensor.empty() : tensor<1xf32>
      %q = itensor.write %t into %o : tensor<1xf32>, !X
      dataflow.yield %q : !X
    }
    dataflow.task "a" {
      %n = tensor.empty() : tensor<1xf32>
      %t = itensor.read %x init(%n : tensor<1xf32>) : !X -> tensor<1xf32>
      dataflow.yield
    }
    dataflow.yield
  }
  return
}
