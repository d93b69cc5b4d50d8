//! The facts about a pipeline that project-wide checks need: its references, its variables, and its broken links. The
//! rest of the pipeline is dropped, because a project has thousands.

use super::pipeline_model::trim_pipeline_extension;
use super::pipeline_model::{Link, LinkRole, Pipeline};
use super::references::{Reference, file_name};
use memchr::{memchr_iter, memmem};
use regex::bytes::{Regex, RegexBuilder};
use sluicegate_yaml::{DocumentError, Position};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

/// The keys by which a component refers to a file.
const FILE_REFERENCE_KEYS: [&str; 3] = ["orchestrationJob", "transformationJob", "fileName"];

/// Returns whether a pipeline with these bytes may refer to a file. The answer "no" is certain, and needs no parsing as
/// YAML, which would be slow for many files.
pub fn may_refer_to_files(bytes: &[u8]) -> bool {
    has_reference_key(bytes) || has_escape(bytes)
}

/// Returns whether one of [`FILE_REFERENCE_KEYS`] occurs anywhere in the bytes. If not, the pipeline does not refer to
/// a file, unless it writes the key with an escape (see `has_escape`).
fn has_reference_key(bytes: &[u8]) -> bool {
    FILE_REFERENCE_KEYS
        .iter()
        .any(|key| memmem::find(bytes, key.as_bytes()).is_some())
}

/// Returns whether the bytes contain an escape of a quoted YAML text that can stand for letters or join lines
/// (<https://yaml.org/spec/1.2.2/#57-escaped-characters>). A document with such an escape may contain any name.
fn has_escape(bytes: &[u8]) -> bool {
    memchr_iter(b'\\', bytes)
        .any(|index| matches!(bytes.get(index + 1), Some(b'x' | b'u' | b'U' | b'\r' | b'\n')))
}

/// A search for the names of changed files in the bytes of unchanged pipelines. Most pipelines contain none of the
/// names and need not be read as YAML.
pub struct FileNameSearch(Regex);

impl FileNameSearch {
    /// Maximum number of names; a search for more is not faster than reading.
    pub const MAX_NAMES: usize = 500;

    /// Builds the search for the names of these files. Returns `None` if there are too many names, if a name is blank
    /// and would match everything, or if the search would be too large to build.
    pub fn for_files<'p>(paths: impl IntoIterator<Item = &'p str>) -> Option<Self> {
        let patterns: BTreeSet<String> = paths.into_iter().map(build_name_pattern).collect();
        if patterns.len() > Self::MAX_NAMES || patterns.contains("") {
            return None;
        }
        let alternatives: Vec<&str> = patterns.iter().map(String::as_str).collect();
        // YAML breaks a line only at ASCII blanks, so `\s` need not match those of Unicode. This search is built in a
        // fraction of the time.
        let regex = RegexBuilder::new(&alternatives.join("|")).unicode(false).build();
        regex.ok().map(Self)
    }

    /// Returns whether a pipeline with these bytes may refer to one of the files. The answer "no" is certain.
    pub fn may_match(&self, bytes: &[u8]) -> bool {
        (self.0.is_match(bytes) && has_reference_key(bytes)) || has_escape(bytes)
    }
}

/// Matches blanks between words, as YAML may write them: as line breaks, escaped, or before a continued line.
const BLANK_PATTERN: &str = r"(?:\s|\\[ \ttnrf]|\\\r?\n)+";

/// Matches the end of a line that is continued on the next one, if there is one.
const CONTINUATION_PATTERN: &str = r"(?:\\\r?\n[ \t]*)?";

/// Returns a pattern that matches a file's name, without its extension, as YAML may write it: a blank may be a line
/// break or escaped, a single quote may be doubled, and other characters may be escaped, for example a double quote.
fn build_name_pattern(path: &str) -> String {
    let no_gap = "";
    build_text_pattern(
        file_name(trim_pipeline_extension(path)),
        no_gap,
        push_character_pattern,
    )
}

/// Builds a search for a text in a file that cannot be parsed, in each way that YAML may write the text: a blank may be
/// a line break, and in quotes any character may be escaped and any line may be continued.
pub fn build_spelling_search(text: &str) -> Option<Regex> {
    let pattern = build_text_pattern(text, CONTINUATION_PATTERN, push_escapable_character_pattern);
    RegexBuilder::new(&pattern).unicode(false).build().ok()
}

/// Returns a pattern that matches a text with any blanks between its words. `gap` is the pattern between two characters
/// of a word, and `push_character` adds the pattern of a character.
fn build_text_pattern(text: &str, gap: &str, push_character: fn(&mut String, char)) -> String {
    let mut pattern = String::new();
    for word in text.split_ascii_whitespace() {
        if !pattern.is_empty() {
            pattern.push_str(BLANK_PATTERN);
        }
        for (index, c) in word.chars().enumerate() {
            if index > 0 {
                pattern.push_str(gap);
            }
            push_character(&mut pattern, c);
        }
    }
    pattern
}

