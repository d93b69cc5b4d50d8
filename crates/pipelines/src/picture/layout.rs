//! Computes the positions in a picture, in pixels: boxes in rows and columns, links in the lanes between them.

use super::canvas::Canvas;
use super::grid::{Grid, Plan};
use super::label;
use super::lanes::{CLEAR, HEIGHT, SLOT, WIDTH, up};
use super::routes::{BoxSide, GapWishes, Hop, Route, Router};
use std::collections::{BTreeMap, HashMap};

/// Minimum distance between two boxes of a row.
const GAP: i32 = 42;

/// Distance between the left edges of two columns that no row has both of.
const STEP: i32 = 84;

/// Distances that are tried if the picture must fit; the widest that fits is used.
const STEPS: [i32; 4] = [STEP, 60, 42, 24];

/// Distance between two horizontal lines of a channel.
const TRACK: i32 = 8;

/// Distance from a box to the next horizontal line.
const EDGE: i32 = 20;

/// The height of a channel without horizontal lines.
const EMPTY: i32 = 30;

/// Minimum distance between two horizontal lines at the same height.
const APART: i32 = 2 * SLOT;

pub(super) type StackPlace = (i32, i32);

/// A text, at 11 pixels.
#[derive(Debug)]
pub(super) struct Label {
    pub text: String,
    /// The position where it begins or ends.
    pub at: StackPlace,
    pub is_end: bool,
}

#[derive(Debug, Default)]
pub(super) struct Layout {
    /// The upper left corner of each box.
    pub boxes: Vec<StackPlace>,
    /// The corners of each link, from the border that it leaves to the border where it arrives.
    pub wires: Vec<Vec<StackPlace>>,
    /// The label at the start of each link.
    pub labels: Vec<Option<Label>>,
    pub width: i32,
    pub height: i32,
}

/// Computes the picture with its natural width.
pub(super) fn whole(canvas: &Canvas) -> Layout {
    let plan = Plan::of(canvas);
    laid_out(canvas, &plan.grid(&[]), STEP)
}

/// Folds the picture until it has at most this width, if possible.
pub(super) fn fitting(canvas: &Canvas, most: i32) -> Layout {
    let plan = Plan::of(canvas);
    let limits = plan.most_folds();
    let mut folds = vec![1; limits.len()];
    loop {
        let grid = plan.grid(&folds);
        let mut layout = Layout::default();
        for step in STEPS {
            layout = laid_out(canvas, &grid, step);
            if layout.width <= most {
                return layout;
            }
        }
        let Some(band) = widest(&grid, &folds, &limits) else {
            return layout;
        };
        folds[band] += 1;
    }
}

/// Returns the band with the row that has the most boxes, among the bands that can be folded further.
fn widest(grid: &Grid, folds: &[usize], limits: &[usize]) -> Option<usize> {
    let rows = grid.rows.iter().zip(&grid.band);
    let can_fold = rows.filter(|(row, band)| row.len() > 1 && folds[**band] < limits[**band]);
    can_fold.max_by_key(|(row, _)| row.len()).map(|(_, band)| *band)
}

fn laid_out(canvas: &Canvas, grid: &Grid, step: i32) -> Layout {
    let texts = label::links(canvas);
    let mut wishes = GapWishes::new();
    let (mut left, mut routes) = (Vec::new(), Vec::new());
    // In the first pass, the links that cross each gap are still unknown.
    for _ in 0..2 {
        left = lefts(canvas, &texts, grid, &wishes, step);
        let mut lines = Router::new(canvas, grid, &left);
        routes = lines.routes();
        wishes = lines.wishes;
    }
    drawn(canvas, texts, grid, &left, &routes)
}

