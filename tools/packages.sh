#!/bin/sh
# Packages: `users` makes .venv from requirements.lock, `package` adds pgpd-hf, `developers` what
# tests and lint need, and `lock` resolves pyproject.toml again.
set -eu
run=".venv/bin/python -P -m"
python=${PYTHON:-python3}

# uv, with the package index that pip is set to, and the certificates of the system.
uv() {
    index=${PIP_INDEX_URL:-$($run pip config get global.index-url 2>/dev/null || true)}
    $run uv --no-config --system-certs "$@" ${index:+--default-index "$index"}
}

# Where uv fails, pip installs, and takes longer.
install() {
    uv pip install --quiet --python .venv --build-constraints requirements.lock "$@" && return
    echo 'uv failed, so pip installs ...'
    $run pip --disable-pip-version-check --quiet install --no-build-isolation "$@" && return
    echo 'error: packages are missing. Python 3.14 or newer needs a C compiler and headers (Debian:' \
        'gcc, python3-dev); an older one does not: make PYTHON=/path/to/python3.13' >&2
    return 1
}

# For all platforms, and one version for every Python: results are to be comparable.
resolve() {
    uv pip compile --universal --python-version 3.11 --fork-strategy fewest --generate-hashes \
        --no-emit-index-url --quiet --custom-compile-command 'make lock' "$@"
}

case $1 in
users)
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
        echo 'error: Python 3.11 or newer is needed: make PYTHON=/path/to/python' >&2
        exit 1
    }
    echo 'Installing the locked packages into .venv ...'
    "$python" -m venv --clear .venv
    awk '/^[a-z]/ { keep = /^(setuptools|uv)==/ } keep' requirements.lock >.venv/first.lock
    $run pip --disable-pip-version-check --quiet install --require-hashes -r .venv/first.lock
    install --require-hashes -r requirements.lock
    pwd -P >.venv/place
    ;;
package)
    install --no-deps -e .
    # The place of src/ is written relative to it: Python reads it in the locale's encoding.
    for path in .venv/lib/python*/site-packages/__editable__.*.pth; do
        echo ../../../../src >"$path"
    done
    ;;
developers)
    echo 'Installing what tests and lint need ...'
    install --require-hashes -r requirements.lock -r requirements-dev.lock
    ;;
lock)
    resolve pyproject.toml --all-extras --group install --output-file requirements.lock
    resolve --group test --group lint --constraint requirements.lock \
        --output-file requirements-dev.lock
    ;;
esac
