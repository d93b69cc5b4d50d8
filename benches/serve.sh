# The local platform under mixed requests for all its capabilities, including rejected ones, over 16 connections: once in
# memory, once on disk, where each change is synced before the response. A response of 500 or more, or a missing response,
# is a failure. The times of single requests come from curl and include curl's own work.

need curl awk
SERVE_REQUESTS=2000
SERVE_CONNECTIONS=16
SERVE_PROJECT=6f1d3c1e-8a3b-4c56-9a0e-0d7b6c1f2a10

# Creates the project whose pipelines are listed, reviewed and executed, unless it exists.
make_served_project() {
    local folder="$WORK/served"
    [ -d "$folder/.git" ] && return
    git init -q -b main "$folder"
    "$BINARY" --repo "$folder" --config-dir .platform rules init >&2
    printf 'type: orchestration\npipeline:\n  components:\n    Start: { type: start, transitions: { unconditional: [Done] } }\n    Done: { type: end-success }\n' \
        >"$folder/load.orch.yaml"
    git -C "$folder" add -A
    git -C "$folder" -c user.name=bench -c user.email=bench@example.invalid commit -q -m first
}

# The requests as a curl configuration.
serve_plan() {
    awk -v n="$SERVE_REQUESTS" -v url="$1" -v id="$SERVE_PROJECT" -v token="$SLUICEGATE_TOKEN" \
        -v commit="$(git -C "$WORK/served" rev-parse HEAD)" '
        function ask(method, path) {
            if (count++) print "next"
            printf "url = \"%s%s\"\nrequest = \"%s\"\noutput = \"/dev/null\"\n", url, path, method
            printf "header = \"Authorization: Bearer %s\"\n", token
            print "write-out = \"%{http_code} %{time_total}\\n\""
        }
        function send(method, path, body) {
            ask(method, path)
            gsub(/\047/, "\\\"", body)
            printf "data = \"%s\"\nheader = \"Content-Type: application/json\"\n", body
        }
        BEGIN {
            project = "/v1/projects/" id
            variable = "{\047name\047: \047v%d\047, \047type\047: \047TEXT\047, \047behaviour\047: \047SHARED\047, \047value\047: \047x\047}"
            task = "{\047message\047: \047create, run, push\047, \047agentConfig\047: {\047name\047: \047data_engineer_agent\047, \047mode\047: \047ACT\047, \047projectId\047: \047" id "\047, \047sourceBranchName\047: \047main\047, \047environmentName\047: \047main\047, \047targetBranchName\047: \047b\047}}"
            stream = "{\047name\047: \047s\047, \047agentId\047: \047" id "\047, \047streamingSource\047: {\047connection\047: {\047username\047: \047u\047}}, \047streamingTarget\047: {\047connection\047: {\047authentication\047: {}}}}"
            for (i = 0; i < n; i++) {
                k = i % 16
                if (k == 0) ask("GET", "/v1/projects")
                if (k == 1) send("POST", project "/variables", sprintf(variable, i))
                if (k == 2) ask("GET", project "/variables?size=25")
                if (k == 3) send("POST", project "/variables/v" i - 2 "/environment-overrides", "{\047overrides\047: [{\047environmentName\047: \047main\047, \047value\047: \047y\047}]}")
                if (k == 4) ask("GET", project "/published-pipelines")
                if (k == 5) send("POST", project "/pipeline-executions", "{\047pipelineName\047: \047load\047, \047environmentName\047: \047main\047, \047executionTag\047: \047t" i % 5 "\047}")
                if (k == 6) send("POST", "/v1/ai/agents/tasks", task)
                if (k == 7) ask("GET", "/v1/ai/agents/tasks?status=RUNNING")
                if (k == 8) send("POST", project "/streaming-pipelines", stream)
                if (k == 9) ask("GET", "/v1/events?size=50")
                if (k == 10) {
                    ask("POST", "/v1/shared-pipelines/artifacts")
                    printf "header = \"sharedPipelineIdPrefix: p\"\nheader = \"versionName: %d\"\n", i
                    print "form-string = \".platform/shared-pipelines.yaml=pipelines: []\""
                }
                if (k == 11) ask("GET", "/v1/shared-pipelines/artifacts/details?sharedPipelineIdPrefix=p")
                if (k == 12) {
                    send("POST", project "/reviews", "{\047branchName\047: \047main\047, \047commitId\047: \047" commit "\047, \047pipelines\047: [\047load.orch.yaml\047]}")
                    print "header = \"Agent-Version: 1\""
                }
                if (k == 13) send("POST", "/v1/projects", "{\047name\047: \047p\047, \047warehouse\047: \047WAREHOUSE_A\047, \047agentDeploymentType\047: \047HYBRID\047}")
                if (k == 14) send("PATCH", project "/variables/v" i, "{\047type\047: \047TEXT\047}")
                if (k == 15) ask("DELETE", project "/variables/v" i - 14)
            }
        }'
}

