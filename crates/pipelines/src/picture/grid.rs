//! The rows and columns of a picture, which are those of the canvas.

use super::places::{BOX_DISTANCE, Places, ROW_TOLERANCE};
use std::collections::{BTreeMap, HashSet};

/// Maximum distance between the boxes of a column, in units of the canvas. A box that is further left than twice this
/// distance is always in a column further left.
const COLUMN_WIDTH: f64 = 60.0;

/// The row and the column of each box.
#[derive(Debug)]
pub(super) struct Grid {
    /// The rows from the top; each contains its boxes from the left.
    pub rows: Vec<Vec<usize>>,
    pub box_rows: Vec<usize>,
    /// The index of each box in its row.
    pub row_indices: Vec<usize>,
    pub box_columns: Vec<usize>,
    pub column_count: usize,
    /// The columns at which the picture continues below, ascending.
    breaks: Vec<usize>,
    /// The horizontal place of each box on the canvas.
    canvas_lefts: Vec<f64>,
}

/// The horizontal position and the width of each box.
#[derive(Debug, Clone)]
pub(super) struct BoxSpans {
    pub lefts: Vec<i32>,
    pub widths: Vec<i32>,
}

impl BoxSpans {
    /// Returns the x coordinate of the right edge of a box.
    pub(super) fn right(&self, index: usize) -> i32 {
        self.lefts[index] + self.widths[index]
    }

    /// Returns the x coordinate of the center of a box.
    pub(super) fn center(&self, index: usize) -> i32 {
        self.lefts[index] + self.widths[index] / 2
    }
}

impl Grid {
    /// Builds the grid from the places on the canvas. Stacked boxes (iterators above their target) are in one column,
    /// each in a row of its own. Like wrapped text, the picture continues in new rows below at each column in `breaks`,
    /// which is ascending.
    pub(super) fn build(places: &Places, breaks: &[usize]) -> Self {
        let base_lines = assign_lines(places);
        let base_columns = assign_columns(places, &base_lines);
        // The band (the columns between two breaks) and the line (the row on the canvas) of each box.
        let lines: Vec<(usize, usize)> = places
            .stack_bases
            .iter()
            .map(|stack_base| {
                let band = breaks.partition_point(|column| *column <= base_columns[*stack_base]);
                (band, base_lines[*stack_base])
            })
            .collect();
        let (box_rows, row_count) = assign_rows(&lines, &places.stack_levels);
        let box_columns: Vec<usize> = places
            .stack_bases
            .iter()
            .map(|stack_base| base_columns[*stack_base])
            .collect();
        let mut rows: Vec<Vec<usize>> = vec![Vec::new(); row_count];
        for (index, row) in box_rows.iter().enumerate() {
            rows[*row].push(index);
        }
        let mut row_indices = vec![0; box_rows.len()];
        for row in &mut rows {
            row.sort_by_key(|index| box_columns[*index]);
            for (row_index, index) in row.iter().enumerate() {
                row_indices[*index] = row_index;
            }
        }
        Self {
            rows,
            box_rows,
            row_indices,
            column_count: box_columns.iter().max().map_or(0, |column| column + 1),
            box_columns,
            breaks: breaks.to_vec(),
            canvas_lefts: places.points.iter().map(|point| point.x).collect(),
        }
    }

    /// Returns whether the column is the first of its band, so that its boxes are at the left edge of the picture.
    pub(super) fn is_band_start(&self, column: usize) -> bool {
        column == 0 || self.breaks.binary_search(&column).is_ok()
    }

    /// Returns the columns at which the picture continues below so that the boxes of each band are at most `max_width`
    /// apart, if a column alone is not wider. `spans` are the boxes of this grid, which has no breaks.
    pub(super) fn breaks_within_width(&self, spans: &BoxSpans, max_width: i32) -> Vec<usize> {
        let mut column_edges = vec![(i32::MAX, i32::MIN); self.column_count];
        for (index, column) in self.box_columns.iter().enumerate() {
            let (left, right) = column_edges[*column];
            column_edges[*column] = (left.min(spans.lefts[index]), right.max(spans.right(index)));
        }
        let mut breaks = Vec::new();
        let mut band_left = i32::MAX;
        let mut band_right = i32::MIN;
        for (column, (left, right)) in column_edges.into_iter().enumerate() {
            band_left = band_left.min(left);
            band_right = band_right.max(right);
            if column > 0 && band_right - band_left > max_width {
                breaks.push(column);
                (band_left, band_right) = (left, right);
            }
        }
        breaks
    }

    /// Returns the number, from the top, of the band that contains this column.
    fn band(&self, column: usize) -> usize {
        self.breaks.partition_point(|start| *start <= column)
    }

