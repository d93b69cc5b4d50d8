//! The values that the API document replaces with neutral tokens ("Neutral tokens").

use std::collections::BTreeMap;

/// The keys of a vocabulary file, in any letter case.
const KEYS: [&str; 5] = [
    "WAREHOUSE_A",
    "WAREHOUSE_B",
    "git_provider_a",
    "source_db_a",
    "CLOUD_A_KEY_VAULT",
];

/// The fields of a review request, either as in the API document or as in another public description of the endpoint.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ReviewFields {
    /// `pipelines`.
    #[default]
    Pipelines,
    /// `filePaths` and `dataWarehouseType`.
    FilePaths,
}

/// The values that the API document replaces with neutral tokens, and the field names that descriptions of the API
/// disagree about. The default is the tokens themselves and the document's field names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vocabulary {
    /// The two warehouse kinds, in upper case; the first authenticates with a key pair, the second with a password.
    pub warehouses: [String; 2],
    /// The Git provider for repository initialization, in lower case.
    pub git_provider: String,
    /// The source database kind of streaming pipelines, in lower case.
    pub source_database: String,
    /// The secret type of a cloud secrets manager, in upper case.
    pub key_vault: String,
    pub review: ReviewFields,
}

impl Default for Vocabulary {
    /// Returns the vocabulary of the API document, in which each token, such as `WAREHOUSE_A`, is its own name.
    fn default() -> Self {
        Self {
            warehouses: ["WAREHOUSE_A".into(), "WAREHOUSE_B".into()],
            git_provider: "git_provider_a".into(),
            source_database: "source_db_a".into(),
            key_vault: "CLOUD_A_KEY_VAULT".into(),
            review: ReviewFields::default(),
        }
    }
}

/// An error in a vocabulary file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VocabularyError {
    /// The file is not a map from string to string.
    #[error("expected a YAML or JSON map from tokens to names: {0}")]
    NotMap(String),
    /// A key is not a token.
    #[error("unknown token `{0}` in the vocabulary; the tokens are {tokens}", tokens = KEYS.join(", "))]
    UnknownToken(String),
    /// A token occurs twice, in different letter case.
    #[error("the vocabulary contains the token `{0}` twice")]
    DuplicateToken(&'static str),
    /// A name is empty or contains whitespace or control characters.
    #[error("the name for `{0}` is empty or contains whitespace")]
    UnusableName(&'static str),
    /// The two warehouse kinds must have different names.
    #[error("the two warehouse kinds have the same name `{0}`")]
    SameWarehouse(String),
}

impl Vocabulary {
    /// Parses a vocabulary file in YAML or JSON: a map from token to name, such as `WAREHOUSE_A: ACME`. Missing tokens
    /// keep their defaults. The letter case of the file is ignored: each name gets the letter case that its token has
    /// in the API document.
    pub fn parse(text: &str) -> Result<Self, VocabularyError> {
        let options = serde_yaml::options! { strict_booleans: true, with_snippet: false };
        let entries: Option<BTreeMap<String, String>> = serde_yaml::from_str_with_options(text, options)
            .map_err(|error| VocabularyError::NotMap(error.to_string()))?;
        let mut names: BTreeMap<&str, String> = BTreeMap::new();
        for (key, name) in entries.unwrap_or_default() {
            let Some(token) = KEYS.into_iter().find(|token| token.eq_ignore_ascii_case(&key)) else {
                return Err(VocabularyError::UnknownToken(key));
            };
            if name.is_empty() || name.contains(|c: char| c.is_whitespace() || c.is_control()) {
                return Err(VocabularyError::UnusableName(token));
            }
            if names.insert(token, match_letter_case(token, &name)).is_some() {
                return Err(VocabularyError::DuplicateToken(token));
            }
        }
        Self::from_names(&names)
    }

    /// Creates the vocabulary with these names, by token; a token without a name keeps its neutral name. Returns an
    /// error if both warehouse kinds have the same name. The fields of a review request keep their default, because a
    /// vocabulary file has no key for them.
    fn from_names(names: &BTreeMap<&str, String>) -> Result<Self, VocabularyError> {
        let name = |token: &str| names.get(token).cloned().unwrap_or_else(|| token.to_owned());
        let [
            first_warehouse,
            second_warehouse,
            git_provider,
            source_database,
            key_vault,
        ] = KEYS.map(name);
        if first_warehouse == second_warehouse {
            return Err(VocabularyError::SameWarehouse(first_warehouse));
        }
        Ok(Self {
            warehouses: [first_warehouse, second_warehouse],
            git_provider,
            source_database,
            key_vault,
            review: ReviewFields::default(),
        })
    }

    /// Returns the names of the two warehouse kinds in lower case, as connections and streaming targets use them.
    pub(crate) fn lowercase_warehouses(&self) -> [String; 2] {
        self.warehouses.each_ref().map(|name| name.to_lowercase())
    }
}

/// Converts the name to the letter case of the token that it replaces.
fn match_letter_case(token: &str, name: &str) -> String {
    if token.chars().any(char::is_lowercase) {
        name.to_lowercase()
    } else {
        name.to_uppercase()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_take_letter_case_of_token_and_others_keep_defaults() {
        for text in [
            "warehouse_a: Snow\nGIT_PROVIDER_A: Hub\n",
            r#"{"WAREHOUSE_A": "snow", "git_provider_a": "HUB"}"#,
        ] {
            let vocabulary = Vocabulary::parse(text).unwrap();
            assert_eq!(vocabulary.warehouses, ["SNOW", "WAREHOUSE_B"]);
            assert_eq!(vocabulary.lowercase_warehouses(), ["snow", "warehouse_b"]);
            assert_eq!(vocabulary.git_provider, "hub");
        }
        assert_eq!(Vocabulary::parse("# nothing\n"), Ok(Vocabulary::default()));
    }

    #[test]
    fn vocabulary_error_names_wrong_entry() {
        let said = |text: &str| Vocabulary::parse(text).unwrap_err().to_string();
        insta::assert_snapshot!(said("warehouse: x"), @"unknown token `warehouse` in the vocabulary; the tokens are WAREHOUSE_A, WAREHOUSE_B, git_provider_a, source_db_a, CLOUD_A_KEY_VAULT");
        insta::assert_snapshot!(said("warehouse_a: x\nWAREHOUSE_A: y"), @"the vocabulary contains the token `WAREHOUSE_A` twice");
        insta::assert_snapshot!(said("source_db_a: ''"), @"the name for `source_db_a` is empty or contains whitespace");
        insta::assert_snapshot!(said("warehouse_a: x\nwarehouse_b: X"), @"the two warehouse kinds have the same name `X`");
        assert!(said("[1]").starts_with("expected a YAML or JSON map from tokens to names: "));
    }
}
