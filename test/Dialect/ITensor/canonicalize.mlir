// RUN: streamtensor-opt %s --canonicalize | FileCheck %s

!flat = !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>
!nested = !itensor.itensor<f32, [2, 4] * [4, 1], (d0, d1) -> (d0 + d1)>
!columns = !itensor.itensor<f32, [4, 2] * [1, 4], (d0, d1) -> (d0 + d1)>
!pairs = !itensor.itensor<2xf32, [4] * [2], (d0) -> (d0)>
!quads = !itensor.itensor<4xf32, [2] * [4], (d0) -> (d0)>
!grid = !itensor.itensor<f32, [2, 4] * [1, 1], (d0, d1) -> (d0, d1)>
!gridpairs = !itensor.itensor<1x2xf32, [2, 2] * [1, 2], (d0, d1) -> (d0, d1)>
!columns2 = !itensor.itensor<f32, [4, 2] * [1, 1], (d0, d1) -> (d1, d0)>
!row = !itensor.itensor<f32, [4] * [1], (d0) -> (0, d0)>
!double = !itensor.itensor<f32, [16] * [1], (d0) -> (d0)>
!four = !itensor.itensor<f32, [4] * [1], (d0) -> (d0)>
!twelve = !itensor.itensor<f32, [12] * [1], (d0) -> (d0)>

// A change to the same type, and there and back again, is nothing.
// CHECK-LABEL: func.func @folds
// CHECK-SAME: (%[[A:[^:]*]]: !itensor.itensor
// CHECK-NEXT: return %[[A]], %[[A]], %[[A]], %[[A]]
func.func @folds(%a: !flat) -> (!flat, !flat, !flat, !flat) {
  %0 = itensor.cast %a : !flat to !flat
  %1 = itensor.cast %a : !flat to !nested
  %2 = itensor.cast %1 : !nested to !flat
  %3 = itensor.reassociate %a : !flat to !flat
  %4 = itensor.converter %a : !flat to !flat
  return %0, %2, %3, %4 : !flat, !flat, !flat, !flat
}

// Steps in a row are one step; a step without effect is a cast.
// CHECK-LABEL: func.func @steps
// CHECK-SAME: (%[[A:[^:]*]]: !itensor.itensor
func.func @steps(%a: !nested) -> (!pairs, !grid, !flat, !columns) {
  // CHECK-DAG: %[[PAIRS:.*]] = itensor.reassociate %[[A]] : {{.*}} to !itensor.itensor<2xf32, [4] * [2]
  %0 = itensor.cast %a : !nested to !flat
  %1 = itensor.reassociate %0 : !flat to !quads
  %2 = itensor.reassociate %1 : !quads to !pairs
  // CHECK-DAG: %[[GRID:.*]] = itensor.reassociate %[[A]] : {{.*}} to !itensor.itensor<f32, [2, 4] * [1, 1]
  %3 = itensor.reassociate %0 : !flat to !grid
  // CHECK-DAG: %[[FLAT:.*]] = itensor.cast %[[A]]
  %4 = itensor.converter %a : !nested to !flat
  // CHECK-DAG: %[[COLUMNS:.*]] = itensor.converter %[[A]] {reason = "kept"} : {{.*}}(d0 + d1)> to
  %5 = itensor.converter %0 {reason = "kept"} : !flat to !columns
  // CHECK: return %[[PAIRS]], %[[GRID]], %[[FLAT]], %[[COLUMNS]]
  return %2, %3, %4, %5 : !pairs, !grid, !flat, !columns
}

// A width adapter and a reshape are different hardware (a task, and nothing), so
// these two stay.
// CHECK-LABEL: func.func @two_kinds
func.func @two_kinds(%a: !flat) -> !gridpairs {
  // CHECK: itensor.reassociate
  // CHECK: itensor.reassociate
  %0 = itensor.reassociate %a : !flat to !pairs
  %1 = itensor.reassociate %0 : !pairs to !gridpairs
  return %1 : !gridpairs
}

