# What the gate costs every day: 10 changed pipelines of 1,000, compared with `git diff --stat` of the same change. The
# review writes the reports that the job of `sluicegate init` writes.

make_repository team "$WORK/team" 1000
cd "$WORK/team"
base=$(git rev-parse main)
stat=(git diff --stat "$base" work)
any() { echo '"$@" >/dev/null || [ $? -eq 1 ]'; }
check=("$BINARY" check --base "$base" --head work --quiet)
measure --runs 11 "\`check\`, 10 of 1,000 : \`git diff --stat\`" -- sh -c "$(any)" sh "${check[@]}" -- "${stat[@]}"
measure --runs 11 "\`check --new-only\`, the same : \`git diff --stat\`" -- \
    sh -c "$(any)" sh "${check[@]}" --new-only -- "${stat[@]}"
measure --runs 11 "\`diff -o html\`, the same : \`git diff --stat\`" -- \
    "$BINARY" diff "$base..work" -o html --out "$WORK/daily.html" -- "${stat[@]}"
start_platform --delay 0
review=("$BINARY" review --quiet --base "$base" --base-url "$URL" --project-id 00000000-0000-4000-8000-000000000000
    --agent-version 10.0.0)
reports=()
for format in junit json sarif markdown html; do
    reports+=(--report "$format=$WORK/daily-$format")
done
measure --runs 11 "\`review\`, the same, a platform without delay : \`git diff --stat\`" -- \
    sh -c "$(any)" sh "${review[@]}" -- "${stat[@]}"
measure --runs 11 "\`review\` with five reports, the same : \`git diff --stat\`" -- \
    sh -c "$(any)" sh "${review[@]}" "${reports[@]}" -- "${stat[@]}"
stop_platform
