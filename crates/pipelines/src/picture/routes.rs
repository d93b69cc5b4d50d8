//! Computes the route of each link: straight to a neighbor, otherwise along channels and through gaps.

use super::canvas::{Arrow, Canvas, Mark};
use super::grid::Grid;
use super::lanes::{CLEAR, Gap, Lanes, Owner, SLOT, WIDTH, nearest};
use std::collections::{BTreeSet, HashMap};

/// Offsets from the middle for horizontal links between the same two neighbors.
const BESIDE_EACH_OTHER: [i32; 3] = [0, -14, 14];

/// The cost of each row that is still to be crossed, in addition to the length of the route.
const OF_A_ROW: i32 = 80;

/// Space for the kind of a link beside its start.
const LABEL: i32 = 72;

/// The upper or lower side of a box.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum BoxSide {
    Top,
    Bottom,
}

/// A part of a link within one channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hop {
    pub channel: usize,
    pub from: i32,
    pub to: i32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Route {
    /// A horizontal line from border to border of two neighbors, at this distance below the middle.
    Level(i32),
    /// From a side of one box through channels to a side of the other.
    Channels { side: BoxSide, hops: Vec<Hop> },
}

/// The targets of the lines that each gap of each row must have space for.
pub(super) type GapWishes = HashMap<(usize, Gap), BTreeSet<usize>>;

/// The properties that links leaving a box on the same line share.
type StartKey<'c> = (usize, BoxSide, &'c str, Mark);

pub(super) struct Router<'c> {
    canvas: &'c Canvas,
    grid: &'c Grid,
    left: &'c [i32],
    lanes: Lanes,
    starts: HashMap<StartKey<'c>, i32>,
    /// The only target of links with a shared start; `None` if there are several.
    targets: HashMap<StartKey<'c>, Option<usize>>,
    /// The places where links leave a side of a box.
    left_at: HashMap<(usize, BoxSide), Vec<i32>>,
    ends: HashMap<(usize, BoxSide), i32>,
    /// The places where lines to a box already cross a row.
    crossed: HashMap<(usize, usize), Vec<i32>>,
    /// The targets for which lines preferably cross a gap.
    pub(super) wishes: GapWishes,
}

impl<'c> Router<'c> {
    pub(super) fn new(canvas: &'c Canvas, grid: &'c Grid, left: &'c [i32]) -> Self {
        let rows = grid
            .rows
            .iter()
            .map(|row| row.iter().map(|at| left[*at]).collect());
        Self {
            canvas,
            grid,
            left,
            lanes: Lanes::new(rows.collect()),
            starts: HashMap::new(),
            targets: HashMap::new(),
            left_at: HashMap::new(),
            ends: HashMap::new(),
            crossed: HashMap::new(),
            wishes: HashMap::new(),
        }
    }

    /// Returns the routes of all links, in the same order.
    pub(super) fn routes(&mut self) -> Vec<Route> {
        let canvas = self.canvas;
        let mut routes: Vec<Option<Route>> = vec![None; canvas.arrows.len()];
        let mut level: HashMap<(usize, usize), usize> = HashMap::new();
        for (at, arrow) in canvas.arrows.iter().enumerate() {
            if self.are_neighbours(arrow) {
                let pair = (arrow.from.min(arrow.to), arrow.from.max(arrow.to));
                let number = level.entry(pair).or_default();
                routes[at] = BESIDE_EACH_OTHER.get(*number).map(|below| Route::Level(*below));
                *number += 1;
            }
        }
        for (at, arrow) in canvas.arrows.iter().enumerate() {
            if routes[at].is_none() {
                routes[at] = self.straight(arrow);
            }
        }
        let others: Vec<usize> = (0..routes.len()).filter(|at| routes[*at].is_none()).collect();
        for at in &others {
            self.end(&canvas.arrows[*at]);
        }
        for at in &others {
            let arrow = &canvas.arrows[*at];
            let targets = self
                .targets
                .entry(self.start_key(arrow))
                .or_insert(Some(arrow.to));
            *targets = targets.filter(|target| *target == arrow.to);
        }
        for at in &others {
            self.start(&canvas.arrows[*at]);
        }
        for at in others {
            routes[at] = Some(self.route(&canvas.arrows[at]));
        }
        routes.into_iter().flatten().collect()
    }

