//! Changes in one transaction: each is done or undone by itself, and all that are done become durable at once.

use super::{Statements as _, StoreError, begin};
use rusqlite::{Connection, Transaction};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use tokio::sync::oneshot::{Receiver, Sender, channel};

/// What comes of a change: its value, or why it was refused.
pub type Outcome<T, R> = Result<Result<T, R>, StoreError>;

/// The database's own words, for everyone whom they concern.
type Fault = Arc<rusqlite::Error>;

/// A change that waits for its turn, and then for the commit.
pub trait StoreChange: Send {
    /// Does the work; whether it is to stay.
    fn work(&mut self, transaction: &Transaction<'_>) -> Result<bool, Fault>;

    /// Tells who waits what came of it, or why nothing was kept.
    fn answer(self: Box<Self>, kept: Result<(), Fault>);
}

/// Somebody's work, and where they wait.
pub struct Asked<T, R, F> {
    work: Option<F>,
    done: Option<Result<Result<T, R>, Fault>>,
    asker: Sender<Outcome<T, R>>,
}

impl<T, R, F> Asked<T, R, F>
where
    T: Send + 'static,
    R: Send + 'static,
    F: FnOnce(&Transaction<'_>) -> rusqlite::Result<Result<T, R>> + Send + 'static,
{
    /// The change, and where to wait for what comes of it.
    pub fn change(work: F) -> (Box<dyn StoreChange>, Receiver<Outcome<T, R>>) {
        let (asker, receiver) = channel();
        let change = Self {
            work: Some(work),
            done: None,
            asker,
        };
        (Box::new(change), receiver)
    }
}

impl<T, R, F> StoreChange for Asked<T, R, F>
where
    T: Send,
    R: Send,
    F: FnOnce(&Transaction<'_>) -> rusqlite::Result<Result<T, R>> + Send,
{
    fn work(&mut self, transaction: &Transaction<'_>) -> Result<bool, Fault> {
        let Some(work) = self.work.take() else {
            return Ok(false);
        };
        let done = self.done.insert(work(transaction).map_err(Arc::new));
        match done {
            Ok(outcome) => Ok(outcome.is_ok()),
            Err(fault) => Err(Arc::clone(fault)),
        }
    }

    fn answer(self: Box<Self>, kept: Result<(), Fault>) {
        let outcome = match (self.done, kept) {
            (Some(Err(fault)), _) | (_, Err(fault)) => Err(fault.into()),
            (Some(Ok(outcome)), Ok(())) => Ok(outcome),
            // The work panicked.
            (None, Ok(())) => Err(StoreError::Defect),
        };
        // Nobody may be left to hear it.
        let _ = self.asker.send(outcome);
    }
}

/// Does the changes in their order, and makes them durable. After an error none of them is kept.
pub fn together(connection: &mut Connection, changes: &mut [Box<dyn StoreChange>]) -> Result<(), Fault> {
    if changes.is_empty() {
        return Ok(());
    }
    let transaction = begin(connection)?;
    for change in changes {
        alone(&transaction, change.as_mut())?;
    }
    transaction.commit()?;
    Ok(())
}

/// Does a change so that all of it stays or nothing.
fn alone(transaction: &Transaction<'_>, change: &mut dyn StoreChange) -> Result<(), Fault> {
    transaction.execute_cached("SAVEPOINT change", [])?;
    // Work that panicked is undone like work that failed, and does not take the others' with it.
    let done = catch_unwind(AssertUnwindSafe(|| change.work(transaction))).unwrap_or(Ok(false));
    match done {
        Ok(true) => {}
        // Where the disk is full, for example, SQLite itself has undone the whole transaction.
        Err(fault) if transaction.is_autocommit() => return Err(fault),
        Ok(false) | Err(_) => {
            transaction.execute_cached("ROLLBACK TO change", [])?;
        }
    }
    transaction.execute_cached("RELEASE change", [])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::tests::{INSERT, projects};
    use super::*;
    use crate::service::store::Store;

    type Waiting = Receiver<Outcome<i32, &'static str>>;

    /// Inserts a repository for the project, and ends as told.
    fn insert(
        project: i32,
        end: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<Result<i32, &'static str>> + Send + 'static,
    ) -> (Box<dyn StoreChange>, Waiting) {
        Asked::change(move |transaction| {
            transaction.execute(INSERT, [project])?;
            end(transaction)
        })
    }

    /// What each is told, as text, and the projects whose repositories are there then.
    fn outcomes(asked: Vec<(Box<dyn StoreChange>, Waiting)>) -> (Vec<String>, Vec<String>) {
        let store = Store::open(None).unwrap();
        let mut connection = store.connection.lock().unwrap();
        let (mut changes, waiting): (Vec<_>, Vec<_>) = asked.into_iter().unzip();
        let kept = together(&mut connection, &mut changes);
        for change in changes {
            change.answer(kept.clone());
        }
        let told = waiting
            .into_iter()
            .map(|waiting| match waiting.blocking_recv().unwrap() {
                Ok(outcome) => format!("{outcome:?}"),
                Err(error) => error.to_string(),
            });
        (told.collect(), projects(&connection))
    }

    #[test]
    fn each_is_done_or_undone_by_itself() {
        let (told, found) = outcomes(vec![
            insert(1, |_| Ok(Ok(1))),
            insert(2, |_| Ok(Err("no"))),
            insert(1, |_| Ok(Ok(0))),
            insert(3, |_| panic!("a defect")),
            insert(4, |transaction| transaction.execute(INSERT, [3]).map(|_| Ok(4))),
        ]);
        let taken = "database: UNIQUE constraint failed: repository.project";
        let defect = StoreError::Defect.to_string();
        assert_eq!(told, ["Ok(1)", "Err(\"no\")", taken, &defect, "Ok(4)"]);
        assert_eq!(found, ["1", "3", "4"]);
    }

    #[test]
    fn where_the_database_undoes_everything_nobody_hears_of_a_success() {
        let (told, found) = outcomes(vec![
            insert(1, |_| Ok(Ok(1))),
            insert(2, |transaction| {
                transaction.execute(&INSERT.replace("INSERT", "INSERT OR ROLLBACK"), [1])?;
                Ok(Ok(2))
            }),
            insert(3, |_| Ok(Ok(3))),
        ]);
        let taken = "database: UNIQUE constraint failed: repository.project";
        assert_eq!(told, [taken; 3]);
        assert!(found.is_empty(), "{found:?}");
    }

    #[test]
    fn where_the_commit_fails_nobody_hears_of_a_success() {
        let (told, found) = outcomes(vec![
            insert(1, |_| Ok(Ok(1))),
            insert(2, |_| Ok(Err("no"))),
            insert(3, |transaction| {
                transaction.pragma_update(None, "defer_foreign_keys", true)?;
                transaction.execute("INSERT INTO shared_pipeline VALUES (7, 0, 'x', 'y', NULL)", [])?;
                Ok(Ok(3))
            }),
        ]);
        assert_eq!(told, ["database: FOREIGN KEY constraint failed"; 3]);
        assert!(found.is_empty(), "{found:?}");
    }
}
