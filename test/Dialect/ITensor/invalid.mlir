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

// Tokens of 4 in steps of 2 overlap, and the type does not say so.
// expected-error @below {{data dimension 0 is overlapped: expected step 4 for loop d0 (the element size) but got 2}}
func.func private @overlap(!itensor.itensor<4xf32, [4] * [2], (d0) -> (d0)>)

// -----

// Windows may overlap, but leave nothing out.
// expected-error @below {{data dimension 0 is covered with gaps: expected step 3 for loop d0 (what loop d1 and those inside it cover) but got 4}}
func.func private @window_gap(!itensor.itensor<f32, [2, 3] * [4, 1], (d0, d1) -> (d0 + d1), overlapping>)

// -----

// expected-error @below {{is marked overlapping but its tokens do not overlap}}
func.func private @no_overlap(!itensor.itensor<4xf32, [4] * [4], (d0) -> (d0), overlapping>)

// -----

// expected-error @below {{parameter 'seq' needs its maximum at its first use: write 'seq max N'}}
func.func private @no_maximum(!itensor.itensor<f32, [seq] * [1], (d0) -> (d0)>)

// -----

// expected-error @below {{parameter 'seq' has two maxima, 8 and 9}}
func.func private @two_maxima(!itensor.itensor<f32, [seq max 8, seq max 9] * [1, 1], (d0, d1) -> (d0, d1)>)

// -----

// expected-error @below {{expected a trip count of at least 0 for loop d0 but 'past + -1' can be as low as -1}}
func.func private @negative(!itensor.itensor<f32, [past max 8 + -1] * [1], (d0) -> (d0)>)

// -----

// With seq = 7 the two halves would overlap.
// expected-error @below {{data dimension 0 is not covered for all values: expected a constant trip count for loop d1, which loop d0 steps over, but got 'seq'}}
func.func private @runtime_inside(!itensor.itensor<f32, [2, seq max 8] * [8, 1], (d0, d1) -> (d0 + d1)>)

// -----

// expected-error @below {{expected a trip count: an integer, a parameter or ceildiv}}
func.func private @no_trip(!itensor.itensor<f32, [8 * 2] * [1], (d0) -> (d0)>)

// -----

// Equal for 0 and 1 rows; two rows differ.
func.func @runtime_order(%a: !itensor.itensor<f32, [past max 2, 4] * [1, 1], (d0, d1) -> (d0, d1)>) {
  // expected-error @below {{'itensor.cast' op expected types of one token sequence but got '!itensor.itensor<f32, [past max 2, 4] * [1, 1], (d0, d1) -> (d0, d1)>' and '!itensor.itensor<f32, [4, past max 2] * [1, 1], (d0, d1) -> (d1, d0)>'}}
  // expected-note @below {{with past = 2, token 1 is at (0, 1) in the source but at (1, 0) in the result}}
  %0 = itensor.cast %a : !itensor.itensor<f32, [past max 2, 4] * [1, 1], (d0, d1) -> (d0, d1)>
      to !itensor.itensor<f32, [4, past max 2] * [1, 1], (d0, d1) -> (d1, d0)>
  return
}

// -----

// One parameter cannot have two maxima in one operation either.
func.func @runtime_maxima(%a: !itensor.itensor<f32, [past max 2] * [1], (d0) -> (d0)>) {
  // expected-error @below {{'itensor.cast' op expected types of one token sequence but got}}
  // expected-note @below {{parameter 'past' has a maximum of 2 on one side and of 3 on the other}}
  %0 = itensor.cast %a : !itensor.itensor<f32, [past max 2] * [1], (d0) -> (d0)> to !itensor.itensor<f32, [past max 3] * [1], (d0) -> (d0)>
  return
}

// -----

