"""Creates a repository with pipelines, and JSON reports about them: an ordinary one, a hostile one, a passed one with all
notes that do not fail, an empty one; for the page also ones with 300 and 13,000 findings, and a repository whose branch
edits pipelines."""

import json
import subprocess
import sys
from pathlib import Path

HOSTILE = [
    "plain words",
    "a & b < c > d \"e\" 'f' `g`",
    "]]> <![CDATA[ --> <!-- </script><script>document.title='owned'</script>",
    "<img src=x onerror=\"document.title='owned'\"> javascript:alert(1)",
    "control \x00\x01\x08\x0b\x1b[31m\x7f and \ufffe \uffff \u202e",
    "percent %0A %25 %; colon : comma , semicolon ; bracket ]",
    "::error::x\n::set-output name=verdict::passed\n##[error]y ##vso[task.complete result=Succeeded]z",
    "line one\nline two\r\nline three\rline four",
    "emoji 😀👩‍👩‍👧 日本語 ألف é ́ |table|cell| @mention #1 [link](https://example.com) ![i](x)",
    "x" * 5000,
    "=cmd|' /C calc'!A0",
    " +1-2",
    "-@SUM(1)",
    "yaml",
    "file",
]


def git(folder, *args):
    names = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *names, *args], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def pipeline(number):
    lines = ["type: orchestration", 'version: "1.0"', "pipeline:", "  components:"]
    for part in range(8):
        lines += [f"    step {part} of {number}:", "      type: sql-executor", "      parameters:"]
        lines += [f"        componentName: 'step {part} & <b>'"]
    return "\n".join(lines) + "\n"


def repository(folder, paths):
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    for number, path in enumerate(paths):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(pipeline(number))
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "pipelines")
    return git(folder, "rev-parse", "HEAD")


