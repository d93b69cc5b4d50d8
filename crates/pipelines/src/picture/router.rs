//! Computes the route of each link: straight to a neighbor, otherwise along channels and through gaps.

use super::canvas::{Arrow, Canvas, ChangeMark};
use super::grid::Grid;
use super::lanes::{BOX_WIDTH, Gap, Lanes, LineOwner, MIN_CLEARANCE, SLOT_WIDTH, nearest_slots};
use super::route::{BoxSide, Hop, Route};
use std::collections::{BTreeSet, HashMap};

/// Offsets from the middle for horizontal links between the same two neighbors.
const PARALLEL_OFFSETS: [i32; 3] = [0, -14, 14];

/// The cost of each row that is still to be crossed, in addition to the length of the route.
const ROW_COST: i32 = 80;

/// Space for the kind of a link beside its start.
const MIN_LABEL_SPACE: i32 = 72;

/// The targets of the lines that each gap of each row must have space for.
pub(super) type GapTargets = HashMap<(usize, Gap), BTreeSet<usize>>;

/// The properties that links leaving a box on the same line share.
type StartKey<'c> = (usize, BoxSide, &'c str, ChangeMark);

pub(super) struct Router<'c> {
    canvas: &'c Canvas,
    grid: &'c Grid,
    left_edges: &'c [i32],
    lanes: Lanes,
    start_positions: HashMap<StartKey<'c>, i32>,
    /// The only target of links with a shared start; `None` if there are several.
    shared_targets: HashMap<StartKey<'c>, Option<usize>>,
    /// The places where links leave a side of a box.
    exit_positions: HashMap<(usize, BoxSide), Vec<i32>>,
    end_positions: HashMap<(usize, BoxSide), i32>,
    /// The places where lines to a box already cross a row.
    row_crossings: HashMap<(usize, usize), Vec<i32>>,
    /// The targets for which lines preferably cross a gap.
    pub(super) gap_targets: GapTargets,
}

impl<'c> Router<'c> {
    pub(super) fn new(canvas: &'c Canvas, grid: &'c Grid, left_edges: &'c [i32]) -> Self {
        let rows = grid
            .rows
            .iter()
            .map(|row| row.iter().map(|canvas_box| left_edges[*canvas_box]).collect());
        Self {
            canvas,
            grid,
            left_edges,
            lanes: Lanes::new(rows.collect()),
            start_positions: HashMap::new(),
            shared_targets: HashMap::new(),
            exit_positions: HashMap::new(),
            end_positions: HashMap::new(),
            row_crossings: HashMap::new(),
            gap_targets: HashMap::new(),
        }
    }

    /// Returns the routes of all links, in the same order.
    pub(super) fn route_all(&mut self) -> Vec<Route> {
        let canvas = self.canvas;
        let mut routes: Vec<Option<Route>> = vec![None; canvas.arrows.len()];
        let mut straight_counts: HashMap<(usize, usize), usize> = HashMap::new();
        for (index, arrow) in canvas.arrows.iter().enumerate() {
            if self.are_neighbors(arrow) {
                let pair = (arrow.from_box.min(arrow.to_box), arrow.from_box.max(arrow.to_box));
                let straight_count = straight_counts.entry(pair).or_default();
                routes[index] = PARALLEL_OFFSETS
                    .get(*straight_count)
                    .map(|offset| Route::Straight(*offset));
                *straight_count += 1;
            }
        }
        for (index, arrow) in canvas.arrows.iter().enumerate() {
            if routes[index].is_none() {
                routes[index] = self.route_above_each_other(arrow);
            }
        }
        let unrouted_indices: Vec<usize> = (0..routes.len())
            .filter(|index| routes[*index].is_none())
            .collect();
        for index in &unrouted_indices {
            self.assign_end(&canvas.arrows[*index]);
        }
        for index in &unrouted_indices {
            let arrow = &canvas.arrows[*index];
            let targets = self
                .shared_targets
                .entry(self.start_key(arrow))
                .or_insert(Some(arrow.to_box));
            *targets = targets.filter(|target| *target == arrow.to_box);
        }
        for index in &unrouted_indices {
            self.assign_start(&canvas.arrows[*index]);
        }
        for index in unrouted_indices {
            routes[index] = Some(self.route_through_channels(&canvas.arrows[index]));
        }
        routes.into_iter().flatten().collect()
    }

