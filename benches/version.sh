# The time that the program takes to start.

measure --runs 300 "\`--version\` : \`git --version\`" -- \
    "$BINARY" --version -- git --version
