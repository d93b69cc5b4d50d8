//! Assigns layers along the links to parts without a position on the canvas: Start first, each part after those that
//! lead to it.

/// Maximum number of parts without a link in one row.
const IN_A_ROW: usize = 6;

/// Returns the layer and the row of each of `count` parts. `is_first` returns whether a part is a start.
pub(super) fn layers(
    count: usize,
    links: &[(usize, usize)],
    is_first: &dyn Fn(usize) -> bool,
) -> Vec<(usize, usize)> {
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut has_link = vec![false; count];
    for (from, to) in links
        .iter()
        .filter(|(from, to)| from != to && *from < count && *to < count)
    {
        after[*from].push(*to);
        has_link[*from] = true;
        has_link[*to] = true;
    }
    let (order, forward) = walk(&after, is_first);
    let mut layer = vec![0_usize; count];
    for at in &order {
        for next in &forward[*at] {
            layer[*next] = layer[*next].max(layer[*at] + 1);
        }
    }
    rows(&order, &forward, &layer, &has_link)
}

/// Returns the parts, each before those that it leads to, and the links without those that lead back.
fn walk(after: &[Vec<usize>], is_first: &dyn Fn(usize) -> bool) -> (Vec<usize>, Vec<Vec<usize>>) {
    #[derive(Clone, Copy, PartialEq)]
    enum Visit {
        No,
        Open,
        Done,
    }
    let mut led_to = vec![false; after.len()];
    after.iter().flatten().for_each(|to| led_to[*to] = true);
    let mut begin: Vec<usize> = (0..after.len()).collect();
    begin.sort_by_key(|at| (!is_first(*at), led_to[*at], *at));
    let mut visits = vec![Visit::No; after.len()];
    let mut forward: Vec<Vec<usize>> = vec![Vec::new(); after.len()];
    let mut order = Vec::with_capacity(after.len());
    for first in begin {
        if visits[first] != Visit::No {
            continue;
        }
        visits[first] = Visit::Open;
        let mut open = vec![(first, 0)];
        while let Some((at, link)) = open.last_mut() {
            let (at, next) = (*at, after[*at].get(*link).copied());
            *link += 1;
            let Some(next) = next else {
                visits[at] = Visit::Done;
                order.push(at);
                open.pop();
                continue;
            };
            if visits[next] != Visit::Open {
                forward[at].push(next);
            }
            if visits[next] == Visit::No {
                visits[next] = Visit::Open;
                open.push((next, 0));
            }
        }
    }
    order.reverse();
    (order, forward)
}

/// Orders each layer by the mean position of the parts that lead to it; parts without a link come below all others.
fn rows(order: &[usize], forward: &[Vec<usize>], layer: &[usize], has_link: &[bool]) -> Vec<(usize, usize)> {
    let layers = layer.iter().max().map_or(0, |last| last + 1);
    let mut in_layer: Vec<Vec<usize>> = vec![Vec::new(); layers];
    for at in order.iter().filter(|at| has_link[**at]) {
        in_layer[layer[*at]].push(*at);
    }
    let mut placed = vec![(0, 0); layer.len()];
    let mut sums = vec![(0_usize, 0_usize); layer.len()];
    let mut lowest = 0;
    for parts in &mut in_layer {
        let middle = |at: &usize| {
            let (sum, number) = sums[*at];
            (sum * 1000).checked_div(number).unwrap_or(0)
        };
        parts.sort_by_key(|at| (middle(at), *at));
        for (row, at) in parts.iter().enumerate() {
            placed[*at] = (layer[*at], row);
            lowest = lowest.max(row + 1);
            for next in &forward[*at] {
                sums[*next] = (sums[*next].0 + row, sums[*next].1 + 1);
            }
        }
    }
    let alone = (0..layer.len()).filter(|at| !has_link[*at]);
    for (number, at) in alone.enumerate() {
        placed[at] = (number % IN_A_ROW, lowest + number / IN_A_ROW);
    }
    placed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_stands_behind_what_leads_to_it() {
        let links = [(1, 0), (0, 2), (0, 3), (3, 4), (2, 4), (4, 0), (5, 5)];
        let placed = layers(7, &links, &|at| at == 1);
        assert_eq!(placed, [(1, 0), (0, 0), (2, 0), (2, 1), (3, 0), (0, 2), (1, 2)]);
    }

    #[test]
    fn circle_begins_at_the_first_part() {
        assert_eq!(
            layers(3, &[(0, 1), (1, 2), (2, 0)], &|_| false),
            [(0, 0), (1, 0), (2, 0)]
        );
        assert_eq!(layers(0, &[], &|_| false), []);
    }
}
