//! `sluicegate demo`: its story and its directory of reports.

use crate::support::picture_geometry::{Drawn, of_class};
use crate::support::{Call, ServerProcess, git, scratch};
use std::fs;

#[test]
fn demo_shows_the_whole_job() {
    let folder = scratch::folder();
    let call = Call::new(folder.path())
        .variable("SLUICEGATE_FAIL_ON", "never")
        .variable("GITHUB_ACTIONS", "true");
    let output = call.run("demo").expect(0);
    for word in [
        "passed",
        "failed",
        "load_refunds",
        "Write report",
        "published",
        "already",
        "the parameter `order_day` is gone",
        "version 1.1.0 of sales",
        "Look at",
    ] {
        assert!(output.all().contains(word), "{word}: {}", output.all());
    }
    let reports = folder.path().join("sluicegate-demo/reports");
    let formats = [
        "review.html",
        "review.xml",
        "review-strict.xml",
        "review.sarif",
        "code-quality.json",
        "comment.md",
        "review.json",
        "summary.md",
    ];
    for name in ["good", "bad"] {
        for file in formats {
            let length = fs::metadata(reports.join(name).join(file)).unwrap().len();
            assert!(length > 0, "{name}/{file}");
        }
    }
    assert!(reports.join("publish/receipt.json").is_file());
    for name in ["good", "bad"] {
        let page = fs::read_to_string(reports.join(name).join("review.html")).unwrap();
        assert!(pictures_are_true(&page) > 0, "{name}");
    }
    // The picture in the README.
    let work = folder.path().join("sluicegate-demo/work");
    let range = "origin/feature/refunds..origin/feature/refunds-in-a-hurry";
    let page = Call::new(&work).run(&["diff", range, "-o", "html"]).expect(0);
    assert_eq!(pictures_are_true(&page.out), 1);
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
    let pictures: Vec<_> = of_class(read.root(), "sg-picture")
        .map(Drawn::read)
        .filter(|drawn| !drawn.rects.is_empty())
        .collect();
    for drawn in &pictures {
        assert_eq!(drawn.faults(), [""; 0]);
    }
    pictures.len()
}

#[test]
fn second_demo_keeps_work_of_the_first_and_its_lines_go_on() {
    let folder = scratch::folder();
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
    // The printed commands run unchanged, except for the port.
    let lines: Vec<&str> = first.out.lines().collect();
    let serve = lines
        .iter()
        .find_map(|line| line.strip_prefix("sluicegate serve "))
        .unwrap();
    let serve = serve.replace("127.0.0.1:8080", "127.0.0.1:0");
    let server = ServerProcess::start(folder.path(), &serve.split(' ').collect::<Vec<_>>());
    let mut own = Call::new(&work);
    for line in lines.iter().filter_map(|line| line.strip_prefix("export ")) {
        let (name, value) = line.split_once('=').unwrap();
        own = own.variable(name, value.replace("http://127.0.0.1:8080", &server.url));
    }
    let review = lines
        .iter()
        .rfind(|line| line.starts_with("sluicegate review "))
        .unwrap();
    let args: Vec<&str> = review.split(' ').skip(1).collect();
    let output = own.run(&args).expect(1);
    assert!(output.out.contains("load_refunds"), "{}", output.all());
}
