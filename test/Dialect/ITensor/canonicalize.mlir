// RUN: streamtensor-opt %s --canonicalize | FileCheck %s

!flat = !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>
!nested = !itensor.itensor<f32, [2, 4] * [4, 1], (d0, d1) -> (d0 + d1)>

// A change to the same type, and there and back again, is nothing.
// CHECK-LABEL: func.func @folds
// CHECK-SAME: (%[[A:.*]]: !itensor.itensor
// CHECK-NEXT: return %[[A]], %[[A]], %[[A]], %[[A]]
func.func @folds(%a: !flat) -> (!flat, !flat, !flat, !flat) {
  %0 = itensor.cast %a : !flat to !flat
  %1 = itensor.cast %a : !flat to !nested
  %2 = itensor.cast %1 : !nested to !flat
  %3 = itensor.reassociate %a : !flat to !flat
  %4 = itensor.converter %a : !flat to !flat
  return %0, %2, %3, %4 : !flat, !flat, !flat, !flat
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
