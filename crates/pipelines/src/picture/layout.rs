//! Computes the positions in a picture, in pixels: boxes in rows and columns, links in the lanes between them.

use super::canvas::Canvas;
use super::grid::{Grid, GridPlan};
use super::label;
use super::lanes::{BOX_HEIGHT, BOX_WIDTH, MIN_CLEARANCE, SLOT_WIDTH, round_up_to_slot};
use super::route::{BoxSide, Hop, Route};
use super::router::{GapTargets, Router};
use std::collections::{BTreeMap, HashMap};

/// Minimum distance between two boxes of a row.
const MIN_BOX_GAP: i32 = 42;

/// Distance between the left edges of two columns that no row has both of.
const COLUMN_STEP: i32 = 84;

/// Distances that are tried if the picture must fit; the widest that fits is used.
const COLUMN_STEPS: [i32; 4] = [COLUMN_STEP, 60, 42, 24];

/// Distance between two horizontal lines of a channel.
const TRACK_SPACING: i32 = 8;

/// Distance from a box to the next horizontal line.
const EDGE_DISTANCE: i32 = 20;

/// The height of a channel without horizontal lines.
const EMPTY_CHANNEL_HEIGHT: i32 = 30;

/// Minimum distance between two horizontal lines at the same height.
const MIN_TRACK_GAP: i32 = 2 * SLOT_WIDTH;

pub(super) type PixelPoint = (i32, i32);

/// A text, at 11 pixels.
#[derive(Debug)]
pub(super) struct Label {
    pub text: String,
    /// The position where it begins or ends.
    pub position: PixelPoint,
    pub is_end: bool,
}

#[derive(Debug, Default)]
pub(super) struct Layout {
    /// The upper left corner of each box.
    pub boxes: Vec<PixelPoint>,
    /// The corners of each link, from the border that it leaves to the border where it arrives.
    pub wires: Vec<Vec<PixelPoint>>,
    /// The label at the start of each link.
    pub labels: Vec<Option<Label>>,
    pub width: i32,
    pub height: i32,
}

/// Computes the picture with its natural width.
pub(super) fn lay_out(canvas: &Canvas) -> Layout {
    let plan = GridPlan::for_canvas(canvas);
    lay_out_grid(canvas, &plan.build_grid(&[]), COLUMN_STEP)
}

/// Folds the picture until it has at most this width, if possible.
pub(super) fn lay_out_within(canvas: &Canvas, max_width: i32) -> Layout {
    let plan = GridPlan::for_canvas(canvas);
    let limits = plan.max_folds();
    let mut folds = vec![1; limits.len()];
    loop {
        let grid = plan.build_grid(&folds);
        let mut layout = Layout::default();
        for step in COLUMN_STEPS {
            layout = lay_out_grid(canvas, &grid, step);
            if layout.width <= max_width {
                return layout;
            }
        }
        let Some(band) = find_widest_band(&grid, &folds, &limits) else {
            return layout;
        };
        folds[band] += 1;
    }
}

/// Returns the band with the row that has the most boxes, among the bands that can be folded further.
fn find_widest_band(grid: &Grid, folds: &[usize], limits: &[usize]) -> Option<usize> {
    grid.rows
        .iter()
        .zip(&grid.row_bands)
        .filter(|(row, band)| row.len() > 1 && folds[**band] < limits[**band])
        .max_by_key(|(row, _)| row.len())
        .map(|(_, band)| *band)
}

fn lay_out_grid(canvas: &Canvas, grid: &Grid, step: i32) -> Layout {
    let label_texts = label::link_labels(canvas);
    let mut gap_targets = GapTargets::new();
    let (mut left_edges, mut routes) = (Vec::new(), Vec::new());
    // In the first pass, the links that cross each gap are still unknown.
    for _ in 0..2 {
        left_edges = compute_left_edges(canvas, &label_texts, grid, &gap_targets, step);
        let mut link_router = Router::new(canvas, grid, &left_edges);
        routes = link_router.route_all();
        gap_targets = link_router.gap_targets;
    }
    place_items(canvas, label_texts, grid, &left_edges, &routes)
}

