//! Tests that schema and reader agree: on keys, on types, and on the documents that they accept.

use super::json_schema;
use crate::env::Env;
use crate::job::cli::{GlobalArgs, PaceArgs, PublishArgs, ReviewArgs};
use crate::job::policy::{FilePresence, UnusableFile, read_job_file};
use crate::job::settings::{Checkout, FileConfig, SettingSources};
use serde::Deserialize as _;
use serde::de::value::{Error, StrDeserializer};
use serde::de::{DeserializeSeed, Deserializer, IntoDeserializer as _, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use sluicegate_test_support::json_schema::validate;
use std::cell::RefCell;
use std::collections::BTreeMap;

type AskedKeys = BTreeMap<String, String>;

/// A deserializer that offers every requested key and records the requested type of each.
struct Probe<'a> {
    path: String,
    schema: &'a Value,
    found: &'a RefCell<AskedKeys>,
}

impl Probe<'_> {
    fn note(&self, kind: &str) {
        self.found.borrow_mut().insert(self.path.clone(), kind.to_owned());
    }

    /// Returns a valid string for the key: its first allowed value, or one of its examples.
    fn example(&self) -> &str {
        let key = &self.schema;
        key["enum"][0]
            .as_str()
            .or(key["examples"][0].as_str())
            .unwrap_or("junit=x")
    }
}

macro_rules! whole_numbers {
    ($($method:ident)+) => { $(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            self.note("integer");
            visitor.visit_u8(1)
        }
    )+ };
}

impl<'de> Deserializer<'de> for Probe<'_> {
    type Error = Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_map(Keys { probe: self, fields })
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.note("boolean");
        visitor.visit_bool(true)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.note("string");
        visitor.visit_str(self.example())
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let items = Probe {
            path: format!("{}[]", self.path),
            ..self
        };
        self.found.borrow_mut().insert(self.path, "array".to_owned());
        visitor.visit_seq(Once(Some(items)))
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.note("number");
        visitor.visit_f64(1.0)
    }

    whole_numbers! { deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(serde::de::Error::custom(format!(
            "{} asks for a type that this probe does not know",
            self.path
        )))
    }

    serde::forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u128 f32 char str bytes byte_buf unit unit_struct newtype_struct tuple tuple_struct map
        enum identifier ignored_any
    }
}

/// Map access to every field of a struct, with a probe for each.
struct Keys<'a> {
    probe: Probe<'a>,
    fields: &'static [&'static str],
}

impl<'de> MapAccess<'de> for Keys<'_> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        let Some(field) = self.fields.first() else {
            return Ok(None);
        };
        let key: StrDeserializer<'_, Error> = (*field).into_deserializer();
        seed.deserialize(key).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Error> {
        let (field, rest) = self.fields.split_first().unwrap();
        self.fields = rest;
        let separator = if self.probe.path.is_empty() { "" } else { "." };
        seed.deserialize(Probe {
            path: format!("{}{separator}{field}", self.probe.path),
            schema: &self.probe.schema["properties"][*field],
            found: self.probe.found,
        })
    }
}

struct Once<'a>(Option<Probe<'a>>);

impl<'de> SeqAccess<'de> for Once<'_> {
    type Error = Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Error> {
        self.0.take().map(|item| seed.deserialize(item)).transpose()
    }
}

/// Returns the keys that the reader accepts.
fn read_keys(schema: &Value) -> AskedKeys {
    let found = RefCell::new(AskedKeys::new());
    let probe = Probe {
        path: String::new(),
        schema,
        found: &found,
    };
    FileConfig::deserialize(probe).unwrap();
    found.into_inner()
}

/// Returns the keys that the schema accepts.
fn schema_keys(path: &str, schema: &Value, found: &mut AskedKeys) {
    let Some(keys) = schema["properties"].as_object() else {
        // The last of several types is the widest, which the reader requests.
        let kind = schema["type"].as_array().and_then(|kinds| kinds.last());
        let kind = kind.unwrap_or(&schema["type"]).as_str().unwrap();
        found.insert(path.to_owned(), kind.to_owned());
        if kind == "array" {
            schema_keys(&format!("{path}[]"), &schema["items"], found);
        }
        return;
    };
    assert_eq!(schema["additionalProperties"], false, "{path}");
    let separator = if path.is_empty() { "" } else { "." };
    for (name, key) in keys {
        schema_keys(&format!("{path}{separator}{name}"), key, found);
    }
}

#[test]
fn schema_has_keys_and_types_of_reader() {
    let schema = json_schema();
    let mut described = AskedKeys::new();
    schema_keys("", &schema, &mut described);
    assert!(
        described.len() > 30 && described["review.report[]"] == "string",
        "{described:?}"
    );
    assert_eq!(described, read_keys(&schema));
}

