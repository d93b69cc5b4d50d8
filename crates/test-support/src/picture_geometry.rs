//! Checks the markup of a picture: boxes and links do not overlap each other, a link does not run through the box of
//! another component or through a label, and links leave and enter boxes at the same sides as in the designer.

use roxmltree::Node;

/// Minimum distance between two boxes, in pixels.
const MIN_BOX_DISTANCE: f64 = 8.0;

/// Maximum length of an overlap of two links, in pixels.
const MAX_OVERLAP: f64 = 12.0;

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
    /// Returns whether two boxes are in the same row: their upper edges have the same height, apart from rounding.
    pub fn is_in_same_row(&self, rect: &Self) -> bool {
        (self.top - rect.top).abs() < 0.5
    }

    /// Returns whether the area between two points comes closer to the box than `distance`. A negative distance allows
    /// the area to overlap the border.
    fn is_near_area(&self, start: Point, end: Point, distance: f64) -> bool {
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

/// The boxes, links, labels and stubs of a picture.
pub struct DrawnPicture {
    pub rects: Vec<Rect>,
    pub links: Vec<Link>,
    /// The label of each link and stub, with the area of its text.
    pub labels: Vec<Rect>,
    stubs: Vec<Vec<Point>>,
}

impl DrawnPicture {
    /// Reads the boxes, links, labels and stubs of a picture from its markup. Text with the attribute `text-anchor`
    /// belongs to a box, so it is not read as a label.
    pub fn read(picture: Node<'_, '_>) -> Self {
        Self {
            rects: elements_of_class(picture, "component").map(read_rect).collect(),
            links: elements_of_class(picture, "link").map(read_link).collect(),
            labels: elements_of_class(picture, "sg-text")
                .filter(|text| text.attribute("text-anchor").is_none())
                .map(read_label)
                .collect(),
            stubs: elements_of_class(picture, "stub")
                .map(|stub| parse_corners(stub.attribute("d").unwrap()))
                .collect(),
        }
    }

    /// Finds the faults in the layout, and returns a message for each of them. Two links may overlap only if they begin
    /// or end at the same component and have the same kind of change.
    pub fn find_faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        check_box_distances(&self.rects, &mut faults);
        self.check_box_widths(&mut faults);
        self.check_label_overlaps(&mut faults);
        for link in &self.links {
            self.check_link_sides(link, &mut faults);
            check_link_ends(link, &self.rects, &mut faults);
            check_box_crossings(link, &self.rects, &mut faults);
        }
        for (index, link) in self.links.iter().enumerate() {
            for other in &self.links[index + 1..] {
                let shares_end = link.from == other.from || link.to == other.to;
                let may_overlap = shares_end && link.change == other.change;
                let overlap = longest_overlap(link, other);
                if !may_overlap && overlap > MAX_OVERLAP {
                    faults.push(format!(
                        "{} -> {} lies on {} -> {} over {overlap}",
                        link.from, link.to, other.from, other.to
                    ));
                }
            }
        }
        faults
    }

    /// Checks that the width of each box is one that the layout allows.
    fn check_box_widths(&self, faults: &mut Vec<String>) {
        for rect in &self.rects {
            let width = rect.right - rect.left;
            if !BOX_WIDTHS.contains(&width) {
                faults.push(format!("{} is {width} wide", rect.name));
            }
        }
    }

    /// Checks that no line of a link or a stub crosses a label, and that no label covers a box or another label.
    fn check_label_overlaps(&self, faults: &mut Vec<String>) {
        let lines = self.links.iter().map(|link| &link.points).chain(&self.stubs);
        for pair in lines.flat_map(|points| points.windows(2)) {
            for label in self
                .labels
                .iter()
                .filter(|label| label.is_near_area(pair[0], pair[1], 0.0))
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
                if rect.is_near_area(start, end, 0.0) {
                    faults.push(format!("the label {} covers {}", label.name, rect.name));
                }
            }
        }
    }

    /// Checks the sides at which a link leaves its source and enters its target. If the target is to the right, these
    /// are the right and the left side. An iteration link leaves below or above instead, so its sides are not checked.
    /// A link between neighbors in a row must be straight.
    fn check_link_sides(&self, link: &Link, faults: &mut Vec<String>) {
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
        let is_neighbor = source.is_in_same_row(target)
            && link.from != link.to
            && !self
                .rects
                .iter()
                .any(|rect| rect.is_in_same_row(source) && rect.left >= low && rect.right <= high);
        if is_neighbor && (link.points.len() != 2 || (first.1 - last.1).abs() > 0.5) {
            faults.push(format!("{} -> {} is not straight", link.from, link.to));
        }
    }
}

/// Returns the elements of the picture with this class.
pub fn elements_of_class<'a, 'd: 'a>(
    picture: Node<'a, 'd>,
    class: &'a str,
) -> impl Iterator<Item = Node<'a, 'd>> {
    picture.descendants().filter(move |node| {
        let classes = node.attribute("class").unwrap_or_default();
        classes.split(' ').any(|name| name == class)
    })
}

/// Returns the number in an attribute, which the node must have.
fn read_number(node: Node<'_, '_>, name: &str) -> f64 {
    node.attribute(name).unwrap().parse().unwrap()
}

/// Reads the box of a component from its outline, the only `rect` element in it.
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

/// Reads a label and estimates the minimum area that its text covers.
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

/// Returns the points of an SVG path with the commands `M`, `L` and `Q`. A rounded corner has two points, its control
/// point and its end.
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
    for (index, rect) in rects.iter().enumerate() {
        for other in &rects[index + 1..] {
            let horizontal_gap = (rect.left - other.right).max(other.left - rect.right);
            let vertical_gap = (rect.top - other.bottom).max(other.top - rect.bottom);
            if horizontal_gap.max(vertical_gap) < MIN_BOX_DISTANCE {
                faults.push(format!(
                    "{} and {} are {} apart",
                    rect.name,
                    other.name,
                    horizontal_gap.max(vertical_gap)
                ));
            }
        }
    }
}

/// Checks that a link begins at the border of its source's box and ends at the border of its target's box.
fn check_link_ends(link: &Link, rects: &[Rect], faults: &mut Vec<String>) {
    let on_border = |name: &str, (x, y): Point| {
        let rect = rects.iter().find(|rect| rect.name == name).unwrap();
        let is_inside = (rect.left..=rect.right).contains(&x) && (rect.top..=rect.bottom).contains(&y);
        let edge_distances = [x - rect.left, rect.right - x, y - rect.top, rect.bottom - y];
        is_inside && edge_distances.iter().any(|distance| distance.abs() < 0.5)
    };
    let (first, last) = (link.points[0], link.points[link.points.len() - 1]);
    if !on_border(&link.from, first) || !on_border(&link.to, last) {
        faults.push(format!(
            "{} -> {} does not end at the borders",
            link.from, link.to
        ));
    }
}

/// Checks that a link does not run through a box, or closer than 2 pixels to it. The link may touch the borders of its
/// own source and target.
fn check_box_crossings(link: &Link, rects: &[Rect], faults: &mut Vec<String>) {
    for pair in link.points.windows(2) {
        for rect in rects {
            let is_own = rect.name == link.from || rect.name == link.to;
            if rect.is_near_area(pair[0], pair[1], if is_own { -0.5 } else { 2.0 }) {
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

/// Returns the length of the longest section in which two links overlap, which means that they are at most 2 pixels
/// apart.
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