// A tensor of as many rows only when past is 4.
func.func @runtime_shape(%a: !itensor.itensor<f32, [past max 4] * [1], (d0) -> (d0)>) {
  // expected-error @below {{'itensor.converter' op expected types of one tensor shape but got '!itensor.itensor<f32, [past max 4] * [1], (d0) -> (d0)>' and '!itensor.itensor<f32, [4] * [1], (d0) -> (d0)>'}}
  // expected-note @below {{with past = 0, the source covers a tensor of 0 but the result one of 4}}
  %0 = itensor.converter %a : !itensor.itensor<f32, [past max 4] * [1], (d0) -> (d0)> to !itensor.itensor<f32, [4] * [1], (d0) -> (d0)>
  return
}

// -----

// The part is a row too short.
func.func @runtime_concat(%a: !itensor.itensor<f32, [past max 7] * [1], (d0) -> (d0)>, %b: !itensor.itensor<f32, [1] * [1], (d0) -> (d0)>) {
  // expected-error @below {{'itensor.concat' op expected parts that make up '!itensor.itensor<f32, [past max 7 + 2] * [1], (d0) -> (d0)>' but got}}
  // expected-note @below {{with past = 7, the parts fill 8 of 9 along dimension 0}}
  %r = itensor.concat %a, %b dim 0 : !itensor.itensor<f32, [past max 7] * [1], (d0) -> (d0)>, !itensor.itensor<f32, [1] * [1], (d0) -> (d0)>
      to !itensor.itensor<f32, [past max 7 + 2] * [1], (d0) -> (d0)>
  return
}

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
  // expected-error @below {{'itensor.cast' op expected types of one element type but got '!itensor.itensor<f32, [8] * [1], (d0) -> (d0)>' and '!itensor.itensor<i32, [8] * [1], (d0) -> (d0)>'}}
  %0 = itensor.cast %a : !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>
                      to !itensor.itensor<i32, [8] * [1], (d0) -> (d0)>
  return
}

// -----

func.func @reassociate_count(%a: !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>) {
  // expected-error @below {{'itensor.reassociate' op expected types of one element order but got '!itensor.itensor<f32, [8] * [1], (d0) -> (d0)>' and '!itensor.itensor<f32, [6] * [1], (d0) -> (d0)>'}}
  // expected-note @below {{the source has 8 elements but the result has 6}}
  %0 = itensor.reassociate %a : !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>
                             to !itensor.itensor<f32, [6] * [1], (d0) -> (d0)>
  return
}

// -----

// As many elements, but a transposed walk: element 1 of the source is the next in
// its row, in the result it is the next in its column, which lies 4 further on.
func.func @reassociate_order(%a: !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>) {
  // expected-error @below {{'itensor.reassociate' op expected types of one element order but got}}
  // expected-note @below {{element 1 is at (1) of 8 in the source but at (1, 0) of 2x4 in the result}}
  %0 = itensor.reassociate %a : !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>
                             to !itensor.itensor<f32, [4, 2] * [1, 1], (d0, d1) -> (d1, d0)>
  return
}

// -----

// Tokens of 2x2 hold two rows: after two elements they go back to column 0, the
// source goes on to column 2.
func.func @reassociate_token(%a: !itensor.itensor<1x2xf32, [4, 4] * [1, 2], (d0, d1) -> (d0, d1)>) {
  // expected-error @below {{'itensor.reassociate' op expected types of one element order but got}}
  // expected-note @below {{element 2 is at (0, 2) of 4x8 in the source but at (1, 0) of 4x8 in the result}}
  %0 = itensor.reassociate %a : !itensor.itensor<1x2xf32, [4, 4] * [1, 2], (d0, d1) -> (d0, d1)>
                             to !itensor.itensor<2x2xf32, [2, 4] * [2, 2], (d0, d1) -> (d0, d1)>
  return
}

// -----

