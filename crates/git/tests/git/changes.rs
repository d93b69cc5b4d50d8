//! The changes between two commits, compared with git's own results.

use crate::{matches_anything, open, pipelines, short};
use sluicegate_git::{FileKind, GitError};
use sluicegate_test_support::dice::Dice;
use sluicegate_test_support::repository::{
    World, commit_raw_tree, raw_tree_entry, trees_with_ambiguous_path,
};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

fn lines(count: usize, mark: &str) -> String {
    let lines: Vec<String> = (0..count).map(|n| format!("line {n} of {mark}\n")).collect();
    lines.concat()
}

/// Returns the changes of the last commit.
fn last(world: &World) -> Vec<String> {
    let repo = open(&world.work());
    let (base, head) = (repo.resolve("HEAD~1").unwrap(), repo.resolve("HEAD").unwrap());
    short(&repo.find_changes(&[base], &head, &matches_anything).unwrap())
}

#[test]
fn each_kind_of_change_is_distinguished() {
    let world = World::new();
    for name in [
        "deleted",
        "edited",
        "executable",
        "link",
        "moved/exact",
        "moved/similar",
    ] {
        world.write(name, lines(20, name));
    }
    world.write("same", "same");
    world.commit("one");
    world.git("rm -q deleted link");
    world.write("edited", lines(21, "edited"));
    world.git("update-index --chmod=+x executable");
    world.git("mv moved/exact exact");
    world.git("mv moved/similar renamed");
    world.write("renamed", lines(24, "moved/similar"));
    world.write("new", "completely different");
    std::os::unix::fs::symlink("same", world.work().join("link")).unwrap();
    world.git("add -A");
    world.git("update-index --chmod=+x executable");
    world.git("commit -q -m two");
    let expected = [
        "D deleted",
        "M edited",
        "R moved/exact -> exact",
        "T link",
        "A new",
        "R moved/similar -> renamed",
    ];
    assert_eq!(last(&world), expected);
    let repo = open(&world.work());
    let head = repo.resolve("HEAD").unwrap();
    assert_eq!(
        repo.find_file(&head, "link").unwrap().unwrap().kind,
        FileKind::Symlink
    );
}

#[test]
fn names_of_every_kind_are_kept_as_they_are() {
    let world = World::new();
    world.commit("one");
    let names = [
        " leading",
        "a b.txt",
        "q\"uote'",
        "ta\tb",
        "line\nbreak",
        "ünï/çödé",
        "日本.orch.yaml",
        "-dash",
        "back\\slash",
    ];
    for name in names {
        world.write(name, name);
    }
    world.commit("two");
    let mut expected: Vec<String> = names.iter().map(|name| format!("A {name}")).collect();
    expected.sort();
    assert_eq!(last(&world), expected);
    let repo = open(&world.work());
    let head = repo.resolve("HEAD").unwrap();
    assert!(repo.find_file(&head, "line\nbreak").unwrap().is_some());
}

#[test]
fn name_that_is_not_utf8_matters_only_if_it_is_wanted() {
    let world = World::new();
    world.write("a.orch.yaml", "1");
    let name = OsStr::from_bytes(b"b\xff.orch.yaml");
    std::fs::write(world.work().join(name), "2").unwrap();
    world.commit("one");
    let repo = open(&world.work());
    let head = repo.resolve("HEAD").unwrap();
    assert_eq!(
        repo.list_files(&head, &|path| path.starts_with("a."))
            .unwrap()
            .len(),
        1
    );
    let error = repo.list_files(&head, &pipelines).unwrap_err();
    assert!(
        matches!(&error, GitError::PathNotUtf8 { path } if path == "b\u{fffd}.orch.yaml"),
        "{error}"
    );
}

#[test]
fn file_that_becomes_a_folder_is_deleted_and_its_files_are_added() {
    let world = World::new();
    world.write("a", lines(9, "file"));
    world.write("a.b", "between the two in git's order");
    world.commit("one");
    world.git("rm -q a");
    world.write("a/inner", "something else");
    world.commit("two");
    assert_eq!(last(&world), ["D a", "A a/inner"]);
}