/// Adds a pattern that matches one character of a word, also as an escape with the number of the character.
fn push_escapable_character_pattern(pattern: &mut String, c: char) {
    pattern.push_str("(?:");
    push_character_pattern(pattern, c);
    let number = u32::from(c);
    if number < 0x100 {
        let _ = write!(pattern, r"|\\x(?i:{number:02x})");
    }
    if number < 0x1_0000 {
        let _ = write!(pattern, r"|\\u(?i:{number:04x})");
    }
    let _ = write!(pattern, r"|\\U(?i:{number:08x}))");
}

/// Adds a pattern that matches one character of a word as YAML may write it.
fn push_character_pattern(pattern: &mut String, c: char) {
    let character = regex::escape(&c.to_string());
    match (c, find_escape_letter(c)) {
        // A single-quoted text doubles the quote.
        ('\'', _) => pattern.push_str("'+"),
        // A double-quoted text needs a backslash before a quote and a backslash, and may have one before a slash.
        ('"' | '\\' | '/', _) => {
            pattern.push_str(r"\\?");
            pattern.push_str(&character);
        }
        (_, Some(letter)) => {
            let _ = write!(pattern, r"(?:{character}|\\{letter})");
        }
        (_, None) => pattern.push_str(&character),
    }
}

/// Returns the letter of the escape that YAML has for this character, or `None` if it has only escapes with the number
/// of the character, or none (<https://yaml.org/spec/1.2.2/#57-escaped-characters>).
const fn find_escape_letter(c: char) -> Option<char> {
    match c {
        '\u{7}' => Some('a'),
        '\u{8}' => Some('b'),
        '\u{b}' => Some('v'),
        '\u{1b}' => Some('e'),
        '\u{85}' => Some('N'),
        '\u{a0}' => Some('_'),
        '\u{2028}' => Some('L'),
        '\u{2029}' => Some('P'),
        _ => None,
    }
}

/// The facts about a pipeline that project checks, moves and publishes need.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PipelineFacts {
    pub references: Box<[Reference]>,
    /// The names of its variables, sorted.
    variables: Box<[String]>,
    /// The links to missing components.
    pub dangling_links: Box<[DanglingLink]>,
    /// The names of its components, if it has links to missing ones; otherwise empty.
    pub components: Box<[String]>,
    /// Whether the file was not parsed as YAML, because it cannot refer to another file. Its variables and links are
    /// then unknown, and it may not be a pipeline at all.
    pub is_skimmed: bool,
}

/// A link to a missing component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DanglingLink {
    /// The component's name, which all of its links share.
    pub component: Arc<str>,
    pub role: LinkRole,
    pub name: String,
    pub position: Position,
}

impl DanglingLink {
    /// Describes a link of the component with this name.
    pub(crate) fn new(component: Arc<str>, link: &Link) -> Self {
        Self {
            component,
            role: link.role,
            name: link.name.clone(),
            position: link.position,
        }
    }
}

impl PipelineFacts {
    /// Collects the facts about a pipeline that checks of the complete project need.
    pub fn from_pipeline(pipeline: &Pipeline) -> Self {
        let mut variables: Vec<String> = pipeline
            .variables
            .iter()
            .map(|variable| variable.name.clone())
            .collect();
        variables.sort_unstable();
        let dangling_links = find_dangling_links(pipeline);
        // The names are needed only for hints about dangling links.
        let components = pipeline.components.iter().filter(|_| !dangling_links.is_empty());
        Self {
            references: pipeline.list_references().into(),
            variables: variables.into(),
            components: components.map(|component| component.name.clone()).collect(),
            dangling_links,
            is_skimmed: false,
        }
    }

    /// Parses a pipeline file and collects its facts.
    pub fn parse(bytes: &[u8]) -> Result<Self, DocumentError> {
        Pipeline::parse(bytes).map(|pipeline| Self::from_pipeline(&pipeline))
    }

    /// Returns whether the pipeline has a variable of this name.
    pub fn declares_variable(&self, variable: &str) -> bool {
        self.variables
            .binary_search_by(|name| name.as_str().cmp(variable))
            .is_ok()
    }

    /// Returns whether the pipeline declares every variable that `other` declares, which is usually an older version of
    /// the same pipeline.
    pub fn declares_variables_of(&self, other: &Self) -> bool {
        other
            .variables
            .iter()
            .all(|variable| self.declares_variable(variable))
    }

