//! The pictures of `sluicegate diff`.

use crate::support::picture_geometry::{DrawnPicture, elements_of_class};
use crate::support::{Arguments, Call, World, project};
use roxmltree::{Document, Node};
use std::collections::HashSet;
use std::fmt::Write as _;

/// Returns a pipeline with these components, each with its place and the components that run next.
fn canvas(components: &[(&str, i32, i32, &[&str])]) -> String {
    let (mut list, mut design) = (String::new(), String::new());
    for (name, x, y, next) in components {
        let next = next.join(", ");
        let _ = writeln!(
            list,
            "    {name}: {{ type: sql, transitions: {{ success: [{next}] }}, parameters: {{ schema: a }} }}"
        );
        let _ = writeln!(design, "    {name}: {{ position: {{ x: {x}, y: {y} }} }}");
    }
    format!("type: orchestration\npipeline:\n  components:\n{list}design:\n  components:\n{design}")
}

/// Returns a pipeline of this many components in one row, each followed by the next.
fn chain(length: usize) -> String {
    let names: Vec<String> = (0..=length).map(|number| format!("Step {number}")).collect();
    let next: Vec<[&str; 1]> = names[1..].iter().map(|name| [name.as_str()]).collect();
    let components: Vec<(&str, i32, i32, &[&str])> = (0..length)
        .map(|number| {
            let is_last = number + 1 == length;
            let next: &[&str] = if is_last { &[] } else { &next[number] };
            (
                names[number].as_str(),
                200 * i32::try_from(number).unwrap(),
                0,
                next,
            )
        })
        .collect();
    canvas(&components)
}

/// Creates a world with `a.orch.yaml` before and after a change.
fn edited(before: &str, after: &str) -> World {
    let world = project();
    world.write("a.orch.yaml", before);
    world.commit("before");
    world.push();
    world.git("checkout -q -b edit");
    world.write("a.orch.yaml", after);
    world
}

fn diff(world: &World, args: impl Arguments) -> String {
    Call::new(&world.work()).run(("diff", args)).expect(0).out
}

/// Returns the page as XML text.
fn page_of(world: &World) -> String {
    let page = diff(world, "-o html");
    page.strip_prefix("<!doctype html>\n").unwrap().to_owned()
}

/// Returns the pictures with components, each with whether it is in a closed fold.
fn pictures<'a, 'd: 'a>(page: &'a Document<'d>) -> Vec<(Node<'a, 'd>, bool)> {
    elements_of_class(page.root(), "sg-picture")
        .filter(|picture| elements_of_class(*picture, "component").next().is_some())
        .map(|picture| {
            let is_folded = picture
                .ancestors()
                .any(|node| node.has_tag_name("details") && node.attribute("open").is_none());
            (picture, is_folded)
        })
        .collect()
}

fn assert_unique_ids(page: &Document<'_>) {
    let mut ids = HashSet::new();
    for id in page.descendants().filter_map(|node| node.attribute("id")) {
        assert!(ids.insert(id), "{id}");
    }
    for target in page
        .descendants()
        .filter_map(|node| node.attribute("href")?.strip_prefix('#'))
    {
        assert!(ids.contains(target), "{target}");
    }
}

const ROWS: [(&str, i32, i32, &[&str]); 5] = [
    ("Start", 0, 0, &["Load the orders", "Clean"]),
    ("Load the orders", 200, 10, &["Done"]),
    ("Done", 400, -5, &[]),
    ("Clean", 190, 120, &["Check"]),
    ("Check", 400, 125, &["Done"]),
];

