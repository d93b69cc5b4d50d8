//! The page of `sluicegate diff`.

use crate::support::picture_geometry::elements_of_class;
use crate::support::{Call, orchestration_text, project};
use roxmltree::Document;

#[test]
fn right_to_left_names_of_a_page_are_isolated() {
    let world = project();
    let (folder, file) = ("\u{5d0}\u{5d1}", "\u{5d2}\u{5d3}");
    world.write("a.orch.yaml", orchestration_text(&["Start", "Done"]));
    world.commit("before");
    world.push();
    world.write(
        &format!("{folder}/{file} 5.orch.yaml"),
        orchestration_text(&["Start", "Done"]),
    );
    world.commit("after");
    for args in ["diff HEAD~1..HEAD -o html", "check --base HEAD~1 --report html=-"] {
        let page = Call::new(&world.work()).run(args).out;
        assert!(page.contains(&format!("<bdi>{folder}</bdi>/")), "{args}: {page}");
        assert!(
            page.contains(&format!("<bdi>{file} 5</bdi>.orch.yaml")),
            "{args}: {page}"
        );
        let page = Document::parse(page.strip_prefix("<!doctype html>\n").unwrap()).unwrap();
        assert!(
            elements_of_class(page.root(), "sg-picture")
                .all(|picture| { picture.descendants().all(|node| node.tag_name().name() != "bdi") })
        );
    }
}

#[test]
fn right_to_left_words_and_sentences_of_a_page_stay_in_one_piece() {
    let world = project();
    let sentence = "\u{5d0}\u{5d1}, \u{5d2}/\u{5d3}. \u{5d4} -> \u{5d5}";
    let sql = |limit: u32| format!("-- {sentence}\\nselect {limit}\\n");
    // The quotation mark is a part of the word.
    let folder = "\u{5d3}\u{5d5}\"\u{5d7}";
    let load = |limit: u32| {
        format!(
            "type: orchestration\npipeline:\n  components:\n    Load: {{ type: sql-executor, parameters: {{ sql: \"{}\" }} }}\n",
            sql(limit)
        )
    };
    world.write(&format!("{folder}/a.orch.yaml"), load(1));
    world.commit("before");
    world.push();
    world.write(&format!("{folder}/a.orch.yaml"), load(2));
    world.commit("after");
    let page = Call::new(&world.work()).run("diff HEAD~1..HEAD -o html").out;
    let page = page
        .replace("&#34;", "\"")
        .replace("&#62;", ">")
        .replace("&gt;", ">");
    assert!(page.contains(&format!("<bdi>{folder}</bdi>/")), "{page}");
    assert!(page.contains(&format!("-- {sentence}<")), "{page}");
}

#[test]
fn page_has_picture_first_and_fold_for_each_changed_component() {
    let world = project();
    world.write(
        "a.orch.yaml",
        orchestration_text(&["Start", "Load", "Count", "Done"]),
    );
    world.commit("before");
    world.push();
    let with_values = |value: &str| {
        orchestration_text(&["Start", "Load", "Count", "Done"])
            .replace(
                "componentName: \"Load\"",
                &format!("componentName: \"Load\", schema: {value}"),
            )
            .replace(
                "componentName: \"Count\"",
                &format!("componentName: \"Count\", rows: {value}"),
            )
    };
    world.write("a.orch.yaml", with_values("b"));
    let text = Call::new(&world.work()).run("diff -o html").expect(0).out;
    let page = Document::parse(text.strip_prefix("<!doctype html>\n").unwrap()).unwrap();
    let sides = elements_of_class(page.root(), "sides").next().unwrap();
    let parts: Vec<_> = sides
        .children()
        .filter_map(|node| node.attribute("class"))
        .collect();
    assert_eq!(parts, ["pictures", "told"]);
    let folds: Vec<String> = elements_of_class(sides, "fold")
        .map(|fold| {
            fold.descendants()
                .filter(roxmltree::Node::is_text)
                .filter_map(|node| node.text())
                .collect()
        })
        .collect();
    assert_eq!(
        folds,
        [
            "~ Load (sql-executor)+ schema: bShow in picture",
            "~ Count (sql-executor)+ rows: bShow in picture"
        ]
    );
    // The box of a component leads into its fold, which opens then.
    let component = elements_of_class(page.root(), "component")
        .find(|node| node.attribute("data-name") == Some("Load"))
        .unwrap();
    let target = component
        .parent()
        .unwrap()
        .attribute("href")
        .unwrap()
        .trim_start_matches('#');
    let details = page
        .descendants()
        .find(|node| node.attribute("id") == Some(target))
        .unwrap();
    assert!(details.parent().unwrap().has_tag_name("details"));
    // Neither picture nor text is in a box that scrolls.
    let (_, rest) = text.split_once("<style>").unwrap();
    let style = rest.split_once("</style>").unwrap().0;
    assert!(
        !style
            .lines()
            .any(|line| line.starts_with(".told") && line.contains("overflow-y"))
    );
    assert!(
        sides
            .descendants()
            .all(|node| node.attribute("tabindex").is_none())
    );
}

#[test]
fn heading_of_long_path_is_name_of_file() {
    let path = format!("{}/a very long name.orch.yaml", "folder".repeat(30));
    let world = project();
    world.write(&path, orchestration_text(&["Start", "Done"]));
    let page = Call::new(&world.work()).run("diff -o html").expect(0).out;
    assert!(page.contains("<h1>Changes in <span class=\"name\">a very long name.orch.yaml</span></h1>"));
    assert!(page.contains(&format!("<title>Changes in {path}</title>")));
}
