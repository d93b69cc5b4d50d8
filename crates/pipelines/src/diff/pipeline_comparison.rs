//! Compares the two versions of a pipeline.

use super::comparison_budget::ComparisonBudget;
use super::component_rename::{self, find_name_parameter, find_renames, repeats_component_name};
use super::diff_document::{DiffDocument, NamedNode};
use super::diff_walk::{ComparedFields, DiffWalk, FilteredNode, MaybeNode};
use super::file_change_line::is_executed;
use super::leaf::PathStep;
use super::named_links::{self, LinkKeys, Links, NamedLink};
use super::pair::{Pair, pair_by_key};
use super::pipeline_diff::{
    ComponentChange, ComponentDiff, FieldDiff, PipelineDiff, VariableChange, VariableDiff,
};
use super::pipeline_versions::{PipelineVersions, VersionTrees};
use super::version_side::VersionSide;
use crate::findings::FileChange;
use crate::pipelines::LAYOUT_KEY;
use sluicegate_yaml::{NodeRef, Tree};
use std::collections::{BTreeMap, BTreeSet};

/// Compares the two versions of a pipeline. Never fails: a version that cannot be read is reported in the result.
pub fn compare_versions(versions: &PipelineVersions<'_>) -> PipelineDiff {
    compare_trees(versions, &versions.parse_trees())
}

/// Compares versions that the caller already parsed. Like [`compare_versions`], returns any error as the `reason`.
pub fn compare_trees(
    versions: &PipelineVersions<'_>,
    trees: &Result<VersionTrees<'_>, String>,
) -> PipelineDiff {
    trees
        .as_ref()
        .map_err(String::clone)
        .and_then(|trees| compare_read_trees(versions, trees.base.as_ref(), trees.head.as_ref()))
        .unwrap_or_else(|reason| PipelineDiff {
            path: versions.path.to_owned(),
            previous_path: versions.previous_path.map(str::to_owned),
            change: FileChange::Unreadable,
            reason: Some(reason),
            kind: None,
            components: Vec::new(),
            links: Vec::new(),
            variables: Vec::new(),
            other: Vec::new(),
            told_other: None,
            layout: false,
            incomplete_renames: BTreeMap::new(),
        })
}

/// Compares two versions that were read. The error names the version that cannot be compared, and the reason.
pub fn compare_read_trees(
    versions: &PipelineVersions<'_>,
    base: Option<&Tree<'_>>,
    head: Option<&Tree<'_>>,
) -> Result<PipelineDiff, String> {
    let documents = DocumentPair {
        base: base
            .map(|tree| build_document(VersionSide::Base, tree))
            .transpose()?,
        head: head
            .map(|tree| build_document(VersionSide::Head, tree))
            .transpose()?,
        budget: ComparisonBudget::for_versions(versions),
    };
    documents.build_diff(versions)
}

/// Finds the parts of one version that are compared one by one. The error names the version.
fn build_document<'t, 'a>(side: VersionSide, tree: &'t Tree<'a>) -> Result<DiffDocument<'t, 'a>, String> {
    DiffDocument::from_tree(tree).map_err(|error| format!("in the {side}: {error}"))
}

struct DocumentPair<'t, 'a> {
    base: Option<DiffDocument<'t, 'a>>,
    head: Option<DiffDocument<'t, 'a>>,
    budget: ComparisonBudget,
}

/// The links of both versions, and the new names of renamed components.
struct LinkPair<'t, 'a> {
    base: Links<'t, 'a>,
    head: Links<'t, 'a>,
    renames: BTreeMap<&'t str, &'t str>,
    /// The renames of components to which the head still links under the old name.
    incomplete_renames: BTreeMap<&'t str, &'t str>,
}