// CHECK-LABEL: func.func @forks
// CHECK-SAME: (%[[A:[^:]*]]: !itensor.itensor
func.func @forks(%a: !flat) -> (!flat, !flat, !flat, !flat) {
  // One reader needs no fork.
  %0 = itensor.fork %a times 1 : !flat
  // Copies that nobody reads are not made, and a fork of a fork is one.
  // CHECK: %[[F:.*]]:3 = itensor.fork %[[A]] times 3
  // CHECK-NOT: itensor.fork
  %1:3 = itensor.fork %0 times 3 : !flat
  %2:2 = itensor.fork %1#2 times 2 : !flat
  // A fork that nobody reads is nothing.
  %3:2 = itensor.fork %a times 2 : !flat
  // CHECK: return %[[A]], %[[F]]#0, %[[F]]#1, %[[F]]#2
  return %0, %1#0, %2#0, %2#1 : !flat, !flat, !flat, !flat
}

// CHECK-LABEL: func.func @chunk_of_concat
// CHECK-SAME: (%[[A:[^:]*]]: !itensor.itensor{{.*}}, %[[B:[^:]*]]: !itensor.itensor
// CHECK-NEXT: return %[[A]], %[[B]]
func.func @chunk_of_concat(%a: !flat, %b: !flat) -> (!flat, !flat) {
  %0 = itensor.concat %a, %b dim 0 : !flat, !flat to !double
  %1:2 = itensor.chunk %0 dim 0 : !double to !flat, !flat
  return %1#0, %1#1 : !flat, !flat
}

// Cutting elsewhere than the parts were joined is no identity.
// CHECK-LABEL: func.func @chunk_elsewhere
func.func @chunk_elsewhere(%a: !flat, %b: !flat) -> !four {
  // CHECK: itensor.concat
  // CHECK: itensor.chunk
  %0 = itensor.concat %a, %b dim 0 : !flat, !flat to !double
  %1:2 = itensor.chunk %0 dim 0 : !double to !four, !twelve
  return %1#0 : !four
}

// CHECK-LABEL: func.func @concat_of_chunk
// CHECK-SAME: (%[[A:[^:]*]]: !itensor.itensor
func.func @concat_of_chunk(%a: !double, %g: !grid) -> (!double, !double, !columns2) {
  %0:2 = itensor.chunk %a dim 0 : !double to !flat, !flat
  %1 = itensor.concat %0#0, %0#1 dim 0 : !flat, !flat to !double
  // The halves in the other order are another tensor.
  // CHECK: %[[P:.*]]:2 = itensor.chunk %[[A]]
  // CHECK: %[[SWAP:.*]] = itensor.concat %[[P]]#1, %[[P]]#0
  %2 = itensor.concat %0#1, %0#0 dim 0 : !flat, !flat to !double
  // One row alone has one order; the rows together have two.
  // CHECK: itensor.chunk
  // CHECK: %[[COLUMNS:.*]] = itensor.concat
  %3:2 = itensor.chunk %g dim 0 : !grid to !row, !row
  %4 = itensor.concat %3#0, %3#1 dim 0 : !row, !row to !columns2
  // CHECK: return %[[A]], %[[SWAP]], %[[COLUMNS]]
  return %1, %2, %4 : !double, !double, !columns2
}

// Of one part, and of one source.
// CHECK-LABEL: func.func @single
// CHECK-SAME: (%[[A:[^:]*]]: !itensor.itensor
// CHECK-NEXT: return %[[A]], %[[A]], %[[A]]
func.func @single(%a: !flat) -> (!flat, !flat, !flat) {
  %0 = itensor.chunk %a dim 0 : !flat to !flat
  %1 = itensor.concat %a dim 0 : !flat to !flat
  %2 = itensor.join %a : !flat to !flat
  return %0, %1, %2 : !flat, !flat, !flat
}

// Two instances are two FIFOs, even when they look alike.
// CHECK-LABEL: func.func @instances_stay
func.func @instances_stay() -> (!flat, !flat) {
  // CHECK: %[[A:.*]] = itensor.instance "a" depth 2
  // CHECK: %[[B:.*]] = itensor.instance "a" depth 2
  // CHECK: return %[[A]], %[[B]]
  %0 = itensor.instance "a" depth 2 : !flat
  %1 = itensor.instance "a" depth 2 : !flat
  return %0, %1 : !flat, !flat
}

// A read whose token nobody uses still takes a token out of the FIFO.
// CHECK-LABEL: func.func @reads_stay
func.func @reads_stay(%a: !flat) {
  // CHECK: itensor.read
  %0 = itensor.read %a : !flat -> f32
  return
}