def drawn(components, rows, parameters):
    """Returns a pipeline in JSON, which is YAML: its components on a canvas, each connected to the next."""
    placed, design = {}, {}
    for number, name in enumerate(components):
        kind = "start" if number == 0 else "sql-executor"
        after = {"transitions": {"unconditional": components[number + 1:number + 2]}} if number + 1 < len(components) else {}
        placed[name] = {"type": kind, "parameters": {"componentName": name} | parameters, **after}
        design[name] = {"position": {"x": 200 * (number % rows), "y": 150 * (number // rows)}}
    whole = {"type": "orchestration", "version": "1.0", "pipeline": {"components": placed}, "design": {"components": design}}
    return json.dumps(whole, ensure_ascii=False)


RULES = """rules:
  - { id: component-naming-convention, enabled: true, enforcementLevel: error, config: { regexMatchPattern: '[A-Z][a-z ]*' } }
  - { id: maximum-components, enabled: true, enforcementLevel: warn, config: { maxComponents: 5 } }
"""


def edited(folder):
    """Creates pipelines on `main` and changes them on a branch: one is added, one deleted, one gets a new layout."""
    names = ["Start", "Load orders", "Clean", "Count", "Tell", "End"]
    odd = ["Start", *(text for text in HOSTILE if "\x00" not in text)]
    paths = ["sales/load.orch.yaml", "gone.orch.yaml", "moved.orch.yaml", "odd.orch.yaml"]
    repository(folder, paths)
    config = folder / ".platform/config"
    config.mkdir(parents=True)
    (config / "pipeline_quality_rules.yaml").write_text(RULES)

    def write(**files):
        for name, text in files.items():
            path = next(path for path in [*paths, "new.orch.yaml"] if name in path)
            (folder / path).write_text(text)
        git(folder, "add", "-A")
        git(folder, "commit", "-q", "-m", "pipelines")

    write(load=drawn(names, 3, {"sqlQuery": "select 1"}), moved=drawn(names, 3, {}), odd=drawn(odd[:8], 3, {"x": odd[1]}))
    git(folder, "checkout", "-q", "-b", "edit")
    git(folder, "rm", "-q", "gone.orch.yaml")
    renamed = ["Start", "Load all orders", "Clean", "tell everyone", "Count", "Sum", "End"]
    write(load=drawn(renamed, 3, {"sqlQuery": "select 2\nfrom orders"}), moved=drawn(names, 2, {}), new=drawn(names[:3], 3, {}),
          odd=drawn(odd[:1] + odd[4:], 4, {"x": odd[2]}))


def result(rule, status, enforcement=None, error_type=None, violations=(), lines=(), **more):
    texts = list(violations) or ([] if status == "PASSED" else [None])
    states, waivers = (more.pop(key, [None] * len(texts)) for key in ("state", "waivers"))
    findings = []
    for number, text in enumerate(texts):
        finding = {"message": text, "state": states[number]}
        if number < len(lines) and lines[number]:
            finding["line"] = lines[number]
        if waivers[number]:
            finding["waiver"] = waivers[number]
        findings.append(finding)
    return more | {
        "rule": rule, "status": status, "enforcement": enforcement, "errorType": error_type, "findings": findings,
    }


def report(head, files, verdict, **more):
    results = [result for file in files for result in file["results"]]
    failed = [result for result in results if result["status"] == "FAILED"]
    body = {
        "schema": "sluicegate.report/v2", "engine": "remote", "verdict": verdict,
        "context": {"ci": "none", "event": "local", "branch": "main", "head": head, "base": None},
        "counts": {
            "files": len(files), "passed": sum(r["status"] == "PASSED" for r in results), "failed": len(failed),
            "errors": sum(r["status"] == "ERROR" for r in results),
            "warnings": sum(r["enforcement"] != "error" for r in failed),
            "excluded": len(more.get("excluded", [])), "unreviewed": len(more.get("unreviewed", [])),
        },
        "files": files, "excluded": [], "unreviewed": [], "gateChanges": [], "notes": [],
        "startedAt": "2026-11-20T09:30:00Z", "elapsedNanos": 4_200_000_000,
    }
    return body | more


def ordinary(paths):
    for number, path in enumerate(paths):
        results = [result("minimum-components", "PASSED", "warn")]
        if number % 2 == 0:
            found = [f"The component `step {n} of {number}` is not in the pattern `[A-Z].*`" for n in (1, 3)]
            results.append(result("component-naming-convention", "FAILED", "error", None, found, [9, 17]))
        if number % 3 == 0:
            words = ["The pipeline has 8 components, more than the maximum of 5"]
            results.append(result("maximum-components", "FAILED", "warn", None, words, [None]))
        if number % 7 == 0:
            results.append(result("unused-components", "ERROR", None, "designer/no-start-component"))
        yield {"path": path, "results": results}


def warned(paths):
    """Returns all kinds of findings that a passed review can have."""
    waiver = {"reason": "legacy & <old>", "owner": "sales", "until": "2027-03-31"}
    for number, path in enumerate(paths):
        named, twice = f"`step {number}` is not in the pattern", [f"`step {n} of {number}` is unused" for n in (1, 2)]
        yield {"path": path, "results": [
            result("minimum-components", "PASSED", "warn"),
            result("maximum-components", "FAILED", "warn", None, ["The pipeline has 8 components"], [None]),
            result("unused-components", "FAILED", "warn", None, twice, [13, 5], state=["new", "known"], waivers=[None, None]),
            result("component-naming-convention", "FAILED", "error", None, [named], [9], state=["waived"], waivers=[waiver]),
            result("start-and-end-components", "FAILED", "error", None, twice, [5, 13], state=["known", "waived"],
                   waivers=[None, waiver]),
            result("maximum-outputs", "ERROR", "error", "designer/no-start-component", (), (), state=["known"], waivers=[None]),
        ]}


def hostile():
    for number, text in enumerate(HOSTILE):
        twice = [text, text]
        yield {"path": f"{number}/" + text[:200], "results": [
            result(text, "FAILED", "error", None, twice, [3, None]),
            result("other " + text, "FAILED", "warn", None, [text], [2]),
            result("broken", "ERROR", None, text, [text], [1]),
            result("passed " + text, "PASSED"),
        ]}


def many(files, each):
    rules = ["component-naming-convention", "unused-components", "start-and-end-components", "maximum-components"]
    for number in range(files):
        path = f"area {number % 9}/part_{number % 31}/load_{number:04}.orch.yaml"
        found = [f"the component `load orders {n} of {number}` is not in the pattern `[A-Z].*`" for n in range(each)]
        level = "error" if number % 4 == 2 else "warn"
        lines = [12 + 7 * n for n in range(each)]
        yield {"path": path, "results": [result(rules[number % 4], "FAILED", level, None, found, lines)]}


def main(folder):
    folder = Path(folder)
    names = ["sales/orders", "sales/returns", "finance/ledger", "finance/close", "hr/people", "shared/dates", "load"]
    paths = [f"{name}{number}.orch.yaml" for number in range(3) for name in names]
    head = repository(folder / "repository", paths)
    edited(folder / "edited")
    whole = {"excluded": ["docs/notes.md"], "unreviewed": ["late/slow.orch.yaml"],
             "unreviewedReasons": {"late/slow.orch.yaml": "the batch timed out"},
             "gateChanges": ["sluicegate.yaml"], "notes": ["The rules file is not known."]}
    evil = {"excluded": [f"e/{t}" for t in HOSTILE], "unreviewed": [f"u/{t}" for t in HOSTILE],
            "unreviewedReasons": {f"u/{t}": t for t in HOSTILE}, "gateChanges": HOSTILE, "notes": HOSTILE}
    reports = {
        "ordinary": report(head, list(ordinary(paths)), "failed", **whole),
        "hostile": report(head, list(hostile()), "failed", **evil),
        "warned": report(head, list(warned(paths)), "passed", excluded=["docs/notes.md"], gateChanges=["sluicegate.yaml"],
                         notes=["The rules file is not known."]),
        "empty": report(head, [], "passed"),
        "three-hundred": report(None, list(many(120, 2)) + list(many(160, 1))[120:] + list(many(164, 5))[160:], "failed"),
        "huge": report(None, list(many(1300, 10)), "failed"),
    }
    for name, body in reports.items():
        (folder / f"{name}.json").write_text(json.dumps(body))


main(sys.argv[1])
