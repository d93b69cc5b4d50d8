//! The differences of pipelines between two revisions or files, for each output format.

pub(crate) mod compared_sides;
pub(crate) mod external_diff;
pub(crate) mod plain_change;
mod revision_hints;

use crate::error::Failure;
use crate::gate::changes::page_pictures::PagePictures;
use crate::gate::changes::pipeline_change::{MAX_FILE_PICTURE_LINKS, ParsedChange, build_changed_file};
use crate::gate::interface_changes::interface_comparison::InterfaceDifference;
use crate::gate::{ChangedContents, VersionPairs};
use crate::job::cli::DiffFormat;
use crate::publish::TransitiveCaller;
use crate::session::Session;
use crate::session::response_output;
use serde::Serialize;
use serde_json::{Value, json};
use sluicegate_base::text::{self, format_count};
use sluicegate_git::{Change, CommitId, GitError};
use sluicegate_pipelines::diff::{DiffLine, PipelineDiff, describe_diff};
use sluicegate_pipelines::findings::FileChange;
use sluicegate_pipelines::picture::{self, Canvas};
use sluicegate_reports::{
    ChangedFile, ChangedPipelineCallers, ChangesPage, ConsumerChanges, MAX_FLOWCHART_BOXES,
};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The result if no pipeline differs.
const NO_DIFFERENCE: &str = "no pipeline differs";

/// The revisions that were compared, and the differences.
pub(crate) struct PipelineComparison {
    /// `None` if the base is not a commit.
    base: Option<CommitId>,
    head: Option<CommitId>,
    /// The sentence that names the two compared versions.
    description: String,
    pub(crate) pipelines: Vec<PipelineResult>,
    /// The changes for consumers of shared pipelines; `None` if the shared-pipelines file is unchanged.
    pub(crate) interface: Option<InterfaceDifference>,
    /// The unchanged pipelines that depend on a changed pipeline; `None` if not requested.
    callers: Option<Vec<TransitiveCaller>>,
}

/// The result to compute for each pair; each output format needs one kind.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ResultKind {
    Diff,
    Picture,
    Page,
}

pub(crate) enum PipelineResult {
    Diff(PipelineDiff),
    /// Contains the canvas, or the reason why the canvas cannot be drawn.
    Picture(PipelineDiff, Result<Canvas, String>),
    Page(Box<ChangedFile>),
}

impl ResultKind {
    /// Returns the kind of result that the output format needs.
    pub(crate) const fn for_format(format: DiffFormat) -> Self {
        match format {
            DiffFormat::Text | DiffFormat::Json => Self::Diff,
            DiffFormat::Mermaid | DiffFormat::Svg => Self::Picture,
            DiffFormat::Markdown | DiffFormat::Html => Self::Page,
        }
    }

    /// Compares both versions of each change. Each result has the index of its change, and a copy the path of its
    /// source.
    fn build_results(
        self,
        pairs: &VersionPairs<'_>,
        changes: &[Change],
    ) -> Result<Vec<(usize, PipelineResult)>, GitError> {
        let pictures = PagePictures::default();
        let mut results = pairs.map_differing_versions(changes, &|index, contents| {
            (index, self.build_result(index, contents, &pictures))
        })?;
        let page_files = results
            .iter_mut()
            .filter_map(|(index, result)| Some((*index, result.page_file_mut()?)));
        pictures.move_into_files(page_files);
        let copy_sources = pairs.find_copy_sources(changes)?;
        for (_, result) in &mut results {
            result.set_copy_source(&copy_sources);
        }
        Ok(results)
    }

    /// Compares the contents of the only pipeline.
    fn build_only_result(self, contents: &ChangedContents) -> PipelineResult {
        let only_index = 0;
        let pictures = PagePictures::default();
        let mut result = self.build_result(only_index, contents, &pictures);
        pictures.move_into_files(result.page_file_mut().map(|file| (only_index, file)).into_iter());
        result
    }

    /// Compares the two contents of a pipeline, and keeps what the format needs. `index` is the position in the list of
    /// changes. The picture on a page is added to `pictures`.
    fn build_result(
        self,
        index: usize,
        contents: &ChangedContents,
        pictures: &PagePictures,
    ) -> PipelineResult {
        match self {
            Self::Diff => PipelineResult::Diff(contents.diff()),
            Self::Page => PipelineResult::Page(Box::new(build_changed_file(contents, index, pictures))),
            Self::Picture => {
                let change = ParsedChange::parse(contents);
                let diff = change.diff();
                // If the pipeline is unreadable, this only returns the reason.
                let canvas = change.draw(&diff);
                PipelineResult::Picture(diff, canvas)
            }
        }
    }
}

impl PipelineResult {
    /// Returns the file on the page; `None` for a format that is not a page.
    fn page_file_mut(&mut self) -> Option<&mut ChangedFile> {
        match self {
            Self::Page(file) => Some(file),
            Self::Diff(_) | Self::Picture(..) => None,
        }
    }

