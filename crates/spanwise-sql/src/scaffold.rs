//! Domain files from the schema of a database.