#[test]
fn small_canvas_is_drawn_once_with_its_rows() {
    let before = canvas(&ROWS);
    let world = edited(&before, &before.replacen("schema: a", "schema: b", 1));
    let text = page_of(&world);
    let page = Document::parse(&text).unwrap();
    let pictures = pictures(&page);
    assert_eq!(pictures.len(), 1);
    assert!(!pictures[0].1);
    let drawn = DrawnPicture::read(pictures[0].0);
    assert_eq!(drawn.find_faults(), [""; 0]);
    let rect_of = |name: &str| drawn.rects.iter().find(|rect| rect.name == name).unwrap();
    for (one, other) in [
        ("Start", "Load the orders"),
        ("Start", "Done"),
        ("Clean", "Check"),
    ] {
        assert!(rect_of(one).is_in_same_row(rect_of(other)), "{one}, {other}");
    }
    assert!(rect_of("Start").bottom < rect_of("Clean").top);
    assert!(text.contains("schema \u{2192} b"), "{text}");
    assert_unique_ids(&page);
    // The picture is right without its style sheet.
    for node in pictures[0]
        .0
        .descendants()
        .filter(|node| node.has_tag_name("rect"))
    {
        assert!(node.attribute("fill").is_some() && node.attribute("stroke").is_some());
    }
}

#[test]
fn wide_canvas_shows_changed_part_and_cut_links_first() {
    let before = chain(40);
    let after = before.replace("[Step 3]", "[Step 30]");
    let world = edited(&before, &after);
    let text = page_of(&world);
    let page = Document::parse(&text).unwrap();
    let pictures = pictures(&page);
    let folded: Vec<bool> = pictures.iter().map(|(_, is_folded)| *is_folded).collect();
    assert_eq!(folded, [false, true]);
    let part = DrawnPicture::read(pictures[0].0);
    assert_eq!(part.find_faults(), [""; 0]);
    let names: HashSet<&str> = part.rects.iter().map(|rect| rect.name.as_str()).collect();
    // The ends of the two changed links, and their neighbors.
    let expected = [
        "Step 1", "Step 2", "Step 3", "Step 4", "Step 29", "Step 30", "Step 31",
    ];
    assert_eq!(names, HashSet::from(expected));
    let changes: Vec<_> = part
        .links
        .iter()
        .map(|link| (link.to.as_str(), link.change.as_str()))
        .filter(|(_, change)| *change != "same")
        .collect();
    assert_eq!(changes, [("Step 3", "removed"), ("Step 30", "added")]);
    let stubs: HashSet<_> = elements_of_class(pictures[0].0, "stub")
        .map(|stub| {
            let end = stub.attribute("data-from").or(stub.attribute("data-to")).unwrap();
            (
                end,
                stub.attribute("data-from").is_some(),
                stub.attribute("data-count").unwrap(),
            )
        })
        .collect();
    let expected = [
        ("Step 1", false, "1"),
        ("Step 4", true, "24"),
        ("Step 29", false, "24"),
        ("Step 31", true, "8"),
    ];
    assert_eq!(stubs, HashSet::from(expected));
    // The complete canvas is drawn once: the overview shows the same drawing.
    let complete = DrawnPicture::read(pictures[1].0);
    assert_eq!((complete.rects.len(), complete.find_faults()), (40, Vec::new()));
    assert_eq!(
        page.descendants()
            .filter(|node| node.has_tag_name(("http://www.w3.org/2000/svg", "use")))
            .count(),
        1
    );
    let link = page
        .descendants()
        .find(|node| node.text() == Some("Full size, at the first change"))
        .unwrap();
    let target = link.attribute("href").unwrap().trim_start_matches('#');
    let component = page
        .descendants()
        .find(|node| node.attribute("id") == Some(target))
        .unwrap();
    assert_eq!(component.attribute("data-name"), Some("Step 2"));
    assert!(component.ancestors().any(|node| node == pictures[1].0));
    assert_unique_ids(&page);
}

#[test]
fn changed_part_that_is_whole_canvas_is_drawn_once() {
    let before = chain(20);
    let world = edited(&before, &before.replace("schema: a", "schema: b"));
    let text = page_of(&world);
    let page = Document::parse(&text).unwrap();
    assert_eq!(pictures(&page).len(), 1);
    assert_unique_ids(&page);
}