#[test]
fn every_key_is_described() {
    fn check(path: &str, schema: &Value) {
        let words = schema["description"].as_str().unwrap_or_default();
        assert!(words.len() > 15, "{path} has no description: {words:?}");
        for (name, key) in schema["properties"].as_object().into_iter().flatten() {
            check(&format!("{path}.{name}"), key);
        }
    }
    check("", &json_schema());
    insta::assert_snapshot!(json_schema()["properties"]["review"]["properties"]["fail-on"],
        @r#"{"type":"string","enum":["error","warn","never"],"default":"error","description":"Lowest severity that fails the gate: error, warn or never. `error`: Fail on violations of rules with the level error. `warn`: Fail on any violation. `never`: Do not fail on any finding; findings are only reported. Environment variable: SLUICEGATE_FAIL_ON."}"#);
    insta::assert_snapshot!(json_schema()["properties"]["include"],
        @r#"{"type":"array","items":{"type":"string","minLength":1},"default":["**/*.orch.yaml","**/*.tran.yaml"],"description":"Globs of the files to select. Environment variable: SLUICEGATE_INCLUDE."}"#);
}

/// Returns whether the reader accepts the document, including the checks of resolved settings.
fn is_read(text: &str) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sluicegate.yaml");
    std::fs::write(&path, text).unwrap();
    let file = read_job_file(&path, FilePresence::Required).unwrap();
    let env = Env::from_parts([], folder.path().to_owned());
    let read = || {
        let sources = SettingSources::new(
            &env,
            &file,
            Some(&Checkout {
                config_file: "sluicegate.yaml",
                root: folder.path(),
                is_tracked: &|_| false,
            }),
            UnusableFile::Reject,
        )?;
        let global = GlobalArgs::default();
        sources.resolve_config_dir(&global)?;
        sources.resolve_connection(&global)?;
        sources.resolve_review_settings(&ReviewArgs::default())?;
        sources.resolve_poll_settings(&PaceArgs::default(), 1)?;
        if sources.resolve_optional_prefix(None)?.is_some() {
            sources.resolve_publish_settings(&PublishArgs::default())?;
        }
        Ok::<_, crate::job::settings::SettingsError>(())
    };
    read().is_ok()
}

fn is_valid(text: &str) -> bool {
    let document: Value = serde_yaml::from_str(text).unwrap();
    validate(&json_schema(), &document).is_ok()
}

#[test]
fn both_take_and_both_refuse() {
    let taken = [
        "",
        "# only a comment\n",
        "review:\n  # fail-on: warn\npublish:\npublish-on:\n",
        "project-id: 6f1d3c1e-8a3b-4c56-9a0e-0d7b6c1f2a10\nagent-version: 9.0.0\nconfig-dir: .platform\n",
        "timeout: 1\nretries: 0\n",
        "timeout: 86400\nretries: 100\n",
        "include: ['**/*.orch.yaml']\nexclude: []\n",
        "review: { fail-on: never, on-unavailable: pass, fork: check, annotations: none }\n",
        "review: { comment: true, category: nightly, show: all, report: ['sarif=a.sarif', 'junit-strict=b.xml', html=c.html] }\n",
        "review: { report: ['junit=a.xml', 'json=-'], batch-size: 10000, concurrency: 64 }\n",
        "review: { show: 20 }\n",
        "review: { include: ['sales/**'], exclude: [] }\npublish: { include: [], exclude: ['old/**'] }\n",
        "review: { show: '20' }\n",
        "publish: { prefix: sales, version-name: auto, select: closure, if-exists: same-content, lookup-timeout: 3600 }\n",
        "publish: { from: worktree, on-ignored: disable, no-verify: true, receipt: r.json, require-review: r.json }\n",
        "publish: { prefix: a, version-name: auto, smoke: [load], smoke-project: [6f1d3c1e-8a3b-4c56-9a0e-0d7b6c1f2a10], smoke-environment: [test], smoke-timeout: 86400, on-smoke-failure: keep }\n",
        "publish-on: { branches: [main], tags: ['v*'] }\n",
        "environment: production\npoll-interval: 0.5\ncancel-status: CANCELLED\nvocabulary: { git_provider_a: git }\n",
        "poll-interval: 3600\nvocabulary:\n",
    ];
    for text in taken {
        assert!(
            is_read(text) && is_valid(text),
            "{text:?}: read {}, valid {}",
            is_read(text),
            is_valid(text)
        );
    }
    let refused = [
        "base-url: https://h\n",
        "token: abc\n",
        "projectid: x\n",
        "project-id: sales\n",
        "ci: gitlab\n",
        "review: { base: HEAD }\n",
        "review: { dry-run: true }\n",
        "review: { show: -1 }\n",
        "review: { exclude: 'old/**' }\n",
        "review: { show: few }\n",
        "publish: { dry-run: true }\n",
        "timeout: 0\n",
        "timeout: 86401\n",
        "timeout: soon\n",
        "retries: 101\n",
        "include: '*'\n",
        "review: []\n",
        "review: { fail_on: warn }\n",
        "review: { fail-on: always }\n",
        "review: { comment: sometimes }\n",
        "review: { report: [pdf=x] }\n",
        "review: { report: [junit=] }\n",
        "review: { batch-size: 0 }\n",
        "review: { batch-size: 10001 }\n",
        "review: { concurrency: 65 }\n",
        "review: { deepen: true }\n",
        "publish: { prefix: a, version-name: auto, select: some }\n",
        "publish: { prefix: a, version-name: auto, lookup-timeout: 3601 }\n",
        "publish: { prefix: a, version-name: auto, smoke: load }\n",
        "publish: { prefix: a, version-name: auto, smoke-timeout: 0 }\n",
        "publish: { prefix: a, version-name: auto, on-smoke-failure: ignore }\n",
        "publish-on: { branch: main }\n",
        "poll-interval: 0\n",
        "poll-interval: 3601\n",
        "vocabulary: { WAREHOUSE_C: x }\n",
        "[]\n",
    ];
    for text in refused {
        assert!(
            !is_read(text) && !is_valid(text),
            "{text:?}: read {}, valid {}",
            is_read(text),
            is_valid(text)
        );
    }
}
