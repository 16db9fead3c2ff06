//! The Gaussian error linear unit, in a form that compilers turn into vector instructions.
//!
//! That of the backend computes the error function number by number, once forward and once more backward.

use crate::device::device;
use burn::tensor::{Tensor, TensorData};
use std::f32::consts::{FRAC_1_SQRT_2, LOG2_E};

/// `x` times the share of the normal distribution below `x`.
pub(crate) fn gelu(x: Tensor<2>) -> Tensor<2> {
    let shape = x.dims();
    let tensor = |values: Vec<f32>| Tensor::<2>::from_data(TensorData::new(values, shape), &device());
    if !x.is_tracked() {
        let mut values = numbers(x);
        values.iter_mut().for_each(|x| *x *= normal(*x).0);
        return tensor(values);
    }
    // A line with the value and the slope of the curve at `x`: both are computed together, and never again.
    let mut slopes = numbers(x.clone());
    let mut rests = vec![0.0; slopes.len()];
    for (x, rest) in slopes.iter_mut().zip(&mut rests) {
        let (share, density) = normal(*x);
        *rest = -(*x * *x * density);
        *x = share + *x * density;
    }
    x * tensor(slopes) + tensor(rests)
}

fn numbers(x: Tensor<2>) -> Vec<f32> {
    // The backend computes in f32 throughout.
    x.into_data().try_into_vec::<f32>().unwrap_or_default()
}

/// The share of the standard normal distribution below `x`, and its density there, to about 1e-7.
#[inline(always)]
fn normal(x: f32) -> (f32, f32) {
    const DENSITY: f32 = 0.398_942_3;
    let bell = exp_of_minus((0.5 * x * x).min(87.0));
    // Abramowitz and Stegun, 7.1.26.
    let t = 1.0 / (1.0 + 0.327_591_1 * (x.abs() * FRAC_1_SQRT_2));
    let series = 0.254_829_6 + t * (-0.284_496_74 + t * (1.421_413_7 + t * (-1.453_152 + t * 1.061_405_4)));
    let tail = 0.5 * t * series * bell;
    (if x < 0.0 { tail } else { 1.0 - tail }, DENSITY * bell)
}

/// The exponential of `-x`, for `x` from 0 to 87, without a branch.
#[inline(always)]
fn exp_of_minus(x: f32) -> f32 {
    /// Added to a number, it leaves the nearest whole number in the lowest bits.
    const ROUND: f32 = 12_582_912.0;
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    let rounded = ROUND - x * LOG2_E;
    let power = rounded - ROUND;
    let rest = -x - power * LN_2_HIGH - power * LN_2_LOW;
    let series = 1.0 / 6.0 + rest * (1.0 / 24.0 + rest * (1.0 / 120.0 + rest * (1.0 / 720.0)));
    let series = 1.0 + rest * (1.0 + rest * (0.5 + rest * series));
    // Two to that power: its exponent is the only bits that are set.
    let exponent = rounded.to_bits().wrapping_sub(ROUND.to_bits()).wrapping_add(127);
    series * f32::from_bits(exponent << 23)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;
    use burn::tensor::activation;

    fn grid() -> Vec<f32> {
        let fine = (-12_000..=12_000).map(|at| at as f32 * 1e-3);
        fine.chain([0.0, -0.0, 1e-30, -1e-30, 40.0, -40.0, 1e4, -1e4]).collect()
    }

    /// Values and derivatives, each times a weight of its own.
    fn run(gelu: impl Fn(Tensor<2>) -> Tensor<2>, tracked: bool) -> (Vec<f32>, Vec<f32>) {
        let grid = grid();
        let weights: Vec<f32> = (0..grid.len()).map(|at| 1.0 + (at % 3) as f32).collect();
        let tensor = |values: Vec<f32>| {
            let shape = [1, values.len()];
            Tensor::<2>::from_data(TensorData::new(values, shape), &device())
        };
        let x = tensor(grid);
        if !tracked {
            return (numbers(gelu(x)), Vec::new());
        }
        let x = x.autodiff().require_grad();
        let y = gelu(x.clone());
        let mut gradients = (y.clone() * tensor(weights)).sum().backward();
        (numbers(y.inner()), numbers(x.grad_remove(&mut gradients).unwrap()))
    }

    fn distance(a: &[f32], b: &[f32]) -> f32 {
        assert_eq!(a.len(), b.len());
        // Relative where numbers are large.
        a.iter().zip(b).map(|(a, b)| (a - b).abs() / b.abs().max(1.0)).fold(0.0, f32::max)
    }

    #[test]
    fn values_and_derivatives_are_those_of_the_slow_form() {
        let (values, slopes) = run(activation::gelu, true);
        let (found, found_slopes) = run(gelu, true);
        let (plain, _) = run(gelu, false);
        let errors = [distance(&found, &values), distance(&plain, &values), distance(&found_slopes, &slopes)];
        println!("largest differences {errors:?}");
        assert!(errors.iter().all(|&error| error < 1e-6), "{errors:?}");
    }

    #[test]
    fn the_exponential_is_exact_to_a_few_bits() {
        for at in 0..=87_000 {
            let x = at as f32 * 1e-3;
            let (found, expected) = (f64::from(exp_of_minus(x)), (-f64::from(x)).exp());
            assert!((found - expected).abs() <= 3e-7 * expected, "{x}: {found} {expected}");
        }
    }

    #[test]
    fn what_is_no_number_stays_so() {
        let x = Tensor::<2>::from_data(TensorData::new(vec![f32::NAN, 1.0], [1, 2]), &device());
        let values = numbers(gelu(x));
        assert!(values[0].is_nan() && values[1].is_finite());
    }
}