#[test]
fn rewritten_moved_file_is_renamed_only_if_it_is_a_document() {
    let world = World::new();
    world.write("a/load.orch.yaml", lines(9, "load"));
    world.write("a/settings.yaml", lines(9, "settings"));
    world.commit("one");
    world.git(&["rm", "-qr", "a"]);
    world.write("b/load.orch.yaml", "something else");
    world.write("b/settings.yaml", "another thing");
    world.commit("two");
    let separate = [
        "D a/load.orch.yaml",
        "D a/settings.yaml",
        "A b/load.orch.yaml",
        "A b/settings.yaml",
    ];
    assert_eq!(last(&world), separate);
    let repo = open(&world.work()).with_document_predicate(pipelines);
    let (base, head) = (repo.resolve("HEAD~1").unwrap(), repo.resolve("HEAD").unwrap());
    let paired = [
        "D a/settings.yaml",
        "R a/load.orch.yaml -> b/load.orch.yaml",
        "A b/settings.yaml",
    ];
    assert_eq!(
        short(&repo.find_changes(&[base], &head, &matches_anything).unwrap()),
        paired
    );
}

#[test]
fn rename_of_case_alone_is_a_rename() {
    let world = World::new();
    world.write("Load.orch.yaml", lines(9, "load"));
    world.commit("one");
    world.git("mv Load.orch.yaml load.orch.yaml");
    world.commit("two");
    assert_eq!(last(&world), ["R Load.orch.yaml -> load.orch.yaml"]);
}

#[test]
fn renames_are_found_among_wanted_files_only() {
    let world = World::new();
    world.write("template.yaml", lines(9, "x"));
    world.commit("one");
    world.git("mv template.yaml real.orch.yaml");
    world.commit("two");
    assert_eq!(last(&world), ["R template.yaml -> real.orch.yaml"]);
    let repo = open(&world.work());
    let (base, head) = (repo.resolve("HEAD~1").unwrap(), repo.resolve("HEAD").unwrap());
    assert_eq!(
        short(&repo.find_changes(&[base], &head, &pipelines).unwrap()),
        ["A real.orch.yaml"]
    );
}

#[test]
fn without_a_base_every_wanted_file_is_added() {
    let world = World::new();
    world.write("b/x.tran.yaml", "1");
    world.write("a.orch.yaml", "1");
    world.write("other.txt", "1");
    world.commit("one");
    let repo = open(&world.work());
    let head = repo.resolve("HEAD").unwrap();
    assert_eq!(
        short(&repo.find_changes(&[], &head, &pipelines).unwrap()),
        ["A a.orch.yaml", "A b/x.tran.yaml"]
    );
    assert_eq!(
        short(
            &repo
                .find_changes(std::slice::from_ref(&head), &head, &matches_anything)
                .unwrap()
        ),
        [""; 0]
    );
}

/// Returns about half of the content or more, sometimes with other line endings or without the last one.
fn edit_lines(content: &str, dice: &mut Dice) -> String {
    let kept = usize::try_from(13 + dice.roll(18)).unwrap();
    let end = if dice.roll(3) == 0 { "\r\n" } else { "\n" };
    let lines: Vec<&str> = content.lines().take(kept).collect();
    let last = if dice.roll(3) == 0 { "" } else { end };
    lines.join(end) + last
}

fn shuffle(world: &World, dice: &mut Dice) {
    for n in 0..60 {
        let path = format!("d{}/e{}/f{n}", n % 3, n % 7);
        match dice.roll(5) {
            0 => drop(world.git(&["rm", "-q", &path])),
            1 => world.write(&path, lines(30, &format!("{n} again"))),
            2 => {
                world.git(&["mv", &path, &format!("moved{n}")]);
                world.write(&format!("moved{n}"), edit_lines(&lines(30, &n.to_string()), dice));
            }
            _ => {}
        }
    }
}

#[test]
fn changes_are_those_that_git_finds() {
    for seed in 0..4 {
        let world = World::new();
        for n in 0..60 {
            world.write(&format!("d{}/e{}/f{n}", n % 3, n % 7), lines(30, &n.to_string()));
        }
        world.commit("one");
        shuffle(&world, &mut Dice(seed));
        world.commit("two");
        let git_output = world.git("diff --name-status -M HEAD~1 HEAD");
        let mut expected: Vec<String> = git_output.lines().map(as_short).collect();
        expected.sort_by_key(|line| line.rsplit(' ').next().map(str::to_owned));
        assert!(expected.len() > 20, "the shuffle changed too little to compare");
        assert_eq!(last(&world), expected, "seed {seed}");
    }
}

