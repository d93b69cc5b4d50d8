# A review split over parallel jobs: the shards run as processes at once, so the time is that of the slowest, the processor
# time that of all, and the memory that of the largest. Except for its times, the merged report must equal that of the
# complete review.

make_repository small "$WORK/small" 10000 5 3
cd "$WORK/small"
SHARDS="$WORK/shards"
rm -rf "$SHARDS"
mkdir -p "$SHARDS"
start_platform --delay 200

# both_reports NAME: sets REPORTS to the options for both reports, in files with this name.
both_reports() {
    REPORTS=(--report "json=$SHARDS/$1.json" --report "junit=$SHARDS/$1.xml")
}

# Runs "$@" as this many shards at once, and exits with 1 if one of them fails.
parts='
    folder=$1 total=$2
    shift 2
    for ((part = 1; part <= total; part++)); do
        "$@" --shard "$part/$total" --report "json=$folder/$part-of-$total.json" --report "junit=$folder/$part-of-$total.xml" &
        jobs+=($!)
    done
    for job in "${jobs[@]}"; do
        wait "$job" || exit 1
    done
'

# without_times NAME: prints the two reports with this name, without their times and durations.
without_times() {
    sed -E '/^  "(startedAt|elapsedNanos)": /d' "$SHARDS/$1.json"
    sed -E 's/ (time|timestamp)="[^"]*"//g' "$SHARDS/$1.xml"
}

review=("$BINARY" review --all --quiet --base-url "$URL" --project-id 00000000-0000-4000-8000-000000000000
    --agent-version 10.0.0)
what="10,000 files at 200 ms a request"
both_reports whole
measure --runs 3 --limit 1.12 --ideal 5 --memory 200 --server "$PLATFORM" \
    "\`review\`, $what : batches / concurrency" -- "${review[@]}" "${REPORTS[@]}"
for total in 2 4; do
    # Rounds of 4 batches of 100 files; the last round is not full.
    measure --runs 5 --limit 1.35 --ideal "$(awk -v rounds=$(((10000 / total + 399) / 400)) 'BEGIN { print rounds / 5 }')" \
        --memory 200 --server "$PLATFORM" \
        "\`review --shard I/$total\`, $what, $total processes at once : the rounds of a part" -- \
        bash -c "$parts" bash "$SHARDS" "$total" "${review[@]}"
    both_reports "merged-of-$total"
    measure --runs 5 "\`report\` of these $total parts" -- \
        "$BINARY" report --quiet "$SHARDS"/*"-of-$total.json" "${REPORTS[@]}"
    verdict=pass
    cmp <(without_times whole) <(without_times "merged-of-$total") >&2 || verdict=MISSED
    add_verdict "these $total parts as one, JSON and JUnit : the whole, but for its times" "$verdict"
done
stop_platform
