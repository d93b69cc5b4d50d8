//! Compares the two sides of a pipeline.

use super::document::{DiffDocument, NamedNode};
use super::leaf::{Leaf, PathStep};
use super::links::{self, LeafPlace, LinkKeys, Links, NamedLink};
use super::model::{ComponentChange, ComponentDiff, Field, PipelineDiff, VariableChange, VariableDiff};
use super::pair::{Pair, pairs};
use super::rename::{self, is_own_name, renames};
use super::walk::{MaybeNode, Walk};
use crate::findings::FileChange;
use crate::yaml::{NodeRef, Tree};
use std::collections::BTreeMap;

/// The content of a file, or the reason why it could not be read.
pub(super) type SideContent<'b> = Result<&'b [u8], &'b str>;

#[derive(Debug, Clone, Copy)]
pub struct Sides<'b> {
    /// The path from the repository root; the former path if the file was deleted.
    pub path: &'b str,
    pub previous_path: Option<&'b str>,
    /// The file in the base; `None` if it is new.
    pub before: Option<SideContent<'b>>,
    /// The file in the head; `None` if it was deleted.
    pub after: Option<SideContent<'b>>,
}

/// Both sides, read as YAML; a missing side is `None`.
pub struct SideTrees<'b> {
    pub before: Option<Tree<'b>>,
    pub after: Option<Tree<'b>>,
}

impl<'b> Sides<'b> {
    /// Reads both sides as YAML. The error says which side cannot be read, and why.
    pub fn trees(&self) -> Result<SideTrees<'b>, String> {
        Ok(SideTrees {
            before: self.before.map(|content| tree("base", content)).transpose()?,
            after: self.after.map(|content| tree("head", content)).transpose()?,
        })
    }
}

/// Compares the sides of one file. Never fails: an unreadable side is reported in the result.
pub fn compare(sides: &Sides<'_>) -> PipelineDiff {
    compare_trees(sides, &sides.trees())
}

/// Compares like [`compare`], for callers that need the trees more than once.
pub fn compare_trees(sides: &Sides<'_>, trees: &Result<SideTrees<'_>, String>) -> PipelineDiff {
    let compared = trees.as_ref().map_err(String::clone);
    let compared = compared.and_then(|trees| readable(sides, trees));
    compared.unwrap_or_else(|reason| PipelineDiff {
        path: sides.path.to_owned(),
        previous_path: sides.previous_path.map(str::to_owned),
        change: FileChange::Unreadable,
        reason: Some(reason),
        kind: None,
        components: Vec::new(),
        links: Vec::new(),
        variables: Vec::new(),
        other: Vec::new(),
        layout: false,
    })
}

fn readable(sides: &Sides<'_>, trees: &SideTrees<'_>) -> Result<PipelineDiff, String> {
    let comparison = DocumentComparison {
        before: trees
            .before
            .as_ref()
            .map(|tree| document("base", tree))
            .transpose()?,
        after: trees
            .after
            .as_ref()
            .map(|tree| document("head", tree))
            .transpose()?,
    };
    comparison.diff(sides)
}

fn tree<'b>(side: &str, content: SideContent<'b>) -> Result<Tree<'b>, String> {
    let read = content.map_err(str::to_owned);
    read.and_then(|bytes| Tree::read(bytes, None).map_err(|error| error.to_string()))
        .map_err(|why| format!("in the {side}: {why}"))
}

fn document<'t, 'a>(side: &str, tree: &'t Tree<'a>) -> Result<DiffDocument<'t, 'a>, String> {
    DiffDocument::of(tree).map_err(|error| format!("in the {side}: {error}"))
}

struct DocumentComparison<'t, 'a> {
    before: Option<DiffDocument<'t, 'a>>,
    after: Option<DiffDocument<'t, 'a>>,
}

/// The links of both sides, and the new names of renamed components.
struct BothLinks<'t, 'a> {
    before: Links<'t, 'a>,
    after: Links<'t, 'a>,
    renames: BTreeMap<&'t str, &'t str>,
}

impl<'t, 'a> DocumentComparison<'t, 'a> {
    fn diff(&self, sides: &Sides<'_>) -> Result<PipelineDiff, String> {
        let components = part_pairs(self.parts(|document| &document.components));
        let links = self.links(&components)?;
        let before: Vec<NamedLink<'_>> = links.before.all.iter().map(|link| links.renamed(*link)).collect();
        let newest = self.after.as_ref().or(self.before.as_ref());
        let mut diff = PipelineDiff {
            path: sides.path.to_owned(),
            previous_path: sides.previous_path.map(str::to_owned),
            change: FileChange::Modified,
            reason: None,
            kind: newest.map(|document| document.kind),
            components: self.components(&components, &links),
            links: links::compare(&before, &links.after.all),
            variables: part_pairs(self.parts(|document| &document.variables))
                .into_iter()
                .filter_map(variable)
                .collect(),
            other: self.other(),
            layout: self.moved(),
        };
        let reordered = diff.links.is_empty() && before != links.after.all;
        diff.change = self.change(sides, &diff);
        let is_rewritten = matches!((sides.before, sides.after), (Some(old), Some(new)) if old != new);
        diff.layout |= reordered || (is_rewritten && !diff.has_content());
        Ok(diff)
    }

