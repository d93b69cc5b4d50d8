//! Describes the changes in the waivers file: added, changed and removed waivers.

use super::{GateFileSide, Shift, compared, shown};
use sluicegate_base::text::count;
use sluicegate_pipelines::waivers::{WaiverEntry, read};
use std::collections::BTreeSet;

/// Maximum number of waivers of a kind that are listed one by one.
const NAMED: usize = 10;

/// Describes the changes in the waivers file, with a sentence for each waiver, or with a count and the first waivers if
/// there are many.
pub fn of_waivers(old: &GateFileSide, new: &GateFileSide) -> Vec<String> {
    let entries = |bytes: &[u8]| -> Result<BTreeSet<WaiverEntry>, _> {
        let placed = read(bytes, &|_| true)?;
        Ok(placed.into_iter().map(|placed| placed.entry).collect())
    };
    compared((old, new), entries, |old, new| {
        let gone: Vec<&WaiverEntry> = old.difference(new).collect();
        let come: Vec<&WaiverEntry> = new.difference(old).collect();
        let twin = |entry: &WaiverEntry, among: &[&WaiverEntry]| {
            among.iter().any(|other| other.subject() == entry.subject())
        };
        let (changed, added): (Vec<&WaiverEntry>, Vec<&WaiverEntry>) =
            come.iter().partition(|entry| twin(entry, &gone));
        let removed = gone.iter().filter(|entry| !twin(entry, &come)).copied();
        let removed: Vec<&WaiverEntry> = removed.collect();
        let said = [
            told(Shift::Relaxed, "added", &added),
            told(Shift::Other, "changed (reason, size or end)", &changed),
            told(Shift::Tightened, "removed", &removed),
        ]
        .concat();
        if said.is_empty() {
            return vec!["no waiver has changed".to_owned()];
        }
        said
    })
}

/// Describes these waivers. If there are many, starts with their number and lists the first ones.
fn told(shift: Shift, what: &str, entries: &[&WaiverEntry]) -> Vec<String> {
    let first = entries.iter().take(NAMED);
    let first = first.map(|entry| shift.told(&format!("waiver {what}: {}", named(entry))));
    let sum = (entries.len() > NAMED)
        .then(|| shift.told(&format!("{} {what}, such as", count(entries.len(), "waiver"))));
    sum.into_iter().chain(first).collect()
}

fn named(entry: &WaiverEntry) -> String {
    let more = [
        entry.size.map(|size| format!(" up to {size}")),
        entry.until.map(|until| format!(" until {until}")),
    ];
    let more: String = more.into_iter().flatten().collect();
    format!("{}{more}", shown(&entry.in_words()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(old: &str, new: &str) -> String {
        let side = |text: &str| GateFileSide::Text(text.as_bytes().to_vec());
        of_waivers(&side(old), &side(new)).join("\n")
    }

    #[test]
    fn each_waiver_says_what_it_is_about() {
        let old = "- { rule: unused-components, path: a, about: x, reason: r }\n- { rule: r, path: b, reason: r }\n";
        let new = "- { rule: maximum-components, path: 'sales/**', size: 12, reason: r }\n- { rule: r, path: b, reason: r, until: 2027-03-31 }\n";
        insta::assert_snapshot!(said(old, new), @"
        waiver added: maximum-components in sales/** up to 12 (relaxed)
        waiver changed (reason, size or end): r in b until 2027-03-31 (changed)
        waiver removed: unused-components in a, x (tightened)
        ");
        assert_eq!(said(old, &format!("# words\n{old}")), "no waiver has changed");
    }

    #[test]
    fn of_many_waivers_the_first_are_named() {
        let waiver = |number| format!("- {{ rule: r, path: a, about: c{number}, reason: r }}\n");
        let many = (100..640).map(waiver).collect::<Vec<_>>().concat();
        let added = said("", &many);
        let lines: Vec<&str> = added.lines().collect();
        assert_eq!(lines[0], "540 waivers added, such as (relaxed)");
        assert_eq!(lines[1], "waiver added: r in a, c100 (relaxed)");
        assert_eq!(lines.len(), 1 + NAMED);
        assert!(said(&many, "").starts_with("540 waivers removed, such as (tightened)\n"));
    }

    #[test]
    fn what_cannot_be_read_is_said_and_text_is_safe() {
        insta::assert_snapshot!(said("", "- { rule: r }"), @"the version of the change cannot be read: the waiver has no `path` (line 1, column 3)");
        let hostile = said("", "- { rule: \"a\\n::error::\\e[31m\", path: b, reason: r }");
        assert!(!hostile.contains(['\n', '\u{1b}']), "{hostile}");
    }
}
