//! What changed in a file: in words, and on the canvas that people know.

use super::parts::heading;
use crate::base::text::count;
use crate::base::text::markup as escape;
use crate::model::diff::{Line, Sign};
use crate::model::findings::Finding;
use crate::model::picture::{self, Badge, COLUMN, Canvas, Ids, PAGE, Picture};
use crate::report::ChangedFile;
use crate::report::view::{FileView, View};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

/// Where more files have findings, what changed in them is folded.
const MOST_OPEN: usize = 5;

/// Components of the picture that is seen first.
const MOST_FIRST: usize = 24;

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
    let lines = changed.map(|file| file.words.as_slice()).unwrap_or_default();
    let mut drawing = String::new();
    if let Some(mut canvas) = canvas {
        canvas.badges(&badges(findings));
        (drawing, above.places) = figures(&canvas, (path, &id, COLUMN), lines);
    }
    let inside = told(lines, path, &id, &above.places) + &drawing;
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
            leads_to: format!("finding-{number}"),
        });
        badge.count += 1;
    }
    badges
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
        shown.push_str(&one(
            file,
            &format!("change-{number}"),
            COLUMN,
            others.len() <= MOST_OPEN,
        ));
    }
    if others.len() > MOST_FILES {
        let more = count(others.len() - MOST_FILES, "more file");
        let _ = writeln!(shown, "<p>And {more}: see the JSON report.</p>");
    }
    shown + "</section>\n"
}

/// A file of its own; its picture is at most so wide, in pixels.
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
        escape(&file.changed.words()),
        told(&file.words, path, id, &places),
        drawing
    )
}

/// In words; what is more than its place has room for can be moved in it, by keys too.
fn told(lines: &[Line], path: &str, id: &str, places: &HashMap<String, String>) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let mut shown = format!(
        "<ul class=\"told\" tabindex=\"0\" aria-label=\"What changed in {}\">",
        escape(path)
    );
    for (number, line) in lines.iter().enumerate() {
        let value = if line.is_value { " value" } else { "" };
        let sign = match line.sign {
            Sign::None => String::new(),
            sign => format!(
                "<b aria-label=\"{}\" role=\"img\">{}</b> ",
                sign.word(),
                sign.mark()
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

/// The id of a line of words.
fn word_id(id: &str, number: usize) -> String {
    format!("{id}-word-{number}")
}

/// The part to look at first, and the whole canvas folded below it; one picture where that is small. Gives also the id of each
/// component where it is seen first.
fn figures(
    canvas: &Canvas,
    (path, id, width): (&str, &str, i32),
    lines: &[Line],
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
            let finding = drawn.and_then(|drawn| drawn.badge.as_ref().map(|badge| badge.leads_to.clone()));
            let word = || words.get(drawn?.name.as_str()).cloned();
            Ids {
                own: Some(format!("{id}-{at}")),
                leads_to: finding.or_else(word),
            }
        };
        format!(
            "<div class=\"canvas\" tabindex=\"0\" role=\"region\" aria-label=\"Picture of {}\">{}</div>\n",
            escape(path),
            picture.fragment(path, &ids)
        )
    };
    let whole = Picture::whole(canvas);
    let is_once = canvas.boxes.len() <= MOST_FIRST && whole.fits(PAGE);
    let too_large = match canvas.left_out {
        0 => String::new(),
        more => format!(
            "<p class=\"note\">The canvas is too large to draw completely: {} missing.</p>\n",
            are(more)
        ),
    };
    if is_once {
        let narrow = (!whole.fits(width)).then(|| Picture::fitting(canvas, width));
        return (figure(narrow.as_ref().unwrap_or(&whole), id) + &too_large, places);
    }
    let (part, left_out) = Picture::first_part(canvas, MOST_FIRST, width);
    if part.canvas().boxes.is_empty() {
        return (figure(&whole, id) + &too_large, places);
    }
    let mut shown = figure(&part, &format!("{id}-part"));
    if left_out > 0 {
        let more = count(left_out, "more component");
        let _ = writeln!(
            shown,
            "<p class=\"note\">{more} that changed or are next to a change: see the whole canvas.</p>"
        );
    }
    let _ = write!(
        shown,
        "<details class=\"canvas-whole\"><summary>The whole canvas: {}</summary>\n{}</details>\n",
        count(canvas.boxes.len(), "component"),
        figure(&whole, id) + &too_large
    );
    (shown, places)
}

fn are(components: usize) -> String {
    let verb = if components == 1 { "is" } else { "are" };
    format!("{} {verb}", count(components, "component"))
}

/// The arrow heads of all pictures of the page.
pub(super) fn arrow_heads() -> String {
    format!(
        "<svg class=\"sg-picture unseen\" aria-hidden=\"true\" width=\"0\" height=\"0\">{}</svg>\n",
        picture::markers()
    )
}
