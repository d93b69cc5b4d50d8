//! `sluicegate demo`: its story and its directory of reports.

use crate::support::picture_geometry::{DrawnPicture, elements_of_class};
use crate::support::{Call, ServerProcess, git, scratch};
use std::fs;

#[test]
fn demo_shows_the_whole_job() {
    let folder = scratch::create_scratch_directory();
    let call = Call::new(folder.path())
        .variable("SLUICEGATE_FAIL_ON", "never")
        .variable("GITHUB_ACTIONS", "true");
    let output = call.run("demo").expect(0);
    for words in [
        "Load all refunds (sql-executor), was Load refunds",
        "error[unused-components]: component \"Send mail\"",
        "Review failed: 1 error",
        "fixed: 1 finding",
        "published version 1.0.0 of sales",
        "the parameter `order_day` was removed",
        "Check passed: 3 checks passed",
        "Open sluicegate-demo/work/reports/review.html",
    ] {
        assert!(output.all().contains(words), "{words}: {}", output.all());
    }
    let line_count = output.out.lines().count() + output.err.lines().count();
    assert!(line_count < 75, "{line_count}: {}", output.all());
    let commands = output.out.lines().filter(|line| line.starts_with("   $ "));
    assert!(commands.clone().all(|line| line.len() < 100), "{}", output.out);
    assert_eq!(commands.count(), 6, "{}", output.out);
    let reports = folder.path().join("sluicegate-demo/work/reports");
    let formats = [
        "review.html",
        "review.xml",
        "review.sarif",
        "code-quality.json",
        "comment.md",
        "review.json",
        "receipt.json",
    ];
    for file in formats {
        let length = fs::metadata(reports.join(file)).unwrap().len();
        assert!(length > 0, "{file}");
    }
    let page = fs::read_to_string(reports.join("review.html")).unwrap();
    assert!(page.contains("Review failed") && !page.contains("Check passed"));
    assert!(pictures_are_true(&page) > 0);
    let page = fs::read_to_string(reports.join("fixed.html")).unwrap();
    assert!(page.contains("Check passed"));
    // The picture in the README.
    let work = folder.path().join("sluicegate-demo/work");
    let page = Call::new(&work)
        .run("diff main..origin/feature/refund-mail -o html")
        .expect(0);
    assert!(pictures_are_true(&page.out) > 0);
    // A second run uses another directory; a directory that the demo did not create is left unchanged.
    call.run("demo").expect(0);
    fs::create_dir(folder.path().join("mine")).unwrap();
    fs::write(folder.path().join("mine/file"), "precious").unwrap();
    call.run("demo --dir mine").expect(2).saying(&["mine"]);
    assert_eq!(
        fs::read_to_string(folder.path().join("mine/file")).unwrap(),
        "precious"
    );
}

/// Counts the pictures of a page and checks that none has a layout fault.
fn pictures_are_true(page: &str) -> usize {
    let page = page.strip_prefix("<!doctype html>\n").unwrap();
    let read = roxmltree::Document::parse(page).unwrap();
    let pictures: Vec<_> = elements_of_class(read.root(), "sg-picture")
        .map(DrawnPicture::read)
        .filter(|drawn| !drawn.rects.is_empty())
        .collect();
    for drawn in &pictures {
        assert_eq!(drawn.find_faults(), [""; 0]);
    }
    pictures.len()
}

#[test]
fn second_demo_keeps_work_of_the_first_and_its_lines_go_on() {
    let folder = scratch::create_scratch_directory();
    let call = Call::new(folder.path());
    let first = call.run("demo").expect(0);
    let work = folder.path().join("sluicegate-demo/work");
    fs::write(work.join("mine.txt"), "precious").unwrap();
    git(&work, "add mine.txt");
    git(&work, "commit -q -m mine");
    let mine = git(&work, "rev-parse HEAD");
    let second = call.run("demo").expect(0);
    second.saying(&["sluicegate-demo contains an earlier demo and is not changed"]);
    assert_eq!(git(&work, &["rev-parse", "HEAD"]), mine);
    assert!(folder.path().join("sluicegate-demo-2/work/sales").is_dir());
    // The printed commands run unchanged, except for the port and the path of the program.
    let program = env!("CARGO_BIN_EXE_sluicegate");
    let commands: Vec<&str> = first
        .out
        .lines()
        .filter_map(|line| line.strip_prefix(program)?.strip_prefix(' '))
        .collect();
    let [serve, review] = commands[..] else {
        panic!("{}", first.out);
    };
    let serve = serve
        .strip_prefix("serve ")
        .unwrap()
        .replace("127.0.0.1:8080", "127.0.0.1:0");
    let server = ServerProcess::start(folder.path(), &serve.split(' ').collect::<Vec<_>>());
    let mut own = Call::new(folder.path());
    for line in first.out.lines().filter_map(|line| line.strip_prefix("export ")) {
        for assignment in line.split(' ') {
            let (name, value) = assignment.split_once('=').unwrap();
            own = own.variable(name, value.replace("http://127.0.0.1:8080", &server.url));
        }
    }
    let output = own.run(review).expect(1);
    assert!(output.out.contains("Send mail"), "{}", output.all());
}

/// The limits let the program write nothing, or only the marker file.
#[cfg(unix)]
#[test]
fn demo_that_cannot_write_leaves_no_directory() {
    for limit in [0, 1] {
        let folder = scratch::create_scratch_directory();
        let call = Call::new(folder.path());
        let setup = format!("trap '' XFSZ; ulimit -f {limit}");
        let output = call.command_in_shell(&setup, "demo").output().unwrap();
        let log = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{log}");
        assert!(!log.contains("sluicegate context"), "{log}");
        assert!(!folder.path().join("sluicegate-demo").exists(), "{log}");
    }
}

#[test]
fn demo_in_place_of_a_file_hints_at_another_directory() {
    let folder = scratch::create_scratch_directory();
    let call = Call::new(folder.path());
    fs::write(folder.path().join("sluicegate-demo"), "mine").unwrap();
    let output = call.run("demo").expect(2);
    output.saying(&[
        "could not prepare the directory ",
        "hint: set another directory with --dir",
    ]);
    let text = fs::read_to_string(folder.path().join("sluicegate-demo")).unwrap();
    assert_eq!(text, "mine");
}
