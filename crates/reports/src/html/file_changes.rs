//! Renders the changes to a file as a list and as a picture of the canvas.

use super::change_folds::ChangeFolds;
use super::component_figures::render_pictures;
use super::elements::render_path_heading;
use super::finding_anchors::{AnchoredFinding, FileFindings};
use super::name_direction::escape_path;
use crate::ChangedFile;
use crate::report_context::OMITTED_PICTURE;
use crate::sentences::capitalize;
use crate::view::View;
use sluicegate_base::text::{format_and_more_of, format_count};
use sluicegate_pipelines::findings::{Finding, Verdict};
use sluicegate_pipelines::picture::{Badge, COLUMN_WIDTH, Canvas, PAGE_WIDTH};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;

/// Number of files whose changes are unfolded.
const MAX_OPEN_FILES: usize = 5;

/// Maximum number of lines in the unfolded list of changes above the findings of a file. The page is about the
/// findings, so they must be visible without scrolling past a long list.
const MAX_OPEN_LINES_ABOVE_FINDINGS: usize = 12;

/// Maximum number of shown files in a list of changes.
const MAX_LISTED_FILES: usize = 200;

/// The id of each component of a file in the first picture that shows it.
type ComponentIds = HashMap<String, String>;

/// The changes and pictures of a page with findings.
pub(super) struct PageChanges<'v, 'a> {
    view: &'v View<'a>,
    /// The width for pictures above the findings of a file.
    finding_width: i32,
    /// The component ids of files whose changes are in a list of their own.
    listed_ids: HashMap<&'a str, ComponentIds>,
}

/// The content above the findings of a file, and the id of each component in the picture.
#[derive(Default)]
pub(super) struct FileChangesView {
    pub html: String,
    component_ids: ComponentIds,
}

impl FileChangesView {
    /// Returns the id, in the picture, of the component that the finding is about; `None` if no picture shows it.
    pub(super) fn find_component_id(&self, finding: &Finding<'_>) -> Option<&str> {
        self.component_ids.get(finding.about?).map(String::as_str)
    }
}

impl<'v, 'a> PageChanges<'v, 'a> {
    /// Creates the part of a page that shows changes. With facets next to the findings, the pictures that belong to
    /// findings are narrower.
    pub(super) fn new(view: &'v View<'a>, has_facets: bool) -> Self {
        Self {
            view,
            finding_width: if has_facets { COLUMN_WIDTH } else { PAGE_WIDTH },
            listed_ids: HashMap::new(),
        }
    }

    /// Renders all changes if the review passed, because the changes are then more important than the findings;
    /// otherwise returns an empty text.
    pub(super) fn render_list_above_findings(&mut self, files: &[FileFindings<'_, 'a>]) -> String {
        if self.view.report.verdict != Verdict::Passed {
            return String::new();
        }
        self.render_change_list("Pipeline changes", &self.view.list_sorted_changes(), files)
    }

    /// Renders the changes to files without findings. Returns an empty text if the review passed, because
    /// [`Self::render_list_above_findings`] has then rendered all changes.
    pub(super) fn render_list_below_findings(&mut self, files: &[FileFindings<'_, 'a>]) -> String {
        if self.view.report.verdict == Verdict::Passed {
            return String::new();
        }
        let finding_paths: HashSet<&str> = files.iter().map(|file| file.path).collect();
        let (title, other_files) = self.view.select_other_changes(&finding_paths);
        self.render_change_list(title, &other_files, files)
    }

