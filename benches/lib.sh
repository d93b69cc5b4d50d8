# Functions that the measurements share. Sourced by `run`, which sets BINARY, SERVER, WORK and ROWS.

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# Shields the commands from the settings of the machine and the user, and gives them the environment that they need.
scrubbed() {
    local names
    names=$(env | sed -n 's/^\(SLUICEGATE_[A-Z_]*\|GIT_[A-Z_]*\|CI\|GITHUB_[A-Z_]*\|GITLAB_CI\|[a-zA-Z]*_proxy\|[A-Z]*_PROXY\)=.*/\1/p')
    # shellcheck disable=SC2086 # one name per word
    unset $names
    export HOME="$WORK/home" GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null LC_ALL=C
    export SLUICEGATE_TOKEN=bench SLUICEGATE_CI=none
    mkdir -p "$HOME"
}

# Exits with the names of the missing programs.
need() {
    local missing=()
    for program in "$@"; do
        command -v "$program" >/dev/null || missing+=("$program")
    done
    if [ ${#missing[@]} -gt 0 ]; then
        echo "benches/run: not found: ${missing[*]}" >&2
        exit 2
    fi
}

# make KIND FOLDER NUMBER...: creates a repository, unless it exists.
make_repository() {
    local kind=$1 folder=$2
    shift 2
    [ -d "$folder" ] && return
    mkdir -p "$folder"
    echo "making the repository: $kind $*" >&2
    python3 "$HERE/make_repository.py" "$kind" "$folder" "$@"
}

measure() {
    python3 "$HERE/measure.py" --rows "$ROWS" "$@"
}

# add_verdict NAME VERDICT: adds a row without figures.
add_verdict() {
    printf '%s\t\t\t\t\t\t\t\t\t%s\n' "$1" "$2" >>"$ROWS"
    printf '%s | %s\n' "$1" "$2"
}

# start_platform OPTION...: starts the platform; sets URL and PLATFORM, its process ID.
start_platform() {
    local file="$WORK/port"
    rm -f "$file"
    "$SERVER" "$file" "$@" &
    PLATFORM=$!
    until [ -s "$file" ]; do
        kill -0 "$PLATFORM" || exit 2
        sleep 0.02
    done
    URL="http://127.0.0.1:$(cat "$file")"
}

stop_platform() {
    [ -n "${PLATFORM:-}" ] || return 0
    kill "$PLATFORM" 2>/dev/null || true
    wait "$PLATFORM" 2>/dev/null || true
    PLATFORM=
}
