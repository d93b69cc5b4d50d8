//! Pictures contain what they should, and no part of a name leaves its box.

use super::canvas::ChangeMark;
use super::geometry::{faults, faults_without_order};
use super::*;
use crate::diff::{PipelineVersions, compare_versions};
use proptest::prelude::*;
use sluicegate_test_support::picture_geometry::DrawnPicture;
use std::collections::{BTreeMap, BTreeSet};

const BASE: &str = "type: orchestration
pipeline:
  components:
    Start: { type: start, transitions: { unconditional: [Load] } }
    Load: { type: sql-executor, transitions: { success: [Done], failure: [Old] }, parameters: { sql: a } }
    Old: { type: end-failure }
    Done: { type: end-success }
design:
  components:
    Start: { position: { x: 0, y: 0 } }
    Load: { position: { x: 100, y: 0 } }
    Done: { position: { x: 200, y: -50 } }
";

fn changed(after: &str) -> Canvas {
    let sides = PipelineVersions {
        path: "a.orch.yaml",
        previous_path: None,
        base: Some(Ok(BASE.as_bytes())),
        head: Some(Ok(after.as_bytes())),
    };
    Canvas::from_diff(&sides.parse_trees().unwrap(), &compare_versions(&sides)).unwrap()
}

fn picture_of(canvas: &Canvas, title: &str) -> String {
    render_document(canvas, title)
}

fn head() -> String {
    BASE.replace(", failure: [Old]", "")
        .replace("sql: a", "sql: b")
        .replace(
            "    Old: { type: end-failure }\n",
            "    New: { type: retry, iterationTarget: Load }\n",
        )
}

#[test]
fn changes_are_marked_by_color_and_sign() {
    let canvas = changed(&head());
    let marks: Vec<_> = canvas.boxes.iter().map(|b| (b.name.as_str(), b.mark)).collect();
    assert_eq!(
        marks,
        [
            ("Start", ChangeMark::Unchanged),
            ("Load", ChangeMark::Changed),
            ("New", ChangeMark::Added),
            ("Done", ChangeMark::Unchanged),
            ("Old", ChangeMark::Removed)
        ]
    );
    let removed: Vec<_> = canvas
        .arrows
        .iter()
        .filter(|a| a.mark == ChangeMark::Removed)
        .collect();
    assert_eq!(removed.len(), 1, "{removed:?}");
    let picture = picture_of(&canvas, "a");
    for sign in [">+<", ">~<", ">\u{2212}<"] {
        assert!(picture.contains(sign), "{sign}");
    }
}

#[test]
fn boxes_keep_canvas_order_and_never_overlap() {
    let canvas = changed(&head());
    assert_eq!(faults(&canvas, &picture_of(&canvas, "a")), [""; 0]);
    let narrow = Picture::with_max_width(canvas.clone(), 300);
    assert_eq!(
        faults_without_order(&canvas, &narrow.render_document("a")),
        [""; 0]
    );
}

/// Returns the left edges of the boxes `component 0`, `component 1` and so on.
fn left_edges(picture: &str) -> Vec<f64> {
    let document = roxmltree::Document::parse(picture).unwrap();
    let mut rects = DrawnPicture::read(document.root()).rects;
    rects.sort_by_key(|rect| {
        rect.name
            .trim_start_matches("component ")
            .parse::<usize>()
            .unwrap()
    });
    rects.iter().map(|rect| rect.left).collect()
}

#[test]
fn picture_of_wide_pipeline_continues_at_left_edge_within_width() {
    let places: Vec<_> = (0..24).map(|index| Some((index * 200, 0))).collect();
    let chain: Vec<_> = (0..23).map(|index| (index, index + 1, 1)).collect();
    let with_jumps: Vec<_> = chain
        .iter()
        .copied()
        .chain([(0, 20, 2), (22, 3, 3), (5, 12, 0)])
        .collect();
    for links in [chain, with_jumps] {
        let canvas = canvas_of(&places, &links, &[]);
        for max_width in [400, COLUMN_WIDTH, PAGE_WIDTH] {
            let picture = Picture::with_max_width(canvas.clone(), max_width);
            assert!(picture.width() <= max_width, "{} > {max_width}", picture.width());
            let document = picture.render_document("wide");
            assert_eq!(faults_without_order(&canvas, &document), [""; 0]);
            let lefts = left_edges(&document);
            let starts: Vec<_> = lefts.windows(2).filter(|pair| pair[0] > pair[1]).collect();
            assert!(!starts.is_empty(), "{lefts:?}");
            assert!(
                starts.iter().all(|pair| (pair[1] - lefts[0]).abs() <= 84.0),
                "{lefts:?}"
            );
        }
    }
}

