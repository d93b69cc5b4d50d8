//! Computes the positions in a picture, in pixels: boxes in rows and columns, links between them.

use super::canvas::{Canvas, ChangeMark};
use super::channels::{EDGE_DISTANCE, LINE_HEIGHT, Routes, RowHeights, assign_tracks};
use super::grid::{BoxSpans, Grid};
use super::label::{self, BoxText, LABEL_GAP};
use super::places::Places;
use super::ports::{Clearance, Gap, LinkPlan, Port, Ports, Side, gap_at, stub_port};
use super::router::{GapLines, Hop, Router};
use super::slots::SLOT_WIDTH;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Minimum distance between two boxes of a row.
const MIN_BOX_GAP: i32 = 28;

/// Minimum distance between the centers of two columns: more than half the difference of the widths of two boxes.
const MIN_COLUMN_DISTANCE: i32 = 48;

/// Maximum number of attempts to give all links space, each with wider gaps.
const MAX_ATTEMPTS: usize = 40;

pub(super) type PixelPoint = (i32, i32);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BoxFrame {
    pub left: i32,
    pub top: i32,
    pub width: i32,
    pub height: i32,
}

#[derive(Debug)]
pub(super) struct Label {
    pub text: String,
    pub mark: ChangeMark,
    /// The left end of the baseline.
    pub position: PixelPoint,
}

#[derive(Debug, Default)]
pub(super) struct Layout {
    pub texts: Vec<BoxText>,
    pub frames: Vec<BoxFrame>,
    /// The corners of each link, from the border that it leaves to the border where it arrives.
    pub wires: Vec<Vec<PixelPoint>>,
    /// The ends of each stub.
    pub stubs: Vec<Vec<PixelPoint>>,
    pub labels: Vec<Label>,
    pub width: i32,
    pub height: i32,
}

/// Computes the layout of a picture with its natural width.
pub(super) fn lay_out_canvas(canvas: &Canvas) -> Layout {
    let places = Places::for_canvas(canvas);
    let no_breaks: [usize; 0] = [];
    let (layout, _spans) = lay_out_grid(canvas, &places, &Grid::build(&places, &no_breaks));
    layout
}

/// Computes the layout of a picture with at most this width, if possible. Like wrapped text, the picture continues
/// below at each column that does not fit.
pub(super) fn lay_out_within_width(canvas: &Canvas, max_width: i32) -> Layout {
    let box_places = Places::for_canvas(canvas);
    let mut break_columns: Vec<usize> = Vec::new();
    loop {
        let grid = Grid::build(&box_places, &break_columns);
        let (layout, spans) = lay_out_grid(canvas, &box_places, &grid);
        let first_column = break_columns.last().copied().unwrap_or(0);
        if layout.width <= max_width {
            return layout;
        }
        let left = spans.lefts.iter().copied().min().unwrap_or(0);
        let next_break = grid
            .box_columns
            .iter()
            .enumerate()
            .filter(|(index, column)| **column > first_column && spans.right(*index) - left > max_width)
            .map(|(_, column)| *column)
            .min();
        // If all boxes fit, a link or a label is too wide, so only the last column is moved below.
        let last_column = (grid.column_count > first_column + 1).then(|| grid.column_count - 1);
        match next_break.or(last_column) {
            Some(column) => break_columns.push(column),
            None => return layout,
        }
    }
}

