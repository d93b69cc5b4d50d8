//! Finds circular dependencies between source files.
//!
//! A path is followed to the file that defines its target: through re-exports, which do not count as uses. `mod x;`
//! alone is not a use either. A file may use items that the `mod.rs` above it defines for its directory: the two are
//! one module. Code that is compiled only for tests does not count.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::iter::Peekable;
use std::path::Path;

/// The path of a module.
type Place = Vec<String>;

/// Maximum number of aliases to follow for one path.
const DEPTH: usize = 20;

/// The modules, names and paths in a source file.
#[derive(Default)]
struct Source {
    /// The submodules in their own files.
    children: BTreeSet<String>,
    /// The imported names, each with the path in its `use`.
    named: BTreeMap<String, Place>,
    /// All paths that the file uses, as written, without re-exports.
    used: Vec<Place>,
}

/// Returns the circular dependencies below the directory, each as the paths of its files in order.
pub fn circles(folder: &Path, files: &[impl AsRef<Path>]) -> Vec<Vec<String>> {
    let mut sources: BTreeMap<Place, Source> = files
        .iter()
        .map(|file| {
            let text = fs::read_to_string(file).unwrap();
            let place = place_of(file.as_ref().strip_prefix(folder).unwrap());
            (place, Source::read(text.parse().unwrap()))
        })
        .collect();
    // Modules with `#[path]` are not among these files.
    let places: BTreeSet<Place> = sources.keys().cloned().collect();
    for (place, source) in &mut sources {
        let is_here =
            |child: &String| places.contains(&[place.as_slice(), std::slice::from_ref(child)].concat());
        source.children.retain(is_here);
    }
    let uses: BTreeMap<&Place, BTreeSet<Place>> = sources
        .iter()
        .map(|(place, source)| {
            let names = source
                .used
                .iter()
                .filter_map(|path| target(&sources, place, path, 0));
            (place, names.filter(|found| !place.starts_with(found)).collect())
        })
        .collect();
    let reached: BTreeMap<&Place, BTreeSet<&Place>> = uses
        .keys()
        .map(|place| (*place, reachable(&uses, place)))
        .collect();
    let mut entries = BTreeSet::new();
    for (place, others) in reached.iter().filter(|(place, others)| others.contains(*place)) {
        let round = others.iter().filter(|other| reached[*other].contains(*place));
        entries.insert(round.map(|other| other.join("::")).collect());
    }
    entries.into_iter().collect()
}

fn place_of(file: &Path) -> Place {
    let path = file.with_extension("");
    let mut place: Place = path
        .iter()
        .map(|part| part.to_str().unwrap().to_owned())
        .collect();
    if matches!(place.last().map(String::as_str), Some("mod" | "lib")) {
        place.pop();
    }
    place
}

