//! Compares a picture with its canvas, using only the markup: everything is drawn once, in the order of the canvas.

use super::canvas::{Canvas, ChangeMark};
use roxmltree::Document;
use sluicegate_test_support::picture_geometry::{DrawnPicture, Link, Rect, elements_of_class};
use std::collections::BTreeMap;

/// Returns the errors in the picture of a complete canvas, as texts; the list is empty if the picture is correct.
pub(super) fn faults(canvas: &Canvas, svg: &str) -> Vec<String> {
    let document = Document::parse(svg).unwrap();
    let drawn = DrawnPicture::read(document.root());
    let mut faults = faults_without_order(canvas, svg);
    check_order(canvas, &drawn.rects, &mut faults);
    faults
}

/// Returns the errors in a picture that continues below like wrapped text, so the order of its boxes is not checked.
pub(super) fn faults_without_order(canvas: &Canvas, svg: &str) -> Vec<String> {
    let document = Document::parse(svg).unwrap();
    let drawn = DrawnPicture::read(document.root());
    let mut faults = drawn.find_faults();
    check_completeness(canvas, &drawn.rects, &drawn.links, &mut faults);
    check_visible_names(&document, &mut faults);
    faults
}

/// Checks that no two boxes have the same visible text.
fn check_visible_names(document: &Document<'_>, faults: &mut Vec<String>) {
    let mut names: Vec<String> = elements_of_class(document.root(), "component")
        .map(|component| {
            elements_of_class(component, "sg-name")
                .filter_map(|text| text.text())
                .flat_map(str::split_whitespace)
                .collect()
        })
        .collect();
    names.sort_unstable();
    faults.extend(
        names
            .windows(2)
            .filter(|pair| pair[0] == pair[1])
            .map(|pair| format!("{} twice", pair[0])),
    );
}

/// Checks that the picture draws each component and each link of the canvas exactly once.
fn check_completeness(canvas: &Canvas, rects: &[Rect], links: &[Link], faults: &mut Vec<String>) {
    let mut boxes: Vec<&str> = canvas
        .boxes
        .iter()
        .map(|canvas_box| canvas_box.name.as_str())
        .collect();
    let mut drawn: Vec<&str> = rects.iter().map(|rect| rect.name.as_str()).collect();
    boxes.sort_unstable();
    drawn.sort_unstable();
    if boxes != drawn {
        faults.push(format!("components {boxes:?}, drawn {drawn:?}"));
    }
    let box_name = |index: usize| canvas.boxes[index].name.as_str();
    let mut arrows: Vec<_> = canvas
        .arrows
        .iter()
        .map(|arrow| {
            (
                box_name(arrow.from_box),
                box_name(arrow.to_box),
                arrow.kind.as_str(),
            )
        })
        .collect();
    let mut drawn: Vec<_> = links
        .iter()
        .map(|link| (link.from.as_str(), link.to.as_str(), link.kind.as_str()))
        .collect();
    arrows.sort_unstable();
    drawn.sort_unstable();
    if arrows != drawn {
        faults.push(format!("links {arrows:?}, drawn {drawn:?}"));
    }
}

/// Returns whether two boxes are at almost the same place on the canvas: at most 30 units apart in each direction.
fn is_near(canvas: &Canvas, index: usize, other_index: usize) -> bool {
    let places = [index, other_index].map(|index| canvas.boxes[index].position);
    matches!(places, [Some(place), Some(other)] if (place.x - other.x).abs() <= 30.0 && (place.y - other.y).abs() <= 30.0)
}

/// Returns whether the box is an iterator at the place of its target.
fn is_stacked(canvas: &Canvas, index: usize) -> bool {
    canvas.arrows.iter().any(|arrow| {
        arrow.kind == "iteration"
            && arrow.from_box == index
            && arrow.to_box != index
            && is_near(canvas, index, arrow.to_box)
    })
}

/// Checks that the picture keeps the rows and the order of the canvas, and that iterators are directly above their
/// targets. Does not check boxes without a position on the canvas. The distances of 20 and 120 units are the row
/// tolerance and twice the column width of the layout.
fn check_order(canvas: &Canvas, rects: &[Rect], faults: &mut Vec<String>) {
    let rects_by_name: BTreeMap<&str, &Rect> = rects.iter().map(|rect| (rect.name.as_str(), rect)).collect();
    let still_exists = |index: usize| canvas.boxes[index].mark != ChangeMark::Removed;
    let iterations: Vec<(usize, usize)> = canvas
        .arrows
        .iter()
        .filter(|arrow| arrow.kind == "iteration" && arrow.mark != ChangeMark::Removed)
        .map(|arrow| (arrow.from_box, arrow.to_box))
        .filter(|(from, to)| {
            from != to && still_exists(*to) && canvas.boxes[*from].position == canvas.boxes[*to].position
        })
        .collect();
    for (index, canvas_box) in canvas.boxes.iter().enumerate() {
        for (other_index, other_box) in canvas.boxes.iter().enumerate() {
            let (Some(place), Some(other_place)) = (canvas_box.position, other_box.position) else {
                continue;
            };
            let (name, other_name) = (&canvas_box.name, &other_box.name);
            let (rect, other_rect) = (rects_by_name[name.as_str()], rects_by_name[other_name.as_str()]);
            let (distance_x, distance_y) = (other_place.x - place.x, other_place.y - place.y);
            if distance_x > 120.0 && rect.left >= other_rect.left {
                faults.push(format!("{name} is not left of {other_name}"));
            }
            let has_own_place = |index: usize| still_exists(index) && !is_stacked(canvas, index);
            if has_own_place(index) && has_own_place(other_index) {
                if distance_y.abs() <= 20.0 && !rect.is_in_same_row(other_rect) {
                    faults.push(format!("{name} and {other_name} are not in the same row"));
                }
                if distance_y > 0.0 && rect.top > other_rect.top {
                    faults.push(format!("{name} is below {other_name}"));
                }
                if rect.is_in_same_row(other_rect) && distance_x > 0.0 && rect.left >= other_rect.left {
                    faults.push(format!("{name} is not before {other_name}"));
                }
            }
            let is_only_iteration = iterations
                .iter()
                .filter(|(from, to)| *to == other_index || *from == index)
                .count()
                == 1;
            let iterates_over_other = iterations.contains(&(index, other_index));
            if iterates_over_other && is_only_iteration && !iterations.contains(&(other_index, index)) {
                let is_right_above = (rect.left - other_rect.left).abs() < 1.0
                    && rect.bottom < other_rect.top
                    && other_rect.top - rect.bottom < 500.0;
                if !is_right_above {
                    faults.push(format!("{name} is not right above {other_name}"));
                }
            }
        }
    }
}
