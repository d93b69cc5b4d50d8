//! `sluicegate schema`, `completions` and `man`.

mod schema_completions_man;
