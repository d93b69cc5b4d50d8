//! The ten rules of the book, each on a pipeline with its problem and on one without.

use super::{FILE, commit_files, list_team_findings, world_with_files};
use crate::support::{Call, check, root};
use std::collections::BTreeSet;
use std::fs;

/// Returns the file with the ten rules, as the page has it.
fn ten_rules() -> String {
    let page = fs::read_to_string(root().join("docs/book/team-rules.md")).unwrap();
    let section = page.split("\n## Ten rules\n").nth(1).unwrap();
    let block = section.split("```yaml\n").nth(1).unwrap();
    block.split("```").next().unwrap().to_owned()
}

/// Pipelines that break the rules, in the form of exports of the platform.
const BROKEN: [(&str, &str); 5] = [
    (
        "prod/load.orch.yaml",
        r#"type: "orchestration"
version: "1.0"
pipeline:
  components:
    Start:
      type: "start"
      transitions:
        unconditional:
        - "clean_orders"
      parameters:
        componentName: "Start"
    clean_orders:
      type: "python-script"
      parameters:
        componentName: "clean_orders"
        scriptLocation: "Component"
        pythonScript: |-
          print("x")
  variables:
    region:
      metadata:
        type: "TEXT"
        description: ""
        scope: "SHARED"
        visibility: "PUBLIC"
      defaultValue: "EU"
design:
  components: {}
"#,
    ),
    (
        "sales/report.orch.yaml",
        r#"type: "orchestration"
version: "1.0"
pipeline:
  components:
    Start:
      type: "start"
      transitions:
        unconditional:
        - "Close"
    Close:
      type: "run-orchestration"
      transitions:
        failure:
        - "Script"
      parameters:
        componentName: "Close"
        orchestrationJob: "finance/close\
          \ books"
    Script:
      type: "sql-script"
      parameters:
        scriptLocation: "File"
        fileName: "sales/report.sql"
"#,
    ),
    (
        "staging/orders.tran.yaml",
        r#"type: "transformation"
version: "1.0"
pipeline:
  components:
    Orders:
      type: "table-input"
      parameters:
        database: "PROD_DB"
        schema: "[Environment Default]"
        limit:
    Codes:
      type: "fixed-flow"
      parameters:
        values:
        - - "1"
        - - "2"
        - - "3"
        - - "4"
        - - "5"
        - - "6"
        - - "7"
        - - "8"
        - - "9"
        - - "10"
        - - "11"
        - - "12"
        - - "13"
        - - "14"
        - - "15"
        - - "16"
        - - "17"
        - - "18"
        - - "19"
        - - "20"
        - - "21"
"#,
    ),
    (
        "sales/sample.tran.yaml",
        r#"type: "transformation"
version: "1.0"
pipeline:
  components:
    Query:
      type: "database-query"
      parameters:
        limit: "1000"
"#,
    ),
    (
        "finance/close books.orch.yaml",
        "type: orchestration\npipeline: {}\n",
    ),
];

/// Pipelines of the same form that follow the rules.
const FIXED: [(&str, &str); 2] = [
    (
        "prod/load.orch.yaml",
        r#"type: "orchestration"
version: "1.0"
pipeline:
  components:
    Start:
      type: "start"
      transitions:
        unconditional:
        - "Load orders"
    Load orders:
      type: "sql-executor"
      transitions:
        failure:
        - "Failure"
    Failure:
      type: "end-failure"
  variables:
    region:
      metadata: { type: "TEXT", description: "EU or US", scope: "SHARED", visibility: "PUBLIC" }
"#,
    ),
    (
        "staging/stg_orders.tran.yaml",
        r#"type: "transformation"
version: "1.0"
pipeline:
  components:
    Orders:
      type: "table-input"
      parameters: { database: "${database}", schema: "[Environment Default]", limit: "" }
"#,
    ),
];

#[test]
fn each_rule_of_book_finds_its_problem() {
    let world = world_with_files(&[(FILE, &ten_rules())]);
    commit_files(&world, &BROKEN);
    let report = check(&world, "--project-checks off").expect(1).json();
    let findings = list_team_findings(&report);
    let expected = [
        "team/maximum-fixed-rows FAILED - staging/orders.tran.yaml:11 `Codes` contains 21 rows; the maximum is 20",
        "team/names-in-production FAILED - prod/load.orch.yaml:12 the name `clean_orders` must begin with a capital letter",
        "team/no-calls-across-domains FAILED - sales/report.orch.yaml:17 `Close` calls finance/close books.orch.yaml, which belongs to another domain",
        "team/no-literal-database FAILED - staging/orders.tran.yaml:5 `Orders` names a database or a schema; use a variable or the default of the environment",
        "team/no-python-in-production FAILED - prod/load.orch.yaml:12 `clean_orders` is a Python component; production pipelines may use only SQL and platform components",
        "team/no-row-limit FAILED - sales/sample.tran.yaml:5 `Query` reads only 1000 rows",
        "team/orchestration-has-failure-path FAILED - prod/load.orch.yaml:1 no link of `load` handles a failure",
        "team/prefix-by-folder FAILED - staging/orders.tran.yaml:1 `orders` has not the prefix of its folder: `stg_` in staging, `mart_` in marts",
        "team/public-variables-are-described FAILED - prod/load.orch.yaml:20 the public variable `region` has no description",
        "team/scripts-in-scripts-folder FAILED - sales/report.orch.yaml:23 `Script` runs sales/report.sql, which is not in `scripts/`",
    ];
    let found: BTreeSet<&str> = findings.iter().map(String::as_str).collect();
    assert_eq!(found, expected.into_iter().collect(), "{findings:#?}");
    assert_eq!(findings.len(), 10);
}

#[test]
fn rules_of_book_pass_on_pipelines_that_follow_them() {
    let world = world_with_files(&[(FILE, &ten_rules())]);
    commit_files(&world, &FIXED);
    let report = check(&world, "").expect(0).json();
    assert_eq!(list_team_findings(&report), [""; 0]);
    Call::new(&world.work())
        .run("rules test")
        .expect(0)
        .logging(&["21 examples of 10 rules: passed"]);
}