/// Computes the layout of a grid and the spans of its boxes. Widens the gaps until each link has space, in at most
/// [`MAX_ATTEMPTS`] attempts.
fn lay_out_grid(canvas: &Canvas, places: &Places, grid: &Grid) -> (Layout, BoxSpans) {
    let texts = label::wrap_box_texts(canvas);
    let labels = label::format_link_labels(canvas);
    let ports = Ports::for_canvas(canvas, grid);
    let widths = places.box_widths(&texts);
    let mut gap_lines = GapLines::new();
    let mut extra_widths: HashMap<Gap, i32> = HashMap::new();
    let mut attempt = 0;
    loop {
        let spans = compute_spans(grid, &ports, &widths, &gap_lines, &extra_widths);
        let mut router = Router::new(grid, &ports, &spans);
        let hops = router.route_links(&labels);
        let owners: Vec<Port> = ports.links.iter().map(|link| router.entry_owner(link)).collect();
        for (gap, line_owners) in router.gap_lines {
            gap_lines.entry(gap).or_default().extend(line_owners);
        }
        attempt += 1;
        // In the first attempt, the links that cross each gap are still unknown.
        if attempt > 1 && (router.full_gaps.is_empty() || attempt >= MAX_ATTEMPTS) {
            let layout = place_items(
                canvas,
                grid,
                &ports,
                &spans,
                &Routes {
                    hops,
                    owners,
                    labeled_exits: router.labeled_exits,
                },
                texts,
                &labels,
            );
            return (layout, spans);
        }
        for gap in router.full_gaps {
            *extra_widths.entry(gap).or_default() += 2 * SLOT_WIDTH;
        }
    }
}

/// Returns the spans of the boxes. Places the columns as close together as the boxes and the links between them allow.
/// `gap_lines` contains the vertical lines of each gap, and `extra_widths` the space that an earlier attempt missed.
fn compute_spans(
    grid: &Grid,
    ports: &Ports,
    widths: &[i32],
    gap_lines: &GapLines,
    extra_widths: &HashMap<Gap, i32>,
) -> BoxSpans {
    // For each column, its neighbors on the left with the distances between the centers.
    let mut left_neighbors: Vec<Vec<(usize, i32)>> = vec![Vec::new(); grid.column_count];
    for (row, boxes) in grid.rows.iter().enumerate() {
        for (index, pair) in boxes.windows(2).enumerate() {
            let [left_box, right_box] = *pair else { continue };
            let gap = (row, index + 1);
            let Clearance { left, right } = ports.clearances.get(&gap).copied().unwrap_or_default();
            let line_count = gap_lines
                .get(&gap)
                .map_or(0, |owners| i32::try_from(owners.len()).unwrap_or(i32::MAX / 1000));
            let gap_width = left + right + line_count * SLOT_WIDTH + extra_widths.get(&gap).unwrap_or(&0);
            let distance = gap_width.max(MIN_BOX_GAP) + (widths[left_box] + widths[right_box] + 1) / 2;
            left_neighbors[grid.box_columns[right_box]].push((grid.box_columns[left_box], distance));
        }
    }
    // A link to a box further right needs space for a vertical line at each of its ends.
    for link in &ports.links {
        let (from_box, to_box) = (link.exit.canvas_box, link.entry.canvas_box);
        let [from_column, to_column] = [from_box, to_box].map(|index| grid.box_columns[index]);
        if grid.is_further_right(from_box, to_box) && link.exit.side == Side::Right {
            let clearances = [link.exit, link.entry].map(|port| {
                let gap = gap_at(grid, port).and_then(|gap| ports.clearances.get(&gap));
                gap.copied().unwrap_or_default()
            });
            let gap_width = clearances[0].left + clearances[1].right + 2 * SLOT_WIDTH;
            let distance = gap_width + (widths[from_box] + widths[to_box] + 1) / 2;
            left_neighbors[to_column].push((from_column, distance));
        }
    }
    // The leftmost possible center of each column.
    let mut low_centers = vec![0; grid.column_count];
    for column in 1..grid.column_count {
        low_centers[column] = left_neighbors[column]
            .iter()
            .map(|(neighbor, distance)| low_centers[*neighbor] + distance)
            .fold(low_centers[column - 1] + MIN_COLUMN_DISTANCE, i32::max);
    }
    // The rightmost possible center of each column; a column is in the middle between both.
    let mut high_centers = vec![low_centers.last().copied().unwrap_or(0); grid.column_count];
    for column in (1..grid.column_count).rev() {
        let center = high_centers[column];
        high_centers[column - 1] = high_centers[column - 1].min(center - MIN_COLUMN_DISTANCE);
        for (neighbor, distance) in &left_neighbors[column] {
            high_centers[*neighbor] = high_centers[*neighbor].min(center - distance);
        }
    }
    let lefts = grid
        .box_columns
        .iter()
        .zip(widths)
        .map(|(column, width)| i32::midpoint(low_centers[*column], high_centers[*column]) - width / 2);
    BoxSpans {
        lefts: lefts.collect(),
        widths: widths.to_vec(),
    }
}

