# Scaling: 1,000, 10,000 and 100,000 pipelines, each size compared with the one ten times smaller. If the time grows
# linearly, the ratio is 10.
#
# In a repository `teamwork`, every file differs from the base, and one call in six leads nowhere. In a repository `grown`,
# every tenth pipeline is shared and each calls another. The platform responds at once, so that waiting does not hide the
# cost of the review itself.

SMALLEST=1000
LARGEST=100000

# grouped NUMBER: the number with thousands separators.
grouped() {
    sed -E ':again; s/([0-9])([0-9]{3})(,|$)/\1,\2\3/; t again' <<<"$1"
}

# grows NAME SIZE [OPTION...] -- COMMAND...: adds a row. COMMAND runs in the repository of this size and KIND, and in the
# one ten times smaller. If a command fails, the row contains its error.
grows() {
    local what=$1 size=$2 options=() runs=5 name
    shift 2
    while [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    shift
    [ "$size" -lt "$LARGEST" ] || runs=2
    name="$what, $(grouped "$size") pipelines"
    local ours=(env -C "$WORK/$KIND-$size" "$@") smaller=()
    if [ "$size" -gt "$SMALLEST" ]; then
        name+=" : $(grouped $((size / 10)))"
        smaller=(--limit "${LIMIT:-12}" -- "${ours[@]}" -- env -C "$WORK/$KIND-$((size / 10))" "$@")
    else
        smaller=(-- "${ours[@]}")
    fi
    measure --runs "$runs" "${options[@]}" "$name" "${smaller[@]}" 2>"$WORK/growth.err" || {
        cat "$WORK/growth.err" >&2
        add_verdict "$name" "MISSED: stopped: $(grep -m 1 '^error' "$WORK/growth.err" || echo "see above")"
    }
}

sizes=()
for ((size = SMALLEST; size <= LARGEST; size *= 10)); do
    make_repository teamwork "$WORK/teamwork-$size" "$size"
    make_repository grown "$WORK/grown-$size" "$size"
    sizes+=("$size")
done

KIND=teamwork
for size in "${sizes[@]}"; do
    mapfile -d '' ten < <(git -C "$WORK/teamwork-$size" ls-files -z '*.orch.yaml' | head -z -n 10)
    LIMIT=11 grows "\`check\` of 10 files" "$size" -- "$BINARY" check --quiet "${ten[@]}"
done
for size in "${sizes[@]}"; do
    LIMIT=11 grows "\`check --all\`" "$size" -- "$BINARY" check --all --quiet
done
start_platform
for size in "${sizes[@]}"; do
    LIMIT=11 grows "\`review --all\` at 0 ms a request" "$size" --server "$PLATFORM" -- \
        "$BINARY" review --all --quiet --base-url "$URL" --project-id 00000000-0000-4000-8000-000000000000 \
        --agent-version 10.0.0 --report "json=$WORK/growth.json" --report "junit=$WORK/growth.xml"
done
stop_platform
# The platform's response lists the published pipelines, so it must know how many the larger side shares; for the smaller
# one, it lists more than there are.
for size in "${sizes[@]}"; do
    start_platform --shared $((size / 10))
    # libgit2 caches 16 MB of unpacked objects, which is most of what the middle size needs and little of what the largest
    # does.
    LIMIT=15 KIND=grown grows "\`publish --receipt\`" "$size" --server "$PLATFORM" -- \
        "$BINARY" publish --base-url "$URL" --prefix bench --version-name 1 --receipt "$WORK/receipt.json"
    stop_platform
done
KIND=teamwork
for size in "${sizes[@]}"; do
    # The base's side is read from the pack, as above.
    LIMIT=15 grows "\`check --new-only\`, each changed" "$size" -- "$BINARY" check --new-only --quiet
done
for size in "${sizes[@]}"; do
    grows "\`diff\`, each changed" "$size" -- "$BINARY" diff main..work --out "$WORK/diff.txt"
done
