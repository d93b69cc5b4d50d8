//! The horizontal positions of the boxes: columns as close together as the boxes and the links allow.

use super::grid::{BoxSpans, Grid};
use super::ports::{Clearance, Gap, Ports, Side, gap_at};
use super::router::GapLines;
use super::slots::SLOT_WIDTH;
use std::collections::HashMap;

/// Minimum distance between two boxes of a row.
const MIN_BOX_GAP: i32 = 28;

/// Minimum distance between the centers of two columns: more than half the difference of the widths of two boxes.
const MIN_COLUMN_DISTANCE: i32 = 48;

/// Returns the spans of the boxes. Places the columns as close together as the boxes and the links between them allow.
/// `gap_lines` contains the vertical lines of each gap, and `extra_widths` the space that an earlier attempt missed.
pub(super) fn compute_spans(
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
    for column in (1..grid.column_count).filter(|column| !grid.is_band_start(*column)) {
        low_centers[column] = left_neighbors[column]
            .iter()
            .map(|(neighbor, distance)| low_centers[*neighbor] + distance)
            .fold(low_centers[column - 1] + MIN_COLUMN_DISTANCE, i32::max);
    }
    // The rightmost possible center of each column; a column is in the middle between both.
    let mut high_centers = vec![i32::MAX; grid.column_count];
    for column in (0..grid.column_count).rev() {
        if column + 1 == grid.column_count || grid.is_band_start(column + 1) {
            high_centers[column] = low_centers[column];
        }
        let center = high_centers[column];
        if !grid.is_band_start(column) {
            high_centers[column - 1] = high_centers[column - 1].min(center - MIN_COLUMN_DISTANCE);
        }
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