fn reachable<'u>(uses: &'u BTreeMap<&Place, BTreeSet<Place>>, from: &'u Place) -> BTreeSet<&'u Place> {
    let (mut entries, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(place) = open.pop() {
        open.extend(uses[place].iter().filter(|next| entries.insert(*next)));
    }
    entries
}

/// Returns the file that defines the target of a path, or `None` if the target is in another crate.
fn target(sources: &BTreeMap<Place, Source>, from: &Place, path: &[String], depth: usize) -> Option<Place> {
    let mut at = from.clone();
    for (index, name) in path.iter().enumerate() {
        let source = &sources[&at];
        match name.as_str() {
            "crate" => at.clear(),
            "self" => {}
            "super" => _ = at.pop(),
            child if source.children.contains(child) => at.push(child.to_owned()),
            // The name is defined in another file. A crate may re-export an item with its own name.
            name if source.named.contains_key(name) && depth < DEPTH => {
                let path = [&source.named[name], &path[index + 1..]].concat();
                return target(sources, &at, &path, depth + 1);
            }
            _ if index == 0 => return None,
            _ => break,
        }
    }
    Some(at)
}

impl Source {
    fn read(text: TokenStream) -> Self {
        let mut source = Self::default();
        source.items(text);
        source
    }

    /// Reads tokens, including those in groups.
    fn items(&mut self, text: TokenStream) {
        let mut tokens = text.into_iter().peekable();
        let mut public = false;
        let mut last_colons = 0;
        while let Some(token) = tokens.next() {
            let mut colons = 0;
            match token {
                TokenTree::Punct(punct) if punct.as_char() == '#' => {
                    let attribute = tokens.next().map(|next| next.to_string().replace(' ', ""));
                    if attribute.is_some_and(|text| text == "[cfg(test)]") {
                        skip_item(&mut tokens);
                    }
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' => colons = last_colons + 1,
                TokenTree::Punct(punct) if punct.as_char() == ';' => public = false,
                TokenTree::Group(group) => {
                    // The parentheses of `pub(super)` do not end the visibility.
                    public &= group.delimiter() == Delimiter::Parenthesis;
                    self.items(group.stream());
                }
                TokenTree::Ident(word) if word == "pub" => public = true,
                TokenTree::Ident(word) if word == "use" => {
                    let mut paths = Vec::new();
                    tree(&mut tokens, &[], &mut paths);
                    self.imports(paths, public);
                    public = false;
                }
                TokenTree::Ident(word) if word == "mod" => {
                    let name = tokens.next().unwrap().to_string();
                    match tokens.next() {
                        Some(TokenTree::Group(group)) => self.items(group.stream()),
                        _ => _ = self.children.insert(name),
                    }
                    public = false;
                }
                // The rest of a path that starts with another crate.
                TokenTree::Ident(_) if last_colons == 2 => {}
                TokenTree::Ident(word) => {
                    let path = path(word.to_string(), &mut tokens);
                    if path.len() > 1 {
                        self.used.push(path);
                    }
                }
                _ => {}
            }
            last_colons = colons;
        }
    }

    fn imports(&mut self, paths: Vec<(String, Place)>, public: bool) {
        for (name, path) in paths {
            if !public {
                self.used.push(path.clone());
            }
            self.named.insert(name, path);
        }
    }
}

/// Skips the item after an attribute, up to its end or its body.
fn skip_item(tokens: &mut Peekable<impl Iterator<Item = TokenTree>>) {
    for token in tokens {
        match token {
            TokenTree::Punct(punct) if punct.as_char() == ';' => return,
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => return,
            _ => {}
        }
    }
}

fn passes_colons(tokens: &mut Peekable<impl Iterator<Item = TokenTree>>) -> bool {
    let is_colon = |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ':');
    tokens.next_if(is_colon).is_some() && tokens.next_if(is_colon).is_some()
}

/// Reads the path that starts with this identifier.
fn path(first: String, tokens: &mut Peekable<impl Iterator<Item = TokenTree>>) -> Place {
    let mut path = vec![first];
    while passes_colons(tokens) {
        match tokens.next_if(|token| matches!(token, TokenTree::Ident(_))) {
            Some(word) => path.push(word.to_string()),
            None => break,
        }
    }
    path
}

/// Reads the names and paths of a `use` tree after the prefix `before`.
fn tree(
    tokens: &mut Peekable<impl Iterator<Item = TokenTree>>,
    before: &[String],
    values: &mut Vec<(String, Place)>,
) {
    let mut place = before.to_vec();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Ident(word) if word == "as" => {
                values.push((tokens.next().unwrap().to_string(), std::mem::take(&mut place)));
            }
            TokenTree::Ident(word) => place.push(word.to_string()),
            TokenTree::Group(group) => {
                let mut inner = group.stream().into_iter().peekable();
                while inner.peek().is_some() {
                    tree(&mut inner, &place, values);
                }
                place.clear();
            }
            TokenTree::Punct(punct) if matches!(punct.as_char(), ';' | ',') => break,
            _ => {}
        }
    }
    if place.last().is_some_and(|last| last == "self") {
        place.pop();
    }
    if let Some(name) = place.last() {
        values.push((name.clone(), place));
    }
}
