# The cost of listing changes: compared with checking both sides, and in one exceptionally large pipeline.

make_repository changed "$WORK/changed" 10000
cd "$WORK/changed"
# Their pipelines have findings, so a check exits with 1.
both='for side in main work; do "$0" check --all --quiet --head $side || [ $? -eq 1 ] || exit 2; done'
measure --runs 5 --limit 2 --memory 200 "\`diff\`, 10,000 changed pipelines : \`check\` of both sides" -- \
    "$BINARY" diff main..work --out "$WORK/diff.txt" -- sh -c "$both" "$BINARY"

# A chain of 10,000 components, each with a different statement on the other side.
for side in old new; do
    awk -v side="$side" 'BEGIN {
        print "type: orchestration\npipeline:\n  components:"
        for (i = 0; i < 10000; i++)
            printf "    C %d:\n      type: sql-executor\n      transitions: { success: [C %d] }\n      parameters:\n        componentName: C %d\n        sqlScript: select %d from %s\n", i, i + 1, i, i, side
        print "design:\n  components:"
        for (i = 0; i < 10000; i++) printf "    C %d: { position: { x: %d, y: %d } }\n", i, i % 100 * 200, int(i / 100) * 100
    }' >"$WORK/$side.orch.yaml"
done
for format in text html; do
    measure --runs 5 --limit 1 --ideal 1 --memory 200 "\`diff --format $format\`, one pipeline of 10,000 components : a second" -- \
        "$BINARY" diff --files "$WORK/old.orch.yaml" "$WORK/new.orch.yaml" --format "$format" --out "$WORK/diff.page"
done
