//! Detects renamed components.
//!
//! A removed component and an added one are the same if they have the same type, nearly the same parameters, and links
//! to the same other components. If several components match, no rename is reported, because a wrong guess would hide
//! what was removed.

use super::diff_document::NamedNode;
use super::diff_walk::DiffWalk;
use super::leaf::{Leaf, PathStep};
use super::named_links::{LinkKeys, NamedLink};
use sluicegate_yaml::NodeRef;
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
    /// The value of the parameter `componentName`, which usually repeats the name.
    name_parameter: Option<String>,
    /// The links to components that kept their names.
    links: BTreeSet<ComponentLink<'t>>,
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
/// hide a removal. With more than [`MAX_PAIRS`] pairs to compare, no rename is found.
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
    let new_components = collect_features(head);
    let mut candidates: Vec<(&str, &str)> = Vec::new();
    let mut old_name_counts: HashMap<&str, usize> = HashMap::new();
    let mut new_name_counts: HashMap<&str, usize> = HashMap::new();
    for old in collect_features(base) {
        for new in &new_components {
            if is_probable_rename(&old, new) {
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
fn collect_features<'t>(side: &RenameSide<'_, 't, '_>) -> Vec<ComponentFeatures<'t>> {
    let mut links_by_name = group_comparable_links(side);
    let mut features = Vec::new();
    for (name, node) in &side.unpaired_components {
        let Some(kind) = node.get("type").and_then(NodeRef::text) else {
            continue;
        };
        let (name_parameters, leaves): (BTreeSet<_>, _) = collect_leaves(side.keys, *node)
            .into_iter()
            .partition(|(path, _)| is_name_parameter_path(path));
        features.push(ComponentFeatures {
            name,
            kind,
            leaves,
            name_parameter: name_parameters
                .into_iter()
                .next()
                .map(|(_, leaf)| leaf.to_string()),
            links: links_by_name.remove(name).unwrap_or_default(),
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

/// Returns the leaves of a component with their paths. Omits its type and its links, which are compared separately.
fn collect_leaves(keys: LinkKeys, component: NodeRef<'_, '_>) -> Vec<(Vec<PathStep>, Leaf)> {
    let mut walk = DiffWalk::new();
    for (key, _, node) in component.entries() {
        if key != "type" && !keys.contains(key) {
            // Without a node to compare with, each leaf is an added field.
            walk.compare_step(PathStep::key(key), None, Some(node));
        }
    }
    walk.into_fields()
        .into_iter()
        .filter_map(|field| Some((field.path, field.after?)))
        .collect()
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

/// Returns whether an old component was probably renamed to a new one: they have the same type, and most of their
/// values and links are equal. An old component without values and links cannot be recognized, so the result is false.
fn is_probable_rename(old: &ComponentFeatures<'_>, new: &ComponentFeatures<'_>) -> bool {
    let has_no_evidence = old.leaves.is_empty() && old.links.is_empty();
    if old.kind != new.kind || !name_parameters_allow_rename(old, new) || has_no_evidence {
        return false;
    }
    is_similar(&old.leaves, &new.leaves, MIN_EQUAL_LEAVES_PERCENT)
        && is_similar(&old.links, &new.links, MIN_EQUAL_LINKS_PERCENT)
}

/// Returns whether at least this percentage of the items of two sets, counted together, is in both sets.
fn is_similar<T: Ord>(old: &BTreeSet<T>, new: &BTreeSet<T>, percent: usize) -> bool {
    // An item in both sets is counted in each of them.
    let shared_count = 2 * old.intersection(new).count();
    shared_count * 100 >= (old.len() + new.len()) * percent
}
