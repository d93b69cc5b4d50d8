//! Renders the changes of a file as a list and as a picture of the canvas.

use super::elements::render_path_heading;
use crate::report::ChangedFile;
use crate::report::sentences::capitalize;
use crate::report::view::{FileView, View};
use sluicegate_base::text::{escape_markup as escape, format_and_more_of, format_count};
use sluicegate_pipelines::diff::{DiffLine, Sign};
use sluicegate_pipelines::findings::Finding;
use sluicegate_pipelines::picture::{self, Badge, COLUMN_WIDTH, Canvas, ElementIds, Picture, PictureFrame};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

/// Number of files with findings above which their changes are folded.
const MAX_OPEN_FILES: usize = 5;

/// Maximum number of components in the first picture.
const MAX_FIRST_COMPONENTS: usize = 24;

/// Maximum number of shown files without findings.
const MAX_UNAFFECTED_FILES: usize = 200;

/// A finding with its number on the page.
pub(super) type NumberedFinding<'v, 'a> = (usize, &'v Finding<'a>);

/// The content above the findings of a file, and the id of each component in the picture.
#[derive(Default)]
pub(super) struct FileChangesView {
    pub html: String,
    component_ids: HashMap<String, String>,
}

impl FileChangesView {
    /// Returns the id of the component of the finding.
    pub(super) fn component_id(&self, finding: &Finding<'_>) -> Option<&str> {
        self.component_ids.get(finding.about?).map(String::as_str)
    }
}

/// Returns the changes and the picture of a file with findings; `file_index` is its index among the `file_count` files
/// with findings.
pub(super) fn render_changes_above_findings(
    view: &View<'_>,
    path: &str,
    file_index: usize,
    file_count: usize,
    findings: &[NumberedFinding<'_, '_>],
) -> FileChangesView {
    let changed_file = view.find_change(path);
    let changed_picture = changed_file.and_then(|file| file.picture.as_ref());
    let canvas = changed_picture
        .or_else(|| view.context.pictures.get(path))
        .cloned();
    let id = format!("canvas-{file_index}");
    let mut file_changes = FileChangesView::default();
    let lines = changed_file.map(|file| file.words.as_slice()).unwrap_or_default();
    let mut pictures = String::new();
    if let Some(mut canvas) = canvas {
        canvas.set_badges(&build_badges(findings));
        (pictures, file_changes.component_ids) = render_pictures(&canvas, path, &id, COLUMN_WIDTH, lines);
    }
    let content = pictures + &render_change_list(lines, path, &id, &file_changes.component_ids);
    if content.is_empty() && changed_file.is_none() {
        return file_changes;
    }
    let summary = match changed_file {
        Some(file) => format!("Changes: {}", file.summary.describe()),
        None => "Pipeline with findings".to_owned(),
    };
    let open_attribute = if file_count > MAX_OPEN_FILES {
        ""
    } else {
        " open=\"\""
    };
    file_changes.html = format!(
        "<details class=\"what\"{open_attribute}><summary>{}</summary>\n{content}</details>\n",
        escape(&summary)
    );
    file_changes
}

