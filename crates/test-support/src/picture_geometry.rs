//! Checks the markup of a picture: no two boxes overlap, no link runs through the box of another component, and no two
//! links overlap.

use roxmltree::Node;

/// Minimum distance between two boxes, in pixels.
const APART: f64 = 8.0;

/// Maximum length of an overlap of two links, in pixels.
const TOGETHER: f64 = 12.0;

type Point = (f64, f64);

pub struct Rect {
    pub name: String,
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
}

pub struct Link {
    pub from: String,
    pub to: String,
    pub kind: String,
    points: Vec<Point>,
}

/// The boxes and links of a picture.
pub struct Drawn {
    pub rects: Vec<Rect>,
    pub links: Vec<Link>,
}

impl Drawn {
    pub fn read(picture: Node<'_, '_>) -> Self {
        Self {
            rects: of_class(picture, "component").map(rect).collect(),
            links: of_class(picture, "link").map(link).collect(),
        }
    }

    /// Returns a message for each layout fault.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        boxes_apart(&self.rects, &mut faults);
        for link in &self.links {
            ends(link, &self.rects, &mut faults);
            crossings(link, &self.rects, &mut faults);
        }
        for (at, one) in self.links.iter().enumerate() {
            for other in &self.links[at + 1..] {
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
}

/// Returns the elements with this class.
pub fn of_class<'a, 'd: 'a>(picture: Node<'a, 'd>, class: &'a str) -> impl Iterator<Item = Node<'a, 'd>> {
    picture.descendants().filter(move |node| {
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

/// Returns the corners of a path; a rounded corner is represented by its control point.
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

/// Returns the length of the longest overlap of two links.
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