#[test]
fn file_that_was_moved_and_edited_on_disk_alone_is_a_rename() {
    let world = World::new();
    world.write("a/old.orch.yaml", lines(20, "a"));
    world.write("b/other.orch.yaml", lines(20, "b"));
    let base = world.commit("one");
    for (from, to) in [
        ("a/old.orch.yaml", "new.orch.yaml"),
        ("b/other.orch.yaml", "a/other.orch.yaml"),
    ] {
        std::fs::rename(world.work().join(from), world.work().join(to)).unwrap();
    }
    world.write("new.orch.yaml", lines(23, "a"));
    world.write("a/other.orch.yaml", lines(18, "b"));
    let repo = open(&world.work());
    let base = repo.resolve(&base).unwrap();
    let changes = |snapshot: &sluicegate_git::Snapshot<'_>| {
        short(
            &snapshot
                .find_changes(std::slice::from_ref(&base), &pipelines)
                .unwrap(),
        )
    };
    let expected = [
        "R b/other.orch.yaml -> a/other.orch.yaml",
        "R a/old.orch.yaml -> new.orch.yaml",
    ];
    assert_eq!(changes(&repo.read_disk_snapshot(None).unwrap()), expected);
    world.git("add -A");
    let repo = open(&world.work());
    assert_eq!(changes(&repo.read_staged_snapshot(None).unwrap()), expected);
}

/// Compares the result with git's for a directory of `before` files and one of `after` files.
fn same_as_git(before: &[(String, String)], after: &[(String, String)]) -> Vec<String> {
    let world = World::new();
    for (path, text) in before {
        world.write(path, text);
    }
    world.commit("one");
    world.git("rm -rq .");
    for (path, text) in after {
        world.write(path, text);
    }
    world.commit("two");
    let git_output = world.git("diff --name-status -M HEAD~1 HEAD");
    let mut expected: Vec<String> = git_output.lines().map(as_short).collect();
    expected.sort_by_key(|line| line.rsplit(' ').next().map(str::to_owned));
    let renames = last(&world);
    assert_eq!(renames, expected);
    renames
}

/// Returns this many files of a directory, each named by `name`.
fn folder(
    names: std::ops::Range<usize>,
    name: impl Fn(usize) -> String,
    size: usize,
) -> Vec<(String, String)> {
    names.map(|n| (name(n), lines(size, &n.to_string()))).collect()
}

#[test]
fn files_with_same_names_do_not_count_for_rename_limit() {
    // 1,100 files moved with an edit, and 20 others renamed with one: more than git compares pairwise.
    let old = |n: usize| {
        if n < 1100 {
            format!("old/f{n}")
        } else {
            format!("old/named{n}")
        }
    };
    let new = |n: usize| {
        if n < 1100 {
            format!("new/f{n}")
        } else {
            format!("other/called{n}")
        }
    };
    let changes = same_as_git(&folder(0..1120, old, 12), &folder(0..1120, new, 13));
    let renames = changes.iter().filter(|line| line.starts_with("R ")).count();
    assert_eq!(renames, 1120);
}

#[test]
fn beyond_the_limit_only_files_that_kept_content_or_name_are_renames() {
    let old = |n: usize| {
        if n < 10 {
            format!("old/f{n}")
        } else {
            format!("old/named{n}")
        }
    };
    let new = |n: usize| {
        if n < 10 {
            format!("new/f{n}")
        } else {
            format!("new/called{n}")
        }
    };
    let (before, mut after) = (folder(0..1030, old, 12), folder(0..1030, new, 13));
    for (n, (_, text)) in after.iter_mut().enumerate().skip(1020) {
        *text = lines(12, &n.to_string());
    }
    let changes = same_as_git(&before, &after);
    let renames = changes.iter().filter(|line| line.starts_with("R ")).count();
    assert_eq!(renames, 20);
}

#[test]
fn renames_of_equal_files_are_those_of_git() {
    let files = |paths: &[&str]| -> Vec<(String, String)> {
        let contents = |path: &&str| ((*path).to_owned(), lines(20, "same"));
        paths.iter().map(contents).collect()
    };
    let changes = same_as_git(
        &files(&["one/a", "one/b", "two/d"]),
        &files(&["three/a", "three/b", "two/y"]),
    );
    let renames = changes.iter().filter(|line| line.starts_with("R ")).count();
    assert_eq!(renames, 3, "{changes:?}");
}