fn build_badges(findings: &[NumberedFinding<'_, '_>]) -> BTreeMap<String, Badge> {
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
pub(super) fn render_other_changes(view: &View<'_>, files: &[FileView<'_, '_>]) -> String {
    let (title, other_files) = view.select_other_changes(files);
    if other_files.is_empty() {
        return String::new();
    }
    let mut html =
        format!("<section class=\"findings\" aria-labelledby=\"changes\"><h2 id=\"changes\">{title}</h2>\n");
    for (number, file) in other_files.iter().take(MAX_UNAFFECTED_FILES).enumerate() {
        html.push_str(&render_file_changes(
            file,
            &format!("change-{number}"),
            COLUMN_WIDTH,
            other_files.len() <= MAX_OPEN_FILES,
        ));
    }
    if other_files.len() > MAX_UNAFFECTED_FILES {
        let omission = capitalize(&format_and_more_of(
            other_files.len() - MAX_UNAFFECTED_FILES,
            "file",
        ));
        let _ = writeln!(html, "<p>{omission}: see the JSON report.</p>");
    }
    html + "</section>\n"
}

/// Returns the changes of one file; its picture is at most `width` pixels wide.
pub(super) fn render_file_changes(file: &ChangedFile, id: &str, width: i32, is_open: bool) -> String {
    let path = &file.summary.path;
    let picture = file.picture.as_ref();
    let (pictures, component_ids) = picture
        .map(|canvas| render_pictures(canvas, path, id, width, &file.words))
        .unwrap_or_default();
    format!(
        "<details class=\"group card\"{}><summary>{}<span class=\"tally\">{}</span></summary>\n<div class=\"what\">{}{}</div></details>\n",
        if is_open { " open=\"\"" } else { "" },
        render_path_heading(path),
        escape(&file.summary.describe()),
        pictures,
        render_change_list(&file.words, path, id, &component_ids),
    )
}

/// Returns the list of changes; it can be scrolled, also with the keyboard.
fn render_change_list(
    lines: &[DiffLine],
    path: &str,
    id: &str,
    component_ids: &HashMap<String, String>,
) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let mut html = format!(
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
        let component_id = line.component.as_ref().and_then(|name| component_ids.get(name));
        let (id_attribute, text) = match component_id {
            Some(component_id) => (
                format!(" id=\"{}\"", change_line_id(id, number)),
                format!("<a class=\"there\" href=\"#{component_id}\">{text}</a>"),
            ),
            None => (String::new(), text),
        };
        let _ = write!(
            html,
            "<li{id_attribute} class=\"in-{} is-{}{value}\">{sign}{text}</li>",
            line.depth.min(4),
            line.sign.word(),
        );
    }
    html + "</ul>\n"
}

/// Returns the id of a line in the list of changes.
fn change_line_id(id: &str, number: usize) -> String {
    format!("{id}-word-{number}")
}

/// Returns the complete canvas if it can be read in this width. Otherwise returns the part to look at first, with an
/// overview and the complete canvas folded below it. Also returns the id of each component in the first picture that
/// has it.
fn render_pictures(
    canvas: &Canvas,
    path: &str,
    id: &str,
    width: i32,
    lines: &[DiffLine],
) -> (String, HashMap<String, String>) {
    let mut figures = ComponentFigures {
        path,
        width,
        line_ids: lines
            .iter()
            .enumerate()
            .filter_map(|(number, line)| Some((line.component.as_deref()?, change_line_id(id, number))))
            .collect(),
        component_ids: HashMap::new(),
    };
    if !canvas.has_changes() && canvas.boxes.iter().all(|canvas_box| canvas_box.badge.is_none()) {
        return (String::new(), figures.component_ids);
    }
    if let Some(versions) = canvas.split_versions() {
        let mut html = String::new();
        for (version, name) in versions.into_iter().zip(["Before", "After"]) {
            let picture = Picture::with_max_width(version, width * 10 / 9);
            let _ = writeln!(html, "<p class=\"note\">{name}</p>");
            html.push_str(&figures.render(&picture, &format!("{id}-{}", name.to_lowercase()), name));
        }
        return (html, figures.component_ids);
    }
    let whole = Picture::with_natural_width(canvas);
    let mut html = if whole.fits_width(width) {
        figures.render(&whole, id, "Canvas")
    } else {
        figures.render_parts(&whole, id)
    };
    if canvas.omitted_count > 0 {
        let _ = writeln!(
            html,
            "<p class=\"note\">The canvas is too large to draw completely: {} missing.</p>",
            describe_missing_components(canvas.omitted_count)
        );
    }
    (html, figures.component_ids)
}

/// The pictures of one file, which refer to each component by the id in the first picture that has it.
struct ComponentFigures<'a> {
    path: &'a str,
    /// The available width, in pixels.
    width: i32,
    /// The id of the line in the list of changes, by component.
    line_ids: HashMap<&'a str, String>,
    component_ids: HashMap<String, String>,
}

