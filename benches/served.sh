# The local platform, compared with the fastest program of each kind: reads with a static file of nginx, and publishes that
# are durable before the response with the same rows written by SQLite's own shell. Requests per second of one client.

need wrk nginx sqlite3 curl awk
SERVED_SECONDS=4
SERVED_CONNECTIONS=16

# Prints the requests per second that wrk achieves; a response other than 2xx ends the run.
per_second() {
    wrk -t1 "-c$SERVED_CONNECTIONS" "-d$SERVED_SECONDS" -H "Authorization: Bearer $SLUICEGATE_TOKEN" "$@" >"$WORK/wrk.out"
    if grep -q 'Non-2xx\|Socket errors' "$WORK/wrk.out"; then
        cat "$WORK/wrk.out" >&2
        exit 2
    fi
    awk '/^Requests\/sec:/ { print $2 }' "$WORK/wrk.out"
}

# row NAME OURS OTHER LIMIT: adds a row with the ratio of our number to the other; higher is better.
served_row() {
    awk -v name="$1" -v ours="$2" -v other="$3" -v limit="$4" -v rows="$ROWS" 'BEGIN {
        row = sprintf("%s\t%.0f /s\t\t%.0f /s\t\t%.2f\tat least %.2f\t\t\t%s", name, ours, other, ours / other, limit,
            ours / other < limit ? "MISSED" : "pass")
        print row >>rows
        gsub(/\t/, " | ", row)
        print row
    }'
}

served_start() {
    : >"$WORK/serve.out"
    "$BINARY" serve --token "$SLUICEGATE_TOKEN=super-admin" "$@" >"$WORK/serve.out" 2>"$WORK/serve.log" &
    PLATFORM=$!
    until grep -q '^listening on ' "$WORK/serve.out"; do
        kill -0 "$PLATFORM" || exit 2
        sleep 0.02
    done
    URL=$(sed -n 's/^listening on //p' "$WORK/serve.out")
}

artifacts=/v1/shared-pipelines/artifacts
details="$artifacts/details?sharedPipelineIdPrefix=p"

served_start
curl -sSf -o "$WORK/published" -H "Authorization: Bearer $SLUICEGATE_TOKEN" -H "sharedPipelineIdPrefix: p" \
    -H "versionName: 1" --form-string ".platform/shared-pipelines.yaml=pipelines: []" "$URL$artifacts"
mkdir -p "$WORK/www"
curl -sSf -o "$WORK/www/details" -H "Authorization: Bearer $SLUICEGATE_TOKEN" "$URL$details"
ours=$(per_second "$URL$details")
stop_platform
cat >"$WORK/nginx.conf" <<C
worker_processes 2;
pid $WORK/nginx.pid;
error_log $WORK/nginx.log;
events { worker_connections 256; }
http { access_log off; server { listen 127.0.0.1:18099; root $WORK/www; } }
C
nginx -c "$WORK/nginx.conf" -g 'daemon off; master_process off;' &
PLATFORM=$!
until curl -sf -o /dev/null http://127.0.0.1:18099/details; do
    kill -0 "$PLATFORM" || exit 2
    sleep 0.02
done
other=$(per_second http://127.0.0.1:18099/details)
stop_platform
served_row "\`serve\`, details of a version : nginx, the same as a file" "$ours" "$other" 0.4

cat >"$WORK/publish.lua" <<'L'
local number = 0
wrk.method = "POST"
wrk.headers["sharedPipelineIdPrefix"] = "p"
wrk.headers["Content-Type"] = "multipart/form-data; boundary=b"
wrk.body = '--b\r\nContent-Disposition: form-data; name=".platform/shared-pipelines.yaml"\r\n\r\npipelines: []\r\n--b--\r\n'
request = function()
    number = number + 1
    wrk.headers["versionName"] = tostring(number)
    return wrk.format()
end
L
rm -rf "$WORK/served-data"
served_start --data "$WORK/served-data"
ours=$(per_second -s "$WORK/publish.lua" "$URL$artifacts")
stop_platform
# As many transactions with the same inserts, one after the other.
number=4000
rm -f "$WORK/plain.db"*
{
    echo 'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;'
    sqlite3 "$WORK/served-data/platform.db" "SELECT sql || ';' FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'"
    awk -v n="$number" 'BEGIN { for (i = 1; i <= n; i++) {
        printf "BEGIN IMMEDIATE; INSERT INTO artifact VALUES (%d, \047p\047, \047%d\047, 1, NULL, NULL, \0472026-01-01T00:00:00Z\047, \047api\047, x\047706970656c696e65733a205b5d\047, zeroblob(101));", i, i
        printf "INSERT INTO event VALUES (%d, \04700000000-0000-4000-8000-%012d\047, \047Artifact created\047, \047ARTIFACT_CREATED\047, \047Artifact created: %d\047, 1800000000000, NULL, \047p/%d\047, \047%d\047, \047ARTIFACT\047, \04700000000-0000-4000-8000-000000000000\047, \047super-admin@platform.example\047, \047prefix p\047); COMMIT;\n", i, i, i, i, i
    } }'
} >"$WORK/plain.sql"
begin=$(date +%s%N)
sqlite3 "$WORK/plain.db" <"$WORK/plain.sql" >/dev/null
other=$(awk -v n="$number" -v took=$(($(date +%s%N) - begin)) 'BEGIN { print n / took * 1e9 }')
served_row "\`serve\`, publishes, each durable : SQLite's program, two inserts a transaction" "$ours" "$other" 0.5
rm -rf "$WORK/served-data"
