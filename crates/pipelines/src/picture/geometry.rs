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
    let mut boxes: Vec<&str> = canvas.boxes.iter().map(|drawn| drawn.name.as_str()).collect();
    let mut drawn: Vec<&str> = rects.iter().map(|rect| rect.name.as_str()).collect();
    boxes.sort_unstable();
    drawn.sort_unstable();
    if boxes != drawn {
        faults.push(format!("components {boxes:?}, drawn {drawn:?}"));
    }
    let name = |at: usize| canvas.boxes[at].name.as_str();
    let mut arrows: Vec<_> = canvas
        .arrows
        .iter()
        .map(|arrow| (name(arrow.from_box), name(arrow.to_box), arrow.kind.as_str()))
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

/// Returns whether two boxes are at almost the same place on the canvas.
fn is_near(canvas: &Canvas, index: usize, other_index: usize) -> bool {
    let places = [index, other_index].map(|index| canvas.boxes[index].position);
    matches!(places, [Some(one), Some(other)] if (one.x - other.x).abs() <= 30.0 && (one.y - other.y).abs() <= 30.0)
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
/// targets.
fn check_order(canvas: &Canvas, rects: &[Rect], faults: &mut Vec<String>) {
    let by_name: BTreeMap<&str, &Rect> = rects.iter().map(|rect| (rect.name.as_str(), rect)).collect();
    let is_living = |index: usize| canvas.boxes[index].mark != ChangeMark::Removed;
    let iterations: Vec<(usize, usize)> = canvas
        .arrows
        .iter()
        .filter(|arrow| arrow.kind == "iteration" && arrow.mark != ChangeMark::Removed)
        .map(|arrow| (arrow.from_box, arrow.to_box))
        .filter(|(from, to)| {
            from != to && is_living(*to) && canvas.boxes[*from].position == canvas.boxes[*to].position
        })
        .collect();
    for (index, one) in canvas.boxes.iter().enumerate() {
        for (number, other) in canvas.boxes.iter().enumerate() {
            let (Some(place), Some(other_place)) = (one.position, other.position) else {
                continue;
            };
            let (first, second) = (by_name[one.name.as_str()], by_name[other.name.as_str()]);
            let (names, distance) = (
                (&one.name, &other.name),
                (other_place.x - place.x, other_place.y - place.y),
            );
            if distance.0 > 120.0 && first.left >= second.left {
                faults.push(format!("{} is not left of {}", names.0, names.1));
            }
            let has_own_place = |index: usize| is_living(index) && !is_stacked(canvas, index);
            if has_own_place(index) && has_own_place(number) {
                if distance.1.abs() <= 20.0 && !first.is_in_same_row(second) {
                    faults.push(format!("{} and {} are not in one row", names.0, names.1));
                }
                if distance.1 > 0.0 && first.top > second.top {
                    faults.push(format!("{} is below {}", names.0, names.1));
                }
                if first.is_in_same_row(second) && distance.0 > 0.0 && first.left >= second.left {
                    faults.push(format!("{} is not before {}", names.0, names.1));
                }
            }
            let is_alone = iterations
                .iter()
                .filter(|(from, to)| *to == number || *from == index)
                .count()
                == 1;
            if iterations.contains(&(index, number)) && is_alone && !iterations.contains(&(number, index)) {
                let is_over = (first.left - second.left).abs() < 1.0
                    && first.bottom < second.top
                    && second.top - first.bottom < 500.0;
                if !is_over {
                    faults.push(format!("{} is not right above {}", one.name, other.name));
                }
            }
        }
    }
}
