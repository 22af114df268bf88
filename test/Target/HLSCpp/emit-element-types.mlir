// RUN: streamtensor-opt %s --st-emit-hls-cpp -o /dev/null | FileCheck %s

// Floats of 16 bits need their header; integers are C++'s own, and what wraps
// in MLIR is a function, because an overflow in C++ is undefined.

// CHECK: #include "st_half.h"
// CHECK: typedef hls::vector<st::bf16, 4> bf16x4;
// CHECK: typedef hls::vector<bool, 4> i1x4;

// CHECK-LABEL: static void halves(hls::stream<bf16x4> &a, hls::stream<i1x4> &b, const st::f16 *x,
func.func private @halves(%a: !stream.stream<4xbf16, 2> {hls.name = "a"},
                          %b: !stream.stream<4xi1, 2> {hls.name = "b"},
                          %x: memref<8xf16> {hls.name = "x", hls.direction = "in"},
                          %y: memref<8xbf16> {hls.name = "y", hls.direction = "out"}) attributes {hls.task} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %half = arith.constant 0.5 : bf16
  %token = memref.alloc() : memref<4xbf16>
  stream.read %a into %token : !stream.stream<4xbf16, 2>, memref<4xbf16>
  %bits = memref.alloc() : memref<4xi1>
  stream.read %b into %bits : !stream.stream<4xi1, 2>, memref<4xi1>
  // CHECK: y[0] = static_cast<st::bf16>(static_cast<float>(a_token[0]) * static_cast<float>(x[1]));
  %0 = memref.load %token[%c0] : memref<4xbf16>
  %1 = memref.load %x[%c1] : memref<8xf16>
  %2 = arith.extf %0 : bf16 to f32
  %3 = arith.extf %1 : f16 to f32
  %4 = arith.mulf %2, %3 : f32
  %5 = arith.truncf %4 : f32 to bf16
  memref.store %5, %y[%c0] : memref<8xbf16>
  // CHECK: y[1] = b_token[1] ? a_token[0] : st::bf16(0.5f);
  %6 = memref.load %bits[%c1] : memref<4xi1>
  %7 = arith.select %6, %0, %half : bf16
  memref.store %7, %y[%c1] : memref<8xbf16>
  return
}

// CHECK-LABEL: static void integers(const signed char *x, const long long *w, int *y, bool *z) {
func.func private @integers(%x: memref<8xi8> {hls.name = "x", hls.direction = "in"},
                            %w: memref<8xi64> {hls.name = "w", hls.direction = "in"},
                            %y: memref<8xi32> {hls.name = "y", hls.direction = "out"},
                            %z: memref<8xi1> {hls.name = "z", hls.direction = "out"}) attributes {hls.task} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c3_i8 = arith.constant 3 : i8
  %least = arith.constant -9223372036854775808 : i64
  // CHECK-NEXT: const signed char t = x[0];
  %a = memref.load %x[%c0] : memref<8xi8>
  // CHECK-NEXT: const long long t_1 = w[0];
  %b = memref.load %w[%c0] : memref<8xi64>
  // CHECK-NEXT: y[0] = static_cast<int>(st::add<signed char>(t, st::mul<signed char>(t, 3)));
  %0 = arith.muli %a, %c3_i8 : i8
  %1 = arith.addi %a, %0 : i8
  %2 = arith.extsi %1 : i8 to i32
  memref.store %2, %y[%c0] : memref<8xi32>
  // Without the sign, and the lower bits.
  // CHECK-NEXT: y[1] = static_cast<int>(st::to_unsigned<signed char>(t));
  %3 = arith.extui %a : i8 to i32
  memref.store %3, %y[%c1] : memref<8xi32>
  // CHECK-NEXT: y[2] = static_cast<int>(st::max<long long>(t_1, -9223372036854775807ll - 1));
  %4 = arith.maxsi %b, %least : i64
  %5 = arith.trunci %4 : i64 to i32
  memref.store %5, %y[%c2] : memref<8xi32>
  // CHECK-NEXT: y[3] = st::shr<int>(static_cast<int>(hls::roundeven(static_cast<float>(t))), 2);
  %two = arith.constant 2 : i32
  %6 = arith.sitofp %a : i8 to f32
  %7 = math.roundeven %6 : f32
  %8 = arith.fptosi %7 : f32 to i32
  %9 = arith.shrsi %8, %two : i32
  memref.store %9, %y[%c3] : memref<8xi32>
  // CHECK-NEXT: z[0] = st::to_unsigned<signed char>(t) < st::to_unsigned<signed char>(3);
  %10 = arith.cmpi ult, %a, %c3_i8 : i8
  memref.store %10, %z[%c0] : memref<8xi1>
  // A signed true is -1: less than false.
  // CHECK-NEXT: z[1] = t_1 == -9223372036854775807ll - 1 && (t & 1) != 0;
  %11 = arith.cmpi eq, %b, %least : i64
  %12 = arith.trunci %a : i8 to i1
  %13 = arith.maxsi %11, %12 : i1
  memref.store %13, %z[%c1] : memref<8xi1>
  return
}
