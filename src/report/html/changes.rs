//! Renders the changes of a file as a list and as a picture of the canvas.

use super::parts::heading;
use crate::report::ChangedFile;
use crate::report::view::{FileView, View};
use crate::report::wording::capital;
use sluicegate_base::text::{and_more_of, count, markup as escape};
use sluicegate_pipelines::diff::{DiffLine, Sign};
use sluicegate_pipelines::findings::Finding;
use sluicegate_pipelines::picture::{self, Badge, COLUMN_WIDTH, Canvas, ElementIds, PAGE_WIDTH, Picture};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

/// Number of files with findings above which their changes are folded.
const MOST_OPEN: usize = 5;

/// Maximum number of components in the first picture.
const MOST_FIRST: usize = 24;

/// Maximum number of shown files without findings.
const MOST_FILES: usize = 200;

/// A finding with its number on the page.
pub(super) type Numbered<'v, 'a> = (usize, &'v Finding<'a>);

/// The content above the findings of a file, and the id of each component in the picture.
#[derive(Default)]
pub(super) struct Above {
    pub shown: String,
    places: HashMap<String, String>,
}

impl Above {
    /// Returns the id of the component of the finding.
    pub(super) fn place(&self, finding: &Finding<'_>) -> Option<&str> {
        self.places.get(finding.about?).map(String::as_str)
    }
}

/// Returns the changes and the picture of a file with findings; `number` is its index among the `all` files with
/// findings.
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
    let lines = changed.map(|file| file.words.as_slice()).unwrap_or_default();
    let mut drawing = String::new();
    if let Some(mut canvas) = canvas {
        canvas.set_badges(&badges(findings));
        (drawing, above.places) = figures(&canvas, (path, &id, COLUMN_WIDTH), lines);
    }
    let inside = told(lines, path, &id, &above.places) + &drawing;
    if inside.is_empty() && changed.is_none() {
        return above;
    }
    let summary = match changed {
        Some(file) => format!("Changes: {}", file.changed.describe()),
        None => "Pipeline with findings".to_owned(),
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
            target_id: format!("finding-{number}"),
        });
        badge.count += 1;
    }
    badges
}

/// Returns the changes of files that have no findings.
pub(super) fn others(view: &View<'_>, files: &[FileView<'_, '_>]) -> String {
    let (title, others) = view.other_changes(files);
    if others.is_empty() {
        return String::new();
    }
    let mut shown =
        format!("<section class=\"findings\" aria-labelledby=\"changes\"><h2 id=\"changes\">{title}</h2>\n");
    for (number, file) in others.iter().take(MOST_FILES).enumerate() {
        shown.push_str(&one(
            file,
            &format!("change-{number}"),
            COLUMN_WIDTH,
            others.len() <= MOST_OPEN,
        ));
    }
    if others.len() > MOST_FILES {
        let more = capital(&and_more_of(others.len() - MOST_FILES, "file"));
        let _ = writeln!(shown, "<p>{more}: see the JSON report.</p>");
    }
    shown + "</section>\n"
}

/// Returns the changes of one file; its picture is at most `width` pixels wide.
pub(super) fn one(file: &ChangedFile, id: &str, width: i32, is_open: bool) -> String {
    let path = &file.changed.path;
    let picture = file.picture.as_ref();
    let (drawing, places) = picture
        .map(|canvas| figures(canvas, (path, id, width), &file.words))
        .unwrap_or_default();
    format!(
        "<details class=\"group card\"{}><summary>{}<span class=\"tally\">{}</span></summary>\n<div class=\"what\">{}{}</div></details>\n",
        if is_open { " open=\"\"" } else { "" },
        heading(path),
        escape(&file.changed.describe()),
        told(&file.words, path, id, &places),
        drawing
    )
}

