//! The component or variable that a text is about.

use super::{NamedSubject, SubjectIndex, SubjectKind};

/// Returns the line that `text` names, if the components are on lines 4, 5, …, then a line, then the variables.
fn lines(names: &[&str], variables: &[&str], text: &str) -> Option<u32> {
    let below = 4 + u32::try_from(names.len().max(1)).unwrap() + 1;
    let components = names.iter().copied().zip(4..);
    SubjectIndex::new(components, variables.iter().copied().zip(below..))
        .find_subject(text)
        .map(|named| named.line)
}

/// Returns the name that `text` certainly concerns.
fn surely<'n>(names: &[&'n str], text: &str) -> Option<&'n str> {
    let all = SubjectIndex::new(names.iter().copied().zip(4..), std::iter::empty());
    let found = all.find_subject(text)?.subject?.name.to_owned();
    names.iter().copied().find(|name| *name == found)
}

#[test]
fn subject_of_certain_text_is_found() {
    let long = format!("evil 'legacy load' {}", "x".repeat(2100));
    let names = ["evil", "legacy load", &long];
    let at = |text: &str| surely(&names, text);
    assert_eq!(
        at("component \"legacy load\" is wrong: rename it"),
        Some("legacy load")
    );
    assert_eq!(
        at("The name \"legacy load\" doesn't match \"[A-Z].*\""),
        Some("legacy load")
    );
    assert_eq!(at("\u{201c}legacy load\u{201d} fails"), Some("legacy load"));
    assert_eq!(at("\"evil\" must not come after \"legacy load\""), Some("evil"));
    assert_eq!(at(&format!("component \"{long}\" is wrong")), Some(&*long));
    for unsure in [
        "legacy load is wrong",
        "component \"evil legacy load\" is wrong",
        "component \"evil\\t legacy load\" is wrong",
        "component evil comes after \"legacy load\"",
        "component \"legacy load\" evil\" is wrong",
        "component \"legacy load\"s is wrong",
        "component \"legacy load",
        "component 'legacy load' is wrong",
        &format!("component \"{}\u{2026}\" is wrong", &long[..200]),
    ] {
        assert_eq!(at(unsure), None, "{unsure}");
    }
}

#[test]
fn unquoted_name_is_certain_only_if_it_is_unique() {
    let names = ["Alpha", "Beta", "load", "load all"];
    let at = |text: &str| surely(&names, text);
    assert_eq!(at("Component Alpha is not connected"), Some("Alpha"));
    assert_eq!(at("component Beta isn't connected"), Some("Beta"));
    assert_eq!(at("Alpha"), Some("Alpha"));
    assert_eq!(at("component load all is wrong"), Some("load all"));
    for unsure in [
        "component load is wrong",
        "Component Alpha comes after Beta",
        "Component Alphabet is wrong",
        "Component 'Alpha is wrong",
        "Component Alpha' is wrong",
        "",
    ] {
        assert_eq!(at(unsure), None, "{unsure}");
    }
    // The rest of the other name, if the platform writes another blank or truncates it.
    assert_eq!(
        surely(&["Alpha", "evil\tAlpha"], "Component evil Alpha is wrong"),
        None
    );
}

#[test]
fn quoted_name_is_certain_unless_name_with_quotes_contains_it() {
    let is_certain_beside =
        |name: &str| surely(&["legacy load", name], "component \"legacy load\" is wrong").is_some();
    for other in [
        "Set \"List\"",
        "\"legacy\" tables",
        "l\u{e9}gacy load",
        "Set \u{201c}List\u{201d}",
    ] {
        assert!(is_certain_beside(other), "{other}");
    }
    let long = format!("\"{}", "x".repeat(20_000));
    for other in [
        "legacy load\" x",
        "legacy\tload\" x",
        "evil \" legacy  load",
        "Legacy-Load\"",
        "l\u{e9}gacy load\" x",
        &long,
    ] {
        assert!(!is_certain_beside(other), "{other}");
    }
    // The backslash may be an escape of the other name's quote.
    let escaped = ["legacy load\\", "other\" x"];
    assert_eq!(surely(&escaped, "component \"legacy load\\\" is wrong"), None);
}

#[test]
fn name_with_quotes_makes_its_parts_uncertain() {
    let names = ["legacy load", "legacy load\" x\t"];
    // The other name, escaped.
    assert_eq!(surely(&names, "component \"legacy load\" x\\t\" is wrong"), None);
    assert_eq!(surely(&names, "component \"legacy load\" is wrong"), None);
    assert_eq!(
        surely(&names, "component 'legacy load' isn't right"),
        Some("legacy load")
    );
    let alone = ["it's \"so\"", "so"];
    assert_eq!(
        surely(&alone, "component \"it's \"so\"\" is wrong"),
        Some(alone[0])
    );
    assert_eq!(surely(&alone, "component it's \"so\" is wrong"), None);
    let nested = ["Send \"mail\"", "Send \"mail\" u"];
    let text_about = |name: &str| format!("component \"{name}\" is wrong");
    assert_eq!(surely(&nested, &text_about(nested[1])), Some(nested[1]));
    // The platform may have truncated the longer name.
    assert_eq!(surely(&nested, &text_about(nested[0])), None);
}

