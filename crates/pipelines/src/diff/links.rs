//! The links between components, without their order, and the values in the place of links that are not links.

use super::leaf::PathStep;
use super::model::{LinkChange, LinkDiff};
use crate::pipelines::Kind;
use crate::yaml::NodeRef;
use std::collections::HashMap;

/// The kind of a link from an iterator to its target.
const ITERATION: &str = "iteration";

/// The kind of a link from a component of a transformation to the component that it feeds.
const SOURCE: &str = "source";

/// Maximum total length of the names in the links of one side, in bytes: each changed link repeats both of its names, so
/// a file of 3 MB could otherwise need 60 GB.
const MAX_NAME_BYTES: usize = 64 * 1024 * 1024;

/// A link, by the names of its ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct NamedLink<'t> {
    pub from: &'t str,
    pub to: &'t str,
    pub kind: &'t str,
}

/// A node with its path below a component.
pub(super) type LeafPlace<'t, 'a> = (Vec<PathStep>, NodeRef<'t, 'a>);

#[derive(Default)]
pub(super) struct Links<'t, 'a> {
    /// In file order; a link may be listed twice.
    pub all: Vec<NamedLink<'t>>,
    /// The values that are not links, by component.
    pub rest: HashMap<&'t str, Vec<LeafPlace<'t, 'a>>>,
}

/// The keys of a component that contain links. If the kind of the pipeline changed, the keys of both kinds are used on
/// both sides; otherwise an unchanged link would be a link on one side and a field on the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LinkKeys {
    Of(Kind),
    OfBoth,
}

impl LinkKeys {
    pub(super) fn between(before: Option<Kind>, after: Option<Kind>) -> Self {
        match (before, after) {
            (Some(old), Some(new)) if old != new => Self::OfBoth,
            (_, Some(kind)) | (Some(kind), None) => Self::Of(kind),
            (None, None) => Self::OfBoth,
        }
    }

    pub(super) fn hold(self, key: &str) -> bool {
        let of_orchestration = matches!(key, "transitions" | "iterationTarget");
        match self {
            Self::Of(Kind::Orchestration) => of_orchestration,
            Self::Of(Kind::Transformation) => key == "sources",
            Self::OfBoth => of_orchestration || key == "sources",
        }
    }
}

impl<'t, 'a> Links<'t, 'a> {
    /// Returns an error if the links of this side (`base` or `head`) repeat too much text to be compared.
    pub(super) fn reject_long_names(&self, side: &str) -> Result<(), String> {
        let name_bytes: usize = self.all.iter().map(|link| link.from.len() + link.to.len()).sum();
        if name_bytes > MAX_NAME_BYTES {
            let megabytes = MAX_NAME_BYTES / (1024 * 1024);
            return Err(format!(
                "in the {side}: the names in its links are too long to compare (more than {megabytes} MB in total)"
            ));
        }
        Ok(())
    }

    pub(super) fn take(&mut self, keys: LinkKeys, name: &'t str, component: NodeRef<'t, 'a>) {
        let held = component.entries().filter(|(key, _, _)| keys.hold(key));
        for (key, _, node) in held {
            let path = vec![PathStep::key(key)];
            match key {
                "transitions" => self.transitions(name, path, node),
                "sources" => self.list(name, path, node, &|other| NamedLink {
                    from: other,
                    to: name,
                    kind: SOURCE,
                }),
                _ => self.one(name, path, node, &|other| NamedLink {
                    from: name,
                    to: other,
                    kind: ITERATION,
                }),
            }
        }
    }

    fn transitions(&mut self, name: &'t str, path: Vec<PathStep>, node: NodeRef<'t, 'a>) {
        if node.entries().next().is_none() {
            self.no_link(name, path, node);
            return;
        }
        for (kind, _, list) in node.entries() {
            let mut path = path.clone();
            path.push(PathStep::key(kind));
            self.list(name, path, list, &|other| NamedLink {
                from: name,
                to: other,
                kind,
            });
        }
    }

    fn list(
        &mut self,
        name: &'t str,
        path: Vec<PathStep>,
        node: NodeRef<'t, 'a>,
        link: &dyn Fn(&'t str) -> NamedLink<'t>,
    ) {
        match node.items() {
            Some(items) if items.len() > 0 => {
                for (index, item) in items.enumerate() {
                    let mut path = path.clone();
                    path.push(PathStep::Index(index));
                    self.one(name, path, item, link);
                }
            }
            _ => self.no_link(name, path, node),
        }
    }

    fn one(
        &mut self,
        name: &'t str,
        path: Vec<PathStep>,
        node: NodeRef<'t, 'a>,
        link: &dyn Fn(&'t str) -> NamedLink<'t>,
    ) {
        match node.text().filter(|_| !node.is_null()) {
            Some(other) => self.all.push(link(other)),
            None => self.no_link(name, path, node),
        }
    }

    fn no_link(&mut self, name: &'t str, path: Vec<PathStep>, node: NodeRef<'t, 'a>) {
        self.rest.entry(name).or_default().push((path, node));
    }
}

/// Returns the added and removed links, by name. A link that is listed twice counts twice.
pub(super) fn compare(before: &[NamedLink<'_>], after: &[NamedLink<'_>]) -> Vec<LinkDiff> {
    let mut counts: HashMap<NamedLink<'_>, i64> = HashMap::new();
    for link in after {
        *counts.entry(*link).or_default() += 1;
    }
    for link in before {
        *counts.entry(*link).or_default() -= 1;
    }
    let mut changed: Vec<LinkDiff> = Vec::new();
    for (link, more) in counts {
        let change = if more > 0 {
            LinkChange::Added
        } else {
            LinkChange::Removed
        };
        let times = usize::try_from(more.unsigned_abs()).unwrap_or(usize::MAX);
        changed.extend(std::iter::repeat_n(told(link, change), times));
    }
    changed.sort();
    changed
}

fn told(link: NamedLink<'_>, change: LinkChange) -> LinkDiff {
    LinkDiff {
        from: link.from.to_owned(),
        to: link.to.to_owned(),
        kind: link.kind.to_owned(),
        change,
    }
}
