# A repository of 100,000 files and 20,000 commits, one in ten of them a merge, packed with deltas and without a
# commit-graph; the branch left `main` 50 commits ago.

make_repository history "$WORK/history" 100000 20000
cd "$WORK/history"
measure --runs 15 --limit 1.5 "\`context\`, 100,000 files, 20,000 commits, 50 behind \`main\` : \`git merge-base\` + \`git diff -M\`" -- \
    "$BINARY" context -- \
    sh -c 'git diff --name-status -M "$(git merge-base origin/main HEAD)" HEAD'
measure --runs 7 "\`check --new-only\`, the same" -- "$BINARY" check --quiet --new-only
measure --runs 7 "\`publish --dry-run\`, the same" -- "$BINARY" publish --dry-run --prefix bench --version-name 1