#[test]
fn added_link_to_missing_component_is_drawn() {
    let existing = canvas(&[("A", 0, 0, &["B"]), ("B", 200, 0, &[])]);
    let world = edited(
        &existing,
        &canvas(&[("A", 0, 0, &["B", "Gone"]), ("B", 200, 0, &[])]),
    );
    let chart = diff(&world, "-o mermaid");
    assert!(chart.contains("[\"Gone (does not exist)\"]"), "{chart}");
    assert!(chart.contains("n0 -->|\"+\u{a0}success\"| n2"), "{chart}");
    for format in ["svg", "html"] {
        let picture = diff(&world, ("-o", &[format]));
        assert!(picture.contains("data-to=\"Gone\""), "{picture}");
        assert!(picture.contains(">does not exist</text>"), "{picture}");
    }
    assert!(diff(&world, "-o markdown").contains("Gone (does not exist)"));
    // Links between existing components add no box.
    let world = edited(&existing, &canvas(&[("A", 0, 0, &["B"]), ("B", 200, 0, &["A"])]));
    let chart = diff(&world, "-o mermaid");
    assert!(
        !chart.contains("does not exist") && !chart.contains("n2"),
        "{chart}"
    );
}

#[test]
fn link_into_shared_target_never_runs_backward() {
    let row = |nexts: [&'static [&'static str]; 3]| {
        canvas(&[
            ("A", 0, 0, nexts[0]),
            ("B", 200, 0, nexts[1]),
            ("C", 400, 0, nexts[2]),
            ("Target", 800, 200, &[]),
        ])
    };
    let targets: [&[&str]; 3] = [&["B", "Target"], &["C", "Target"], &["Target"]];
    let world = edited(&row([&["B"], &["C"], &[]]), &row(targets));
    let svg = diff(&world, "-o svg");
    let document = Document::parse(&svg).unwrap();
    let picture = DrawnPicture::read(document.root_element());
    let links = picture.links.iter().filter(|link| link.to == "Target");
    assert_eq!(links.clone().count(), 3, "{svg}");
    for link in links {
        let is_forward = link.points.windows(2).all(|ends| ends[0].0 <= ends[1].0);
        assert!(is_forward, "{}: {:?}", link.from, link.points);
    }
}

#[test]
fn change_without_component_or_link_has_no_picture() {
    let before = canvas(&ROWS);
    let with_variable = before.replace(
        "design:\n",
        "  variables:\n    region: { metadata: { type: TEXT }, defaultValue: eu }\ndesign:\n",
    );
    for after in [before.replace("x: 400", "x: 500"), with_variable] {
        let world = edited(&before, &after);
        let text = page_of(&world);
        assert!(pictures(&Document::parse(&text).unwrap()).is_empty());
        assert!(!diff(&world, "-o markdown").contains("mermaid"));
        // A flowchart that is requested is never empty.
        assert!(diff(&world, "-o mermaid").contains("[\"Start\"]"));
    }
}

#[test]
fn new_pipeline_is_plain_with_chip() {
    let world = edited(&canvas(&ROWS), &canvas(&ROWS));
    world.write("new.orch.yaml", canvas(&ROWS));
    let picture = diff(&world, "-o svg");
    assert!(
        picture.contains("+ new pipeline") && picture.contains("data-change=\"added\""),
        "{picture}"
    );
    let read = Document::parse(&picture).unwrap();
    let strokes: HashSet<_> = elements_of_class(read.root(), "component")
        .chain(elements_of_class(read.root(), "link"))
        .flat_map(|node| node.descendants())
        .filter_map(|node| node.attribute("stroke"))
        .collect();
    assert_eq!(strokes.len(), 1);
    world.git("add -A");
    world.git("commit -q -m new");
    world.git("rm -q new.orch.yaml");
    assert!(diff(&world, "--base HEAD -o svg").contains("\u{2212} removed pipeline"));
}

#[test]
fn replaced_components_are_drawn_before_and_after() {
    let before = canvas(&[
        ("Start", 0, 0, &["One"]),
        ("One", 200, 0, &["Two"]),
        ("Two", 400, 0, &["Three"]),
        ("Three", 600, 0, &[]),
    ]);
    let after = canvas(&[("Start", 0, 0, &["A"]), ("A", 200, 0, &["B"]), ("B", 400, 0, &[])])
        .replace("    A: { type: sql", "    A: { type: python")
        .replace("    B: { type: sql", "    B: { type: retry");
    let world = edited(&before, &after);
    let text = page_of(&world);
    let page = Document::parse(&text).unwrap();
    let counts: Vec<usize> = pictures(&page)
        .iter()
        .map(|(picture, _)| elements_of_class(*picture, "component").count())
        .collect();
    assert_eq!(counts, [4, 3]);
    assert_unique_ids(&page);
    let file = diff(&world, "-o svg");
    assert!(file.contains(">Before<") && file.contains(">After<"), "{file}");
    // One replaced component of several is marked in one picture.
    let world = edited(
        &before,
        &before
            .replace("Two", "Other")
            .replacen("type: sql", "type: retry", 3),
    );
    assert_eq!(pictures(&Document::parse(&page_of(&world)).unwrap()).len(), 1);
}

