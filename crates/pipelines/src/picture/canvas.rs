//! The content of a picture: the components of a pipeline with their positions, the changes, and the findings.

use super::canvas_point::{Point, collect_positions};
use crate::diff::{ComponentChange, LinkChange, LinkDiff, PipelineDiff, VersionTrees};
use crate::pipelines::{Link, LinkRole, Pipeline, TransitionCondition};
use sluicegate_yaml::{DocumentError, Tree};
use std::collections::{BTreeMap, HashMap};

/// The change to an item in the picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ChangeMark {
    Unchanged,
    Added,
    Removed,
    /// The item was changed.
    Changed,
}

impl ChangeMark {
    /// Returns the sign that shows the change to people who cannot see its color; empty for an unchanged item.
    pub(crate) const fn sign(self) -> &'static str {
        match self {
            Self::Unchanged => "",
            Self::Added => "+",
            Self::Removed => "\u{2212}",
            Self::Changed => "~",
        }
    }

    /// Returns the word for the change that tooltips, legends, and the classes and attributes of the markup use.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Unchanged => "same",
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Changed => "changed",
        }
    }
}

/// The note of a component that does not exist, although a link names it.
pub(super) const MISSING_NOTE: &str = "does not exist";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Badge {
    pub count: usize,
    /// The id of the element with the findings on the page.
    pub target_id: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct CanvasBox {
    pub name: String,
    pub previous_name: Option<String>,
    pub kind: Option<String>,
    /// The position on the platform's canvas; `None` if the pipeline does not contain one.
    pub position: Option<Point>,
    /// The position in the base; `None` if the base does not contain the component or its position.
    pub base_position: Option<Point>,
    pub mark: ChangeMark,
    /// Whether the pipeline has no such component, although a link names it.
    pub is_missing: bool,
    /// A short description of the change, if the change is small; for a missing component, a note that it is missing.
    pub note: Option<String>,
    pub badge: Option<Badge>,
}

/// A link on the canvas; its ends are indices in the list of boxes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrow {
    pub from_box: usize,
    pub to_box: usize,
    /// The key of the transition, `iteration`, or `source`.
    pub kind: String,
    pub mark: ChangeMark,
}

/// The links between a box and components that are not on the canvas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stub {
    pub canvas_box: usize,
    pub is_outgoing: bool,
    /// The number of components that are not shown and that the links lead to, directly or through others.
    pub count: usize,
}

/// The versions in which the pipeline exists: both, or only the one before or after the change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PipelineState {
    #[default]
    Existing,
    New,
    Removed,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Canvas {
    /// The components, in file order, followed by the removed ones and those that only links name.
    pub boxes: Vec<CanvasBox>,
    pub arrows: Vec<Arrow>,
    pub stubs: Vec<Stub>,
    pub state: PipelineState,
    /// The number of components that are omitted from a canvas that is too large to draw.
    pub omitted_count: usize,
}

struct PositionedPipeline {
    pipeline: Pipeline,
    positions: HashMap<String, Point>,
}

impl Canvas {
    /// Builds the canvas of a single version of a pipeline, so nothing is marked as changed.
    pub fn from_pipeline(bytes: &[u8]) -> Result<Self, DocumentError> {
        let head = PositionedPipeline::from_tree(&Tree::parse(bytes)?)?;
        let (base, diff) = (None, None);
        Ok(Self::build(Some(&head), base, diff))
    }

    /// Builds the canvas of two versions of a pipeline and marks the changes. The base is missing if the pipeline is
    /// new, and the head is missing if the pipeline was removed.
    pub fn from_diff(trees: &VersionTrees<'_>, diff: &PipelineDiff) -> Result<Self, DocumentError> {
        let [base, head] = [&trees.base, &trees.head]
            .map(|tree| tree.as_ref().map(PositionedPipeline::from_tree).transpose());
        let (base, head) = (base?, head?);
        Ok(Self::build(head.as_ref(), base.as_ref(), Some(diff)))
    }

    /// Returns a flag for each box: true if links of several kinds begin at it, so that their labels must name the
    /// kind.
    pub(super) fn flag_boxes_with_several_link_kinds(&self) -> Vec<bool> {
        let mut kinds: Vec<Option<&str>> = vec![None; self.boxes.len()];
        let mut has_several = vec![false; self.boxes.len()];
        for arrow in &self.arrows {
            let first_kind = kinds[arrow.from_box].get_or_insert(&arrow.kind);
            has_several[arrow.from_box] |= *first_kind != arrow.kind;
        }
        has_several
    }

