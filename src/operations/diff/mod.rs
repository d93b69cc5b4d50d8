//! The differences of pipelines between two revisions or files, for each output format.

pub(crate) mod external;
pub(crate) mod sides;

use crate::error::Failure;
use crate::gate::ChangedContents;
use crate::gate::changes::pipeline_change::{MOST_LINKS_OF_A_FILE, ReadChange, told};
use crate::gate::interface_changes::interface_comparison::Between;
use crate::job::cli::DiffFormat;
use crate::publish::Reaching;
use crate::report::{CallersOfChanges, ChangedFile, ChangesPage, ForConsumersOfChanges, MOST_BOXES};
use crate::session::Run;
use crate::session::output;
use serde_json::json;
use sluicegate_base::text::{self, count};
use sluicegate_git::CommitId;
use sluicegate_pipelines::diff::{DiffLine, PipelineDiff, describe_diff};
use sluicegate_pipelines::findings::FileChange;
use sluicegate_pipelines::picture::{self, Canvas, Picture};
use std::fmt::Write as _;

/// The revisions that were compared, and the differences.
pub(crate) struct PipelinesCompared {
    /// `None` if the base is not a commit.
    base: Option<CommitId>,
    head: Option<CommitId>,
    /// The two compared versions, as a sentence.
    what: String,
    pub(crate) pipelines: Vec<Made>,
    /// The changes for consumers of shared pipelines; `None` if the shared-pipelines file is unchanged.
    pub(crate) interface: Option<Between>,
    /// The unchanged pipelines that depend on a changed pipeline; `None` if not requested.
    callers: Option<Vec<Reaching>>,
}

/// The result to compute for each pair; each output format needs one kind.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Wants {
    Diff,
    Picture,
    Page,
}

pub(crate) enum Made {
    Diff(PipelineDiff),
    /// With the canvas, or the reason why it cannot be drawn.
    Picture(PipelineDiff, Result<Canvas, String>),
    Page(Box<ChangedFile>),
}

impl Wants {
    pub(crate) const fn of(format: DiffFormat) -> Self {
        match format {
            DiffFormat::Text | DiffFormat::Json => Self::Diff,
            DiffFormat::Mermaid | DiffFormat::Svg => Self::Picture,
            DiffFormat::Markdown | DiffFormat::Html => Self::Page,
        }
    }

    fn made(self, at: usize, contents: &ChangedContents) -> Made {
        match self {
            Self::Diff => Made::Diff(contents.diff()),
            Self::Page => Made::Page(Box::new(told(contents, at))),
            Self::Picture => {
                let read = ReadChange::of(contents);
                let diff = read.diff();
                let canvas = match &diff.reason {
                    None if at > 0 => Ok(Canvas::default()),
                    _ => read.canvas(&diff),
                };
                Made::Picture(diff, canvas)
            }
        }
    }
}

impl Made {
    /// Returns whether the change affects more than layout; a file that cannot be read counts as such.
    pub(crate) fn counts(&self) -> bool {
        match self {
            Self::Diff(diff) | Self::Picture(diff, _) => diff.change != FileChange::Layout,
            Self::Page(file) => !file.changed.is_layout_only(),
        }
    }
}

pub(crate) struct Look {
    color: bool,
    columns: Option<usize>,
}

impl Look {
    pub(crate) fn of(run: &Run) -> Self {
        Self {
            color: run.ui.colors_output(),
            columns: run.ui.width(),
        }
    }

    /// Returns the settings for a call by git, which pages and colors by its own settings.
    fn in_git(run: &Run) -> Self {
        let is_paged = run.env.get("GIT_PAGER_IN_USE") == Some("true") && run.ui.colors_pager();
        let is_wanted = || run.repository().is_none_or(|repo| repo.wants_color());
        let look = Self::of(run);
        Self {
            color: look.color || (is_paged && is_wanted()),
            ..look
        }
    }

    fn words(&self, diff: &PipelineDiff) -> Vec<DiffLine> {
        describe_diff(diff, self.columns)
    }

    fn line(&self, line: &DiffLine) -> String {
        if self.color {
            line.format_colored()
        } else {
            line.to_string()
        }
    }
}

fn callers_in_short(number: usize) -> String {
    match number {
        0 => "no unchanged pipeline depends on a changed one".to_owned(),
        1 => "1 unchanged pipeline depends on a changed one".to_owned(),
        many => format!("{many} unchanged pipelines depend on a changed one"),
    }
}

