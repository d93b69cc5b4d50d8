//! What changed in a file: in words, and on the canvas that people know.

use super::parts::heading;
use crate::base::text::count;
use crate::base::text::markup as escape;
use crate::model::diff::{Line, Sign};
use crate::model::findings::{Finding, Severity};
use crate::model::picture::{self, Badge, Canvas};
use crate::report::ChangedFile;
use crate::report::view::{FileView, View};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

/// Where more files have findings, what changed in them is folded.
const MOST_OPEN: usize = 5;

/// Files without findings that are shown, each folded.
const MOST_FILES: usize = 200;

/// A finding with its number on the page.
pub(super) type Numbered<'v, 'a> = (usize, &'v Finding<'a>);

/// What stands above the findings of a file, and where the picture has each component.
#[derive(Default)]
pub(super) struct Above {
    pub shown: String,
    places: HashMap<String, String>,
}

impl Above {
    /// The id of the component that the finding is about.
    pub(super) fn place(&self, finding: &Finding<'_>) -> Option<&str> {
        self.places.get(finding.about?).map(String::as_str)
    }
}

/// What changed in a file with findings, and its picture with them; which of all such files it is.
pub(super) fn above(
    view: &View<'_>,
    path: &str,
    (number, all): (usize, usize),
    findings: &[Numbered<'_, '_>],
) -> Above {
    let changed = view.change(path);
    let drawn = changed.and_then(|file| file.picture.as_ref());
    let canvas = drawn.or_else(|| view.about.pictures.get(path)).cloned();
    let id = format!("canvas-{number}");
    let mut above = Above::default();
    let mut inside = changed.map(|file| told(&file.words, path)).unwrap_or_default();
    if let Some(mut canvas) = canvas {
        canvas.badges(&badges(findings));
        above.places = places(&canvas, &id);
        inside.push_str(&figure(&canvas, path, &id));
    }
    if inside.is_empty() && changed.is_none() {
        return above;
    }
    let summary = match changed {
        Some(file) => format!("What changed: {}", file.changed.words()),
        None => "The pipeline, with its findings".to_owned(),
    };
    let open = if all > MOST_OPEN { "" } else { " open=\"\"" };
    above.shown = format!(
        "<details class=\"what\"{open}><summary>{}</summary>\n{inside}</details>\n",
        escape(&summary)
    );
    above
}

fn badges(findings: &[Numbered<'_, '_>]) -> BTreeMap<String, Badge> {
    let mut badges: BTreeMap<String, Badge> = BTreeMap::new();
    for (number, finding) in findings {
        let Some(about) = finding.about else { continue };
        let badge = badges.entry(about.to_owned()).or_insert_with(|| Badge {
            count: 0,
            worst: Severity::Warning,
            leads_to: format!("finding-{number}"),
        });
        badge.count += 1;
        badge.worst = badge.worst.max(finding.severity);
    }
    badges
}

fn places(canvas: &Canvas, id: &str) -> HashMap<String, String> {
    let boxes = canvas.boxes.iter().enumerate();
    boxes
        .map(|(at, drawn)| (drawn.name.clone(), format!("{id}-{at}")))
        .collect()
}

/// What changed in files that have no findings.
pub(super) fn others(view: &View<'_>, files: &[FileView<'_, '_>]) -> String {
    let (title, others) = view.other_changes(files);
    if others.is_empty() {
        return String::new();
    }
    let mut shown =
        format!("<section class=\"findings\" aria-labelledby=\"changes\"><h2 id=\"changes\">{title}</h2>\n");
    for (number, file) in others.iter().take(MOST_FILES).enumerate() {
        shown.push_str(&one(file, &format!("change-{number}"), others.len() <= MOST_OPEN));
    }
    if others.len() > MOST_FILES {
        let more = count(others.len() - MOST_FILES, "more file");
        let _ = writeln!(shown, "<p>And {more}: see the JSON report.</p>");
    }
    shown + "</section>\n"
}

pub(super) fn one(file: &ChangedFile, id: &str, is_open: bool) -> String {
    let path = &file.changed.path;
    let picture = file.picture.as_ref();
    format!(
        "<details class=\"group card\"{}><summary>{}<span class=\"tally\">{}</span></summary>\n<div class=\"what\">{}{}</div></details>\n",
        if is_open { " open=\"\"" } else { "" },
        heading(path),
        escape(&file.changed.words()),
        told(&file.words, path),
        picture.map(|canvas| figure(canvas, path, id)).unwrap_or_default()
    )
}

/// In words; what is more than its place has room for can be moved in it, by keys too.
fn told(lines: &[Line], path: &str) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let mut shown = format!(
        "<ul class=\"told\" tabindex=\"0\" aria-label=\"What changed in {}\">",
        escape(path)
    );
    for line in lines {
        let value = if line.is_value { " value" } else { "" };
        let sign = match line.sign {
            Sign::None => String::new(),
            sign => format!(
                "<b aria-label=\"{}\" role=\"img\">{}</b> ",
                sign.word(),
                sign.mark()
            ),
        };
        let _ = write!(
            shown,
            "<li class=\"in-{} is-{}{value}\">{sign}{}</li>",
            line.depth.min(4),
            line.sign.word(),
            escape(&line.text)
        );
    }
    shown + "</ul>\n"
}

/// A picture that is larger than its place can be moved in it, by keys too.
fn figure(canvas: &Canvas, path: &str, id: &str) -> String {
    format!(
        "<div class=\"canvas\" tabindex=\"0\" role=\"region\" aria-label=\"Picture of {}\">{}</div>\n",
        escape(path),
        picture::fragment(canvas, path, id)
    )
}

/// The arrow heads of all pictures of the page.
pub(super) fn arrow_heads() -> String {
    format!(
        "<svg class=\"sg-picture unseen\" aria-hidden=\"true\" width=\"0\" height=\"0\">{}</svg>\n",
        picture::markers()
    )
}
