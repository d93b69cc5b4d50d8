//! Names and shapes in the code, counted by kind: each number may only fall.
//!
//! The rules are in the section "Names" of CONTRIBUTING.md. Code for tests counts only for the names of tests.

use super::{packages, root, rust_files};
use quote::ToTokens;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// The kinds of faults, each with the number that is left. A number may only fall.
const LIMITS: [(Fault, usize); 14] = [
    (Fault::Function, 1),
    (Fault::Type, 0),
    (Fault::Module, 0),
    (Fault::Constant, 0),
    (Fault::Variant, 4),
    (Fault::Field, 47),
    (Fault::Parameter, 17),
    (Fault::BooleanParameter, 9),
    (Fault::Local, 9),
    (Fault::Meanings, 5),
    (Fault::Closure, 3),
    (Fault::TupleParameter, 0),
    (Fault::Test, 0),
    (Fault::Stem, 45),
];

/// Maximum number of return types of functions with the same name.
const MAX_RETURN_TYPES: usize = 3;

/// Prepositions, pronouns and question words.
const FUNCTION_WORDS: &str = "of by at to in on with within without each other others same such it them this that these \
    those under over above below before after beside between until since here there where when whose who what why how \
    which than then so also only even more most less fewer like into onto out off up down else rest again ahead away \
    apart back once alone along";

/// Participles without a regular ending.
const IRREGULAR_PARTICIPLES: &str = "told kept sought held found said made seen known taken given had begun written \
    chosen shown gone sent got brought thought caught felt meant met paid lost built hidden broken drawn grown spoken \
    stood understood worn won withdrawn undone done been heard dealt lent laid led sold shut spent spread struck sworn \
    swept torn thrown woken";

/// Nouns that end like participles.
const NOUNS: &str = "string thing ring setting warning finding heading encoding building padding spacing ending ping \
    embed speed need feed seed bed red styling logging streaming batching hashing paging matching meaning wording \
    mapping sibling billing linking timing listing binding pending casing ordering rounding rating naming spelling indexed sorted";

/// Starts of names of tests that have no subject.
const TEST_STARTS: [&str; 3] = ["a_", "what_", "it_"];

/// Words in names of tests that do not name the outcome.
const VAGUE_TEST_WORDS: [&str; 6] = ["says", "said", "say", "tells", "told", "tell"];

/// Names of files that each directory or package may have.
const SHARED_STEMS: [&str; 5] = ["mod", "lib", "main", "error", "tests"];

/// Starts of names of Boolean parameters.
const BOOLEAN_STARTS: [&str; 4] = ["is_", "has_", "can_", "needs_"];

/// Names of the prelude, which a type must not take.
const PRELUDE: &str = "Box Range Result Option Vec String";

/// A kind of fault.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Fault {
    Function,
    Type,
    Module,
    Constant,
    Variant,
    Field,
    Parameter,
    BooleanParameter,
    Local,
    Meanings,
    Closure,
    TupleParameter,
    Test,
    Stem,
}

impl Fault {
    /// The rule that the fault breaks, in the words of CONTRIBUTING.md.
    fn rule(self) -> &'static str {
        match self {
            Self::Function => "a function is a verb with its object, or the noun that it returns",
            Self::Type => "a type is a noun of the field",
            Self::Module => "a module has the name of its main type or of the thing that it is about",
            Self::Constant => "a constant is a noun with its unit or role",
            Self::Variant => "a variant is a noun or an adjective",
            Self::Field | Self::Parameter | Self::Local => "a field, a parameter and a local are nouns",
            Self::BooleanParameter => {
                "the name of a Boolean parameter begins with `is_`, `has_`, `can_` or `needs_`"
            }
            Self::Meanings => "a name has one meaning",
            Self::Closure => "a closure of several lines is a function with a name",
            Self::TupleParameter => "a parameter is not a tuple",
            Self::Test => "the name of a test is subject, condition, outcome",
            Self::Stem => "the name of a file is unique",
        }
    }
}

/// One fault: its place, `path:line`, and the name.
struct Occurrence {
    fault: Fault,
    place: String,
    name: String,
}

fn contains(words: &str, word: &str) -> bool {
    words.split_whitespace().any(|entry| entry == word)
}

/// Returns whether a word alone names neither a thing nor an action.
fn is_bare(word: &str) -> bool {
    let is_participle = word.len() > 4
        && (word.ends_with("ed") || word.ends_with("ing"))
        && !contains(NOUNS, word)
        && word.chars().all(|letter| letter.is_ascii_lowercase());
    is_participle || contains(FUNCTION_WORDS, word) || contains(IRREGULAR_PARTICIPLES, word)
}