#[test]
fn component_named_component_is_found() {
    let names = ["component", "load"];
    assert_eq!(surely(&names, "component \"load\" is wrong"), Some("load"));
    assert_eq!(
        surely(&names, "Component 'component' isn't used"),
        Some("component")
    );
}

#[test]
fn longest_quoted_name_precedes_longer_words() {
    let names = ["a", "b", "load all", "load"];
    assert_eq!(lines(&names, &[], "load all comes after 'b' and \"a\""), Some(5));
    assert_eq!(lines(&names, &[], "not \"x\" but `a`"), Some(4));
    assert_eq!(lines(&names, &[], "\u{201c}load\u{201d} fails"), Some(7));
    assert_eq!(lines(&names, &[], "\"load all\""), Some(6));
    assert_eq!(
        lines(&names, &[], "'b' or 'load all' comes after the load 'a'"),
        Some(5)
    );
}

#[test]
fn longest_whole_word_is_found_without_quotes() {
    let names = ["load", "load all", "Start", "ready?", "ü", "-"];
    assert_eq!(lines(&names, &[], "component load all is wrong"), Some(5));
    assert_eq!(lines(&names, &[], "loading Start_2 is wrong"), None);
    assert_eq!(lines(&names, &[], "component Start"), Some(6));
    assert_eq!(lines(&names, &[], "Start, load: both"), Some(6));
    assert_eq!(lines(&names, &[], "ready?yes"), Some(7));
    assert_eq!(lines(&names, &[], "über ü"), Some(8));
    assert_eq!(lines(&names, &[], "nothing"), None);
    assert_eq!(lines(&names, &[], ""), None);
}

#[test]
fn names_with_quotes_and_line_breaks_are_found() {
    let names = ["it's \"so\"", "so", "two\nlines"];
    assert_eq!(lines(&names, &[], "component \"it's \"so\"\" is wrong"), Some(4));
    assert_eq!(lines(&names, &[], "component \"two\nlines\" is wrong"), Some(6));
}

#[test]
fn text_with_word_variable_is_about_variable() {
    assert_eq!(lines(&["x"], &["x", "y"], "variable \"x\" is copied"), Some(6));
    assert_eq!(lines(&["x"], &["x", "y"], "Variable: x"), Some(6));
    assert_eq!(lines(&["x"], &["x", "y"], "component \"x\" is copied"), Some(4));
    assert_eq!(lines(&["x"], &["x", "y"], "\"y\" is copied"), Some(7));
    assert_eq!(lines(&["x"], &[], "variable \"x\""), Some(4));
}

#[test]
fn text_about_pipeline_has_no_subject() {
    assert_eq!(lines(&["components"], &[], "the pipeline has 2 components"), None);
    assert_eq!(lines(&["x"], &[], "the rules file says \"x\""), None);
    assert_eq!(lines(&["components"], &[], "2 components"), Some(4));
}

#[test]
fn empty_name_is_found_only_in_quotes() {
    assert_eq!(lines(&["", "x"], &[], "component \"\" is not x"), Some(4));
    assert_eq!(lines(&[""], &[], "component is wrong"), None);
}

#[test]
fn names_with_common_prefixes_are_searched_quickly() {
    let names: Vec<String> = (1..1000).map(|count| "-".repeat(count)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let text = format!("{}x\u{fc}", "\"-".repeat(5000));
    assert_eq!(lines(&names, &[], &text), Some(4));
    assert_eq!(lines(&names, &[], &"-".repeat(3000)), Some(1002));
}

#[test]
fn name_of_component_and_variable_needs_a_stated_kind() {
    let names = || SubjectIndex::new([("X", 4)].into_iter(), [("X", 9), ("Y", 10)].into_iter());
    let subject = |text: &str| {
        let all = names();
        let found = all.find_subject(text)?;
        let NamedSubject { kind, name } = found.subject?;
        Some((kind, name.to_owned(), found.line))
    };
    let component = Some((SubjectKind::Component, "X".to_owned(), 4));
    let variable = Some((SubjectKind::Variable, "X".to_owned(), 9));
    assert_eq!(subject("component \"X\" is wrong"), component);
    assert_eq!(subject("Component X is wrong"), component);
    assert_eq!(subject("variable \"X\" is wrong"), variable);
    assert_eq!(subject("\"X\" is wrong"), None);
    assert_eq!(subject("X is wrong"), None);
    assert_eq!(
        subject("\"Y\" is wrong"),
        Some((SubjectKind::Variable, "Y".to_owned(), 10))
    );
    assert_eq!(subject("component \"Y\" is wrong"), None);
}

#[test]
fn trimmed_name_is_returned_as_it_is_written() {
    assert_eq!(surely(&["X ", "Y"], "component \"X\" is wrong"), Some("X "));
    assert_eq!(
        surely(&["\u{a0}X\t", "Y"], "component X is wrong"),
        Some("\u{a0}X\t")
    );
    assert_eq!(surely(&["X ", "Y"], "component \"X \" is wrong"), Some("X "));
    let both = ["X", "X "];
    assert_eq!(surely(&both, "component \"X\" is wrong"), None);
    assert_eq!(surely(&both, "component X is wrong"), None);
    assert_eq!(surely(&both, "component \"X \" is wrong"), Some("X "));
    assert_eq!(surely(&["X\t", "X "], "component \"X\" is wrong"), None);
}
