# The time that the program takes to start.

measure --runs 300 --limit 1.5 "\`--version\` : \`git --version\`" -- \
    "$BINARY" --version -- git --version