/// Computes the layout from the routes of the links: the positions of boxes, links, stubs and labels, in pixels. A wire
/// is the line of a link: the list of its corners.
fn place_items(
    canvas: &Canvas,
    grid: &Grid,
    ports: &Ports,
    spans: &BoxSpans,
    routes: &Routes,
    texts: Vec<BoxText>,
    labels: &[Option<String>],
) -> Layout {
    let tracks = assign_tracks(grid, routes);
    let heights = RowHeights::new(grid, ports, &texts, &tracks);
    let frames: Vec<BoxFrame> = grid
        .box_rows
        .iter()
        .enumerate()
        .map(|(index, row)| BoxFrame {
            left: spans.lefts[index],
            top: heights.row_tops[*row],
            width: spans.widths[index],
            height: heights.box_heights[*row],
        })
        .collect();
    let placement = PortPlaces {
        ports,
        frames: &frames,
    };
    let wires: Vec<Vec<PixelPoint>> = ports
        .links
        .iter()
        .zip(&routes.hops)
        .zip(&routes.owners)
        .map(|((link, hops), owner)| {
            let mut points = placement.start_points(link, hops);
            for hop in hops.iter().filter(|hop| hop.from_x != hop.to_x) {
                let y = heights.track_y(&tracks, hop.channel, *owner);
                points.extend([(hop.from_x, y), (hop.to_x, y)]);
            }
            points.extend(placement.end_points(link, hops));
            points
        })
        .collect();
    let mut drawn_labels = placement.place_link_labels(canvas, labels, &wires, &routes.labeled_exits);
    let (stubs, stub_labels) = placement.place_stubs(canvas);
    drawn_labels.extend(stub_labels);
    move_to_origin(Layout {
        texts,
        frames,
        wires,
        stubs,
        labels: drawn_labels,
        width: 0,
        height: heights.total_height,
    })
}

/// The boxes and their ports, from which the positions of lines and labels are computed, in pixels.
struct PortPlaces<'p> {
    ports: &'p Ports,
    frames: &'p [BoxFrame],
}