#[test]
fn added_and_removed_links_between_two_boxes_are_apart() {
    let before = canvas(&ROWS);
    let world = edited(&before, &before.replacen("success: [Done]", "failure: [Done]", 1));
    let picture = diff(&world, "-o svg");
    let read = Document::parse(&picture).unwrap();
    let drawn = DrawnPicture::read(read.root());
    assert_eq!(drawn.find_faults(), [""; 0]);
    let mut changes: Vec<_> = drawn.links.iter().map(|link| link.change.as_str()).collect();
    // Added is drawn last.
    assert_eq!(changes.split_off(changes.len() - 2), ["removed", "added"]);
    for change in ["added", "removed"] {
        let heads = picture
            .matches(&format!("marker-end=\"url(#sg-{change})\""))
            .count();
        assert_eq!(heads, 1, "{change}");
    }
}

/// Returns the drawn components with these names, which are all in one row, from left to right.
fn assert_names_in_row(drawn: &DrawnPicture, names: &[&str]) {
    let rects: Vec<_> = names
        .iter()
        .map(|name| drawn.rects.iter().find(|rect| rect.name == *name).unwrap())
        .collect();
    for pair in rects.windows(2) {
        assert!(
            pair[0].is_in_same_row(pair[1]) && pair[0].right < pair[1].left,
            "{names:?}"
        );
    }
}

#[test]
fn removed_boxes_that_were_near_each_other_keep_their_row() {
    let before = canvas(&[
        ("Start", 0, 0, &["Load"]),
        ("Load", 96, 0, &["Check"]),
        ("Check", 192, 0, &["Done"]),
        ("Done", 288, 0, &[]),
    ]);
    let after = canvas(&[("Start", 0, 0, &["Done"]), ("Done", 288, 0, &[])]);
    let world = edited(&before, &after);
    let picture = diff(&world, "-o svg");
    let drawn = DrawnPicture::read(Document::parse(&picture).unwrap().root());
    assert_names_in_row(&drawn, &["Start", "Load", "Check", "Done"]);
    world.write("a.orch.yaml", &before);
    world.git("commit -q -a --allow-empty -m same");
    world.git("rm -q a.orch.yaml");
    let picture = diff(&world, "--base HEAD -o svg");
    let drawn = DrawnPicture::read(Document::parse(&picture).unwrap().root());
    assert_names_in_row(&drawn, &["Start", "Load", "Check", "Done"]);
    // A removed box whose place a new one took makes room.
    let after = canvas(&[
        ("Start", 0, 0, &["New"]),
        ("New", 96, 0, &["Done"]),
        ("Done", 288, 0, &[]),
    ]);
    let world = edited(&before, &after.replace("New: { type: sql", "New: { type: python"));
    let picture = diff(&world, "-o svg");
    let drawn = DrawnPicture::read(Document::parse(&picture).unwrap().root());
    assert_names_in_row(&drawn, &["Start", "New", "Done"]);
    let rect_of = |name: &str| drawn.rects.iter().find(|rect| rect.name == name).unwrap();
    assert!(!rect_of("Load").is_in_same_row(rect_of("New")));
}

