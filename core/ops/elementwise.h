#pragma once

// Elementwise operations.
//
// Shapes    the operands broadcast (NumPy's rules: sizes aligned at the end; equal, or one is 1)
// Dtypes    the operands share one; a number next to a Tensor takes the Tensor's. f32 and f64, and
//           i64 and bool where a declaration says so; i64 wraps around on overflow
// Gradient  of any order
// Throws    ShapeError, DTypeError
// Cost      one pass over the result
//
// NaN stays NaN. Where a derivative is unbounded (sqrt, rsqrt, log, pow, division at 0; exp where
// it overflows), a gradient of exactly 0 from above gives exactly 0, by selection: what `where` or
// a mask discarded never turns into NaN on the way back.
#include <attograd/core/ops/activations.h>
#include <attograd/core/ops/arithmetic.h>
#include <attograd/core/ops/compare.h>
#include <attograd/core/ops/functions.h>