/// Splits `CamelCase` into lowercase words.
fn words_of_type(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for letter in name.chars() {
        if letter.is_uppercase() || words.is_empty() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.extend(letter.to_lowercase());
        }
    }
    words
}

/// The names and shapes of the files, as they are read.
#[derive(Default)]
struct Survey {
    path: String,
    places: Vec<Occurrence>,
    /// For each name of a function, its return types with one place each.
    return_types: BTreeMap<String, BTreeMap<String, String>>,
    /// For each stem of a file, its paths.
    stems: BTreeMap<String, Vec<String>>,
    names: usize,
}

impl Survey {
    fn add(&mut self, fault: Fault, name: &str, span: proc_macro2::Span) {
        let place = format!("{}:{}", self.path, span.start().line);
        self.places.push(Occurrence {
            fault,
            place,
            name: name.to_owned(),
        });
    }

    /// Counts a name in `snake_case` or upper case.
    fn add_name(&mut self, fault: Fault, ident: &syn::Ident) {
        self.names += 1;
        let name = ident.to_string();
        if is_bare(name.trim_matches('_').to_lowercase().as_str()) {
            self.add(fault, &name, ident.span());
        }
    }

    fn add_type(&mut self, ident: &syn::Ident) {
        self.names += 1;
        let name = ident.to_string();
        let words = words_of_type(&name);
        let is_single_bare = words.len() == 1 && is_bare(&words[0]);
        if is_single_bare || contains(PRELUDE, &name) {
            self.add(Fault::Type, &name, ident.span());
        }
    }

    /// Counts the bindings of a pattern.
    fn add_bindings(&mut self, fault: Fault, pattern: &syn::Pat) {
        let mut bindings = Bindings::default();
        bindings.visit_pat(pattern);
        for ident in bindings.idents {
            self.add_name(fault, &ident);
        }
    }

    fn add_signature(&mut self, signature: &syn::Signature) {
        self.add_name(Fault::Function, &signature.ident);
        let name = signature.ident.to_string();
        let return_type = signature.output.to_token_stream().to_string();
        let place = format!("{}:{}", self.path, signature.ident.span().start().line);
        self.return_types
            .entry(name)
            .or_default()
            .entry(return_type)
            .or_insert(place);
    }

    fn add_inputs(&mut self, signature: &syn::Signature) {
        for input in &signature.inputs {
            let syn::FnArg::Typed(parameter) = input else {
                continue;
            };
            self.add_bindings(Fault::Parameter, &parameter.pat);
            self.add_boolean_parameter(parameter);
            let is_tuple =
                matches!(*parameter.pat, syn::Pat::Tuple(_)) || matches!(*parameter.ty, syn::Type::Tuple(_));
            if is_tuple {
                self.add(
                    Fault::TupleParameter,
                    &signature.ident.to_string(),
                    parameter.span(),
                );
            }
        }
    }

    /// Counts a Boolean parameter whose name is not that of a predicate.
    fn add_boolean_parameter(&mut self, parameter: &syn::PatType) {
        if let syn::Pat::Ident(pattern) = &*parameter.pat
            && parameter.ty.to_token_stream().to_string() == "bool"
        {
            let name = pattern.ident.to_string();
            if !BOOLEAN_STARTS.iter().any(|start| name.starts_with(start)) {
                self.add(Fault::BooleanParameter, &name, pattern.ident.span());
            }
        }
    }

    fn faults(&self) -> BTreeMap<Fault, Vec<String>> {
        let mut faults: BTreeMap<Fault, Vec<String>> = BTreeMap::new();
        for Occurrence { fault, place, name } in &self.places {
            faults.entry(*fault).or_default().push(format!("{place}: {name}"));
        }
        for (name, types) in &self.return_types {
            if types.len() > MAX_RETURN_TYPES {
                let places = types.values().cloned().collect::<Vec<_>>().join(", ");
                faults
                    .entry(Fault::Meanings)
                    .or_default()
                    .push(format!("{name}: {places}"));
            }
        }
        for (stem, paths) in &self.stems {
            if paths.len() > 1 {
                faults
                    .entry(Fault::Stem)
                    .or_default()
                    .push(format!("{stem}: {}", paths.join(", ")));
            }
        }
        faults
    }
}

/// Returns whether the attributes compile an item only for tests.
fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let text = attribute.to_token_stream().to_string().replace(' ', "");
        text.starts_with("#[cfg(test") || text.starts_with("#[cfg(all(test") || is_test_attribute(&text)
    })
}

