//! Names each finding on the page by its fingerprint, so that a link to it also works in the next report.

use crate::view::{FindingOrder, Tally, View, group_by_path};
use sluicegate_pipelines::findings::{Finding, Fingerprint};

/// A finding with its id on the page.
pub(super) struct AnchoredFinding<'v, 'a> {
    pub id: String,
    pub finding: &'v Finding<'a>,
}

/// A file with its findings, in the order of the view.
pub(super) struct FileFindings<'v, 'a> {
    pub path: &'a str,
    pub findings: Vec<AnchoredFinding<'v, 'a>>,
    pub tally: Tally<'a>,
}

/// Groups the findings on the page by file, in the order of the first finding of each file. Each finding gets an id
/// from its fingerprint, so that a link to it stays valid in later reports.
pub(super) fn group_anchored_findings<'v, 'a>(view: &'v View<'a>) -> Vec<FileFindings<'v, 'a>> {
    let anchored_findings =
        view.findings
            .iter()
            .zip(list_fingerprints(view))
            .map(|(finding, fingerprint)| AnchoredFinding {
                id: format!("finding-{fingerprint}"),
                finding,
            });
    group_by_path(anchored_findings, |entry| entry.finding.path)
        .into_iter()
        .map(|(path, findings)| FileFindings {
            path,
            tally: Tally::from_findings(findings.iter().map(|entry| entry.finding)),
            findings,
        })
        .collect()
}

/// Returns the fingerprints of the findings in the order of the view. Equal findings are numbered in the order of the
/// report, so the fingerprints are computed in that order: a finding has the same fingerprint in all formats.
fn list_fingerprints(view: &View<'_>) -> Vec<Fingerprint> {
    let findings = view.report.findings();
    let order = FindingOrder::from_context(view.report, view.context);
    let mut ranked_findings: Vec<_> = findings
        .iter()
        .zip(Fingerprint::for_findings(&findings))
        .collect();
    ranked_findings.sort_by_cached_key(|(finding, _)| order.sort_key(finding));
    ranked_findings
        .into_iter()
        .map(|(_, fingerprint)| fingerprint)
        .collect()
}
