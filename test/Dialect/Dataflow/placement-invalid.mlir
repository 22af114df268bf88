// RUN: streamtensor-opt %s --split-input-file --verify-diagnostics

!s = !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>

func.func @die_of_a_fifo() {
  // expected-error @below {{expected 'dataflow.die' to be the name of a die, on a task or its function, but got "SLR0"}}
  %0 = itensor.instance "a" depth 2 {dataflow.die = "SLR0"} : !s
  return
}

// -----

// expected-error @below {{expected 'dataflow.die' to be the name of a die, on a task or its function, but got 1 : i64}}
func.func private @die_by_number() attributes {dataflow.die = 1 : i64}

// -----

// expected-error @below {{expected 'dataflow.memories' to be a dictionary on a task or its function but got "bram"}}
func.func private @memories() attributes {dataflow.memories = "bram"}

// -----

// expected-error @below {{expected lutram, bram or uram for array 'acc' but got "srl"}}
func.func private @memories() attributes {dataflow.memories = {acc = "srl"}}

// -----

!s = !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>

func.func @memory_of_a_fifo() {
  // expected-error @below {{expected 'dataflow.memory' to be srl, lutram, bram or uram, on a fifo, but got "hbm"}}
  %0 = itensor.instance "a" depth 2 {dataflow.memory = "hbm"} : !s
  return
}

// -----

// expected-error @below {{expected 'dataflow.memory' to be srl, lutram, bram or uram, on a fifo, but got "bram"}}
func.func private @memory_of_a_function() attributes {dataflow.memory = "bram"}

// -----

func.func @stages() {
  // expected-error @below {{expected 'dataflow.crossing' to be 1 to 64 stages, on a fifo, but got 65 : i64}}
  %0 = stream.stream "a" {dataflow.crossing = 65 : i64} : !stream.stream<f32, 2>
  return
}

// -----

func.func @stages() {
  // expected-error @below {{expected 'dataflow.crossing' to be 1 to 64 stages, on a fifo, but got 0 : i64}}
  %0 = stream.stream "a" {dataflow.crossing = 0 : i64} : !stream.stream<f32, 2>
  return
}
