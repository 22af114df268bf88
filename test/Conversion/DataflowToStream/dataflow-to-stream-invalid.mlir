// RUN: streamtensor-opt %s --st-dataflow-to-stream --split-input-file --verify-diagnostics

!A = !itensor.itensor<1x256xf32, [4] * [1], (d0) -> (d0, 0)>

// 256 * 32 bits.
func.func @wide_token(%x: memref<4x256xf32>) {
  dataflow.kernel "k" (%mx: memref<4x256xf32> = %x : memref<4x256xf32>) {
    // expected-error @below {{expected a token of at most 4096 bits but got 8192}}
    %e = itensor.instance "wide_out" depth 2 : !A
    dataflow.yield
  }
  return
}

// -----

!A = !itensor.itensor<2xf32, [4] * [2], (d0) -> (d0)>

func.func @not_allocated(%x: memref<8xf32>) {
  dataflow.kernel "k" (%mx: memref<8xf32> = %x : memref<8xf32>) {
    %c = arith.constant dense<0.0> : tensor<2xf32>
    // expected-error @below {{expected an itensor.instance, or an operation that passes one on, as origin of a stream}}
    // expected-note @below {{allocate FIFOs first (phase allocated)}}
    %e = itensor.empty : !A
    %s = dataflow.task "t" inits(%o = %e) : (!A) attributes {kind = "compute"} {
      %q = itensor.write %c into %o : tensor<2xf32>, !A
      dataflow.yield %q : !A
    }
    dataflow.yield
  }
  return
}

// -----

!A = !itensor.itensor<2xf32, [4] * [2], (d0) -> (d0)>

func.func @two_readers(%x: memref<8xf32>) {
  dataflow.kernel "k" (%mx: memref<8xf32> = %x : memref<8xf32>) {
    %c = arith.constant dense<0.0> : tensor<2xf32>
    // expected-error @below {{expected one task that reads 't_out' but got 2}}
    %e = itensor.instance "t_out" depth 2 : !A
    %s = dataflow.task "t" inits(%o = %e) : (!A) attributes {kind = "compute"} {
      %q = itensor.write %c into %o : tensor<2xf32>, !A
      dataflow.yield %q : !A
    }
    // expected-note @below {{reads in task 'a'}}
    dataflow.task "a" attributes {kind = "dma_out"} {
      %ti = tensor.empty() : tensor<2xf32>
      %t = itensor.read %s init(%ti : tensor<2xf32>) : !A -> tensor<2xf32>
      dataflow.yield
    }
    // expected-note @below {{reads in task 'b'}}
    dataflow.task "b" attributes {kind = "dma_out"} {
      %ti = tensor.empty() : tensor<2xf32>
      %t = itensor.read %s init(%ti : tensor<2xf32>) : !A -> tensor<2xf32>
      dataflow.yield
    }
    dataflow.yield
  }
  return
}

// -----

!A = !itensor.itensor<2xf32, [4] * [2], (d0) -> (d0)>

func.func @not_materialized(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{expected no results but got 1; materialize memory accesses first}}
  %0 = dataflow.kernel "k" (%mx: !A = %x : tensor<8xf32>) -> (tensor<8xf32>) {
    %e = itensor.instance "t_out" depth 2 : !A
    dataflow.yield %e : !A
  }
  return %0 : tensor<8xf32>
}

// -----

!A = !itensor.itensor<2xf32, [4] * [2], (d0) -> (d0)>
!B = !itensor.itensor<1x4xf32, [2] * [1], (d0) -> (d0, 0)>

// A change of the token width needs a task.
func.func @width(%x: memref<8xf32>) {
  dataflow.kernel "k" (%mx: memref<8xf32> = %x : memref<8xf32>) {
    %c = arith.constant dense<0.0> : tensor<2xf32>
    // expected-note @below {{the stream is this one}}
    %e = itensor.instance "t_out" depth 2 : !A
    %s = dataflow.task "t" inits(%o = %e) : (!A) attributes {kind = "compute"} {
      %q = itensor.write %c into %o : tensor<2xf32>, !A
      dataflow.yield %q : !A
    }
    %r = itensor.reassociate %s : !A to !B
    dataflow.task "a" attributes {kind = "dma_out"} {
      %ti = tensor.empty() : tensor<1x4xf32>
      // expected-error @below {{expected a token of 2 elements but got 4; a change of the token width is a task}}
      %t = itensor.read %r init(%ti : tensor<1x4xf32>) : !B -> tensor<1x4xf32>
      dataflow.yield
    }
    dataflow.yield
  }
  return
}

// -----

!A = !itensor.itensor<2xf32, [4] * [2], (d0) -> (d0)>

