// What the verifiers of the itensor dialect refuse, and what they say.
// RUN: streamtensor-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{expected an integer or float element type but got 'index'}}
func.func private @element(!itensor.itensor<index, [4] * [1], (d0) -> (d0)>)

// -----

// expected-error @below {{expected as many steps as trip counts but got 1 and 2}}
func.func private @steps(!itensor.itensor<f32, [4, 2] * [1], (d0, d1) -> (d0, d1)>)

// -----

// expected-error @below {{expected a map of 2 iteration dimensions but got 1}}
func.func private @map(!itensor.itensor<f32, [4, 2] * [1, 1], (d0) -> (d0)>)

// -----

// expected-error @below {{expected an element of rank 1 or a scalar but got rank 2}}
func.func private @rank(!itensor.itensor<1x4xf32, [4] * [4], (d0) -> (d0)>)

// -----

// expected-error @below {{expected each map result to be a sum of distinct iteration dimensions or the constant 0}}
func.func private @product(!itensor.itensor<f32, [4] * [1], (d0) -> (d0 * 2)>)

// -----

// expected-error @below {{expected each map result to be a sum of distinct iteration dimensions or the constant 0}}
func.func private @constant(!itensor.itensor<f32, [4] * [1], (d0) -> (d0, 1)>)

// -----

// expected-error @below {{loop d0 is used twice, by data dimensions 0 and 1}}
func.func private @twice(!itensor.itensor<f32, [4] * [1], (d0) -> (d0, d0)>)

// -----

// expected-error @below {{expected step 1 for loop d1, which no data dimension uses, but got 2}}
func.func private @revisit(!itensor.itensor<f32, [4, 3] * [1, 2], (d0, d1) -> (d0)>)

// -----

// Tokens of 2 in steps of 4 leave every other pair out.
// expected-error @below {{data dimension 0 is covered with gaps: expected step 2 for loop d0 (the element size) but got 4}}
func.func private @gap(!itensor.itensor<2xf32, [4] * [4], (d0) -> (d0)>)

// -----

// Tokens of 4 in steps of 2 overlap.
// expected-error @below {{data dimension 0 is overlapped: expected step 4 for loop d0 (the element size) but got 2}}
func.func private @overlap(!itensor.itensor<4xf32, [4] * [2], (d0) -> (d0)>)

// -----

func.func @token_type(%a: !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>) {
  // expected-error @below {{'itensor.read' op expected a token of type 'f32' but got 'f64'}}
  %0 = itensor.read %a : !itensor.itensor<f32, [8] * [1], (d0) -> (d0)> -> f64
  return
}

// -----

func.func @no_init(%a: !itensor.itensor<4xf32, [2] * [4], (d0) -> (d0)>) {
  // expected-error @below {{'itensor.read' op expected an init tensor for a token of type 'tensor<4xf32>'}}
  %0 = itensor.read %a : !itensor.itensor<4xf32, [2] * [4], (d0) -> (d0)> -> tensor<4xf32>
  return
}

// -----

func.func @init_type(%a: !itensor.itensor<4xf32, [2] * [4], (d0) -> (d0)>, %i: tensor<8xf32>) {
  // expected-error @below {{'itensor.read' op expected an init of type 'tensor<4xf32>' but got 'tensor<8xf32>'}}
  %0 = itensor.read %a init(%i : tensor<8xf32>) : !itensor.itensor<4xf32, [2] * [4], (d0) -> (d0)> -> tensor<4xf32>
  return
}

// -----

func.func @written_type(%v: tensor<2xf32>, %a: !itensor.itensor<4xf32, [2] * [4], (d0) -> (d0)>) {
  // expected-error @below {{'itensor.write' op expected a token of type 'tensor<4xf32>' but got 'tensor<2xf32>'}}
  %0 = itensor.write %v into %a : tensor<2xf32>, !itensor.itensor<4xf32, [2] * [4], (d0) -> (d0)>
  return
}

// -----

func.func @no_depth() {
  // expected-error @below {{attribute 'depth' failed to satisfy constraint}}
  %0 = itensor.instance "s" depth 0 : !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>
  return
}

// -----

// Rows first against columns first: both begin at (0, 0), the second tokens differ.
func.func @cast_order(%a: !itensor.itensor<f32, [2, 4] * [1, 1], (d0, d1) -> (d0, d1)>) {
  // expected-error @below {{'itensor.cast' op expected types of one token sequence but got}}
  // expected-note @below {{token 1 is at (0, 1) in the source but at (1, 0) in the result}}
  %0 = itensor.cast %a : !itensor.itensor<f32, [2, 4] * [1, 1], (d0, d1) -> (d0, d1)>
                      to !itensor.itensor<f32, [4, 2] * [1, 1], (d0, d1) -> (d1, d0)>
  return
}

// -----

func.func @cast_element(%a: !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>) {
  // expected-error @below {{'itensor.cast' op expected element type 'f32' but got 'i32'}}
  %0 = itensor.cast %a : !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>
                      to !itensor.itensor<i32, [8] * [1], (d0) -> (d0)>
  return
}

// -----

func.func @reassociate_count(%a: !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>) {
  // expected-error @below {{'itensor.reassociate' op expected as many elements as the source has, 8, but got 6}}
  %0 = itensor.reassociate %a : !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>
                             to !itensor.itensor<f32, [6] * [1], (d0) -> (d0)>
  return
}

// -----

func.func @converter_shape(%a: !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>) {
  // expected-error @below {{'itensor.converter' op expected types of one tensor shape but got 'tensor<8xf32>' and 'tensor<2x4xf32>'}}
  %0 = itensor.converter %a : !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>
                           to !itensor.itensor<f32, [2, 4] * [1, 1], (d0, d1) -> (d0, d1)>
  return
}

// -----

func.func @fork_nobody(%a: !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>) {
  // expected-error @below {{expected at least one copy}}
  itensor.fork %a times 0 : !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>
  return
}

// -----

func.func @fork_type(%a: !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>) {
  // expected-error @below {{'itensor.fork' op expected a copy of type}}
  %0 = "itensor.fork"(%a) : (!itensor.itensor<f32, [8] * [1], (d0) -> (d0)>)
                          -> !itensor.itensor<f32, [4] * [1], (d0) -> (d0)>
  return
}
