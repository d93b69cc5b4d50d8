//! Checks that packages and modules depend on each other as the tables in docs/ARCHITECTURE.md allow.

mod dependency_circles;
mod names;

use crate::support::root;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use walkdir::WalkDir;

/// The package that the tests of every package and module may use.
const TEST_SUPPORT: &str = "test-support";

/// The root package.
const PROGRAM: &str = "sluicegate";

type Names = BTreeSet<String>;

/// Returns the directory of each package, by the package's name.
fn packages() -> BTreeMap<String, PathBuf> {
    let crates = fs::read_dir(root().join("crates")).unwrap();
    let below = crates.map(|entry| {
        let path = entry.unwrap().path();
        (
            format!("{PROGRAM}-{}", path.file_name().unwrap().to_str().unwrap()),
            path,
        )
    });
    below.chain([(PROGRAM.to_owned(), root())]).collect()
}

/// Returns the cells of a row of a table.
fn cells(line: &str) -> Vec<&str> {
    line.trim_matches('|').split('|').map(str::trim).collect()
}

/// Reads the rows of the table of docs/ARCHITECTURE.md whose heading starts with `heading`.
fn rows(heading: &str) -> Vec<Vec<String>> {
    let document = fs::read_to_string(root().join("docs/ARCHITECTURE.md")).unwrap();
    let lines = document.lines().skip_while(|line| !line.starts_with(heading));
    let lines = lines.skip(2).take_while(|line| line.starts_with('|'));
    lines
        .map(|line| cells(line).into_iter().map(str::to_owned).collect())
        .collect()
}

/// Returns the names in backticks, or `None` if the cell allows all.
fn cell_names(cell: &str) -> Option<Names> {
    let named = cell.split('`').skip(1).step_by(2).map(str::to_owned);
    (cell != "all").then(|| named.collect())
}

/// What a module may import: modules of its package, and packages. `None` allows all.
struct Imports {
    modules: Option<Names>,
    packages: Option<Names>,
}

/// Reads the table of modules: for each package with rows, the imports of each module.
fn modules() -> BTreeMap<String, BTreeMap<String, Imports>> {
    let mut table: BTreeMap<String, BTreeMap<String, Imports>> = BTreeMap::new();
    for row in rows("| package | module |") {
        let [package, module] = [&row[0], &row[1]].map(|cell| cell.trim_matches('`').to_owned());
        let imports = Imports {
            modules: cell_names(&row[2]),
            packages: cell_names(&row[3]),
        };
        assert!(
            table
                .entry(package)
                .or_default()
                .insert(module, imports)
                .is_none(),
            "{row:?} appears twice"
        );
    }
    table
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

/// Returns the module of a path that has a row in the table: the first or the second part of the path.
fn module<'p>(table: &BTreeMap<String, Imports>, path: impl Iterator<Item = &'p str>) -> String {
    let path: Vec<&str> = path.take(2).collect();
    let first = path.first().copied().unwrap_or_default();
    let has_row = table.contains_key(first);
    path.get(1)
        .copied()
        .filter(|_| !has_row)
        .unwrap_or(first)
        .to_owned()
}

fn module_of_file(table: &BTreeMap<String, Imports>, src: &Path, file: &Path) -> String {
    let inside = file.strip_prefix(src).unwrap().with_extension("");
    let parts = inside.iter().map(|part| part.to_str().unwrap());
    module(table, parts.filter(|part| *part != "mod"))
}

/// Returns the identifiers that follow each `prefix`, such as those of `crate::x::y`.
fn source_paths<'s>(source: &'s str, prefix: &str) -> Vec<&'s str> {
    let path = |rest: &'s str| {
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != ':');
        &rest[..end.unwrap_or(rest.len())]
    };
    source.split(prefix).skip(1).map(path).collect()
}

/// Returns the packages that a source file names.
fn imported_packages(source: &str) -> Names {
    let name = |path: &str| Some(path.split_once("::")?.0.replace('_', "-"));
    source_paths(source, "sluicegate_")
        .into_iter()
        .filter_map(name)
        .collect()
}

#[test]
fn every_module_has_a_row_and_every_row_a_module() {
    let table = modules();
    assert!(
        table.values().map(BTreeMap::len).sum::<usize>() > 25,
        "the table was not read"
    );
    for (package, rows) in table {
        let src = packages()[&package].join("src");
        let names: Names = rust_files(&src)
            .iter()
            .map(|file| module_of_file(&rows, &src, file))
            .collect();
        // The `mod.rs` of a directory of modules only contains these.
        let is_group = |name: &String| {
            !rows.contains_key(name) && src.join(name).join("mod.rs").exists()
                || ["lib", "main"].contains(&name.as_str())
        };
        let matches: Names = names.into_iter().filter(|name| !is_group(name)).collect();
        assert_eq!(matches, rows.into_keys().collect(), "{package}");
    }
}