/// Returns the left edge of each box; columns are as close as their boxes and the links between them allow.
fn compute_left_edges(
    canvas: &Canvas,
    label_texts: &[Option<String>],
    grid: &Grid,
    gap_targets: &GapTargets,
    step: i32,
) -> Vec<i32> {
    let mut label_widths: HashMap<(usize, usize), i32> = HashMap::new();
    for (arrow, text) in canvas.arrows.iter().zip(label_texts) {
        let pair = (arrow.from_box.min(arrow.to_box), arrow.from_box.max(arrow.to_box));
        let width = text.as_ref().map_or(0, |text| label::text_width(text) + 22);
        let widest_label = label_widths.entry(pair).or_default();
        *widest_label = width.max(*widest_label);
    }
    let column_count = grid.box_columns.iter().max().map_or(0, |last| last + 1);
    let mut left_neighbors: Vec<Vec<(usize, i32)>> = vec![Vec::new(); column_count];
    for (row_index, row) in grid.rows.iter().enumerate() {
        for (index, pair) in row.windows(2).enumerate() {
            let [left_box, right_box] = *pair else { continue };
            let label_width = label_widths
                .get(&(left_box.min(right_box), left_box.max(right_box)))
                .copied()
                .unwrap_or(0);
            let line_count = gap_targets
                .get(&(row_index, index + 1))
                .map_or(0, |targets| targets.len() + 1);
            let lines_width = i32::try_from(line_count)
                .unwrap_or(i32::MAX / SLOT_WIDTH)
                .saturating_mul(SLOT_WIDTH)
                + 2 * MIN_CLEARANCE;
            let gap = round_up_to_slot(MIN_BOX_GAP.max(label_width).max(lines_width));
            left_neighbors[grid.box_columns[right_box]].push((grid.box_columns[left_box], gap));
        }
    }
    let mut column_lefts = vec![0; column_count];
    for column in 1..column_count {
        column_lefts[column] = left_neighbors[column]
            .iter()
            .map(|(neighbor, gap)| column_lefts[*neighbor] + BOX_WIDTH + gap)
            .fold(column_lefts[column - 1] + step, i32::max);
    }
    grid.box_columns
        .iter()
        .map(|column| column_lefts[*column])
        .collect()
}

/// The horizontal lines of each channel: the number of the line from the top, by target box.
type Tracks = Vec<BTreeMap<usize, usize>>;

fn assign_tracks(canvas: &Canvas, grid: &Grid, routes: &[Route]) -> (Tracks, Vec<usize>) {
    let channel_count = grid.rows.len() + 1;
    let mut spans: Vec<BTreeMap<usize, (i32, i32)>> = vec![BTreeMap::new(); channel_count];
    for (arrow, route) in canvas.arrows.iter().zip(routes) {
        let Route::Channels { hops, .. } = route else {
            continue;
        };
        for hop in hops.iter().filter(|hop| hop.from_x != hop.to_x) {
            let (low, high) = (hop.from_x.min(hop.to_x), hop.from_x.max(hop.to_x));
            let span = spans[hop.channel].entry(arrow.to_box).or_insert((low, high));
            *span = (span.0.min(low), span.1.max(high));
        }
    }
    let mut tracks = Tracks::with_capacity(channel_count);
    let mut track_counts = Vec::with_capacity(channel_count);
    for spans in spans {
        let mut by_start: Vec<(usize, (i32, i32))> = spans.into_iter().collect();
        by_start.sort_by_key(|(target, span)| (*span, *target));
        let mut track_ends: Vec<i32> = Vec::new();
        let mut channel_tracks = BTreeMap::new();
        for (target, (low, high)) in by_start {
            let free_track = track_ends.iter().position(|end| end + MIN_TRACK_GAP <= low);
            let track = free_track.unwrap_or(track_ends.len());
            track_ends.resize(track_ends.len().max(track + 1), high);
            track_ends[track] = high;
            channel_tracks.insert(target, track);
        }
        track_counts.push(track_ends.len());
        tracks.push(channel_tracks);
    }
    (tracks, track_counts)
}

