//! Links a development build for Linux at fixed addresses.
//!
//! The tests start the program about 15,000 times. With variable addresses, each start corrects 240,000 addresses, which
//! takes half of its processor time. A release keeps variable addresses, because they make an attack harder.

use std::env;

#[expect(
    clippy::disallowed_methods,
    reason = "Cargo passes the target to a build script in the environment"
)]
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let value = |name: &str| env::var(name).unwrap_or_default();
    let is_linux = value("CARGO_CFG_TARGET_OS") == "linux" && value("CARGO_CFG_TARGET_ENV") == "gnu";
    if is_linux && value("PROFILE") == "debug" {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