# serve NAME ARGUMENT...: starts the server with these arguments, sends all requests, and adds the row.
serve() {
    local name=$1 url begin took memory
    shift
    "$BINARY" serve --project "$SERVE_PROJECT=$WORK/served" --token "$SLUICEGATE_TOKEN=super-admin" "$@" \
        >"$WORK/serve.out" 2>"$WORK/serve.log" &
    PLATFORM=$!
    until grep -q '^listening on ' "$WORK/serve.out"; do
        kill -0 "$PLATFORM" || exit 2
        sleep 0.02
    done
    url=$(sed -n 's/^listening on //p' "$WORK/serve.out")
    local call=(curl -sSf -o /dev/null -H "Authorization: Bearer $SLUICEGATE_TOKEN" -H "Content-Type: application/json" -d)
    local connection='{"name": "c", "platformConnectionType": "dwh", "authProvider": "warehouse_a", "authType": "key_pair"}'
    local environment='{"name": "main", "defaultAgentId": "'$SERVE_PROJECT'", "defaultUserAccessLevel": "default", "defaultConnections": {"DWH": {"warehouse_a": "c"}}, "connectionOverrides": []}'
    "${call[@]}" "$connection" "$url/v1/projects/$SERVE_PROJECT/data-platform-connections"
    "${call[@]}" "$environment" "$url/v1/projects/$SERVE_PROJECT/environments"
    serve_plan "$url" >"$WORK/serve.plan"
    begin=$(date +%s%N)
    # Some versions of curl draw their progress in spite of --silent.
    curl --silent --show-error --parallel --parallel-max "$SERVE_CONNECTIONS" --config "$WORK/serve.plan" \
        >"$WORK/serve.times" 2>"$WORK/serve.errors" || { cat "$WORK/serve.errors" >&2; exit 2; }
    took=$((($(date +%s%N) - begin) / 1000000))
    memory=$(awk '/^VmHWM/ { printf "%.0f MB", $2 * 1024 / 1000000 }' "/proc/$PLATFORM/status" 2>/dev/null || true)
    stop_platform
    sort -k2 -n "$WORK/serve.times" | awk -v name="$name" -v took="$took" -v memory="$memory" -v all="$SERVE_REQUESTS" -v rows="$ROWS" '
        { status[$1]++; time[NR] = $2 * 1000; if ($1 < 200 || $1 >= 500) bad++ }
        END {
            row = sprintf("`serve` %s, %d mixed requests, 16 connections : median %.1f ms, 99 %% %.1f ms\t%.2f s\t\t\t\t\tno 5xx\t%s\t\t%s",
                name, NR, time[int(NR / 2)], time[int(NR * 0.99)], took / 1000, memory, bad || NR != all ? "MISSED" : "pass")
            print row >>rows
            gsub(/\t/, " | ", row)
            print row
            for (s in status) printf "  %s: %d", s, status[s]
            print ""
        }'
}

make_served_project
serve "in memory"
serve "on disk" --data "$WORK/serve-data"
rm -rf "$WORK/serve-data"
