//! Overlaps reading with computing. A repository belongs to one thread: while it reads the next contents, all cores
//! compute with those before. Memory use is bounded by the size of the contents.

use rayon::prelude::*;

/// Approximate size of the contents that are computed with at a time, in bytes; as much again is read meanwhile.
const HELD: usize = 2 * 1024 * 1024;

/// Minimum size that counts for a content, in bytes: also small ones take memory.
const LEAST: usize = 64;

/// Returns the result of `compute` for each of `items`, in order. Each item was just read, and has its size in bytes.
/// The first error ends the reading.
pub fn computed<T: Send, R: Send, E>(
    items: impl Iterator<Item = Result<(T, usize), E>>,
    compute: &(dyn Fn(T) -> R + Sync),
) -> Result<Vec<R>, E> {
    let mut all = Vec::new();
    each(items, compute, |result| all.push(result))?;
    Ok(all)
}

/// Passes each result to `take`, in order, on this thread; see [`computed`].
pub fn each<T: Send, R: Send, E>(
    mut items: impl Iterator<Item = Result<(T, usize), E>>,
    compute: &(dyn Fn(T) -> R + Sync),
    mut take: impl FnMut(R),
) -> Result<(), E> {
    let mut window = read_some(&mut items)?;
    while !window.is_empty() {
        let mut results = Vec::new();
        let next = rayon::in_place_scope(|scope| {
            let results = &mut results;
            scope.spawn(move |_| *results = window.into_par_iter().map(compute).collect());
            read_some(&mut items)
        });
        results.into_iter().for_each(&mut take);
        window = next?;
    }
    Ok(())
}

/// Reads the next items, up to [`HELD`] bytes.
fn read_some<T, E>(items: &mut impl Iterator<Item = Result<(T, usize), E>>) -> Result<Vec<T>, E> {
    let (mut window, mut held) = (Vec::new(), 0);
    while held < HELD
        && let Some(item) = items.next()
    {
        let (content, size) = item?;
        held += size.max(LEAST);
        window.push(content);
    }
    Ok(window)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_items_and_memory_is_bounded() {
        let items = (0..10).map(|number| Ok::<_, ()>((number, HELD / 2)));
        assert_eq!(
            computed(items, &|number| number * 2).unwrap(),
            [0, 2, 4, 6, 8, 10, 12, 14, 16, 18]
        );
        let mut items = (0..10).map(|number| Ok::<_, ()>((number, HELD / 2)));
        assert_eq!(read_some(&mut items).unwrap(), [0, 1]);
        let mut small = (0..).map(|number| Ok::<_, ()>((number, 0)));
        assert_eq!(read_some(&mut small).unwrap().len(), HELD / LEAST);
    }

    #[test]
    fn first_error_ends_reading() {
        let items = (0..).map(|number| {
            if number < 3 {
                Ok((number, HELD))
            } else {
                Err(number)
            }
        });
        let mut taken = Vec::new();
        let ended = each(items, &|number| number, |number| taken.push(number));
        assert_eq!((ended, taken), (Err(3), vec![0, 1, 2]));
    }
}
