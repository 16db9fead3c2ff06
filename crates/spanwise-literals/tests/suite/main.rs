//! Tests of the recognizers from outside.

mod expressions;
mod properties;
