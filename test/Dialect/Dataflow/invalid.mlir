// What the verifiers of the dataflow dialect refuse, and what they say.
// RUN: streamtensor-opt %s --split-input-file --verify-diagnostics

!s = !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>

func.func @boundary(%arg0: tensor<4xf32>) {
  // expected-error @below {{'dataflow.kernel' op expected block argument 0 to be an itensor over 'tensor<4xf32>' but got '!itensor.itensor<f32, [8] * [1], (d0) -> (d0)>'}}
  // expected-note @below {{it covers 'tensor<8xf32>'}}
  dataflow.kernel "k" (%x : !s = %arg0 : tensor<4xf32>) {
    dataflow.yield
  }
  return
}

// -----

!s = !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>

func.func @yielded(%arg0: tensor<8xf32>) {
  // expected-error @below {{'dataflow.kernel' op expected yielded value 0 to be an itensor over 'tensor<4xf32>' but got}}
  // expected-note @below {{it covers 'tensor<8xf32>'}}
  %0 = dataflow.kernel "k" (%x : !s = %arg0 : tensor<8xf32>) -> (tensor<4xf32>) {
    dataflow.yield %x : !s
  }
  return
}

// -----

!s = !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>

func.func @results(%arg0: tensor<8xf32>) {
  // expected-error @below {{'dataflow.kernel' op expected 1 yielded values but got 0}}
  %0 = dataflow.kernel "k" (%x : !s = %arg0 : tensor<8xf32>) -> (tensor<8xf32>) {
    dataflow.yield
  }
  return
}

// -----

// A kernel is isolated: everything that it uses is an operand.
!s = !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>

func.func @isolated(%a: !s) {
  // expected-note @below {{required by region isolation constraints}}
  dataflow.kernel "k" () {
    // expected-error @below {{'itensor.read' op using value defined outside the region}}
    %0 = itensor.read %a : !s -> f32
    dataflow.yield
  }
  return
}

// -----

!s = !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>

func.func @task_results(%e: !s) {
  // expected-error @below {{'dataflow.task' op expected yielded values of types}}
  %0 = dataflow.task "t" inits(%o = %e) : (!s) {
    dataflow.yield
  }
  return
}

// -----

!rows = !itensor.itensor<f32, [2, 4] * [1, 1], (d0, d1) -> (d0, d1)>
!columns = !itensor.itensor<f32, [4, 2] * [1, 1], (d0, d1) -> (d1, d0)>

func.func @task_order(%e: !rows, %s: !columns) {
  // expected-error @below {{'dataflow.task' op expected yielded values of types '!itensor.itensor<f32, [2, 4] * [1, 1], (d0, d1) -> (d0, d1)>' but got '!itensor.itensor<f32, [4, 2] * [1, 1], (d0, d1) -> (d1, d0)>'}}
  // expected-note @below {{token 1 is at (1, 0) in the yielded stream but at (0, 1) in the result}}
  %0 = dataflow.task "t" inits(%o = %e) : (!rows) {
    dataflow.yield %s : !columns
  }
  return
}

// -----

// One FIFO, two tasks that write it.
!s = !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>

func.func @two_writers() {
  dataflow.kernel "k" () {
    %i = itensor.instance "s" depth 2 : !s
    // expected-note @below {{the other writer is here}}
    %a = dataflow.task "a" inits(%o = %i) : (!s) {
      dataflow.yield %o : !s
    }
    // expected-error @below {{'dataflow.task' op expected to be the only writer of the stream of init 0, '!itensor.itensor<f32, [8] * [1], (d0) -> (d0)>', but task 'a' writes it too; a FIFO has one writer: write another stream and join them with itensor.concat or itensor.join}}
    %b = dataflow.task "b" inits(%o = %i) : (!s) {
      dataflow.yield %o : !s
    }
    dataflow.yield
  }
  return
}

// -----

// A task appends to what another one wrote; a cast is the same FIFO.
!s = !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>
!t = !itensor.itensor<f32, [2, 4] * [4, 1], (d0, d1) -> (d0 + d1)>

func.func @appended() {
  dataflow.kernel "k" () {
    %e = itensor.empty : !s
    // expected-note @below {{the other writer is here}}
    %a = dataflow.task "a" inits(%o = %e) : (!s) {
      dataflow.yield %o : !s
    }
    %c = itensor.cast %a : !s to !t
    // expected-error @below {{'dataflow.task' op expected to be the only writer of the stream of init 0, '!itensor.itensor<f32, [2, 4] * [4, 1], (d0, d1) -> (d0 + d1)>', but 'dataflow.task' writes it too}}
    %b = dataflow.task "b" inits(%o = %c) : (!t) {
      dataflow.yield %o : !t
    }
    dataflow.yield
  }
  return
}

// -----

// An operand of the kernel is written by its load.
!s = !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>