    fn change(&self, sides: &Sides<'_>, diff: &PipelineDiff) -> FileChange {
        match (&self.before, &self.after) {
            (None, _) => FileChange::Added,
            (_, None) => FileChange::Removed,
            _ if sides.previous_path.is_some() => FileChange::Renamed,
            _ if diff.has_content() => FileChange::Modified,
            _ => FileChange::Layout,
        }
    }

    fn parts(
        &self,
        pick: for<'d> fn(&'d DiffDocument<'t, 'a>) -> &'d Vec<NamedNode<'t, 'a>>,
    ) -> [Vec<NamedNode<'t, 'a>>; 2] {
        [&self.before, &self.after].map(|side| side.as_ref().map(pick).cloned().unwrap_or_default())
    }

    fn links(&self, components: &[PartPair<'t, 'a>]) -> Result<BothLinks<'t, 'a>, String> {
        let keys = self.link_keys();
        let of = |side: &Option<DiffDocument<'t, 'a>>| {
            let links = side.as_ref().map(|document| document.links(keys));
            links.unwrap_or_default()
        };
        let (before, after) = (of(&self.before), of(&self.after));
        before.reject_long_names("base")?;
        after.reject_long_names("head")?;
        let renames = match (&self.before, &self.after) {
            (Some(_), Some(_)) => renames(
                &rename::RenameSide {
                    keys,
                    alone: alone(components, |pair| (pair.before, pair.after)),
                    links: &before.all,
                },
                &rename::RenameSide {
                    keys,
                    alone: alone(components, |pair| (pair.after, pair.before)),
                    links: &after.all,
                },
            ),
            _ => BTreeMap::new(),
        };
        Ok(BothLinks {
            before,
            after,
            renames,
        })
    }

    fn components(&self, all: &[PartPair<'t, 'a>], links: &BothLinks<'t, 'a>) -> Vec<ComponentDiff> {
        let gone: BTreeMap<&str, NodeRef<'_, '_>> = all
            .iter()
            .filter_map(|pair| Some((pair.key, pair.before.filter(|_| pair.after.is_none())?)))
            .collect();
        let old_names: BTreeMap<&str, &str> = links.renames.iter().map(|(old, new)| (*new, *old)).collect();
        let one = |pair: &PartPair<'t, 'a>| {
            if pair.after.is_none() && links.renames.contains_key(pair.key) {
                return None;
            }
            let old_name = old_names.get(pair.key).copied();
            let before = pair.before.or_else(|| gone.get(old_name?).copied());
            self.component(old_name, Pair { before, ..*pair }, links)
        };
        all.iter().filter_map(one).collect()
    }

    fn component(
        &self,
        old_name: Option<&str>,
        pair: PartPair<'t, 'a>,
        links: &BothLinks<'t, 'a>,
    ) -> Option<ComponentDiff> {
        let change = match (pair.before, pair.after) {
            (Some(_), Some(_)) if old_name.is_some() => ComponentChange::Renamed,
            (Some(_), Some(_)) => ComponentChange::Modified,
            (None, _) => ComponentChange::Added,
            (_, None) => ComponentChange::Removed,
        };
        let mut fields = self.fields(pair.before, pair.after);
        fields.extend(rest(
            links.before.rest.get(old_name.unwrap_or(pair.key)),
            links.after.rest.get(pair.key),
        ));
        if let Some(old) = old_name {
            fields.retain(|field| !repeats_names(field, old, pair.key));
        }
        if fields.is_empty() && change == ComponentChange::Modified {
            return None;
        }
        let newest = pair.after.or(pair.before);
        let kind = newest.and_then(|node| node.get("type")).and_then(NodeRef::text);
        Some(ComponentDiff {
            name: pair.key.to_owned(),
            previous_name: old_name.map(str::to_owned),
            kind: kind.map(str::to_owned),
            change,
            keeps_component_name: old_name.is_some_and(|old| keeps_name(pair, old)),
            fields,
        })
    }

    /// Returns the leaves of a component that differ, without those that contain links.
    fn fields(&self, before: MaybeNode<'_, '_>, after: MaybeNode<'_, '_>) -> Vec<Field> {
        let keys = self.link_keys();
        let aside = |key: &str| keys.hold(key);
        let mut walk = Walk::below(&[]);
        walk.compare_without((before, &aside), (after, &aside));
        walk.finish()
    }

    fn link_keys(&self) -> LinkKeys {
        let kind = |side: &Option<DiffDocument<'_, '_>>| side.as_ref().map(|document| document.kind);
        LinkKeys::between(kind(&self.before), kind(&self.after))
    }

    /// Returns the leaves that differ outside of components, variables and canvas.
    fn other(&self) -> Vec<Field> {
        let [before, after] = self.roots();
        let mut walk = Walk::below(&[]);
        let aside = |key: &str| matches!(key, "pipeline" | "design");
        walk.compare_without((before, &aside), (after, &aside));
        let mut fields = walk.finish();
        let pipelines = [before, after].map(|root| root.and_then(|root| root.get("pipeline")));
        let mut walk = Walk::below(&["pipeline"]);
        let [before, after] = pipelines;
        walk.compare_without(
            (before, &|key| is_of_parts(before, key)),
            (after, &|key| is_of_parts(after, key)),
        );
        fields.extend(walk.finish());
        fields
    }

    fn moved(&self) -> bool {
        let [before, after] = self.roots().map(|root| root.and_then(|root| root.get("design")));
        let mut walk = Walk::below(&[]);
        walk.compare(before, after);
        !walk.finish().is_empty()
    }

    fn roots(&self) -> [MaybeNode<'t, 'a>; 2] {
        [&self.before, &self.after].map(|side| side.as_ref().map(|document| document.root))
    }
}

