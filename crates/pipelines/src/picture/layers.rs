//! Assigns layers along the links to parts without a position on the canvas: the Start component is first, and each
//! part comes after the parts that lead to it.

/// Maximum number of parts without a link in one row.
const MAX_PARTS_PER_ROW: usize = 6;

/// Returns the layer and the row of each of `count` parts (boxes or stacks of boxes). Each link leads to a later layer,
/// except a link that closes a cycle. The layers of a cycle begin at a part for which `is_start` returns true, if there
/// is one.
pub(super) fn assign_layers(
    count: usize,
    links: &[(usize, usize)],
    is_start: &dyn Fn(usize) -> bool,
) -> Vec<(usize, usize)> {
    let mut successors: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut has_link = vec![false; count];
    for (source, target) in links
        .iter()
        .filter(|(source, target)| source != target && *source < count && *target < count)
    {
        successors[*source].push(*target);
        has_link[*source] = true;
        has_link[*target] = true;
    }
    let (sorted_parts, forward) = sort_topologically(&successors, is_start);
    let mut part_layers = vec![0_usize; count];
    for part in &sorted_parts {
        for next in &forward[*part] {
            part_layers[*next] = part_layers[*next].max(part_layers[*part] + 1);
        }
    }
    assign_positions(&sorted_parts, &forward, &part_layers, &has_link)
}

/// Returns the parts in an order in which each part comes before the parts that its links lead to. Also returns the
/// targets of the links of each part, without links that close a cycle. `successors` contains the targets of all links.
/// The depth-first search begins at the parts for which `is_start` returns true, then at parts that no link leads to.
fn sort_topologically(
    successors: &[Vec<usize>],
    is_start: &dyn Fn(usize) -> bool,
) -> (Vec<usize>, Vec<Vec<usize>>) {
    #[derive(Clone, Copy, PartialEq)]
    enum Visit {
        Unvisited,
        /// The part is on the way from the start to the current part.
        Open,
        Done,
    }
    let mut has_predecessor = vec![false; successors.len()];
    successors
        .iter()
        .flatten()
        .for_each(|target| has_predecessor[*target] = true);
    let mut start_order: Vec<usize> = (0..successors.len()).collect();
    start_order.sort_by_key(|part| (!is_start(*part), has_predecessor[*part], *part));
    let mut visits = vec![Visit::Unvisited; successors.len()];
    let mut forward: Vec<Vec<usize>> = vec![Vec::new(); successors.len()];
    let mut order = Vec::with_capacity(successors.len());
    for start in start_order {
        if visits[start] != Visit::Unvisited {
            continue;
        }
        visits[start] = Visit::Open;
        // The parts on the way from `start`, each with the index of its next link.
        let mut open_parts = vec![(start, 0)];
        while let Some((part, link_index)) = open_parts.last_mut() {
            let (part, next) = (*part, successors[*part].get(*link_index).copied());
            *link_index += 1;
            // A part is done after all its links. It comes after the parts that they lead to, so `order` is reversed.
            let Some(next) = next else {
                visits[part] = Visit::Done;
                order.push(part);
                open_parts.pop();
                continue;
            };
            // A link back to an open part closes a cycle.
            if visits[next] != Visit::Open {
                forward[part].push(next);
            }
            if visits[next] == Visit::Unvisited {
                visits[next] = Visit::Open;
                open_parts.push((next, 0));
            }
        }
    }
    order.reverse();
    (order, forward)
}

/// Returns the layer and the row of each part. Within a layer, orders the parts by the mean row of the parts that lead
/// to them, which keeps links short. Parts without a link come below all others. `forward` contains the parts that the
/// links of each part lead to, without links that close a cycle.
fn assign_positions(
    sorted_parts: &[usize],
    forward: &[Vec<usize>],
    part_layers: &[usize],
    has_link: &[bool],
) -> Vec<(usize, usize)> {
    let layer_count = part_layers.iter().max().map_or(0, |last| last + 1);
    let mut parts_by_layer: Vec<Vec<usize>> = vec![Vec::new(); layer_count];
    for part in sorted_parts.iter().filter(|part| has_link[**part]) {
        parts_by_layer[part_layers[*part]].push(*part);
    }
    let mut positions = vec![(0, 0); part_layers.len()];
    // For each part, the sum of the rows of the parts that lead to it, and the number of these parts.
    let mut predecessor_rows = vec![(0_usize, 0_usize); part_layers.len()];
    let mut row_count = 0;
    for parts in &mut parts_by_layer {
        parts.sort_by_key(|part| {
            let (row_sum, count) = predecessor_rows[*part];
            // The mean row in thousandths, or 0 for a part that no link leads to.
            ((row_sum * 1000).checked_div(count).unwrap_or(0), *part)
        });
        for (row, part) in parts.iter().enumerate() {
            positions[*part] = (part_layers[*part], row);
            row_count = row_count.max(row + 1);
            for next in &forward[*part] {
                let (row_sum, count) = predecessor_rows[*next];
                predecessor_rows[*next] = (row_sum + row, count + 1);
            }
        }
    }
    // The parts without a link fill rows of their own, from left to right.
    let unlinked_parts = (0..part_layers.len()).filter(|part| !has_link[*part]);
    for (index, part) in unlinked_parts.enumerate() {
        positions[part] = (index % MAX_PARTS_PER_ROW, row_count + index / MAX_PARTS_PER_ROW);
    }
    positions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_is_in_layer_after_its_predecessors() {
        let links = [(1, 0), (0, 2), (0, 3), (3, 4), (2, 4), (4, 0), (5, 5)];
        let placed = assign_layers(7, &links, &|at| at == 1);
        assert_eq!(placed, [(1, 0), (0, 0), (2, 0), (2, 1), (3, 0), (0, 2), (1, 2)]);
    }

    #[test]
    fn circle_begins_at_first_part() {
        assert_eq!(
            assign_layers(3, &[(0, 1), (1, 2), (2, 0)], &|_| false),
            [(0, 0), (1, 0), (2, 0)]
        );
        assert_eq!(assign_layers(0, &[], &|_| false), []);
    }
}
