//! Finds calls that are part of a circle. No function is recursive, because call chains can have any length.

use std::collections::{HashMap, VecDeque};

/// Maximum number of pipelines in a group for which a single circle is searched.
const LARGEST: usize = 200;

/// The calls between pipelines, which are identified by numbers.
pub(super) struct Calls {
    /// The pipelines that each pipeline calls.
    to: Vec<Vec<usize>>,
    /// The group of each pipeline: the pipelines of a group reach each other.
    groups: Vec<usize>,
    sizes: HashMap<usize, usize>,
}

impl Calls {
    pub(super) fn new(to: Vec<Vec<usize>>) -> Self {
        let groups = groups(&to);
        let mut sizes = HashMap::new();
        for group in &groups {
            *sizes.entry(*group).or_default() += 1;
        }
        Self { to, groups, sizes }
    }

    /// Returns whether a call is part of a circle.
    pub(super) fn is_in_circle(&self, from: usize, to: usize) -> bool {
        from == to || (self.groups.get(from).is_some() && self.groups.get(from) == self.groups.get(to))
    }

    /// Returns the number of pipelines that call each other in circles with this one.
    pub(super) fn size(&self, at: usize) -> usize {
        let group = self.groups.get(at);
        group
            .and_then(|group| self.sizes.get(group))
            .copied()
            .unwrap_or(1)
    }

    /// Returns the shortest circle that begins with this call, or `None` if too many pipelines call each other.
    pub(super) fn circle(&self, from: usize, to: usize) -> Option<Vec<usize>> {
        if from == to {
            return Some(vec![from]);
        }
        if self.size(from) > LARGEST {
            return None;
        }
        let mut before: HashMap<usize, usize> = HashMap::from([(to, from)]);
        let mut next = VecDeque::from([to]);
        while let Some(at) = next.pop_front() {
            for called in self.to.get(at).into_iter().flatten() {
                if *called == from {
                    return Some(path_back(&before, at, from));
                }
                if self.is_in_circle(at, *called) && !before.contains_key(called) {
                    before.insert(*called, at);
                    next.push_back(*called);
                }
            }
        }
        None
    }
}

/// Returns the path from `from` to `last`, by following `before` backward.
fn path_back(before: &HashMap<usize, usize>, last: usize, from: usize) -> Vec<usize> {
    let mut path = vec![last];
    let mut at = last;
    while let Some(previous) = before.get(&at).filter(|_| at != from) {
        path.push(*previous);
        at = *previous;
    }
    path.reverse();
    path
}

/// Returns the strongly connected components, by two walks: the second follows the calls backward, beginning with the
/// pipelines that the first left last.
fn groups(to: &[Vec<usize>]) -> Vec<usize> {
    let mut from = vec![Vec::new(); to.len()];
    for (caller, called) in to.iter().enumerate() {
        for callee in called {
            if let Some(callers) = from.get_mut(*callee) {
                callers.push(caller);
            }
        }
    }
    let mut left = Vec::with_capacity(to.len());
    walk(to, 0..to.len(), &mut |_, at| left.push(at));
    let mut groups = vec![0; to.len()];
    walk(&from, left.into_iter().rev(), &mut |root, at| {
        if let Some(group) = groups.get_mut(at) {
            *group = root;
        }
    });
    groups
}

/// Visits everything reachable from each start, once. Calls `leave` for each node when it is left, with the start of
/// its walk.
fn walk(edges: &[Vec<usize>], starts: impl Iterator<Item = usize>, leave: &mut dyn FnMut(usize, usize)) {
    let mut seen = vec![false; edges.len()];
    let mut see = |at: usize| {
        seen.get_mut(at)
            .is_some_and(|seen| !std::mem::replace(seen, true))
    };
    for start in starts {
        let mut stack = Vec::new();
        if see(start) {
            stack.push((start, 0));
        }
        while let Some((at, done)) = stack.last_mut() {
            if let Some(next) = edges.get(*at).and_then(|next| next.get(*done)) {
                *done += 1;
                if see(*next) {
                    stack.push((*next, 0));
                }
            } else {
                leave(start, *at);
                stack.pop();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn shortest_circle_is_named_from_its_caller() {
        let calls = Calls::new(vec![vec![1, 2], vec![2], vec![0], vec![0, 3], vec![]]);
        assert_eq!(calls.circle(0, 1), Some(vec![0, 1, 2]));
        assert_eq!(calls.circle(0, 2), Some(vec![0, 2]));
        assert_eq!(calls.circle(3, 3), Some(vec![3]));
        assert!(!calls.is_in_circle(3, 0) && !calls.is_in_circle(3, 4));
        assert_eq!((calls.size(1), calls.size(3)), (3, 1));
    }

    #[test]
    fn chain_as_long_as_anybody_likes_is_walked() {
        let mut to: Vec<Vec<usize>> = (1..200_000).map(|next| vec![next]).collect();
        to.push(vec![0]);
        let calls = Calls::new(to);
        assert!(calls.is_in_circle(7, 8));
        assert_eq!(calls.circle(7, 8), None);
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
        fn call_is_part_of_circle_where_its_callee_leads_back(
            to in prop::collection::vec(prop::collection::vec(0_usize..8, 0..3), 8)
        ) {
            let calls = Calls::new(to.clone());
            for (from, called) in to.iter().enumerate() {
                for callee in called {
                    let leads_back = reaches(&to, *callee, from);
                    prop_assert_eq!(calls.is_in_circle(from, *callee), leads_back);
                    let circle = calls.circle(from, *callee).filter(|_| leads_back);
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
