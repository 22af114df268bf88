// RUN: streamtensor-opt %s --st-insert-forks | FileCheck %s

!s = !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>

// Two tasks read one stream: a fork reads each of its 8 tokens once and writes it
// twice, and each reader gets a stream of its own.
// CHECK-LABEL: func.func @two_readers
// CHECK: %[[X:.*]] = dataflow.task "load_arg0"
// CHECK: %[[F:.*]]:2 = dataflow.task {{.*}} attributes {kind = "fork"} {
// CHECK: scf.for
// CHECK-NEXT: %[[V:.*]] = itensor.read %[[X]]
// CHECK-NEXT: itensor.write %[[V]]
// CHECK-NEXT: itensor.write %[[V]]
// CHECK: dataflow.task "store_result0"
// CHECK: itensor.read %[[F]]#0
// CHECK: dataflow.task "store_result1"
// CHECK: itensor.read %[[F]]#1
func.func @two_readers(%arg0: memref<8xf32>) {
  dataflow.kernel "group0" (%m : memref<8xf32> = %arg0 : memref<8xf32>) {
    %e = itensor.empty : !s
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %x = dataflow.task "load_arg0" inits(%o = %e) : (!s) attributes {kind = "dma_in"} {
      %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%t = %o) -> (!s) {
        %v = memref.load %m[%i] : memref<8xf32>
        %n = itensor.write %v into %t : f32, !s
        scf.yield %n : !s
      }
      dataflow.yield %r : !s
    }
    dataflow.task "store_result0" attributes {kind = "dma_out"} {
      scf.for %i = %c0 to %c8 step %c1 {
        %v = itensor.read %x : !s -> f32
        memref.store %v, %m[%i] : memref<8xf32>
      }
    }
    dataflow.task "store_result1" attributes {kind = "dma_out"} {
      scf.for %i = %c0 to %c8 step %c1 {
        %v = itensor.read %x : !s -> f32
        memref.store %v, %m[%i] : memref<8xf32>
      }
    }
    dataflow.yield
  }
  return
}

// One task reads a stream at two places, each of them all of it (x + x as two
// operands, or softmax(x x^T) x in one task): that is two readers.
// CHECK-LABEL: func.func @two_places_of_one_task
// CHECK: %[[X:.*]] = dataflow.task "load_arg0"
// CHECK: %[[F:.*]]:2 = dataflow.task {{.*}} attributes {kind = "fork"} {
// CHECK: dataflow.task "store_result0"
// CHECK: %[[V:.*]] = itensor.read %[[F]]#0
// CHECK-NEXT: %[[W:.*]] = itensor.read %[[F]]#1
// CHECK-NEXT: arith.addf %[[V]], %[[W]]
func.func @two_places_of_one_task(%arg0: memref<8xf32>) {
  dataflow.kernel "group0" (%m : memref<8xf32> = %arg0 : memref<8xf32>) {
    %e = itensor.empty : !s
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %x = dataflow.task "load_arg0" inits(%o = %e) : (!s) attributes {kind = "dma_in"} {
      %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%t = %o) -> (!s) {
        %v = memref.load %m[%i] : memref<8xf32>
        %n = itensor.write %v into %t : f32, !s
        scf.yield %n : !s
      }
      dataflow.yield %r : !s
    }
    dataflow.task "store_result0" attributes {kind = "dma_out"} {
      scf.for %i = %c0 to %c8 step %c1 {
        %v = itensor.read %x : !s -> f32
        %w = itensor.read %x : !s -> f32
        %sum = arith.addf %v, %w : f32
        memref.store %sum, %m[%i] : memref<8xf32>
      }
    }
    dataflow.yield
  }
  return
}

// A stream of one reader stays as it is.
// CHECK-LABEL: func.func @one_reader
// CHECK-NOT: kind = "fork"
// CHECK: return
func.func @one_reader(%arg0: memref<8xf32>) {
  dataflow.kernel "group0" (%m : memref<8xf32> = %arg0 : memref<8xf32>) {
    %e = itensor.empty : !s
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %x = dataflow.task "load_arg0" inits(%o = %e) : (!s) attributes {kind = "dma_in"} {
      %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%t = %o) -> (!s) {
        %v = memref.load %m[%i] : memref<8xf32>
        %n = itensor.write %v into %t : f32, !s
        scf.yield %n : !s
      }
      dataflow.yield %r : !s
    }
    dataflow.task "store_result0" attributes {kind = "dma_out"} {
      scf.for %i = %c0 to %c8 step %c1 {
        %v = itensor.read %x : !s -> f32
        memref.store %v, %m[%i] : memref<8xf32>
      }
    }
    dataflow.yield
  }
  return
}

// A stream that nobody reads would stop its producer: a task drains it.
// CHECK-LABEL: func.func @no_reader
// CHECK: %[[X:.*]] = dataflow.task "load_arg0"
// CHECK: dataflow.task "drain_load_arg0"
// CHECK: scf.for
// CHECK-NEXT: itensor.read %[[X]]
// CHECK-NOT: itensor.write
// CHECK: return
func.func @no_reader(%arg0: memref<8xf32>) {
  dataflow.kernel "group0" (%m : memref<8xf32> = %arg0 : memref<8xf32>) {
    %e = itensor.empty : !s
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %x = dataflow.task "load_arg0" inits(%o = %e) : (!s) attributes {kind = "dma_in"} {
      %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%t = %o) -> (!s) {
        %v = memref.load %m[%i] : memref<8xf32>
        %n = itensor.write %v into %t : f32, !s
        scf.yield %n : !s
      }
      dataflow.yield %r : !s
    }
    dataflow.yield
  }
  return
}
