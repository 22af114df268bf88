// The examples of itensor.md. utils/draw_itensor.py runs them through
// streamtensor-opt and draws what comes out.

// The types (b) and (c) of the paper over an 8x8 tensor, and what is between them.
func.func @paper(%b: !itensor.itensor<4x2xf32, [4, 2] * [2, 4], (d0, d1) -> (d1, d0)>) -> !itensor.itensor<4x2xf32, [4, 2, 2] * [2, 1, 4], (d0, d1, d2) -> (d2, d0)> {
  %c = itensor.converter %b : !itensor.itensor<4x2xf32, [4, 2] * [2, 4], (d0, d1) -> (d1, d0)>
                           to !itensor.itensor<4x2xf32, [4, 2, 2] * [2, 1, 4], (d0, d1, d2) -> (d2, d0)>
  return %c : !itensor.itensor<4x2xf32, [4, 2, 2] * [2, 1, 4], (d0, d1, d2) -> (d2, d0)>
}

// Rows of a 4x6 tensor against its columns: no common prefix.
func.func @transpose(%rows: !itensor.itensor<f32, [4, 6] * [1, 1], (d0, d1) -> (d0, d1)>) -> !itensor.itensor<f32, [6, 4] * [1, 1], (d0, d1) -> (d1, d0)> {
  %columns = itensor.converter %rows : !itensor.itensor<f32, [4, 6] * [1, 1], (d0, d1) -> (d0, d1)>
                                    to !itensor.itensor<f32, [6, 4] * [1, 1], (d0, d1) -> (d1, d0)>
  return %columns : !itensor.itensor<f32, [6, 4] * [1, 1], (d0, d1) -> (d1, d0)>
}

// Tokens of 4 rows against tokens of 6, each in rows of tokens: the loops are
// split so that both have segments of 12 rows.
func.func @common_multiple(%fours: !itensor.itensor<4x1xf32, [6, 2] * [4, 1], (d0, d1) -> (d0, d1)>) -> !itensor.itensor<6x1xf32, [4, 2] * [6, 1], (d0, d1) -> (d0, d1)> {
  %sixes = itensor.converter %fours : !itensor.itensor<4x1xf32, [6, 2] * [4, 1], (d0, d1) -> (d0, d1)>
                                   to !itensor.itensor<6x1xf32, [4, 2] * [6, 1], (d0, d1) -> (d0, d1)>
  return %sixes : !itensor.itensor<6x1xf32, [4, 2] * [6, 1], (d0, d1) -> (d0, d1)>
}

// Windows of 3x2 rows and columns of a 5x4 tensor that comes row by row.
func.func @windows(%image: !itensor.itensor<f32, [5, 4] * [1, 1], (d0, d1) -> (d0, d1)>) -> !itensor.itensor<3x2xf32, [3, 3] * [1, 1], (d0, d1) -> (d0, d1), overlapping> {
  %windows = itensor.converter %image : !itensor.itensor<f32, [5, 4] * [1, 1], (d0, d1) -> (d0, d1)>
                                     to !itensor.itensor<3x2xf32, [3, 3] * [1, 1], (d0, d1) -> (d0, d1), overlapping>
  return %windows : !itensor.itensor<3x2xf32, [3, 3] * [1, 1], (d0, d1) -> (d0, d1), overlapping>
}