#[test]
fn picture_within_width_is_drawn_like_with_natural_width() {
    let canvas = canvas_of(
        &[Some((0, 0)), Some((200, 0)), Some((400, 80))],
        &[(0, 1, 1), (1, 2, 1)],
        &[],
    );
    let narrow = Picture::with_max_width(canvas.clone(), PAGE_WIDTH);
    assert_eq!(narrow.render_document("a"), picture_of(&canvas, "a"));
}

/// Returns the places of the boxes and the corners of the links.
fn outline(picture: &str) -> String {
    let document = roxmltree::Document::parse(picture).unwrap();
    let drawn = DrawnPicture::read(document.root());
    let boxes = drawn.rects.iter().map(|rect| {
        format!(
            "{}: {},{} to {},{}",
            rect.name, rect.left, rect.top, rect.right, rect.bottom
        )
    });
    let links = drawn.links.iter().map(|link| {
        let points = &link.points;
        let corners = points.windows(3).filter(|points| {
            (points[0].0 - points[2].0).abs() > 0.5 && (points[0].1 - points[2].1).abs() > 0.5
        });
        let ends = [points[0], points[points.len() - 1]];
        let path: Vec<String> = [ends[0]]
            .into_iter()
            .chain(corners.map(|points| points[1]))
            .chain([ends[1]])
            .map(|(x, y)| format!("{x},{y}"))
            .collect();
        format!("{} -> {}: {}", link.from, link.to, path.join(" "))
    });
    boxes.chain(links).collect::<Vec<_>>().join("\n")
}

