//! Compares the evaluation with the interpreter of the crate `cel`.

use super::cel_source::parse_expression;
use super::evaluation_failure::EvaluationFailure;
use super::expression_evaluation::ExpressionEvaluation;
use super::expression_value::ExpressionValue;
use super::record_field::RuleSubject;
use proptest::prelude::*;

/// Returns the boolean value; `None` if the evaluation fails.
fn evaluate(source: &str) -> Option<bool> {
    let expression = parse_expression(source, RuleSubject::Pipeline, &mut (1 << 20))
        .unwrap_or_else(|problem| panic!("{source}: {}", problem.message));
    let mut evaluation = ExpressionEvaluation {
        // The pipeline and the project, which these conditions do not use.
        variables: vec![ExpressionValue::Null, ExpressionValue::Null],
        remaining_steps: 1_000_000,
    };
    match evaluation.compute_value(&expression.root) {
        Ok(ExpressionValue::Boolean(value)) => Some(value),
        Ok(other) => panic!("{source}: {other:?}"),
        Err(EvaluationFailure::Failed(_)) => None,
        Err(EvaluationFailure::CostLimit) => panic!("{source}: cost limit"),
    }
}

/// Returns the boolean value that the crate's interpreter computes; `None` if it fails.
fn interpret(source: &str) -> Option<bool> {
    let program = cel::Program::compile(source).unwrap();
    match program.execute(&cel::Context::default()) {
        Ok(cel::Value::Bool(value)) => Some(value),
        Ok(other) => panic!("{source}: {other:?}"),
        Err(_) => None,
    }
}

#[test]
fn values_are_those_of_crate_interpreter() {
    for source in [
        "1 + 2 * 3 == 7",
        "7 / 2 == 3 && -7 / 2 == -3 && 7 % 3 == 1 && -7 % 3 == -1",
        "1 / 0 == 1",
        "false && 1 / 0 == 1",
        "1 / 0 == 1 && false",
        "1 / 0 == 1 || true",
        "true && 1 / 0 == 1",
        "9223372036854775807 + 1 == 0",
        "1.5 + 1.5 == 3.0 && 1.0 / 0.0 > 1.0",
        "'a' + 'b' == 'ab' && 'a' < 'b'",
        "size('über') == 4 && size([1, 2]) == 2 && size({'a': 1}) == 1",
        "'abc'.contains('b') && 'abc'.startsWith('ab') && 'abc'.endsWith('bc')",
        "'a1'.matches('^[a-z][0-9]$')",
        "1 in [1, 2] && !(3 in [1, 2]) && 'a' in {'a': 1}",
        "[1, 2, 3].all(x, x > 0) && [1, 2, 3].exists(x, x == 2)",
        "[1, 2, 3].exists_one(x, x == 2) && ![2, 2].exists_one(x, x == 2)",
        "[1, 2, 3].map(x, x * 2) == [2, 4, 6]",
        "[1, 2, 3].filter(x, x > 1) == [2, 3]",
        "[1, 2, 3].map(x, x > 1, x * 2) == [4, 6]",
        "[0, 1].all(x, 1 / x == 1)",
        "[0, 1].exists(x, 1 / x == 1)",
        "[[1], [2]].exists(x, x.exists(y, y == 2))",
        "[1, 2] + [3] == [1, 2, 3] && [1, 2][1] == 2",
        "[1, 2][5] == 2",
        "{'a': {'b': 1}}.a.b == 1 && has({'a': 1}.a) && !has({'a': 1}.b)",
        "{'a': 1}.b == 1",
        "{'a': 1, 'b': 2} == {'b': 2, 'a': 1}",
        "true ? true : 1 / 0 == 1",
        "string(5) == '5' && int('5') == 5 && double('1.5') == 1.5",
        "int('x') == 5",
        "null == null",
        "{'x': 'y'}.exists(k, k == 'x')",
        "1u + 2u == 3u",
        "r'\\d' == '\\\\d' && 'a\\nb' == \"a\\nb\"",
    ] {
        assert_eq!(evaluate(source), interpret(source), "{source}");
    }
}

fn number() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        (-3_i64..4).prop_map(|number| format!("({number})")),
        Just("x".to_owned())
    ];
    leaf.prop_recursive(3, 12, 2, |inner| {
        (
            inner.clone(),
            prop::sample::select(vec!["+", "-", "*", "/", "%"]),
            inner,
        )
            .prop_map(|(left, operator, right)| format!("({left} {operator} {right})"))
    })
}

fn condition() -> impl Strategy<Value = String> {
    let comparison = (
        number(),
        prop::sample::select(vec!["==", "!=", "<", "<=", ">", ">="]),
        number(),
    );
    let leaf = comparison.prop_map(|(left, operator, right)| format!("{left} {operator} {right}"));
    leaf.prop_recursive(3, 16, 3, |inner| {
        prop_oneof![
            (
                inner.clone(),
                prop::sample::select(vec!["&&", "||"]),
                inner.clone()
            )
                .prop_map(|(left, operator, right)| format!("({left} {operator} {right})")),
            inner.clone().prop_map(|operand| format!("!({operand})")),
            (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(test, value, other)| format!("(({test}) ? ({value}) : ({other}))")),
            (
                prop::sample::select(vec!["all", "exists", "exists_one"]),
                inner.clone()
            )
                .prop_map(|(name, predicate)| format!("[-1, 0, 2].{name}(x, {predicate})")),
            (inner.clone(), number(), inner).prop_map(|(test, value, predicate)| format!(
                "[0, 1, 2].filter(x, {test}).map(x, {value}).all(x, {predicate})"
            )),
        ]
    })
}

proptest! {
    #[test]
    fn generated_conditions_have_value_of_crate_interpreter(condition in condition()) {
        let source = format!("[1].all(x, {condition})");
        prop_assert_eq!(evaluate(&source), interpret(&source), "{}", source);
    }

    #[test]
    fn any_text_is_parsed_or_rejected(source in "[a-z0-9()\\[\\]{}.,:?!&|+*/%=<>'\" \\\\-]{0,60}") {
        let _ = parse_expression(&source, RuleSubject::Component, &mut (1 << 20));
    }
}
