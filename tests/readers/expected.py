"""Derives from each JSON report the expected cases of its JUnit report, the same for every reader."""

import json
import sys


def plain(text):
    """Replaces the characters that XML 1.0 does not allow."""
    def allowed(c):
        return c in "\t\n\r" or " " <= c <= "\ud7ff" or "\ue000" <= c <= "\ufffd" or c > "\uffff"
    return "".join(c if allowed(c) else "\ufffd" for c in text)


def words(text):
    return plain(text.replace("\r\n", "\n").replace("\r", "\n"))


def kind(result):
    states = [finding["state"] for finding in result["findings"]]
    if result["status"] == "PASSED":
        return "passed"
    if all(state in ("known", "waived") for state in states):
        return "skipped"
    if result["status"] == "ERROR":
        return "error"
    return "failed" if result["enforcement"] == "error" else "skipped"


def place(result):
    """Returns the first line of the findings that fail the gate or, if there are none, of all findings."""
    findings = result["findings"]
    counting = [finding for finding in findings if finding["state"] not in ("known", "waived")]
    return min([finding["line"] for finding in counting or findings if "line" in finding], default=1)


def case(suite, name, kind, line=1, texts=()):
    suite, name = plain(suite), plain(name)
    return {"suite": suite, "name": name, "kind": kind, "line": line, "texts": [words(text) for text in texts]}


def label(path):
    """Returns the start of a case's name; no two files of the samples differ only in the extension."""
    for extension in (".orch.yaml", ".tran.yaml"):
        path = path.removesuffix(extension)
    return path


def cases(report):
    """Returns the expected cases; the samples allow gate changes, and have each rule of a file once."""
    for name, texts in (("gate change", report["gateChanges"]), ("note", report["notes"])):
        for number in range(len(texts)):
            yield case("sluicegate", f"{name} ({number + 1})" if number else name, "skipped")
    for file in report["files"]:
        path = file["path"]
        for result in file["results"]:
            texts = [finding["message"] for finding in result["findings"] if finding["message"]]
            yield case(path, f"{label(path)}: {result['rule']}", kind(result), place(result), texts)
    for path in report["excluded"]:
        yield case(path, f"{label(path)}: excluded", "skipped")
    for path in report["unreviewed"]:
        yield case(path, f"{label(path)}: unreviewed", "error", 1, [report["unreviewedReasons"][path]])


def main(names):
    for name in names:
        report = json.load(open(f"{name}.json"))
        hosts = list(cases(report)) or [case("sluicegate", "nothing to review", "skipped")]
        # The strict schemas have no skipped cases, only their text; and every reader must find at least one case.
        strict = [case for case in hosts if case["kind"] != "skipped"] or [case("sluicegate", "verdict", "passed")]
        for form, found in (("junit", hosts), ("junit-strict", strict)):
            of = {"passed": report["verdict"] == "passed", "cases": found}
            json.dump(of, open(f"{name}.{form}.expected.json", "w"))


main(sys.argv[1:])
