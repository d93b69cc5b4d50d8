//! Compares a picture with its canvas, using only the markup: everything is drawn once, in the order of the canvas.

use super::canvas::{Canvas, ChangeMark};
use roxmltree::Document;
use sluicegate_test_support::picture_geometry::{Drawn, Link, Rect};
use std::collections::BTreeMap;

/// Returns the errors in the picture, as text; no errors if the picture is correct.
pub(super) fn faults(canvas: &Canvas, svg: &str) -> Vec<String> {
    let document = Document::parse(svg).unwrap();
    let drawn = Drawn::read(document.root());
    let mut faults = drawn.faults();
    complete(canvas, &drawn.rects, &drawn.links, &mut faults);
    order(canvas, &drawn.rects, &mut faults);
    faults
}

fn complete(canvas: &Canvas, rects: &[Rect], links: &[Link], faults: &mut Vec<String>) {
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

/// Checks the order of the canvas, and that iterators are directly above their targets.
fn order(canvas: &Canvas, rects: &[Rect], faults: &mut Vec<String>) {
    let by_name: BTreeMap<&str, &Rect> = rects.iter().map(|rect| (rect.name.as_str(), rect)).collect();
    let stands_over: Vec<(usize, usize)> = canvas
        .arrows
        .iter()
        .filter(|arrow| arrow.kind == "iteration" && arrow.mark != ChangeMark::Removed)
        .map(|arrow| (arrow.from_box, arrow.to_box))
        .filter(|(from, to)| {
            from != to
                && canvas.boxes[*to].mark != ChangeMark::Removed
                && canvas.boxes[*from].position == canvas.boxes[*to].position
        })
        .collect();
    for (at, one) in canvas.boxes.iter().enumerate() {
        for (number, other) in canvas.boxes.iter().enumerate() {
            let (Some(place), Some(beside)) = (one.position, other.position) else {
                continue;
            };
            let (first, second) = (by_name[one.name.as_str()], by_name[other.name.as_str()]);
            if beside.x - place.x > 120.0 && first.left >= second.left {
                faults.push(format!("{} is not left of {}", one.name, other.name));
            }
            if beside.y - place.y > 60.0 && first.top >= second.top {
                faults.push(format!("{} is not above {}", one.name, other.name));
            }
            let is_alone = stands_over
                .iter()
                .filter(|(from, to)| *to == number || *from == at)
                .count()
                == 1;
            if stands_over.contains(&(at, number)) && is_alone && !stands_over.contains(&(number, at)) {
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