    /// Returns the mark to draw for an item. In a new or removed pipeline all items have the same mark, so none of them
    /// is highlighted.
    pub(super) const fn shown_mark(&self, mark: ChangeMark) -> ChangeMark {
        match self.state {
            PipelineState::Existing => mark,
            PipelineState::New | PipelineState::Removed => ChangeMark::Unchanged,
        }
    }

    /// Sets the badges of the components by name. A component that `badges` does not contain loses its badge.
    pub fn set_badges(&mut self, badges: &BTreeMap<String, Badge>) {
        for canvas_box in &mut self.boxes {
            canvas_box.badge = badges.get(&canvas_box.name).cloned();
        }
    }

    /// Builds the canvas from the components of the head, followed by the removed components of the diff, and marks the
    /// changes. Without a diff, nothing is marked.
    fn build(
        head: Option<&PositionedPipeline>,
        base: Option<&PositionedPipeline>,
        diff: Option<&PipelineDiff>,
    ) -> Self {
        let mut canvas = Self::default();
        if let Some(head) = head {
            for component in &head.pipeline.components {
                // `mark_changed_boxes` sets the mark later.
                canvas.boxes.push(new_box(
                    &component.name,
                    component.kind.clone(),
                    ChangeMark::Unchanged,
                    head.positions.get(component.name.as_str()).copied(),
                ));
            }
        }
        for component in diff.iter().flat_map(|diff| &diff.components) {
            if component.change == ComponentChange::Removed {
                // Only the base contains a removed component and its position.
                let position = base.and_then(|base| base.positions.get(component.name.as_str()).copied());
                canvas.boxes.push(new_box(
                    &component.name,
                    component.kind.clone(),
                    ChangeMark::Removed,
                    position,
                ));
            }
        }
        canvas.state = match diff {
            Some(diff) if diff.is_new_pipeline() => PipelineState::New,
            Some(diff) if diff.is_removed_pipeline() => PipelineState::Removed,
            _ => PipelineState::Existing,
        };
        canvas.mark_changed_boxes(diff);
        if let Some(base) = base {
            for canvas_box in &mut canvas.boxes {
                let base_name = canvas_box.previous_name.as_ref().unwrap_or(&canvas_box.name);
                canvas_box.base_position = base.positions.get(base_name).copied();
            }
        }
        canvas.add_arrows(head, diff);
        canvas
    }

    /// Marks the boxes of added and changed components, and adds the previous name and a note about a small change.
    /// Boxes of removed components are already marked.
    fn mark_changed_boxes(&mut self, diff: Option<&PipelineDiff>) {
        let components_by_name: HashMap<&str, _> = diff
            .iter()
            .flat_map(|diff| &diff.components)
            .filter(|component| component.change != ComponentChange::Removed)
            .map(|component| (component.name.as_str(), component))
            .collect();
        for canvas_box in self
            .boxes
            .iter_mut()
            .filter(|canvas_box| canvas_box.mark == ChangeMark::Unchanged)
        {
            let Some(component) = components_by_name.get(canvas_box.name.as_str()) else {
                continue;
            };
            canvas_box.previous_name.clone_from(&component.previous_name);
            if component.change == ComponentChange::Added {
                canvas_box.mark = ChangeMark::Added;
            } else {
                canvas_box.mark = ChangeMark::Changed;
                canvas_box.note = component.describe_briefly();
            }
        }
    }

