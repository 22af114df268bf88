// RUN: streamtensor-opt %s --st-stream-to-hls --split-input-file --verify-diagnostics

// expected-error @below {{expected one public function but got none}}
module {
}

// -----

// expected-note @below {{the first is 'a'}}
func.func @a() {
  return
}
// expected-error @below {{expected one public function but got another one}}
func.func @b() {
  return
}

// -----

// expected-error @below {{expected argument 0 to be memory of static shape but got 'tensor<4xf32>'}}
func.func @tensors(%x: tensor<4xf32>) {
  return
}

// -----

// expected-error @below {{expected results to be memory arguments (phase materialized) but got 1 results}}
func.func @results(%x: memref<4xf32>) -> memref<4xf32> {
  return %x : memref<4xf32>
}

// -----

!P = !itensor.itensor<4xf32, [2] * [4], (d0) -> (d0)>

// expected-error @below {{expected the packing of argument 0 to be an itensor type of 4 elements but got}}
func.func @packing(%x: memref<4xf32> {dataflow.packing = !P}) {
  return
}

// -----

func.func @function_level(%x: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{expected kernels and reshapes of memory only in function 'function_level'}}
  %v = memref.load %x[%c0] : memref<4xf32>
  return
}

// -----

func.func @kernel_level(%x: memref<4xf32>) {
  dataflow.kernel "k" (%m: memref<4xf32> = %x : memref<4xf32>) {
    %c0 = arith.constant 0 : index
    // expected-error @below {{expected streams, tasks and constants only in kernel 'k'}}
    %v = memref.load %m[%c0] : memref<4xf32>
    dataflow.yield
  }
  return
}

// -----

func.func @part(%x: memref<4xf32>) {
  // expected-error @below {{expected memory or a reshape of it as operand of kernel 'k'}}
  %v = memref.subview %x[2] [2] [1] : memref<4xf32> to memref<2xf32, strided<[1], offset: 2>>
  dataflow.kernel "k" (%m: memref<2xf32, strided<[1], offset: 2>> = %v : memref<2xf32, strided<[1], offset: 2>>) {
    dataflow.yield
  }
  return
}

// -----

func.func @unknown_parameter(%x: memref<4xf32>) {
  dataflow.kernel "k" (%m: memref<4xf32> = %x : memref<4xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %s = stream.stream "s" tokens 4 : !stream.stream<1xf32, 2>
    dataflow.task "t" attributes {kind = "compute"} {
      // expected-error @below {{expected 'dataflow.parameters' of the function to say the values of 'seq'}}
      %n = dataflow.trip_count "seq max 4"
      scf.for %i = %c0 to %n step %c1 {
        %t = memref.alloc() : memref<1xf32>
        stream.write %t, %s : memref<1xf32>, !stream.stream<1xf32, 2>
      }
    }
    dataflow.yield
  }
  return
}

// -----

func.func @beyond_memory(%x: memref<4xf32>) attributes {dataflow.parameters = {seq = array<i64: 0, 5>}} {
  dataflow.kernel "k" (%m: memref<4xf32> = %x : memref<4xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %s = stream.stream "s" tokens 4 : !stream.stream<1xf32, 2>
    dataflow.task "t" attributes {kind = "compute"} {
      // expected-error @below {{expected parameter 'seq' to be at most 4, for which there is memory, but the function takes up to 5}}
      %n = dataflow.trip_count "seq max 4"
      scf.for %i = %c0 to %n step %c1 {
        %t = memref.alloc() : memref<1xf32>
        stream.write %t, %s : memref<1xf32>, !stream.stream<1xf32, 2>
      }
    }
    dataflow.yield
  }
  return
}

// -----

func.func @step(%x: memref<4xf32>) attributes {dataflow.parameters = {seq = array<i64: 0, 4>}} {
  dataflow.kernel "k" (%m: memref<4xf32> = %x : memref<4xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %s = stream.stream "s" tokens 4 : !stream.stream<1xf32, 2>
    dataflow.task "t" attributes {kind = "compute"} {
      %n = dataflow.trip_count "seq max 4"
      // expected-error @below {{expected a constant lower bound and a positive constant step below a run-time upper bound}}
      scf.for %i = %c0 to %n step %n {
        %t = memref.alloc() : memref<1xf32>
        stream.write %t, %s : memref<1xf32>, !stream.stream<1xf32, 2>
      }
    }
    dataflow.yield
  }
  return
}

// -----

// expected-error @below {{expected a body of one block}}
func.func @blocks(%x: memref<4xf32>) {
  cf.br ^next
^next:
  return
}

// -----

func.func @computed_outside(%x: memref<4xf32>) {
  dataflow.kernel "k" (%m: memref<4xf32> = %x : memref<4xf32>) {
    %c1 = arith.constant 1 : index
    // expected-error @below {{expected streams, tasks and constants only in kernel 'k'}}
    %c2 = arith.addi %c1, %c1 : index
    dataflow.task "t" attributes {kind = "compute"} {
      %v = memref.load %m[%c2] : memref<4xf32>
      memref.store %v, %m[%c1] : memref<4xf32>
      dataflow.yield
    }
    dataflow.yield
  }
  return
}

// -----

func.func @copied(%x: memref<4xf32>) {
  dataflow.kernel "k" (%m: memref<4xf32> = %x : memref<4xf32>) {
    // expected-error @below {{expected loads, stores and stream accesses only but found another use of a value of type 'memref<4xf32>'}}
    dataflow.task "t" attributes {kind = "compute"} {
      %t = memref.alloc() : memref<4xf32>
      memref.copy %m, %t : memref<4xf32> to memref<4xf32>
      dataflow.yield
    }
    dataflow.yield
  }
  return
}
