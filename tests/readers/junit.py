"""Reads the JUnit reports with junitparser and checks that they contain the expected cases."""

import json
import re
import sys
from xml.etree import ElementTree

from junitparser import Error, Failure, JUnitXml, Skipped


def kind(case):
    kinds = {type(result) for result in case.result}
    for of, name in ((Failure, "failed"), (Error, "error"), (Skipped, "skipped")):
        if of in kinds:
            return name
    return "passed"


def check(name, path):
    expected = json.load(open(f"{path}.expected.json"))["cases"]
    document = JUnitXml.fromfile(path)
    suites = list(document)
    names = [suite.name for suite in suites]
    assert len(set(names)) == len(names), "two suites of one name"
    found = [(suite.name, case.name, kind(case)) for suite in suites for case in suite]
    assert sorted(found) == sorted((case["suite"], case["name"], case["kind"]) for case in expected), path
    if path.endswith("strict"):
        times = re.findall(r' time="([^"]*)"', open(path, encoding="utf-8").read())
        assert times and all(re.fullmatch(r"\d+(\.\d{1,3})?", time) for time in times), times
    for suite in suites:
        inside = [case.name for case in suite]
        assert len(set(inside)) == len(inside), f"two cases of one name in {suite.name}"
    texts = "\n".join(f"{part.get('message')}\n{part.text}" for part in ElementTree.parse(path).iter())
    for file in json.load(open(f"{name}.json"))["files"]:
        for result in file["results"]:
            for violation in (finding["message"] for finding in result["findings"]):
                if violation and violation.isprintable():
                    assert violation in texts, violation
    print(f"junitparser: {path}: {len(found)} cases")


for name in sys.argv[1:]:
    for form in ("junit", "junit-strict"):
        check(name, f"{name}.{form}")