/// Returns the list of changes; it can be scrolled, also with the keyboard.
fn told(lines: &[DiffLine], path: &str, id: &str, places: &HashMap<String, String>) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let mut shown = format!(
        "<ul class=\"told\" tabindex=\"0\" aria-label=\"Changes in {}\">",
        escape(path)
    );
    for (number, line) in lines.iter().enumerate() {
        let value = if line.is_value { " value" } else { "" };
        let sign = match line.sign {
            Sign::None => String::new(),
            sign => format!(
                "<b aria-label=\"{}\" role=\"img\">{}</b> ",
                sign.word(),
                sign.symbol()
            ),
        };
        let text = escape(&line.text);
        let place = line.component.as_ref().and_then(|name| places.get(name));
        let (own, text) = match place {
            Some(place) => (
                format!(" id=\"{}\"", word_id(id, number)),
                format!("<a class=\"there\" href=\"#{place}\">{text}</a>"),
            ),
            None => (String::new(), text),
        };
        let _ = write!(
            shown,
            "<li{own} class=\"in-{} is-{}{value}\">{sign}{text}</li>",
            line.depth.min(4),
            line.sign.word(),
        );
    }
    shown + "</ul>\n"
}

/// Returns the id of a line in the list of changes.
fn word_id(id: &str, number: usize) -> String {
    format!("{id}-word-{number}")
}

/// Returns a picture of the important part with the complete canvas folded below it, or one picture if the canvas is
/// small. Also returns the id of each component in the first picture that has it.
fn figures(
    canvas: &Canvas,
    (path, id, width): (&str, &str, i32),
    lines: &[DiffLine],
) -> (String, HashMap<String, String>) {
    let words: HashMap<&str, String> = lines
        .iter()
        .enumerate()
        .filter_map(|(number, line)| Some((line.component.as_deref()?, word_id(id, number))))
        .collect();
    let mut places = HashMap::new();
    let mut figure = |picture: &Picture<'_>, id: &str| {
        let canvas = picture.canvas();
        for (at, drawn) in canvas.boxes.iter().enumerate() {
            let own = || format!("{id}-{at}");
            places.entry(drawn.name.clone()).or_insert_with(own);
        }
        let ids = |at: usize| {
            let drawn = canvas.boxes.get(at);
            let finding = drawn.and_then(|drawn| drawn.badge.as_ref().map(|badge| badge.target_id.clone()));
            let word = || words.get(drawn?.name.as_str()).cloned();
            ElementIds {
                component_id: Some(format!("{id}-{at}")),
                target_id: finding.or_else(word),
            }
        };
        format!(
            "<div class=\"canvas\" tabindex=\"0\" role=\"region\" aria-label=\"Picture of {}\">{}</div>\n",
            escape(path),
            picture.render_fragment(path, &ids)
        )
    };
    let whole = Picture::with_natural_width(canvas);
    let is_once = canvas.boxes.len() <= MOST_FIRST && whole.fits_width(PAGE_WIDTH);
    let too_large = match canvas.omitted_count {
        0 => String::new(),
        more => format!(
            "<p class=\"note\">The canvas is too large to draw completely: {} missing.</p>\n",
            are(more)
        ),
    };
    if is_once {
        let narrow = (!whole.fits_width(width)).then(|| Picture::with_max_width(canvas, width));
        return (figure(narrow.as_ref().unwrap_or(&whole), id) + &too_large, places);
    }
    let (part, left_out) = Picture::select_changed_part(canvas, MOST_FIRST, width);
    if part.canvas().boxes.is_empty() {
        return (figure(&whole, id) + &too_large, places);
    }
    let mut shown = figure(&part, &format!("{id}-part"));
    if left_out > 0 {
        let more = count(left_out, "more component");
        let _ = writeln!(
            shown,
            "<p class=\"note\">{more} that changed or are next to a change: see the complete canvas.</p>"
        );
    }
    let _ = write!(
        shown,
        "<details class=\"canvas-whole\"><summary>Complete canvas: {}</summary>\n{}</details>\n",
        count(canvas.boxes.len(), "component"),
        figure(&whole, id) + &too_large
    );
    (shown, places)
}

fn are(components: usize) -> String {
    let verb = if components == 1 { "is" } else { "are" };
    format!("{} {verb}", count(components, "component"))
}

/// Returns the arrow heads for all pictures of the page.
pub(super) fn arrow_heads() -> String {
    format!(
        "<svg class=\"sg-picture unseen\" aria-hidden=\"true\" width=\"0\" height=\"0\">{}</svg>\n",
        picture::render_markers()
    )
}
