//! Finds the items that cannot be accepted, if all together cannot be.

/// Items that are rejected together.
pub(super) struct RejectedGroup<T> {
    pub(super) items: Vec<T>,
    /// The reason not to accept the items together; `None` if they were not tried, because of the maximum number of
    /// attempts.
    pub(super) objection: Option<String>,
}

impl<T> RejectedGroup<T> {
    /// Returns the reason to reject each item. The objection to a group may be true for only one of its items, so the
    /// others are rejected because they were not tried apart.
    pub(super) fn item_reason(&self) -> &str {
        match (self.items.as_slice(), &self.objection) {
            ([_], Some(objection)) => objection,
            _ => "too many other fixes cause new findings",
        }
    }
}

/// Divides the items into halves, for items that cannot be accepted together.
pub(super) fn split_in_halves<T>(mut items: Vec<T>) -> [Vec<T>; 2] {
    let second_half = items.split_off(items.len() / 2);
    [items, second_half]
}

/// Finds the items that cannot be accepted. `accept` adds a group to the accepted items, which it may remove from the
/// group, or returns the reason why this is not possible. Tries each half of such a group, down to single items, in
/// their order. The items that remain after the maximum number of attempts are rejected, because some of them could be
/// possible.
pub(super) fn reject_in_halves<T, E>(
    groups: impl IntoIterator<Item = Vec<T>, IntoIter: DoubleEndedIterator>,
    remaining_attempts: &mut usize,
    mut accept: impl FnMut(&mut Vec<T>) -> Result<Option<String>, E>,
) -> Result<Vec<RejectedGroup<T>>, E> {
    let mut rejected_groups = Vec::new();
    let mut pending_groups: Vec<Vec<T>> = groups.into_iter().rev().collect();
    while let Some(mut items) = pending_groups.pop() {
        if items.is_empty() {
            continue;
        }
        let mut objection = None;
        if *remaining_attempts > 0 {
            *remaining_attempts -= 1;
            objection = accept(&mut items)?;
            if objection.is_none() {
                continue;
            }
        }
        if items.len() > 1 && *remaining_attempts > 0 {
            pending_groups.extend(split_in_halves(items).into_iter().rev());
        } else {
            rejected_groups.push(RejectedGroup { items, objection });
        }
    }
    Ok(rejected_groups)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    /// Accepts only groups without the number 3. Returns the tried groups, and the rejected ones with the objection and
    /// the reason for each item.
    fn search(max_attempts: usize) -> (Vec<Vec<u32>>, Vec<String>) {
        let mut tried_groups = Vec::new();
        let mut remaining_attempts = max_attempts;
        let Ok(rejected_groups) = reject_in_halves([(1..=4).collect()], &mut remaining_attempts, |items| {
            tried_groups.push(items.clone());
            let objection = items.contains(&3).then(|| "three".to_owned());
            Ok::<_, Infallible>(objection)
        });
        let groups = rejected_groups.iter();
        let rejections = groups.map(|group| {
            let reason = group.item_reason();
            format!("{:?} {:?}: {reason}", group.items, group.objection)
        });
        (tried_groups, rejections.collect())
    }

    #[test]
    fn rejected_item_is_found_by_halves_in_order() {
        let (tried_groups, rejections) = search(10);
        assert_eq!(
            tried_groups,
            [vec![1, 2, 3, 4], vec![1, 2], vec![3, 4], vec![3], vec![4]]
        );
        assert_eq!(rejections, [r#"[3] Some("three"): three"#]);
    }

    #[test]
    fn items_after_the_last_attempt_are_rejected_for_their_number() {
        let reason = "too many other fixes cause new findings";
        let (_, rejections) = search(1);
        assert_eq!(rejections, [format!(r#"[1, 2, 3, 4] Some("three"): {reason}"#)]);
        let (tried_groups, rejections) = search(4);
        assert_eq!(tried_groups.len(), 4);
        assert_eq!(
            rejections,
            [
                r#"[3] Some("three"): three"#.to_owned(),
                format!("[4] None: {reason}")
            ]
        );
    }
}
