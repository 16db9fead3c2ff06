//! Programs to statements.
