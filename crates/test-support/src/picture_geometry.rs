//! Checks the markup of a picture: no two boxes overlap, no link runs through the box of another component or through
//! a label, links leave and enter at the sides as in the designer, and no two links overlap.

use roxmltree::Node;

/// Minimum distance between two boxes, in pixels.
const APART: f64 = 8.0;

/// Maximum length of an overlap of two links, in pixels.
const TOGETHER: f64 = 12.0;

/// The narrowest and the widest box, in pixels.
const BOX_WIDTHS: std::ops::RangeInclusive<f64> = 84.0..=168.0;

/// Minimum width of a letter, and the height of a text above its baseline, in pixels.
const LETTER_WIDTH: f64 = 4.5;
const LETTER_HEIGHT: f64 = 8.0;

pub type Point = (f64, f64);

pub struct Rect {
    pub name: String,
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
}

impl Rect {
    /// Returns whether two boxes are in one row.
    pub fn is_beside(&self, rect: &Self) -> bool {
        (self.top - rect.top).abs() < 0.5
    }

    /// Returns whether the segment comes closer to the box than `distance`.
    fn is_near(&self, start: Point, end: Point, distance: f64) -> bool {
        let (low, high) = (min_corner(start, end), max_corner(start, end));
        low.0 < self.right + distance
            && high.0 > self.left - distance
            && low.1 < self.bottom + distance
            && high.1 > self.top - distance
    }
}

pub struct Link {
    pub from: String,
    pub to: String,
    pub kind: String,
    pub change: String,
    pub points: Vec<Point>,
}

/// The boxes and links of a picture.
pub struct Drawn {
    pub rects: Vec<Rect>,
    pub links: Vec<Link>,
    /// The label of each link and stub, with the place of its text.
    pub labels: Vec<Rect>,
    stubs: Vec<Vec<Point>>,
}

impl Drawn {
    /// Reads the boxes, links and labels of a picture from its markup.
    pub fn read(picture: Node<'_, '_>) -> Self {
        Self {
            rects: of_class(picture, "component").map(read_rect).collect(),
            links: of_class(picture, "link").map(read_link).collect(),
            labels: of_class(picture, "sg-text")
                .filter(|text| text.attribute("text-anchor").is_none())
                .map(read_label)
                .collect(),
            stubs: of_class(picture, "stub")
                .map(|stub| parse_corners(stub.attribute("d").unwrap()))
                .collect(),
        }
    }

    /// Returns a message for each layout fault.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        check_box_distances(&self.rects, &mut faults);
        self.check_boxes(&mut faults);
        self.check_labels(&mut faults);
        for link in &self.links {
            self.check_sides(link, &mut faults);
            check_ends(link, &self.rects, &mut faults);
            check_crossings(link, &self.rects, &mut faults);
        }
        for (index, link) in self.links.iter().enumerate() {
            for other in &self.links[index + 1..] {
                let shares_end = link.from == other.from || link.to == other.to;
                let overlap = longest_overlap(link, other);
                if !(shares_end && link.change == other.change) && overlap > TOGETHER {
                    faults.push(format!(
                        "{} -> {} lies on {} -> {} over {overlap}",
                        link.from, link.to, other.from, other.to
                    ));
                }
            }
        }
        faults
    }

    /// Checks that each box is as wide as the layout allows.
    fn check_boxes(&self, faults: &mut Vec<String>) {
        for rect in &self.rects {
            let width = rect.right - rect.left;
            if !BOX_WIDTHS.contains(&width) {
                faults.push(format!("{} is {width} wide", rect.name));
            }
        }
    }

    /// Checks that no line crosses a label, and that no label covers a box or another label.
    fn check_labels(&self, faults: &mut Vec<String>) {
        let lines = self.links.iter().map(|link| &link.points).chain(&self.stubs);
        for pair in lines.flat_map(|points| points.windows(2)) {
            for label in self
                .labels
                .iter()
                .filter(|label| label.is_near(pair[0], pair[1], 0.0))
            {
                faults.push(format!(
                    "a line from {:?} to {:?} crosses the label {}",
                    pair[0], pair[1], label.name
                ));
            }
        }
        for (index, label) in self.labels.iter().enumerate() {
            let (start, end) = ((label.left, label.top), (label.right, label.bottom));
            for rect in self.rects.iter().chain(&self.labels[index + 1..]) {
                if rect.is_near(start, end, 0.0) {
                    faults.push(format!("the label {} covers {}", label.name, rect.name));
                }
            }
        }
    }

    /// Checks the sides at which a link leaves and enters: right and left if the target is to the right; a link between
    /// neighbors in a row is straight.
    fn check_sides(&self, link: &Link, faults: &mut Vec<String>) {
        let rect_of = |name: &str| self.rects.iter().find(|rect| rect.name == name).unwrap();
        let (source, target) = (rect_of(&link.from), rect_of(&link.to));
        let (first, last) = (link.points[0], link.points[link.points.len() - 1]);
        let is_right = target.left > source.right;
        let leaves_right = (first.0 - source.right).abs() < 0.5 && (last.0 - target.left).abs() < 0.5;
        if is_right && link.kind != "iteration" && !leaves_right {
            faults.push(format!(
                "{} -> {} does not leave at the right",
                link.from, link.to
            ));
        }
        let (low, high) = (source.right.min(target.right), source.left.max(target.left));
        let is_neighbor = source.is_beside(target)
            && link.from != link.to
            && !self
                .rects
                .iter()
                .any(|rect| rect.is_beside(source) && rect.left >= low && rect.right <= high);
        if is_neighbor && (link.points.len() != 2 || (first.1 - last.1).abs() > 0.5) {
            faults.push(format!("{} -> {} is not straight", link.from, link.to));
        }
    }
}

