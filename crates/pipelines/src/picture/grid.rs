//! The columns and rows of a picture. They keep the order of the canvas, and each box has its own cell.
//!
//! Components that are more than [`COLUMN_DISTANCE`] units apart on the canvas get different columns, and components
//! that are more than [`BAND_DISTANCE`] units apart get different bands of rows. Within a band, boxes that would
//! overlap are put into separate rows. A band is folded into more rows if the picture would be too wide.

use super::canvas::Canvas;
use super::layers::assign_layers;
use super::stacks::{Extent, Stack, build_stacks};
use std::collections::HashMap;

/// A box that is more than this distance to the left of another stays left of it, in units of the canvas.
const COLUMN_DISTANCE: f64 = 120.0;

/// The same distance for boxes above each other.
const BAND_DISTANCE: f64 = 60.0;

/// The column and the band of each stack.
#[derive(Debug)]
pub(super) struct GridPlan {
    stacks: Vec<Stack>,
    stack_columns: Vec<usize>,
    /// The bands from the top; each contains its stacks by column.
    bands: Vec<Vec<usize>>,
}

/// The row and the column of each box.
#[derive(Debug)]
pub(super) struct Grid {
    /// The rows from the top; each contains its boxes from the left.
    pub rows: Vec<Vec<usize>>,
    /// The row of each box.
    pub box_rows: Vec<usize>,
    pub box_columns: Vec<usize>,
    /// The band of each row.
    pub row_bands: Vec<usize>,
}

impl GridPlan {
    pub(super) fn for_canvas(canvas: &Canvas) -> Self {
        let stacks = build_stacks(canvas);
        let mut columns = vec![0; stacks.len()];
        let (mut x_extents, mut y_extents) = (Vec::new(), Vec::new());
        for (index, stack) in stacks.iter().enumerate() {
            if let Some(position) = stack.position {
                x_extents.push((index, position.x));
                y_extents.push((index, position.y));
            }
        }
        for (stack, group) in group_extents(x_extents, COLUMN_DISTANCE) {
            columns[stack] = group;
        }
        let mut bands: Vec<Vec<usize>> = Vec::new();
        for (stack, group) in group_extents(y_extents, BAND_DISTANCE) {
            bands.resize_with(bands.len().max(group + 1), Vec::new);
            bands[group].push(stack);
        }
        let placed_band_count = bands.len();
        for (stack, layer, row) in arrange_unplaced_stacks(canvas, &stacks) {
            columns[stack] = layer;
            bands.resize_with(bands.len().max(placed_band_count + row + 1), Vec::new);
            bands[placed_band_count + row].push(stack);
        }
        for band in &mut bands {
            let vertical_position =
                |stack: &usize| stacks[*stack].position.map_or(0.0, |position| position.y.anchor);
            band.sort_by(|a, b| {
                let by_column = columns[*a].cmp(&columns[*b]);
                by_column
                    .then(vertical_position(a).total_cmp(&vertical_position(b)))
                    .then(a.cmp(b))
            });
        }
        Self {
            stacks,
            stack_columns: columns,
            bands,
        }
    }

    /// Returns the maximum number of levels that each band can be folded into.
    pub(super) fn max_folds(&self) -> Vec<usize> {
        self.bands.iter().map(Vec::len).collect()
    }

    /// Returns the grid, with each band folded into the given number of levels.
    pub(super) fn build_grid(&self, folds: &[usize]) -> Grid {
        let box_count = self.stacks.iter().map(|stack| stack.boxes.len()).sum();
        let mut grid = Grid {
            rows: Vec::new(),
            box_rows: vec![0; box_count],
            box_columns: vec![0; box_count],
            row_bands: Vec::new(),
        };
        for (band_index, band) in self.bands.iter().enumerate() {
            let level_count = folds.get(band_index).copied().unwrap_or(1).max(1);
            for level in self.distribute_levels(band, level_count) {
                self.push_level(&mut grid, &level, band_index);
            }
        }
        grid
    }