    fn are_neighbours(&self, arrow: &Arrow) -> bool {
        let place = |at: usize| {
            let row = self.grid.row[at];
            (
                row,
                self.grid.rows[row].partition_point(|other| self.left[*other] < self.left[at]),
            )
        };
        let (from, to) = (place(arrow.from), place(arrow.to));
        from.0 == to.0 && from.1.abs_diff(to.1) == 1
    }

    /// Returns the sides at which the link leaves and arrives.
    fn sides(&self, arrow: &Arrow) -> (BoxSide, BoxSide) {
        let (from, to) = (self.grid.row[arrow.from], self.grid.row[arrow.to]);
        match from.cmp(&to) {
            std::cmp::Ordering::Less => (BoxSide::Bottom, BoxSide::Top),
            std::cmp::Ordering::Greater => (BoxSide::Top, BoxSide::Bottom),
            std::cmp::Ordering::Equal if self.left[arrow.from] < self.left[arrow.to] => {
                (BoxSide::Top, BoxSide::Top)
            }
            std::cmp::Ordering::Equal => (BoxSide::Bottom, BoxSide::Bottom),
        }
    }

    fn channel(&self, at: usize, side: BoxSide) -> usize {
        match side {
            BoxSide::Top => self.grid.row[at],
            BoxSide::Bottom => self.grid.row[at] + 1,
        }
    }

    /// Returns the range in which lines may meet the box from above or below.
    fn bounds(&self, at: usize) -> (i32, i32) {
        (self.left[at] + CLEAR, self.left[at] + WIDTH - CLEAR)
    }

    fn middle(&self, at: usize) -> i32 {
        self.left[at] + WIDTH / 2
    }

    /// Routes a link between two boxes above each other, if there is nothing between them and no other link arrives at
    /// that side of the target.
    fn straight(&mut self, arrow: &Arrow) -> Option<Route> {
        let (side, other) = self.sides(arrow);
        let end = (arrow.to, other);
        if side == other || self.ends.contains_key(&end) {
            return None;
        }
        let (one, two) = (self.bounds(arrow.from), self.bounds(arrow.to));
        let both = (one.0.max(two.0), one.1.min(two.1));
        let (first, last) = (self.channel(arrow.from, side), self.channel(arrow.to, other));
        let channels = first.min(last)..=first.max(last);
        let rows = first.min(last)..first.max(last);
        let owner = Owner::To(arrow.to);
        let wish = i32::midpoint(self.middle(arrow.from), self.middle(arrow.to));
        let is_clear = |x: &i32| {
            let mut channels = channels.clone();
            let mut rows = rows.clone();
            channels.all(|channel| self.lanes.is_unused(channel, *x))
                && rows.all(|row| self.lanes.passes(row, *x, owner))
        };
        let x = nearest(both, wish, both.1 - both.0).find(is_clear)?;
        for channel in channels.clone() {
            self.lanes.take(channel, x, owner);
        }
        self.ends.insert(end, x);
        self.left_at.entry((arrow.from, side)).or_default().push(x);
        let mut hops: Vec<Hop> = channels
            .map(|channel| Hop {
                channel,
                from: x,
                to: x,
            })
            .collect();
        if first > last {
            hops.reverse();
        }
        Some(Route::Channels { side, hops })
    }

    /// Sets the place where all links to a side of a box arrive.
    fn end(&mut self, arrow: &Arrow) {
        let (_, side) = self.sides(arrow);
        if self.ends.contains_key(&(arrow.to, side)) {
            return;
        }
        let bounds = self.bounds(arrow.to);
        let (channel, owner) = (self.channel(arrow.to, side), Owner::To(arrow.to));
        let wish = self
            .middle(arrow.from)
            .clamp(bounds.0 + 3 * SLOT, bounds.1 - 3 * SLOT);
        let wish = if arrow.from == arrow.to {
            self.middle(arrow.to) - 4 * SLOT
        } else {
            wish
        };
        let x = self.lanes.place(channel, bounds, wish, owner).unwrap_or(wish);
        self.lanes.take(channel, x, owner);
        self.ends.insert((arrow.to, side), x);
    }

