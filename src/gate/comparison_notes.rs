//! Runs `sluicegate report --compare`: finds the new, known and fixed findings since an older report.

use crate::error::Failure;
use crate::gate;
use crate::model::findings::{ComparedWith, Report, Verdict};
use sluicegate_base::text::count;
use sluicegate_git::short_id;

/// Hint to merge the shards of a review before a comparison.
const HINT: &str = "merge the shards into a report first: `sluicegate report PART.json… --report json=FILE`";

/// Returns an error if the reports cannot be compared.
pub(crate) fn comparable(older: &Report, new: &[Report]) -> Result<(), Failure> {
    let [new] = new else {
        let what = format!(
            "--compare requires exactly one new report, but {} are given",
            new.len()
        );
        return Err(Failure::usage(what).hint(HINT));
    };
    if let Some(part) = older.context.shard.or(new.context.shard) {
        let what = format!("cannot compare a report that covers only shard {part}");
        return Err(Failure::usage(what).hint(HINT));
    }
    if new.context.compared_with.is_some() {
        let what = "the new report is itself a comparison of two reports, not a review";
        return Err(Failure::usage(what).hint("compare the report that the review wrote"));
    }
    Ok(())
}

/// Marks the new report's findings and adds notes about the comparison and the files that could not be compared.
pub(crate) fn tell(new: &mut Report, older: Report) {
    let head = older.context.head.clone();
    let of = head.as_deref().map_or("a working tree", short_id).to_owned();
    let gaps = gate::compare(new, older);
    new.context.compared_with = Some(ComparedWith { head });
    let notes = &mut new.notes;
    notes.push(format!("compared by --compare with a report of {of}"));
    if let Some((path, why)) = gaps.unknown.first() {
        let files = count(gaps.unknown.len(), "file");
        let reason = format!("the old report cannot show which findings are new in {files}: {path}: {why}");
        notes.push(reason.clone());
        if new.verdict == Verdict::Undecided {
            new.reasons.push(reason);
        }
    }
    if !gaps.unjudged.is_empty() {
        let rules: Vec<&str> = gaps.unjudged.iter().map(String::as_str).collect();
        notes.push(format!(
            "these rules were not evaluated, so their earlier findings do not count as fixed: {}",
            rules.join(", ")
        ));
    }
}
