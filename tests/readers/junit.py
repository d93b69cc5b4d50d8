"""Reads the JUnit reports by junitparser and holds them to the JSON report that they are made from."""

import json
import sys

from junitparser import Error, Failure, JUnitXml


def check(name, path):
    source = json.load(open(f"{name}.json"))
    document = JUnitXml.fromfile(path)
    suites = list(document)
    names = [suite.name for suite in suites]
    assert len(set(names)) == len(names), "two suites of one name"
    seen = {"FAILED": 0, "ERROR": 0, "PASSED": 0}
    cases = [case for suite in suites if suite.name != "sluicegate" for case in suite]
    for case in cases:
        kinds = {type(result) for result in case.result}
        if Failure in kinds:
            seen["FAILED"] += 1
        elif Error in kinds:
            seen["ERROR"] += 1
        elif not kinds:
            seen["PASSED"] += 1
    counts = source["counts"]
    expected = {"FAILED": counts["failed"], "ERROR": counts["errors"] + counts["unreviewed"], "PASSED": counts["passed"]}
    assert seen == expected, (seen, expected)
    if path.endswith("strict"):
        assert seen["PASSED"] == counts["passed"], "what is skipped is not passed"
    for suite in suites:
        inside = [case.name for case in suite]
        assert len(set(inside)) == len(inside), f"two cases of one name in {suite.name}"
    texts = "\n".join(result.text or "" for case in cases for result in case.result)
    for file in source["files"]:
        for result in file["results"]:
            for violation in result["violations"]:
                if violation.isprintable():
                    assert violation in texts, violation
    print(f"junitparser: {path}: {len(cases)} cases")


for name in ("ordinary", "hostile", "empty"):
    for form in ("junit", "junit-strict"):
        check(name, f"{name}.{form}")
