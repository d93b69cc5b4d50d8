//! What the page is about to show, put in order once: the files with findings, their rules, and how much there is.

use crate::base::text::markup as escape;
use crate::model::findings::{FileResults, Finding, Report};
use crate::report::tone::Tone;
use crate::report::{About, ChangedFile, shorten};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

/// The longest rule name, in characters.
const NAME_LIMIT: usize = 200;

/// How many findings there are of each tone; what has worse ones is greater.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RuleTally([usize; Tone::ALL.len()]);

impl RuleTally {
    fn of(findings: &[Finding<'_>]) -> Self {
        let mut tally = Self::default();
        for finding in findings {
            tally.add(finding);
        }
        tally
    }

    pub(super) const fn add(&mut self, finding: &Finding<'_>) {
        self.0[Tone::of(finding) as usize] += 1;
    }

    pub(super) fn total(self) -> usize {
        self.0.iter().sum()
    }

    /// The tones that there are, each with its number.
    pub(super) fn parts(self) -> impl Iterator<Item = (Tone, usize)> {
        let all = Tone::ALL.into_iter().zip(self.0);
        all.filter(|(_, number)| *number > 0)
    }
}

/// A file with its findings, the worst first.
pub(super) struct FileView<'a> {
    pub results: &'a FileResults,
    pub findings: Vec<Finding<'a>>,
    pub tally: RuleTally,
}

/// Everything that the parts of the page are made from.
pub(super) struct View<'a> {
    pub report: &'a Report,
    pub about: &'a About,
    /// The files with findings, the worst first.
    pub files: Vec<FileView<'a>>,
    /// The rules that found something, the worst first.
    pub rules: Vec<(&'a str, RuleTally)>,
    numbers: HashMap<&'a str, usize>,
    changes: HashMap<&'a str, &'a ChangedFile>,
}

impl<'a> View<'a> {
    pub(super) fn of(report: &'a Report, about: &'a About) -> Self {
        let mut files: Vec<FileView<'_>> = report.files.iter().map(file).collect();
        files.retain(|file| !file.findings.is_empty());
        files.sort_by_key(|file| (Reverse(file.tally), &file.results.path));
        let mut view = Self {
            report,
            about,
            files,
            rules: Vec::new(),
            numbers: HashMap::new(),
            changes: about
                .changes
                .iter()
                .map(|file| (file.changed.path.as_str(), file))
                .collect(),
        };
        view.rules = view.tallies(|finding| finding.rule);
        view.rules.sort_by_key(|(_, tally)| Reverse(*tally));
        view.numbers = view.rules.iter().map(|(rule, _)| *rule).zip(1..).collect();
        view
    }

    pub(super) fn findings(&self) -> impl Iterator<Item = &Finding<'a>> {
        self.files.iter().flat_map(|file| &file.findings)
    }

    pub(super) fn change(&self, path: &str) -> Option<&'a ChangedFile> {
        self.changes.get(path).copied()
    }

    /// How much there is of each kind, by name.
    pub(super) fn tallies(&self, kind: impl Fn(&Finding<'a>) -> &'a str) -> Vec<(&'a str, RuleTally)> {
        let mut found: BTreeMap<&str, RuleTally> = BTreeMap::new();
        for finding in self.findings() {
            found.entry(kind(finding)).or_default().add(finding);
        }
        found.into_iter().collect()
    }

    /// The id of what explains the rule; none where nothing is known of it.
    pub(super) fn explanation(&self, rule: &str) -> Option<String> {
        let number = self.numbers.get(rule)?;
        self.about.rule(rule).map(|_| format!("rule-{number}"))
    }

    /// The rule's name, which opens what is known of it.
    pub(super) fn rule(&self, rule: &str) -> String {
        let name = name(rule);
        match self.explanation(rule) {
            Some(id) => {
                format!("<button type=\"button\" class=\"rule\" popovertarget=\"{id}\">{name}</button>")
            }
            None => format!("<code class=\"rule\">{name}</code>"),
        }
    }
}

fn file(results: &FileResults) -> FileView<'_> {
    let mut findings = results.findings();
    findings.sort_by_key(|finding| (Tone::of(finding), finding.line));
    let tally = RuleTally::of(&findings);
    FileView {
        results,
        findings,
        tally,
    }
}

/// A rule's name, cut to what a heading can hold.
pub(super) fn name(rule: &str) -> String {
    escape(&shorten::to_chars(rule, NAME_LIMIT))
}
