//! Any bytes as a pipeline: an answer or an error with its place, and every name that it has is found in a text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sluicegate_pipelines::pipelines::Pipeline;

fuzz_target!(|bytes: &[u8]| {
    let Ok(pipeline) = Pipeline::parse(bytes) else { return };
    let _ = pipeline.references();
    let _ = pipeline.find_subject(&String::from_utf8_lossy(bytes));
    for component in pipeline.components.iter().take(50) {
        let _ = pipeline.find_subject(&format!("component \"{}\"", component.name));
    }
});
