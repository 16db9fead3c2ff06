//! Tables, columns and keys of a database.
