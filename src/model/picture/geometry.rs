//! Holds a picture against its canvas by its markup alone: what a person would see.

use super::canvas::{Canvas, Mark};
use roxmltree::{Document, Node};
use std::collections::BTreeMap;

/// Two boxes are at least so far apart, in pixels.
const APART: f64 = 8.0;

/// Two links may lie on each other so far.
const TOGETHER: f64 = 12.0;

type Point = (f64, f64);

struct Rect {
    name: String,
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

struct Link {
    from: String,
    to: String,
    kind: String,
    points: Vec<Point>,
}

/// What is wrong with the picture, in words; nothing where all is well.
pub(super) fn faults(canvas: &Canvas, svg: &str) -> Vec<String> {
    let document = Document::parse(svg).unwrap();
    let rects: Vec<Rect> = of_class(&document, "component").map(rect).collect();
    let links: Vec<Link> = of_class(&document, "link").map(link).collect();
    let mut faults = Vec::new();
    complete(canvas, &rects, &links, &mut faults);
    boxes_apart(&rects, &mut faults);
    order(canvas, &rects, &mut faults);
    for link in &links {
        ends(link, &rects, &mut faults);
        crossings(link, &rects, &mut faults);
    }
    for (at, one) in links.iter().enumerate() {
        for other in links.iter().skip(at + 1) {
            let shares = one.from == other.from || one.to == other.to;
            let together = along_each_other(one, other);
            if !shares && together > TOGETHER {
                faults.push(format!(
                    "{} -> {} lies on {} -> {} over {together}",
                    one.from, one.to, other.from, other.to
                ));
            }
        }
    }
    faults
}

fn of_class<'a>(document: &'a Document<'a>, class: &'a str) -> impl Iterator<Item = Node<'a, 'a>> {
    document.descendants().filter(move |node| {
        let classes = node.attribute("class").unwrap_or_default();
        classes.split(' ').any(|one| one == class)
    })
}

fn number(node: Node<'_, '_>, name: &str) -> f64 {
    node.attribute(name).unwrap().parse().unwrap()
}

fn rect(component: Node<'_, '_>) -> Rect {
    let outlines: Vec<Node<'_, '_>> = component
        .descendants()
        .filter(|node| node.has_tag_name("rect"))
        .collect();
    assert_eq!(outlines.len(), 1);
    let (left, top) = (number(outlines[0], "x"), number(outlines[0], "y"));
    Rect {
        name: component.attribute("data-name").unwrap().to_owned(),
        left,
        top,
        right: left + number(outlines[0], "width"),
        bottom: top + number(outlines[0], "height"),
    }
}

fn link(node: Node<'_, '_>) -> Link {
    let attribute = |name: &str| node.attribute(name).unwrap().to_owned();
    assert!(node.attribute("marker-end").is_some());
    Link {
        from: attribute("data-from"),
        to: attribute("data-to"),
        kind: attribute("data-kind"),
        points: corners(&attribute("d")),
    }
}

/// The corners of a path; a rounded one is its control point.
fn corners(path: &str) -> Vec<Point> {
    let mut points = Vec::new();
    let spaced = ["M", "L", "Q"].iter().fold(path.to_owned(), |path, letter| {
        path.replace(letter, &format!(" {letter} "))
    });
    let mut words = spaced.split_whitespace().peekable();
    while let Some(letter) = words.next() {
        let mut numbers = Vec::new();
        while let Some(number) = words.next_if(|word| word.parse::<f64>().is_ok()) {
            numbers.push(number.parse::<f64>().unwrap());
        }
        let count = if letter == "Q" { 4 } else { 2 };
        assert_eq!(numbers.len(), count, "{path}");
        points.extend(numbers.chunks(2).map(|pair| (pair[0], pair[1])));
    }
    points
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
        .map(|arrow| (name(arrow.from), name(arrow.to), arrow.kind.as_str()))
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

fn boxes_apart(rects: &[Rect], faults: &mut Vec<String>) {
    for (at, one) in rects.iter().enumerate() {
        for other in &rects[at + 1..] {
            let across = (one.left - other.right).max(other.left - one.right);
            let down = (one.top - other.bottom).max(other.top - one.bottom);
            if across.max(down) < APART {
                faults.push(format!(
                    "{} and {} are {} apart",
                    one.name,
                    other.name,
                    across.max(down)
                ));
            }
        }
    }
}

/// The order of the canvas, and iterators right above their targets.
fn order(canvas: &Canvas, rects: &[Rect], faults: &mut Vec<String>) {
    let by_name: BTreeMap<&str, &Rect> = rects.iter().map(|rect| (rect.name.as_str(), rect)).collect();
    let stands_over: Vec<(usize, usize)> = canvas
        .arrows
        .iter()
        .filter(|arrow| arrow.kind == "iteration" && arrow.mark != Mark::Removed)
        .map(|arrow| (arrow.from, arrow.to))
        .filter(|(from, to)| {
            from != to
                && canvas.boxes[*to].mark != Mark::Removed
                && canvas.boxes[*from].place == canvas.boxes[*to].place
        })
        .collect();
    for (at, one) in canvas.boxes.iter().enumerate() {
        for (number, other) in canvas.boxes.iter().enumerate() {
            let (Some(place), Some(beside)) = (one.place, other.place) else {
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

fn ends(link: &Link, rects: &[Rect], faults: &mut Vec<String>) {
    let on_border = |name: &str, (x, y): Point| {
        let rect = rects.iter().find(|rect| rect.name == name).unwrap();
        let within = (rect.left..=rect.right).contains(&x) && (rect.top..=rect.bottom).contains(&y);
        let at_edge = [x - rect.left, rect.right - x, y - rect.top, rect.bottom - y];
        within && at_edge.iter().any(|far| far.abs() < 0.5)
    };
    let (first, last) = (link.points[0], link.points[link.points.len() - 1]);
    if !on_border(&link.from, first) || !on_border(&link.to, last) {
        faults.push(format!(
            "{} -> {} does not end at the borders",
            link.from, link.to
        ));
    }
}

fn crossings(link: &Link, rects: &[Rect], faults: &mut Vec<String>) {
    for pair in link.points.windows(2) {
        let (low, high) = (min(pair[0], pair[1]), max(pair[0], pair[1]));
        for rect in rects {
            let is_own = rect.name == link.from || rect.name == link.to;
            let edge = if is_own { -0.5 } else { 2.0 };
            let meets = low.0 < rect.right + edge
                && high.0 > rect.left - edge
                && low.1 < rect.bottom + edge
                && high.1 > rect.top - edge;
            if meets {
                faults.push(format!("{} -> {} runs through {}", link.from, link.to, rect.name));
            }
        }
    }
}

fn min(one: Point, other: Point) -> Point {
    (one.0.min(other.0), one.1.min(other.1))
}

fn max(one: Point, other: Point) -> Point {
    (one.0.max(other.0), one.1.max(other.1))
}

/// Over how much two links lie on each other.
fn along_each_other(one: &Link, other: &Link) -> f64 {
    let mut longest: f64 = 0.0;
    for pair in one.points.windows(2) {
        for beside in other.points.windows(2) {
            let (low, high) = (min(pair[0], pair[1]), max(pair[0], pair[1]));
            let (start, end) = (min(beside[0], beside[1]), max(beside[0], beside[1]));
            let common = (
                high.0.min(end.0) - low.0.max(start.0),
                high.1.min(end.1) - low.1.max(start.1),
            );
            if common.0 >= -2.0 && common.1 >= -2.0 {
                longest = longest.max(common.0.max(common.1));
            }
        }
    }
    longest
}
