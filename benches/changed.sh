# What it costs that a review's reports list the changes: compared with the platform's own response time.

review=("$BINARY" review --quiet --base main --project-id 00000000-0000-4000-8000-000000000000 --agent-version 10.0.0)
make_repository teamwork "$WORK/teamwork" 10000
cd "$WORK/teamwork"
start_platform --delay 100
# 100 batches of 100 files, 4 at a time, 100 ms each.
measure --runs 3 --limit 1.12 --ideal 2.5 --memory 200 --server "$PLATFORM" \
    "\`review\`, 10,000 changed files at 100 ms a request, JSON report : batches / concurrency" -- \
    "${review[@]}" --base-url "$URL" --report "json=$WORK/report.json"
stop_platform

make_repository teamwork "$WORK/teamwork-5000" 5000
cd "$WORK/teamwork-5000"
reports=()
for format in junit json sarif gitlab markdown html; do
    reports+=(--report "$format=$WORK/changed-$format")
done
start_platform --twice
measure --runs 5 --limit 0.7 --ideal 1 --memory 250 --server "$PLATFORM" \
    "\`review\`, 5,000 changed files, 10,000 findings, six reports, a platform without delay : a second" -- \
    "${review[@]}" --base-url "$URL" "${reports[@]}"
stop_platform