    fn start_key(&self, arrow: &'c Arrow) -> StartKey<'c> {
        (arrow.from, self.sides(arrow).0, arrow.kind.as_str(), arrow.mark)
    }

    /// Sets the place where links of one kind leave a side of a box.
    fn start(&mut self, arrow: &'c Arrow) {
        let key = self.start_key(arrow);
        if self.starts.contains_key(&key) {
            return;
        }
        let bounds = self.bounds(arrow.from);
        let channel = self.channel(arrow.from, key.1);
        let owner = match self.targets.get(&key) {
            Some(Some(target)) => Owner::To(*target),
            _ => Owner::From(arrow.from),
        };
        let wish = self
            .middle(arrow.to)
            .clamp(bounds.0 + 3 * SLOT, bounds.1 - 3 * SLOT);
        let side = (key.0, key.1);
        let taken = self.left_at.get(&side).map_or(&[][..], Vec::as_slice);
        let is_apart = |x: &&i32| taken.iter().all(|other| (**x - other).abs() >= LABEL);
        let free = |x: &i32| self.lanes.is_unused(channel, *x);
        let places: Vec<i32> = (bounds.0..=bounds.1)
            .filter(|x| x % SLOT == 0)
            .filter(free)
            .collect();
        let by_wish = |x: &&i32| (**x - wish).abs();
        let found = places.iter().filter(is_apart).min_by_key(by_wish);
        let found = found.or_else(|| places.iter().min_by_key(by_wish));
        let x = found.or_else(|| taken.first()).copied().unwrap_or(wish);
        self.lanes.take(channel, x, owner);
        self.left_at.entry(side).or_default().push(x);
        self.starts.insert(key, x);
    }

    fn route(&mut self, arrow: &'c Arrow) -> Route {
        let (side, other) = self.sides(arrow);
        let start = self
            .starts
            .get(&self.start_key(arrow))
            .copied()
            .unwrap_or_else(|| self.middle(arrow.from));
        let end = self
            .ends
            .get(&(arrow.to, other))
            .copied()
            .unwrap_or_else(|| self.middle(arrow.to));
        let (mut channel, last) = (self.channel(arrow.from, side), self.channel(arrow.to, other));
        let (mut x, mut hops) = (start, Vec::new());
        while channel != last {
            let (place, next) = self.cross(arrow.to, (x, end), channel, last);
            hops.push(Hop {
                channel,
                from: x,
                to: place,
            });
            // Straight through all channels between the rows that the line crosses at once.
            let between = if channel < next {
                channel + 1..next
            } else {
                next + 1..channel
            };
            let through = between.map(|channel| Hop {
                channel,
                from: place,
                to: place,
            });
            if channel < next {
                hops.extend(through);
            } else {
                hops.extend(through.rev());
            }
            (x, channel) = (place, next);
        }
        hops.push(Hop {
            channel,
            from: x,
            to: end,
        });
        Route::Channels { side, hops }
    }

    /// Returns the best place to cross the next rows, and the channel that the link reaches.
    fn cross(&mut self, target: usize, (x, end): (i32, i32), channel: usize, last: usize) -> (i32, usize) {
        let owner = Owner::To(target);
        let row_after = |channel: usize| if channel < last { channel } else { channel - 1 };
        let row = row_after(channel);
        let reach = |place: i32| {
            let mut at = channel;
            while at != last && self.lanes.passes(row_after(at), place, owner) {
                at = if at < last { at + 1 } else { at - 1 };
            }
            at
        };
        let mut places = self.lanes.crossings(row, x, owner);
        places.extend(self.lanes.crossings(row, end, owner));
        places.extend(self.crossed.get(&(target, row)).into_iter().flatten());
        let cost = |place: i32| {
            let left = i32::try_from(reach(place).abs_diff(last)).unwrap_or(i32::MAX / OF_A_ROW / 4);
            (place - x).abs() + (place - end).abs() + left.saturating_mul(OF_A_ROW)
        };
        let best = places.into_iter().min_by_key(|place| (cost(*place), *place));
        let place = best.unwrap_or(x);
        let next = match reach(place) {
            same if same == channel && channel < last => channel + 1,
            same if same == channel => channel - 1,
            next => next,
        };
        self.wishes
            .entry((row, self.lanes.gap_at(row, if channel < last { x } else { end })))
            .or_default()
            .insert(target);
        let rows = if channel < next {
            channel..next
        } else {
            next..channel
        };
        for row in rows {
            self.lanes.take(row, place, owner);
            self.lanes.take(row + 1, place, owner);
            let known = self.crossed.entry((target, row)).or_default();
            if !known.contains(&place) {
                known.push(place);
            }
        }
        (place, next)
    }
}