fn is_test_attribute(text: &str) -> bool {
    text.starts_with("#[test]") || text.starts_with("#[tokio::test")
}

/// The identifiers that a pattern binds.
#[derive(Default)]
struct Bindings {
    idents: Vec<syn::Ident>,
}

impl<'ast> Visit<'ast> for Bindings {
    fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
        let is_constant = pattern
            .ident
            .to_string()
            .starts_with(|letter: char| letter.is_uppercase());
        if !is_constant {
            self.idents.push(pattern.ident.clone());
        }
        visit::visit_pat_ident(self, pattern);
    }

    /// Leaves out the shorthand `Type { field }`: the field has its own rule.
    fn visit_field_pat(&mut self, field: &'ast syn::FieldPat) {
        if field.colon_token.is_some() {
            visit::visit_field_pat(self, field);
        }
    }
}

impl<'ast> Visit<'ast> for Survey {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        let attributes = match item {
            syn::Item::Fn(item) => &item.attrs,
            syn::Item::Mod(item) => &item.attrs,
            syn::Item::Impl(item) => &item.attrs,
            syn::Item::Struct(item) => &item.attrs,
            syn::Item::Enum(item) => &item.attrs,
            syn::Item::Const(item) => &item.attrs,
            _ => &Vec::new(),
        };
        if !is_for_tests(attributes) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.add_signature(&item.sig);
        self.add_inputs(&item.sig);
        visit::visit_item_fn(self, item);
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let is_own = item.trait_.is_none();
        for member in &item.items {
            if let syn::ImplItem::Fn(function) = member
                && !is_for_tests(&function.attrs)
            {
                if is_own {
                    self.add_signature(&function.sig);
                }
                self.add_inputs(&function.sig);
                visit::visit_block(self, &function.block);
            }
        }
    }

    fn visit_trait_item_fn(&mut self, function: &'ast syn::TraitItemFn) {
        self.add_signature(&function.sig);
        self.add_inputs(&function.sig);
        visit::visit_trait_item_fn(self, function);
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.add_type(&item.ident);
        visit::visit_item_struct(self, item);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.add_type(&item.ident);
        visit::visit_item_enum(self, item);
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.add_type(&item.ident);
        visit::visit_item_trait(self, item);
    }

    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        self.add_type(&item.ident);
        visit::visit_item_type(self, item);
    }

    fn visit_item_const(&mut self, item: &'ast syn::ItemConst) {
        self.add_name(Fault::Constant, &item.ident);
        visit::visit_item_const(self, item);
    }

    fn visit_item_static(&mut self, item: &'ast syn::ItemStatic) {
        self.add_name(Fault::Constant, &item.ident);
        visit::visit_item_static(self, item);
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        self.add_name(Fault::Module, &item.ident);
        visit::visit_item_mod(self, item);
    }

    fn visit_variant(&mut self, variant: &'ast syn::Variant) {
        let words = words_of_type(&variant.ident.to_string());
        if words.len() == 1 && contains(FUNCTION_WORDS, &words[0]) && words[0] != "other" {
            self.add(Fault::Variant, &variant.ident.to_string(), variant.ident.span());
        }
        visit::visit_variant(self, variant);
    }

    /// A participle is right for a boolean field.
    fn visit_field(&mut self, field: &'ast syn::Field) {
        let is_boolean = field.ty.to_token_stream().to_string() == "bool";
        if let Some(ident) = &field.ident
            && !is_boolean
        {
            self.add_name(Fault::Field, ident);
        }
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        self.add_bindings(Fault::Local, &local.pat);
        if let Some(value) = &local.init
            && let syn::Expr::Closure(closure) = &*value.expr
            && closure.span().start().line != closure.span().end().line
        {
            self.add(
                Fault::Closure,
                &local.pat.to_token_stream().to_string(),
                local.span(),
            );
        }
        visit::visit_local(self, local);
    }

    fn visit_expr_closure(&mut self, closure: &'ast syn::ExprClosure) {
        for input in &closure.inputs {
            self.add_bindings(Fault::Parameter, input);
        }
        visit::visit_expr_closure(self, closure);
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        self.add_bindings(Fault::Local, &arm.pat);
        visit::visit_arm(self, arm);
    }

    fn visit_expr_let(&mut self, condition: &'ast syn::ExprLet) {
        self.add_bindings(Fault::Local, &condition.pat);
        visit::visit_expr_let(self, condition);
    }

    fn visit_expr_for_loop(&mut self, each: &'ast syn::ExprForLoop) {
        self.add_bindings(Fault::Local, &each.pat);
        visit::visit_expr_for_loop(self, each);
    }
}

