//! Holds the code to the rooms and arrows of docs/ARCHITECTURE.md.

#![allow(clippy::too_many_lines, reason = "a test tells its story in one piece")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "architecture/circles.rs"]
mod circles;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use walkdir::WalkDir;

/// A module of the tests', which those of any room may use.
const FOR_TESTS: &str = "schema";

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The table of docs/ARCHITECTURE.md: room to the rooms that it may import; none for "everything".
fn table() -> BTreeMap<String, Option<BTreeSet<String>>> {
    let document = fs::read_to_string(root().join("docs/ARCHITECTURE.md")).unwrap();
    let rows = document.lines().filter_map(|line| {
        let mut cells = line.strip_prefix("| `")?.split('|');
        let room = cells.next()?.trim().trim_end_matches('`').to_owned();
        let imports = cells.next()?.trim();
        let named = imports.split('`').skip(1).step_by(2).map(str::to_owned).collect();
        Some((room, (!imports.starts_with("everything")).then_some(named)))
    });
    rows.collect()
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

/// The room of a source file: the first part of its path below `src`.
fn room(file: &Path) -> String {
    let inside = file.strip_prefix(root().join("src")).unwrap();
    inside
        .iter()
        .next()
        .unwrap()
        .to_str()
        .unwrap()
        .trim_end_matches(".rs")
        .to_owned()
}

/// The rooms that a source names by `crate::room`.
fn imports(source: &str) -> BTreeSet<String> {
    let name = |rest: &str| {
        rest.chars()
            .take_while(|c| c.is_alphanumeric() || *c == '_')
            .collect::<String>()
    };
    source.split("crate::").skip(1).map(name).collect()
}

#[test]
fn every_room_stands_in_the_table() {
    let rooms: BTreeSet<String> = rust_files(&root().join("src"))
        .iter()
        .map(|file| room(file))
        .collect();
    let known: BTreeSet<String> = table()
        .into_keys()
        .chain(["main".to_owned(), "lib".to_owned()])
        .collect();
    assert_eq!(rooms, known);
}

#[test]
fn arrows_point_as_the_table_says() {
    let table = table();
    assert!(table.len() > 15, "the table was not read: {table:?}");
    let mut wrong = Vec::new();
    for file in rust_files(&root().join("src")) {
        let (room, source) = (room(&file), fs::read_to_string(&file).unwrap());
        let Some(Some(allowed)) = table.get(&room) else {
            continue;
        };
        let named = imports(&source);
        assert!(
            !named.contains(""),
            "{}: name the room right after `crate::`",
            file.display()
        );
        let strange = named
            .into_iter()
            .filter(|name| *name != room && *name != FOR_TESTS && !allowed.contains(name));
        wrong.extend(strange.map(|name| format!("{} imports {name}", file.display())));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Which wings of `commands` the files of each may name; what stands above the wings uses them all.
#[test]
fn the_wings_of_the_commands_stand_apart() {
    const WINGS: [(&str, &[&str]); 4] = [
        ("gate", &["kit"]),
        ("platform", &["kit"]),
        ("setup", &["kit", "gate"]),
        ("kit", &[]),
    ];
    let mut wrong = Vec::new();
    for (wing, allowed) in WINGS {
        let files = rust_files(&root().join("src/commands").join(wing));
        assert!(files.len() > 4, "{wing} was not read");
        for file in files {
            let source = fs::read_to_string(&file).unwrap();
            let named = source.split("crate::commands::").skip(1);
            let strange = named.filter_map(|rest| {
                let other = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
                let is_wing = WINGS.iter().any(|(name, _)| *name == other);
                (is_wing && other != wing && !allowed.contains(&other)).then_some(other)
            });
            wrong.extend(strange.map(|other| format!("{} uses {other}", file.display())));
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
