//! Each rule on graphs drawn from the input: the first byte is the kind, each further pair a component's type and link.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sluicegate_pipelines::findings::Enforcement;
use sluicegate_pipelines::rules::{RuleSet, registry};
use std::fmt::Write as _;
use std::sync::LazyLock;

const TYPES: [&str; 8] = ["start", "end-success", "end-failure", "if", "fixed-iterator", "filter", "table-output-v2", "~"];

/// One file for each rule, so that no rule hides another.
static RULES: LazyLock<Vec<RuleSet>> = LazyLock::new(|| {
    let entries = registry().iter().map(|rule| rule.documentation().rules_file_entry(Enforcement::Error));
    entries.map(|entry| RuleSet::parse(format!("rules:\n{entry}").as_bytes())).collect()
});

fuzz_target!(|bytes: &[u8]| {
    let Some((first, rest)) = bytes.split_first() else { return };
    let kind = if first % 2 == 0 { "orchestration" } else { "transformation" };
    let mut document = format!("type: {kind}\npipeline:\n  components:\n");
    for (at, pair) in rest.chunks_exact(2).enumerate() {
        let (component, link) = (TYPES[usize::from(pair[0] % 8)], pair[1]);
        let key = if kind == "orchestration" { "transitions: {success" } else { "sources: [], x: {y" };
        let sources = if kind == "orchestration" { String::new() } else { format!(", sources: [c{link}]") };
        let target = pair[0] / 8;
        let links = if kind == "orchestration" { format!(", {key}: [c{link}, c{target}]}}, iterationTarget: c{target}") } else { sources };
        let _ = writeln!(document, "    c{at}: {{type: {component}{links}}}");
    }
    for rules in RULES.iter() {
        let _ = rules.evaluate("x.orch.yaml", document.as_bytes());
        let _ = rules.evaluate("x.orch.yaml", bytes);
    }
});