    /// Adds an arrow for each link of the head, then one for each removed link of the diff. If the head repeats a link,
    /// only as many of its arrows are marked as added as the diff contains.
    fn add_arrows(&mut self, head: Option<&PositionedPipeline>, diff: Option<&PipelineDiff>) {
        let mut box_indices: HashMap<String, usize> = self
            .boxes
            .iter()
            .enumerate()
            .map(|(index, canvas_box)| (canvas_box.name.clone(), index))
            .collect();
        let changed_links: &[LinkDiff] = diff.map_or(&[], |diff| &diff.links);
        let mut unmarked_counts = count_added_links(changed_links);
        for component in head.iter().flat_map(|side| &side.pipeline.components) {
            for link in &component.links {
                let (from_name, to_name, kind) = link_ends_and_kind(&component.name, link);
                let mark = match unmarked_counts.get_mut(&(from_name, to_name, kind)) {
                    Some(unmarked_count) if *unmarked_count > 0 => {
                        *unmarked_count -= 1;
                        ChangeMark::Added
                    }
                    _ => ChangeMark::Unchanged,
                };
                let from_box = self.find_or_add_box(&mut box_indices, from_name);
                let to_box = self.find_or_add_box(&mut box_indices, to_name);
                self.arrows.push(new_arrow(from_box, to_box, kind, mark));
            }
        }
        for link in changed_links
            .iter()
            .filter(|link| link.change == LinkChange::Removed)
        {
            let from_box = self.find_or_add_box(&mut box_indices, &link.from);
            let to_box = self.find_or_add_box(&mut box_indices, &link.to);
            self.arrows
                .push(new_arrow(from_box, to_box, &link.kind, ChangeMark::Removed));
        }
    }

    /// Returns the index of the box with this name. If there is none, adds the box of a missing component, so that no
    /// other box looks like a start or an end.
    fn find_or_add_box(&mut self, box_indices: &mut HashMap<String, usize>, name: &str) -> usize {
        if let Some(index) = box_indices.get(name) {
            return *index;
        }
        let index = self.boxes.len();
        let (kind, position) = (None, None);
        self.boxes.push(CanvasBox {
            is_missing: true,
            note: Some(MISSING_NOTE.to_owned()),
            ..new_box(name, kind, ChangeMark::Unchanged, position)
        });
        box_indices.insert(name.to_owned(), index);
        index
    }

    /// Returns whether a component or a link changed.
    pub fn has_changes(&self) -> bool {
        let has_changed_box = self
            .boxes
            .iter()
            .any(|canvas_box| canvas_box.mark != ChangeMark::Unchanged);
        has_changed_box
            || self
                .arrows
                .iter()
                .any(|arrow| arrow.mark != ChangeMark::Unchanged)
    }
}

/// Returns the number of added links by their start, end and kind.
fn count_added_links(changed_links: &[LinkDiff]) -> HashMap<(&str, &str, &str), usize> {
    let mut counts: HashMap<(&str, &str, &str), usize> = HashMap::new();
    for link in changed_links {
        if link.change == LinkChange::Added {
            let ends_and_kind = (link.from.as_str(), link.to.as_str(), link.kind.as_str());
            *counts.entry(ends_and_kind).or_default() += 1;
        }
    }
    counts
}

/// Creates the box of a component, without a note, a badge or a previous name.
fn new_box(name: &str, kind: Option<String>, mark: ChangeMark, position: Option<Point>) -> CanvasBox {
    CanvasBox {
        name: name.to_owned(),
        previous_name: None,
        kind,
        position,
        base_position: None,
        mark,
        is_missing: false,
        note: None,
        badge: None,
    }
}

/// Creates the arrow of a link between the boxes with these indices.
fn new_arrow(from_box: usize, to_box: usize, kind: &str, mark: ChangeMark) -> Arrow {
    Arrow {
        from_box,
        to_box,
        kind: kind.to_owned(),
        mark,
    }
}

/// Returns the start, the end and the kind of a link that `component` declares. The kind is written as in [`LinkDiff`],
/// with which it is compared. A source is declared by the component where the link ends.
fn link_ends_and_kind<'l>(component: &'l str, link: &'l Link) -> (&'l str, &'l str, &'l str) {
    match link.role {
        LinkRole::Source => (&link.name, component, "source"),
        LinkRole::IterationTarget => (component, &link.name, "iteration"),
        LinkRole::Transition => (
            component,
            &link.name,
            link.condition.map_or("", TransitionCondition::key),
        ),
    }
}

impl PositionedPipeline {
    /// Reads the pipeline and the positions of its components. The positions are below the key `design`, which other
    /// readers skip; without this key, all positions are missing.
    fn from_tree(tree: &Tree<'_>) -> Result<Self, DocumentError> {
        Ok(Self {
            pipeline: Pipeline::from_tree(tree)?,
            positions: collect_positions(tree.root()),
        })
    }
}
