#!/usr/bin/env bash
# Makes the virtual environment DIR (or brings it up to date) with exactly the packages of requirements.lock,
# and the project itself in editable form. Usage: PYTHON=python3 scripts/venv.sh DIR
set -euo pipefail

dir=$1
python=${PYTHON:-python3}

stop() {
    printf 'setup: %s\n' "$@" >&2
    exit 1
}

command -v "$python" >/dev/null || stop \
    "no '$python' on the path: install Python 3.11 or newer (Debian: apt-get install python3 python3-venv)," \
    "or name one: make setup PYTHON=/path/to/python3.11"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || stop \
    "'$python' is $("$python" --version 2>&1), but Tidegate needs 3.11 or newer: make setup PYTHON=python3.11"

create() {
    rm -rf "$dir"
    "$python" -m venv "$dir" >"$log" 2>&1
}

make_venv() {
    log=$(mktemp)
    trap 'rm -f "$log"' EXIT
    echo "==> virtual environment $dir ($("$python" --version 2>&1))"
    create && return
    # Debian ships Python without ensurepip; the package python3-venv brings it.
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "==> python3-venv is missing: apt-get install python3-venv"
        apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq python3-venv >/dev/null
        create && return
    fi
    echo "==> venv failed, trying virtualenv"
    "$python" -m pip install --quiet --user virtualenv 2>/dev/null || true
    rm -rf "$dir"
    "$python" -m virtualenv --quiet "$dir" 2>/dev/null && return
    cat "$log" >&2
    rm -rf "$dir"
    stop "could not make $dir: install the venv module (Debian: sudo apt-get install python3-venv), then try again"
}

[ -x "$dir/bin/python" ] && "$dir/bin/python" -m pip --version >/dev/null 2>&1 || make_venv

echo "==> packages of requirements.lock"
"$dir/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r requirements.lock
echo "==> tidegate itself, editable"
"$dir/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
