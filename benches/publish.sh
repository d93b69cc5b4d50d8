# Publishing, compared with curl sending the same files to the same server.
#
# `curl` reads plain files, so the equivalent is `--from worktree`. From a commit, the default, the contents must also be
# unpacked; that is measured too. `Expect:` keeps curl from waiting for a `100 Continue`.

# each_file GLOB...: sets FORMS to curl's arguments for sending the files that git lists.
each_file() {
    FORMS=()
    while IFS= read -r file; do
        FORMS+=(-F "$file=@$file;type=text/plain")
    done < <(git -c core.quotePath=false ls-files -- "$@")
}

# platform_of SHARED: starts a new platform with this number of shared pipelines, and sets the commands for it.
platform_of() {
    stop_platform
    start_platform --shared "$1"
    ours=("$BINARY" publish --base-url "$URL" --prefix bench --version-name 1)
    bare=("$BINARY" publish --base-url "$URL" --prefix bench --version-name unverified --no-verify)
    to="$URL/v1/shared-pipelines/artifacts"
}
curl=(curl -sS -f -o /dev/null -H Expect: -H "Authorization: Bearer bench" -H "versionName: 1")

platform_of 3
make_repository small "$WORK/small" 10000 5 3
cd "$WORK/small"
each_file '*.yaml' ':!:*/config/*'
measure --runs 7 --limit 1.5 --memory 80 "\`publish --receipt\`, 10,000 small files : \`curl -F …\`" -- \
    "${ours[@]}" --receipt "$WORK/receipt.json" -- "${curl[@]}" "${FORMS[@]}" "$to"
measure --runs 7 --limit 1.5 --memory 80 "\`publish --from worktree --receipt\`, 10,000 small files : \`curl -F …\`" -- \
    "${ours[@]}" --from worktree --receipt "$WORK/receipt.json" -- "${curl[@]}" "${FORMS[@]}" "$to"

platform_of 10000
make_repository small "$WORK/small-calls" 10000 1 10000
cd "$WORK/small-calls"
measure --runs 7 --limit 1.5 --memory 80 "\`publish --receipt\`, 10,000 files, all shared, each calls another : \`curl -F …\`" -- \
    "${ours[@]}" --receipt "$WORK/receipt.json" -- "${curl[@]}" "${FORMS[@]}" "$to"

platform_of 1
make_repository large "$WORK/large" 64 16777216
cd "$WORK/large"
each_file 'scripts/*' '*.orch.yaml' '.platform/shared-pipelines.yaml'
hashed='openssl sha256 scripts/* >/dev/null && exec "$@"'
measure --runs 5 --limit 2 --memory 150 "\`publish --from worktree --receipt\`, 1 GiB : \`openssl sha256\`, \`curl\`" -- \
    "${ours[@]}" --from worktree --receipt "$WORK/receipt.json" -- sh -c "$hashed" sh "${curl[@]}" "${FORMS[@]}" "$to"
measure --runs 15 --limit 2 --memory 150 "\`publish --from worktree --no-verify\`, 1 GiB : \`curl\`" -- \
    "${bare[@]}" --from worktree -- "${curl[@]}" "${FORMS[@]}" "$to"
measure --runs 5 --limit 4 --memory 150 "\`publish --receipt\`, 1 GiB from the commit : \`openssl sha256\`, \`curl\`" -- \
    "${ours[@]}" --receipt "$WORK/receipt.json" -- sh -c "$hashed" sh "${curl[@]}" "${FORMS[@]}" "$to"
measure --runs 5 --limit 4 --memory 150 "\`publish --no-verify\`, 1 GiB from the commit : \`curl\`" -- \
    "${bare[@]}" -- "${curl[@]}" "${FORMS[@]}" "$to"

make_repository text "$WORK/text" 64 16777216
cd "$WORK/text"
measure --runs 5 --limit 4 --memory 150 "\`publish --receipt\`, 1 GiB of text from the commit : \`openssl sha256\`, \`curl\`" -- \
    "${ours[@]}" --receipt "$WORK/receipt.json" -- sh -c "$hashed" sh "${curl[@]}" "${FORMS[@]}" "$to"
stop_platform
