# The run time of a review, compared with the platform's own response time.

make_repository team "$WORK/team-10000" 10000
cd "$WORK/team-10000"
start_platform --delay 200
review=("$BINARY" review --base-url "$URL" --project-id 00000000-0000-4000-8000-000000000000
    --agent-version 10.0.0 --report "junit=$WORK/junit.xml" --report "json=$WORK/report.json")
# 100 batches of 100 files, 4 at a time, 200 ms each.
measure --runs 3 --limit 1.12 --ideal 5 --memory 150 --server "$PLATFORM" "\`review\`, 10,000 files at 200 ms a request : batches / concurrency" -- \
    "${review[@]}" --all
make_repository scattered "$WORK/scattered" 10000 5 3
cd "$WORK/scattered"
measure --runs 3 --limit 1.12 --ideal 5 --memory 150 --server "$PLATFORM" "\`review\`, the same, scattered over the pack : batches / concurrency" -- \
    "${review[@]}" --all
cd "$WORK/team-10000"
measure --runs 11 "\`review\`, 1 file at 200 ms a request : one request" --ideal 0.2 -- \
    "${review[@]}" --all "$(git ls-files "*.orch.yaml" | head -n 1)"
stop_platform
