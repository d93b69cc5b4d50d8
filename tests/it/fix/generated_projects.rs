//! Generated projects: each offered fix makes its finding disappear, and changes only the bytes of its region.

use super::{EMPTY, HEADER, call, fix, list_findings, project, read_all, script};
use crate::support::dice::Dice;
use crate::support::{Call, World};
use serde_json::Value;
use std::collections::BTreeMap;

const PIPELINES: [&str; 6] = [
    "load.orch.yaml",
    "sales/Orders.orch.yaml",
    "sales/deep/it's #1.orch.yaml",
    "verka\u{308}ufe/gebu\u{308}hr.orch.yaml",
    "other/count.orch.yaml",
    "twice/count.orch.yaml",
];
const SCRIPTS: [&str; 2] = ["sql/a: b.sql", "SQL/Z\u{e4}hlung.sql"];

/// Returns a text that means this path, or nearly so.
fn misspell(path: &str, dice: &mut Dice) -> String {
    let path = if dice.roll(3) == 0 {
        path
    } else {
        path.trim_end_matches(".orch.yaml")
    };
    match dice.roll(5) {
        0 => path.to_owned(),
        1 => path.rsplit('/').next().unwrap().to_owned(),
        2 => path.to_uppercase().replace(".ORCH.YAML", ".orch.yaml"),
        3 => path
            .replace("a\u{308}", "\u{e4}")
            .replace("u\u{308}", "\u{fc}")
            .replace('O', "o"),
        _ => format!("lost/{path}"),
    }
}

/// Writes a text as YAML in a random style.
fn write_value(text: &str, dice: &mut Dice) -> String {
    let value = match dice.roll(3) {
        0 if !text.contains([':', '#', '\'']) => text.to_owned(),
        1 => format!("\"{text}\""),
        _ => format!("'{}'", text.replace('\'', "''")),
    };
    let comment = if dice.roll(2) == 0 { " # 😀 why" } else { "" };
    format!("{value}{comment}")
}

fn write_caller(dice: &mut Dice) -> String {
    let mut text = if dice.roll(4) == 0 {
        "\u{feff}".to_owned()
    } else {
        String::new()
    };
    text.push_str(HEADER);
    for number in 0..=dice.roll(5) {
        let component = format!("Component {number}");
        if dice.roll(4) == 0 {
            let path = dice.pick(&SCRIPTS);
            let value = misspell(path, dice);
            text.push_str(&script(&component, &write_value(&value, dice)));
        } else {
            let path = dice.pick(&PIPELINES);
            let value = misspell(path, dice);
            text.push_str(&call(&component, &write_value(&value, dice)));
        }
    }
    if dice.roll(3) == 0 {
        text.replace('\n', "\r\n")
    } else {
        text
    }
}

fn generate_project(seed: u64) -> World {
    let mut dice = Dice(seed);
    let mut files: BTreeMap<String, String> = PIPELINES
        .iter()
        .map(|path| ((*path).to_owned(), EMPTY.to_owned()))
        .collect();
    files.extend(
        SCRIPTS
            .iter()
            .map(|path| ((*path).to_owned(), format!("select 1 -- {path}\n"))),
    );
    // Each renamed file has a content of its own, so that git finds the rename.
    files.insert(
        "sales/Orders.orch.yaml".to_owned(),
        format!("{EMPTY}# orders\n# of the day\n"),
    );
    let list: Vec<(&str, &str)> = files
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    let world = project(&list);
    world.git(["mv", "sales/Orders.orch.yaml", "sales/daily orders.orch.yaml"]);
    world.git(["mv", "sql/a: b.sql", "sql/moved.sql"]);
    for number in 0..4 {
        world.write(&format!("caller {number}.orch.yaml"), write_caller(&mut dice));
    }
    world.commit("the change");
    world
}

/// Returns the fixes in a report: path, line and column of the start and end, and the new text.
fn list_fixes(report: &Value) -> Vec<(String, [u64; 4], String)> {
    let mut fixes = Vec::new();
    for file in report["files"].as_array().unwrap() {
        let results = file["results"].as_array().unwrap().iter();
        for finding in results.flat_map(|result| result["findings"].as_array().unwrap()) {
            if let Some(fix) = finding.get("fix") {
                let region = ["startLine", "startColumn", "endLine", "endColumn"];
                fixes.push((
                    file["path"].as_str().unwrap().to_owned(),
                    region.map(|key| fix[key].as_u64().unwrap()),
                    fix["text"].as_str().unwrap().to_owned(),
                ));
            }
        }
    }
    fixes.sort();
    fixes
}

/// Returns the byte offset of a line and a column in UTF-16 code units.
fn find_offset(text: &str, line: u64, column: u64) -> usize {
    let start: usize = text
        .split_inclusive('\n')
        .take(usize::try_from(line).unwrap() - 1)
        .map(str::len)
        .sum();
    let mut units = 1;
    let mut offset = start;
    for c in text[start..].chars() {
        if units == column {
            break;
        }
        units += c.len_utf16() as u64;
        offset += c.len_utf8();
    }
    offset
}

#[test]
fn offered_fixes_are_made_and_change_only_their_regions() {
    let mut fix_count = 0;
    for seed in 0..24 {
        let world = generate_project(seed);
        let (before, index) = read_all(&world);
        let findings_before = list_findings(&world);
        let report = Call::new(&world.work())
            .run("check --fail-on never --report json=-")
            .expect(0)
            .json();
        let fixes = list_fixes(&report);
        fix_count += fixes.len();
        let expected: Vec<(String, Vec<u8>)> = before
            .iter()
            .map(|(path, bytes)| {
                let Ok(mut text) = String::from_utf8(bytes.clone()) else {
                    return (path.clone(), bytes.clone());
                };
                let mark_length = text.len() - text.trim_start_matches('\u{feff}').len();
                let mut body = text.split_off(mark_length);
                for (_, [start_line, start_column, end_line, end_column], new_text) in
                    fixes.iter().rev().filter(|(fixed_path, ..)| fixed_path == path)
                {
                    let start = find_offset(&body, *start_line, *start_column);
                    let end = find_offset(&body, *end_line, *end_column);
                    body.replace_range(start..end, new_text);
                }
                (path.clone(), (text + &body).into_bytes())
            })
            .collect();
        let output = fix(&world, "");
        let noun = if fixes.len() == 1 { "finding" } else { "findings" };
        let headline = format!("fixed {} {noun}", fixes.len());
        assert!(
            fixes.is_empty() || output.out.contains(&headline),
            "seed {seed}: {}",
            output.all()
        );
        assert_eq!(read_all(&world).0, expected, "seed {seed}");
        let mut remaining_findings = findings_before.clone();
        let findings_after = list_findings(&world);
        assert_eq!(
            findings_after.len() + fixes.len(),
            findings_before.len(),
            "seed {seed}"
        );
        for finding in &findings_after {
            let position = remaining_findings.iter().position(|known| known == finding);
            remaining_findings.remove(position.unwrap_or_else(|| panic!("seed {seed}: {finding} is new")));
        }
        let output = fix(&world, "");
        assert!(
            output.out.contains("no finding "),
            "seed {seed}: {}",
            output.all()
        );
        world.git("checkout -q .");
        assert_eq!(read_all(&world), (before, index), "seed {seed}");
    }
    assert!(fix_count > 50, "{fix_count}");
}
