#!/bin/sh
# Makes .venv on a bare machine: uv (from PyPI when absent), then exactly what requirements.lock pins, hashes checked,
# then the workspace's own packages in place. Run by make whenever the lock or a pyproject.toml changes.
set -eu
cd "$(dirname "$0")/.."

fail() { printf '%s\n' "bootstrap: $1" >&2; exit 1; }

install_debian() { # PACKAGE...: by apt where that is possible, else say how
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"
    else
        fail "missing: $*. Install it with your package manager (Debian: sudo apt-get install $*), then run this again."
    fi
}

find_python() { # prints the first interpreter that is new enough
    for candidate in python3 python3.13 python3.12 python3.11; do
        if command -v "$candidate" >/dev/null &&
            "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            command -v "$candidate"
            return
        fi
    done
    return 1
}

python=$(find_python) || { install_debian python3 python3-venv; python=$(find_python); } ||
    fail "Python 3.11 or newer is needed. Install it, put it on PATH, then run this again."

new_enough() { # UV
    printf 'uv 0.9\n%s\n' "$("$1" --version 2>/dev/null)" | sort --version-sort --check=quiet
}

[ -n "${FREEHOLD_CACHE:-${XDG_CACHE_HOME:-${HOME:-}}}" ] ||
    fail "there is no home folder to keep builds in. Set FREEHOLD_CACHE to a folder, then run this again."
cache=${FREEHOLD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/freehold}
# The user's own cache of packages, where there can be one.
[ -w "${HOME:-/nonexistent}" ] || export UV_CACHE_DIR="${UV_CACHE_DIR:-$cache/uv-cache}"
uv=$(command -v uv || true)
if ! new_enough "$uv"; then
    uv=$cache/uv/bin/uv
    if ! new_enough "$uv"; then
        echo "bootstrap: installing uv into $cache/uv"
        "$python" -c 'import ensurepip' 2>/dev/null || install_debian python3-venv
        "$python" -m venv --clear "$cache/uv"
        "$cache/uv/bin/pip" install --quiet --disable-pip-version-check 'uv>=0.9' ||
            fail "uv could not be installed. Install it (pip install uv), put it on PATH, then run this again."
    fi
fi

.venv/bin/python -c '' 2>/dev/null || "$uv" venv --quiet --clear --python "$python" .venv
VIRTUAL_ENV=$PWD/.venv
export VIRTUAL_ENV
echo "bootstrap: installing Python packages"
"$uv" pip sync --quiet --require-hashes --compile-bytecode requirements.lock
"$uv" pip install --quiet --no-deps --no-build-isolation -e shared -e webhook -e controllers -e devstack
touch .venv/.ready
