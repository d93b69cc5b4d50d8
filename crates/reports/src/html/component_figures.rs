//! Renders the pictures of one file: the canvas, or its changed part with the complete canvas folded below it.

use super::change_folds::ChangeFolds;
use sluicegate_base::text::{escape_markup as escape, format_count, format_number};
use sluicegate_pipelines::picture::{self, Canvas, ElementIds, Picture, PictureFrame};
use std::collections::HashMap;
use std::fmt::Write as _;

/// Maximum number of components in the first picture.
const MAX_FIRST_COMPONENTS: usize = 24;

/// Renders the pictures of a file's canvas, which shows a pipeline's components. Also returns the id of each component
/// in the first picture that has it.
///
/// There is no picture if the canvas has neither a change nor a badge (the number of a component's findings). If most
/// components were replaced, there is one picture before and one after the change. Otherwise, there is one picture of
/// the complete canvas, or, if it cannot be read at this width, of its changed part with the complete canvas below it.
pub(super) fn render_pictures(
    canvas: &Canvas,
    list: ChangeFolds<'_>,
    width: i32,
) -> (String, HashMap<String, String>) {
    let id = list.id;
    let mut figures = ComponentFigures {
        path: list.path,
        width,
        line_ids: list.collect_line_ids(),
        component_ids: HashMap::new(),
    };
    if !canvas.has_changes() && canvas.boxes.iter().all(|canvas_box| canvas_box.badge.is_none()) {
        return (String::new(), figures.component_ids);
    }
    let complete_picture = Picture::with_natural_width(canvas);
    let mut html = if let Some(versions) = canvas.split_versions() {
        figures.render_versions(versions, id)
    } else if complete_picture.fits_width(width) {
        figures.render(&complete_picture, id, "Canvas")
    } else {
        figures.render_wide_canvas(&complete_picture, id)
    };
    if canvas.omitted_count > 0 {
        let _ = writeln!(
            html,
            "<p class=\"aside\">The canvas is too large to draw completely: {}.</p>",
            describe_omitted_components(canvas.omitted_count)
        );
    }
    (html, figures.component_ids)
}