    /// Distributes the stacks of a band over levels; stacks of one level have different columns.
    fn distribute_levels(&self, band: &[usize], level_count: usize) -> Vec<Vec<usize>> {
        let mut levels: Vec<Vec<usize>> = vec![Vec::new(); level_count];
        let mut last_column_ordinal: Option<(usize, usize)> = None;
        for stack in band {
            let column = self.stack_columns[*stack];
            // The number of the column within the band.
            let ordinal = match last_column_ordinal {
                Some((last_column, last_ordinal)) if last_column == column => last_ordinal,
                Some((_, last_ordinal)) => last_ordinal + 1,
                None => 0,
            };
            last_column_ordinal = Some((column, ordinal));
            let first_level = ordinal % level_count;
            let free_level = (first_level..levels.len()).find(|level| {
                levels[*level]
                    .last()
                    .is_none_or(|last| self.stack_columns[*last] != column)
            });
            match free_level {
                Some(level) => levels[level].push(*stack),
                None => levels.push(vec![*stack]),
            }
        }
        levels.retain(|level| !level.is_empty());
        levels
    }

    /// Adds a level. It has as many rows as its highest stack; all stacks begin in the lowest row.
    fn push_level(&self, grid: &mut Grid, level: &[usize], band_index: usize) {
        let height = level.iter().map(|stack| self.stacks[*stack].boxes.len()).max();
        let lowest_row = grid.rows.len() + height.unwrap_or(1) - 1;
        grid.rows.resize_with(lowest_row + 1, Vec::new);
        grid.row_bands.resize(lowest_row + 1, band_index);
        for stack in level {
            for (height_above, canvas_box) in self.stacks[*stack].boxes.iter().enumerate() {
                grid.rows[lowest_row - height_above].push(*canvas_box);
                grid.box_rows[*canvas_box] = lowest_row - height_above;
                grid.box_columns[*canvas_box] = self.stack_columns[*stack];
            }
        }
    }
}

/// Returns each item with the number of its group. Items of one group are at most `max_distance` apart, and groups are
/// ordered by value.
fn group_extents(mut extents: Vec<(usize, Extent)>, max_distance: f64) -> Vec<(usize, usize)> {
    extents
        .sort_by(|(a, extent_a), (b, extent_b)| extent_a.anchor.total_cmp(&extent_b.anchor).then(a.cmp(b)));
    let mut open_group: Option<(usize, f64, f64)> = None;
    let mut groups = Vec::with_capacity(extents.len());
    for (item, extent) in extents {
        let (group, low, high) = match open_group {
            Some((group, low, high)) if extent.high.max(high) - extent.low.min(low) <= max_distance => {
                (group, low.min(extent.low), high.max(extent.high))
            }
            Some((group, ..)) => (group + 1, extent.low, extent.high),
            None => (0, extent.low, extent.high),
        };
        open_group = Some((group, low, high));
        groups.push((item, group));
    }
    groups
}

/// Returns the stacks without a position, each with its layer and row.
fn arrange_unplaced_stacks(canvas: &Canvas, stacks: &[Stack]) -> Vec<(usize, usize, usize)> {
    let unplaced_stacks: Vec<usize> = (0..stacks.len())
        .filter(|stack| stacks[*stack].position.is_none())
        .collect();
    let mut stack_by_box: HashMap<usize, usize> = HashMap::new();
    for (part, stack) in unplaced_stacks.iter().enumerate() {
        stack_by_box.extend(stacks[*stack].boxes.iter().map(|canvas_box| (*canvas_box, part)));
    }
    let links = canvas.arrows.iter().filter_map(|arrow| {
        Some((
            *stack_by_box.get(&arrow.from_box)?,
            *stack_by_box.get(&arrow.to_box)?,
        ))
    });
    let is_start = |part: usize| {
        unplaced_stacks
            .get(part)
            .into_iter()
            .flat_map(|stack| &stacks[*stack].boxes)
            .any(|canvas_box| canvas.boxes[*canvas_box].kind.as_deref() == Some("start"))
    };
    let positions = assign_layers(unplaced_stacks.len(), &links.collect::<Vec<_>>(), &is_start);
    unplaced_stacks
        .iter()
        .zip(positions)
        .map(|(stack, (layer, row))| (*stack, layer, row))
        .collect()
}
