//! Selects the findings to list: one entry for equal findings with all their places, one for many findings of a rule in
//! a file, and one for each problem of the rules file with all affected files.

use super::ViewMedium;
use crate::PathBase;
use crate::finding_tone::Tone;
use sluicegate_base::text::{List, format_count, join_names_within};
use sluicegate_pipelines::findings::{Finding, FindingState, Severity, ShowMode};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Maximum length of the list of names in an entry, in characters.
const MAX_NAMES_LENGTH: usize = 2_000;

/// A finding, with all other places of equal findings, or with other findings of its rule in the same file.
pub(crate) struct FindingEntry<'a> {
    pub finding: Finding<'a>,
    /// The equal findings, in their order.
    pub equal_findings: Vec<Finding<'a>>,
    /// Findings of the same rule, level and state in the same file, with other messages, in their order.
    pub related_findings: Vec<Finding<'a>>,
}

impl<'a> FindingEntry<'a> {
    /// Creates the entry of one finding. Equal and related findings are added later.
    const fn new(finding: Finding<'a>) -> Self {
        Self {
            finding,
            equal_findings: Vec::new(),
            related_findings: Vec::new(),
        }
    }

    /// Returns all findings of the entry, `finding` first.
    pub(crate) fn findings(&self) -> impl Iterator<Item = &Finding<'a>> {
        std::iter::once(&self.finding)
            .chain(&self.equal_findings)
            .chain(&self.related_findings)
    }

    /// Returns the paths of the findings, each once, in the order of the findings.
    pub(crate) fn list_paths(&self) -> Vec<&'a str> {
        let mut listed_paths = HashSet::new();
        let mut paths: Vec<&str> = self.findings().map(|finding| finding.path).collect();
        paths.retain(|path| listed_paths.insert(*path));
        paths
    }

    /// Describes an entry with related findings in one sentence, such as `Each of 3 components has no output`, and a
    /// list of the names of these components or variables. `None` if there are no related findings, if the message does
    /// not begin with the kind and the name, or if the first name is too long for the list.
    pub(crate) fn describe_block(&self) -> Option<(String, String)> {
        let (name, kind) = (self.finding.about?, self.finding.about_kind?.name());
        if self.related_findings.is_empty() {
            return None;
        }
        let message = self.finding.message();
        let (start, end) = message.split_once(name)?;
        let start = start.trim_end_matches(['"', '\'', '`']).to_lowercase();
        if start.trim().trim_start_matches("the ") != kind {
            return None;
        }
        let predicate = end.trim_start_matches(['"', '\'', '`']);
        let findings: Vec<&Finding<'_>> = std::iter::once(&self.finding)
            .chain(&self.related_findings)
            .collect();
        let names: Vec<String> = findings
            .iter()
            .map(|finding| format!("{} (line {})", finding.about.unwrap_or_default(), finding.line))
            .collect();
        let subject = format!("Each of {}", format_count(findings.len(), kind));
        Some((
            format!("{subject}{predicate}"),
            join_names_within(&names, MAX_NAMES_LENGTH)?,
        ))
    }

    /// Returns a sentence with the number of related findings, and with the names of their components or variables
    /// unless the first name is too long; `None` if there are no related findings.
    pub(crate) fn describe_related_findings(&self) -> Option<String> {
        if self.related_findings.is_empty() {
            return None;
        }
        let count = format_count(self.related_findings.len(), "more finding");
        let names: Vec<String> = self
            .related_findings
            .iter()
            .map(|finding| match finding.about {
                Some(name) => format!("{name} (line {})", finding.line),
                None => format!("line {}", finding.line),
            })
            .collect();
        let sentence = format!("{count} of this rule in the file");
        Some(match join_names_within(&names, MAX_NAMES_LENGTH) {
            Some(name_list) => format!("{sentence}: {name_list}"),
            None => sentence,
        })
    }
}

/// A problem of the rules file that keeps rules from being evaluated, with the affected files.
pub(crate) struct UnevaluatedCause<'a> {
    /// The finding of the first file.
    pub finding: Finding<'a>,
    pub paths: Vec<&'a str>,
}

