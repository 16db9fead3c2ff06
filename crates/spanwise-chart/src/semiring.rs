//! Semirings for parsing (Goodman 1999): one chart algorithm computes the best score, sums or counts.

use std::cell::RefCell;

/// Values with a sum over alternatives and a product along a derivation.
///
/// ```
/// use spanwise_chart::semiring::{Count, LogSum, Max, Semiring};
///
/// /// Two derivations with two scores each.
/// fn total<S: Semiring>() -> S::Value {
///     let derivation = |a, b| S::times(S::lift(a), S::lift(b));
///     S::plus(derivation(1.0, 2.0), derivation(0.5, 0.5))
/// }
/// assert_eq!(total::<Max>(), 3.0); // the Viterbi score
/// assert_eq!(total::<Count>(), 2.0);
/// assert!((total::<LogSum>() - (3f64.exp() + 1f64.exp()).ln()).abs() < 1e-12); // the log-partition
/// ```
pub trait Semiring {
    /// The values.
    type Value: Copy + PartialEq + std::fmt::Debug + Send + Sync;
    /// No derivation.
    const ZERO: Self::Value;
    /// The empty derivation.
    const ONE: Self::Value;
    /// The value of a score.
    fn lift(score: f64) -> Self::Value;
    /// The value of a score that is scaled down by `scale`. Semirings that need no scaling are given zeros.
    #[inline]
    fn lift_scaled(score: f32, scale: f64) -> Self::Value {
        Self::lift(f64::from(score) - scale)
    }
    /// One of two alternatives.
    fn plus(a: Self::Value, b: Self::Value) -> Self::Value;
    /// Both parts of a derivation.
    fn times(a: Self::Value, b: Self::Value) -> Self::Value;
    /// Arrays of this thread that charts have given back, so that the next chart need not allocate.
    fn with_spares<R>(act: impl FnOnce(&mut Vec<Vec<Self::Value>>) -> R) -> R;
}

thread_local! {
    static SINGLES: RefCell<Vec<Vec<f32>>> = const { RefCell::new(Vec::new()) };
    static DOUBLES: RefCell<Vec<Vec<f64>>> = const { RefCell::new(Vec::new()) };
}

/// Most arrays that a thread keeps, and most values in one of them.
const MAX_SPARES: usize = 2;
const MAX_SPARE_VALUES: usize = 4 << 20;

/// An array of at least `n` values, whatever they are.
pub(crate) fn take_array<S: Semiring>(n: usize) -> Vec<S::Value> {
    let mut array = S::with_spares(Vec::pop).unwrap_or_default();
    if array.len() < n {
        array.resize(n, S::ZERO);
    }
    array
}

/// Keeps an array for the next chart of this thread.
pub(crate) fn give_array<S: Semiring>(array: Vec<S::Value>) {
    S::with_spares(|spares| {
        if spares.len() < MAX_SPARES && array.capacity() <= MAX_SPARE_VALUES {
            spares.push(array);
        }
    });
}

/// The Viterbi (max-plus) semiring: the score of the best derivation, in single precision for speed.
#[derive(Clone, Copy, Debug)]
pub struct Max;

impl Semiring for Max {
    type Value = f32;
    const ZERO: f32 = f32::NEG_INFINITY;
    const ONE: f32 = 0.0;
    #[inline]
    fn lift(score: f64) -> f32 {
        score as f32
    }
    #[inline]
    fn lift_scaled(score: f32, _: f64) -> f32 {
        score
    }
    #[inline]
    fn plus(a: f32, b: f32) -> f32 {
        // `f32::max` treats NaN specially and is slower; scores are checked to hold none.
        if a > b { a } else { b }
    }
    #[inline]
    fn times(a: f32, b: f32) -> f32 {
        a + b
    }
    fn with_spares<R>(act: impl FnOnce(&mut Vec<Vec<Self::Value>>) -> R) -> R {
        SINGLES.with_borrow_mut(act)
    }
}

/// The inside semiring: the sum over derivations of the exponentials of their scores, in linear space. Fast; the
/// caller keeps values in range by scaling.
#[derive(Clone, Copy, Debug)]
pub struct Sum;

impl Semiring for Sum {
    type Value = f64;
    const ZERO: f64 = 0.0;
    const ONE: f64 = 1.0;
    #[inline]
    fn lift(score: f64) -> f64 {
        score.exp()
    }
    #[inline]
    fn plus(a: f64, b: f64) -> f64 {
        a + b
    }
    #[inline]
    fn times(a: f64, b: f64) -> f64 {
        a * b
    }
    fn with_spares<R>(act: impl FnOnce(&mut Vec<Vec<Self::Value>>) -> R) -> R {
        DOUBLES.with_borrow_mut(act)
    }
}

/// The same in log space: slower, for any range of scores.
#[derive(Clone, Copy, Debug)]
pub struct LogSum;

impl Semiring for LogSum {
    type Value = f64;
    const ZERO: f64 = f64::NEG_INFINITY;
    const ONE: f64 = 0.0;
    #[inline]
    fn lift(score: f64) -> f64 {
        score
    }
    #[inline]
    fn plus(a: f64, b: f64) -> f64 {
        let (high, low) = if a > b { (a, b) } else { (b, a) };
        if low == f64::NEG_INFINITY { high } else { high + (low - high).exp().ln_1p() }
    }
    #[inline]
    fn times(a: f64, b: f64) -> f64 {
        a + b
    }
    fn with_spares<R>(act: impl FnOnce(&mut Vec<Vec<Self::Value>>) -> R) -> R {
        DOUBLES.with_borrow_mut(act)
    }
}

/// The number of derivations, whatever their scores; impossible parts stay impossible. Exact up to 2^53.
#[derive(Clone, Copy, Debug)]
pub struct Count;

impl Semiring for Count {
    type Value = f64;
    const ZERO: f64 = 0.0;
    const ONE: f64 = 1.0;
    #[inline]
    fn lift(score: f64) -> f64 {
        if score == f64::NEG_INFINITY { 0.0 } else { 1.0 }
    }
    #[inline]
    fn plus(a: f64, b: f64) -> f64 {
        a + b
    }
    #[inline]
    fn times(a: f64, b: f64) -> f64 {
        a * b
    }
    fn with_spares<R>(act: impl FnOnce(&mut Vec<Vec<Self::Value>>) -> R) -> R {
        DOUBLES.with_borrow_mut(act)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn laws<S: Semiring>(scores: [f64; 3], close: impl Fn(S::Value, S::Value) -> bool) {
        let [a, b, c] = scores.map(S::lift);
        assert!(close(S::plus(a, b), S::plus(b, a)));
        assert!(close(S::plus(S::plus(a, b), c), S::plus(a, S::plus(b, c))));
        assert!(close(S::times(S::times(a, b), c), S::times(a, S::times(b, c))));
        assert!(close(S::times(a, S::plus(b, c)), S::plus(S::times(a, b), S::times(a, c))));
        assert!(close(S::plus(a, S::ZERO), a) && close(S::times(a, S::ONE), a));
        assert!(close(S::times(a, S::ZERO), S::ZERO));
    }

    #[test]
    fn every_semiring_obeys_the_laws() {
        let near = |a: f64, b: f64| a == b || (a - b).abs() < 1e-9 * (1.0 + a.abs());
        for scores in [[0.5, -1.0, 2.0], [0.0, f64::NEG_INFINITY, -3.0]] {
            laws::<Max>(scores, |a, b| a == b || (a - b).abs() < 1e-5);
            laws::<Sum>(scores, near);
            laws::<LogSum>(scores, near);
            laws::<Count>(scores, near);
        }
    }
}
