//! Exact search and exact learning signals over span trees.
//!
//! Scores come in as plain arrays; trees, programs, partition functions and gradients go out. Nothing here
//! knows a tensor, a data set or a predicate by name.

pub mod paper;
pub mod tree;

pub use tree::{Category, SpanTree, TreeNode};
