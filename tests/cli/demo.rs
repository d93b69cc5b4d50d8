//! `sluicegate demo`: a readable story and a folder of reports.

use crate::program::Call;
use std::fs;

#[test]
fn the_demo_shows_the_whole_job() {
    let folder = tempfile::tempdir().unwrap();
    let call = Call::new(folder.path())
        .variable("SLUICEGATE_FAIL_ON", "never")
        .variable("GITHUB_ACTIONS", "true");
    let ended = call.run(&["demo"]).expect(0);
    for word in [
        "passed",
        "failed",
        "load_refunds",
        "Write report",
        "published",
        "already",
        "Look at",
    ] {
        assert!(ended.all().contains(word), "{word}: {}", ended.all());
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
    // A second time makes it anew; a folder that is not the demo's is left alone.
    call.run(&["demo"]).expect(0);
    fs::create_dir(folder.path().join("mine")).unwrap();
    fs::write(folder.path().join("mine/file"), "precious").unwrap();
    call.run(&["demo", "--dir", "mine"]).expect(2).saying(&["mine"]);
    assert_eq!(
        fs::read_to_string(folder.path().join("mine/file")).unwrap(),
        "precious"
    );
}