// A million million elements are compared by their loops.
func.func @reassociate_big(%a: !itensor.itensor<f32, [1048576, 1048576] * [1, 1], (d0, d1) -> (d0, d1)>) {
  // expected-error @below {{'itensor.reassociate' op expected types of one element order but got}}
  // expected-note @below {{element 524288 is at (0, 524288) of 1048576x1048576 in the source but at (0, 1048576) of 524288x2097152 in the result}}
  %0 = itensor.reassociate %a : !itensor.itensor<f32, [1048576, 1048576] * [1, 1], (d0, d1) -> (d0, d1)>
                             to !itensor.itensor<f32, [524288, 2, 2, 524288] * [1, 524288, 1048576, 1], (d0, d1, d2, d3) -> (d0, d1 + d2 + d3)>
  return
}

// -----

func.func @converter_shape(%a: !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>) {
  // expected-error @below {{'itensor.converter' op expected types of one tensor shape but got '!itensor.itensor<f32, [8] * [1], (d0) -> (d0)>' and '!itensor.itensor<f32, [2, 4] * [1, 1], (d0, d1) -> (d0, d1)>'}}
  // expected-note @below {{the source covers a tensor of 8 but the result one of 2x4}}
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
  // expected-error @below {{'itensor.fork' op expected types of one spelling but got '!itensor.itensor<f32, [8] * [1], (d0) -> (d0)>' and '!itensor.itensor<f32, [4] * [1], (d0) -> (d0)>'}}
  // expected-note @below {{the source has 8 tokens but the result has 4}}
  %0 = "itensor.fork"(%a) : (!itensor.itensor<f32, [8] * [1], (d0) -> (d0)>)
                          -> !itensor.itensor<f32, [4] * [1], (d0) -> (d0)>
  return
}

// -----

func.func @buffer_shape(%a: !itensor.itensor<f32, [2, 4] * [1, 1], (d0, d1) -> (d0, d1)>) {
  // expected-error @below {{'itensor.converter' op expected a buffer_shape within the tensor 'tensor<2x4xf32>' but got [2, 5]}}
  %0 = itensor.converter %a {buffer_shape = array<i64: 2, 5>} : !itensor.itensor<f32, [2, 4] * [1, 1], (d0, d1) -> (d0, d1)>
      to !itensor.itensor<f32, [4, 2] * [1, 1], (d0, d1) -> (d1, d0)>
  return
}

// -----

// The second part should begin with row 2: its first token is the same, then it
// goes down a column where the whole goes along a row.
func.func @chunk_order(%s: !itensor.itensor<f32, [4, 4] * [1, 1], (d0, d1) -> (d0, d1)>) {
  // expected-error @below {{'itensor.chunk' op expected parts that make up '!itensor.itensor<f32, [4, 4] * [1, 1], (d0, d1) -> (d0, d1)>' but got '!itensor.itensor<f32, [2, 4] * [1, 1], (d0, d1) -> (d0, d1)>', '!itensor.itensor<f32, [4, 2] * [1, 1], (d0, d1) -> (d1, d0)>'}}
  // expected-note @below {{token 1 is at (0, 1) in the whole (at part 1) but at (1, 0) in the part 1}}
  %p:2 = itensor.chunk %s dim 0 : !itensor.itensor<f32, [4, 4] * [1, 1], (d0, d1) -> (d0, d1)>
      to !itensor.itensor<f32, [2, 4] * [1, 1], (d0, d1) -> (d0, d1)>, !itensor.itensor<f32, [4, 2] * [1, 1], (d0, d1) -> (d1, d0)>
  return
}

// -----

func.func @chunk_size(%s: !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>) {
  // expected-error @below {{'itensor.chunk' op expected parts that make up '!itensor.itensor<f32, [8] * [1], (d0) -> (d0)>' but got}}
  // expected-note @below {{the parts fill 7 of 8 along dimension 0}}
  %p:2 = itensor.chunk %s dim 0 : !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>
      to !itensor.itensor<f32, [3] * [1], (d0) -> (d0)>, !itensor.itensor<f32, [4] * [1], (d0) -> (d0)>
  return
}

// -----

