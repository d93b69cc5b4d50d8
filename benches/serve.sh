#!/usr/bin/env bash
# Measures `sluicegate serve` under mixed requests over 16 connections: time, latencies, memory, answers by status; once
# with everything in memory, once on disk, where each change is synced before it is answered.
#
# usage: benches/serve.sh [PROGRAM]     (default: target/release/sluicegate)
# Needs curl 7.68 or later, git and awk. REQUESTS sets how many requests (default 2000), CONNECTIONS over how many.
set -euo pipefail
cd "$(dirname "$0")/.."

program=${1:-target/release/sluicegate}
requests=${REQUESTS:-2000}
connections=${CONNECTIONS:-16}
project=6f1d3c1e-8a3b-4c56-9a0e-0d7b6c1f2a10
token=the-token-of-this-run
work=$(mktemp -d)
trap 'kill "${server:-}" 2>/dev/null || true; rm -rf "$work"' EXIT

git init -q -b main "$work/project"
cat >"$work/project/load.orch.yaml" <<'PIPELINE'
type: orchestration
pipeline:
  components:
    Start: { type: start, transitions: { unconditional: [Done] } }
    Done: { type: end-success }
PIPELINE
git -C "$work/project" add -A
git -C "$work/project" -c user.name=bench -c user.email=bench@example.invalid commit -qm first

# The requests as a curl configuration: reads, changes and refusals in turn.
plan() {
  awk -v n="$requests" -v url="$1" -v p="/v1/projects/$project" -v token="$token" '
    function entry(method, path, body) {
      if (count++) print "next"
      printf "url = \"%s%s\"\nrequest = \"%s\"\noutput = \"/dev/null\"\n", url, path, method
      printf "header = \"Authorization: Bearer %s\"\n", token
      if (body != "") { gsub(/"/, "\\\"", body); printf "data = \"%s\"\nheader = \"Content-Type: application/json\"\n", body }
      print "write-out = \"%{http_code} %{time_total}\\n\""
    }
    BEGIN {
      for (i = 0; i < n; i++) {
        k = i % 8
        if (k == 0) entry("GET", "/v1/projects", "")
        if (k == 1) entry("POST", p "/variables", "{\"name\": \"v" i "\", \"type\": \"TEXT\", \"behaviour\": \"SHARED\", \"value\": \"x\"}")
        if (k == 2) entry("GET", p "/variables?size=25", "")
        if (k == 3) entry("GET", p "/published-pipelines", "")
        if (k == 4) entry("POST", "/v1/ai/agents/tasks", "{\"message\": \"create, run, push\", \"agentConfig\": {\"name\": \"data_engineer_agent\", \"mode\": \"ACT\", \"projectId\": \"" substr(p, 14) "\", \"sourceBranchName\": \"main\", \"environmentName\": \"e\", \"targetBranchName\": \"b\"}}")
        if (k == 5) entry("GET", "/v1/events?size=50", "")
        if (k == 6) entry("GET", "/v1/shared-pipelines/artifacts/details?sharedPipelineIdPrefix=none", "")
        if (k == 7) entry("POST", "/v1/projects", "{\"name\": \"p\", \"warehouse\": \"WAREHOUSE_A\", \"agentDeploymentType\": \"HYBRID\"}")
      }
    }'
}

measure() {
  local name=$1
  shift
  "$program" serve --project "$project=$work/project" --token "$token=super-admin" "$@" >"$work/out" 2>"$work/log" &
  server=$!
  for _ in $(seq 100); do
    grep -q '^listening on ' "$work/out" && break
    sleep 0.05
  done
  plan "$(sed -n 's/^listening on //p' "$work/out")" >"$work/plan"
  local begin end
  begin=$(date +%s%N)
  curl --silent --show-error --parallel --parallel-max "$connections" --config "$work/plan" >"$work/times" 2>"$work/errors" ||
    { head -5 "$work/errors"; exit 1; }
  end=$(date +%s%N)
  sort -k2 -n "$work/times" | awk -v name="$name" -v total="$requests" -v took="$(((end - begin) / 1000000))" \
    -v memory="$(awk '/VmHWM/ { print int($2 / 1024) }' "/proc/$server/status" 2>/dev/null || echo '?')" '
    { status[$1]++; time[NR] = $2 * 1000; if ($1 >= 500) bad++ }
    END {
      printf "%-8s %d requests in %.2f s (%d a second); median %.1f ms, 99 %% %.1f ms, slowest %.1f ms; %s MB;", name, NR,
        took / 1000, NR * 1000 / took, time[int(NR / 2)], time[int(NR * 0.99)], time[NR], memory
      for (s in status) printf " %s: %d", s, status[s]
      print ""
      if (bad > 0 || NR != total) exit 1
    }'
  kill "$server"
  wait "$server" 2>/dev/null || true
}

measure memory
measure disk --data "$work/data"
