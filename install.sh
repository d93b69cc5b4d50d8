#!/bin/sh
# Installs a release of sluicegate: downloads the archive for this machine, checks its SHA-256 hash, and copies the program.
#
# usage: install.sh [--to DIRECTORY] [--from URL] [--version VERSION]
#
#   --to DIRECTORY      Directory to install the program in (default: ~/.local/bin)
#   --from URL          URL of the releases or a mirror, which contains vVERSION/SHA256SUMS and the archives
#   --version VERSION   Version to install (default: the version of this script)
#
# Needs a POSIX shell, tar, awk, curl or wget, and sha256sum, shasum or openssl. Nothing is installed if the hash differs, and
# no other file is left behind. Examples with the complete URL are in docs/book/install.md.
set -eu

version=0.1.0
releases=https://github.com/your-org/sluicegate/releases/download
directory=
work=
new=

fail() {
  printf 'install.sh: %s\n' "$1" >&2
  if [ $# -gt 1 ]; then printf 'hint: %s\n' "$2" >&2; fi
  exit 1
}

has() { command -v "$1" > /dev/null 2>&1; }

cleanup() {
  if [ -n "$work" ]; then rm -rf "$work"; fi
  if [ -n "$new" ]; then rm -f "$new"; fi
}

# Prints the target of this machine, as the archives name it.
find_target() {
  case $(uname -m) in
    x86_64 | amd64) cpu=x86_64 ;;
    aarch64 | arm64) cpu=aarch64 ;;
    *) return 1 ;;
  esac
  case $(uname -s) in
    Linux) echo "$cpu-unknown-linux-musl" ;;
    Darwin) echo "$cpu-apple-darwin" ;;
    # Windows on ARM runs programs for x86-64.
    MINGW* | MSYS* | CYGWIN*) echo x86_64-pc-windows-msvc ;;
    *) return 1 ;;
  esac
}

# download URL FILE
download() {
  if has curl; then
    curl --fail --silent --show-error --location --proto-redir '=https' --retry 3 --connect-timeout 20 --max-time 600 --output "$2" "$1"
  else
    # Busybox has few options.
    wget -q -O "$2" "$1"
  fi || fail "could not download $1" 'check the URL, the version and the network; use --from to set the URL of a mirror'
}

# Prints the SHA-256 hash of standard input.
hash_input() {
  if has sha256sum; then
    sha256sum
  elif has shasum; then
    shasum -a 256
  else
    openssl dgst -sha256 -r
  fi | awk '{ print $1 }'
}

parse_arguments() {
  while [ $# -gt 0 ]; do
    case $1 in
      --help | -h)
        echo 'usage: install.sh [--to DIRECTORY] [--from URL] [--version VERSION]'
        exit
        ;;
      --to | --from | --version)
        [ -n "${2:-}" ] || fail "$1 needs a value"
        case $1 in
          --to) directory=$2 ;;
          --from) releases=${2%/} ;;
          *) version=${2#v} ;;
        esac
        shift 2
        ;;
      *) fail "unknown argument: $1" 'usage: install.sh [--to DIRECTORY] [--from URL] [--version VERSION]' ;;
    esac
  done
}

# Everything is in functions, so that a script that was cut off while it was downloaded does nothing.
main() {
  parse_arguments "$@"
  if [ -z "$directory" ]; then
    [ -n "${HOME:-}" ] || fail 'HOME is not set' 'use --to to set the directory to install the program in'
    directory=$HOME/.local/bin
  fi
  has curl || has wget || fail 'curl or wget is needed to download the release' 'install one of them'
  has sha256sum || has shasum || has openssl || fail 'sha256sum, shasum or openssl is needed to check the release' 'install one of them'
  target=$(find_target) ||
    fail "there is no release for $(uname -s) on $(uname -m)" 'build the program from source: cargo install --locked --git https://github.com/your-org/sluicegate sluicegate'
  name=sluicegate-$version-$target
  case $target in *windows*) program=sluicegate.exe ;; *) program=sluicegate ;; esac
  # `mv` would move the program into that directory.
  [ ! -d "$directory/$program" ] ||
    fail "could not install the program: $directory/$program is a directory" 'remove it, or choose another directory with --to'

  trap cleanup EXIT
  trap 'exit 130' INT
  trap 'exit 143' HUP TERM
  work=$(mktemp -d)
  download "$releases/v$version/SHA256SUMS" "$work/SHA256SUMS"
  expected=$(awk -v file="$name.tar.gz" '{ sub(/^\*/, "", $2) } $2 == file { print $1; exit }' "$work/SHA256SUMS")
  [ -n "$expected" ] || fail "$releases/v$version/SHA256SUMS does not list $name.tar.gz"
  download "$releases/v$version/$name.tar.gz" "$work/archive.tar.gz"
  found=$(hash_input < "$work/archive.tar.gz")
  [ "$found" = "$expected" ] || fail "$name.tar.gz has the wrong SHA-256 hash: $found instead of $expected"
  (cd "$work" && tar -xzf archive.tar.gz "$name/$program") || fail "could not unpack $name.tar.gz"

  mkdir -p "$directory" || fail "could not create $directory"
  # A relative directory in PATH would depend on the current directory.
  directory=$(CDPATH='' cd -- "$directory" && pwd) || fail "could not open $directory"
  new=$directory/.$program.$$
  cp "$work/$name/$program" "$new" || fail "could not write to $directory" 'choose another directory with --to'
  chmod 755 "$new"
  found=$("$new" --version) || fail 'the program does not run on this machine'
  [ "$found" = "sluicegate $version" ] || fail "the program prints '$found' instead of 'sluicegate $version'"
  mv -f "$new" "$directory/$program"
  new=
  echo "installed $found: $directory/$program"
  case :${PATH:-}: in
    *":$directory:"*) ;;
    *) echo "hint: add $directory to your PATH" ;;
  esac
}

main "$@"
