//! The heights in a picture: the channels with their horizontal lines, and the rows between the channels.

use super::grid::Grid;
use super::label::BoxText;
use super::ports::{Port, Ports};
use super::router::Hop;
use super::slots::SLOT_WIDTH;
use std::collections::{BTreeMap, HashSet};

/// Distance between two horizontal lines of a channel.
const TRACK_SPACING: i32 = 8;

/// Distance from a box to the next horizontal line; a label fits between them.
pub(super) const EDGE_DISTANCE: i32 = 20;

/// The height of a channel without horizontal lines.
const EMPTY_CHANNEL_HEIGHT: i32 = 30;

/// Minimum distance between two horizontal lines at the same height.
const MIN_TRACK_GAP: i32 = 2 * SLOT_WIDTH;

/// The height of a box without its text, the minimum height of a box, and the height of a line of text.
const BOX_PADDING: i32 = 16;
const MIN_BOX_HEIGHT: i32 = 40;
pub(super) const LINE_HEIGHT: i32 = 15;

/// Minimum distance between a port and the corner of its box.
const PORT_MARGIN: i32 = 6;

/// The parts of each link, and the port that all links on its horizontal lines share.
pub(super) struct Routes {
    pub hops: Vec<Vec<Hop>>,
    pub owners: Vec<Port>,
    /// The ports at the upper or lower edge with space for their label.
    pub labeled_exits: HashSet<Port>,
}

/// The horizontal lines of each channel: the number of the line from the top, by the port that its links share.
pub(super) struct Tracks {
    by_owner: Vec<BTreeMap<Port, usize>>,
    counts: Vec<usize>,
}

/// Assigns a track (a height) to each horizontal line in a channel, the space between two rows. All lines of links with
/// the same owner, a port that they share, are in one track. Lines of different owners share a track only if they are
/// far enough apart.
pub(super) fn assign_tracks(grid: &Grid, routes: &Routes) -> Tracks {
    // The leftmost and the rightmost point of each owner's lines, by channel.
    let mut spans: Vec<BTreeMap<Port, (i32, i32)>> = vec![BTreeMap::new(); grid.rows.len() + 1];
    for (owner, hops) in routes.owners.iter().zip(&routes.hops) {
        for hop in hops.iter().filter(|hop| hop.from_x != hop.to_x) {
            let (low, high) = (hop.from_x.min(hop.to_x), hop.from_x.max(hop.to_x));
            let span = spans[hop.channel].entry(*owner).or_insert((low, high));
            let (span_low, span_high) = *span;
            *span = (span_low.min(low), span_high.max(high));
        }
    }
    let mut tracks = Tracks {
        by_owner: Vec::with_capacity(spans.len()),
        counts: Vec::with_capacity(spans.len()),
    };
    for channel_spans in spans {
        let mut spans_from_left: Vec<(Port, (i32, i32))> = channel_spans.into_iter().collect();
        spans_from_left.sort_by_key(|(port, span)| (*span, *port));
        // The right end of the last line in each track.
        let mut track_ends: Vec<i32> = Vec::new();
        let mut channel_tracks = BTreeMap::new();
        for (port, (low, high)) in spans_from_left {
            // The first track whose last line ends far enough to the left.
            let free_track = track_ends.iter().position(|end| end + MIN_TRACK_GAP <= low);
            let track = free_track.unwrap_or(track_ends.len());
            track_ends.resize(track_ends.len().max(track + 1), high);
            track_ends[track] = high;
            channel_tracks.insert(port, track);
        }
        tracks.counts.push(track_ends.len());
        tracks.by_owner.push(channel_tracks);
    }
    tracks
}

/// The heights of rows and channels.
pub(super) struct RowHeights {
    channel_tops: Vec<i32>,
    pub row_tops: Vec<i32>,
    pub box_heights: Vec<i32>,
    pub total_height: i32,
}

impl RowHeights {
    /// Computes the heights from top to bottom: a channel has space for its horizontal lines, a row for its tallest
    /// text and for its ports. Channel `n` is above row `n`, and the last channel is below all rows. A channel without
    /// lines keeps two rows apart; above or below all rows, its height is 0.
    pub(super) fn new(grid: &Grid, ports: &Ports, texts: &[BoxText], tracks: &Tracks) -> Self {
        let mut heights = Self {
            channel_tops: Vec::with_capacity(tracks.counts.len()),
            row_tops: Vec::with_capacity(grid.rows.len()),
            box_heights: Vec::with_capacity(grid.rows.len()),
            total_height: 0,
        };
        for (channel, track_count) in tracks.counts.iter().enumerate() {
            heights.channel_tops.push(heights.total_height);
            let is_outer = channel == 0 || channel == grid.rows.len();
            heights.total_height += match (track_count, is_outer) {
                (0, true) => 0,
                (0, false) => EMPTY_CHANNEL_HEIGHT,
                (count, _) => 2 * EDGE_DISTANCE + track_offset(*count - 1),
            };
            let Some(boxes) = grid.rows.get(channel) else {
                continue;
            };
            let line_count = boxes.iter().map(|index| texts[*index].line_count()).max();
            let text_height = limit_count(line_count.unwrap_or(1)) * LINE_HEIGHT + BOX_PADDING;
            let port_height = 2 * (ports.row_offsets[channel] + PORT_MARGIN);
            heights.row_tops.push(heights.total_height);
            heights
                .box_heights
                .push(text_height.max(port_height).max(MIN_BOX_HEIGHT));
            heights.total_height += heights.box_heights[channel];
        }
        heights
    }

    /// Returns the y coordinate of the horizontal line that the links of `owner` share in a channel.
    pub(super) fn track_y(&self, tracks: &Tracks, channel: usize, owner: Port) -> i32 {
        // Every owner with a line in the channel has a track there, so the default is never used.
        let track = tracks.by_owner[channel].get(&owner).copied();
        self.channel_tops[channel] + EDGE_DISTANCE + track_offset(track.unwrap_or(0))
    }
}

/// Maximum count of lines in one channel: far more than any picture has.
const MAX_COUNT: i32 = i32::MAX / 100;

/// Converts a count to a number for calculations with pixels. The number is limited, so that its product with a
/// distance does not overflow.
fn limit_count(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX).min(MAX_COUNT)
}

/// Returns the distance in pixels between the first track of a channel and this one.
fn track_offset(track: usize) -> i32 {
    limit_count(track).saturating_mul(TRACK_SPACING)
}
