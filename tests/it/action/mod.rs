//! The GitHub action.

mod hostile_checkout;
