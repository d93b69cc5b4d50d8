//! How the components of a pipeline hang together.
//!
//! Everything here is linear in the number of components and links, and nothing recurses: pipelines of 20,000
//! components in one chain exist.

use crate::model::pipelines::{Component, LinkRole, Pipeline};
use std::collections::HashMap;

/// The type of the component that an orchestration begins with.
pub(super) const START: &str = "start";

/// The links between existing components. Links that name nothing, and those of a component to itself, are none.
#[derive(Debug)]
pub struct Graph<'p> {
    components: &'p [Component],
    index: HashMap<&'p str, usize>,
}

impl<'p> Graph<'p> {
    pub fn new(pipeline: &'p Pipeline) -> Self {
        let components = pipeline.components.as_slice();
        let names = components.iter().enumerate();
        Self {
            components,
            index: names
                .map(|(at, component)| (component.name.as_str(), at))
                .collect(),
        }
    }

    /// The components that the component at `from` links to.
    pub fn links(&self, from: usize) -> impl Iterator<Item = (LinkRole, usize)> {
        let links = self
            .components
            .get(from)
            .map_or(&[][..], |component| &component.links);
        links
            .iter()
            .filter_map(|link| Some((link.role, *self.index.get(link.name.as_str())?)))
            .filter(move |(_, to)| *to != from)
    }

    /// For each component, whether any link of one of these roles leads to it.
    pub fn linked_to(&self, roles: &[LinkRole]) -> Vec<bool> {
        let mut linked = vec![false; self.components.len()];
        for from in 0..self.components.len() {
            for (_, to) in self.links(from).filter(|(role, _)| roles.contains(role)) {
                mark(&mut linked, to);
            }
        }
        linked
    }

    /// For each component, whether it links to any other by this role.
    pub fn links_on(&self, role: LinkRole) -> Vec<bool> {
        (0..self.components.len())
            .map(|from| self.links(from).any(|(found, _)| found == role))
            .collect()
    }

    /// Whether there is a start component.
    pub fn has_start(&self) -> bool {
        self.components.iter().any(is_start)
    }

    /// For each component, whether it is a start component or links lead to it from one.
    pub fn reachable(&self) -> Vec<bool> {
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

/// Sets a mark; says whether it is new.
fn mark(marks: &mut [bool], at: usize) -> bool {
    marks
        .get_mut(at)
        .is_some_and(|mark| !std::mem::replace(mark, true))
}