/// Creates a change that moves these files, each with its new text, and deletes the other old files.
fn move_files(old_files: &[(String, String)], new_files: &[(String, String)]) -> World {
    let world = World::new();
    for (path, text) in old_files {
        world.write(path, text);
    }
    world.commit("one");
    world.git("rm -rq .");
    for (path, text) in new_files {
        world.write(path, text);
    }
    world.commit("two");
    world
}

/// Checks that the file in each folder `top/cN` is a rename of the file in the folder `cN`.
#[track_caller]
fn assert_folders_kept(world: &World, file_count: usize) {
    let renames = last(world);
    for rename in &renames {
        let (old_path, new_path) = rename[2..].split_once(" -> ").unwrap_or_default();
        assert_eq!(format!("top/{old_path}"), new_path, "{rename}");
    }
    assert_eq!(renames.len(), file_count);
}

#[test]
fn copies_of_one_template_that_moved_with_an_edit_keep_their_folders() {
    let files = |folder: &str, text: &str| -> Vec<(String, String)> {
        (0..12)
            .map(|n| (format!("{folder}c{n}/load"), lines(20, "load") + text))
            .collect()
    };
    assert_folders_kept(&move_files(&files("", ""), &files("top/", "moved\n")), 12);
    // Less similar files are not paired by their paths alone.
    let text = lines(15, "moved");
    assert_folders_kept(&move_files(&files("", ""), &files("top/", &text)), 12);
}

#[test]
fn beyond_the_limit_files_of_the_same_name_are_compared() {
    // No end of a path is unique, because the folders of the copies get new names.
    let files = |folder: &str, size: usize| -> Vec<(String, String)> {
        let numbers = (0..40).flat_map(|copy| (0..30).map(move |n| (copy, n)));
        numbers
            .map(|(copy, n)| {
                (
                    format!("{folder}{copy}/x/f{n}"),
                    lines(size, &format!("{copy} {n}")),
                )
            })
            .collect()
    };
    let renames = last(&move_files(&files("c", 12), &files("top/g", 13)));
    for rename in &renames {
        let (old_path, new_path) = rename[2..].split_once(" -> ").unwrap_or_default();
        assert_eq!(
            old_path.strip_prefix('c'),
            new_path.strip_prefix("top/g"),
            "{rename}"
        );
    }
    assert_eq!(renames.len(), 1200);
}

/// Returns the new paths of the uncertain renames of a change that moves files with these contents.
fn list_uncertain_renames(old_files: &[(&str, &str)], new_files: &[(&str, &str)]) -> Vec<String> {
    let own = |files: &[(&str, &str)]| -> Vec<(String, String)> {
        let pairs = files.iter();
        pairs
            .map(|(path, text)| ((*path).to_owned(), lines(20, "load") + text))
            .collect()
    };
    let world = move_files(&own(old_files), &own(new_files));
    let repo = open(&world.work());
    let (base, head) = (repo.resolve("HEAD~1").unwrap(), repo.resolve("HEAD").unwrap());
    let mut changes = repo.find_changes(&[base], &head, &matches_anything).unwrap();
    changes.retain(sluicegate_git::Change::is_uncertain_rename);
    changes.into_iter().map(|change| change.path).collect()
}

#[test]
fn rename_is_uncertain_if_another_file_of_the_change_is_equally_similar() {
    // Two sources, two targets, equal and similar contents.
    for (old_text, new_text) in [("", ""), ("", "moved\n")] {
        let old = |path| (path, old_text);
        let new = |path| (path, new_text);
        let both = [old("a/load"), old("b/load")];
        assert_eq!(list_uncertain_renames(&both, &[new("c/load")]), ["c/load"]);
        assert_eq!(
            list_uncertain_renames(&both[..1], &[new("c/load"), new("d/load")]),
            ["c/load"]
        );
        assert_eq!(
            list_uncertain_renames(&both, &[new("c/load"), new("d/load")]),
            ["c/load", "d/load"]
        );
        // The twin: the path shows which file moved.
        assert_eq!(list_uncertain_renames(&both, &[new("c/b/load")]), [""; 0]);
        assert_eq!(
            list_uncertain_renames(&both, &[new("c/a/load"), new("c/b/load")]),
            [""; 0]
        );
        assert_eq!(
            list_uncertain_renames(&both[..1], &[new("c/a/load"), new("d/copy")]),
            [""; 0]
        );
        assert_eq!(
            list_uncertain_renames(&[old("a/load"), old("a/loads")], &[new("c/load")]),
            [""; 0]
        );
        // An equal file whose path leads elsewhere does not make the other one certain.
        assert_eq!(
            list_uncertain_renames(&both, &[new("c/b/load"), new("d/load")]),
            ["d/load"]
        );
    }
    let different = [("a/load", "a\n"), ("b/load", "b\n")];
    assert_eq!(list_uncertain_renames(&different, &[("c/load", "b\n")]), [""; 0]);
    assert_eq!(
        list_uncertain_renames(&different, &[("c/load", "c\n")]),
        ["c/load"]
    );
    assert_eq!(
        list_uncertain_renames(&different, &[("c/load", "b\nc\n")]),
        [""; 0]
    );
}