    /// Sets the path of the pipeline from which this new one was copied, if its path is among the copies.
    fn set_copy_source(&mut self, sources_by_copy: &BTreeMap<String, String>) {
        let (path, previous_path) = match self {
            Self::Diff(diff) | Self::Picture(diff, _) => (&diff.path, &mut diff.previous_path),
            Self::Page(file) => (&file.summary.path, &mut file.summary.previous_path),
        };
        if let Some(source) = sources_by_copy.get(path) {
            *previous_path = Some(source.clone());
        }
    }

    /// Returns whether the change affects more than the layout. An unreadable version is treated as such a change.
    pub(crate) fn changes_more_than_layout(&self) -> bool {
        match self {
            Self::Diff(diff) | Self::Picture(diff, _) => diff.change != FileChange::Layout,
            Self::Page(file) => !file.summary.is_layout_only(),
        }
    }
}

/// Returns whether git's settings of the repository allow colors; true without a repository that can be opened.
fn allows_color(session: &Session) -> bool {
    let repository = session.find_repository().ok().flatten();
    repository.is_none_or(|repository| repository.allows_color())
}

/// The JSON document `sluicegate.diff/v1`. It borrows the differences, because a copy as JSON values would need several
/// times their memory.
#[derive(Serialize)]
struct ComparisonDocument<'c> {
    schema: &'static str,
    base: Option<String>,
    head: Option<String>,
    pipelines: Vec<&'c PipelineDiff>,
    interface: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    callers: Option<Vec<Value>>,
}

pub(crate) struct TextStyle {
    color: bool,
    width: Option<usize>,
}

impl TextStyle {
    /// Returns the style for the terminal of this run: its width, and whether it shows colors.
    pub(crate) fn for_terminal(session: &Session) -> Self {
        Self {
            color: session.ui.colors_output(),
            width: session.ui.width(),
        }
    }

    /// Returns the style for output that git requested. In git's pager, which is not a terminal, the output has colors
    /// if the user chose so, or if neither the user nor git's settings turn them off.
    fn for_git(session: &Session) -> Self {
        let is_paged = session.env.get("GIT_PAGER_IN_USE") == Some("true") && session.ui.colors_pager();
        let style = Self::for_terminal(session);
        Self {
            color: style.color || (is_paged && allows_color(session)),
            ..style
        }
    }

    /// Returns the lines that describe the difference in words.
    fn render_diff(&self, diff: &PipelineDiff) -> Vec<DiffLine> {
        describe_diff(diff, self.width)
    }

    /// Returns the line as text, with color codes if the style has colors.
    fn format_line(&self, line: &DiffLine) -> String {
        if self.color {
            line.format_colored()
        } else {
            line.to_string()
        }
    }
}

/// Describes how many unchanged pipelines depend on a changed pipeline, and how many may depend on one because several
/// files have a called name.
fn describe_caller_count(callers: &[TransitiveCaller]) -> String {
    let certain_count = callers.iter().filter(|caller| caller.is_certain()).count();
    let certain = match certain_count {
        1 => "1 unchanged pipeline depends on a changed pipeline".to_owned(),
        count => format!("{count} unchanged pipelines depend on a changed pipeline"),
    };
    let possible_count = callers.len() - certain_count;
    let possible_callers = format_count(possible_count, "unchanged pipeline");
    let possible = format!("{possible_callers} may depend on a changed pipeline");
    match (certain_count, possible_count) {
        (0, 0) => "no unchanged pipeline depends on a changed pipeline".to_owned(),
        (_, 0) => certain,
        (0, _) => possible,
        _ => format!("{certain}; {possible}"),
    }
}

/// Describes over which pipelines this caller reaches a changed pipeline: `a calls b, which calls c`. The verb is
/// `may call` if several files have the called name.
fn describe_call_chain(caller: &TransitiveCaller) -> String {
    let mut description = caller.path.clone();
    for (call_index, (callee, is_ambiguous)) in
        caller.call_chain.iter().zip(&caller.ambiguous_calls).enumerate()
    {
        let conjunction = if call_index == 0 { "" } else { ", which" };
        let verb = if *is_ambiguous { "may call" } else { "calls" };
        let _ = write!(description, "{conjunction} {verb} {callee}");
    }
    description
}

impl PipelineComparison {
    /// Returns the difference of each pipeline. The results for a page have none.
    fn list_diffs(&self) -> impl Iterator<Item = &PipelineDiff> {
        self.pipelines.iter().filter_map(|result| match result {
            PipelineResult::Diff(diff) | PipelineResult::Picture(diff, _) => Some(diff),
            PipelineResult::Page(_) => None,
        })
    }

    /// Describes how many pipelines changed, and how many of them only in their layout.
    fn describe_pipeline_count(&self) -> String {
        let layout_count = self
            .pipelines
            .iter()
            .filter(|result| !result.changes_more_than_layout())
            .count();
        let total = format_count(self.pipelines.len(), "pipeline");
        match (self.pipelines.len(), layout_count) {
            (0, _) => NO_DIFFERENCE.to_owned(),
            (_, 0) => format!("{total} changed"),
            (pipeline_count, layout_count) if pipeline_count == layout_count => {
                format!("{total} changed in layout only")
            }
            (_, layout_count) => format!("{total} changed, {layout_count} in layout only"),
        }
    }

