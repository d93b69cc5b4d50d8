//! Finds calls that are part of a cycle. No function is recursive, because call chains can have any length.

use std::collections::{HashMap, VecDeque};

/// Maximum number of pipelines in a group for which a single cycle is searched.
const MAX_SEARCHED_GROUP: usize = 200;

/// The calls between pipelines, which are identified by numbers.
pub(super) struct CallGroups {
    /// The pipelines that each pipeline calls.
    callees: Vec<Vec<usize>>,
    /// The group of each pipeline. The pipelines of a group call each other directly or indirectly.
    groups: Vec<usize>,
    sizes: HashMap<usize, usize>,
}

impl CallGroups {
    /// Groups the pipelines that call each other in a cycle. `callees` contains, for each pipeline, the indices of the
    /// pipelines that it calls.
    pub(super) fn new(callees: Vec<Vec<usize>>) -> Self {
        let groups = find_groups(&callees);
        let mut sizes = HashMap::new();
        for group in &groups {
            *sizes.entry(*group).or_default() += 1;
        }
        Self {
            callees,
            groups,
            sizes,
        }
    }

    /// Returns whether the call of `target` by `caller` is part of a cycle of calls.
    pub(super) fn is_in_cycle(&self, caller: usize, target: usize) -> bool {
        caller == target
            || (self.groups.get(caller).is_some() && self.groups.get(caller) == self.groups.get(target))
    }

    /// Returns the number of pipelines in the group of this pipeline, which call each other directly or indirectly.
    pub(super) fn group_size(&self, pipeline: usize) -> usize {
        let group = self.groups.get(pipeline);
        group
            .and_then(|group| self.sizes.get(group))
            .copied()
            .unwrap_or(1)
    }

    /// Returns the pipelines of the shortest cycle that contains the call of `target` by `caller`, starting with the
    /// caller. Returns `None` if the group is too large to search, or if the call is not part of a cycle.
    pub(super) fn find_shortest_cycle(&self, caller: usize, target: usize) -> Option<Vec<usize>> {
        if caller == target {
            return Some(vec![caller]);
        }
        if self.group_size(caller) > MAX_SEARCHED_GROUP {
            return None;
        }
        let mut previous_pipelines: HashMap<usize, usize> = HashMap::from([(target, caller)]);
        let mut queue = VecDeque::from([target]);
        while let Some(pipeline) = queue.pop_front() {
            for next_callee in self.callees.get(pipeline).into_iter().flatten() {
                if *next_callee == caller {
                    return Some(trace_path(&previous_pipelines, pipeline, caller));
                }
                if self.is_in_cycle(pipeline, *next_callee) && !previous_pipelines.contains_key(next_callee) {
                    previous_pipelines.insert(*next_callee, pipeline);
                    queue.push_back(*next_callee);
                }
            }
        }
        None
    }
}

/// Returns the path from `first` to `last`, by following `previous_pipelines` backward from `last`.
fn trace_path(previous_pipelines: &HashMap<usize, usize>, last: usize, first: usize) -> Vec<usize> {
    let mut path = vec![last];
    let mut pipeline = last;
    while let Some(previous) = previous_pipelines.get(&pipeline).filter(|_| pipeline != first) {
        path.push(*previous);
        pipeline = *previous;
    }
    path.reverse();
    path
}

/// Returns the group of each pipeline: a strongly connected component of the call graph, identified by one of its
/// pipelines. Uses Kosaraju's algorithm: the first walk records the order in which it leaves the pipelines; the second
/// walk starts from the pipelines in the reverse of this order, and follows the calls backward.
fn find_groups(callees: &[Vec<usize>]) -> Vec<usize> {
    let mut reverse_calls = vec![Vec::new(); callees.len()];
    for (caller, pipeline_callees) in callees.iter().enumerate() {
        for callee in pipeline_callees {
            if let Some(callee_callers) = reverse_calls.get_mut(*callee) {
                callee_callers.push(caller);
            }
        }
    }
    let mut leave_order = Vec::with_capacity(callees.len());
    walk_depth_first(callees, 0..callees.len(), &mut |_, pipeline| {
        leave_order.push(pipeline);
    });
    let mut groups = vec![0; callees.len()];
    walk_depth_first(
        &reverse_calls,
        leave_order.into_iter().rev(),
        &mut |root, pipeline| {
            if let Some(group) = groups.get_mut(pipeline) {
                *group = root;
            }
        },
    );
    groups
}