func.func @chunk_token(%s: !itensor.itensor<4xf32, [2] * [4], (d0) -> (d0)>) {
  // expected-error @below {{'itensor.chunk' op expected parts that make up '!itensor.itensor<4xf32, [2] * [4], (d0) -> (d0)>' but got}}
  // expected-note @below {{part 0 is no stream: [0, 3) of data dimension 0 cuts through tokens of 4}}
  %p:2 = itensor.chunk %s dim 0 : !itensor.itensor<4xf32, [2] * [4], (d0) -> (d0)>
      to !itensor.itensor<3xf32, [1] * [3], (d0) -> (d0)>, !itensor.itensor<5xf32, [1] * [5], (d0) -> (d0)>
  return
}

// -----

func.func @chunk_dim(%s: !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>) {
  // expected-error @below {{'itensor.chunk' op expected a dimension below 1 but got 1}}
  %p = itensor.chunk %s dim 1 : !itensor.itensor<f32, [8] * [1], (d0) -> (d0)> to !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>
  return
}

// -----

func.func @chunk_nobody(%s: !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>) {
  // expected-error @below {{'itensor.chunk' op expected at least one part}}
  "itensor.chunk"(%s) {dim = 0 : i64} : (!itensor.itensor<f32, [8] * [1], (d0) -> (d0)>) -> ()
  return
}

// -----

func.func @concat_shape(%a: !itensor.itensor<f32, [2, 4] * [1, 1], (d0, d1) -> (d0, d1)>, %b: !itensor.itensor<f32, [2, 3] * [1, 1], (d0, d1) -> (d0, d1)>) {
  // expected-error @below {{'itensor.concat' op expected parts that make up '!itensor.itensor<f32, [4, 4] * [1, 1], (d0, d1) -> (d0, d1)>' but got}}
  // expected-note @below {{part 1 covers a tensor of 2x3, which is no slice of 4x4 along dimension 0}}
  %r = itensor.concat %a, %b dim 0 : !itensor.itensor<f32, [2, 4] * [1, 1], (d0, d1) -> (d0, d1)>, !itensor.itensor<f32, [2, 3] * [1, 1], (d0, d1) -> (d0, d1)>
      to !itensor.itensor<f32, [4, 4] * [1, 1], (d0, d1) -> (d0, d1)>
  return
}

// -----

func.func @concat_element(%a: !itensor.itensor<f32, [4] * [1], (d0) -> (d0)>, %b: !itensor.itensor<i32, [4] * [1], (d0) -> (d0)>) {
  // expected-error @below {{'itensor.concat' op expected types of one element type but got '!itensor.itensor<f32, [8] * [1], (d0) -> (d0)>' and '!itensor.itensor<i32, [4] * [1], (d0) -> (d0)>'}}
  %r = itensor.concat %a, %b dim 0 : !itensor.itensor<f32, [4] * [1], (d0) -> (d0)>, !itensor.itensor<i32, [4] * [1], (d0) -> (d0)>
      to !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>
  return
}

// -----

// Three streams cannot take turns in rows of four tokens.
func.func @join_turns(%a: !itensor.itensor<f32, [4] * [1], (d0) -> (d0)>) {
  // expected-error @below {{'itensor.join' op expected sources that take turns in '!itensor.itensor<f32, [3, 4] * [1, 1], (d0, d1) -> (d0, d1)>' but got}}
  // expected-note @below {{expected the innermost loop to make a multiple of 3 trips but got 4}}
  %r = itensor.join %a, %a, %a : !itensor.itensor<f32, [4] * [1], (d0) -> (d0)>, !itensor.itensor<f32, [4] * [1], (d0) -> (d0)>, !itensor.itensor<f32, [4] * [1], (d0) -> (d0)>
      to !itensor.itensor<f32, [3, 4] * [1, 1], (d0, d1) -> (d0, d1)>
  return
}

// -----

