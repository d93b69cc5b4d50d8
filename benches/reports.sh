# The cost of all reports at once for 40,000 rule results in 5,000 files, every fourth of them a finding, shown with its
# lines from the commit.

rm -rf "$WORK/reports" "$WORK/reported"
git init -q -b main "$WORK/reported"
python3 - "$WORK/results.json" "$WORK/reported" <<'MAKE'
import json
import pathlib
import subprocess
import sys

target, repository = sys.argv[1:]


def path(number):
    return f"area-{number % 40:02}/group {number % 7}/load {number:06}.orch.yaml"


def git(*args):
    who = ["-c", "user.name=bench", "-c", "user.email=bench@example.com", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", "-C", repository, *who, *args], check=True, capture_output=True, text=True)
    return done.stdout.strip()


for number in range(5_000):
    file = pathlib.Path(repository, path(number))
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = ["type: orchestration", 'version: "1.0"', "pipeline:", "  components:"]
    for part in range(8):
        lines += [f"    load {number} {part}:", "      type: sql-executor", "      parameters:", "        componentName: x"]
    file.write_text("\n".join(lines) + "\n")
git("add", "-A")
git("commit", "-q", "-m", "pipelines")
head = git("rev-parse", "HEAD")

files = []
for number in range(5_000):
    results = []
    for rule in range(8):
        failed = rule in (2, 5)
        violations = [f"The component `load {number} {rule}` does not match the pattern `[A-Z].*`"] if failed else []
        results.append({
            "rule": f"rule-number-{rule}", "status": "FAILED" if failed else "PASSED",
            "enforcement": "error" if rule == 2 else "warn", "errorType": None, "severity": ("error" if rule == 2 else "warning") if failed else None,
            "findings": [{"message": text, "line": 12, "state": None} for text in violations],
        })
    files.append({"path": path(number), "results": results})
report = {
    "schema": "sluicegate.report/v2", "engine": "remote", "verdict": "failed",
    "context": {"ci": "none", "event": "local", "branch": "main", "head": head, "base": None},
    "counts": {"files": 5_000, "passed": 30_000, "failed": 10_000, "errors": 0, "warnings": 5_000, "excluded": 0,
               "unreviewed": 0},
    "files": files, "excluded": [], "unreviewed": [],
}
with open(target, "w", encoding="utf-8") as out:
    json.dump(report, out)
MAKE
cd "$WORK/reported"
reports=()
for format in junit junit-strict json sarif gitlab markdown html; do
    reports+=(--report "$format=$WORK/reports/$format")
done
measure --runs 5 --status 1 --limit 1 --ideal 1.5 --memory 250 "\`report\`, 40,000 rule results in all formats : the limit" -- \
    "$BINARY" report "$WORK/results.json" "${reports[@]}"
