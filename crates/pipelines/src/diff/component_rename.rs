//! Detects renamed components.
//!
//! A removed component and an added one are the same if they have the same type, nearly the same parameters, and links
//! to the same other components. If several components match, no rename is reported, because a wrong guess would hide
//! what was removed.

use super::diff_document::NamedNode;
use super::leaf::{Leaf, PathStep};
use super::named_links::{LinkKeys, NamedLink};
use sluicegate_yaml::NodeRef;
use std::collections::hash_map::RandomState;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::BuildHasher as _;

/// Maximum number of pairs that are compared in one pipeline. With more pairs, only identical components could be
/// matched, and nobody could follow the result.
const MAX_PAIRS: usize = 100_000;

/// Maximum number of values and links that are compared in all pairs of one pipeline together. In a small file, aliases
/// can give each of 300 components thousands of values.
const MAX_COMPARISONS: usize = 20_000_000;

/// Minimum percentage of the leaves of both components that must also exist on the other side.
const MIN_EQUAL_LEAVES_PERCENT: usize = 66;

/// Minimum percentage of the links to components with unchanged names that must also exist on the other side.
const MIN_EQUAL_LINKS_PERCENT: usize = 50;

/// The features of a component that are compared.
struct ComponentFeatures<'t> {
    name: &'t str,
    kind: &'t str,
    /// The hashes of the leaves with their paths, sorted.
    leaves: Vec<u64>,
    /// The value of the parameter `componentName`, which usually repeats the name.
    name_parameter: Option<String>,
    /// The links to components that kept their names.
    links: Vec<ComponentLink<'t>>,
}

/// A link, from the point of view of one of its components.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct ComponentLink<'t> {
    /// Whether the link begins at the component.
    outgoing: bool,
    kind: &'t str,
    /// The name of the component at the other end of the link.
    neighbor: &'t str,
}

/// One version (base or head) in the search for renamed components.
pub(super) struct RenameSide<'s, 't, 'a> {
    pub keys: LinkKeys,
    /// The components that only this version has.
    pub unpaired_components: Vec<NamedNode<'t, 'a>>,
    /// All links of this version.
    pub links: &'s [NamedLink<'t>],
}

/// Finds renamed components: a component that only the base has and one that only the head has are probably the same.
/// Returns a map from old to new names. A component with several candidates is not paired, because a wrong guess would
/// hide a removal. With more than [`MAX_PAIRS`] pairs or [`MAX_COMPARISONS`] to compare, no rename is found.
pub(super) fn find_renames<'t>(
    base: &RenameSide<'_, 't, '_>,
    head: &RenameSide<'_, 't, '_>,
) -> BTreeMap<&'t str, &'t str> {
    let pair_count = base
        .unpaired_components
        .len()
        .saturating_mul(head.unpaired_components.len());
    if pair_count > MAX_PAIRS {
        return BTreeMap::new();
    }
    let hashing = LeafHashing::default();
    let new_components = collect_features(head, &hashing);
    let mut comparison_count = 0;
    let mut candidates: Vec<(&str, &str)> = Vec::new();
    let mut old_name_counts: HashMap<&str, usize> = HashMap::new();
    let mut new_name_counts: HashMap<&str, usize> = HashMap::new();
    for old in collect_features(base, &hashing) {
        for new in &new_components {
            if !allows_rename(&old, new) {
                continue;
            }
            comparison_count += old.size() + new.size();
            if comparison_count > MAX_COMPARISONS {
                return BTreeMap::new();
            }
            if is_similar_component(&old, new) {
                candidates.push((old.name, new.name));
                *old_name_counts.entry(old.name).or_default() += 1;
                *new_name_counts.entry(new.name).or_default() += 1;
            }
        }
    }
    candidates
        .into_iter()
        .filter(|(old, new)| old_name_counts.get(old) == Some(&1) && new_name_counts.get(new) == Some(&1))
        .collect()
}

/// Returns the features by which each unpaired component can be recognized under another name: its type, its values,
/// and its links to components that kept their names. The parameter `componentName` is separate from the other values,
/// because it usually changes with the name. A component without a type is skipped, so no rename is found for it.
fn collect_features<'t>(side: &RenameSide<'_, 't, '_>, hashing: &LeafHashing) -> Vec<ComponentFeatures<'t>> {
    let mut links_by_name = group_comparable_links(side);
    let mut features = Vec::new();
    for (name, node) in &side.unpaired_components {
        let Some(kind) = node.get("type").and_then(NodeRef::text) else {
            continue;
        };
        let links = links_by_name.remove(name).unwrap_or_default();
        features.push(ComponentFeatures {
            name,
            kind,
            leaves: hashing.hash_component(side.keys, *node),
            name_parameter: find_name_parameter(*node).map(|leaf| leaf.to_string()),
            links: links.into_iter().collect(),
        });
    }
    features
}

/// Returns the links of each component to components that kept their names. A link to an unpaired component, which may
/// itself be renamed, gives no evidence and is omitted.
fn group_comparable_links<'t>(
    side: &RenameSide<'_, 't, '_>,
) -> HashMap<&'t str, BTreeSet<ComponentLink<'t>>> {
    let unpaired_names: BTreeSet<&str> = side.unpaired_components.iter().map(|(name, _)| *name).collect();
    let mut links_by_name: HashMap<&str, BTreeSet<ComponentLink<'_>>> = HashMap::new();
    for link in side.links {
        if !unpaired_names.contains(link.to) {
            links_by_name.entry(link.from).or_default().insert(ComponentLink {
                outgoing: true,
                kind: link.kind,
                neighbor: link.to,
            });
        }
        if !unpaired_names.contains(link.from) {
            links_by_name.entry(link.to).or_default().insert(ComponentLink {
                outgoing: false,
                kind: link.kind,
                neighbor: link.from,
            });
        }
    }
    links_by_name
}