/// Returns the largest natural width of a picture that can be read at `shown_width`: a picture may be scaled to 90
/// percent, see [`Picture::fits_width`].
const fn max_natural_width(shown_width: i32) -> i32 {
    shown_width * 10 / 9
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
    /// Renders the canvas before and the canvas after the change as two pictures.
    fn render_versions(&mut self, versions: [Canvas; 2], id: &str) -> String {
        let mut html = String::new();
        for (version, name) in versions.into_iter().zip(["Before", "After"]) {
            let picture = Picture::with_max_width(version, max_natural_width(self.width));
            let _ = writeln!(html, "<p class=\"aside\">{name}</p>");
            html.push_str(&self.render(&picture, &format!("{id}-{}", name.to_lowercase()), name));
        }
        html
    }

    /// Renders a canvas that is too wide to read: its changed part, then an overview and the complete canvas in a fold.
    /// If the changed part would be empty or have all components, there is no picture of it, and the overview comes
    /// first. `id` begins the ids of all pictures.
    fn render_wide_canvas(&mut self, complete_picture: &Picture<'_>, id: &str) -> String {
        let canvas = complete_picture.canvas();
        let (changed_part, omitted_count) = canvas.select_changed_part(MAX_FIRST_COMPONENTS);
        let full_id = format!("{id}-full");
        let words = PartWords::for_canvas(canvas);
        // A link to this box shows the complete canvas at the first change or finding.
        let first_change = canvas.find_first_changed_box().unwrap_or(0);
        let overview = complete_picture.render_overview(
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
            "<p class=\"aside\"><a href=\"#{full_id}-{first_change}\">Full size, at the first {}</a></p>\n",
            words.mark
        );
        let count = describe_drawn_components(canvas);
        if changed_part.boxes.len() == canvas.boxes.len() || changed_part.boxes.is_empty() {
            return format!(
                "<div class=\"canvas\">{overview}</div>\n{full_size_link}\
                 <details class=\"canvas-whole\"><summary>Full size: {count}</summary>\n{}</details>\n",
                self.render_full_size(complete_picture, &full_id)
            );
        }
        let first_picture = Picture::with_max_width(changed_part, max_natural_width(self.width));
        let mut html = self.render(&first_picture, &format!("{id}-part"), words.part_title);
        if omitted_count > 0 {
            let omitted_components = format_count(omitted_count, "more component");
            let _ = writeln!(
                html,
                "<p class=\"aside\">The {} shows {omitted_components} that {}.</p>",
                describe_canvas_kind(canvas).to_lowercase(),
                words.component_clause
            );
        }
        let _ = write!(
            html,
            "{full_size_link}<details class=\"canvas-whole\"><summary>{}: {count}</summary>\n\
             <div class=\"canvas\">{overview}</div>\n{}</details>\n",
            describe_canvas_kind(canvas),
            self.render_full_size(complete_picture, &full_id)
        );
        html
    }

    /// Renders a picture that is scaled to the available width. On a narrow screen, a click next to its components
    /// shows it at full size.
    fn render(&mut self, picture: &Picture<'_>, id: &str, kind: &str) -> String {
        let figure_id = format!("{id}-figure");
        let fragment = self.render_svg(picture, id, kind, Some(self.width), Some(&figure_id));
        format!("<div class=\"canvas\" id=\"{figure_id}\">{fragment}</div>\n")
    }

    /// Renders a picture at its natural size, in a region that scrolls.
    fn render_full_size(&mut self, picture: &Picture<'_>, id: &str) -> String {
        let (max_width, background_target) = (None, None);
        format!(
            "<div class=\"canvas canvas-full\" tabindex=\"0\" role=\"region\" aria-label=\"{} of {}\">{}</div>\n",
            describe_canvas_kind(picture.canvas()),
            escape(self.path),
            self.render_svg(picture, id, "Full size", max_width, background_target)
        )
    }

    /// Renders a picture as SVG, and records the id of each component that no earlier picture has.
    ///
    /// `id` is the prefix of all ids in the picture, and `kind` begins its title. Without `max_width`, the picture has
    /// its natural size. A click outside the components leads to the element with the id `background_target`.
    fn render_svg(
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
        let element_ids = |box_index: usize| ElementIds {
            component_id: Some(format!("{id}-{box_index}")),
            target_id: self.find_link_target(canvas, box_index),
        };
        picture.render_fragment(&PictureFrame {
            id,
            title: &format!("{kind} of {}", self.path),
            max_width,
            background_target,
            element_ids: &element_ids,
        })
    }

    /// Returns the id of the element that a component links to: its first finding, or else its line in the list of
    /// changes. `box_index` is the component's position among the boxes of the canvas.
    fn find_link_target(&self, canvas: &Canvas, box_index: usize) -> Option<String> {
        let component = canvas.boxes.get(box_index)?;
        match &component.badge {
            Some(badge) => Some(badge.target_id.clone()),
            None => self.line_ids.get(component.name.as_str()).cloned(),
        }
    }
}

/// The words about the part of a canvas that is shown first.
struct PartWords {
    part_title: &'static str,
    mark: &'static str,
    component_clause: &'static str,
}

impl PartWords {
    /// Returns the words for a change or, if the pipeline did not change, for its findings.
    fn for_canvas(canvas: &Canvas) -> Self {
        if canvas.has_changes() {
            Self {
                part_title: "Changed part",
                mark: "change",
                component_clause: "changed or are next to a change",
            }
        } else {
            Self {
                part_title: "Part with findings",
                mark: "finding",
                component_clause: "have findings or are next to such a component",
            }
        }
    }
}

/// Returns the name of the picture of all boxes of a canvas: a canvas that was too large to draw has only some of the
/// components.
const fn describe_canvas_kind(canvas: &Canvas) -> &'static str {
    if canvas.omitted_count > 0 {
        "Part of the canvas"
    } else {
        "Complete canvas"
    }
}

/// Returns the number of components of a canvas, such as `89 of 601 components` if not all of them are drawn.
fn describe_drawn_components(canvas: &Canvas) -> String {
    let drawn_count = canvas.component_count();
    let total_count = drawn_count + canvas.omitted_count;
    let total = format_count(total_count, "component");
    if canvas.omitted_count == 0 {
        return total;
    }
    format!("{} of {total}", format_number(drawn_count))
}