    /// Returns whether the second box is in a column of the same band further right than the first box, and so far
    /// right on the canvas that the boxes would not overlap.
    pub(super) fn is_further_right(&self, first_box: usize, second_box: usize) -> bool {
        let [first_column, second_column] = [first_box, second_box].map(|index| self.box_columns[index]);
        first_column < second_column
            && self.band(first_column) == self.band(second_column)
            && self.canvas_lefts[second_box] - self.canvas_lefts[first_box] >= BOX_DISTANCE
    }
}

/// Returns the row of each box in the picture, and the number of rows. `lines` contains the band and the line of each
/// box, in which the box of a stack with the level 0 is the lowest. A line of a band has as many rows as its highest
/// stack has boxes.
fn assign_rows(lines: &[(usize, usize)], stack_levels: &[usize]) -> (Vec<usize>, usize) {
    let mut line_heights: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for (line, level) in lines.iter().zip(stack_levels) {
        let height = line_heights.entry(*line).or_default();
        *height = (*height).max(level + 1);
    }
    let mut row_count = 0;
    let mut lowest_rows: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    // The map is in the order of the picture: band by band, and line by line within a band.
    for (line, height) in line_heights {
        row_count += height;
        lowest_rows.insert(line, row_count - 1);
    }
    let box_rows = lines
        .iter()
        .zip(stack_levels)
        .map(|(line, level)| lowest_rows[line] - level)
        .collect();
    (box_rows, row_count)
}

/// The heights, on the canvas, of the highest and the lowest box of a line.
struct LineExtent {
    highest: f64,
    lowest: f64,
}

impl LineExtent {
    /// Returns the distance between the height `y` and the line; negative for a height within the line.
    fn distance_to(&self, y: f64) -> f64 {
        (self.highest - y).max(y - self.lowest)
    }
}

/// Returns the line of each box: the number, from the top, of its row on the canvas. Boxes at almost the same height
/// are in one line. Boxes that still exist are assigned first, from top to bottom, so only the newest line can accept
/// the next box. A removed box may join any line, and does not extend its height.
fn assign_lines(places: &Places) -> Vec<usize> {
    let height_of = |index: &usize| places.points[*index].y;
    let mut order: Vec<usize> = (0..places.points.len()).collect();
    order.sort_by(|a, b| {
        places.removals[*a]
            .cmp(&places.removals[*b])
            .then(height_of(a).total_cmp(&height_of(b)))
    });
    let mut extents: Vec<LineExtent> = Vec::new();
    let mut lines = vec![0; order.len()];
    for index in order {
        let y = height_of(&index);
        let is_removed = places.removals[index];
        let first_candidate = if is_removed {
            0
        } else {
            extents.len().saturating_sub(1)
        };
        // The newest line is first, so it takes precedence over another line at the same distance.
        let nearest_line = (first_candidate..extents.len())
            .rev()
            .min_by(|a, b| extents[*a].distance_to(y).total_cmp(&extents[*b].distance_to(y)))
            .filter(|line| extents[*line].distance_to(y) <= ROW_TOLERANCE);
        lines[index] = nearest_line.unwrap_or(extents.len());
        match nearest_line {
            Some(line) if !is_removed => extents[line].lowest = y,
            Some(_) => {}
            None => extents.push(LineExtent {
                highest: y,
                lowest: y,
            }),
        }
    }
    // Lines of removed boxes were added last, so all lines are numbered again from the top.
    let mut sorted_lines: Vec<usize> = (0..extents.len()).collect();
    sorted_lines.sort_by(|a, b| extents[*a].highest.total_cmp(&extents[*b].highest));
    let mut ranks = vec![0; extents.len()];
    for (rank, line) in sorted_lines.into_iter().enumerate() {
        ranks[line] = rank;
    }
    lines.into_iter().map(|line| ranks[line]).collect()
}

/// Returns the number of the column, from the left, for the lowest box of each stack; for other boxes the number is 0
/// and unused. A column contains boxes that are at most [`COLUMN_WIDTH`] apart and in different `lines` (rows on the
/// canvas).
fn assign_columns(places: &Places, lines: &[usize]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..places.points.len())
        .filter(|index| places.stack_bases[*index] == *index)
        .collect();
    order.sort_by(|a, b| places.points[*a].x.total_cmp(&places.points[*b].x));
    let mut columns = vec![0; places.points.len()];
    let (mut column, mut left) = (0, None);
    let mut used_lines = HashSet::new();
    for index in order {
        let x = places.points[index].x;
        let is_new = x - *left.get_or_insert(x) > COLUMN_WIDTH || used_lines.contains(&lines[index]);
        if is_new {
            column += 1;
            left = Some(x);
            used_lines.clear();
        }
        used_lines.insert(lines[index]);
        columns[index] = column;
    }
    columns
}
