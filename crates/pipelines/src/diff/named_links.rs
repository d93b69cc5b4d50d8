//! The links between components, without their order, and the values that are not links although they are under keys
//! for links.

use super::comparison_budget::ComparisonBudget;
use super::diff_walk::ComparedFields;
use super::leaf::PathStep;
use super::pair::pair_by_key;
use super::pipeline_diff::{LinkChange, LinkDiff};
use super::version_side::VersionSide;
use crate::pipelines::{PipelineKind, TransitionCondition};
use sluicegate_yaml::NodeRef;
use std::collections::HashMap;

/// The kind of a link from an iterator to its target.
const ITERATION_KIND: &str = "iteration";

/// The kind of a link from a component of a transformation to the component that it feeds.
const SOURCE_KIND: &str = "source";

/// Maximum total length of the names in the links of one version, in bytes: each changed link repeats both of its
/// names, so a file of 3 MB could otherwise need 60 GB.
const MAX_NAME_BYTES: usize = 64 * 1024 * 1024;

/// Minimum number of bytes of a file for each of its links. Only a file whose aliases repeat long lists of links has
/// less: without this limit, a change of 33 KB could have 500,000 links.
const MIN_BYTES_PER_LINK: usize = 4;

/// Number of links that a file of any size may have.
const MIN_LINK_LIMIT: usize = 100;

/// A link, by the names of its ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct NamedLink<'t> {
    pub from: &'t str,
    pub to: &'t str,
    pub kind: &'t str,
}

/// A node with its path below a component.
pub(super) type LocatedNode<'t, 'a> = (Vec<PathStep>, NodeRef<'t, 'a>);

#[derive(Default)]
pub(super) struct Links<'t, 'a> {
    /// In file order; a link may be listed twice.
    pub all: Vec<NamedLink<'t>>,
    /// The values that are not links, by component.
    pub other_values: HashMap<&'t str, Vec<LocatedNode<'t, 'a>>>,
    /// The size of the file in bytes, which limits the number of links.
    file_size: usize,
    /// The number of links and of values that are not links. Nothing is added beyond the limit.
    count: usize,
}

/// The keys of a component that contain links. If the kind of the pipeline changed, the keys of both kinds are used on
/// both versions; otherwise an unchanged link would be a link in one version and a field in the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LinkKeys {
    OfKind(PipelineKind),
    OfBothKinds,
}

impl LinkKeys {
    /// Returns the keys that contain links if the versions of a pipeline have these kinds; `None` for a missing
    /// version. If the kinds differ or both are missing, the keys of both kinds are returned.
    pub(super) fn for_kinds(base_kind: Option<PipelineKind>, head_kind: Option<PipelineKind>) -> Self {
        match (base_kind, head_kind) {
            (Some(old), Some(new)) if old != new => Self::OfBothKinds,
            (_, Some(kind)) | (Some(kind), None) => Self::OfKind(kind),
            (None, None) => Self::OfBothKinds,
        }
    }

    /// Returns whether a component has links under this key.
    pub(super) fn contains(self, key: &str) -> bool {
        let is_orchestration_key = matches!(key, "transitions" | "iterationTarget");
        match self {
            Self::OfKind(PipelineKind::Orchestration) => is_orchestration_key,
            Self::OfKind(PipelineKind::Transformation) => key == "sources",
            Self::OfBothKinds => is_orchestration_key || key == "sources",
        }
    }
}

impl<'t, 'a> Links<'t, 'a> {
    /// Creates the empty list of the links in a file of this size, in bytes.
    pub(super) fn for_file_size(file_size: usize) -> Self {
        Self {
            file_size,
            ..Self::default()
        }
    }

    /// Returns the maximum number of links.
    const fn limit(&self) -> usize {
        MIN_LINK_LIMIT + self.file_size / MIN_BYTES_PER_LINK
    }

    /// Returns an error if there are more links than a file of this size may have, or if the names in the links have
    /// more than [`MAX_NAME_BYTES`] in total, because comparing them would need too much memory. The message names the
    /// side.
    pub(super) fn reject_excess(&self, side: VersionSide) -> Result<(), String> {
        if self.count > self.limit() {
            return Err(format!(
                "in the {side}: the pipeline has too many links to compare (more than {} in {} bytes)",
                self.limit(),
                self.file_size
            ));
        }
        let name_bytes: usize = self.all.iter().map(|link| link.from.len() + link.to.len()).sum();
        if name_bytes > MAX_NAME_BYTES {
            let megabytes = MAX_NAME_BYTES / (1024 * 1024);
            return Err(format!(
                "in the {side}: the names in the pipeline's links are too long to compare (more than \
                 {megabytes} MB in total)"
            ));
        }
        Ok(())
    }

    /// Adds the links of a component. A value that is not a link, although it is under a key for links, is added to
    /// [`Self::other_values`] and later compared as a field.
    pub(super) fn add_component_links(&mut self, keys: LinkKeys, name: &'t str, component: NodeRef<'t, 'a>) {
        for (key, _, node) in component.entries().filter(|(key, _, _)| keys.contains(key)) {
            let path = vec![PathStep::key(key)];
            match key {
                "transitions" => self.add_transitions(name, path, node),
                "sources" => self.add_link_list(name, path, node, &|source_name| NamedLink {
                    from: source_name,
                    to: name,
                    kind: SOURCE_KIND,
                }),
                // The only other key is `iterationTarget`.
                _ => self.add_link(name, path, node, &|target_name| NamedLink {
                    from: name,
                    to: target_name,
                    kind: ITERATION_KIND,
                }),
            }
        }
    }