/// Returns the left edge of each box; columns are as close as their boxes and the links between them allow.
fn lefts(canvas: &Canvas, texts: &[Option<String>], grid: &Grid, wishes: &GapWishes, step: i32) -> Vec<i32> {
    let mut labels: HashMap<(usize, usize), i32> = HashMap::new();
    for (arrow, text) in canvas.arrows.iter().zip(texts) {
        let pair = (arrow.from.min(arrow.to), arrow.from.max(arrow.to));
        let width = text.as_ref().map_or(0, |text| label::width(text) + 22);
        let widest = labels.entry(pair).or_default();
        *widest = width.max(*widest);
    }
    let columns = grid.column.iter().max().map_or(0, |last| last + 1);
    let mut before: Vec<Vec<(usize, i32)>> = vec![Vec::new(); columns];
    for (number, row) in grid.rows.iter().enumerate() {
        for (at, pair) in row.windows(2).enumerate() {
            let [one, other] = *pair else { continue };
            let label = labels
                .get(&(one.min(other), one.max(other)))
                .copied()
                .unwrap_or(0);
            let crossing = wishes
                .get(&(number, at + 1))
                .map_or(0, |targets| targets.len() + 1);
            let crossing = i32::try_from(crossing)
                .unwrap_or(i32::MAX / SLOT)
                .saturating_mul(SLOT)
                + 2 * CLEAR;
            let gap = up(GAP.max(label).max(crossing));
            before[grid.column[other]].push((grid.column[one], gap));
        }
    }
    let mut left = vec![0; columns];
    for column in 1..columns {
        let beside = before[column]
            .iter()
            .map(|(other, gap)| left[*other] + WIDTH + gap);
        left[column] = beside.fold(left[column - 1] + step, i32::max);
    }
    grid.column.iter().map(|column| left[*column]).collect()
}

/// The horizontal lines of each channel: the number of the line from the top, by target box.
type Tracks = Vec<BTreeMap<usize, usize>>;

fn tracks(canvas: &Canvas, grid: &Grid, routes: &[Route]) -> (Tracks, Vec<usize>) {
    let channels = grid.rows.len() + 1;
    let mut spans: Vec<BTreeMap<usize, (i32, i32)>> = vec![BTreeMap::new(); channels];
    for (arrow, route) in canvas.arrows.iter().zip(routes) {
        let Route::Channels { hops, .. } = route else {
            continue;
        };
        for hop in hops.iter().filter(|hop| hop.from != hop.to) {
            let (low, high) = (hop.from.min(hop.to), hop.from.max(hop.to));
            let span = spans[hop.channel].entry(arrow.to).or_insert((low, high));
            *span = (span.0.min(low), span.1.max(high));
        }
    }
    let mut tracks = Tracks::with_capacity(channels);
    let mut numbers = Vec::with_capacity(channels);
    for spans in spans {
        let mut by_start: Vec<(usize, (i32, i32))> = spans.into_iter().collect();
        by_start.sort_by_key(|(target, span)| (*span, *target));
        let mut ends: Vec<i32> = Vec::new();
        let mut of_channel = BTreeMap::new();
        for (target, (low, high)) in by_start {
            let free = ends.iter().position(|end| end + APART <= low);
            let track = free.unwrap_or(ends.len());
            ends.resize(ends.len().max(track + 1), high);
            ends[track] = high;
            of_channel.insert(target, track);
        }
        numbers.push(ends.len());
        tracks.push(of_channel);
    }
    (tracks, numbers)
}