impl UnevaluatedCause<'_> {
    /// Returns the affected files, such as `3 files: a, b and c`.
    pub(crate) fn describe_affected_files(&self, base: &PathBase) -> String {
        let list = List::new(&self.paths).map(|path| base.display_path(path));
        format!("{}: {list}", format_count(self.paths.len(), "file"))
    }
}

/// The listed findings, and the numbers of those that are not listed.
pub(super) struct FindingSelection<'a> {
    pub causes: Vec<UnevaluatedCause<'a>>,
    pub entries: Vec<FindingEntry<'a>>,
    /// Number of findings that are not listed, without known and waived ones.
    pub omitted_count: usize,
    /// Number of known findings that are not listed.
    pub omitted_known_count: usize,
    /// Number of waived findings that are not listed.
    pub omitted_waived_count: usize,
}

impl<'a> FindingSelection<'a> {
    /// Selects which findings a report lists, and counts the others. Errors in the rules file are listed separately, as
    /// causes. Known and waived findings are listed only if `show` and `medium` include them; the limit of `show`
    /// applies only to the entries of other findings. `medium` determines which findings become one entry.
    pub(super) fn from_findings(
        findings: &[Finding<'a>],
        show: Option<ShowMode>,
        medium: ViewMedium,
    ) -> Self {
        let blocks = medium.choose_rule_blocks(show);
        let (mut counted_findings, mut old_findings): (Vec<_>, Vec<_>) =
            findings.iter().cloned().partition(Finding::is_counted);
        let causes = take_rules_file_causes(&mut counted_findings);
        let counted_entries = blocks.merge_related_entries(merge_equal_findings(counted_findings, medium));
        let (mut listed_entries, omitted_entries) =
            choose_most_severe(counted_entries, medium.max_entries(show));
        let omitted_count = omitted_entries.iter().map(|entry| entry.findings().count()).sum();
        // If they are listed, known and waived findings are removed from `old_findings`, which counts the omitted ones.
        if medium.includes_excused(show) {
            let old_entries = merge_equal_findings(std::mem::take(&mut old_findings), medium);
            listed_entries.extend(blocks.merge_related_entries(old_entries));
        }
        let waived_findings = old_findings
            .iter()
            .filter(|finding| finding.state == Some(FindingState::Waived));
        let omitted_waived_count = waived_findings.count();
        Self {
            causes,
            entries: listed_entries,
            omitted_count,
            omitted_known_count: old_findings.len() - omitted_waived_count,
            omitted_waived_count,
        }
    }
}

/// Splits the entries into the most severe ones, at most `max_count`, and the others. Both parts keep their order,
/// which is by nearness to the change: a warning on a changed line must not displace the error that fails the gate.
fn choose_most_severe(
    entries: Vec<FindingEntry<'_>>,
    max_count: usize,
) -> (Vec<FindingEntry<'_>>, Vec<FindingEntry<'_>>) {
    let mut tones: Vec<(Tone, usize)> = entries
        .iter()
        .map(|entry| Tone::for_finding(&entry.finding))
        .zip(0..)
        .collect();
    tones.sort_unstable();
    let chosen_indices: HashSet<usize> = tones.iter().take(max_count).map(|(_, index)| *index).collect();
    let (mut chosen_entries, mut other_entries) = (Vec::new(), Vec::new());
    for (index, entry) in entries.into_iter().enumerate() {
        if chosen_indices.contains(&index) {
            chosen_entries.push(entry);
        } else {
            other_entries.push(entry);
        }
    }
    (chosen_entries, other_entries)
}

/// The properties by which findings are equal: rule, level, state and message.
pub(crate) type FindingKey<'a> = (&'a str, Severity, Option<FindingState>, String);

pub(crate) fn finding_key<'a>(finding: &Finding<'a>) -> FindingKey<'a> {
    (finding.rule, finding.severity, finding.state, finding.message())
}