/// Returns the elements with this class.
pub fn of_class<'a, 'd: 'a>(picture: Node<'a, 'd>, class: &'a str) -> impl Iterator<Item = Node<'a, 'd>> {
    picture.descendants().filter(move |node| {
        let classes = node.attribute("class").unwrap_or_default();
        classes.split(' ').any(|one| one == class)
    })
}

/// Returns the number in an attribute, which the node must have.
fn read_number(node: Node<'_, '_>, name: &str) -> f64 {
    node.attribute(name).unwrap().parse().unwrap()
}

/// Reads the box of a component, which must have exactly one outline.
fn read_rect(component: Node<'_, '_>) -> Rect {
    let outlines: Vec<Node<'_, '_>> = component
        .descendants()
        .filter(|node| node.has_tag_name("rect"))
        .collect();
    assert_eq!(outlines.len(), 1);
    let (left, top) = (read_number(outlines[0], "x"), read_number(outlines[0], "y"));
    Rect {
        name: component.attribute("data-name").unwrap().to_owned(),
        left,
        top,
        right: left + read_number(outlines[0], "width"),
        bottom: top + read_number(outlines[0], "height"),
    }
}

/// Reads a link, which must have an arrow at its end.
fn read_link(node: Node<'_, '_>) -> Link {
    let attribute = |name: &str| node.attribute(name).unwrap().to_owned();
    assert!(node.attribute("marker-end").is_some());
    Link {
        from: attribute("data-from"),
        to: attribute("data-to"),
        kind: attribute("data-kind"),
        change: attribute("data-change"),
        points: parse_corners(&attribute("d")),
    }
}

/// Returns a label with the minimum area of its text.
fn read_label(text: Node<'_, '_>) -> Rect {
    let (x, y) = (read_number(text, "x"), read_number(text, "y"));
    let content = text.text().unwrap_or_default();
    Rect {
        name: content.to_owned(),
        left: x,
        top: y - LETTER_HEIGHT,
        right: x + content.chars().map(|_| LETTER_WIDTH).sum::<f64>(),
        bottom: y,
    }
}

/// Returns the corners of a path; a rounded corner is represented by its control point.
fn parse_corners(path: &str) -> Vec<Point> {
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

/// Checks that all boxes have the minimum distance from each other.
fn check_box_distances(rects: &[Rect], faults: &mut Vec<String>) {
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

/// Checks that a link begins and ends at the borders of its two boxes.
fn check_ends(link: &Link, rects: &[Rect], faults: &mut Vec<String>) {
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

/// Checks that a link runs through no box; it may touch the borders of its own two.
fn check_crossings(link: &Link, rects: &[Rect], faults: &mut Vec<String>) {
    for pair in link.points.windows(2) {
        for rect in rects {
            let is_own = rect.name == link.from || rect.name == link.to;
            if rect.is_near(pair[0], pair[1], if is_own { -0.5 } else { 2.0 }) {
                faults.push(format!("{} -> {} runs through {}", link.from, link.to, rect.name));
            }
        }
    }
}

/// Returns the upper left corner of the area between two points.
fn min_corner(one: Point, other: Point) -> Point {
    (one.0.min(other.0), one.1.min(other.1))
}

/// Returns the lower right corner of the area between two points.
fn max_corner(one: Point, other: Point) -> Point {
    (one.0.max(other.0), one.1.max(other.1))
}

/// Returns the length of the longest overlap of two links.
fn longest_overlap(one: &Link, other: &Link) -> f64 {
    let mut longest: f64 = 0.0;
    for pair in one.points.windows(2) {
        for other_pair in other.points.windows(2) {
            let (low, high) = (min_corner(pair[0], pair[1]), max_corner(pair[0], pair[1]));
            let (start, end) = (
                min_corner(other_pair[0], other_pair[1]),
                max_corner(other_pair[0], other_pair[1]),
            );
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
