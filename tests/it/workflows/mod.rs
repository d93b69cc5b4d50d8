//! Entire days of a user: several commands in a row.

mod adoption_to_second_version;
mod first_steps_of_book;
