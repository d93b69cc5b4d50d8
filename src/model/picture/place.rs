//! Where the boxes stand: as on the canvas, spread until they do not cover each other; what has no place stands below.

/// The width of a box, in pixels.
pub(super) const WIDTH: f64 = 176.0;

/// The height of a box, in pixels.
pub(super) const HEIGHT: f64 = 52.0;

/// Between two boxes that stand close.
const GAP: f64 = 36.0;

/// Boxes without a place in one row.
const IN_A_ROW: usize = 6;

/// How far a canvas is spread or shrunk.
const SPREAD: (f64, f64) = (0.25, 4.0);

/// Coordinates of a canvas beyond this are no places that anybody sees.
const FARTHEST: f64 = 1.0e6;

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Point {
    pub x: f64,
    pub y: f64,
}

impl Point {
    pub(super) fn is_finite(self) -> bool {
        self.x.abs() <= FARTHEST && self.y.abs() <= FARTHEST
    }
}

/// The places in pixels, from 0, of what has one on the canvas and what has none.
pub(super) fn place(wanted: &[Option<Point>]) -> Vec<Point> {
    let known: Vec<Point> = wanted.iter().copied().flatten().collect();
    let (dx, dy) = (
        spread(&known, |point| (point.y, point.x), HEIGHT, WIDTH),
        spread(&known, |point| (point.x, point.y), WIDTH, HEIGHT),
    );
    let least = |pick: fn(&Point) -> f64| known.iter().map(pick).fold(f64::INFINITY, f64::min);
    let (left, top) = (least(|point| point.x), least(|point| point.y));
    let put = |point: Point| Point {
        x: ((point.x - left) * dx).round(),
        y: ((point.y - top) * dy).round(),
    };
    let lowest = known
        .iter()
        .map(|point| put(*point).y + HEIGHT + GAP)
        .fold(0.0, f64::max);
    let mut without = 0;
    let one = |wanted: &Option<Point>| wanted.map_or_else(|| row(&mut without, lowest), put);
    wanted.iter().map(one).collect()
}

/// The next place in the rows below `top`.
fn row(next: &mut usize, top: f64) -> Point {
    let (row, column) = (*next / IN_A_ROW, *next % IN_A_ROW);
    *next += 1;
    let steps = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    Point {
        x: steps(column) * (WIDTH + GAP),
        y: top + steps(row) * (HEIGHT + GAP),
    }
}

/// By how much one direction is stretched, so that neighbours in a line have a box and a gap between them. `pick` gives
/// the place across the line and along it, `across` how far apart two may be and still stand in one line.
fn spread(points: &[Point], pick: fn(&Point) -> (f64, f64), across: f64, along: f64) -> f64 {
    let mut lines: Vec<(f64, f64)> = points.iter().map(pick).collect();
    lines.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let steps = lines.windows(2).filter_map(|pair| match pair {
        [one, other] if (other.0 - one.0).abs() < across / 2.0 => Some((other.1 - one.1).abs()),
        _ => None,
    });
    let closest = steps.filter(|step| *step >= 1.0).fold(f64::INFINITY, f64::min);
    if closest.is_finite() {
        ((along + GAP) / closest).clamp(SPREAD.0, SPREAD.1)
    } else {
        1.0
    }
}