/// The names of the tests of a file.
fn read_test_names(survey: &mut Survey, file: &syn::File) {
    struct Tests<'s>(&'s mut Survey);
    impl<'ast> Visit<'ast> for Tests<'_> {
        fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
            let is_test = |attribute: &syn::Attribute| {
                is_test_attribute(&attribute.to_token_stream().to_string().replace(' ', ""))
            };
            let name = item.sig.ident.to_string();
            let is_riddle = TEST_STARTS.iter().any(|start| name.starts_with(start));
            let is_vague = name.split('_').any(|word| VAGUE_TEST_WORDS.contains(&word));
            if item.attrs.iter().any(is_test) && (is_riddle || is_vague) {
                self.0.add(Fault::Test, &name, item.sig.ident.span());
            }
        }
    }
    Tests(survey).visit_file(file);
}

/// Reads all files of the packages, and the names of all tests.
fn survey() -> Survey {
    let mut survey = Survey::default();
    for package in packages().values() {
        let dirs = ["src", "tests"].map(|dir| package.join(dir));
        for file in dirs
            .iter()
            .filter(|dir| dir.is_dir())
            .flat_map(|dir| rust_files(dir))
        {
            let path = file.strip_prefix(root()).unwrap();
            survey.path = path.display().to_string();
            let text = syn::parse_file(&fs::read_to_string(&file).unwrap()).unwrap();
            read_test_names(&mut survey, &text);
            let stem = file.file_stem().unwrap().to_str().unwrap().to_owned();
            if stem == "tests" || path.iter().any(|part| part == "tests") {
                continue;
            }
            if !SHARED_STEMS.contains(&stem.as_str()) {
                survey.stems.entry(stem).or_default().push(survey.path.clone());
            }
            survey.visit_file(&text);
        }
    }
    survey
}

#[test]
fn faults_in_names_and_shapes_equal_their_limits() {
    let survey = survey();
    assert!(survey.names > 20_000, "only {} names were read", survey.names);
    let faults = survey.faults();
    let mut text = String::new();
    for (fault, limit) in LIMITS {
        let places = faults.get(&fault).map(Vec::as_slice).unwrap_or_default();
        if places.len() != limit {
            let _ = writeln!(
                text,
                "{fault:?}: {} instead of {limit}. Rule (CONTRIBUTING.md, Names): {}",
                places.len(),
                fault.rule()
            );
            for place in places.iter().take(10) {
                let _ = writeln!(text, "  {place}");
            }
        }
    }
    assert!(
        text.is_empty(),
        "a number may only fall, and then this file lists the lower one:\n{text}"
    );
}

#[test]
fn words_alone_are_recognized() {
    for word in ["told", "of", "found", "selected", "keeping", "what"] {
        assert!(is_bare(word), "{word}");
    }
    for word in [
        "heading",
        "seed",
        "findings",
        "need",
        "selected_files",
        "from_json",
        "set",
    ] {
        assert!(!is_bare(word), "{word}");
    }
}

#[test]
fn faults_are_found_in_source_text() {
    let text = "fn told((left, right): (u8, u8)) { let it = |x: u8| {\n x\n }; match right { found => {} } } \
        fn run(force: bool, is_dry: bool) {} struct Of { what: u8, verified: bool } enum Where { There } mod kept {} const MOST: u8 = 1; \
        #[cfg(test)] mod tests { fn said() {} #[test] fn run_says_so() {} #[test] fn run_passes() {} }";
    let mut survey = Survey::default();
    let file = syn::parse_file(text).unwrap();
    survey.visit_file(&file);
    read_test_names(&mut survey, &file);
    let faults = survey.faults();
    let count = |fault| faults.get(&fault).map_or(0, Vec::len);
    assert_eq!(count(Fault::Function), 1);
    assert_eq!(count(Fault::TupleParameter), 1);
    assert_eq!(count(Fault::BooleanParameter), 1);
    assert_eq!(count(Fault::Closure), 1);
    assert_eq!(count(Fault::Local), 2);
    assert_eq!(count(Fault::Type), 2);
    assert_eq!(count(Fault::Field), 1);
    assert_eq!(count(Fault::Variant), 1);
    assert_eq!(count(Fault::Module), 1);
    assert_eq!(count(Fault::Constant), 1);
    assert_eq!(count(Fault::Test), 1);
}
