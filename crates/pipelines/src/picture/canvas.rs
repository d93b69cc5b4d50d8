//! The content of a picture: the components of a pipeline with their positions, the changes, and the findings.

use crate::diff::{ComponentChange, LinkChange, LinkDiff, PipelineDiff, SideTrees};
use crate::pipelines::{Condition, Link, LinkRole, Pipeline};
use crate::yaml::{DocumentError, NodeRef, Tree};
use std::collections::{BTreeMap, HashMap, HashSet};

/// The change of an item in the picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mark {
    Same,
    Added,
    Removed,
    /// The item was changed.
    Changed,
}

impl Mark {
    /// Returns the sign with the same meaning as the color.
    pub(crate) const fn sign(self) -> &'static str {
        match self {
            Self::Same => "",
            Self::Added => "+",
            Self::Removed => "\u{2212}",
            Self::Changed => "~",
        }
    }

    /// Returns the word with the same meaning as the color.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Changed => "changed",
        }
    }
}

/// A position on the platform's canvas, in its units; y grows downward.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Point {
    pub x: f64,
    pub y: f64,
}

/// Coordinates beyond this value are ignored, because nobody can see them.
const FARTHEST: f64 = 1.0e6;

impl Point {
    fn is_finite(self) -> bool {
        self.x.abs() <= FARTHEST && self.y.abs() <= FARTHEST
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Badge {
    pub count: usize,
    /// The id of the page element with the findings.
    pub leads_to: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Box {
    pub name: String,
    pub previous_name: Option<String>,
    pub kind: Option<String>,
    /// The position on the platform's canvas; `None` if the pipeline does not contain one.
    pub place: Option<Point>,
    pub mark: Mark,
    pub badge: Option<Badge>,
}

/// A link on the canvas; its ends are indices in the list of boxes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrow {
    pub from: usize,
    pub to: usize,
    /// The key of the transition, `iteration`, or `source`.
    pub kind: String,
    pub mark: Mark,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Canvas {
    /// The components, in file order, followed by the removed ones.
    pub boxes: Vec<Box>,
    pub arrows: Vec<Arrow>,
    /// The number of components that are omitted from a canvas that is too large to draw.
    pub left_out: usize,
}

struct CanvasSide {
    pipeline: Pipeline,
    places: HashMap<String, Point>,
}

impl Canvas {
    /// Draws a pipeline without changes.
    pub fn of(bytes: &[u8]) -> Result<Self, DocumentError> {
        Ok(Self::drawn(
            Some(&CanvasSide::of(&Tree::read(bytes, None)?)?),
            None,
            None,
        ))
    }

    /// Draws a pipeline with its changes. A missing side adds nothing.
    pub fn of_change(trees: &SideTrees<'_>, diff: &PipelineDiff) -> Result<Self, DocumentError> {
        let before = trees.before.as_ref().map(CanvasSide::of).transpose()?;
        let after = trees.after.as_ref().map(CanvasSide::of).transpose()?;
        Ok(Self::drawn(after.as_ref(), before.as_ref(), Some(diff)))
    }

    /// Returns which boxes have links of several kinds.
    pub(super) fn several_kinds(&self) -> Vec<bool> {
        let mut kinds: Vec<Option<&str>> = vec![None; self.boxes.len()];
        let mut several = vec![false; self.boxes.len()];
        for arrow in &self.arrows {
            let known = kinds[arrow.from].get_or_insert(&arrow.kind);
            several[arrow.from] |= *known != arrow.kind;
        }
        several
    }

    pub fn badges(&mut self, badges: &BTreeMap<String, Badge>) {
        for drawn in &mut self.boxes {
            drawn.badge = badges.get(&drawn.name).cloned();
        }
    }

    fn drawn(after: Option<&CanvasSide>, before: Option<&CanvasSide>, diff: Option<&PipelineDiff>) -> Self {
        let mut canvas = Self::default();
        let place =
            |side: Option<&CanvasSide>, name: &str| side.and_then(|side| side.places.get(name).copied());
        for component in after.iter().flat_map(|side| &side.pipeline.components) {
            let at = place(after, &component.name);
            canvas
                .boxes
                .push(drawn(&component.name, component.kind.clone(), Mark::Same, at));
        }
        for component in diff.iter().flat_map(|diff| &diff.components) {
            if component.change == ComponentChange::Removed {
                let at = place(before, &component.name);
                canvas
                    .boxes
                    .push(drawn(&component.name, component.kind.clone(), Mark::Removed, at));
            }
        }
        canvas.mark(diff);
        canvas.connect(after, diff);
        canvas
    }

    fn mark(&mut self, diff: Option<&PipelineDiff>) {
        let changes: HashMap<&str, _> = diff
            .iter()
            .flat_map(|diff| &diff.components)
            .filter(|component| component.change != ComponentChange::Removed)
            .map(|component| (component.name.as_str(), component))
            .collect();
        for drawn in self.boxes.iter_mut().filter(|drawn| drawn.mark == Mark::Same) {
            let Some(component) = changes.get(drawn.name.as_str()) else {
                continue;
            };
            drawn.previous_name.clone_from(&component.previous_name);
            drawn.mark = match component.change {
                ComponentChange::Added => Mark::Added,
                _ => Mark::Changed,
            };
        }
    }

    /// Adds the links. Links to missing components are not drawn.
    fn connect(&mut self, after: Option<&CanvasSide>, diff: Option<&PipelineDiff>) {
        let boxes = self.boxes.iter().enumerate();
        let by_name: HashMap<&str, usize> = boxes.map(|(at, drawn)| (drawn.name.as_str(), at)).collect();
        let links: &[LinkDiff] = diff.map_or(&[], |diff| &diff.links);
        let mut added: HashMap<(&str, &str, &str), usize> = HashMap::new();
        for link in links.iter().filter(|link| link.change == LinkChange::Added) {
            *added.entry((&link.from, &link.to, &link.kind)).or_default() += 1;
        }
        let mut arrows = Vec::new();
        for component in after.iter().flat_map(|side| &side.pipeline.components) {
            for link in &component.links {
                let (from, to, kind) = ends(&component.name, link);
                let (Some(start), Some(end)) = (by_name.get(from), by_name.get(to)) else {
                    continue;
                };
                let left = added.get_mut(&(from, to, kind)).filter(|left| **left > 0);
                let mark = left.map_or(Mark::Same, |left| {
                    *left -= 1;
                    Mark::Added
                });
                arrows.push(arrow(*start, *end, kind, mark));
            }
        }
        for link in links.iter().filter(|link| link.change == LinkChange::Removed) {
            if let (Some(from), Some(to)) = (by_name.get(link.from.as_str()), by_name.get(link.to.as_str())) {
                arrows.push(arrow(*from, *to, &link.kind, Mark::Removed));
            }
        }
        self.arrows = arrows;
    }

    /// Returns the part to look at first: changed components and those with findings, the ends of changed links, and
    /// the neighbors of changed components; at most `most` boxes, in this order. Also returns the number of omitted
    /// boxes.
    pub fn changed_part(&self, most: usize) -> (Self, usize) {
        let is_marked = |at: usize| {
            let drawn = self.boxes.get(at);
            drawn.is_some_and(|drawn| drawn.mark != Mark::Same || drawn.badge.is_some())
        };
        let mut kept: Vec<usize> = (0..self.boxes.len()).filter(|at| is_marked(*at)).collect();
        let mut known: HashSet<usize> = kept.iter().copied().collect();
        let changed = self.arrows.iter().filter(|arrow| arrow.mark != Mark::Same);
        let beside = self
            .arrows
            .iter()
            .filter(|arrow| is_marked(arrow.from) || is_marked(arrow.to));
        for end in changed.chain(beside).flat_map(|arrow| [arrow.from, arrow.to]) {
            if known.insert(end) {
                kept.push(end);
            }
        }
        let left_out = kept.len().saturating_sub(most);
        kept.truncate(most);
        kept.sort_unstable();
        (self.only(&kept), left_out)
    }

    fn only(&self, kept: &[usize]) -> Self {
        let new: HashMap<usize, usize> = kept.iter().enumerate().map(|(new, old)| (*old, new)).collect();
        let boxes = kept
            .iter()
            .filter_map(|at| self.boxes.get(*at).cloned())
            .collect();
        let arrows = self.arrows.iter().filter_map(|old| {
            Some(Arrow {
                from: *new.get(&old.from)?,
                to: *new.get(&old.to)?,
                ..old.clone()
            })
        });
        Self {
            left_out: 0,
            boxes,
            arrows: arrows.collect(),
        }
    }
}

fn drawn(name: &str, kind: Option<String>, mark: Mark, place: Option<Point>) -> Box {
    Box {
        name: name.to_owned(),
        previous_name: None,
        kind,
        place,
        mark,
        badge: None,
    }
}

fn arrow(from: usize, to: usize, kind: &str, mark: Mark) -> Arrow {
    Arrow {
        from,
        to,
        kind: kind.to_owned(),
        mark,
    }
}

/// Returns the start, the end and the kind of a link, with the names of [`LinkDiff`].
fn ends<'l>(component: &'l str, link: &'l Link) -> (&'l str, &'l str, &'l str) {
    match link.role {
        LinkRole::Source => (&link.name, component, "source"),
        LinkRole::IterationTarget => (component, &link.name, "iteration"),
        LinkRole::Transition => (component, &link.name, link.condition.map_or("", Condition::key)),
    }
}

impl CanvasSide {
    fn of(tree: &Tree<'_>) -> Result<Self, DocumentError> {
        Ok(Self {
            pipeline: Pipeline::of(tree)?,
            places: places(tree.root()),
        })
    }
}

/// Reads `design.components.NAME.position`, as far as it is present.
fn places(root: NodeRef<'_, '_>) -> HashMap<String, Point> {
    let design = root.get("design").and_then(|design| design.get("components"));
    let entries = design.into_iter().flat_map(NodeRef::entries);
    let place = |(name, _, node): (&str, _, NodeRef<'_, '_>)| {
        let position = node.get("position")?;
        let number = |key| position.get(key).and_then(NodeRef::text)?.parse::<f64>().ok();
        let at = Point {
            x: number("x")?,
            y: number("y")?,
        };
        Some((name.to_owned(), at)).filter(|_| at.is_finite())
    };
    entries.filter_map(place).collect()
}