impl<'t, 'a> DocumentPair<'t, 'a> {
    /// Compares the parts of both versions. Links in another order, and other bytes with the same content, are changes
    /// to the layout. The error names the version that has too many or too long links or changed values.
    fn build_diff(&self, versions: &PipelineVersions<'_>) -> Result<PipelineDiff, String> {
        let components = self.pair_parts(|document| &document.components);
        let links = self.collect_links(&components, versions)?;
        let base_links: Vec<NamedLink<'_>> = links
            .base
            .all
            .iter()
            .map(|link| links.apply_renames(*link))
            .collect();
        let other_fields = self.compare_other_fields();
        let newest_document = self.head.as_ref().or(self.base.as_ref());
        let mut diff = PipelineDiff {
            path: versions.path.to_owned(),
            previous_path: versions.previous_path.map(str::to_owned),
            change: FileChange::Modified,
            reason: None,
            kind: newest_document.map(|document| document.kind),
            components: self.compare_components(&components, &links),
            links: named_links::compare_links(&base_links, &links.head.all),
            variables: self
                .pair_parts(|document| &document.variables)
                .into_iter()
                .filter_map(|pair| compare_variable(pair, &self.budget))
                .collect(),
            other: other_fields.fields,
            told_other: other_fields.told_fields,
            layout: self.has_canvas_change(),
            incomplete_renames: links
                .incomplete_renames
                .iter()
                .map(|(old, new)| ((*new).to_owned(), (*old).to_owned()))
                .collect(),
        };
        let newest_side = match self.head {
            Some(_) => VersionSide::Head,
            None => VersionSide::Base,
        };
        self.budget.reject_excess(newest_side)?;
        let has_reordered_links = diff.links.is_empty() && base_links != links.head.all;
        diff.change = self.classify_change(versions, &diff);
        let has_other_bytes = matches!((versions.base, versions.head), (Some(old), Some(new)) if old != new);
        diff.layout |= has_reordered_links || (has_other_bytes && !diff.has_content_change());
        Ok(diff)
    }

    /// Returns the kind of the change to the file. A renamed file that also changed in other ways is `Renamed`. Two
    /// versions with the same content are `Layout`, even if the canvas did not change either.
    fn classify_change(&self, versions: &PipelineVersions<'_>, diff: &PipelineDiff) -> FileChange {
        match (&self.base, &self.head) {
            (None, _) => FileChange::Added,
            (_, None) => FileChange::Removed,
            _ if versions.previous_path.is_some() => FileChange::Renamed,
            _ if diff.has_content_change() => FileChange::Modified,
            _ => FileChange::Layout,
        }
    }

