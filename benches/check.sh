# The rules evaluated locally, compared with programs that only parse the same files.
#
# It also needs a C compiler and libyaml (Debian: libyaml-dev). The rows for PyYAML with its C loader (`pip install pyyaml`)
# and libfyaml's fy-tool (Debian: libfyaml-utils) are omitted if these programs are missing.

need cc find
cc -O2 -o "$WORK/libyaml_events" "$HERE/libyaml_events.c" -lyaml || {
    echo "benches/check.sh: libyaml is missing" >&2
    exit 2
}

# make_project NAME ARGUMENT...: creates a repository with these pipelines and their rules, unless it exists.
make_project() {
    local folder="$WORK/$1"
    shift
    [ -d "$folder/.git" ] && return
    echo "making the pipelines: $*" >&2
    python3 "$HERE/make_pipelines.py" "$folder" "$@"
    git init -q "$folder"
    git -C "$folder" add -A
    git -C "$folder" -c user.name=bench -c user.email=bench@example.invalid -c gc.auto=0 commit -q -m pipelines
}

make_project check 10000
make_project check-tenfold 100000
for size in 20000 40000; do
    make_project "chain-$size" --chain "$size"
done

check() {
    printf '%s\0' "$BINARY" check --all --quiet --repo "$WORK/$1"
}
mapfile -d '' ours < <(check check)
mapfile -d '' tenfold < <(check check-tenfold)
mapfile -d '' chain < <(check chain-20000)
mapfile -d '' longer < <(check chain-40000)

measure --runs 9 --limit 1.15 --memory 200 "\`check --all\`, 10,000 pipelines : without checks of the project" -- \
    "${ours[@]}" -- "${ours[@]}" --project-checks off

# The ten rules of the book. The file is not in git: a check reads it on disk.
awk '/^## Ten rules/ { section = 1 } section && /^```$/ { exit } rules { print } section && /^```yaml$/ { rules = 1 }' \
    docs/book/team-rules.md >"$WORK/check/ten-rules.yaml"
measure --runs 9 --limit 2 --memory 250 "\`check --all\`, 10,000 pipelines, ten team rules : without team rules" -- \
    "${ours[@]}" --fail-on never --team-rules ten-rules.yaml -- "${ours[@]}" --fail-on never

find "$WORK/check" -name '*.orch.yaml' -o -name '*.tran.yaml' >"$WORK/check.list"
measure --runs 9 --limit 0.75 --memory 200 "\`check --all\`, 10,000 pipelines, 32 MB : libyaml's events in C" -- \
    "${ours[@]}" -- sh -c 'exec "$0" <"$1"' "$WORK/libyaml_events" "$WORK/check.list"

row="\`check --all\`, 10,000 pipelines : PyYAML's CSafeLoader parses them"
if python3 -c 'import yaml; yaml.CSafeLoader' 2>/dev/null; then
    measure --runs 3 --limit 0.1 --memory 200 "$row" -- "${ours[@]}" -- python3 "$HERE/parse_pipelines.py" "$WORK/check"
else
    add_verdict "$row" "skipped: PyYAML with its C loader is not here"
fi
row="\`check --all\`, 10,000 pipelines : \`fy-tool --dump --null-output\`"
if command -v fy-tool >/dev/null; then
    measure --runs 9 --limit 1 --memory 200 "$row" -- \
        "${ours[@]}" -- xargs -d '\n' -a "$WORK/check.list" fy-tool --dump --null-output
else
    add_verdict "$row" "skipped: fy-tool is not here"
fi
measure --runs 3 --limit 11 "\`check --all\`, 100,000 pipelines : 10,000 pipelines" -- \
    "${tenfold[@]}" -- "${ours[@]}"
measure --runs 15 --limit 2.3 "\`check\`, graph rules on 40,000 components : on 20,000" -- \
    "${longer[@]}" -- "${chain[@]}"