impl PortPlaces<'_> {
    /// Returns the position of a port, in pixels. Only a port at the upper or lower edge uses `x`.
    fn port_point(&self, port: Port, x: i32) -> PixelPoint {
        let frame = self.frames[port.canvas_box];
        let offset = self.ports.offsets.get(&port).copied().unwrap_or(0);
        let y = frame.top + frame.height / 2 + offset;
        match port.side {
            Side::Left => (frame.left, y),
            Side::Right => (frame.left + frame.width, y),
            Side::Top => (x, frame.top),
            Side::Bottom => (x, frame.top + frame.height),
        }
    }

    /// Returns the first points of a link: its port, and the start of its first vertical line if this differs.
    fn start_points(&self, link: &LinkPlan, hops: &[Hop]) -> Vec<PixelPoint> {
        let x = hops.first().map_or(0, |hop| hop.from_x);
        let (port_x, y) = self.port_point(link.exit, x);
        if hops.is_empty() || port_x == x {
            return vec![(port_x, y)];
        }
        vec![(port_x, y), (x, y)]
    }

    /// Returns the last points of a link: the end of its last vertical line if that is not at the port, and the port.
    fn end_points(&self, link: &LinkPlan, hops: &[Hop]) -> Vec<PixelPoint> {
        let x = hops.last().map_or(0, |hop| hop.to_x);
        let (port_x, y) = self.port_point(link.entry, x);
        if hops.is_empty() {
            // A straight link has the height of its start at both ends.
            let unused_x = 0;
            let (_, start_y) = self.port_point(link.exit, unused_x);
            return vec![(port_x, start_y)];
        }
        let line_end = (port_x != x).then_some((x, y));
        line_end.into_iter().chain([(port_x, y)]).collect()
    }

    /// Returns the two ends of the line of each stub, and the label above each line.
    fn place_stubs(&self, canvas: &Canvas) -> (Vec<Vec<PixelPoint>>, Vec<Label>) {
        let lines_and_labels = canvas.stubs.iter().map(|stub| {
            let text = label::format_stub_label(stub);
            let length = label::text_width(&text) + LABEL_GAP;
            let unused_x = 0;
            let (x, y) = self.port_point(stub_port(stub.canvas_box, stub.is_outgoing), unused_x);
            let (left, right) = if stub.is_outgoing {
                (x, x + length)
            } else {
                (x - length, x)
            };
            let label = Label {
                text,
                mark: ChangeMark::Unchanged,
                position: (left + LABEL_GAP / 2, y - LABEL_GAP / 2),
            };
            (vec![(left, y), (right, y)], label)
        });
        lines_and_labels.unzip()
    }

    /// Returns one label for each port where links start: the text and the mark of the first link there with a text.
    /// Skips ports at the upper or lower edge without space for a label. `labeled_exits` contains those with space.
    fn place_link_labels(
        &self,
        canvas: &Canvas,
        texts: &[Option<String>],
        wires: &[Vec<PixelPoint>],
        labeled_exits: &HashSet<Port>,
    ) -> Vec<Label> {
        let mut labels: BTreeMap<Port, Label> = BTreeMap::new();
        for (index, (text, link)) in texts.iter().zip(&self.ports.links).enumerate() {
            let (Some(text), Some((x, y))) = (text, wires[index].first()) else {
                continue;
            };
            let is_side_port = matches!(link.exit.side, Side::Left | Side::Right);
            if !is_side_port && !labeled_exits.contains(&link.exit) {
                continue;
            }
            let position = match link.exit.side {
                Side::Right => (x + LABEL_GAP, y - LABEL_GAP / 2),
                // A link to the left neighbor has its label at its end, on the left side of the gap.
                Side::Left => (
                    wires[index].last().map_or(*x, |(end_x, _)| *end_x) + 2 * LABEL_GAP,
                    y - LABEL_GAP / 2,
                ),
                Side::Bottom => (x + LABEL_GAP, y + EDGE_DISTANCE - LABEL_GAP),
                Side::Top => (x + LABEL_GAP, y - LABEL_GAP),
            };
            labels.entry(link.exit).or_insert_with(|| Label {
                text: text.clone(),
                mark: canvas.arrows[index].mark,
                position,
            });
        }
        labels.into_values().collect()
    }
}

/// Moves everything to coordinates that begin at 0, and sets the size. All frames are between 0 and `height`.
fn move_to_origin(mut layout: Layout) -> Layout {
    let (mut used_x, mut used_y): (Vec<i32>, Vec<i32>) = (Vec::new(), vec![0, layout.height]);
    for frame in &layout.frames {
        used_x.extend([frame.left, frame.left + frame.width]);
    }
    for (x, y) in layout.wires.iter().chain(&layout.stubs).flatten() {
        used_x.push(*x);
        used_y.push(*y);
    }
    for label in &layout.labels {
        let (x, y) = label.position;
        used_x.extend([x, x + label::link_label_width(&label.text)]);
        used_y.extend([y - LINE_HEIGHT, y]);
    }
    let (min_x, max_x) = extent(&used_x);
    let (min_y, max_y) = extent(&used_y);
    for frame in &mut layout.frames {
        frame.left -= min_x;
        frame.top -= min_y;
    }
    let label_positions = layout.labels.iter_mut().map(|label| &mut label.position);
    for (x, y) in layout
        .wires
        .iter_mut()
        .chain(&mut layout.stubs)
        .flatten()
        .chain(label_positions)
    {
        *x -= min_x;
        *y -= min_y;
    }
    layout.width = max_x - min_x;
    layout.height = max_y - min_y;
    layout
}

/// Returns the least and the greatest value; both are 0 if there are no values.
fn extent(values: &[i32]) -> (i32, i32) {
    let low = values.iter().copied().min().unwrap_or(0);
    (low, values.iter().copied().max().unwrap_or(0))
}