fn place_items(
    canvas: &Canvas,
    label_texts: Vec<Option<String>>,
    grid: &Grid,
    left_edges: &[i32],
    routes: &[Route],
) -> Layout {
    let (tracks, track_counts) = assign_tracks(canvas, grid, routes);

    let mut channel_tops = Vec::with_capacity(track_counts.len());
    let mut row_tops = Vec::with_capacity(grid.rows.len());
    let mut y = 0;
    for (channel, track_count) in track_counts.iter().enumerate() {
        channel_tops.push(y);
        let is_outer = channel == 0 || channel == grid.rows.len();
        y += match (track_count, is_outer) {
            (0, true) => 0,
            (0, false) => EMPTY_CHANNEL_HEIGHT,
            (count, _) => 2 * EDGE_DISTANCE + track_offset(*count - 1),
        };
        if channel < grid.rows.len() {
            row_tops.push(y);
            y += BOX_HEIGHT;
        }
    }
    let boxes: Vec<PixelPoint> = left_edges
        .iter()
        .zip(&grid.box_rows)
        .map(|(x, row)| (*x, row_tops[*row]))
        .collect();
    let wires: Vec<Vec<PixelPoint>> = canvas
        .arrows
        .iter()
        .zip(routes)
        .map(|(arrow, route)| match route {
            Route::Straight(offset) => straight_wire(boxes[arrow.from_box], boxes[arrow.to_box], *offset),
            Route::Channels { side, hops } => {
                let start_y = boxes[arrow.from_box].1 + if *side == BoxSide::Bottom { BOX_HEIGHT } else { 0 };
                let arrives_from_above = hops
                    .last()
                    .is_some_and(|hop| hop.channel == grid.box_rows[arrow.to_box]);
                let end_y = boxes[arrow.to_box].1 + if arrives_from_above { 0 } else { BOX_HEIGHT };
                trace_wire(hops, start_y, end_y, |hop| {
                    let track = tracks[hop.channel].get(&arrow.to_box).copied().unwrap_or(0);
                    channel_tops[hop.channel] + EDGE_DISTANCE + track_offset(track)
                })
            }
        })
        .collect();
    let labels = label_texts
        .into_iter()
        .zip(&wires)
        .zip(routes)
        .map(|((text, wire), route)| place_label(text?, wire, route))
        .collect();
    move_to_origin(Layout {
        labels,
        wires,
        boxes,
        width: 0,
        height: y,
    })
}

/// Returns the distance of a horizontal line from the first one of its channel.
fn track_offset(track: usize) -> i32 {
    i32::try_from(track)
        .unwrap_or(i32::MAX / TRACK_SPACING)
        .saturating_mul(TRACK_SPACING)
}

fn place_label(text: String, wire: &[PixelPoint], route: &Route) -> Option<Label> {
    let (start, end) = (*wire.first()?, *wire.last()?);
    let (is_end, position) = match route {
        Route::Straight(_) if start.0 < end.0 => (false, (start.0 + 6, start.1 - 5)),
        Route::Straight(_) => (true, (start.0 - 6, start.1 - 5)),
        Route::Channels {
            side: BoxSide::Bottom,
            ..
        } => (false, (start.0 + 5, start.1 + 14)),
        Route::Channels {
            side: BoxSide::Top, ..
        } => (false, (start.0 + 5, start.1 - 6)),
    };
    Some(Label {
        text,
        position,
        is_end,
    })
}

fn straight_wire(start: PixelPoint, end: PixelPoint, offset: i32) -> Vec<PixelPoint> {
    let y = start.1 + BOX_HEIGHT / 2 + offset;
    if start.0 < end.0 {
        vec![(start.0 + BOX_WIDTH, y), (end.0, y)]
    } else {
        vec![(start.0, y), (end.0 + BOX_WIDTH, y)]
    }
}

/// Returns the corners of a link through channels, without points on a straight line.
fn trace_wire(hops: &[Hop], start_y: i32, end_y: i32, hop_y: impl Fn(&Hop) -> i32) -> Vec<PixelPoint> {
    let mut points = Vec::with_capacity(2 * hops.len() + 2);
    points.extend(hops.first().map(|hop| (hop.from_x, start_y)));
    for hop in hops.iter().filter(|hop| hop.from_x != hop.to_x) {
        let y = hop_y(hop);
        points.extend([(hop.from_x, y), (hop.to_x, y)]);
    }
    points.extend(hops.last().map(|hop| (hop.to_x, end_y)));
    points
}

/// Moves everything so that the coordinates begin at 0.
fn move_to_origin(mut layout: Layout) -> Layout {
    let mut used_x: Vec<i32> = Vec::new();
    used_x.extend(layout.boxes.iter().flat_map(|(x, _)| [*x, x + BOX_WIDTH]));
    used_x.extend(layout.wires.iter().flatten().map(|(x, _)| *x));
    for label in layout.labels.iter().flatten() {
        let width = label::text_width(&label.text);
        let start = if label.is_end {
            label.position.0 - width
        } else {
            label.position.0
        };
        used_x.extend([start, start + width]);
    }
    let min_x = used_x.iter().copied().min().unwrap_or(0);
    let max_x = used_x.iter().copied().max().unwrap_or(0);
    let label_positions = layout
        .labels
        .iter_mut()
        .flatten()
        .map(|label| &mut label.position);
    for (x, _) in layout
        .boxes
        .iter_mut()
        .chain(layout.wires.iter_mut().flatten())
        .chain(label_positions)
    {
        *x -= min_x;
    }
    layout.width = max_x - min_x;
    layout
}
