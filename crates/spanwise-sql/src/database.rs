//! The databases that run statements.