impl<'t> BothLinks<'t, '_> {
    fn renamed(&self, link: NamedLink<'t>) -> NamedLink<'t> {
        let new = |name: &'t str| self.renames.get(name).copied().unwrap_or(name);
        NamedLink {
            from: new(link.from),
            to: new(link.to),
            kind: link.kind,
        }
    }
}

/// A component or a variable on both sides.
type PartPair<'t, 'a> = Pair<&'t str, NodeRef<'t, 'a>>;

fn part_pairs<'t, 'a>([before, after]: [Vec<NamedNode<'t, 'a>>; 2]) -> Vec<PartPair<'t, 'a>> {
    pairs(before.into_iter(), after.into_iter())
}

/// Returns the parts that only one side has.
fn alone<'t, 'a>(
    all: &[PartPair<'t, 'a>],
    sides: impl Fn(&PartPair<'t, 'a>) -> (MaybeNode<'t, 'a>, MaybeNode<'t, 'a>),
) -> Vec<NamedNode<'t, 'a>> {
    let only = |pair: &PartPair<'t, 'a>| match sides(pair) {
        (Some(node), None) => Some((pair.key, node)),
        _ => None,
    };
    all.iter().filter_map(only).collect()
}

/// Returns whether a key of `pipeline` contains parts that are compared separately. An empty map is compared as a leaf.
fn is_of_parts(pipeline: MaybeNode<'_, '_>, key: &str) -> bool {
    let parts = pipeline.and_then(|pipeline| pipeline.get(key));
    matches!(key, "components" | "variables") && parts.is_some_and(|parts| parts.entries().next().is_some())
}

/// Compares the values that are in the place of links but are not links.
fn rest(before: Option<&Vec<LeafPlace<'_, '_>>>, after: Option<&Vec<LeafPlace<'_, '_>>>) -> Vec<Field> {
    fn places<'p, 't, 'a>(
        side: Option<&'p Vec<LeafPlace<'t, 'a>>>,
    ) -> impl Iterator<Item = (&'p [PathStep], NodeRef<'t, 'a>)> {
        let places = side.into_iter().flatten();
        places.map(|(path, node)| (path.as_slice(), *node))
    }
    let mut fields = Vec::new();
    for pair in pairs(places(before), places(after)) {
        let mut walk = Walk::at(pair.key.to_vec());
        walk.compare(pair.before, pair.after);
        fields.extend(walk.finish());
    }
    fields
}

/// Returns whether this is the parameter in which each side repeats the component's name.
fn repeats_names(field: &Field, old: &str, new: &str) -> bool {
    let repeats = |leaf: &Option<Leaf>, name| {
        leaf.as_ref()
            .is_some_and(|leaf| is_own_name(&field.path, leaf, name))
    };
    repeats(&field.before, old) && repeats(&field.after, new)
}

/// Returns whether a component that had this name repeats it on both sides.
fn keeps_name(pair: PartPair<'_, '_>, old: &str) -> bool {
    let repeats = |side: MaybeNode<'_, '_>| {
        let name = side.and_then(|node| node.get("parameters")?.get("componentName"));
        name.and_then(Leaf::at)
            .is_some_and(|leaf| leaf.to_string() == old)
    };
    repeats(pair.before) && repeats(pair.after)
}

fn variable(pair: PartPair<'_, '_>) -> Option<VariableDiff> {
    let mut walk = Walk::below(&[]);
    walk.compare(pair.before, pair.after);
    let fields = walk.finish();
    let change = match (pair.before, pair.after) {
        (None, _) => VariableChange::Added,
        (_, None) => VariableChange::Removed,
        _ if fields.is_empty() => return None,
        _ => VariableChange::Modified,
    };
    Some(VariableDiff {
        name: pair.key.to_owned(),
        change,
        fields,
    })
}
