//! Checks that the code follows the rooms and arrows of docs/ARCHITECTURE.md.

#![allow(clippy::too_many_lines, reason = "a test tells its story in one piece")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "architecture/circles.rs"]
mod circles;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use walkdir::WalkDir;

/// A module for tests, which the tests of any room may use.
const FOR_TESTS: &str = "schema";

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// A table of docs/ARCHITECTURE.md: for each name, the names that it may import, or `None` for all.
type Table = BTreeMap<String, Option<BTreeSet<String>>>;

/// Reads the table whose heading starts with `heading`.
fn table(heading: &str) -> Table {
    let document = fs::read_to_string(root().join("docs/ARCHITECTURE.md")).unwrap();
    let lines = document.lines().skip_while(|line| !line.starts_with(heading));
    let lines = lines.skip(2).take_while(|line| line.starts_with('|'));
    let rows = lines.filter_map(|line| {
        let mut cells = line.strip_prefix("| `")?.split('|');
        let name = cells.next()?.trim().trim_end_matches('`').to_owned();
        let imports = cells.next()?.trim();
        let named = imports.split('`').skip(1).step_by(2).map(str::to_owned).collect();
        Some((name, (!imports.starts_with("everything")).then_some(named)))
    });
    rows.collect()
}

fn wings() -> Table {
    table("| wing |")
}

fn rooms() -> Table {
    table("| room |")
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let entries = WalkDir::new(folder)
        .sort_by_file_name()
        .into_iter()
        .map(Result::unwrap);
    entries
        .map(|entry| entry.path().to_owned())
        .filter(|path| path.extension().is_some_and(|e| e == "rs"))
        .collect()
}

/// Returns the wing and the room of a module path; a wing without rooms in the table is a room itself.
fn place<'p>(path: impl Iterator<Item = &'p str>) -> (String, String) {
    let path: Vec<&str> = path.take(2).collect();
    let wing = path.first().copied().unwrap_or_default();
    let is_room = wing == FOR_TESTS || rooms().contains_key(wing);
    let room = path.get(1).copied().filter(|_| !is_room).unwrap_or(wing);
    (wing.to_owned(), room.to_owned())
}

fn place_of(file: &Path) -> (String, String) {
    let inside = file.strip_prefix(root().join("src")).unwrap().with_extension("");
    let parts = inside.iter().map(|part| part.to_str().unwrap());
    place(parts.filter(|part| *part != "mod"))
}

/// Returns the rooms that a source file names with `crate::wing::room`.
fn imports(source: &str) -> BTreeSet<(String, String)> {
    let path = |rest: &str| {
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != ':');
        place(rest[..end.unwrap_or(rest.len())].split("::"))
    };
    source.split("crate::").skip(1).map(path).collect()
}

#[test]
fn every_room_and_wing_stands_in_its_table() {
    let all = rust_files(&root().join("src"));
    let (found_wings, found_rooms): (BTreeSet<String>, BTreeSet<String>) =
        all.iter().map(|file| place_of(file)).unzip();
    let thin = ["main".to_owned(), "lib".to_owned()];
    let known = |table: Table| -> BTreeSet<String> { table.into_keys().chain(thin.clone()).collect() };
    assert_eq!(found_wings, known(wings()));
    // The `mod.rs` of a wing only contains its rooms and is not a room.
    let whole: BTreeSet<String> = found_rooms
        .difference(&wings().into_keys().collect())
        .cloned()
        .collect();
    let inner: BTreeSet<String> = known(rooms())
        .difference(&wings().into_keys().collect())
        .cloned()
        .collect();
    assert_eq!(whole, inner);
}

/// Returns the names in `named` that the table does not allow for `name`.
fn strange(table: &Table, name: &str, named: impl Iterator<Item = String>) -> Vec<String> {
    let Some(Some(allowed)) = table.get(name) else {
        return Vec::new();
    };
    let is_strange = |other: &String| other != name && *other != FOR_TESTS && !allowed.contains(other);
    named.filter(is_strange).collect()
}

#[test]
fn arrows_point_as_the_tables_say() {
    let (wings, rooms) = (wings(), rooms());
    assert!(wings.len() > 7 && rooms.len() > 25, "a table was not read");
    let mut wrong = Vec::new();
    for file in rust_files(&root().join("src")) {
        let (wing, room) = place_of(&file);
        let named = imports(&fs::read_to_string(&file).unwrap());
        let is_whole = |(wing, room): &&(String, String)| rooms.contains_key(room) || *wing == FOR_TESTS;
        let vague: Vec<_> = named.iter().filter(|place| !is_whole(place)).collect();
        assert!(
            vague.is_empty(),
            "{}: name wing and room right after `crate::`: {vague:?}",
            file.display()
        );
        let others = strange(&wings, &wing, named.iter().map(|(wing, _)| wing.clone()));
        let more = strange(&rooms, &room, named.iter().map(|(_, room)| room.clone()));
        let told = others.into_iter().chain(more);
        wrong.extend(told.map(|name| format!("{} imports {name}", file.display())));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// No wing imports, directly or through others, a wing that imports it.
#[test]
fn the_wings_are_one_stair() {
    let wings = wings();
    let mut left: Vec<&String> = wings.keys().collect();
    while !left.is_empty() {
        let is_free = |wing: &&String| match &wings[*wing] {
            Some(named) => !named.iter().any(|other| left.contains(&other)),
            None => left.len() == 1,
        };
        let rest: Vec<&String> = left.iter().copied().filter(|wing| !is_free(wing)).collect();
        assert!(rest.len() < left.len(), "in a circle: {rest:?}");
        left = rest;
    }
}

/// The commands for the platform's resources use no other command, and no command is used outside of `commands`.
#[test]
fn shared_files_import_no_command() {
    let src = root().join("src");
    let mut wrong = Vec::new();
    for file in rust_files(&src) {
        let inside = file.strip_prefix(&src).unwrap();
        let source = fs::read_to_string(&file).unwrap();
        let is_of_platform = inside.starts_with("commands/platform");
        for rest in source.split("crate::commands").skip(1) {
            let is_own = is_of_platform && rest.starts_with("::platform");
            if is_of_platform && !is_own || !inside.starts_with("commands") {
                wrong.push(inside.display().to_string());
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn main_is_thin_and_files_have_one_job() {
    let main = fs::read_to_string(root().join("src/main.rs")).unwrap();
    assert!(
        main.lines().count() < 20,
        "main only parses, runs and maps to a code"
    );
    let mut long = Vec::new();
    for file in rust_files(&root().join("src"))
        .into_iter()
        .filter(|file| !file.ends_with("tests.rs"))
    {
        let source = fs::read_to_string(&file).unwrap();
        let code = source.split("#[cfg(test)]").next().unwrap().lines().count();
        if code > 400 {
            long.push(format!("{}: {code} lines", file.display()));
        }
    }
    assert!(long.is_empty(), "{long:#?}");
}

#[test]
fn no_files_use_each_other_in_a_circle() {
    let src = root().join("src");
    let found = circles::circles(&src, &rust_files(&src));
    assert!(found.is_empty(), "{found:#?}");
}