    /// Pairs the components or the variables of both versions by name. `parts_of` selects which of them.
    fn pair_parts(
        &self,
        parts_of: for<'d> fn(&'d DiffDocument<'t, 'a>) -> &'d Vec<NamedNode<'t, 'a>>,
    ) -> Vec<PartPair<'t, 'a>> {
        let base = self.base.as_ref().map(parts_of).cloned().unwrap_or_default();
        let head = self.head.as_ref().map(parts_of).cloned().unwrap_or_default();
        pair_by_key(base.into_iter(), head.into_iter())
    }

    /// Collects the links of both versions and, if both exist, finds the renamed components. The error names the
    /// version whose links are too many or too long to compare.
    fn collect_links(
        &self,
        components: &[PartPair<'t, 'a>],
        versions: &PipelineVersions<'_>,
    ) -> Result<LinkPair<'t, 'a>, String> {
        let keys = self.link_keys();
        let base_links = self.base.as_ref().map_or_else(Links::default, |document| {
            document.list_links(keys, versions.size(VersionSide::Base))
        });
        let head_links = self.head.as_ref().map_or_else(Links::default, |document| {
            document.list_links(keys, versions.size(VersionSide::Head))
        });
        base_links.reject_excess(VersionSide::Base)?;
        head_links.reject_excess(VersionSide::Head)?;
        let renames = match (&self.base, &self.head) {
            (Some(_), Some(_)) => find_renames(
                &component_rename::RenameSide {
                    keys,
                    unpaired_components: list_unpaired_parts(components, |pair| (pair.base, pair.head)),
                    links: &base_links.all,
                },
                &component_rename::RenameSide {
                    keys,
                    unpaired_components: list_unpaired_parts(components, |pair| (pair.head, pair.base)),
                    links: &head_links.all,
                },
            ),
            _ => BTreeMap::new(),
        };
        let links = head_links.all.iter();
        let linked_names: BTreeSet<&str> = links.flat_map(|link| [link.from, link.to]).collect();
        // All links of a component that the diff reports as renamed lead to its new name, so none of them is listed.
        let (incomplete_renames, renames) = renames
            .into_iter()
            .partition(|(old, _)| linked_names.contains(old));
        Ok(LinkPair {
            base: base_links,
            head: head_links,
            renames,
            incomplete_renames,
        })
    }

    /// Compares all components by name. A renamed component is compared with the one that has its old name.
    fn compare_components(&self, pairs: &[PartPair<'t, 'a>], links: &LinkPair<'t, 'a>) -> Vec<ComponentDiff> {
        let removed_nodes: BTreeMap<&str, NodeRef<'_, '_>> = pairs
            .iter()
            .filter_map(|pair| Some((pair.key, pair.base.filter(|_| pair.head.is_none())?)))
            .collect();
        let old_names: BTreeMap<&str, &str> = links.renames.iter().map(|(old, new)| (*new, *old)).collect();
        let mut components = Vec::new();
        for pair in pairs {
            // A renamed component is compared only once, under its new name.
            if pair.head.is_none() && links.renames.contains_key(pair.key) {
                continue;
            }
            let old_name = old_names.get(pair.key).copied();
            let base = pair.base.or_else(|| removed_nodes.get(old_name?).copied());
            components.extend(self.compare_component(old_name, Pair { base, ..*pair }, links));
        }
        components
    }

    /// Compares two versions of a component; links are compared separately. Returns `None` if both versions have it
    /// under the same name with the same fields. `old_name` is the name of a renamed component in the base; its
    /// parameter `componentName` is ignored if it changed like the name.
    fn compare_component(
        &self,
        old_name: Option<&str>,
        pair: PartPair<'t, 'a>,
        links: &LinkPair<'t, 'a>,
    ) -> Option<ComponentDiff> {
        let change = match (pair.base, pair.head) {
            (Some(_), Some(_)) if old_name.is_some() => ComponentChange::Renamed,
            (Some(_), Some(_)) => ComponentChange::Modified,
            (None, _) => ComponentChange::Added,
            (_, None) => ComponentChange::Removed,
        };
        let mut fields = self.compare_component_fields(pair.base, pair.head);
        fields.extend(named_links::compare_non_links(
            links.base.other_values.get(old_name.unwrap_or(pair.key)),
            links.head.other_values.get(pair.key),
            &self.budget,
        ));
        if let Some(old) = old_name {
            fields.retain(|field| !follows_rename(field, old, pair.key));
        }
        if fields.fields.is_empty() && change == ComponentChange::Modified {
            return None;
        }
        let newest_node = pair.head.or(pair.base);
        let kind = newest_node
            .and_then(|node| node.get("type"))
            .filter(|node| !node.is_null())
            .and_then(NodeRef::text);
        Some(ComponentDiff {
            name: pair.key.to_owned(),
            previous_name: old_name.map(str::to_owned),
            kind: kind.map(str::to_owned),
            change,
            keeps_component_name: old_name.is_some_and(|old| keeps_old_name(pair, old)),
            runs_in_base: pair.base.is_some_and(is_executed),
            fields: fields.fields,
            told_fields: fields.told_fields,
        })
    }

    /// Returns the leaves of a component that differ, without those under keys for links.
    fn compare_component_fields(&self, base: MaybeNode<'_, '_>, head: MaybeNode<'_, '_>) -> ComparedFields {
        let keys = self.link_keys();
        let is_excluded = &|key: &str| keys.contains(key);
        let [base, head] = [base, head].map(|node| FilteredNode { node, is_excluded });
        ComparedFields::collect(&[], &self.budget, |walk| {
            walk.compare_filtered_nodes(&base, &head);
        })
    }

    /// Returns the keys under which components have links, which depend on the kinds of both versions.
    fn link_keys(&self) -> LinkKeys {
        let kind_of = |side: &Option<DiffDocument<'_, '_>>| side.as_ref().map(|document| document.kind);
        LinkKeys::for_kinds(kind_of(&self.base), kind_of(&self.head))
    }

    /// Returns the leaves that differ outside of components, variables and canvas; those below `pipeline` are last.
    /// `pipeline` is compared separately, because components and variables are excluded only below it.
    fn compare_other_fields(&self) -> ComparedFields {
        let is_excluded = &|key: &str| matches!(key, "pipeline" | LAYOUT_KEY);
        let [base, head] = self.roots().map(|node| FilteredNode { node, is_excluded });
        let mut fields = ComparedFields::collect(&[], &self.budget, |walk| {
            walk.compare_filtered_nodes(&base, &head);
        });
        let [base, head] = self
            .roots()
            .map(|root| root.and_then(|root| root.get("pipeline")));
        fields.extend(ComparedFields::collect(
            &[PathStep::key("pipeline")],
            &self.budget,
            |walk| {
                walk.compare_filtered_nodes(
                    &FilteredNode {
                        node: base,
                        is_excluded: &|key| has_parts(base, key),
                    },
                    &FilteredNode {
                        node: head,
                        is_excluded: &|key| has_parts(head, key),
                    },
                );
            },
        ));
        fields
    }

    /// Returns whether anything on the canvas (the key `design`) differs, such as the positions of the components.
    fn has_canvas_change(&self) -> bool {
        let [base, head] = self
            .roots()
            .map(|root| root.and_then(|root| root.get(LAYOUT_KEY)));
        DiffWalk::finds_difference(base, head)
    }

    /// Returns the root nodes of base and head; `None` for a version that does not exist.
    fn roots(&self) -> [MaybeNode<'t, 'a>; 2] {
        [&self.base, &self.head].map(|side| side.as_ref().map(|document| document.root))
    }
}

