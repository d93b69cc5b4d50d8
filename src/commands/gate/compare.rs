//! `sluicegate report --compare`: what is new, known and fixed since an older report.

use crate::base::error::Failure;
use crate::base::git::short_id;
use crate::base::text::count;
use crate::gate;
use crate::model::findings::{ComparedWith, Report};

/// How parts become something that can be compared.
const HINT: &str = "make one report of the parts first: `sluicegate report PART.json… --report json=FILE`";

/// A failure where they cannot be compared.
pub(super) fn comparable(older: &Report, new: &[Report]) -> Result<(), Failure> {
    let [new] = new else {
        let what = format!("--compare takes one new report, and {} are given", new.len());
        return Err(Failure::usage(what).hint(HINT));
    };
    if let Some(part) = older.context.shard.or(new.context.shard) {
        let what = format!("a report of the part {part} alone cannot be compared");
        return Err(Failure::usage(what).hint(HINT));
    }
    if new.context.compared_with.is_some() {
        let what = "the new report compares two reports already, and is no review";
        return Err(Failure::usage(what).hint("compare the report that the review wrote"));
    }
    Ok(())
}

/// Marks the new report's findings, and says in it what it was compared with and what stayed open.
pub(super) fn tell(new: &mut Report, older: Report) {
    let head = older.context.head.clone();
    let of = head.as_deref().map_or("a working tree", short_id).to_owned();
    let gaps = gate::compare(new, older);
    new.context.compared_with = Some(ComparedWith { head });
    let notes = &mut new.notes;
    notes.push(format!("compared by --compare with a report of {of}"));
    if let Some((path, why)) = gaps.unknown.first() {
        let files = count(gaps.unknown.len(), "file");
        notes.push(format!(
            "the old report cannot tell what is new in {files}: {path}: {why}"
        ));
    }
    if !gaps.unjudged.is_empty() {
        let rules: Vec<&str> = gaps.unjudged.iter().map(String::as_str).collect();
        notes.push(format!(
            "what these rules found before is not told as fixed, as nothing was judged by them: {}",
            rules.join(", ")
        ));
    }
}