    /// Renders at most [`MAX_LISTED_FILES`] changed files below a title, and records the ids of their components, which
    /// findings link to. `files` has the findings, which are shown as badges in the pictures.
    fn render_change_list(
        &mut self,
        title: &str,
        changed_files: &[&'a ChangedFile],
        files: &[FileFindings<'_, 'a>],
    ) -> String {
        if changed_files.is_empty() {
            return String::new();
        }
        let mut html = format!(
            "<section class=\"findings\" aria-labelledby=\"changes\"><h2 id=\"changes\">{title}</h2>\n"
        );
        for (file_index, changed_file) in changed_files.iter().take(MAX_LISTED_FILES).enumerate() {
            let path = changed_file.summary.path.as_str();
            let findings = files.iter().find(|file| file.path == path);
            let badges = findings
                .map(|file| build_badges(&file.findings))
                .unwrap_or_default();
            let id = format!("change-{file_index}");
            let (card, component_ids) = render_card(changed_file, &id, &badges, file_index < MAX_OPEN_FILES);
            html.push_str(&card);
            self.listed_ids.insert(path, component_ids);
        }
        if changed_files.len() > MAX_LISTED_FILES {
            let omission = capitalize(&format_and_more_of(
                changed_files.len() - MAX_LISTED_FILES,
                "file",
            ));
            let _ = writeln!(html, "<p>{omission}: see the JSON report.</p>");
        }
        html + "</section>\n"
    }

    /// Renders the changes to a file with findings and its picture, for the top of the file's card. The text is empty
    /// if the list above the findings already has them, or if there is neither a change nor a picture.
    pub(super) fn render_changes_and_picture(
        &self,
        file: &FileFindings<'_, 'a>,
        file_index: usize,
    ) -> FileChangesView {
        let path = file.path;
        if let Some(component_ids) = self.listed_ids.get(path) {
            // The findings link to the components in the picture of that list.
            return FileChangesView {
                html: String::new(),
                component_ids: component_ids.clone(),
            };
        }
        let change = self.view.find_change(path);
        let change_picture = change.and_then(|change| change.picture.as_ref());
        let id = format!("canvas-{file_index}");
        let list = ChangeFolds {
            path,
            id: &id,
            lines: change
                .map(|change| change.change_lines.as_slice())
                .unwrap_or_default(),
        };
        let is_long_list = list.lines.len() > MAX_OPEN_LINES_ABOVE_FINDINGS;
        let (content, component_ids) = render_pictures_and_list(
            // For an unchanged file, the context may have a picture of its components with findings.
            change_picture.or_else(|| self.view.context.pictures.get(path)),
            list,
            self.finding_width,
            &build_badges(&file.findings),
            is_long_list,
        );
        let summary = match change {
            Some(change) => change.summary.describe(),
            None if self.view.context.omitted_picture_paths.contains(path) => capitalize(OMITTED_PICTURE),
            None if content.is_empty() => return FileChangesView::default(),
            None => "Pipeline with findings".to_owned(),
        };
        if content.is_empty() {
            return FileChangesView {
                html: format!("<p class=\"what\">{}</p>\n", escape_path(&summary)),
                component_ids,
            };
        }
        let is_open = file_index < MAX_OPEN_FILES;
        FileChangesView {
            html: format!(
                "<details class=\"what\"{}><summary>{}</summary>\n{content}</details>\n",
                if is_open { " open=\"\"" } else { "" },
                escape_path(&summary)
            ),
            component_ids,
        }
    }
}

/// Builds the badge of each component with findings: the number of findings, and the id of the first one, to link to.
fn build_badges(findings: &[AnchoredFinding<'_, '_>]) -> BTreeMap<String, Badge> {
    let mut badges: BTreeMap<String, Badge> = BTreeMap::new();
    for AnchoredFinding { id, finding } in findings {
        let Some(about) = finding.about else { continue };
        let badge = badges.entry(about.to_owned()).or_insert_with(|| Badge {
            count: 0,
            target_id: id.clone(),
        });
        badge.count += 1;
    }
    badges
}

/// Renders the changes to one file as a card without badges, for a page without findings.
pub(super) fn render_file_changes(file: &ChangedFile, id: &str, is_open: bool) -> String {
    let no_badges = BTreeMap::new();
    let (card, _) = render_card(file, id, &no_badges, is_open);
    card
}

/// Renders the changes to one file as a card that can be folded if it has more than a heading. Also returns the ids of
/// the components in its pictures.
fn render_card(
    file: &ChangedFile,
    id: &str,
    badges: &BTreeMap<String, Badge>,
    is_open: bool,
) -> (String, ComponentIds) {
    let path = &file.summary.path;
    let list = ChangeFolds {
        path,
        id,
        lines: &file.change_lines,
    };
    let (content, component_ids) =
        render_pictures_and_list(file.picture.as_ref(), list, PAGE_WIDTH, badges, false);
    let heading = format!(
        "{}<span class=\"tally\">{}</span>",
        render_path_heading(path),
        escape_path(&file.summary.describe())
    );
    if content.is_empty() {
        let card =
            format!("<section class=\"group card\"><div class=\"group-heading\">{heading}</div></section>\n");
        return (card, component_ids);
    }
    let card = format!(
        "<details class=\"group card\"{}><summary>{heading}</summary>\n<div class=\"what\">{content}</div></details>\n",
        if is_open { " open=\"\"" } else { "" },
    );
    (card, component_ids)
}

/// Renders the pictures and the list of changes, which the style sheet puts next to each other if there is space. The
/// text is empty if there are neither pictures nor changes. The list is folded if `is_list_folded` is true. Also
/// returns the ids of the components in the pictures.
fn render_pictures_and_list(
    canvas: Option<&Canvas>,
    list: ChangeFolds<'_>,
    width: i32,
    badges: &BTreeMap<String, Badge>,
    is_list_folded: bool,
) -> (String, ComponentIds) {
    let (pictures, component_ids) = match canvas {
        Some(canvas) => {
            let mut canvas = canvas.clone();
            canvas.set_badges(badges);
            render_pictures(&canvas, list, width)
        }
        None => (String::new(), ComponentIds::new()),
    };
    let mut changes = list.render(&component_ids);
    if is_list_folded {
        let line_count = format_count(list.lines.len(), "line");
        changes = format!(
            "<details class=\"fold\"><summary>Changes: {line_count}</summary>\n{changes}</details>\n"
        );
    }
    if pictures.is_empty() && changes.is_empty() {
        return (String::new(), component_ids);
    }
    let pictures_element = if pictures.is_empty() {
        String::new()
    } else {
        format!("<div class=\"pictures\">{pictures}</div>\n")
    };
    let html = format!("<div class=\"sides\">{pictures_element}{changes}</div>\n");
    (html, component_ids)
}