fn as_short(line: &str) -> String {
    let fields: Vec<&str> = line.split('\t').collect();
    match fields[..] {
        [_, from, to] => format!("R {from} -> {to}"),
        [kind, path] => format!("{kind} {path}"),
        _ => panic!("{line}"),
    }
}

#[test]
fn tree_that_is_not_sound_is_refused() {
    let world = World::new();
    world.write("a", "1");
    world.commit("one");
    let blob = world.git("rev-parse HEAD:a");
    let repo = open(&world.work());
    for name in ["..", ".", "", "a/b"] {
        let commit = commit_raw_tree(&world, &raw_tree_entry("100644", name, &blob));
        let error = repo
            .list_files(&repo.resolve(&commit).unwrap(), &matches_anything)
            .unwrap_err();
        assert!(matches!(error, GitError::InvalidTree { .. }), "{name:?}: {error}");
    }
    let mut cut_off = raw_tree_entry("100644", "a", &blob);
    cut_off.truncate(15);
    let commit = commit_raw_tree(&world, &cut_off);
    assert!(matches!(
        repo.list_files(&repo.resolve(&commit).unwrap(), &matches_anything),
        Err(GitError::InvalidTree { .. })
    ));
}

/// Git reads the type of an entry from its bits, so `40755` is a directory and `120777` a link.
#[test]
fn entry_with_an_odd_mode_is_what_git_takes_it_for() {
    let world = World::new();
    world.write("a/b.orch.yaml", "1");
    world.commit("one");
    let [blob, folder] =
        ["a/b.orch.yaml", "a"].map(|path| world.git(&["rev-parse", &format!("HEAD:{path}")]));
    let repo = open(&world.work());
    let kinds = |raw: &[u8]| {
        let commit = commit_raw_tree(&world, raw);
        let files = repo.list_files(&repo.resolve(&commit).unwrap(), &matches_anything);
        files.map(|files| {
            files
                .into_iter()
                .map(|file| (file.path, file.kind))
                .collect::<Vec<_>>()
        })
    };
    let inside = vec![("z/b.orch.yaml".to_owned(), FileKind::Regular)];
    for mode in ["40000", "040000", "40755", "40777"] {
        assert_eq!(
            kinds(&raw_tree_entry(mode, "z", &folder)).unwrap(),
            inside,
            "{mode}"
        );
    }
    for (mode, kind) in [
        ("100644", FileKind::Regular),
        ("100664", FileKind::Regular),
        ("100600", FileKind::Regular),
        ("120000", FileKind::Symlink),
        ("120777", FileKind::Symlink),
        ("160644", FileKind::Submodule),
    ] {
        let expected = vec![("z.orch.yaml".to_owned(), kind)];
        assert_eq!(
            kinds(&raw_tree_entry(mode, "z.orch.yaml", &blob)).unwrap(),
            expected,
            "{mode}"
        );
    }
    for mode in ["644", "0", "10644", "60000", "100a44"] {
        let error = kinds(&raw_tree_entry(mode, "z.orch.yaml", &blob)).unwrap_err();
        assert!(matches!(error, GitError::InvalidTree { .. }), "{mode}: {error}");
    }
}