fn drawn(canvas: &Canvas, texts: Vec<Option<String>>, grid: &Grid, left: &[i32], routes: &[Route]) -> Layout {
    let (tracks, numbers) = tracks(canvas, grid, routes);
    let size = |count: usize| i32::try_from(count).unwrap_or(i32::MAX / TRACK);
    let mut channel_tops = Vec::with_capacity(numbers.len());
    let mut row_tops = Vec::with_capacity(grid.rows.len());
    let mut y = 0;
    for (channel, lines) in numbers.iter().enumerate() {
        channel_tops.push(y);
        let is_outer = channel == 0 || channel == grid.rows.len();
        y += match (lines, is_outer) {
            (0, true) => 0,
            (0, false) => EMPTY,
            (lines, _) => 2 * EDGE + (size(*lines) - 1).saturating_mul(TRACK),
        };
        if channel < grid.rows.len() {
            row_tops.push(y);
            y += HEIGHT;
        }
    }
    let boxes: Vec<StackPlace> = left
        .iter()
        .zip(&grid.row)
        .map(|(x, row)| (*x, row_tops[*row]))
        .collect();
    let level = |hop: &Hop, target: usize| {
        let track = tracks[hop.channel].get(&target).copied().unwrap_or(0);
        channel_tops[hop.channel] + EDGE + size(track).saturating_mul(TRACK)
    };
    let wires = canvas
        .arrows
        .iter()
        .zip(routes)
        .map(|(arrow, route)| match route {
            Route::Level(below) => neighbours(boxes[arrow.from], boxes[arrow.to], *below),
            Route::Channels { side, hops } => {
                let begin = boxes[arrow.from].1 + if *side == BoxSide::Bottom { HEIGHT } else { 0 };
                let arrives_from_above = hops.last().is_some_and(|hop| hop.channel == grid.row[arrow.to]);
                let end = boxes[arrow.to].1 + if arrives_from_above { 0 } else { HEIGHT };
                along(hops, (begin, end), |hop| level(hop, arrow.to))
            }
        });
    let wires: Vec<Vec<StackPlace>> = wires.collect();
    let labels = texts.into_iter().zip(&wires).zip(routes);
    let labels = labels.map(|((text, wire), route)| text.and_then(|text| label_at(text, wire, route)));
    moved_to_origin(Layout {
        labels: labels.collect(),
        wires,
        boxes,
        width: 0,
        height: y,
    })
}

fn label_at(text: String, wire: &[StackPlace], route: &Route) -> Option<Label> {
    let (start, end) = (*wire.first()?, *wire.last()?);
    let (is_end, at) = match route {
        Route::Level(_) if start.0 < end.0 => (false, (start.0 + 6, start.1 - 5)),
        Route::Level(_) => (true, (start.0 - 6, start.1 - 5)),
        Route::Channels {
            side: BoxSide::Bottom,
            ..
        } => (false, (start.0 + 5, start.1 + 14)),
        Route::Channels {
            side: BoxSide::Top, ..
        } => (false, (start.0 + 5, start.1 - 6)),
    };
    Some(Label { text, at, is_end })
}

fn neighbours(from: StackPlace, to: StackPlace, below: i32) -> Vec<StackPlace> {
    let y = from.1 + HEIGHT / 2 + below;
    if from.0 < to.0 {
        vec![(from.0 + WIDTH, y), (to.0, y)]
    } else {
        vec![(from.0, y), (to.0 + WIDTH, y)]
    }
}

/// Returns the corners of a link through channels, without points on a straight line.
fn along(hops: &[Hop], (begin, end): (i32, i32), level: impl Fn(&Hop) -> i32) -> Vec<StackPlace> {
    let mut points = Vec::with_capacity(2 * hops.len() + 2);
    points.extend(hops.first().map(|hop| (hop.from, begin)));
    for hop in hops.iter().filter(|hop| hop.from != hop.to) {
        let y = level(hop);
        points.extend([(hop.from, y), (hop.to, y)]);
    }
    points.extend(hops.last().map(|hop| (hop.to, end)));
    points
}

/// Moves everything so that the coordinates begin at 0.
fn moved_to_origin(mut layout: Layout) -> Layout {
    let points = || layout.wires.iter().flatten();
    let ends = layout.boxes.iter().flat_map(|(x, _)| [*x, x + WIDTH]);
    let labels = layout.labels.iter().flatten().flat_map(|label| {
        let width = label::width(&label.text);
        let start = if label.is_end {
            label.at.0 - width
        } else {
            label.at.0
        };
        [start, start + width]
    });
    let all = || {
        ends.clone()
            .chain(points().map(|(x, _)| *x))
            .chain(labels.clone())
    };
    let (low, high) = (all().min().unwrap_or(0), all().max().unwrap_or(0));
    let labels = layout.labels.iter_mut().flatten().map(|label| &mut label.at);
    for (x, _) in layout
        .boxes
        .iter_mut()
        .chain(layout.wires.iter_mut().flatten())
        .chain(labels)
    {
        *x -= low;
    }
    layout.width = high - low;
    layout
}
