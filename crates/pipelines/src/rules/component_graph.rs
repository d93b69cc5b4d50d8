//! The graph of the components of a pipeline.
//!
//! All functions are linear in the number of components and links, and none is recursive: chains of 20,000 components
//! exist.

use crate::pipelines::{Component, LinkRole, Pipeline};
use std::collections::HashMap;

/// The type of the first component of an orchestration.
pub(super) const START_TYPE: &str = "start";

/// The links between existing components. Links to missing components and links of a component to itself are ignored.
#[derive(Debug)]
pub(crate) struct ComponentGraph<'p> {
    components: &'p [Component],
    indices: HashMap<&'p str, usize>,
}

impl<'p> ComponentGraph<'p> {
    /// Creates the graph of the pipeline's components. Links name their targets, so components are indexed by name.
    pub(crate) fn new(pipeline: &'p Pipeline) -> Self {
        let components = pipeline.components.as_slice();
        Self {
            components,
            indices: components
                .iter()
                .enumerate()
                .map(|(index, component)| (component.name.as_str(), index))
                .collect(),
        }
    }

    /// Returns the role and the target of each link that the component at `source` declares. Skips links to missing
    /// components and links of the component to itself.
    pub(crate) fn links(&self, source: usize) -> impl Iterator<Item = (LinkRole, usize)> {
        let links = self
            .components
            .get(source)
            .map_or(&[][..], |component| &component.links);
        links
            .iter()
            .filter_map(|link| Some((link.role, *self.indices.get(link.name.as_str())?)))
            .filter(move |(_, target)| *target != source)
    }

    /// Returns for each component whether another component declares a link with one of these roles to it.
    pub(crate) fn compute_incoming_link_flags(&self, roles: &[LinkRole]) -> Vec<bool> {
        let mut has_link = vec![false; self.components.len()];
        for source in 0..self.components.len() {
            for (_, target) in self.links(source).filter(|(role, _)| roles.contains(role)) {
                set_flag(&mut has_link, target);
            }
        }
        has_link
    }

    /// Returns for each component whether it declares a link with this role to another component.
    pub(crate) fn compute_outgoing_link_flags(&self, role: LinkRole) -> Vec<bool> {
        (0..self.components.len())
            .map(|source| self.links(source).any(|(link_role, _)| link_role == role))
            .collect()
    }

    /// Returns whether there is a start component.
    pub(crate) fn has_start(&self) -> bool {
        self.components.iter().any(is_start)
    }

    /// Returns for each component whether it is a start component or reachable from one.
    pub(crate) fn compute_reachability_flags(&self) -> Vec<bool> {
        let mut is_reached: Vec<bool> = self.components.iter().map(is_start).collect();
        let mut pending: Vec<usize> = (0..self.components.len())
            .filter(|index| is_reached[*index])
            .collect();
        while let Some(source) = pending.pop() {
            for (_, target) in self.links(source) {
                if set_flag(&mut is_reached, target) {
                    pending.push(target);
                }
            }
        }
        is_reached
    }
}

/// Returns whether the component is a Start component, at which an orchestration begins.
pub(super) fn is_start(component: &Component) -> bool {
    component.kind.as_deref() == Some(START_TYPE)
}

/// Sets a flag; returns whether it was unset before.
fn set_flag(flags: &mut [bool], index: usize) -> bool {
    flags
        .get_mut(index)
        .is_some_and(|flag| !std::mem::replace(flag, true))
}
