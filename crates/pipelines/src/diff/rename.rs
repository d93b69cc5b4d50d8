//! Detects renamed components.
//!
//! A removed component and an added one are the same if they have the same type, nearly the same parameters, and links
//! to the same other components. If several components match, no rename is reported, because a wrong guess would hide
//! what was removed.

use super::document::NamedNode;
use super::leaf::{Leaf, PathStep};
use super::links::{LinkKeys, NamedLink};
use super::walk::Walk;
use crate::yaml::NodeRef;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Maximum number of pairs that are compared in one pipeline. With more pairs, only identical components could be
/// matched, and nobody could follow the result.
const MOST_PAIRS: usize = 100_000;

/// Minimum percentage of the leaves of both components that must also exist on the other side.
const ALIKE: usize = 66;

/// Minimum percentage of the links to components with unchanged names that must also exist on the other side.
const LINKED_ALIKE: usize = 50;

/// The features of a component that are compared.
struct Features<'t> {
    name: &'t str,
    kind: &'t str,
    leaves: BTreeSet<(Vec<PathStep>, Leaf)>,
    /// The value of the parameter that usually repeats the name.
    own_name: Option<String>,
    links: BTreeSet<(bool, &'t str, &'t str)>,
}

pub(super) struct RenameSide<'s, 't, 'a> {
    pub keys: LinkKeys,
    /// The components that only this side has.
    pub alone: Vec<NamedNode<'t, 'a>>,
    pub links: &'s [NamedLink<'t>],
}

/// Returns the new names by old name.
pub(super) fn renames<'t>(
    before: &RenameSide<'_, 't, '_>,
    after: &RenameSide<'_, 't, '_>,
) -> BTreeMap<&'t str, &'t str> {
    if before.alone.len().saturating_mul(after.alone.len()) > MOST_PAIRS {
        return BTreeMap::new();
    }
    let (old, new) = (features(before), features(after));
    let mut fits: Vec<(&str, &str)> = Vec::new();
    for one in &old {
        fits.extend(
            new.iter()
                .filter(|other| is_same(one, other))
                .map(|other| (one.name, other.name)),
        );
    }
    let times = |pick: fn(&(&'t str, &'t str)) -> &'t str| {
        let mut times: HashMap<&str, usize> = HashMap::new();
        for pair in &fits {
            *times.entry(pick(pair)).or_default() += 1;
        }
        times
    };
    let (olds, news) = (times(|pair| pair.0), times(|pair| pair.1));
    let alone = fits
        .iter()
        .filter(|(old, new)| olds.get(old) == Some(&1) && news.get(new) == Some(&1));
    alone.copied().collect()
}

fn features<'t>(side: &RenameSide<'_, 't, '_>) -> Vec<Features<'t>> {
    let alone: BTreeSet<&str> = side.alone.iter().map(|(name, _)| *name).collect();
    let mut links: HashMap<&str, BTreeSet<(bool, &str, &str)>> = HashMap::new();
    for link in side.links {
        // A link to a component that is also renamed gives no evidence.
        if !alone.contains(link.to) {
            links
                .entry(link.from)
                .or_default()
                .insert((true, link.kind, link.to));
        }
        if !alone.contains(link.from) {
            links
                .entry(link.to)
                .or_default()
                .insert((false, link.kind, link.from));
        }
    }
    let of = |(name, node): &NamedNode<'t, '_>| {
        let all = leaves(side.keys, *node);
        let (own, leaves): (BTreeSet<_>, _) = all.into_iter().partition(|(path, _)| is_name_place(path));
        Some(Features {
            name,
            kind: node.get("type").and_then(NodeRef::text)?,
            leaves,
            own_name: own.into_iter().next().map(|(_, leaf)| leaf.to_string()),
            links: links.remove(name).unwrap_or_default(),
        })
    };
    side.alone.iter().filter_map(of).collect()
}

/// Returns the leaves of a component, without its type and its links.
fn leaves(keys: LinkKeys, component: NodeRef<'_, '_>) -> Vec<(Vec<PathStep>, Leaf)> {
    let mut walk = Walk::below(&[]);
    for (key, _, node) in component.entries() {
        if key != "type" && !keys.hold(key) {
            walk.step(PathStep::key(key), None, Some(node));
        }
    }
    let fields = walk.finish().into_iter();
    fields
        .filter_map(|field| Some((field.path, field.after?)))
        .collect()
}

/// Returns whether this is the parameter in which a component repeats its name.
pub(super) fn is_own_name(path: &[PathStep], leaf: &Leaf, name: &str) -> bool {
    is_name_place(path) && leaf.to_string() == name
}

fn is_name_place(path: &[PathStep]) -> bool {
    let is_key = |step: &PathStep, text: &str| matches!(step, PathStep::Key(key) if key == text);
    matches!(path, [first, second] if is_key(first, "parameters") && is_key(second, "componentName"))
}

/// Returns whether the parameters that repeat the names follow the rename, both keep the old name, or never repeated a
/// name.
fn names_fit(old: &Features<'_>, new: &Features<'_>) -> bool {
    match (&old.own_name, &new.own_name) {
        (None, None) => true,
        (Some(was), Some(is)) => was == is || (was == old.name) == (is == new.name),
        _ => false,
    }
}

fn is_same(old: &Features<'_>, new: &Features<'_>) -> bool {
    if old.kind != new.kind || !names_fit(old, new) || (old.leaves.is_empty() && old.links.is_empty()) {
        return false;
    }
    alike(&old.leaves, &new.leaves, ALIKE) && alike(&old.links, &new.links, LINKED_ALIKE)
}

fn alike<T: Ord>(old: &BTreeSet<T>, new: &BTreeSet<T>, percent: usize) -> bool {
    let twins = 2 * old.intersection(new).count();
    twins * 100 >= (old.len() + new.len()) * percent
}
