//! Detects renamed components.
//!
//! A removed component and an added one are the same if they have the same type, nearly the same parameters, and links
//! to the same other components. If several components match, no rename is reported, because a wrong guess would hide
//! what was removed.

use super::diff_document::NamedNode;
use super::diff_walk::DiffWalk;
use super::leaf::{Leaf, PathStep};
use super::named_links::{LinkKeys, NamedLink};
use crate::yaml::NodeRef;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Maximum number of pairs that are compared in one pipeline. With more pairs, only identical components could be
/// matched, and nobody could follow the result.
const MAX_PAIRS: usize = 100_000;

/// Minimum percentage of the leaves of both components that must also exist on the other side.
const MIN_EQUAL_LEAVES_PERCENT: usize = 66;

/// Minimum percentage of the links to components with unchanged names that must also exist on the other side.
const MIN_EQUAL_LINKS_PERCENT: usize = 50;

/// The features of a component that are compared.
struct ComponentFeatures<'t> {
    name: &'t str,
    kind: &'t str,
    leaves: BTreeSet<(Vec<PathStep>, Leaf)>,
    /// The value of the parameter that usually repeats the name.
    own_name: Option<String>,
    /// For each link: true if the link begins at the component, the kind of the link, and the other component.
    links: BTreeSet<(bool, &'t str, &'t str)>,
}

pub(super) struct RenameSide<'s, 't, 'a> {
    pub keys: LinkKeys,
    /// The components that only this side has.
    pub unpaired_components: Vec<NamedNode<'t, 'a>>,
    pub links: &'s [NamedLink<'t>],
}

/// Pairs components that only one side has and that are probably the same under a new name. Returns the new names by
/// the old names. A component with several candidates is not paired. With more than [`MAX_PAIRS`] pairs to compare, the
/// result is empty.
pub(super) fn find_renames<'t>(
    base: &RenameSide<'_, 't, '_>,
    head: &RenameSide<'_, 't, '_>,
) -> BTreeMap<&'t str, &'t str> {
    if base
        .unpaired_components
        .len()
        .saturating_mul(head.unpaired_components.len())
        > MAX_PAIRS
    {
        return BTreeMap::new();
    }
    let new_components = collect_features(head);
    let mut candidates: Vec<(&str, &str)> = Vec::new();
    let mut old_name_counts: HashMap<&str, usize> = HashMap::new();
    let mut new_name_counts: HashMap<&str, usize> = HashMap::new();
    for old in collect_features(base) {
        for new in &new_components {
            if is_same_component(&old, new) {
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

/// Returns the properties of each unpaired component, so that it can be recognized under another name: its type, its
/// values and its links to components that kept their names. A component without a type is skipped and so never
/// renamed.
fn collect_features<'t>(side: &RenameSide<'_, 't, '_>) -> Vec<ComponentFeatures<'t>> {
    let unpaired_names: BTreeSet<&str> = side.unpaired_components.iter().map(|(name, _)| *name).collect();
    let mut links: HashMap<&str, BTreeSet<(bool, &str, &str)>> = HashMap::new();
    for link in side.links {
        // A link to a component that is also renamed gives no evidence.
        if !unpaired_names.contains(link.to) {
            links
                .entry(link.from)
                .or_default()
                .insert((true, link.kind, link.to));
        }
        if !unpaired_names.contains(link.from) {
            links
                .entry(link.to)
                .or_default()
                .insert((false, link.kind, link.from));
        }
    }
    let mut features = Vec::new();
    for (name, node) in &side.unpaired_components {
        let Some(kind) = node.get("type").and_then(NodeRef::text) else {
            continue;
        };
        let (own_names, leaves): (BTreeSet<_>, _) = collect_leaves(side.keys, *node)
            .into_iter()
            .partition(|(path, _)| is_name_path(path));
        features.push(ComponentFeatures {
            name,
            kind,
            leaves,
            own_name: own_names.into_iter().next().map(|(_, leaf)| leaf.to_string()),
            links: links.remove(name).unwrap_or_default(),
        });
    }
    features
}

/// Returns the leaves of a component, without its type and its links.
fn collect_leaves(keys: LinkKeys, component: NodeRef<'_, '_>) -> Vec<(Vec<PathStep>, Leaf)> {
    let mut walk = DiffWalk::below_keys(&[]);
    for (key, _, node) in component.entries() {
        if key != "type" && !keys.contains(key) {
            walk.compare_step(PathStep::key(key), None, Some(node));
        }
    }
    walk.into_fields()
        .into_iter()
        .filter_map(|field| Some((field.path, field.after?)))
        .collect()
}

/// Returns whether the path is that of the parameter `componentName`, and the parameter repeats this name.
pub(super) fn is_name_parameter(path: &[PathStep], leaf: &Leaf, name: &str) -> bool {
    is_name_path(path) && leaf.to_string() == name
}

/// Returns whether the path is that of the parameter `componentName`, in which components usually repeat their names.
fn is_name_path(path: &[PathStep]) -> bool {
    matches!(path, [PathStep::Key(parameters), PathStep::Key(key)] if parameters == "parameters" && key == "componentName")
}

/// Returns whether the parameters `componentName` allow a rename: both are missing, both are equal, or each one repeats
/// the name of its component, or neither does.
fn own_names_match(old: &ComponentFeatures<'_>, new: &ComponentFeatures<'_>) -> bool {
    match (&old.own_name, &new.own_name) {
        (None, None) => true,
        (Some(old_own_name), Some(new_own_name)) => {
            old_own_name == new_own_name || (old_own_name == old.name) == (new_own_name == new.name)
        }
        _ => false,
    }
}

/// Returns whether an old and a new component are probably the same: they have one type, and most of their values and
/// links are equal. An old component with neither values nor links gives no evidence.
fn is_same_component(old: &ComponentFeatures<'_>, new: &ComponentFeatures<'_>) -> bool {
    if old.kind != new.kind || !own_names_match(old, new) || (old.leaves.is_empty() && old.links.is_empty()) {
        return false;
    }
    is_similar(&old.leaves, &new.leaves, MIN_EQUAL_LEAVES_PERCENT)
        && is_similar(&old.links, &new.links, MIN_EQUAL_LINKS_PERCENT)
}

/// Returns whether at least this percentage of the items of both sets is in both.
fn is_similar<T: Ord>(old: &BTreeSet<T>, new: &BTreeSet<T>, percent: usize) -> bool {
    let shared_count = 2 * old.intersection(new).count();
    shared_count * 100 >= (old.len() + new.len()) * percent
}
