//! Computes the positions in a picture, in pixels: boxes in rows and columns, links between them.

use super::box_spans::compute_spans;
use super::canvas::{Canvas, ChangeMark};
use super::channels::{EDGE_DISTANCE, LINE_HEIGHT, Routes, RowHeights, assign_tracks};
use super::grid::{BoxSpans, Grid};
use super::label::{self, BoxText, LABEL_GAP};
use super::places::Places;
use super::ports::{Gap, LinkPlan, Port, Ports, Side, stub_port};
use super::router::{GapLines, Hop, Router};
use super::slots::SLOT_WIDTH;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Maximum number of attempts to give all links space, each with wider gaps.
const MAX_ATTEMPTS: usize = 40;

/// Maximum number of widths that are tried for the boxes of a picture that continues below.
const MAX_LIMITS: i32 = 8;

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
    let places = Places::for_canvas(canvas);
    let no_breaks: [usize; 0] = [];
    let grid = Grid::build(&places, &no_breaks);
    let (mut layout, spans) = lay_out_grid(canvas, &places, &grid);
    let mut box_limit = max_width;
    while layout.width > max_width && box_limit > 0 {
        let breaks = grid.breaks_within_width(&spans, box_limit);
        let (broken_layout, _spans) = lay_out_grid(canvas, &places, &Grid::build(&places, &breaks));
        // Links and labels need space next to the boxes.
        let missing_width = broken_layout.width - max_width;
        box_limit -= missing_width.max(max_width / MAX_LIMITS);
        if broken_layout.width < layout.width {
            layout = broken_layout;
        }
    }
    layout
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