    /// Renders the comparison as text for the terminal or for git, with the changes to shared pipelines and with the
    /// callers, if they were requested.
    pub(crate) fn render_text(&self, style: &TextStyle) -> String {
        let mut lines: Vec<String> = Vec::new();
        for diff in self.list_diffs() {
            lines.extend(style.render_diff(diff).iter().map(|line| style.format_line(line)));
            lines.push(String::new());
        }
        lines.push(self.describe_pipeline_count());
        if let Some(interface) = &self.interface {
            lines.push(text::escape_line(&format!(
                "shared pipelines: {}",
                interface.summarize()
            )));
            lines.extend(
                interface
                    .describe_by_class(self.base.as_ref())
                    .iter()
                    .map(|line| format!("  {line}")),
            );
        }
        if let Some(callers) = &self.callers {
            lines.push(describe_caller_count(callers));
            lines.extend(
                callers
                    .iter()
                    .map(|caller| format!("  {}", text::escape_line(&describe_call_chain(caller)))),
            );
        }
        lines.join("\n") + "\n"
    }

    /// Renders the comparison in the JSON format `sluicegate.diff/v1`.
    pub(crate) fn render_json(&self) -> String {
        let callers = self.callers.as_ref().map(|callers| {
            callers
                .iter()
                .map(|caller| {
                    json!({ "path": caller.path, "through": caller.call_chain, "certain": caller.is_certain() })
                })
                .collect()
        });
        response_output::format_json(&ComparisonDocument {
            schema: "sluicegate.diff/v1",
            base: self.base.as_ref().map(CommitId::to_string),
            head: self.head.as_ref().map(CommitId::to_string),
            pipelines: self.list_diffs().collect(),
            interface: self.interface.as_ref().map(InterfaceDifference::to_json),
            callers,
        })
    }

    /// Converts the comparison to the page that the Markdown and HTML formats render.
    pub(crate) fn into_page(self) -> ChangesPage {
        let consumers = self.interface.as_ref().map(|interface| ConsumerChanges {
            summary: interface.summarize(),
            changes: interface.describe_changes(self.base.as_ref()),
        });
        let files = self.pipelines.into_iter().filter_map(|result| match result {
            PipelineResult::Page(file) => Some(*file),
            _ => None,
        });
        let callers = self.callers.map(|callers| ChangedPipelineCallers {
            summary: describe_caller_count(&callers),
            callers: callers.iter().map(describe_call_chain).collect(),
        });
        ChangesPage {
            callers,
            files: files.collect(),
            comparison: self.description,
            consumers,
        }
    }

    /// Draws the one pipeline that differs, as SVG or as a Mermaid chart. If no pipeline differs, the picture says so.
    /// Fails if several differ, if the pipeline cannot be read, or if it has more than `MAX_FILE_PICTURE_LINKS` links.
    /// A Mermaid chart shows at most `MAX_FLOWCHART_BOXES` components, and reports how many are omitted.
    pub(crate) fn render_picture(&self, format: DiffFormat) -> Result<String, Failure> {
        let (diff, canvas) = match self.pipelines.as_slice() {
            [PipelineResult::Picture(diff, canvas)] => (diff, canvas),
            [] if format == DiffFormat::Svg => {
                return Ok(picture::render_sentence(NO_DIFFERENCE) + "\n");
            }
            [] => return Ok(picture::render_sentence_chart(NO_DIFFERENCE)),
            pipelines => {
                let message = format!(
                    "a picture shows exactly one pipeline, but {} differ",
                    pipelines.len()
                );
                return Err(Failure::usage(message).with_hint("pass the path of one pipeline"));
            }
        };
        let canvas = canvas.as_ref().map_err(|reason| {
            let (path, reason) = (text::escape_line(&diff.path), text::escape_line(reason));
            Failure::usage(format!("could not draw {path}: could not read the file {reason}"))
        })?;
        if canvas.arrows.len() > MAX_FILE_PICTURE_LINKS {
            let (path, links) = (text::escape_line(&diff.path), canvas.arrows.len());
            return Err(Failure::usage(format!(
                "could not draw {path}: the pipeline has {links} links, and at most \
                 {MAX_FILE_PICTURE_LINKS} can be drawn"
            )));
        }
        Ok(if format == DiffFormat::Svg {
            picture::render_document(canvas, &diff.path) + "\n"
        } else {
            let (part, omitted_count) = canvas.select_flowchart_part(MAX_FLOWCHART_BOXES);
            let mut chart = picture::render_mermaid(&part);
            if omitted_count > 0 {
                let _ = writeln!(
                    chart,
                    "  %% {} omitted",
                    format_count(omitted_count, "more component")
                );
            }
            chart
        })
    }
}