    fn are_neighbors(&self, arrow: &Arrow) -> bool {
        let row = self.grid.box_rows[arrow.from_box];
        if row != self.grid.box_rows[arrow.to_box] {
            return false;
        }
        let [from_left, to_left] =
            [arrow.from_box, arrow.to_box].map(|canvas_box| self.left_edges[canvas_box]);
        let boxes = &self.grid.rows[row];
        let from_index = boxes.partition_point(|canvas_box| self.left_edges[*canvas_box] < from_left);
        let to_index = boxes.partition_point(|canvas_box| self.left_edges[*canvas_box] < to_left);
        from_index.abs_diff(to_index) == 1
    }

    /// Returns the sides at which the link leaves and arrives.
    fn link_sides(&self, arrow: &Arrow) -> (BoxSide, BoxSide) {
        let (from_row, to_row) = (
            self.grid.box_rows[arrow.from_box],
            self.grid.box_rows[arrow.to_box],
        );
        match from_row.cmp(&to_row) {
            std::cmp::Ordering::Less => (BoxSide::Bottom, BoxSide::Top),
            std::cmp::Ordering::Greater => (BoxSide::Top, BoxSide::Bottom),
            std::cmp::Ordering::Equal if self.left_edges[arrow.from_box] < self.left_edges[arrow.to_box] => {
                (BoxSide::Top, BoxSide::Top)
            }
            std::cmp::Ordering::Equal => (BoxSide::Bottom, BoxSide::Bottom),
        }
    }

    fn channel_beside(&self, canvas_box: usize, side: BoxSide) -> usize {
        match side {
            BoxSide::Top => self.grid.box_rows[canvas_box],
            BoxSide::Bottom => self.grid.box_rows[canvas_box] + 1,
        }
    }

    /// Returns the range in which lines may meet the box from above or below.
    fn line_bounds(&self, canvas_box: usize) -> (i32, i32) {
        (
            self.left_edges[canvas_box] + MIN_CLEARANCE,
            self.left_edges[canvas_box] + BOX_WIDTH - MIN_CLEARANCE,
        )
    }

    fn center_x(&self, canvas_box: usize) -> i32 {
        self.left_edges[canvas_box] + BOX_WIDTH / 2
    }

    /// Routes a link between two boxes above each other, if there is nothing between them and no other link arrives at
    /// that side of the target.
    fn route_above_each_other(&mut self, arrow: &Arrow) -> Option<Route> {
        let (start_side, end_side) = self.link_sides(arrow);
        let end = (arrow.to_box, end_side);
        if start_side == end_side || self.end_positions.contains_key(&end) {
            return None;
        }
        let (from_bounds, to_bounds) = (self.line_bounds(arrow.from_box), self.line_bounds(arrow.to_box));
        let low = from_bounds.0.max(to_bounds.0);
        let high = from_bounds.1.min(to_bounds.1);
        let (first_channel, last_channel) = (
            self.channel_beside(arrow.from_box, start_side),
            self.channel_beside(arrow.to_box, end_side),
        );
        let channels = first_channel.min(last_channel)..=first_channel.max(last_channel);
        let rows = first_channel.min(last_channel)..first_channel.max(last_channel);
        let owner = LineOwner::Target(arrow.to_box);
        let preferred_x = i32::midpoint(self.center_x(arrow.from_box), self.center_x(arrow.to_box));
        let is_clear = |x: &i32| {
            let mut channels = channels.clone();
            let mut rows = rows.clone();
            channels.all(|channel| self.lanes.is_unused(channel, *x))
                && rows.all(|row| self.lanes.can_cross_row(row, *x, owner))
        };
        let x = nearest_slots(low, high, preferred_x, high - low).find(is_clear)?;
        for channel in channels.clone() {
            self.lanes.occupy(channel, x, owner);
        }
        self.end_positions.insert(end, x);
        self.exit_positions
            .entry((arrow.from_box, start_side))
            .or_default()
            .push(x);
        let mut hops: Vec<Hop> = channels
            .map(|channel| Hop {
                channel,
                from_x: x,
                to_x: x,
            })
            .collect();
        if first_channel > last_channel {
            hops.reverse();
        }
        Some(Route::Channels {
            side: start_side,
            hops,
        })
    }

