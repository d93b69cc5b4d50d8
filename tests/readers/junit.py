"""Reads the JUnit reports by junitparser and holds them to the JSON report that they are made from."""

import json
import re
from xml.etree import ElementTree

from junitparser import Error, Failure, JUnitXml, Skipped


def check(name, path):
    source = json.load(open(f"{name}.json"))
    document = JUnitXml.fromfile(path)
    suites = list(document)
    names = [suite.name for suite in suites]
    assert len(set(names)) == len(names), "two suites of one name"
    seen = {"FAILED": 0, "SKIPPED": 0, "ERROR": 0, "PASSED": 0}
    cases = [case for suite in suites if suite.name != "sluicegate" for case in suite]
    for case in cases:
        kinds = {type(result) for result in case.result}
        if Failure in kinds:
            seen["FAILED"] += 1
        elif Error in kinds:
            seen["ERROR"] += 1
        elif Skipped in kinds:
            seen["SKIPPED"] += 1
        else:
            seen["PASSED"] += 1
    counts = source["counts"]
    # What fails nothing is skipped, and so is what nobody judged; the strict schemas know no such case, only its words.
    skipped = 0 if path.endswith("strict") else counts["warnings"] + counts["excluded"]
    expected = {
        "FAILED": counts["failed"] - counts["warnings"],
        "SKIPPED": skipped,
        "ERROR": counts["errors"] + counts["unreviewed"],
        "PASSED": counts["passed"],
    }
    assert seen == expected, (path, seen, expected)
    if path.endswith("strict"):
        times = re.findall(r' time="([^"]*)"', open(path, encoding="utf-8").read())
        assert times and all(re.fullmatch(r"\d+(\.\d{1,3})?", time) for time in times), times
    for suite in suites:
        inside = [case.name for case in suite]
        assert len(set(inside)) == len(inside), f"two cases of one name in {suite.name}"
    texts = "\n".join(f"{part.get('message')}\n{part.text}" for part in ElementTree.parse(path).iter())
    for file in source["files"]:
        for result in file["results"]:
            for violation in result["violations"]:
                if violation.isprintable():
                    assert violation in texts, violation
    print(f"junitparser: {path}: {len(cases)} cases")


for name in ("ordinary", "hostile", "empty"):
    for form in ("junit", "junit-strict"):
        check(name, f"{name}.{form}")
