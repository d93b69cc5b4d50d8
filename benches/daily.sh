# What the gate costs every day: 10 changed pipelines of 1,000, compared with `git diff --stat` of the same change. The
# review writes the reports that the job of `sluicegate init` writes.

make_repository small "$WORK/daily" 1000 5 3
cd "$WORK/daily"
if ! git rev-parse --quiet --verify daily >/dev/null; then
    git checkout -q -b daily
    git ls-files '*.orch.yaml' | sed -n '1,10p' | while IFS= read -r file; do
        sed -i '0,/componentName: /s//componentName: changed /' "$file"
    done
    git -c user.name=bench -c user.email=bench@example.com commit -q -a -m "ten changes"
    # The review asks the clone whether the remote has the commit.
    git update-ref refs/remotes/origin/daily daily
fi
base=$(git rev-parse daily~1)
stat=(git diff --stat "$base" daily)
any() { echo '"$@" >/dev/null || [ $? -eq 1 ]'; }
check=("$BINARY" check --base "$base" --head daily --quiet)
measure --runs 11 --limit 1 "\`check\`, 10 of 1,000 : \`git diff --stat\`" -- sh -c "$(any)" sh "${check[@]}" -- "${stat[@]}"
measure --runs 11 --limit 1.5 "\`check --new-only\`, the same : \`git diff --stat\`" -- \
    sh -c "$(any)" sh "${check[@]}" --new-only -- "${stat[@]}"
measure --runs 11 --limit 1.7 "\`diff -o html\`, the same : \`git diff --stat\`" -- \
    "$BINARY" diff "$base..daily" -o html --out "$WORK/daily.html" -- "${stat[@]}"
start_platform --delay 0
review=("$BINARY" review --quiet --base "$base" --base-url "$URL" --project-id 00000000-0000-4000-8000-000000000000
    --agent-version 10.0.0)
reports=()
for format in junit json sarif markdown html; do
    reports+=(--report "$format=$WORK/daily-$format")
done
measure --runs 11 --limit 1.3 "\`review\`, the same, a platform without delay : \`git diff --stat\`" -- \
    sh -c "$(any)" sh "${review[@]}" -- "${stat[@]}"
measure --runs 11 --limit 2.5 "\`review\` with five reports, the same : \`git diff --stat\`" -- \
    sh -c "$(any)" sh "${review[@]}" "${reports[@]}" -- "${stat[@]}"
stop_platform