    /// Sets the place where all links to a side of a box arrive.
    fn assign_end(&mut self, arrow: &Arrow) {
        let (_, side) = self.link_sides(arrow);
        if self.end_positions.contains_key(&(arrow.to_box, side)) {
            return;
        }
        let (low, high) = self.line_bounds(arrow.to_box);
        let channel = self.channel_beside(arrow.to_box, side);
        let owner = LineOwner::Target(arrow.to_box);
        let preferred_x = if arrow.from_box == arrow.to_box {
            self.center_x(arrow.to_box) - 4 * SLOT_WIDTH
        } else {
            self.center_x(arrow.from_box)
                .clamp(low + 3 * SLOT_WIDTH, high - 3 * SLOT_WIDTH)
        };
        let x = self
            .lanes
            .find_free_slot(channel, low, high, preferred_x, owner)
            .unwrap_or(preferred_x);
        self.lanes.occupy(channel, x, owner);
        self.end_positions.insert((arrow.to_box, side), x);
    }

    fn start_key(&self, arrow: &'c Arrow) -> StartKey<'c> {
        (
            arrow.from_box,
            self.link_sides(arrow).0,
            arrow.kind.as_str(),
            arrow.mark,
        )
    }

    /// Sets the place where links of one kind leave a side of a box.
    fn assign_start(&mut self, arrow: &'c Arrow) {
        let key = self.start_key(arrow);
        if self.start_positions.contains_key(&key) {
            return;
        }
        let bounds = self.line_bounds(arrow.from_box);
        let channel = self.channel_beside(arrow.from_box, key.1);
        let owner = match self.shared_targets.get(&key) {
            Some(Some(target)) => LineOwner::Target(*target),
            _ => LineOwner::Start(arrow.from_box),
        };
        let preferred_x = self
            .center_x(arrow.to_box)
            .clamp(bounds.0 + 3 * SLOT_WIDTH, bounds.1 - 3 * SLOT_WIDTH);
        let side = (key.0, key.1);
        let taken_positions = self.exit_positions.get(&side).map_or(&[][..], Vec::as_slice);
        let mut free_positions: Vec<i32> = (bounds.0..=bounds.1)
            .filter(|x| x % SLOT_WIDTH == 0 && self.lanes.is_unused(channel, *x))
            .collect();
        free_positions.sort_by_key(|x| (x - preferred_x).abs());
        let x = free_positions
            .iter()
            .find(|x| {
                taken_positions
                    .iter()
                    .all(|taken_x| (**x - taken_x).abs() >= MIN_LABEL_SPACE)
            })
            .or_else(|| free_positions.first())
            .or_else(|| taken_positions.first())
            .copied()
            .unwrap_or(preferred_x);
        self.lanes.occupy(channel, x, owner);
        self.exit_positions.entry(side).or_default().push(x);
        self.start_positions.insert(key, x);
    }

    fn route_through_channels(&mut self, arrow: &'c Arrow) -> Route {
        let (start_side, end_side) = self.link_sides(arrow);
        let start = self
            .start_positions
            .get(&self.start_key(arrow))
            .copied()
            .unwrap_or_else(|| self.center_x(arrow.from_box));
        let end = self
            .end_positions
            .get(&(arrow.to_box, end_side))
            .copied()
            .unwrap_or_else(|| self.center_x(arrow.to_box));
        let (mut channel, last_channel) = (
            self.channel_beside(arrow.from_box, start_side),
            self.channel_beside(arrow.to_box, end_side),
        );
        let (mut x, mut hops) = (start, Vec::new());
        while channel != last_channel {
            let (crossing_x, next_channel) = self.cross_rows(arrow.to_box, x, end, channel, last_channel);
            hops.push(Hop {
                channel,
                from_x: x,
                to_x: crossing_x,
            });
            // Straight through all channels between the rows that the line crosses at once.
            let skipped_channels = if channel < next_channel {
                channel + 1..next_channel
            } else {
                next_channel + 1..channel
            };
            let skipped_hops = skipped_channels.map(|channel| Hop {
                channel,
                from_x: crossing_x,
                to_x: crossing_x,
            });
            if channel < next_channel {
                hops.extend(skipped_hops);
            } else {
                hops.extend(skipped_hops.rev());
            }
            (x, channel) = (crossing_x, next_channel);
        }
        hops.push(Hop {
            channel,
            from_x: x,
            to_x: end,
        });
        Route::Channels {
            side: start_side,
            hops,
        }
    }

    /// Returns the best place to cross the next rows, and the channel that the link reaches.
    fn cross_rows(
        &mut self,
        target: usize,
        x: i32,
        end_x: i32,
        channel: usize,
        last_channel: usize,
    ) -> (i32, usize) {
        let owner = LineOwner::Target(target);
        let row = row_towards(channel, last_channel);
        let mut candidates = self.lanes.list_crossings(row, x, owner);
        candidates.extend(self.lanes.list_crossings(row, end_x, owner));
        candidates.extend(self.row_crossings.get(&(target, row)).into_iter().flatten());
        let crossing_x = candidates
            .into_iter()
            .min_by_key(|candidate| {
                let reached_channel = self.follow_line(*candidate, owner, channel, last_channel);
                let remaining_rows =
                    i32::try_from(reached_channel.abs_diff(last_channel)).unwrap_or(i32::MAX / ROW_COST / 4);
                let length = (candidate - x).abs() + (candidate - end_x).abs();
                (length + remaining_rows.saturating_mul(ROW_COST), *candidate)
            })
            .unwrap_or(x);
        let next_channel = match self.follow_line(crossing_x, owner, channel, last_channel) {
            reached_channel if reached_channel != channel => reached_channel,
            _ if channel < last_channel => channel + 1,
            _ => channel - 1,
        };
        let gap = self
            .lanes
            .gap_at(row, if channel < last_channel { x } else { end_x });
        self.gap_targets.entry((row, gap)).or_default().insert(target);
        for row in channel.min(next_channel)..channel.max(next_channel) {
            self.lanes.occupy(row, crossing_x, owner);
            self.lanes.occupy(row + 1, crossing_x, owner);
            let known_crossings = self.row_crossings.entry((target, row)).or_default();
            if !known_crossings.contains(&crossing_x) {
                known_crossings.push(crossing_x);
            }
        }
        (crossing_x, next_channel)
    }

    /// Returns the farthest channel towards `last_channel` that a vertical line reaches.
    fn follow_line(&self, x: i32, owner: LineOwner, channel: usize, last_channel: usize) -> usize {
        let mut reached_channel = channel;
        while reached_channel != last_channel
            && self
                .lanes
                .can_cross_row(row_towards(reached_channel, last_channel), x, owner)
        {
            reached_channel = if reached_channel < last_channel {
                reached_channel + 1
            } else {
                reached_channel - 1
            };
        }
        reached_channel
    }
}

/// Returns the row between a channel and the next one towards `last_channel`.
const fn row_towards(channel: usize, last_channel: usize) -> usize {
    if channel < last_channel {
        channel
    } else {
        channel - 1
    }
}