impl ComponentFigures<'_> {
    /// Returns the changed part of a canvas that is too wide, and the complete canvas. The changed part is left out if
    /// it has all components.
    fn render_parts(&mut self, whole: &Picture<'_>, id: &str) -> String {
        let canvas = whole.canvas();
        let (part, omitted_count) = canvas.select_changed_part(MAX_FIRST_COMPONENTS);
        let full_id = format!("{id}-full");
        let first_change = canvas.first_change().unwrap_or(0);
        let overview = whole.render_overview(
            &PictureFrame {
                id: &format!("{id}-overview"),
                title: &format!("Overview of {}", self.path),
                max_width: Some(self.width),
                background_target: Some(&format!("{full_id}-{first_change}")),
                element_ids: &|_| ElementIds::default(),
            },
            &full_id,
        );
        let full_size_link = format!(
            "<p class=\"note\"><a href=\"#{full_id}-{first_change}\">Full size, at the first change</a></p>\n"
        );
        let count = format_count(canvas.boxes.len(), "component");
        if part.boxes.len() == canvas.boxes.len() || part.boxes.is_empty() {
            return format!(
                "<div class=\"canvas\">{overview}</div>\n{full_size_link}\
                 <details class=\"canvas-whole\"><summary>Full size: {count}</summary>\n{}</details>\n",
                self.render_full_size(whole, &full_id)
            );
        }
        let first_picture = Picture::with_max_width(part, self.width * 10 / 9);
        let mut html = self.render(&first_picture, &format!("{id}-part"), "Changed part");
        if omitted_count > 0 {
            let missing_count = format_count(omitted_count, "more component");
            let _ = writeln!(
                html,
                "<p class=\"note\">{missing_count} that changed or are next to a change: see the complete canvas.</p>"
            );
        }
        let _ = write!(
            html,
            "{full_size_link}<details class=\"canvas-whole\"><summary>Complete canvas: {count}</summary>\n\
             <div class=\"canvas\">{overview}</div>\n{}</details>\n",
            self.render_full_size(whole, &full_id)
        );
        html
    }

    /// Returns a picture that fits the width. A click beside its components shows it at full size on a narrow screen.
    fn render(&mut self, picture: &Picture<'_>, id: &str, kind: &str) -> String {
        let figure_id = format!("{id}-figure");
        let fragment = self.draw(picture, id, kind, Some(self.width), Some(&figure_id));
        format!("<div class=\"canvas\" id=\"{figure_id}\">{fragment}</div>\n")
    }

    fn render_full_size(&mut self, picture: &Picture<'_>, id: &str) -> String {
        format!(
            "<div class=\"canvas canvas-full\" tabindex=\"0\" role=\"region\" aria-label=\"Complete canvas of {}\">{}</div>\n",
            escape(self.path),
            self.draw(picture, id, "Full size", None, None)
        )
    }

    fn draw(
        &mut self,
        picture: &Picture<'_>,
        id: &str,
        kind: &str,
        max_width: Option<i32>,
        background_target: Option<&str>,
    ) -> String {
        let canvas = picture.canvas();
        for (box_index, component) in canvas.boxes.iter().enumerate() {
            self.component_ids
                .entry(component.name.clone())
                .or_insert_with(|| format!("{id}-{box_index}"));
        }
        let element_ids = |box_index: usize| {
            let component = canvas.boxes.get(box_index);
            let finding_id =
                component.and_then(|component| component.badge.as_ref().map(|badge| badge.target_id.clone()));
            ElementIds {
                component_id: Some(format!("{id}-{box_index}")),
                target_id: finding_id.or_else(|| self.line_ids.get(component?.name.as_str()).cloned()),
            }
        };
        picture.render_fragment(&PictureFrame {
            id,
            title: &format!("{kind} of {}", self.path),
            max_width,
            background_target,
            element_ids: &element_ids,
        })
    }
}

fn describe_missing_components(components: usize) -> String {
    let verb = if components == 1 { "is" } else { "are" };
    format!("{} {verb}", format_count(components, "component"))
}

/// Returns the arrow heads for all pictures of the page.
pub(super) fn render_arrow_heads() -> String {
    format!(
        "<svg class=\"sg-picture unseen\" aria-hidden=\"true\" width=\"0\" height=\"0\">{}</svg>\n",
        picture::render_markers()
    )
}