    /// Creates the facts about a pipeline that was not parsed as YAML, because it cannot refer to a file. They contain
    /// no references, variables or links.
    pub fn for_skimmed_file() -> Self {
        Self {
            is_skimmed: true,
            ..Self::default()
        }
    }
}

/// Returns the links to components that the pipeline does not have. Ignores links with a blank name.
fn find_dangling_links(pipeline: &Pipeline) -> Box<[DanglingLink]> {
    let names = pipeline.component_names();
    let mut dangling_links = Vec::new();
    for component in &pipeline.components {
        let component_name: Arc<str> = component.name.as_str().into();
        for link in &component.links {
            if !names.contains(link.name.as_str()) && !link.is_blank() {
                dangling_links.push(DanglingLink::new(Arc::clone(&component_name), link));
            }
        }
    }
    dangling_links.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn file_is_skimmed_only_if_it_cannot_contain_reference_key() {
        for text in [
            "orchestrationJob: a",
            "\"transformation\\u004aob\": a",
            "\"file\\x4eame\": a",
            "\"file\\U0000004eame\": a",
            "\"file\\\n  Name\": a",
        ] {
            assert!(may_refer_to_files(text.as_bytes()), "{text}");
        }
        assert!(!may_refer_to_files(b"sqlScript: \"select '\\t' as filename\""));
    }

    #[test]
    fn file_name_is_found_in_each_yaml_spelling() {
        let sought = FileNameSearch::for_files(["a/load the orders.orch.yaml", "b/it's.py"]).unwrap();
        for text in [
            "orchestrationJob: a/load the orders",
            "orchestrationJob: load the\n  orders.orch.yaml",
            "fileName: 'b/it''s.py'",
            "orchestrationJob: \"lo\\x61d\"",
        ] {
            assert!(sought.may_match(text.as_bytes()), "{text}");
        }
        assert!(
            !sought.may_match(b"note: load the orders"),
            "a pipeline without any key that names a file"
        );
        assert!(!sought.may_match(b"orchestrationJob: a/load the invoices"));
        assert!(FileNameSearch::for_files(["a/ .orch.yaml"]).is_none());
        let accented = FileNameSearch::for_files(["é/für\u{a0}alle Fälle.orch.yaml"]).unwrap();
        let folded = "orchestrationJob: é/für\u{a0}alle\n  Fälle";
        assert!(accented.may_match(folded.as_bytes()));
        assert!(accented.may_match("orchestrationJob: \"für\\_alle Fälle\"".as_bytes()));
        for (name, escape) in [
            ("\t", "t"),
            ("\t", "\t"),
            ("\n", "n"),
            ("\r", "r"),
            ("\u{c}", "f"),
            ("\u{b}", "v"),
            ("\u{7}", "a"),
            ("\u{8}", "b"),
            ("\u{1b}", "e"),
            ("\u{85}", "N"),
            ("\u{2028}", "L"),
            ("\u{2029}", "P"),
        ] {
            let search = FileNameSearch::for_files([format!("a{name}b.orch.yaml").as_str()]).unwrap();
            let text = format!("orchestrationJob: \"a\\{escape}b\"");
            assert!(search.may_match(text.as_bytes()), "{text}");
        }
        let quoted = FileNameSearch::for_files(["say \"it\".orch.yaml"]).unwrap();
        assert!(quoted.may_match(br#"orchestrationJob: "say \"it\"""#));
        let many: Vec<String> = (0..501).map(|n| format!("p{n}.orch.yaml")).collect();
        assert!(FileNameSearch::for_files(many.iter().map(String::as_str)).is_none());
    }

    /// Returns a double-quoted key with some letters escaped.
    fn quoted(key: &str, escapes: &[u8]) -> String {
        let written = key.chars().zip(escapes).map(|(letter, escape)| match escape {
            0 => format!("\\x{:02x}", u32::from(letter)),
            1 => format!("\\u{:04X}", u32::from(letter)),
            2 => format!("\\U{:08x}", u32::from(letter)),
            _ => letter.to_string(),
        });
        format!("\"{}\"", written.collect::<String>())
    }

    proptest! {
        #[test]
        fn skimmed_file_has_no_references(
            key in "orchestrationJob|transformationJob",
            escapes in prop::collection::vec(0_u8..12, 20),
        ) {
            let text = format!(
                "type: orchestration\npipeline:\n  components:\n    A:\n      parameters:\n        {}: b\n",
                quoted(&key, &escapes)
            );
            let named = PipelineFacts::parse(text.as_bytes()).unwrap().references;
            prop_assert_eq!(named.len(), 1);
            prop_assert!(may_refer_to_files(text.as_bytes()));
        }
    }
}
