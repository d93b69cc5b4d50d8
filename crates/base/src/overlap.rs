//! Overlaps reading with computing. A repository belongs to one thread: while it reads the next contents, all cores
//! compute with those before. Memory use is bounded by the size of the contents.

use rayon::prelude::*;

/// Approximate size of the contents in a batch, in bytes. While a batch is computed, the next batch is read.
const BATCH_SIZE: usize = 2 * 1024 * 1024;

/// Minimum size that is assumed for a content, in bytes, because small contents take memory, too.
const MIN_COUNTED_SIZE: usize = 64;

/// Returns the result of `compute` for each content of `items`, in order. While one batch is computed on all cores,
/// this thread reads the next one. Each content comes with its size in bytes, which limits the size of a batch. The
/// first error of `items` is returned, and the remaining items are not read.
pub fn compute_all<T: Send, R: Send, E>(
    items: impl Iterator<Item = Result<(T, usize), E>>,
    compute: &(dyn Fn(T) -> R + Sync),
) -> Result<Vec<R>, E> {
    let mut results = Vec::new();
    compute_each(items, compute, |result| results.push(result))?;
    Ok(results)
}

/// Computes the results as [`compute_all`] does, but passes each of them to `use_result` on this thread instead of
/// returning a list, so that they need not be kept in memory.
pub fn compute_each<T: Send, R: Send, E>(
    mut items: impl Iterator<Item = Result<(T, usize), E>>,
    compute: &(dyn Fn(T) -> R + Sync),
    mut use_result: impl FnMut(R),
) -> Result<(), E> {
    let mut batch = read_batch(&mut items)?;
    while !batch.is_empty() {
        let mut results = Vec::new();
        let next_batch = rayon::in_place_scope(|scope| {
            scope.spawn(|_| results = batch.into_par_iter().map(compute).collect());
            read_batch(&mut items)
        });
        results.into_iter().for_each(&mut use_result);
        batch = next_batch?;
    }
    Ok(())
}

/// Reads the next contents, until they have [`BATCH_SIZE`] bytes or there are no more. A smaller content is counted
/// with [`MIN_COUNTED_SIZE`] bytes, so that the number of small contents in a batch is limited, too.
fn read_batch<T, E>(items: &mut impl Iterator<Item = Result<(T, usize), E>>) -> Result<Vec<T>, E> {
    let (mut batch, mut batch_size) = (Vec::new(), 0);
    while batch_size < BATCH_SIZE
        && let Some(item) = items.next()
    {
        let (content, size) = item?;
        batch_size += size.max(MIN_COUNTED_SIZE);
        batch.push(content);
    }
    Ok(batch)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_items_and_memory_is_bounded() {
        let items = (0..10).map(|number| Ok::<_, ()>((number, BATCH_SIZE / 2)));
        assert_eq!(
            compute_all(items, &|number| number * 2).unwrap(),
            [0, 2, 4, 6, 8, 10, 12, 14, 16, 18]
        );
        let mut items = (0..10).map(|number| Ok::<_, ()>((number, BATCH_SIZE / 2)));
        assert_eq!(read_batch(&mut items).unwrap(), [0, 1]);
        let mut small = (0..).map(|number| Ok::<_, ()>((number, 0)));
        assert_eq!(
            read_batch(&mut small).unwrap().len(),
            BATCH_SIZE / MIN_COUNTED_SIZE
        );
    }

    #[test]
    fn first_error_ends_reading() {
        let items = (0..).map(|number| {
            if number < 3 {
                Ok((number, BATCH_SIZE))
            } else {
                Err(number)
            }
        });
        let mut taken = Vec::new();
        let ended = compute_each(items, &|number| number, |number| taken.push(number));
        assert_eq!((ended, taken), (Err(3), vec![0, 1, 2]));
    }
}
