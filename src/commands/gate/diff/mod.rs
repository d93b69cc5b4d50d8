//! `sluicegate diff`: settle what is compared, as `check` does, compare, show. No rule, no platform.

mod sides;

use crate::cli::{DiffArgs, DiffFormat};
use crate::commands::kit::output;
use crate::commands::{CommandResult, Run};
use crate::diff::{FileChange, PipelineDiff, words};
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::git::CommitId;
use crate::picture::{self, Canvas};
use crate::text::{self, count};
use crate::write;
use serde_json::json;
use sides::Contents;
use std::fmt::Write as _;
use std::path::Path;

/// The boxes of a flowchart; more than this, nobody reads and no host draws.
const MOST_BOXES: usize = 40;

/// What was compared, and what differs.
struct Compared {
    /// None where it is no commit.
    base: Option<CommitId>,
    head: Option<CommitId>,
    pipelines: Vec<PipelineDiff>,
    /// What both sides of the pipeline are, where it is the only one; for the picture.
    only: Option<Contents>,
}

pub(crate) fn run(run: &Run, args: &DiffArgs) -> CommandResult {
    let compared = match args.files.as_slice() {
        [old, new] => sides::of_files(run, old, new)?,
        _ => sides::of_repository(run, args)?,
    };
    let shown = match args.format {
        DiffFormat::Text => compared.text(),
        DiffFormat::Json => compared.json(),
        DiffFormat::Mermaid | DiffFormat::Svg => compared.picture(args.format)?,
    };
    match &args.output {
        Some(path) => written(&run.env.current_dir().join(path), &shown)?,
        None => run.ui.out(&shown)?,
    }
    if args.exit_code && compared.pipelines.iter().any(counts) {
        return Ok(ExitStatus::GateFailed);
    }
    Ok(ExitStatus::Success)
}

/// Whether this is more than layout. What cannot be read may be.
fn counts(diff: &PipelineDiff) -> bool {
    diff.change != FileChange::Layout
}

fn written(path: &Path, shown: &str) -> Result<(), Failure> {
    write::whole(path, shown.as_bytes())
        .map_err(|why| Failure::usage(format!("{} cannot be written: {why}", path.display())))
}

impl Compared {
    fn text(&self) -> String {
        let mut lines: Vec<String> = self.pipelines.iter().flat_map(words).collect();
        let layout = self.pipelines.iter().filter(|diff| !counts(diff)).count();
        let total = count(self.pipelines.len(), "pipeline");
        lines.push(match (self.pipelines.len(), layout) {
            (0, _) => "no pipeline differs".to_owned(),
            (_, 0) => format!("{total} changed"),
            (all, layout) if all == layout => format!("{total} changed in layout only"),
            (_, layout) => format!("{total} changed, {layout} in layout only"),
        });
        lines.join("\n") + "\n"
    }

    fn json(&self) -> String {
        let id = |commit: &Option<CommitId>| commit.as_ref().map(CommitId::to_string);
        output::json(&json!({
            "schema": "sluicegate.diff/v1",
            "base": id(&self.base),
            "head": id(&self.head),
            "pipelines": self.pipelines,
        }))
    }

    /// A picture has one pipeline; where none differs, it is empty.
    fn picture(&self, format: DiffFormat) -> Result<String, Failure> {
        let (diff, contents) = match (self.pipelines.as_slice(), &self.only) {
            ([], _) => return Ok(String::new()),
            ([diff], Some(contents)) => (diff, contents),
            (several, _) => {
                let message = format!("a picture shows one pipeline, and {} differ", several.len());
                return Err(Failure::usage(message).hint("name one of them by its path"));
            }
        };
        let unreadable = |why: &str| {
            let path = text::line(&diff.path);
            Failure::usage(format!(
                "{path} cannot be drawn: it cannot be read {}",
                text::line(why)
            ))
        };
        if let Some(why) = &diff.reason {
            return Err(unreadable(why));
        }
        let canvas = Canvas::of_change(contents.before(), contents.after(), diff)
            .map_err(|why| unreadable(&why.to_string()))?;
        Ok(if format == DiffFormat::Svg {
            picture::document(&canvas, &diff.path) + "\n"
        } else {
            let (part, left_out) = canvas.changed_part(MOST_BOXES);
            let mut chart = picture::mermaid(&part);
            if left_out > 0 {
                let _ = writeln!(chart, "  %% {left_out} more are left out");
            }
            chart
        })
    }
}
