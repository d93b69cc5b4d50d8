//! The graph of the components of a pipeline.
//!
//! All functions are linear in the number of components and links, and none is recursive: chains of 20,000 components
//! exist.

use crate::pipelines::{Component, LinkRole, Pipeline};
use std::collections::HashMap;

/// The type of the first component of an orchestration.
pub(super) const START: &str = "start";

/// The links between existing components. Links to missing components and links of a component to itself are ignored.
#[derive(Debug)]
pub(crate) struct Graph<'p> {
    components: &'p [Component],
    index: HashMap<&'p str, usize>,
}

impl<'p> Graph<'p> {
    pub(crate) fn new(pipeline: &'p Pipeline) -> Self {
        let components = pipeline.components.as_slice();
        let names = components.iter().enumerate();
        Self {
            components,
            index: names
                .map(|(at, component)| (component.name.as_str(), at))
                .collect(),
        }
    }

    /// Returns the components that the component at `from` links to.
    pub(crate) fn links(&self, from: usize) -> impl Iterator<Item = (LinkRole, usize)> {
        let links = self
            .components
            .get(from)
            .map_or(&[][..], |component| &component.links);
        links
            .iter()
            .filter_map(|link| Some((link.role, *self.index.get(link.name.as_str())?)))
            .filter(move |(_, to)| *to != from)
    }

    /// Returns for each component whether a link with one of these roles leads to it.
    pub(crate) fn linked_to(&self, roles: &[LinkRole]) -> Vec<bool> {
        let mut linked = vec![false; self.components.len()];
        for from in 0..self.components.len() {
            for (_, to) in self.links(from).filter(|(role, _)| roles.contains(role)) {
                mark(&mut linked, to);
            }
        }
        linked
    }

    /// Returns for each component whether it links to another component with this role.
    pub(crate) fn links_on(&self, role: LinkRole) -> Vec<bool> {
        (0..self.components.len())
            .map(|from| self.links(from).any(|(found, _)| found == role))
            .collect()
    }

    /// Returns whether there is a start component.
    pub(crate) fn has_start(&self) -> bool {
        self.components.iter().any(is_start)
    }

    /// Returns for each component whether it is a start component or reachable from one.
    pub(crate) fn reachable(&self) -> Vec<bool> {
        let mut reached: Vec<bool> = self.components.iter().map(is_start).collect();
        let starts = reached.iter().enumerate().filter(|(_, is_start)| **is_start);
        let mut waiting: Vec<usize> = starts.map(|(at, _)| at).collect();
        while let Some(from) = waiting.pop() {
            for (_, to) in self.links(from) {
                if mark(&mut reached, to) {
                    waiting.push(to);
                }
            }
        }
        reached
    }
}

fn is_start(component: &Component) -> bool {
    component.kind.as_deref() == Some(START)
}

/// Sets a mark; returns whether it was unset before.
fn mark(marks: &mut [bool], at: usize) -> bool {
    marks
        .get_mut(at)
        .is_some_and(|mark| !std::mem::replace(mark, true))
}