fn in_words(reaching: &Reaching) -> String {
    format!(
        "{} calls {}",
        reaching.path,
        reaching.through.join(", which calls ")
    )
}

impl PipelinesCompared {
    fn diffs(&self) -> impl Iterator<Item = &PipelineDiff> {
        self.pipelines.iter().filter_map(|made| match made {
            Made::Diff(diff) | Made::Picture(diff, _) => Some(diff),
            Made::Page(_) => None,
        })
    }

    pub(crate) fn text(&self, look: &Look) -> String {
        let mut lines: Vec<String> = Vec::new();
        for diff in self.diffs() {
            lines.extend(look.words(diff).iter().map(|line| look.line(line)));
            lines.push(String::new());
        }
        let layout = self.pipelines.iter().filter(|made| !made.counts()).count();
        let total = count(self.pipelines.len(), "pipeline");
        lines.push(match (self.pipelines.len(), layout) {
            (0, _) => "no pipeline differs".to_owned(),
            (_, 0) => format!("{total} changed"),
            (all, layout) if all == layout => format!("{total} changed in layout only"),
            (_, layout) => format!("{total} changed, {layout} in layout only"),
        });
        if let Some(found) = &self.interface {
            lines.push(text::line(&format!("shared pipelines: {}", found.in_short())));
            lines.extend(
                found
                    .told(self.base.as_ref())
                    .iter()
                    .map(|line| format!("  {line}")),
            );
        }
        if let Some(callers) = &self.callers {
            lines.push(callers_in_short(callers.len()));
            lines.extend(
                callers
                    .iter()
                    .map(|it| format!("  {}", text::line(&in_words(it)))),
            );
        }
        lines.join("\n") + "\n"
    }

    pub(crate) fn json(&self) -> String {
        let id = |commit: &Option<CommitId>| commit.as_ref().map(CommitId::to_string);
        let mut document = json!({
            "schema": "sluicegate.diff/v1",
            "base": id(&self.base),
            "head": id(&self.head),
            "pipelines": self.diffs().collect::<Vec<_>>(),
            "interface": self.interface.as_ref().map(Between::json),
        });
        if let Some(callers) = &self.callers {
            let each = callers
                .iter()
                .map(|it| json!({ "path": it.path, "through": it.through }));
            document["callers"] = each.collect();
        }
        output::json(&document)
    }

    pub(crate) fn page(self) -> ChangesPage {
        let consumers = self.interface.as_ref().map(|found| ForConsumersOfChanges {
            summary: found.in_short(),
            changes: found.each(self.base.as_ref()),
        });
        let files = self.pipelines.into_iter().filter_map(|made| match made {
            Made::Page(file) => Some(*file),
            _ => None,
        });
        let callers = self.callers.map(|callers| CallersOfChanges {
            summary: callers_in_short(callers.len()),
            callers: callers.iter().map(in_words).collect(),
        });
        ChangesPage {
            callers,
            files: files.collect(),
            compared: self.what,
            consumers,
        }
    }

    /// Returns the drawing of one pipeline, or an empty text if no pipeline differs.
    pub(crate) fn picture(&self, format: DiffFormat) -> Result<String, Failure> {
        let (diff, canvas) = match self.pipelines.as_slice() {
            [Made::Picture(diff, canvas)] => (diff, canvas),
            [] => return Ok(String::new()),
            several => {
                let message = format!(
                    "a picture shows exactly one pipeline, but {} differ",
                    several.len()
                );
                return Err(Failure::usage(message).hint("pass the path of one of them"));
            }
        };
        let canvas = canvas.as_ref().map_err(|why| {
            let (path, why) = (text::line(&diff.path), text::line(why));
            Failure::usage(format!("could not draw {path}: could not read the file {why}"))
        })?;
        if canvas.arrows.len() > MOST_LINKS_OF_A_FILE {
            let (path, links) = (text::line(&diff.path), canvas.arrows.len());
            return Err(Failure::usage(format!(
                "{path} has {links} links, too many to draw"
            )));
        }
        Ok(if format == DiffFormat::Svg {
            Picture::with_natural_width(canvas).render_document(&diff.path) + "\n"
        } else {
            let (part, left_out) = canvas.select_changed_part(MOST_BOXES);
            let mut chart = picture::render_mermaid(&part);
            if left_out > 0 {
                let _ = writeln!(chart, "  %% {} omitted", count(left_out, "more component"));
            }
            chart
        })
    }
}