func.func @written_operand(%arg0: tensor<8xf32>) {
  // expected-note @below {{the other writer is here}}
  dataflow.kernel "k" (%x : !s = %arg0 : tensor<8xf32>) {
    // expected-error @below {{expected to be the only writer of the stream of init 0, '!itensor.itensor<f32, [8] * [1], (d0) -> (d0)>', but the load of operand 0 of the kernel writes it too}}
    %b = dataflow.task "b" inits(%o = %x) : (!s) {
      dataflow.yield %o : !s
    }
    dataflow.yield
  }
  return
}

// -----

// Two tasks inside a task share its destination.
!s = !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>

func.func @nested_writers() {
  dataflow.kernel "k" () {
    %e = itensor.empty : !s
    %z = dataflow.task "outer" inits(%o = %e) : (!s) {
      // expected-note @below {{the other writer is here}}
      %a = dataflow.task "first" inits(%p = %o) : (!s) {
        dataflow.yield %p : !s
      }
      // expected-error @below {{but task 'first' writes it too}}
      %b = dataflow.task "second" inits(%p = %o) : (!s) {
        dataflow.yield %p : !s
      }
      dataflow.yield %b : !s
    }
    dataflow.yield
  }
  return
}

// -----

func.func @kind() {
  // expected-error @below {{'dataflow.task' op expected kind to be one of compute, dma_in, dma_out, converter, fork, join but got 'magic'}}
  dataflow.task "t" attributes {kind = "magic"} {
    dataflow.yield
  }
  return
}

// -----

// expected-error @below {{'dataflow.yield' op expects parent op to be one of 'dataflow.kernel, dataflow.task'}}
dataflow.yield

// -----

// expected-error @below {{expected order, tile and unroll of one rank but got 2, 1 and 2}}
#s = #dataflow.schedule<order = [0, 1], tile = [1], unroll = [1, 1]>

// -----

// expected-error @below {{expected order to be a permutation of 0..1}}
#s = #dataflow.schedule<order = [1, 1], tile = [1, 1], unroll = [1, 1]>

// -----

// expected-error @below {{expected positive tile and unroll factors}}
#s = #dataflow.schedule<order = [0], tile = [0], unroll = [1]>

// -----

// expected-error @below {{expected unroll factor 3 to divide tile 16 of dimension 0}}
#s = #dataflow.schedule<order = [0], tile = [16], unroll = [3]>

// -----

// expected-error @below {{expected a step for each of 3 loops but got 2}}
#s = #dataflow.schedule<order = [0, 1, 0], steps = [16, 1], tile = [1, 1], unroll = [1, 1]>

// -----

// expected-error @below {{expected step 3 of loop 2 to divide the step 16 outside it}}
#s = #dataflow.schedule<order = [0, 1, 0], steps = [16, 1, 3], tile = [3, 1], unroll = [1, 1]>

// -----

// expected-error @below {{expected the innermost loop of dimension 0 to step by the tile 1 but got 4}}
#s = #dataflow.schedule<order = [0, 1, 0], steps = [16, 1, 4], tile = [1, 1], unroll = [1, 1]>

// -----

func.func @constant() {
  // expected-error @below {{expected an expression of run-time parameters but got the constant 4; use arith.constant}}
  %n = dataflow.trip_count "4"
  return
}

// -----

func.func @no_maximum() {
  // expected-error @below {{parameter 'seq' needs its maximum at its first use: write 'seq max N'}}
  %n = dataflow.trip_count "seq + 1"
  return
}

// -----

func.func @spelling() {
  // expected-error @below {{expected the canonical spelling 'past max 8 + 1' but got '1 + past max 8'}}
  %n = dataflow.trip_count "1 + past max 8"
  return
}

// -----

!s = !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>

func.func @arguments(%arg0: tensor<8xf32>) {
  // expected-error @below {{'dataflow.kernel' op expected 1 block arguments but got 0}}
  "dataflow.kernel"(%arg0) <{sym = "k"}> ({
    "dataflow.yield"() : () -> ()
  }) : (tensor<8xf32>) -> ()
  return
}

// -----

func.func @kernel_end() {
  // expected-error @below {{'dataflow.kernel' op expected dataflow.yield as terminator}}
  "dataflow.kernel"() <{sym = "k"}> ({
    func.return
  }) : () -> ()
  return
}

// -----

!s = !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>

func.func @task_arguments(%e: !s) {
  // expected-error @below {{'dataflow.task' op expected one block argument per init, of its type}}
  %0 = "dataflow.task"(%e) <{sym = "t"}> ({
    "dataflow.yield"(%e) : (!s) -> ()
  }) : (!s) -> !s
  return
}

// -----

!s = !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>
!t = !itensor.itensor<f32, [4] * [1], (d0) -> (d0)>

func.func @task_outputs(%e: !s) {
  // expected-error @below {{'dataflow.task' op expected one result per init, of its type}}
  %0 = "dataflow.task"(%e) <{sym = "t"}> ({
  ^bb0(%o: !s):
    "dataflow.yield"(%o) : (!s) -> ()
  }) : (!s) -> !t
  return
}

// -----

func.func @task_end() {
  // expected-error @below {{'dataflow.task' op expected dataflow.yield as terminator}}
  "dataflow.task"() <{sym = "t"}> ({
    func.return
  }) : () -> ()
  return
}