#[test]
fn picture_before_change_shows_old_places_and_names() {
    let before = canvas(&[
        ("Start", 0, 0, &["Old"]),
        ("Old", 200, 0, &["One"]),
        ("One", 400, 0, &["Two"]),
        ("Two", 600, 0, &["Three"]),
        ("Three", 800, 0, &["Four"]),
        ("Four", 1000, 0, &[]),
    ])
    .replacen("Old: { type: sql", "Old: { type: grid", 1);
    let after = canvas(&[
        ("Start", 900, 500, &["New"]),
        ("New", 200, 0, &["A"]),
        ("A", 400, 0, &["B"]),
        ("B", 600, 0, &["C"]),
        ("C", 800, 0, &["D"]),
        ("D", 1000, 0, &[]),
    ])
    .replace("{ type: sql", "{ type: python")
    .replacen("Start: { type: python", "Start: { type: sql", 1)
    .replacen("New: { type: python", "New: { type: grid", 1);
    let world = edited(&before, &after);
    let text = page_of(&world);
    let page = Document::parse(&text).unwrap();
    let pictures = pictures(&page);
    assert_eq!(pictures.len(), 2);
    let drawn_before = DrawnPicture::read(pictures[0].0);
    assert_names_in_row(&drawn_before, &["Start", "Old", "One", "Two", "Three", "Four"]);
    let drawn_after = DrawnPicture::read(pictures[1].0);
    assert_names_in_row(&drawn_after, &["New", "A", "B", "C", "D"]);
    let rect_of = |name: &str| drawn_after.rects.iter().find(|rect| rect.name == name).unwrap();
    assert!(rect_of("New").bottom < rect_of("Start").top);
    assert_unique_ids(&page);
}

#[test]
fn changed_part_has_neighbors_of_changed_link() {
    let before = chain(40);
    let after = before.replacen(
        "success: [Step 21] }",
        "success: [Step 21], failure: [Step 23] }",
        1,
    );
    let world = edited(&before, &after);
    let text = page_of(&world);
    let page = Document::parse(&text).unwrap();
    let names: HashSet<&str> = elements_of_class(pictures(&page)[0].0, "component")
        .filter_map(|node| node.attribute("data-name"))
        .collect();
    let expected = ["Step 19", "Step 20", "Step 21", "Step 22", "Step 23", "Step 24"];
    assert_eq!(names, HashSet::from(expected));
}

#[test]
fn part_of_too_large_canvas_is_not_called_complete() {
    for (length, is_complete) in [(600, true), (601, false)] {
        let before = chain(length);
        let world = edited(&before, &before.replacen("schema: a", "schema: b", 40));
        let text = page_of(&world);
        assert_eq!(text.contains("Complete canvas"), is_complete, "{length}");
        let expected = if is_complete {
            "600 components<"
        } else {
            "41 of 601 components<"
        };
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn tab_in_name_is_kept_in_attribute() {
    let before = canvas(&ROWS);
    let after = before
        .replace("    Check: {", "    \"Che\\tck\": {")
        .replace("[Check]", "[\"Che\\tck\"]");
    let picture = diff(&edited(&before, &after), "-o svg");
    let read = Document::parse(&picture).unwrap();
    let names: Vec<&str> = elements_of_class(read.root(), "component")
        .filter_map(|node| node.attribute("data-name"))
        .collect();
    assert!(
        names.contains(&"Che\tck") && names.contains(&"Clean"),
        "{names:?}"
    );
}

#[test]
fn pipelines_without_picture_do_not_use_up_pictures_of_page() {
    let (before, after) = (chain(2), chain(2).replacen("schema: a", "schema: b", 1));
    let moved = before.replace("x: 200", "x: 300");
    let world = project();
    for number in 0..202 {
        world.write(&format!("p{number:03}.orch.yaml"), &before);
    }
    world.commit("before");
    for number in 0..202 {
        let content = if number < 101 { &moved } else { &after };
        world.write(&format!("p{number:03}.orch.yaml"), content);
    }
    let text = diff(&world, "--base HEAD -o html");
    let text = text.strip_prefix("<!doctype html>\n").unwrap();
    let page = Document::parse(text).unwrap();
    assert_eq!(pictures(&page).len(), 100);
    assert_eq!(text.matches("picture is omitted").count(), 1, "{text}");
    let markdown = diff(&world, "--base HEAD -o markdown");
    assert!(markdown.contains("the picture is omitted because"), "{markdown}");
    // With one change less, no picture is omitted.
    world.write("p201.orch.yaml", &before);
    assert!(!diff(&world, "--base HEAD -o html").contains("picture is omitted"));
}
