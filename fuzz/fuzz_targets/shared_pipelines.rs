//! Any bytes as a shared-pipelines file.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sluicegate_pipelines::pipelines::SharedPipelines;

fuzz_target!(|bytes: &[u8]| {
    let _ = SharedPipelines::parse(bytes);
});