impl<'t> LinkPair<'t, '_> {
    /// Returns the link with the old names of renamed components replaced by the new names.
    fn apply_renames(&self, link: NamedLink<'t>) -> NamedLink<'t> {
        let new_name = |name: &'t str| self.renames.get(name).copied().unwrap_or(name);
        NamedLink {
            from: new_name(link.from),
            to: new_name(link.to),
            kind: link.kind,
        }
    }
}

/// A component or a variable in both versions; `None` in a version that does not have it.
type PartPair<'t, 'a> = Pair<&'t str, NodeRef<'t, 'a>>;

/// Returns the parts that only one version has. `sides` returns the nodes of a pair with that version first.
fn list_unpaired_parts<'t, 'a>(
    pairs: &[PartPair<'t, 'a>],
    sides: impl Fn(&PartPair<'t, 'a>) -> (MaybeNode<'t, 'a>, MaybeNode<'t, 'a>),
) -> Vec<NamedNode<'t, 'a>> {
    pairs
        .iter()
        .filter_map(|pair| match sides(pair) {
            (Some(node), None) => Some((pair.key, node)),
            _ => None,
        })
        .collect()
}

/// Returns whether this key of `pipeline` has components or variables to compare by name. An empty map has none.
fn has_parts(pipeline: MaybeNode<'_, '_>, key: &str) -> bool {
    let parts = pipeline.and_then(|pipeline| pipeline.get(key));
    matches!(key, "components" | "variables") && parts.is_some_and(|parts| parts.entries().next().is_some())
}

/// Returns whether the field only repeats the rename: its parameter `componentName` changed like the component's name.
fn follows_rename(field: &FieldDiff, old_name: &str, new_name: &str) -> bool {
    let (Some(base), Some(head)) = (&field.before, &field.after) else {
        return false;
    };
    repeats_component_name(&field.path, base, old_name) && repeats_component_name(&field.path, head, new_name)
}

/// Returns whether the parameter `componentName` of a renamed component is the old name in both versions. The
/// description remarks on such a parameter, because it usually repeats the name of its component.
fn keeps_old_name(pair: PartPair<'_, '_>, old_name: &str) -> bool {
    has_component_name(pair.base, old_name) && has_component_name(pair.head, old_name)
}

/// Returns whether the parameter `componentName` of the component has this value.
fn has_component_name(component: MaybeNode<'_, '_>, name: &str) -> bool {
    component
        .and_then(find_name_parameter)
        .is_some_and(|leaf| leaf.to_string() == name)
}

/// Compares two versions of a variable; `None` if they are equal.
fn compare_variable(pair: PartPair<'_, '_>, budget: &ComparisonBudget) -> Option<VariableDiff> {
    let comparison = ComparedFields::collect(&[], budget, |walk| walk.compare_nodes(pair.base, pair.head));
    let change = match (pair.base, pair.head) {
        (None, _) => VariableChange::Added,
        (_, None) => VariableChange::Removed,
        _ if comparison.fields.is_empty() => return None,
        _ => VariableChange::Modified,
    };
    Some(VariableDiff {
        name: pair.key.to_owned(),
        change,
        fields: comparison.fields,
        told_fields: comparison.told_fields,
    })
}
