//! The columns and rows of a picture. They keep the order of the canvas, and each box has its own cell.
//!
//! Components that are more than [`COLUMN`] units apart on the canvas get different columns, and components that are
//! more than [`BAND`] units apart get different bands of rows. Within a band, boxes that would overlap are put into
//! separate rows. A band is folded into more rows if the picture would be too wide.

use super::canvas::Canvas;
use super::layers::layers;
use super::stacks::{Range, Stack, StackPlace, stacks};
use std::collections::HashMap;

/// A box that is more than this distance to the left of another stays left of it, in units of the canvas.
const COLUMN: f64 = 120.0;

/// The same distance for boxes above each other.
const BAND: f64 = 60.0;

/// The column and the band of each stack.
#[derive(Debug)]
pub(super) struct Plan {
    stacks: Vec<Stack>,
    column: Vec<usize>,
    /// The bands from the top; each contains its stacks by column.
    bands: Vec<Vec<usize>>,
}

/// The row and the column of each box.
#[derive(Debug)]
pub(super) struct Grid {
    /// The rows from the top; each contains its boxes from the left.
    pub rows: Vec<Vec<usize>>,
    /// The row of each box.
    pub row: Vec<usize>,
    pub column: Vec<usize>,
    /// The band of each row.
    pub band: Vec<usize>,
}

impl Plan {
    pub(super) fn of(canvas: &Canvas) -> Self {
        let stacks = stacks(canvas);
        let mut column = vec![0; stacks.len()];
        let placed = |pick: fn(&StackPlace) -> Range| {
            let all = stacks.iter().enumerate();
            let ranges = all.filter_map(|(at, stack)| Some((at, pick(&stack.place?))));
            ranges.collect::<Vec<_>>()
        };
        for (at, group) in grouped(placed(|place| place.x), COLUMN) {
            column[at] = group;
        }
        let mut bands: Vec<Vec<usize>> = Vec::new();
        for (at, group) in grouped(placed(|place| place.y), BAND) {
            bands.resize_with(bands.len().max(group + 1), Vec::new);
            bands[group].push(at);
        }
        let above = bands.len();
        for (at, layer, row) in without_place(canvas, &stacks) {
            column[at] = layer;
            bands.resize_with(bands.len().max(above + row + 1), Vec::new);
            bands[above + row].push(at);
        }
        for band in &mut bands {
            let height = |at: &usize| stacks[*at].place.map_or(0.0, |place| place.y.own);
            band.sort_by(|a, b| {
                let by_column = column[*a].cmp(&column[*b]);
                by_column.then(height(a).total_cmp(&height(b))).then(a.cmp(b))
            });
        }
        Self {
            stacks,
            column,
            bands,
        }
    }

    /// Returns the maximum number of levels that each band can be folded into.
    pub(super) fn most_folds(&self) -> Vec<usize> {
        self.bands.iter().map(Vec::len).collect()
    }

    /// Returns the grid, with each band folded into the given number of levels.
    pub(super) fn grid(&self, folds: &[usize]) -> Grid {
        let boxes = self.stacks.iter().map(|stack| stack.boxes.len()).sum();
        let mut grid = Grid {
            rows: Vec::new(),
            row: vec![0; boxes],
            column: vec![0; boxes],
            band: Vec::new(),
        };
        for (number, band) in self.bands.iter().enumerate() {
            let fold = folds.get(number).copied().unwrap_or(1).max(1);
            for level in self.levels(band, fold) {
                self.push(&mut grid, &level, number);
            }
        }
        grid
    }

    /// Distributes the stacks of a band over levels; stacks of one level have different columns.
    fn levels(&self, band: &[usize], fold: usize) -> Vec<Vec<usize>> {
        let mut levels: Vec<Vec<usize>> = vec![Vec::new(); fold];
        let mut ordinal: Option<(usize, usize)> = None;
        for stack in band {
            let column = self.column[*stack];
            let number = match ordinal {
                Some((known, number)) if known == column => number,
                Some((_, number)) => number + 1,
                None => 0,
            };
            ordinal = Some((column, number));
            let is_free = |level: &Vec<usize>| level.last().is_none_or(|last| self.column[*last] != column);
            let first = number % fold;
            let free = (first..levels.len()).find(|level| is_free(&levels[*level]));
            match free {
                Some(level) => levels[level].push(*stack),
                None => levels.push(vec![*stack]),
            }
        }
        levels.retain(|level| !level.is_empty());
        levels
    }

    /// Adds a level. It has as many rows as its highest stack; all stacks begin in the lowest row.
    fn push(&self, grid: &mut Grid, level: &[usize], band: usize) {
        let height = level.iter().map(|stack| self.stacks[*stack].boxes.len()).max();
        let lowest = grid.rows.len() + height.unwrap_or(1) - 1;
        grid.rows.resize_with(lowest + 1, Vec::new);
        grid.band.resize(lowest + 1, band);
        for stack in level {
            for (above, at) in self.stacks[*stack].boxes.iter().enumerate() {
                grid.rows[lowest - above].push(*at);
                grid.row[*at] = lowest - above;
                grid.column[*at] = self.column[*stack];
            }
        }
    }
}

/// Returns each item with the number of its group. Items of one group are at most `reach` apart, and groups are ordered
/// by value.
fn grouped(mut ranges: Vec<(usize, Range)>, reach: f64) -> Vec<(usize, usize)> {
    ranges.sort_by(|(a, one), (b, other)| one.own.total_cmp(&other.own).then(a.cmp(b)));
    let mut begun: Option<(usize, f64, f64)> = None;
    let mut grouped = Vec::with_capacity(ranges.len());
    for (at, range) in ranges {
        let (group, low, high) = match begun {
            Some((group, low, high)) if range.high.max(high) - range.low.min(low) <= reach => {
                (group, low.min(range.low), high.max(range.high))
            }
            Some((group, ..)) => (group + 1, range.low, range.high),
            None => (0, range.low, range.high),
        };
        begun = Some((group, low, high));
        grouped.push((at, group));
    }
    grouped
}

/// Returns the stacks without a position, each with its layer and row.
fn without_place(canvas: &Canvas, stacks: &[Stack]) -> Vec<(usize, usize, usize)> {
    let without = stacks
        .iter()
        .enumerate()
        .filter(|(_, stack)| stack.place.is_none());
    let without: Vec<usize> = without.map(|(at, _)| at).collect();
    let of_box: HashMap<usize, usize> = without
        .iter()
        .enumerate()
        .flat_map(|(number, at)| stacks[*at].boxes.iter().map(move |member| (*member, number)))
        .collect();
    let links = canvas
        .arrows
        .iter()
        .filter_map(|arrow| Some((*of_box.get(&arrow.from)?, *of_box.get(&arrow.to)?)));
    let is_start = |number: usize| {
        let members = without.get(number).map(|at| stacks[*at].boxes.as_slice());
        let mut members = members.unwrap_or_default().iter();
        members.any(|at| canvas.boxes[*at].kind.as_deref() == Some("start"))
    };
    let placed = layers(without.len(), &links.collect::<Vec<_>>(), &is_start);
    let placed = without.iter().zip(placed);
    placed.map(|(at, (layer, row))| (*at, layer, row)).collect()
}