/// Returns a clause such as `3 components are not shown`.
fn describe_omitted_components(component_count: usize) -> String {
    let verb = if component_count == 1 { "is" } else { "are" };
    format!("{} {verb} not shown", format_count(component_count, "component"))
}

/// Renders an invisible SVG that contains the arrowheads. All pictures on the page refer to them.
pub(super) fn render_arrow_heads() -> String {
    format!(
        "<svg class=\"sg-picture unseen\" aria-hidden=\"true\" width=\"0\" height=\"0\">{}</svg>\n",
        picture::render_markers()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluicegate_pipelines::diff::{PipelineVersions, compare_trees};
    use sluicegate_pipelines::picture::Badge;
    use sluicegate_test_support::orchestration_text;

    /// Returns a chain of this number of components, whose names begin with `prefix`.
    fn chain_text(prefix: &str, component_count: usize) -> String {
        let names: Vec<String> = (0..component_count)
            .map(|number| format!("{prefix}{number}"))
            .collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        orchestration_text(&names)
    }

    /// Returns the canvas of a change from `old_text` to `new_text`.
    fn changed_canvas(old_text: &str, new_text: &str) -> Canvas {
        let versions = PipelineVersions {
            path: "a.orch.yaml",
            previous_path: None,
            base: Some(Ok(old_text.as_bytes())),
            head: Some(Ok(new_text.as_bytes())),
        };
        let trees = versions.parse_trees();
        let diff = compare_trees(&versions, &trees);
        Canvas::from_diff(&trees.unwrap(), &diff).unwrap()
    }

    fn add_badges(canvas: &mut Canvas) {
        for canvas_box in canvas.boxes.iter_mut().take(30) {
            canvas_box.badge = Some(Badge {
                count: 1,
                target_id: "finding".to_owned(),
            });
        }
    }

    fn render_figures(canvas: &Canvas) -> String {
        let list = ChangeFolds {
            path: "a.orch.yaml",
            id: "f1",
            lines: &[],
        };
        let (html, _) = render_pictures(canvas, list, 400);
        html
    }

    #[test]
    fn omitted_components_are_counted_below_pictures_of_both_versions() {
        let other_text = chain_text("Other", 5).replace("sql-executor", "python-pushdown");
        let mut canvas = changed_canvas(&chain_text("C", 9), &other_text);
        assert!(!render_figures(&canvas).contains("too large"));
        canvas.omitted_count = 200;
        let html = render_figures(&canvas);
        assert!(
            html.contains(">Before<") && html.contains("200 components are not shown"),
            "{html}"
        );
    }

    #[test]
    fn missing_components_do_not_prevent_pictures_of_both_versions() {
        let other_text = chain_text("Other", 5).replace("sql-executor", "python-pushdown");
        let mut canvas = changed_canvas(&chain_text("C", 9), &other_text);
        let mut missing_boxes = Canvas::from_pipeline(chain_text("Missing", 20).as_bytes())
            .unwrap()
            .boxes;
        for missing_box in &mut missing_boxes {
            missing_box.is_missing = true;
        }
        canvas.boxes.append(&mut missing_boxes);
        assert!(render_figures(&canvas).contains(">Before<"));
    }

    #[test]
    fn part_of_unchanged_canvas_is_about_findings() {
        let text = chain_text("C", 40);
        let mut canvas = Canvas::from_pipeline(text.as_bytes()).unwrap();
        add_badges(&mut canvas);
        let html = render_figures(&canvas);
        assert!(
            html.contains("at the first finding") && html.contains("Part with findings of a.orch.yaml"),
            "{html}"
        );
        assert!(
            !html.contains("Changed part") && !html.contains("a change") && !html.contains("first change"),
            "{html}"
        );
        let mut canvas = changed_canvas(&text, &text.replace("\"C1\" }", "\"C1\", query: new }"));
        add_badges(&mut canvas);
        let html = render_figures(&canvas);
        assert!(
            html.contains("at the first change") && html.contains("Changed part of"),
            "{html}"
        );
    }
}