/// git checks out one of the two files, but a platform may read the other.
#[test]
fn tree_with_duplicate_path_is_refused() {
    let world = World::new();
    world.write("a/b", "1");
    world.write("x", "2");
    world.commit("one");
    let repo = open(&world.work());
    for raw in trees_with_ambiguous_path(&world) {
        let commit = commit_raw_tree(&world, &raw);
        let id = repo.resolve(&commit).unwrap();
        for error in [
            repo.list_files(&id, &matches_anything).unwrap_err(),
            repo.find_file(&id, "p.orch.yaml").unwrap_err(),
        ] {
            assert!(matches!(error, GitError::InvalidTree { .. }), "{error}");
        }
    }
}

#[test]
fn folders_nested_beyond_reason_are_refused() {
    let world = World::new();
    world.write("a", "1");
    world.commit("one");
    let mut entry = raw_tree_entry("100644", "a", &world.git("rev-parse HEAD:a"));
    let mut commit = String::new();
    for _ in 0..200 {
        commit = commit_raw_tree(&world, &entry);
        let tree = world.git(&["rev-parse", &format!("{commit}^{{tree}}")]);
        entry = raw_tree_entry("40000", "d", &tree);
    }
    let repo = open(&world.work());
    let error = repo
        .list_files(&repo.resolve(&commit).unwrap(), &matches_anything)
        .unwrap_err();
    assert!(matches!(error, GitError::InvalidTree { .. }), "{error}");
}

#[test]
fn file_after_a_name_that_is_not_utf_8_is_found() {
    let world = World::new();
    world.write("a", "1");
    world.commit("one");
    let id = world.git("rev-parse HEAD:a");
    // Messages show this name as "n\u{fffd}", but no file has that path.
    let mut tree = raw_tree_entry("100644", "", &id);
    tree.splice(7..7, *b"n\xe9");
    tree.extend(raw_tree_entry("100644", "n\u{10000}", &id));
    let commit = commit_raw_tree(&world, &tree);
    let repo = open(&world.work());
    let commit = repo.resolve(&commit).unwrap();
    let paths = BTreeSet::from(["n\u{10000}", "n\u{fffd}"]);
    let files = repo.find_files(&commit, &paths).unwrap();
    let found_paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(found_paths, ["n\u{10000}"]);
}

#[test]
fn tree_that_holds_itself_many_times_over_is_refused() {
    let world = World::new();
    world.write("a", "1");
    world.commit("one");
    let (mut mode, mut id) = ("100644", world.git("rev-parse HEAD:a"));
    let mut commit = String::new();
    for _ in 0..8 {
        let level: Vec<u8> = (0..10)
            .flat_map(|n| raw_tree_entry(mode, &n.to_string(), &id))
            .collect();
        commit = commit_raw_tree(&world, &level);
        (mode, id) = ("40000", world.git(&["rev-parse", &format!("{commit}^{{tree}}")]));
    }
    let repo = open(&world.work());
    let error = repo
        .list_files(&repo.resolve(&commit).unwrap(), &matches_anything)
        .unwrap_err();
    assert!(error.to_string().contains("too many files"), "{error}");
}

/// Returns the lines of `file` that the last commit changed, compared with `before` in the parent commit, if it is set.
fn touched_ranges(world: &World, file: &str, before: Option<&str>) -> Vec<(u32, u32)> {
    let repo = open(&world.work());
    let blob = |revision: &str, path: &str| {
        let commit = repo.resolve(revision).unwrap();
        repo.find_file(&commit, path).unwrap().unwrap().blob
    };
    let old = before.map(|path| blob("HEAD~1", path));
    let new = repo.read_blob(&blob("HEAD", file), u64::MAX).unwrap().unwrap();
    let ranges = repo
        .read_old_content(old.as_ref())
        .unwrap()
        .find_changed_lines(&new);
    ranges
        .iter()
        .map(|range| (*range.start(), *range.end()))
        .collect()
}

#[test]
fn touched_lines_are_those_of_new_file() {
    let world = World::new();
    world.write("a", "1\n2\n3\n4\n5\n6\n7\n8\n");
    world.commit("one");
    world.git("mv a b");
    world.write("b", "1\nnew\nnew\n2\n3\nother\n5\n7\n8\nend");
    world.commit("two");
    assert_eq!(
        touched_ranges(&world, "b", Some("a")),
        [(2, 3), (6, 6), (0, 0), (10, 10)]
    );
    assert_eq!(touched_ranges(&world, "b", None), [(1, u32::MAX)]);
    world.write("b", vec![b'x'; 5 * 1024 * 1024]);
    world.commit("three");
    assert!(
        touched_ranges(&world, "b", Some("b")).is_empty(),
        "too large to compare"
    );
}

