# What all reports at once take of 40,000 rule results in 5,000 files, every fourth of them a finding.

python3 - "$WORK/results.json" <<'MAKE'
import json
import sys

files = []
for number in range(5_000):
    results = []
    for rule in range(8):
        failed = rule in (2, 5)
        violations = [f"The component `load {number} {rule}` does not match the pattern `[A-Z].*`"] if failed else []
        results.append({
            "rule": f"rule-number-{rule}", "status": "FAILED" if failed else "PASSED",
            "enforcement": "error" if rule == 2 else "warn", "errorType": None, "violations": violations,
            "line": 12 if failed else 1, "severity": ("error" if rule == 2 else "warning") if failed else None,
            "lines": [12] * len(violations),
        })
    files.append({"path": f"area-{number % 40:02}/group {number % 7}/load {number:06}.orch.yaml", "results": results})
report = {
    "schema": "sluicegate.report/v1", "engine": "remote", "verdict": "failed",
    "context": {"ci": "none", "event": "local", "branch": "main", "head": "0" * 40, "base": None},
    "counts": {"files": 5_000, "passed": 30_000, "failed": 10_000, "errors": 0, "warnings": 5_000, "excluded": 0,
               "unreviewed": 0},
    "files": files, "excluded": [], "unreviewed": [],
}
with open(sys.argv[1], "w", encoding="utf-8") as out:
    json.dump(report, out)
MAKE
mkdir -p "$WORK/nowhere"
cd "$WORK/nowhere"
reports=()
for format in junit junit-strict json sarif gitlab markdown html; do
    reports+=(--report "$format=$WORK/reports/$format")
done
measure --runs 5 --status 1 --limit 1 --ideal 1.5 --memory 250 "\`report\`, 40,000 rule results in all formats : the limit" -- \
    "$BINARY" report "$WORK/results.json" "${reports[@]}"