/// Visits each node that can be reached from the starts once, depth first. When all successors of a node are visited,
/// calls `leave` with the start from which the node was reached, and the node. The stack contains each open node with
/// the index of its next edge.
fn walk_depth_first(
    edges: &[Vec<usize>],
    starts: impl Iterator<Item = usize>,
    leave: &mut dyn FnMut(usize, usize),
) {
    let mut visited_nodes = vec![false; edges.len()];
    for start in starts {
        let mut stack = Vec::new();
        if mark_visited(&mut visited_nodes, start) {
            stack.push((start, 0));
        }
        while let Some((node, edge_index)) = stack.last_mut() {
            if let Some(next) = edges.get(*node).and_then(|next| next.get(*edge_index)) {
                *edge_index += 1;
                if mark_visited(&mut visited_nodes, *next) {
                    stack.push((*next, 0));
                }
            } else {
                leave(start, *node);
                stack.pop();
            }
        }
    }
}

/// Marks a node as visited, and returns whether it was not visited before.
fn mark_visited(visited_nodes: &mut [bool], node: usize) -> bool {
    visited_nodes
        .get_mut(node)
        .is_some_and(|is_visited| !std::mem::replace(is_visited, true))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn shortest_circle_begins_at_caller() {
        let calls = CallGroups::new(vec![vec![1, 2], vec![2], vec![0], vec![0, 3], vec![]]);
        assert_eq!(calls.find_shortest_cycle(0, 1), Some(vec![0, 1, 2]));
        assert_eq!(calls.find_shortest_cycle(0, 2), Some(vec![0, 2]));
        assert_eq!(calls.find_shortest_cycle(3, 3), Some(vec![3]));
        assert!(!calls.is_in_cycle(3, 0) && !calls.is_in_cycle(3, 4));
        assert_eq!((calls.group_size(1), calls.group_size(3)), (3, 1));
    }

    #[test]
    fn very_long_call_chain_is_walked() {
        let mut to: Vec<Vec<usize>> = (1..200_000).map(|next| vec![next]).collect();
        to.push(vec![0]);
        let calls = CallGroups::new(to);
        assert!(calls.is_in_cycle(7, 8));
        assert_eq!(calls.find_shortest_cycle(7, 8), None);
    }

    /// Returns whether calls lead from one pipeline to the other.
    fn reaches(to: &[Vec<usize>], from: usize, goal: usize) -> bool {
        let (mut seen, mut next) = (vec![false; to.len()], vec![from]);
        while let Some(at) = next.pop() {
            if at == goal {
                return true;
            }
            if !std::mem::replace(&mut seen[at], true) {
                next.extend(&to[at]);
            }
        }
        false
    }

    proptest! {
        #[test]
        fn call_is_in_circle_if_callee_leads_back(
            to in prop::collection::vec(prop::collection::vec(0_usize..8, 0..3), 8)
        ) {
            let calls = CallGroups::new(to.clone());
            for (from, called) in to.iter().enumerate() {
                for callee in called {
                    let leads_back = reaches(&to, *callee, from);
                    prop_assert_eq!(calls.is_in_cycle(from, *callee), leads_back);
                    let circle = calls.find_shortest_cycle(from, *callee).filter(|_| leads_back);
                    prop_assert_eq!(circle.is_some(), leads_back);
                    if let Some(circle) = circle {
                        let all = circle.iter().zip(circle.iter().cycle().skip(1));
                        prop_assert!(all.clone().all(|(a, b)| to[*a].contains(b)), "{circle:?}");
                        prop_assert!(circle[0] == from && (from == *callee || circle[1] == *callee));
                    }
                }
            }
        }
    }
}