    /// Adds the links in the transitions of a component, which are a map from the kind of the links to their targets.
    /// An empty map, a value that is not a map, and a key that is not a condition are compared as fields.
    fn add_transitions(&mut self, name: &'t str, path: Vec<PathStep>, node: NodeRef<'t, 'a>) {
        if node.entries().next().is_none() {
            self.add_non_link(name, path, node);
            return;
        }
        for (kind, _, list) in node.entries() {
            let mut path = path.clone();
            path.push(PathStep::key(kind));
            if TransitionCondition::from_key(kind).is_none() {
                self.add_non_link(name, path, list);
                continue;
            }
            self.add_link_list(name, path, list, &|target_name| NamedLink {
                from: name,
                to: target_name,
                kind,
            });
        }
    }

    /// Adds each item of a list as a link, which `build_link` creates from the name of the other component. An empty
    /// list, or a value that is not a list, is compared as a field.
    fn add_link_list(
        &mut self,
        name: &'t str,
        path: Vec<PathStep>,
        node: NodeRef<'t, 'a>,
        build_link: &dyn Fn(&'t str) -> NamedLink<'t>,
    ) {
        match node.items() {
            Some(items) if items.len() > 0 => {
                for (index, item) in items.enumerate() {
                    if self.count > self.limit() {
                        return;
                    }
                    let mut path = path.clone();
                    path.push(PathStep::Index(index));
                    self.add_link(name, path, item, build_link);
                }
            }
            _ => self.add_non_link(name, path, node),
        }
    }

    /// Adds the link that `build_link` creates from the name in the node: that of the component at the other end. A
    /// node without a name is compared as a field.
    fn add_link(
        &mut self,
        name: &'t str,
        path: Vec<PathStep>,
        node: NodeRef<'t, 'a>,
        build_link: &dyn Fn(&'t str) -> NamedLink<'t>,
    ) {
        match node.text().filter(|_| !node.is_null()) {
            Some(other_name) => {
                self.count += 1;
                self.all.push(build_link(other_name));
            }
            None => self.add_non_link(name, path, node),
        }
    }

    /// Adds a value that is not a link and is compared as a field of the component.
    fn add_non_link(&mut self, name: &'t str, path: Vec<PathStep>, node: NodeRef<'t, 'a>) {
        self.count += 1;
        self.other_values.entry(name).or_default().push((path, node));
    }
}

/// Returns the added and removed links, sorted. If a link is listed several times, the numbers of its copies are
/// compared.
pub(super) fn compare_links(base_links: &[NamedLink<'_>], head_links: &[NamedLink<'_>]) -> Vec<LinkDiff> {
    let mut count_differences: HashMap<NamedLink<'_>, i64> = HashMap::new();
    for link in head_links {
        *count_differences.entry(*link).or_default() += 1;
    }
    for link in base_links {
        *count_differences.entry(*link).or_default() -= 1;
    }
    let mut link_diffs: Vec<LinkDiff> = Vec::new();
    for (link, difference) in count_differences {
        let change = if difference > 0 {
            LinkChange::Added
        } else {
            LinkChange::Removed
        };
        // If both versions have the same number of copies, the difference is 0 and nothing is added.
        let repetitions = usize::try_from(difference.unsigned_abs()).unwrap_or(usize::MAX);
        link_diffs.extend(std::iter::repeat_n(build_link_diff(link, change), repetitions));
    }
    link_diffs.sort();
    link_diffs
}

/// Compares the malformed values under a component's keys for links, for example a number under `sources`. They cannot
/// be compared as links, so each value is compared with the value at the same path in the other version.
pub(super) fn compare_non_links(
    base: Option<&Vec<LocatedNode<'_, '_>>>,
    head: Option<&Vec<LocatedNode<'_, '_>>>,
    budget: &ComparisonBudget,
) -> ComparedFields {
    /// Returns an iterator over the paths and the nodes of one version, which may be missing.
    fn located_nodes<'p, 't, 'a>(
        side: Option<&'p Vec<LocatedNode<'t, 'a>>>,
    ) -> impl Iterator<Item = (&'p [PathStep], NodeRef<'t, 'a>)> {
        side.into_iter()
            .flatten()
            .map(|(path, node)| (path.as_slice(), *node))
    }
    let mut fields = ComparedFields {
        fields: Vec::new(),
        told_fields: None,
    };
    for pair in pair_by_key(located_nodes(base), located_nodes(head)) {
        fields.extend(ComparedFields::collect(pair.key, budget, |walk| {
            walk.compare_nodes(pair.base, pair.head);
        }));
    }
    fields
}

/// Creates the description of an added or removed link, with copies of its names.
fn build_link_diff(link: NamedLink<'_>, change: LinkChange) -> LinkDiff {
    LinkDiff {
        from: link.from.to_owned(),
        to: link.to.to_owned(),
        kind: link.kind.to_owned(),
        change,
    }
}