/// Merges equal findings into one entry, at the position of the first. On a page, which lists the findings by file,
/// equal findings in different files stay separate.
fn merge_equal_findings(findings: Vec<Finding<'_>>, medium: ViewMedium) -> Vec<FindingEntry<'_>> {
    let is_by_file = medium == ViewMedium::Page;
    let mut indices: HashMap<(Option<&str>, FindingKey<'_>), usize> = HashMap::new();
    let mut entries: Vec<FindingEntry<'_>> = Vec::new();
    for finding in findings {
        let key = (is_by_file.then_some(finding.path), finding_key(&finding));
        if let Some(entry) = indices.get(&key).and_then(|index| entries.get_mut(*index)) {
            entry.equal_findings.push(finding);
            continue;
        }
        indices.insert(key, entries.len());
        entries.push(FindingEntry::new(finding));
    }
    entries
}

/// The findings of a rule in a file that become one entry.
#[derive(Clone, Copy)]
pub(super) enum RuleBlocks {
    /// No findings.
    None,
    /// Findings whose messages differ only in the name of the component or variable.
    SameWords,
    /// All findings that have a name, if there are more than this number.
    MoreThan(usize),
}

/// The properties by which findings of a file belong together: path, rule, level, state, and the message without the
/// name.
type BlockKey<'a> = (&'a str, &'a str, Severity, Option<FindingState>, Option<String>);

impl RuleBlocks {
    /// Merges related entries into one entry, a block, if too many of them would be listed separately. The block has
    /// the position of its first entry. Entries are related if they have the same key (see [`Self::find_block_key`]).
    fn merge_related_entries(self, entries: Vec<FindingEntry<'_>>) -> Vec<FindingEntry<'_>> {
        let max_separate = match self {
            Self::None => return entries,
            // Messages that differ only in the name are always merged.
            Self::SameWords => 1,
            Self::MoreThan(number) => number,
        };
        // The number of related entries by key: only after counting is it known which of them become a block.
        let mut counts: HashMap<BlockKey<'_>, usize> = HashMap::new();
        for key in entries.iter().filter_map(|entry| self.find_block_key(entry)) {
            *counts.entry(key).or_default() += 1;
        }
        let mut block_indices: HashMap<BlockKey<'_>, usize> = HashMap::new();
        let mut merged_entries: Vec<FindingEntry<'_>> = Vec::new();
        for entry in entries {
            let block_key = self
                .find_block_key(&entry)
                .filter(|key| counts.get(key).is_some_and(|count| *count > max_separate));
            let Some(block_key) = block_key else {
                merged_entries.push(entry);
                continue;
            };
            let block_index = block_indices.get(&block_key);
            if let Some(block) = block_index.and_then(|index| merged_entries.get_mut(*index)) {
                // An entry that has a key has only this finding.
                block.related_findings.push(entry.finding);
            } else {
                block_indices.insert(block_key, merged_entries.len());
                merged_entries.push(entry);
            }
        }
        merged_entries
    }

    /// Returns the key by which an entry is merged with others. `None` if the entry must stay separate: it has equal
    /// findings, is not about a component or variable, is an evaluation error, or has a waiver. With
    /// [`Self::SameWords`], the key contains the message with `…` for the name, so only the names may differ.
    fn find_block_key<'a>(self, entry: &FindingEntry<'a>) -> Option<BlockKey<'a>> {
        let finding = &entry.finding;
        let name = finding.about.filter(|name| !name.is_empty())?;
        if !entry.equal_findings.is_empty() || finding.error_type.is_some() || finding.waiver.is_some() {
            return None;
        }
        let unnamed_message = matches!(self, Self::SameWords).then(|| finding.message().replace(name, "…"));
        Some((
            finding.path,
            finding.rule,
            finding.severity,
            finding.state,
            unnamed_message,
        ))
    }
}

/// Removes the findings that an error in the rules file causes, and returns each such cause once with all affected
/// files, in the order of the first findings.
pub(crate) fn take_rules_file_causes<'a>(findings: &mut Vec<Finding<'a>>) -> Vec<UnevaluatedCause<'a>> {
    let mut causes: Vec<UnevaluatedCause<'a>> = Vec::new();
    let mut indices_by_cause = BTreeMap::new();
    for finding in findings.iter().filter(|finding| finding.is_rules_file_error()) {
        let cause_key = (finding.error_type, finding.rule, finding.text.clone());
        let cause_index = *indices_by_cause.entry(cause_key).or_insert(causes.len());
        match causes.get_mut(cause_index) {
            Some(cause) => cause.paths.push(finding.path),
            // This is the first finding of the cause.
            None => causes.push(UnevaluatedCause {
                finding: finding.clone(),
                paths: vec![finding.path],
            }),
        }
    }
    findings.retain(|finding| !finding.is_rules_file_error());
    causes
}