/// Returns the lines of each file that the last commit added or replaced, as `git diff` reports them. A deletion has no
/// lines: git reports the line before it, and not the block that contained the deleted lines.
fn read_git_ranges(world: &World) -> BTreeMap<String, Vec<Option<(u32, u32)>>> {
    let mut ranges: BTreeMap<String, Vec<Option<(u32, u32)>>> = BTreeMap::new();
    let mut file = String::new();
    for line in world.git("diff -U0 HEAD~1 HEAD").lines() {
        if let Some(path) = line.strip_prefix("+++ b/") {
            path.clone_into(&mut file);
        } else if let Some(hunk) = line.strip_prefix("@@ ") {
            let added = hunk.split(' ').nth(1).unwrap().trim_start_matches('+');
            let (first, count) = added.split_once(',').unwrap_or((added, "1"));
            let (first, count): (u32, u32) = (first.parse().unwrap(), count.parse().unwrap());
            let range = (count > 0).then(|| (first, first + count - 1));
            ranges.entry(file.clone()).or_default().push(range);
        }
    }
    ranges
}

#[test]
fn touched_lines_of_random_edits_equal_those_of_git() {
    let mut dice = Dice(7);
    let world = World::new();
    // Few different lines, so that many edits could be described in several ways.
    let texts = ["a:", "  b: 1", "  c: 2", "    d: 3", "", "e:"];
    let mut contents = Vec::new();
    for number in 0..80 {
        let count = 5 + dice.roll(60);
        let lines: Vec<&str> = (0..count).map(|_| dice.pick(&texts)).collect();
        world.write(&format!("f{number}"), lines.join("\n") + "\n");
        contents.push(lines);
    }
    world.commit("one");
    for (number, lines) in contents.iter_mut().enumerate() {
        for _ in 0..=dice.roll(4) {
            let places: Vec<usize> = (0..lines.len()).collect();
            let place = dice.pick(&places);
            match dice.roll(3) {
                0 => lines[place] = "new: 1",
                1 => lines.insert(place, dice.pick(&texts)),
                _ => drop(lines.remove(place)),
            }
        }
        world.write(&format!("f{number}"), lines.join("\n") + "\n");
    }
    world.commit("two");
    let expected_ranges = read_git_ranges(&world);
    assert!(expected_ranges.len() > 70, "{}", expected_ranges.len());
    for (file, ranges) in expected_ranges {
        let touched_ranges = touched_ranges(&world, &file, Some(&file));
        assert_eq!(touched_ranges.len(), ranges.len(), "{file}");
        for (touched_range, range) in touched_ranges.into_iter().zip(ranges) {
            assert_eq!(touched_range, range.unwrap_or(touched_range), "{file}");
        }
    }
}

#[test]
fn deletion_touches_the_block_of_the_deleted_lines() {
    let world = World::new();
    let lines = [
        "a:", "  b:", "    c: 1", "    d: 2", "  e:", "    c: 1", "    d: 2", "", "f:", "  g: 1",
    ];
    // The deleted lines, and the line of the block that contained them.
    for (deleted_lines, block_line) in [
        (5..=7, 1),
        (4..=4, 2),
        (3..=4, 2),
        (6..=7, 5),
        (8..=8, 0),
        (9..=10, 0),
        (10..=10, 9),
        (2..=4, 1),
    ] {
        world.write("file", lines.join("\n") + "\n");
        world.commit("complete");
        let mut kept_lines = String::new();
        for (number, line) in (1..).zip(lines) {
            if !deleted_lines.contains(&number) {
                kept_lines += line;
                kept_lines.push('\n');
            }
        }
        world.write("file", kept_lines);
        world.commit("shorter");
        assert_eq!(
            touched_ranges(&world, "file", Some("file")),
            [(block_line, block_line)],
            "{deleted_lines:?}"
        );
    }
}

#[test]
fn touched_lines_are_found_without_index() {
    let world = World::new();
    world.write("a", "1\n2\n");
    world.commit("one");
    world.write("a", "1\nnew\n2\n");
    world.commit("two");
    world.write(".git/index", "no index");
    assert_eq!(touched_ranges(&world, "a", Some("a")), [(2, 2)]);
}
