# Selecting the changed files between two commits of a large repository.

make_repository context "$WORK/context" 100000
cd "$WORK/context"
measure --runs 31 --limit 1 "\`context\`, 100,000 files, 1,000 changed : \`git merge-base\` + \`git diff -M\`" -- \
    "$BINARY" context -- \
    sh -c 'git diff --name-status -M "$(git merge-base origin/main HEAD)" HEAD'