// The old accumulator is read after the loop that updates it in place.
func.func @not_in_place(%x: memref<8xf32>) {
  dataflow.kernel "k" (%mx: memref<8xf32> = %x : memref<8xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %zero = arith.constant 0.0 : f32
    %e = itensor.instance "t_out" depth 2 : !A
    %s = dataflow.task "t" inits(%o = %e) : (!A) attributes {kind = "compute"} {
      %a0 = tensor.empty() : tensor<1024xf32>
      %a1 = linalg.fill ins(%zero : f32) outs(%a0 : tensor<1024xf32>) -> tensor<1024xf32>
      // expected-error @below {{expected an update in place but a copy of 'memref<1024xf32>' would be needed}}
      // expected-error @below {{failed to bufferize op}}
      %a2 = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %a1) -> (tensor<1024xf32>) {
        %t = tensor.extract_slice %a[0] [2] [1] : tensor<1024xf32> to tensor<2xf32>
        %u = linalg.fill ins(%zero : f32) outs(%t : tensor<2xf32>) -> tensor<2xf32>
        %v = tensor.insert_slice %u into %a[%i] [2] [1] : tensor<2xf32> into tensor<1024xf32>
        scf.yield %v : tensor<1024xf32>
      }
      %old = tensor.extract_slice %a1[0] [2] [1] : tensor<1024xf32> to tensor<2xf32>
      %new = tensor.extract_slice %a2[0] [2] [1] : tensor<1024xf32> to tensor<2xf32>
      %q = itensor.write %old into %o : tensor<2xf32>, !A
      %q1 = itensor.write %new into %q : tensor<2xf32>, !A
      dataflow.yield %q1 : !A
    }
    dataflow.task "a" attributes {kind = "dma_out"} {
      %ti = tensor.empty() : tensor<2xf32>
      %t = itensor.read %s init(%ti : tensor<2xf32>) : !A -> tensor<2xf32>
      dataflow.yield
    }
    dataflow.yield
  }
  return
}

// -----

!A = !itensor.itensor<2xf32, [4] * [2], (d0) -> (d0)>

func.func @unknown_operation(%x: memref<8xf32>) {
  dataflow.kernel "k" (%mx: memref<8xf32> = %x : memref<8xf32>) {
    %c = arith.constant dense<0.0> : tensor<2xf32>
    %e = itensor.instance "t_out" depth 2 : !A
    %s = dataflow.task "t" inits(%o = %e) : (!A) attributes {kind = "compute"} {
      // expected-error @below {{op was not bufferized}}
      %d = tensor.bitcast %c : tensor<2xf32> to tensor<2xi32>
      %f = tensor.bitcast %d : tensor<2xi32> to tensor<2xf32>
      %q = itensor.write %f into %o : tensor<2xf32>, !A
      dataflow.yield %q : !A
    }
    dataflow.task "a" attributes {kind = "dma_out"} {
      %ti = tensor.empty() : tensor<2xf32>
      %t = itensor.read %s init(%ti : tensor<2xf32>) : !A -> tensor<2xf32>
      dataflow.yield
    }
    dataflow.yield
  }
  return
}

// -----

!A = !itensor.itensor<2xf32, [4] * [2], (d0) -> (d0)>

// A loop that goes on with another FIFO than it was given.
func.func @other_stream(%x: memref<8xf32>) {
  dataflow.kernel "k" (%mx: memref<8xf32> = %x : memref<8xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c = arith.constant dense<0.0> : tensor<2xf32>
    %e = itensor.instance "e_out" depth 2 : !A
    %f = itensor.instance "f_out" depth 2 : !A
    %s:2 = dataflow.task "t" inits(%o = %e, %p = %f) : (!A, !A) attributes {kind = "compute"} {
      // expected-error @below {{expected to give back the stream 'e_out' but got 'f_out'}}
      %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %o) -> (!A) {
        %q = itensor.write %c into %p : tensor<2xf32>, !A
        scf.yield %q : !A
      }
      dataflow.yield %r, %p : !A, !A
    }
    dataflow.yield
  }
  return
}

// -----

!A = !itensor.itensor<2xf32, [4] * [2], (d0) -> (d0)>

func.func @no_task(%x: memref<8xf32>) {
  dataflow.kernel "k" (%mx: memref<8xf32> = %x : memref<8xf32>) {
    %c = arith.constant dense<0.0> : tensor<2xf32>
    %e = itensor.instance "e_out" depth 2 : !A
    // expected-error @below {{expected to stand inside a dataflow.task}}
    %q = itensor.write %c into %e : tensor<2xf32>, !A
    dataflow.yield
  }
  return
}

// -----

!A = !itensor.itensor<2xf32, [4] * [2], (d0) -> (d0)>

// The kernel reads a tensor: nothing has made it a DMA task.
func.func @no_dma(%x: tensor<8xf32>) {
  // expected-error @below {{expected the stream of a task but got an argument of 'dataflow.kernel'; accesses of memory must be DMA tasks (phase materialized)}}
  dataflow.kernel "k" (%mx: !A = %x : tensor<8xf32>) {
    dataflow.task "a" attributes {kind = "compute"} {
      %ti = tensor.empty() : tensor<2xf32>
      %t = itensor.read %mx init(%ti : tensor<2xf32>) : !A -> tensor<2xf32>
      dataflow.yield
    }
    dataflow.yield
  }
  return
}