#[test]
fn modules_import_only_what_the_table_allows() {
    let table = modules();
    let mut wrong = Vec::new();
    for (package, rows) in &table {
        let src = packages()[package].join("src");
        for file in rust_files(&src) {
            let source = fs::read_to_string(&file).unwrap();
            let name = module_of_file(rows, &src, &file);
            let Some(allowed) = rows.get(&name) else {
                continue;
            };
            let imported = source_paths(&source, "crate::")
                .into_iter()
                .map(|path| module(rows, path.split("::")));
            let is_strange = |other: &String| {
                let is_allowed = |names: &Names| names.contains(other);
                *other != name && !allowed.modules.as_ref().is_none_or(is_allowed)
            };
            wrong.extend(
                imported
                    .filter(is_strange)
                    .map(|other| format!("{} imports {other}", file.display())),
            );
            let is_allowed = |other: &String| {
                let is_listed = |names: &Names| names.contains(other);
                other == TEST_SUPPORT || allowed.packages.as_ref().is_none_or(is_listed)
            };
            wrong.extend(
                imported_packages(&source)
                    .into_iter()
                    .filter(|other| !is_allowed(other))
                    .map(|other| format!("{} imports the package {other}", file.display())),
            );
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Returns the packages of this workspace that a manifest names in its dependencies, also in those of its tests, which
/// may use [`TEST_SUPPORT`].
fn dependencies(package: &Path) -> Names {
    let manifest = fs::read_to_string(package.join("Cargo.toml")).unwrap();
    let prefix = format!("{PROGRAM}-");
    let mut names = Names::new();
    for section in manifest.split("\n[") {
        let heading = section.split(']').next().unwrap();
        if heading.ends_with("dependencies") && heading != "workspace.dependencies" {
            let packages = section
                .lines()
                .filter_map(|line| line.strip_prefix(&prefix)?.split(['.', ' ', '=']).next())
                .filter(|package| !heading.ends_with("dev-dependencies") || *package != TEST_SUPPORT);
            names.extend(packages.map(str::to_owned));
        }
    }
    names
}

#[test]
fn packages_depend_only_on_what_the_table_allows() {
    let mut table: BTreeMap<String, Option<Names>> = rows("| package | directory |")
        .into_iter()
        .map(|row| (row[0].trim_matches('`').to_owned(), cell_names(&row[3])))
        .collect();
    let workspace = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    for (package, folder) in packages() {
        let allowed = table
            .remove(&package)
            .unwrap_or_else(|| panic!("{package} has no row"));
        let value = dependencies(&folder);
        match allowed {
            Some(allowed) => assert!(value.is_subset(&allowed), "{package} depends on {value:?}"),
            None => assert!(!value.is_empty(), "the manifest of {package} was not read"),
        }
        if let Ok(path) = folder.strip_prefix(root())
            && package != PROGRAM
        {
            let mentions = workspace.matches(&format!("\"{}\"", path.display())).count();
            // If `cargo build` built it, its features would be those of the program.
            let is_default = package != format!("{PROGRAM}-{TEST_SUPPORT}");
            assert_eq!(
                mentions,
                2 + usize::from(is_default),
                "members, default members and dependencies name {package}"
            );
        }
    }
    assert!(table.is_empty(), "no such package: {:?}", table.keys());
}

/// No command is used outside of `commands`.
#[test]
fn shared_files_import_no_command() {
    let src = root().join("src");
    let mut wrong = Vec::new();
    for file in rust_files(&src) {
        let inside = file.strip_prefix(&src).unwrap();
        let is_command = inside.starts_with("commands");
        if !is_command && fs::read_to_string(&file).unwrap().contains("crate::commands") {
            wrong.push(inside.display().to_string());
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A command resolves the settings, calls the steps and chooses the exit code.
#[test]
fn files_of_commands_have_at_most_150_lines() {
    let folder = root().join("src/commands");
    let mut long = Vec::new();
    for file in rust_files(&folder) {
        let lines = fs::read_to_string(&file).unwrap().lines().count();
        if lines > 150 {
            long.push(format!("{}: {lines} lines", file.display()));
        }
    }
    assert!(long.is_empty(), "{long:#?}");
}

#[test]
fn main_is_thin_and_files_have_one_job() {
    let main = fs::read_to_string(root().join("src/main.rs")).unwrap();
    assert!(
        main.lines().count() < 20,
        "main only parses, runs and maps to a code"
    );
    let mut long = Vec::new();
    let files = packages()
        .into_values()
        .flat_map(|package| rust_files(&package.join("src")));
    for file in files.filter(|file| !file.ends_with("tests.rs")) {
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
    let mut file_count = 0;
    for (package, folder) in packages() {
        let src = folder.join("src");
        let files = rust_files(&src);
        file_count += files.len();
        let value = dependency_circles::circles(&src, &files);
        assert!(value.is_empty(), "{package}: {value:#?}");
    }
    assert!(file_count > 500, "only {file_count} files were read");
}
