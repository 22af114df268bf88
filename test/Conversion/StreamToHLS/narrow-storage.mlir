// RUN: streamtensor-opt %s --st-narrow-storage --split-input-file | FileCheck %s

// The accumulator, the FIFO behind it, and what a fork hands on of it; the
// reader extends what it reads.
// CHECK-LABEL: func.func private @sum
// CHECK-SAME: !stream.stream<i8, 2>
// CHECK-SAME: !stream.stream<1xi13, 2>
// CHECK: stream.buffer "acc" : memref<1xi13>
// CHECK: memref.store %c0_i13
// CHECK: %[[OLD:.*]] = memref.load {{.*}} : memref<1xi13>
// CHECK: %[[WIDE:.*]] = arith.extsi %[[OLD]] : i13 to i32
// CHECK: %[[SUM:.*]] = arith.addi {{.*}} : i32
// CHECK: %[[NEW:.*]] = arith.trunci %[[SUM]] : i32 to i13
// CHECK: memref.store %[[NEW]]
// CHECK: %[[RESULT:.*]] = memref.load {{.*}} : memref<1xi13>
// CHECK-NEXT: %[[TOKEN:.*]] = memref.alloc
// CHECK-NEXT: memref.store %[[RESULT]], %[[TOKEN]][%c0] : memref<1xi13>
// CHECK-NEXT: stream.write %[[TOKEN]]
func.func private @sum(%in: !stream.stream<i8, 2>, %out: !stream.stream<1xi32, 2>)
    attributes {dataflow.bits = 13 : i64, hls.task, kind = "compute"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant 0 : i32
  %acc = stream.buffer "acc" : memref<1xi32>
  memref.store %zero, %acc[%c0] : memref<1xi32>
  scf.for %i = %c0 to %c32 step %c1 {
    %x = stream.read %in : !stream.stream<i8, 2> -> i8
    %wide = arith.extsi %x : i8 to i32
    %old = memref.load %acc[%c0] : memref<1xi32>
    %new = arith.addi %wide, %old : i32
    memref.store %new, %acc[%c0] : memref<1xi32>
  }
  %result = memref.load %acc[%c0] : memref<1xi32>
  %token = memref.alloc() : memref<1xi32>
  memref.store %result, %token[%c0] : memref<1xi32>
  stream.write %token, %out : memref<1xi32>, !stream.stream<1xi32, 2>
  return
}

// CHECK-LABEL: func.func private @fork
// CHECK: memref.alloc() : memref<1xi13>
// CHECK-COUNT-2: stream.write {{.*}} : memref<1xi13>, !stream.stream<1xi13, 2>
func.func private @fork(%in: !stream.stream<1xi32, 2>, %a: !stream.stream<1xi32, 2>, %b: !stream.stream<1xi32, 2>)
    attributes {hls.task, kind = "fork"} {
  %token = memref.alloc() : memref<1xi32>
  stream.read %in into %token : !stream.stream<1xi32, 2>, memref<1xi32>
  stream.write %token, %a : memref<1xi32>, !stream.stream<1xi32, 2>
  stream.write %token, %b : memref<1xi32>, !stream.stream<1xi32, 2>
  return
}

// CHECK-LABEL: func.func private @use
// CHECK-SAME: !stream.stream<1xi13, 2>
// CHECK-SAME: !stream.stream<1xi13, 2>
// CHECK-SAME: !stream.stream<i32, 2>
// CHECK: arith.extsi {{.*}} : i13 to i32
// CHECK: stream.write {{.*}} : i32, !stream.stream<i32, 2>
func.func private @use(%a: !stream.stream<1xi32, 2>, %b: !stream.stream<1xi32, 2>, %out: !stream.stream<i32, 2>)
    attributes {hls.task, kind = "compute"} {
  %c0 = arith.constant 0 : index
  %s = memref.alloc() : memref<1xi32>
  %t = memref.alloc() : memref<1xi32>
  stream.read %a into %s : !stream.stream<1xi32, 2>, memref<1xi32>
  stream.read %b into %t : !stream.stream<1xi32, 2>, memref<1xi32>
  %x = memref.load %s[%c0] : memref<1xi32>
  %y = memref.load %t[%c0] : memref<1xi32>
  %z = arith.muli %x, %y : i32
  stream.write %z, %out : i32, !stream.stream<i32, 2>
  return
}

// CHECK-LABEL: func.func private @group0
// CHECK: hls.task @sum({{.*}}) : !stream.stream<i8, 2>, !stream.stream<1xi13, 2>
func.func private @group0(%in: !stream.stream<i8, 2>, %out: !stream.stream<i32, 2>) {
  %s = stream.stream "s" tokens 1 : !stream.stream<1xi32, 2>
  %a = stream.stream "a" tokens 1 : !stream.stream<1xi32, 2>
  %b = stream.stream "b" tokens 1 : !stream.stream<1xi32, 2>
  hls.task @sum(%in, %s) : !stream.stream<i8, 2>, !stream.stream<1xi32, 2>
  hls.task @fork(%s, %a, %b) : !stream.stream<1xi32, 2>, !stream.stream<1xi32, 2>, !stream.stream<1xi32, 2>
  hls.task @use(%a, %b, %out) : !stream.stream<1xi32, 2>, !stream.stream<1xi32, 2>, !stream.stream<i32, 2>
  return
}

// -----