#[test]
fn picture_keeps_rows_and_leads_links_beside_boxes() {
    let canvas = canvas_of(
        &[
            Some((0, 0)),
            Some((200, 10)),
            Some((400, 0)),
            Some((200, 120)),
            Some((400, 0)),
        ],
        &[(0, 1, 1), (1, 2, 1), (0, 2, 2), (0, 3, 1), (3, 2, 0), (4, 2, 4)],
        &[],
    );
    insta::assert_snapshot!(outline(&picture_of(&canvas, "a")), @"
    component 0: 0,80 to 93,124
    component 1: 187,80 to 280,124
    component 2: 374,80 to 467,124
    component 3: 187,154 to 280,194
    component 4: 374,0 to 467,40
    component 0 -> component 1: 93,102 187,102
    component 1 -> component 2: 280,102 374,102
    component 0 -> component 2: 93,86 166,86 166,60 352,60 352,102 374,102
    component 0 -> component 3: 93,102 160,102 160,174 187,174
    component 3 -> component 2: 280,174 352,174 352,102 374,102
    component 4 -> component 2: 412,40 412,80
    ");
}

#[test]
fn badge_links_to_finding() {
    let mut canvas = Canvas::from_pipeline(BASE.as_bytes()).unwrap();
    let badge = Badge {
        count: 3,
        target_id: "finding-4".to_owned(),
    };
    canvas.set_badges(&BTreeMap::from([("Load".to_owned(), badge)]));
    let ids = |at: usize| ElementIds {
        component_id: Some(format!("file-1-{at}")),
        target_id: canvas.boxes[at]
            .badge
            .as_ref()
            .map(|badge| badge.target_id.clone()),
    };
    let picture = Picture::with_natural_width(&canvas).render_fragment(&PictureFrame {
        id: "file-1",
        title: "a",
        max_width: None,
        background_target: None,
        element_ids: &ids,
    });
    assert!(
        picture.contains("<a href=\"#finding-4\"><g id=\"file-1-1\""),
        "{picture}"
    );
    assert!(
        picture.contains("<title>Load (sql-executor), findings: 3</title>"),
        "{picture}"
    );
    assert_eq!(picture.matches("<a ").count(), 1);
}

#[test]
fn changed_part_contains_ends_of_links_and_neighbors_up_to_limit() {
    let (part, left_out) = changed(&head()).select_changed_part(24);
    assert_eq!((part.boxes.len(), left_out), (5, 0));
    // The ends of the changed links are not limited.
    let (part, left_out) = changed(&head()).select_changed_part(0);
    let names: Vec<&str> = part.boxes.iter().map(|b| b.name.as_str()).collect();
    assert_eq!((names, left_out), (vec!["Load", "New", "Old"], 2));
    let stubs: Vec<_> = part
        .stubs
        .iter()
        .map(|stub| (stub.canvas_box, stub.is_outgoing, stub.count))
        .collect();
    assert_eq!(stubs, [(0, false, 1), (0, true, 1)]);
    let (part, left_out) = changed(&head()).select_flowchart_part(2);
    assert_eq!((part.boxes.len(), left_out), (2, 3));
    let (part, _) = changed(BASE).select_changed_part(40);
    assert!(part.boxes.is_empty());
}

#[test]
fn flowchart_shows_same_changes() {
    insta::assert_snapshot!(render_mermaid(&changed(&head())), @r##"
    flowchart LR
      n0["Start"]
      n1["#126; Load"]:::changed
      n2["+ New"]:::added
      n3["Done"]
      n4["− Old"]:::removed
      n0 --> n1
      n1 -->|"success"| n3
      n2 -->|"+ iteration"| n1
      n1 -.->|"− failure"| n4
      linkStyle 2 stroke:#1a7f37,stroke-width:3px
      linkStyle 3 stroke:#cf222e,stroke-width:2px
      classDef added stroke:#1a7f37,stroke-width:3px
      classDef removed stroke:#cf222e,stroke-width:3px,stroke-dasharray:6 4
      classDef changed stroke:#bf8700,stroke-width:3px
    "##);
}

#[test]
fn label_of_flowchart_has_no_markdown() {
    for (name, label) in [
        ("__init__", "#95;#95;init#95;#95;"),
        ("_tmp_ load_orders", "#95;tmp#95; load_orders"),
        ("1) Load", "1#41; Load"),
        ("1. Load", "1#46; Load"),
        ("Load (1)", "Load (1)"),
    ] {
        let pipeline =
            format!("type: orchestration\npipeline:\n  components:\n    '{name}': {{ type: start }}\n");
        let chart = render_mermaid(&Canvas::from_pipeline(pipeline.as_bytes()).unwrap());
        assert!(chart.contains(&format!("[\"{label}\"]")), "{chart}");
    }
}

#[test]
fn large_pipeline_is_drawn() {
    let component = |n: usize| {
        format!(
            "    c{n}: {{ type: x, transitions: {{ success: [c{}] }} }}\n",
            n + 1
        )
    };
    let text: String = (0..3000).map(component).collect();
    let canvas =
        Canvas::from_pipeline(format!("type: orchestration\npipeline:\n  components:\n{text}").as_bytes())
            .unwrap();
    // The last component links to one that does not exist.
    assert_eq!((canvas.boxes.len(), canvas.arrows.len()), (3001, 3000));
    assert_eq!(picture_of(&canvas, "many").matches("<rect").count(), 3001);
}

/// Returns a canvas with boxes at these positions, some without a position, and these links.
fn canvas_of(places: &[Option<(i16, i16)>], links: &[(usize, usize, usize)], marks: &[u8]) -> Canvas {
    const KINDS: [&str; 6] = [
        "unconditional",
        "success",
        "failure",
        "true",
        "iteration",
        "source",
    ];
    let mark = |at: usize| match marks.get(at).copied().unwrap_or(0) {
        1 => ChangeMark::Added,
        2 => ChangeMark::Removed,
        3 => ChangeMark::Changed,
        _ => ChangeMark::Unchanged,
    };
    let boxes = places.iter().enumerate().map(|(at, place)| canvas::CanvasBox {
        name: format!("component {at}"),
        previous_name: None,
        kind: (at == 0).then(|| "start".to_owned()),
        position: place.map(|(x, y)| canvas_point::Point {
            x: f64::from(x),
            y: f64::from(y),
        }),
        base_position: None,
        mark: mark(at),
        is_missing: false,
        note: None,
        badge: None,
    });
    // An iterator has one target before and one after a change; a link that exists on both sides is both.
    let mut iterators = BTreeSet::new();
    let links = links.iter().filter(|(from, to, kind)| {
        let sides: &[&str] = match mark(from + to) {
            ChangeMark::Removed => &["before"],
            ChangeMark::Added => &["after"],
            ChangeMark::Unchanged | ChangeMark::Changed => &["before", "after"],
        };
        let ends: Vec<_> = sides.iter().map(|side| (from % places.len(), *side)).collect();
        if KINDS[kind % KINDS.len()] != "iteration" {
            return true;
        }
        let is_first = ends.iter().all(|end| !iterators.contains(end));
        if is_first {
            iterators.extend(ends);
        }
        is_first
    });
    let arrows = links.map(|(from, to, kind)| canvas::Arrow {
        from_box: from % places.len(),
        to_box: to % places.len(),
        kind: KINDS[kind % KINDS.len()].to_owned(),
        mark: mark(from + to),
    });
    Canvas {
        boxes: boxes.collect(),
        arrows: arrows.collect(),
        ..Canvas::default()
    }
}

#[test]
fn nested_iterators_at_one_place_are_right_above_their_targets() {
    let place = Some((-60, 60));
    for links in [
        [(0, 1, 4), (1, 2, 4)],
        [(2, 1, 4), (1, 0, 4)],
        [(1, 0, 4), (0, 2, 4)],
    ] {
        let canvas = canvas_of(&[place; 3], &links, &[]);
        let faults = faults(
            &canvas,
            &Picture::with_natural_width(&canvas).render_document("nested"),
        );
        assert!(faults.is_empty(), "{links:?}: {faults:#?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn boxes_never_overlap_and_links_cross_no_box(
        places in prop::collection::vec(prop::option::weighted(0.9, (-4_i16..12, -3_i16..5)), 1..26),
        step in (20_i16..260, 20_i16..180),
        links in prop::collection::vec((0_usize..26, 0_usize..26, 0_usize..6), 0..60),
        marks in prop::collection::vec(0_u8..8, 0..26),
    ) {
        let places: Vec<_> = places.iter().map(|place| place.map(|(x, y)| (x * step.0, y * step.1))).collect();
        let canvas = canvas_of(&places, &links, &marks);
        let faults = faults(&canvas, &Picture::with_natural_width(&canvas).render_document("random"));
        prop_assert!(faults.is_empty(), "{:#?}", faults);
        let (part, left_out) = canvas.select_changed_part(4);
        let picture = Picture::with_max_width(part.clone(), COLUMN_WIDTH).render_document("random");
        let faults = faults_without_order(&part, &picture);
        prop_assert!(faults.is_empty(), "{:#?}", faults);
        let changed = canvas.select_changed_part(usize::MAX / 2).0;
        prop_assert_eq!(part.boxes.len() + left_out, changed.boxes.len());
        for arrow in canvas.arrows.iter().filter(|arrow| arrow.mark != ChangeMark::Unchanged) {
            for index in [arrow.from_box, arrow.to_box] {
                prop_assert!(part.boxes.iter().any(|b| b.name == canvas.boxes[index].name));
            }
        }
    }
}

/// Returns the number of elements of a picture; a name has one or two texts.
fn shapes(picture: &roxmltree::Document<'_>) -> usize {
    let elements = picture.descendants().filter(roxmltree::Node::is_element);
    elements.filter(|element| !element.has_tag_name("text")).count()
}

proptest! {
    #[test]
    fn names_are_escaped_in_pictures(name in "(\\PC|[\\r\\n\\x00\\x1b\"'<>&;%{}|`\\[\\]]){0,40}", x in any::<f64>(), y in any::<f64>()) {
        let document = serde_json::json!({
            "type": "orchestration",
            "pipeline": { "components": { name.clone(): { "type": name, "transitions": { "success": [name] } } } },
            "design": { "components": { name.clone(): { "position": { "x": x, "y": y } } } },
        });
        let Ok(canvas) = Canvas::from_pipeline(document.to_string().as_bytes()) else { return Ok(()) };
        let picture = picture_of(&canvas, &name);
        let read = roxmltree::Document::parse(&picture).map_err(|e| TestCaseError::fail(format!("{e}: {picture}")))?;
        let elements = shapes(&read);
        let plain = picture_of(&Canvas::from_pipeline(b"{type: orchestration, pipeline: {components: {a: {type: b, transitions: {success: [a]}}}}}").unwrap(), "a");
        let plain = roxmltree::Document::parse(&plain).unwrap();
        prop_assert_eq!(elements, shapes(&plain));
        let chart = render_mermaid(&canvas);
        prop_assert_eq!(chart.lines().count(), 6, "{}", chart);
        prop_assert!(!chart.contains("%%") && !chart.contains("```"));
    }
}
