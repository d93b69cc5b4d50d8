"""Runs the parser, the statistics and the rule for the conclusion of the action publish-unit-test-result-action. The calls
of GitHub's API are not run; the annotations name file and line of the cases that are checked here."""

import ast
import json
import re
import sys
import types
from pathlib import Path

folder, *names = sys.argv[1:]
python = Path(folder) / "publish-unit-test-result-action/python"
# The package's own first file imports the publishing code.
package = types.ModuleType("publish")
package.__path__ = [str(python / "publish")]
sys.modules["publish"] = package
from publish.junit import parse_junit_xml_files, process_junit_xml_elems  # noqa: E402
from publish.unittestresults import ParsedUnitTestResults, get_stats, get_test_results  # noqa: E402


def conclusion_of():
    tree = ast.parse((python / "publish_test_results.py").read_text(encoding="utf-8"))
    tree.body = [part for part in tree.body if getattr(part, "name", None) == "get_conclusion"]
    known = {"ParsedUnitTestResults": ParsedUnitTestResults}
    exec(compile(tree, "publish_test_results.py", "exec"), known)
    return known["get_conclusion"]


def check(path):
    expected = json.load(open(f"{path}.expected.json"))
    cases = expected["cases"]
    parsed = process_junit_xml_elems(parse_junit_xml_files([path], False, False))
    assert not parsed.errors, parsed.errors
    stats = get_stats(get_test_results(parsed.with_commit("0"), False))
    word = {"failure": "failed", "success": "passed"}
    numbers = {kind: sum(case["kind"] == kind for case in cases) for kind in ("passed", "failed", "error", "skipped")}
    for of in ("tests", "runs"):
        found = {kind: getattr(stats, f"{of}_{end}") for kind, end in
                 (("passed", "succ"), ("failed", "fail"), ("error", "error"), ("skipped", "skip"))}
        assert found == numbers, (path, of, found, numbers)
    conclusion = conclusion_of()(parsed, fail_on_failures=True, fail_on_errors=True)
    assert conclusion == ("success" if expected["passed"] else "failure"), (path, conclusion)
    hosts = path.endswith(".junit")
    place = lambda suite, line: (suite, line) if hosts and suite != "sluicegate" else (None, None)  # noqa: E731
    group = lambda suite: re.sub(r"\.(orch|tran)\.yaml$", "", suite).replace(".", "_").replace("/", ".")  # noqa: E731
    ours = [(group(case["suite"]), case["name"], case["kind"], *place(case["suite"], case["line"])) for case in cases]
    theirs = {(case.class_name, case.test_name, word.get(case.result, case.result), case.test_file, case.line): case
              for case in parsed.cases}
    assert set(theirs) == set(ours) and len(parsed.cases) == len(ours), path
    for case, key in zip(cases, ours):
        for text in case["texts"]:
            assert text in (theirs[key].content or ""), (path, text)
    print(f"publish-unit-test-result-action: {path}: {len(cases)} cases, {conclusion}")


for name in names:
    for form in ("junit", "junit-strict"):
        check(f"{name}.{form}")