/// Hashes leaves together with their paths, so that a component with long paths needs little memory.
#[derive(Default)]
struct LeafHashing(RandomState);

/// The hash of the empty path.
const ROOT_HASH: u64 = 0;

impl LeafHashing {
    /// Returns the sorted hashes of the leaves of a component. Omits its type, the parameter `componentName` and the
    /// links, which are compared separately.
    fn hash_component(&self, keys: LinkKeys, component: NodeRef<'_, '_>) -> Vec<u64> {
        let mut hashes = Vec::new();
        for (key, _, node) in component.entries() {
            if key != "type" && !keys.contains(key) {
                self.add_leaves(self.hash_step(ROOT_HASH, &PathStep::key(key)), node, &mut hashes);
            }
        }
        if let Some(leaf) = find_name_parameter(component) {
            let parameters_hash = self.hash_step(ROOT_HASH, &PathStep::key("parameters"));
            let path_hash = self.hash_step(parameters_hash, &PathStep::key("componentName"));
            let leaf_hash = self.0.hash_one((path_hash, leaf));
            hashes.retain(|hash| *hash != leaf_hash);
        }
        hashes.sort_unstable();
        hashes
    }

    /// Adds the hashes of the leaves at or below a node. `path_hash` is the hash of the path of the node.
    fn add_leaves(&self, path_hash: u64, node: NodeRef<'_, '_>, hashes: &mut Vec<u64>) {
        if let Some(leaf) = Leaf::from_node(node) {
            hashes.push(self.0.hash_one((path_hash, leaf)));
            return;
        }
        for (key, _, child) in node.entries() {
            self.add_leaves(self.hash_step(path_hash, &PathStep::key(key)), child, hashes);
        }
        for (index, child) in node.items().into_iter().flatten().enumerate() {
            self.add_leaves(self.hash_step(path_hash, &PathStep::Index(index)), child, hashes);
        }
    }

    /// Returns the hash of a path that is one step longer.
    fn hash_step(&self, path_hash: u64, step: &PathStep) -> u64 {
        self.0.hash_one((path_hash, step))
    }
}

/// Returns the value of the parameter `componentName` of a component.
pub(super) fn find_name_parameter(component: NodeRef<'_, '_>) -> Option<Leaf> {
    Leaf::from_node(component.get("parameters")?.get("componentName")?)
}

/// Returns whether the leaf at this path is the parameter `componentName`, and its value is this name.
pub(super) fn repeats_component_name(path: &[PathStep], leaf: &Leaf, name: &str) -> bool {
    is_name_parameter_path(path) && leaf.to_string() == name
}

/// Returns whether this is the path of the parameter `componentName`, in which a component usually repeats its name.
fn is_name_parameter_path(path: &[PathStep]) -> bool {
    matches!(path, [PathStep::Key(parameters), PathStep::Key(key)] if parameters == "parameters" && key == "componentName")
}

/// Returns whether the parameters `componentName` of two components allow that one was renamed to the other: both
/// parameters are missing, both have the same value, both repeat the names of their components, or neither repeats it.
/// If only one of them repeats the name, the two are probably different components.
fn name_parameters_allow_rename(old: &ComponentFeatures<'_>, new: &ComponentFeatures<'_>) -> bool {
    match (&old.name_parameter, &new.name_parameter) {
        (None, None) => true,
        (Some(old_parameter), Some(new_parameter)) => {
            let repeats_old_name = old_parameter == old.name;
            let repeats_new_name = new_parameter == new.name;
            old_parameter == new_parameter || repeats_old_name == repeats_new_name
        }
        _ => false,
    }
}

/// Returns whether the types and the names of two components allow that one was renamed to the other. An old component
/// without values and links cannot be recognized, so the result is false.
fn allows_rename(old: &ComponentFeatures<'_>, new: &ComponentFeatures<'_>) -> bool {
    let has_evidence = old.size() > 0;
    has_evidence && old.kind == new.kind && name_parameters_allow_rename(old, new)
}

/// Returns whether most of the values and links of two components are equal.
fn is_similar_component(old: &ComponentFeatures<'_>, new: &ComponentFeatures<'_>) -> bool {
    is_similar(&old.leaves, &new.leaves, MIN_EQUAL_LEAVES_PERCENT)
        && is_similar(&old.links, &new.links, MIN_EQUAL_LINKS_PERCENT)
}

impl ComponentFeatures<'_> {
    /// Returns the number of values and links that are compared.
    const fn size(&self) -> usize {
        self.leaves.len() + self.links.len()
    }
}

/// Returns whether at least this percentage of the items of two sorted lists, counted together, is in both lists.
fn is_similar<T: Ord>(old: &[T], new: &[T], percent: usize) -> bool {
    // An item in both lists is counted in each of them.
    let shared_count = 2 * count_shared_items(old, new);
    shared_count * 100 >= (old.len() + new.len()) * percent
}

/// Returns the number of items that are in both sorted lists.
fn count_shared_items<T: Ord>(old: &[T], new: &[T]) -> usize {
    let mut new_items = new.iter().peekable();
    let mut count = 0;
    for old_item in old {
        while new_items.next_if(|new_item| *new_item < old_item).is_some() {}
        if new_items.next_if_eq(&old_item).is_some() {
            count += 1;
        }
    }
    count
}
