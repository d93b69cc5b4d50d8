# The cost of finding new findings if all 20,000 findings of 10,000 files are known.

make_repository known "$WORK/known" 10000
cd "$WORK/known"
measure --runs 7 --limit 2.2 --memory 200 "\`check --new-only\`, 10,000 files, 20,000 known findings : \`check\`" -- \
    "$BINARY" check --quiet --new-only -- "$BINARY" check --quiet

start_platform --delay 200 --twice
review=("$BINARY" review --quiet --base-url "$URL" --project-id 00000000-0000-4000-8000-000000000000 --agent-version 10.0.0)
measure --runs 3 --limit 2.2 --memory 200 "\`review --new-only\`, the same at 200 ms a request : \`review\`" -- \
    "${review[@]}" --new-only -- "${review[@]}"
stop_platform