// The columns are dealt out, so a source walks down 2x2: after (0, 0) comes
// (0, 1), not (1, 0).
func.func @join_order(%a: !itensor.itensor<f32, [2, 2] * [1, 1], (d0, d1) -> (d1, d0)>) {
  // expected-error @below {{'itensor.join' op expected sources that take turns in '!itensor.itensor<f32, [2, 4] * [1, 1], (d0, d1) -> (d0, d1)>' but got '!itensor.itensor<f32, [2, 2] * [1, 1], (d0, d1) -> (d1, d0)>', '!itensor.itensor<f32, [2, 2] * [1, 1], (d0, d1) -> (d1, d0)>'}}
  // expected-note @below {{token 1 is at (0, 1) in the share but at (1, 0) in the source 0}}
  %r = itensor.join %a, %a : !itensor.itensor<f32, [2, 2] * [1, 1], (d0, d1) -> (d1, d0)>, !itensor.itensor<f32, [2, 2] * [1, 1], (d0, d1) -> (d1, d0)>
      to !itensor.itensor<f32, [2, 4] * [1, 1], (d0, d1) -> (d0, d1)>
  return
}

// -----

func.func @shared_loops(%a: !itensor.itensor<f32, [2, 4] * [1, 1], (d0, d1) -> (d0, d1)>) {
  // expected-error @below {{attribute 'shared_loops' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
  %0 = itensor.converter %a {shared_loops = -1 : i64} : !itensor.itensor<f32, [2, 4] * [1, 1], (d0, d1) -> (d0, d1)>
      to !itensor.itensor<f32, [4, 2] * [1, 1], (d0, d1) -> (d1, d0)>
  return
}

// -----

// A token cut in two along the dimension of the parts overlaps with its neighbours.
func.func @chunk_windows(%s: !itensor.itensor<3xf32, [4] * [1], (d0) -> (d0), overlapping>) {
  // expected-error @below {{'itensor.chunk' op expected parts that make up}}
  // expected-note @below {{tokens overlap along data dimension 0}}
  %p:2 = itensor.chunk %s dim 0 : !itensor.itensor<3xf32, [4] * [1], (d0) -> (d0), overlapping>
      to !itensor.itensor<3xf32, [1] * [3], (d0) -> (d0)>, !itensor.itensor<3xf32, [1] * [3], (d0) -> (d0)>
  return
}

// -----

func.func @join_nobody() {
  // expected-error @below {{'itensor.join' op expected at least one source}}
  %r = "itensor.join"() : () -> !itensor.itensor<f32, [4] * [1], (d0) -> (d0)>
  return
}

// -----

// Four windows of three cover a row of six, but bring elements again.
func.func @reassociate_windows(%s: !itensor.itensor<3xf32, [4] * [1], (d0) -> (d0), overlapping>) {
  // expected-error @below {{'itensor.reassociate' op expected types of one element order but got}}
  // expected-note @below {{element 3 is at (1) of 6 in the source but at (3) of 6 in the result}}
  %r = itensor.reassociate %s : !itensor.itensor<3xf32, [4] * [1], (d0) -> (d0), overlapping>
      to !itensor.itensor<f32, [6] * [1], (d0) -> (d0)>
  return
}

// -----

// Windows of another size from the same tensor are other tokens.
func.func @cast_windows(%s: !itensor.itensor<3xf32, [4] * [1], (d0) -> (d0), overlapping>) {
  // expected-error @below {{'itensor.cast' op expected types of one token}}
  // expected-note @below {{the source has tokens of shape '3' but the result of shape '2'}}
  %r = itensor.cast %s : !itensor.itensor<3xf32, [4] * [1], (d0) -> (d0), overlapping>
      to !itensor.itensor<2xf32, [5] * [1], (d0) -> (d0), overlapping>
  return
}

// -----

func.func @bytes(%a: !itensor.itensor<f32, [2, 4] * [1, 1], (d0, d1) -> (d0, d1)>) {
  // expected-error @below {{attribute 'bytes' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
  %0 = itensor.converter %a {bytes = -32 : i64} : !itensor.itensor<f32, [2, 4] * [1, 1], (d0, d1) -> (d0, d1)>
      to !itensor.itensor<f32, [4, 2] * [1, 1], (d0, d1) -> (d1, d0)>
  return
}