// A task without a bound writes to the same FIFO, through a join that hands on
// tokens as they are: only the accumulator is narrow. The constant that it
// starts from counts, too: 300 needs ten bits.
// CHECK-LABEL: func.func private @sum
// CHECK-SAME: !stream.stream<1xi32, 2>
// CHECK: stream.buffer "acc" : memref<1xi10>
// CHECK: arith.extsi {{.*}} : i10 to i32
// CHECK: stream.write {{.*}} : memref<1xi32>, !stream.stream<1xi32, 2>
func.func private @sum(%in: !stream.stream<i8, 2>, %out: !stream.stream<1xi32, 2>)
    attributes {dataflow.bits = 9 : i64, hls.task, kind = "compute"} {
  %c0 = arith.constant 0 : index
  %start = arith.constant 300 : i32
  %acc = stream.buffer "acc" : memref<1xi32>
  memref.store %start, %acc[%c0] : memref<1xi32>
  %result = memref.load %acc[%c0] : memref<1xi32>
  %token = memref.alloc() : memref<1xi32>
  memref.store %result, %token[%c0] : memref<1xi32>
  stream.write %token, %out : memref<1xi32>, !stream.stream<1xi32, 2>
  return
}

func.func private @other(%in: !stream.stream<i8, 2>, %out: !stream.stream<1xi32, 2>)
    attributes {hls.task, kind = "compute"} {
  %c0 = arith.constant 0 : index
  %x = stream.read %in : !stream.stream<i8, 2> -> i8
  %wide = arith.extsi %x : i8 to i32
  %token = memref.alloc() : memref<1xi32>
  memref.store %wide, %token[%c0] : memref<1xi32>
  stream.write %token, %out : memref<1xi32>, !stream.stream<1xi32, 2>
  return
}

// CHECK-LABEL: func.func private @join
// CHECK-NOT: i10
// CHECK: return
func.func private @join(%a: !stream.stream<1xi32, 2>, %b: !stream.stream<1xi32, 2>, %out: !stream.stream<1xi32, 2>)
    attributes {hls.task, kind = "join"} {
  %token = memref.alloc() : memref<1xi32>
  stream.read %a into %token : !stream.stream<1xi32, 2>, memref<1xi32>
  stream.write %token, %out : memref<1xi32>, !stream.stream<1xi32, 2>
  stream.read %b into %token : !stream.stream<1xi32, 2>, memref<1xi32>
  stream.write %token, %out : memref<1xi32>, !stream.stream<1xi32, 2>
  return
}

func.func private @group0(%in: !stream.stream<i8, 2>, %more: !stream.stream<i8, 2>, %out: !stream.stream<1xi32, 2>) {
  %a = stream.stream "a" tokens 1 : !stream.stream<1xi32, 2>
  %b = stream.stream "b" tokens 1 : !stream.stream<1xi32, 2>
  hls.task @sum(%in, %a) : !stream.stream<i8, 2>, !stream.stream<1xi32, 2>
  hls.task @other(%more, %b) : !stream.stream<i8, 2>, !stream.stream<1xi32, 2>
  hls.task @join(%a, %b, %out) : !stream.stream<1xi32, 2>, !stream.stream<1xi32, 2>, !stream.stream<1xi32, 2>
  return
}

// -----

// What a task keeps of its input, as tokens or one by one, is as wide as it was:
// only the sum is bounded.
// CHECK-LABEL: func.func private @keep
// CHECK-SAME: !stream.stream<i32, 2>
// CHECK-SAME: !stream.stream<1xi32, 2>
// CHECK-SAME: !stream.stream<1xi9, 2>
// CHECK: stream.buffer "kept" : memref<8xi32>
// CHECK: stream.buffer "tokens" : memref<1xi32>
// CHECK: stream.buffer "acc" : memref<1xi9>
func.func private @keep(%in: !stream.stream<i32, 2>, %more: !stream.stream<1xi32, 2>, %out: !stream.stream<1xi32, 2>)
    attributes {dataflow.bits = 9 : i64, hls.task, kind = "compute"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0 : i32
  %mask = arith.constant 31 : i32
  %kept = stream.buffer "kept" : memref<8xi32>
  %tokens = stream.buffer "tokens" : memref<1xi32>
  %acc = stream.buffer "acc" : memref<1xi32>
  stream.read %more into %tokens : !stream.stream<1xi32, 2>, memref<1xi32>
  memref.store %zero, %acc[%c0] : memref<1xi32>
  scf.for %i = %c0 to %c8 step %c1 {
    %x = stream.read %in : !stream.stream<i32, 2> -> i32
    memref.store %x, %kept[%i] : memref<8xi32>
    %term = arith.andi %x, %mask : i32
    %old = memref.load %acc[%c0] : memref<1xi32>
    %new = arith.addi %term, %old : i32
    memref.store %new, %acc[%c0] : memref<1xi32>
  }
  %result = memref.load %acc[%c0] : memref<1xi32>
  %token = memref.alloc() : memref<1xi32>
  memref.store %result, %token[%c0] : memref<1xi32>
  stream.write %token, %out : memref<1xi32>, !stream.stream<1xi32, 2>
  return
}

func.func private @group0(%in: !stream.stream<i32, 2>, %more: !stream.stream<1xi32, 2>) {
  %s = stream.stream "s" tokens 1 : !stream.stream<1xi32, 2>
  hls.task @keep(%in, %more, %s) : !stream.stream<i32, 2>, !stream.stream<1xi32, 2>, !stream.stream<1xi32, 2>
  return
}
